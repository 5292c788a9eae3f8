//! The link `serial`: a serial port, or a pseudo-terminal, which to a program is one too.
//!
//! serialport opens the port, exclusive and raw, and sets its rate; a pseudo-terminal has none. Bytes go through a
//! descriptor of our own that never blocks: serialport's writes wait until all is written, and a board that waits for us
//! to read would then wait for ever.

mod latency;
mod line;
mod open;

use super::target::{Asked, Kind, Opened, Read, Target};
use super::way::Way;
use super::{Level, Link, LinkError, TimeBase, rates};
use crate::error::Error;
use line::Line;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serialport::{SerialPort, TTYPort};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read as _, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use systole_hdl::parameters::BAUD_RANGE;
use systole_hdl::wire::Origin;

pub(super) const KIND: Kind = Kind {
    name: "serial",
    form: "serial:PATH[@BAUD]",
    about: "a board at a serial port; without BAUD the board's usual rate, then others",
    read,
};

/// What is wrong without a path.
const MISSING: &str = "the path of the port is missing";

/// Longest wait for bytes in one poll, in nanoseconds.
const WAIT: i64 = 10_000_000;

/// Most bytes read in one poll.
const BURST: usize = 1 << 16;

/// A port, and the rate where one was given.
#[derive(Clone, Debug)]
pub(super) struct Serial {
    path: PathBuf,
    baud: Option<u32>,
}

impl Serial {
    pub(super) fn new(path: PathBuf, baud: Option<u32>) -> Self {
        Self { path, baud }
    }
}

fn read(details: Option<&str>) -> Read {
    let details = details.filter(|text| !text.is_empty()).ok_or(MISSING)?;
    // A path may have an @ of its own: only digits behind the last one are a rate.
    let rated = details.rsplit_once('@').and_then(|(path, rate)| Some((path, rate.parse::<u32>().ok()?)));
    let Some((path, baud)) = rated else { return Ok(Arc::new(Serial::new(details.into(), None))) };
    if path.is_empty() {
        return Err(MISSING.to_owned());
    }
    if !BAUD_RANGE.contains(&baud) {
        return Err(format!("{baud} baud is outside {BAUD_RANGE:?}"));
    }
    Ok(Arc::new(Serial::new(path.into(), Some(baud))))
}

impl Target for Serial {
    fn open(&self, _asked: Asked<'_>) -> Result<Opened, Error> {
        let (link, notes) = open::open(&self.path, self.baud)?;
        Ok(Opened { link: Box::new(link), notes })
    }
}

/// An open serial port.
#[derive(Debug)]
pub struct SerialLink {
    /// The port as the user named it.
    name: String,
    /// Where bytes pass, without blocking. It gives the port its settings back, and does so while nobody else may have
    /// it: fields go in this order.
    line: Line,
    /// Holds the port exclusively, and its rate; `None` for a pseudo-terminal.
    port: Option<TTYPort>,
    way: Way,
    baud: u32,
    /// Rates still to try.
    rates: VecDeque<u32>,
    /// Milliseconds that the USB chip keeps answers back.
    timer: u32,
    begun: Instant,
}

impl SerialLink {
    /// Sets a rate, and finds out whether the port took it: some drivers fall back to another without a word.
    fn set_rate(&mut self, baud: u32) -> Result<(), LinkError> {
        if let Some(port) = &mut self.port {
            let set = port.set_baud_rate(baud);
            let got = port.baud_rate();
            set.map_err(|error| self.failed("setting the rate", error.into()))?;
            let got = got.map_err(|error| self.failed("reading the rate", error.into()))?;
            rates::check(&self.name, baud, got)?;
        }
        self.baud = baud;
        Ok(())
    }

    /// Forgets what was not sent and what was not read.
    fn forget(&self) -> Result<(), LinkError> {
        self.line.forget().map_err(|error| self.failed("clearing its buffers", error))
    }

