//! One simulation of a design, in a process of its own: a line in for every edge, a line out after it.

use super::BenchError;
use super::design::Design;
use super::ports::Port;
use super::watchdog::tail;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Longest wait for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// Bytes that may be unanswered: half of what a pipe holds, so that a write never blocks, not even on a simulator that
/// has stopped.
const UNANSWERED: usize = 32 * 1024;

/// Outputs, then taps, around an edge. `None` is a value with an unknown bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// With the edge's inputs settled, before it.
    pub before: Vec<Option<u64>>,
    /// After it, with the same inputs.
    pub after: Vec<Option<u64>>,
}

/// A running simulation.
#[derive(Debug)]
pub struct Run {
    design: Arc<Design>,
    child: Child,
    input: BufWriter<ChildStdin>,
    lines: Receiver<String>,
    window: u64,
    sent: u64,
    received: u64,
}

impl Run {
    /// Starts the process and a thread that takes its answers as they come.
    pub(super) fn start(design: &Arc<Design>, mut command: Command) -> Result<Self, BenchError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let pipe = |error| BenchError::Io {
            design: design.name.clone(),
            path: "the simulator's pipe".into(),
            error,
        };
        let mut child = command.spawn().map_err(pipe)?;
        let closed = || pipe(std::io::ErrorKind::BrokenPipe.into());
        let input = BufWriter::new(child.stdin.take().ok_or_else(closed)?);
        let output = BufReader::new(child.stdout.take().ok_or_else(closed)?);
        let (sender, lines) = channel();
        // Ends with the process, whose death closes the pipe.
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let line: usize = design.ports.inputs.iter().map(Port::digits).sum::<usize>() + 2;
        let window = (UNANSWERED / line).max(1) as u64;
        Ok(Self { design: Arc::clone(design), child, input, lines, window, sent: 0, received: 0 })
    }

    /// Edges that may be sent before one must be received.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// Edges sent and not yet received.
    pub fn unanswered(&self) -> u64 {
        self.sent - self.received
    }

    /// Takes an edge with these inputs, in the order of the design's ports.
    ///
    /// # Errors
    /// A simulator that has ended.
    ///
    /// # Panics
    /// With more than [`Self::window`] edges unanswered, or another number of inputs than the design has: a mistake in
    /// the test.
    pub fn send(&mut self, inputs: &[u64]) -> Result<(), BenchError> {
        self.write('1', inputs)
    }

    fn write(&mut self, command: char, inputs: &[u64]) -> Result<(), BenchError> {
        assert!(self.unanswered() < self.window, "receive before sending more than {}", self.window);
        let ports = &self.design.ports.inputs;
        assert_eq!(inputs.len(), ports.len(), "{}: inputs", self.design.name);
        let mut line = String::from(command);
        for (port, value) in ports.iter().zip(inputs) {
            line += &format!("{value:0width$x}", width = port.digits());
        }
        line.push('\n');
        self.sent += 1;
        self.input.write_all(line.as_bytes()).map_err(|error| self.pipe(error))
    }

    /// What is read around the earliest edge not yet received.
    ///
    /// # Errors
    /// A simulator that has ended, hangs, or prints something else.
    pub fn receive(&mut self) -> Result<Reading, BenchError> {
        self.input.flush().map_err(|error| self.pipe(error))?;
        let line = match self.lines.recv_timeout(ANSWER_LIMIT) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                let stage = format!("cycle {}", self.received);
                return Err(BenchError::Hang {
                    design: self.design.name.clone(),
                    stage,
                    limit: ANSWER_LIMIT,
                });
            }
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
        };
        let sides = line
            .split_once(' ')
            .and_then(|(before, after)| Some((self.values(before)?, self.values(after)?)));
        let Some((before, after)) = sides else {
            let design = self.design.name.clone();
            return Err(BenchError::Answer { design, cycle: self.received, line });
        };
        self.received += 1;
        Ok(Reading { before, after })
    }

    /// The outputs, then the taps, with these inputs settled and no edge taken. Everything sent must have been received.
    ///
    /// # Errors
    /// Those of [`Self::receive`].
    pub fn settle(&mut self, inputs: &[u64]) -> Result<Vec<Option<u64>>, BenchError> {
        self.write('0', inputs)?;
        Ok(self.receive()?.after)
    }

    /// One edge: what [`Self::send`] and [`Self::receive`] do.
    ///
    /// # Errors
    /// Theirs.
    pub fn edge(&mut self, inputs: &[u64]) -> Result<Reading, BenchError> {
        self.send(inputs)?;
        self.receive()
    }

    /// The values on one side of an answer, `None` if it has not as many digits as they need.
    fn values(&self, digits: &str) -> Option<Vec<Option<u64>>> {
        let taps = self.design.taps.iter().map(|tap| &tap.port);
        let mut rest = digits;
        let mut values = Vec::new();
        for port in self.design.ports.outputs.iter().chain(taps) {
            let (value, after) = rest.split_at_checked(port.digits())?;
            values.push(u64::from_str_radix(value, 16).ok());
            rest = after;
        }
        rest.is_empty().then_some(values)
    }

    fn pipe(&self, error: std::io::Error) -> BenchError {
        BenchError::Io {
            design: self.design.name.clone(),
            path: PathBuf::from("the simulator's input"),
            error,
        }
    }

    /// What the simulator said before it ended.
    fn ended(&mut self) -> BenchError {
        let mut log = String::new();
        if let Some(mut errors) = self.child.stderr.take()
            && let Err(error) = errors.read_to_string(&mut log)
        {
            log = error.to_string();
        }
        BenchError::Ended { design: self.design.name.clone(), cycle: self.received, log: tail(&log) }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // It may have ended by itself; there is nobody to tell if it cannot be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
