//! Carrying out a plan over a session: loads and runs out, results back, and again what was lost.
//!
//! The contents of the banks are modelled in command order, so a panel is sent only when its place holds something
//! else. A run whose RESULT was lost is issued again behind everything already issued, with whatever panels its places have
//! lost since; later runs find by the same model what that overwrote.

use crate::matrix::Operands;
use crate::plan::{Banks, Chunk, Load, Plan, Run, Side, Step, panel};
use crate::session::{Event, Session, SessionError};
use std::collections::{HashMap, VecDeque};
use systole_hdl::codec::{Command, Content, Multiply, operands_to_bytes, values_from_bytes};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire;

/// Sessions opened again before giving up.
const MOST_RESTARTS: u32 = 3;

/// What came back for one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobResult {
    /// The status byte.
    pub status: u8,
    /// The `n × n` values, row-major.
    pub values: Vec<i64>,
}

/// What came back for one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResult {
    /// The run.
    pub run: Run,
    /// Its jobs, in order.
    pub jobs: Vec<JobResult>,
    /// Advancing edges, summed over the jobs.
    pub steps: u64,
    /// Physical edges, summed over the jobs.
    pub edges: u64,
}

/// What came back for a plan.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One result a run, in the plan's order.
    pub runs: Vec<RunResult>,
    /// Jobs that were issued again because their results were lost.
    pub reruns: u64,
}

/// Carries out a plan for `a × b`. `progress` is told the number of jobs done, now and then.
///
/// # Errors
/// [`SessionError`]. A board that forgets the session is told everything again, a few times.
pub fn execute(
    session: &mut Session<'_>,
    plan: &Plan,
    a: &Operands,
    b: &Operands,
    progress: &mut dyn FnMut(u64),
) -> Result<Outcome, SessionError> {
    let parameters = session.identity().parameters.clone();
    let mut work = Work {
        parameters,
        plan,
        a,
        b,
        next_step: 0,
        again: VecDeque::new(),
        commands: VecDeque::new(),
        banks: Banks::default(),
        flying: HashMap::new(),
        done: Vec::new(),
        reruns: 0,
    };
    let (mut jobs, mut restarts) = (0, 0);
    while jobs < plan.jobs {
        match work.advance(session) {
            Ok(0) => {}
            Ok(more) => {
                jobs += more;
                progress(jobs);
            }
            Err(SessionError::NoSession) if restarts < MOST_RESTARTS => {
                restarts += 1;
                work.forget();
                session.reopen()?;
            }
            Err(error) => return Err(error),
        }
    }
    let mut runs = work.done;
    runs.sort_by_key(|result| result.run.first_job);
    Ok(Outcome { runs, reruns: work.reruns })
}

/// A command to issue, and the run that it starts, if it does.
type Pending = (Command, Option<Run>);

struct Work<'a> {
    parameters: Parameters,
    plan: &'a Plan,
    a: &'a Operands,
    b: &'a Operands,
    /// First step of the plan that is not yet commands.
    next_step: usize,
    /// Runs to issue again, before any further step.
    again: VecDeque<Run>,
    /// Commands made and not yet issued.
    commands: VecDeque<Pending>,
    banks: Banks,
    /// Runs whose RESULT has not come, by ticket.
    flying: HashMap<u64, Run>,
    done: Vec<RunResult>,
    reruns: u64,
}