    /// Writes what the port takes; gives the number of bytes.
    fn write(&mut self, bytes: &mut VecDeque<u8>) -> Result<usize, LinkError> {
        let mut sent = 0;
        while !bytes.is_empty() {
            match self.line.file.write(bytes.as_slices().0) {
                Ok(0) => break,
                Ok(taken) => {
                    bytes.drain(..taken);
                    sent += taken;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed("writing", error)),
            }
        }
        Ok(sent)
    }

    /// Reads what has arrived; gives the number of bytes.
    fn read(&mut self, bytes: &mut Vec<u8>) -> Result<usize, LinkError> {
        let mut buffer = [0; 4096];
        let mut got = 0;
        while got < BURST {
            match self.line.file.read(&mut buffer) {
                // A raw port without bytes would block; one that has ended has none for ever.
                Ok(0) => return Err(LinkError::Closed { port: self.name.clone() }),
                Ok(read) => {
                    bytes.extend(&buffer[..read]);
                    got += read;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed("reading", error)),
            }
        }
        Ok(got)
    }

    /// Waits until something has arrived, or can be sent if there is something to send.
    fn wait(&self, to_send: bool) -> Result<(), LinkError> {
        let events = if to_send { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let timeout = Timespec { tv_sec: 0, tv_nsec: WAIT };
        match poll(&mut [PollFd::new(&self.line.file, events)], Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(self.failed("waiting", error.into())),
        }
    }

    /// What an error of the system means: that the device is gone, or something else.
    fn failed(&self, doing: &'static str, source: io::Error) -> LinkError {
        let port = self.name.clone();
        let gone =
            [Errno::IO, Errno::NXIO, Errno::NODEV, Errno::PIPE].map(|errno| Some(errno.raw_os_error()));
        if gone.contains(&source.raw_os_error()) || source.kind() == ErrorKind::BrokenPipe {
            return LinkError::Closed { port };
        }
        LinkError::Io { port, doing, source }
    }
}

impl Link for SerialLink {
    fn level(&self, origin: Origin) -> Level {
        self.way.level(origin)
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        if self.write(to_board)? + self.read(from_board)? == 0 {
            self.wait(!to_board.is_empty())?;
            self.read(from_board)?;
        }
        Ok(())
    }

    fn time(&self) -> TimeBase {
        self.way.time(self.baud, self.timer)
    }

    fn now(&self) -> u64 {
        // Five centuries of nanoseconds fit.
        self.begun.elapsed().as_nanos() as u64
    }

    fn cycles(&self) -> Option<u64> {
        None
    }

    fn rate(&self) -> Option<u32> {
        self.port.as_ref().map(|_| self.baud)
    }

    fn next_rate(&mut self) -> Result<bool, LinkError> {
        while let Some(baud) = self.rates.pop_front() {
            match self.set_rate(baud) {
                Ok(()) => {
                    self.forget()?;
                    return Ok(true);
                }
                Err(error @ LinkError::Closed { .. }) => return Err(error),
                // A rate that this adapter cannot do is none that the board behind it has.
                Err(_) => {}
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtual_board::Terminal;

    #[test]
    fn a_board_that_does_not_read_does_not_hold_the_host() {
        let terminal = Terminal::open().expect("a terminal");
        let (mut link, notes) = open::open(terminal.path(), None).expect("a port");
        assert_eq!((notes, link.rate()), (Vec::<String>::new(), None));
        let mut to_board: VecDeque<u8> = std::iter::repeat_n(0x55, 100_000).collect();
        let begun = Instant::now();
        for _ in 0..10 {
            link.poll(&mut to_board, &mut Vec::new()).expect("nobody is gone");
        }
        // The kernel holds some; the rest stays with the host, which goes on.
        assert!((1..100_000).contains(&to_board.len()), "{} bytes left", to_board.len());
        assert!(begun.elapsed().as_secs() < 5, "ten polls took {:?}", begun.elapsed());
        drop(terminal);
        let gone = link.poll(&mut to_board, &mut Vec::new()).expect_err("the board's side is closed");
        assert!(matches!(gone, LinkError::Closed { .. }), "{gone}");
    }
}
