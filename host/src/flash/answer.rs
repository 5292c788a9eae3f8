//! Who answers on the board's UART: the proof that an image runs, and nothing else is.

use crate::connect::{Connection, connect};
use crate::discover::{Absent, Machine, UsbDevice};
use crate::error::Error;
use crate::link::target::LinkSpec;
use crate::link::{Level, LinkError};
use crate::session::SessionError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use systole_boards::Board;

/// Time that the kernel may take to make a port of an interface that is there. Without a driver it makes none.
const PORT: Duration = Duration::from_secs(1);

/// Time between two questions.
const STEP: Duration = Duration::from_millis(100);

/// Who answered, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// As `--link` takes it.
    pub link: String,
    /// How real the board is.
    pub level: Level,
    /// Hash of what it runs.
    pub design_hash: u64,
}

/// What came of asking.
#[derive(Debug)]
pub enum Answer {
    /// The image that is meant.
    Meant(Who),
    /// Another image.
    Other(Who),
    /// Nobody, or nobody who speaks this program's version of the wire.
    Silent(Error),
}

/// The way to a board's UART.
#[derive(Clone, Copy, Debug)]
pub struct Uart<'a> {
    /// Where ports and USB chips are looked for.
    pub machine: &'a Machine,
    /// The board.
    pub board: &'a Board,
    /// Rate of the image, in bits a second; where it is not known the usual ones are tried.
    pub baud: Option<u32>,
    /// The way that the user gave, if any.
    pub link: Option<&'a LinkSpec>,
    /// The board's USB chip as it was before it was written to; what else is there to go by without a link.
    pub device: Option<&'a UsbDevice>,
}

impl Uart<'_> {
    /// Asks once, and takes the first answer.
    ///
    /// # Errors
    /// The chip is away, the port may not be opened, nobody answers; interrupted.
    pub fn who(&self, cancel: &AtomicBool) -> Result<Who, Error> {
        let spec = match (self.link, self.device) {
            (Some(link), _) => link.clone(),
            (None, Some(device)) => self.of_device(device, cancel)?,
            (None, None) => return Err(LinkError::NoBoard.into()),
        };
        let Connection { identity, level, .. } = connect(&spec, &Clone::clone, cancel)?;
        Ok(Who { link: spec.to_string(), level, design_hash: identity.design_hash })
    }

    /// The port that the kernel makes of the UART's interface, or without one the chip itself: a programmer may have
    /// taken the driver off and not put it back.
    fn of_device(&self, device: &UsbDevice, cancel: &AtomicBool) -> Result<LinkSpec, Error> {
        let chip = device.link();
        let link = match self.machine.wait_for_port(device, self.board.usb.interface, PORT, cancel) {
            Ok(port) => self.baud.map_or_else(|| port.link(), |baud| format!("{}@{baud}", port.link())),
            Err(Absent::Port) => chip,
            Err(Absent::Device) => return Err(LinkError::Missing { port: chip }.into()),
            Err(Absent::Access(access)) => return Err(LinkError::Permission { port: chip, access }.into()),
            Err(Absent::Interrupted) => return Err(SessionError::Interrupted.into()),
        };
        link.parse().map_err(Error::Arguments)
    }
}

/// Asks until somebody answers, for at most `limit`: a board takes its time to start, and its USB chip may leave and
/// return. `meant` is the hash of the image; without one, any is.
///
/// # Errors
/// Interrupted; all else is an answer.
pub fn ask(
    mut who: impl FnMut() -> Result<Who, Error>,
    meant: Option<u64>,
    limit: Duration,
    cancel: &AtomicBool,
) -> Result<Answer, Error> {
    let begun = Instant::now();
    loop {
        let error = match who() {
            Ok(who) if meant.is_none_or(|hash| hash == who.design_hash) => return Ok(Answer::Meant(who)),
            Ok(who) => return Ok(Answer::Other(who)),
            Err(error) => error,
        };
        if cancel.load(Ordering::Relaxed) {
            return Err(SessionError::Interrupted.into());
        }
        if begun.elapsed() >= limit {
            return Ok(Answer::Silent(error));
        }
        sleep(STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    static GO_ON: AtomicBool = AtomicBool::new(false);
    const LIMIT: Duration = Duration::from_secs(20);

    fn runs(design_hash: u64) -> Result<Who, Error> {
        Ok(Who { link: "serial:/dev/ttyUSB1".into(), level: Level::RealBoard, design_hash })
    }

    fn silence() -> Result<Who, Error> {
        Err(SessionError::Timeout { stage: "HELLO", waited: "1 ms".into(), retries: 4 }.into())
    }

    /// Asks a board that is silent for some questions and then runs an image.
    fn after(silent: u32, hash: u64, meant: Option<u64>, limit: Duration) -> Answer {
        let asked = Cell::new(0);
        let who = || {
            asked.set(asked.get() + 1);
            if asked.get() <= silent { silence() } else { runs(hash) }
        };
        ask(who, meant, limit, &GO_ON).expect("nobody interrupts")
    }

    #[test]
    fn row_17_a_board_may_take_its_time_and_the_hash_decides() {
        assert!(matches!(after(3, 7, Some(7), LIMIT), Answer::Meant(Who { design_hash: 7, .. })));
        assert!(matches!(after(3, 8, Some(7), LIMIT), Answer::Other(Who { design_hash: 8, .. })));
        assert!(matches!(after(0, 8, None, LIMIT), Answer::Meant(Who { design_hash: 8, .. })));
    }

    #[test]
    fn one_that_stays_silent_is_told_from_one_that_runs_something_else() {
        let answer = after(u32::MAX, 7, Some(7), 2 * STEP);
        assert!(
            matches!(&answer, Answer::Silent(error) if error.to_string().contains("no answer to HELLO")),
            "{answer:?}"
        );
        assert!(matches!(after(1, 7, Some(7), Duration::ZERO), Answer::Silent(_)), "asked once");
    }

    #[test]
    fn ctrl_c_ends_the_wait() {
        let ended = ask(silence, None, LIMIT, &AtomicBool::new(true));
        assert!(matches!(ended, Err(Error::Session(SessionError::Interrupted))));
    }
}