impl Work<'_> {
    /// Issues what the session takes and collects what came; gives the number of jobs that came back.
    fn advance(&mut self, session: &mut Session<'_>) -> Result<u64, SessionError> {
        while session.wants_more() {
            let Some((command, run)) = self.next_command() else { break };
            let ticket = session.issue(&command)?;
            if let Some(run) = run {
                self.flying.insert(ticket, run);
            }
        }
        let mut jobs = 0;
        for event in session.poll()? {
            match event {
                Event::Answer { ticket, content: Content::Result { jobs: bytes, steps, edges } } => {
                    let Some(run) = self.flying.remove(&ticket) else { continue };
                    let result = self.read(run, &bytes, steps, edges)?;
                    jobs += u64::from(run.count);
                    self.done.push(result);
                }
                Event::Lost { ticket } => self.repeat(ticket),
                Event::Answer { .. } => {}
            }
        }
        Ok(jobs)
    }

    fn repeat(&mut self, ticket: u64) {
        if let Some(run) = self.flying.remove(&ticket) {
            self.reruns += u64::from(run.count);
            self.again.push_back(run);
        }
    }

    /// The session is gone: nothing is in the banks, and every run without a result is to be issued again.
    fn forget(&mut self) {
        let mut lost: Vec<u64> = self.flying.keys().copied().collect();
        lost.sort_unstable();
        for ticket in lost {
            self.repeat(ticket);
        }
        // Loads need no memory: the runs that need them find their panels missing.
        self.again.extend(self.commands.drain(..).filter_map(|(_, run)| run));
        self.banks = Banks::default();
    }

    fn next_command(&mut self) -> Option<Pending> {
        loop {
            if let Some(pending) = self.commands.pop_front() {
                return Some(pending);
            }
            if let Some(run) = self.again.pop_front() {
                self.prepare_run(run);
                continue;
            }
            let step = *self.plan.steps.get(self.next_step)?;
            self.next_step += 1;
            match step {
                Step::Load(load) => self.prepare_load(&load),
                Step::Run(run) => self.prepare_run(run),
            }
        }
    }

    fn prepare_run(&mut self, run: Run) {
        let Chunk { k_len, result_bytes, .. } = self.plan.chunks[run.chunk];
        for need in run.needs(k_len) {
            self.prepare_load(&need);
        }
        // Addresses and strides stay below 65536, the deepest bank; a lone job has no use for a stride.
        let multiply = Multiply {
            a_address: run.a_address as u16,
            b_address: run.b_address as u16,
            b_stride: if run.count > 1 { k_len as u16 } else { 0 },
            k_len,
            count: run.count,
            job: run.first_job as u8,
            result_bytes: result_bytes as u8,
        };
        self.commands.push_back((Command::Multiply(multiply), Some(run)));
    }

    /// Makes the WRITEs of a panel, unless its place holds it already.
    fn prepare_load(&mut self, load: &Load) {
        if self.banks.of(load.side).holds(load) {
            return;
        }
        let chunk = self.plan.chunks[load.chunk];
        let (bank, matrix) = match load.side {
            Side::A => (wire::BANK_A, self.a),
            Side::B => (wire::BANK_B, self.b),
        };
        let lanes = panel(matrix, load.side, load.index, chunk, self.parameters.n);
        let most = self.parameters.write_terms();
        for first in (0..chunk.k_len).step_by(most as usize) {
            let k_len = most.min(chunk.k_len - first);
            let piece = |lane: &[i32]| lane[first as usize..][..k_len as usize].to_vec();
            let operands: Vec<i32> = lanes.chunks(chunk.k_len as usize).flat_map(piece).collect();
            let command = Command::Write {
                bank,
                address: (load.address + first) as u16,
                k_len: k_len as u16,
                operands: operands_to_bytes(&operands, self.parameters.operand_bytes()),
            };
            self.commands.push_back((command, None));
        }
        self.banks.of(load.side).wrote(load, chunk.k_len);
    }

    fn read(&self, run: Run, bytes: &[u8], steps: u32, edges: u32) -> Result<RunResult, SessionError> {
        let width = self.plan.chunks[run.chunk].result_bytes;
        let job_bytes = 1 + (self.parameters.n * self.parameters.n * width) as usize;
        let expected = usize::from(run.count) * job_bytes;
        if bytes.len() != expected {
            return Err(SessionError::ResultLength { expected, got: bytes.len() });
        }
        let job =
            |bytes: &[u8]| JobResult { status: bytes[0], values: values_from_bytes(&bytes[1..], width) };
        let jobs = bytes.chunks_exact(job_bytes).map(job).collect();
        Ok(RunResult { run, jobs, steps: u64::from(steps), edges: u64::from(edges) })
    }
}
