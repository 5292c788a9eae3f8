//! openFPGALoader, which writes images to boards that this program cannot write itself.
//!
//! How it ends is not believed where it says that all went well: it also says so when nothing was written. Who answers
//! afterwards is what counts. The command lines are for version 0.10 and later.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use systole_boards::device::Family;
use systole_boards::{Board, Memory, Programmer};
use systole_firmware::toolchain::tail;
use tempfile::TempDir;
use thiserror::Error;

/// How to get it.
pub const INSTALL: &str = "sudo apt install openfpgaloader";

/// The longest that it may take: a flash of 4 MB over a chip that is driven bit by bit takes minutes.
const LONGEST: Duration = Duration::from_secs(900);

/// Time between two looks at whether it has ended.
const STEP: Duration = Duration::from_millis(50);

/// What it printed.
const LOG: &str = "openFPGALoader.log";

/// The program, found.
#[derive(Clone, Debug)]
pub struct Loader {
    /// Where it is.
    pub program: PathBuf,
    /// Its version, as it tells it.
    pub version: String,
}

impl fmt::Display for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Programmer::OpenFpgaLoader.name(), self.version)
    }
}

/// Why it did not write the image.
#[derive(Debug, Error)]
pub enum LoaderError {
    /// It is nowhere.
    #[error(
        "openFPGALoader is missing, and this board needs it. Install it: Debian, Ubuntu: {INSTALL} · Fedora: sudo dnf \
         install openFPGALoader · macOS: brew install openfpgaloader"
    )]
    Missing,
    /// It could not be started, or its files not be made.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The program or file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It failed.
    #[error("openFPGALoader failed ({status}): {cause}. Its last lines:\n{tail}\nThe whole log: {}", log.display())]
    Failed {
        /// How it ended.
        status: String,
        /// What that means.
        cause: Cause,
        /// The end of what it printed.
        tail: String,
        /// Everything that it printed.
        log: PathBuf,
    },
    /// It did not end.
    #[error("openFPGALoader had not ended after {waited:?} and was stopped. Its last lines:\n{tail}\nThe whole log: {}", log.display())]
    Timeout {
        /// The time it had.
        waited: Duration,
        /// The end of what it printed.
        tail: String,
        /// Everything that it printed.
        log: PathBuf,
    },
    /// The user asked to stop.
    #[error(
        "interrupted while openFPGALoader was writing; the board may have half an image, program it again"
    )]
    Interrupted,
}

/// What a failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No USB chip of the board's kind.
    NoChip,
    /// The chip may not be opened.
    Permission,
    /// Something else has the chip.
    Busy,
    /// The chip is there, and no FPGA answers through it.
    NoFpga,
    /// Something else.
    Unknown,
}

impl Cause {
    /// Reads it from what libftdi and openFPGALoader print.
    fn of(output: &str) -> Self {
        let table = [
            ("device not found", Self::NoChip),
            ("usb_open() failed", Self::Permission),
            ("unable to claim usb device", Self::Busy),
            ("no device found", Self::NoFpga),
        ];
        table.iter().find(|(said, _)| output.contains(said)).map_or(Self::Unknown, |(_, cause)| *cause)
    }

    /// Whether the board or the way to it is at fault.
    pub fn is_link(self) -> bool {
        self != Self::Unknown
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoChip => {
                "it found no USB chip of this board; check cable and power, and look at `systole list`"
            }
            Self::Permission => "it may not open the board's USB chip; run `systole doctor`",
            Self::Busy => "the board's USB chip is in use by another program; run `systole doctor`",
            Self::NoFpga => {
                "the USB chip is there, and no FPGA answers through it; check the board's power and jumpers"
            }
            Self::Unknown => "nothing was written, or only a part",
        })
    }
}

impl Loader {
    /// Looks for it in a search path in the form of the variable `PATH`.
    ///
    /// # Errors
    /// [`LoaderError::Missing`]; it cannot be started.
    pub fn find(search_path: &OsStr) -> Result<Self, LoaderError> {
        let name = Programmer::OpenFpgaLoader.name();
        let program = which::which_in(name, Some(search_path), ".").map_err(|_| LoaderError::Missing)?;
        let output = Command::new(&program).arg("-V").stdin(Stdio::null()).output();
        let output = output.map_err(|source| LoaderError::Io { path: program.clone(), source })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.split_whitespace().last().unwrap_or("of an unknown version").to_owned();
        Ok(Self { program, version })
    }

    /// Writes an image; gives what was said. `cancel` becoming true stops it.
    ///
    /// # Errors
    /// It fails, takes too long or cannot be started; interrupted. That it ends well proves nothing.
    pub fn write(
        &self,
        board: &Board,
        memory: Memory,
        serial: Option<&str>,
        image: &[u8],
        cancel: &AtomicBool,
    ) -> Result<Said, LoaderError> {
        let folder = tempfile::Builder::new().prefix("systole-flash-").tempdir();
        let folder = folder.map_err(|source| LoaderError::Io { path: std::env::temp_dir(), source })?;
        // It tells the format by the ending.
        let file = format!("image.{}", board.fpga.family.ending());
        let path = folder.path().join(&file);
        fs::write(&path, image).map_err(|source| LoaderError::Io { path: path.clone(), source })?;
        let mut command = Command::new(&self.program);
        command.args(arguments(board, memory, serial)).arg(file).current_dir(folder.path());
        let log = folder.path().join(LOG);
        match run(command, &log, cancel) {
            Ok(()) => Ok(Said { folder }),
            Err(error) => {
                // The log is in it, and the error names it.
                if matches!(error, LoaderError::Failed { .. } | LoaderError::Timeout { .. }) {
                    let _kept = folder.keep();
                }
                Err(error)
            }
        }
    }
}

/// What a run said that ended well. The log goes when this goes, unless it is kept.
#[derive(Debug)]
pub struct Said {
    folder: TempDir,
}

impl Said {
    /// Keeps the log; gives the end of it, and its place.
    pub fn keep(self) -> (String, PathBuf) {
        let log = self.folder.keep().join(LOG);
        (tail(&log), log)
    }
}

/// Everything on its command line but the image.
pub fn arguments(board: &Board, memory: Memory, serial: Option<&str>) -> Vec<OsString> {
    let mut arguments: Vec<&str> = Vec::new();
    // A board file without a target is refused when it is read.
    arguments.extend(board.program.target.iter().flat_map(|target| ["--board", target]));
    match memory {
        Memory::Sram => arguments.push("--write-sram"),
        Memory::Flash => arguments.push("--write-flash"),
    }
    // It can read back the flash that an ECP5 starts from, and not the one within a Gowin.
    if (memory, board.fpga.family) == (Memory::Flash, Family::Ecp5) {
        arguments.push("--verify");
    }
    arguments.extend(serial.iter().flat_map(|serial| ["--ftdi-serial", serial]));
    arguments.into_iter().map(OsString::from).collect()
}

/// Runs a command to its end, its output in a file.
fn run(mut command: Command, log: &Path, cancel: &AtomicBool) -> Result<(), LoaderError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| LoaderError::Io { path, source }
    };
    let output = File::create(log).map_err(io(log))?;
    let errors = output.try_clone().map_err(io(log))?;
    let program = PathBuf::from(command.get_program());
    let mut child =
        command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn().map_err(io(&program))?;
    let begun = Instant::now();
    loop {
        let ended = child.try_wait().map_err(io(&program))?;
        // Ctrl-C goes to it as well, so it may have ended of that.
        if cancel.load(Ordering::Relaxed) || (ended.is_none() && begun.elapsed() > LONGEST) {
            // Both fail only for a process that has ended.
            let _stopped = child.kill().and_then(|()| child.wait());
            if cancel.load(Ordering::Relaxed) {
                return Err(LoaderError::Interrupted);
            }
            return Err(LoaderError::Timeout { waited: LONGEST, tail: tail(log), log: log.to_owned() });
        }
        match ended {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                let cause = Cause::of(&String::from_utf8_lossy(&fs::read(log).unwrap_or_default()));
                let (status, tail, log) = (status.to_string(), tail(log), log.to_owned());
                return Err(LoaderError::Failed { status, cause, tail, log });
            }
            None => sleep(STEP),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use systole_boards::find;

    #[test]
    fn command_lines_are_as_the_board_files_have_it() {
        let line = |board, memory, serial| {
            let arguments = arguments(find(board).expect("known"), memory, serial);
            arguments.join(OsStr::new(" ")).into_string().expect("UTF-8")
        };
        assert_eq!(line("ulx3s-85f", Memory::Sram, None), "--board ulx3s --write-sram");
        assert_eq!(
            line("ulx3s-12f", Memory::Flash, Some("D00042")),
            "--board ulx3s --write-flash --verify --ftdi-serial D00042"
        );
        assert_eq!(
            line("ecp5-evn", Memory::Sram, Some("FT1")),
            "--board ecp5_evn --write-sram --ftdi-serial FT1"
        );
        assert_eq!(line("tang-nano-9k", Memory::Flash, None), "--board tangnano9k --write-flash");
    }

    #[test]
    fn what_libftdi_says_is_understood() {
        // The words of libftdi 1.5 and of openFPGALoader 0.10.
        let said = [
            (
                "unable to open ftdi device: -3 (device not found)\nJTAG init failed with: unable to open",
                Cause::NoChip,
            ),
            ("unable to open ftdi device: -4 (usb_open() failed)", Cause::Permission),
            ("-5 (unable to claim usb device. Make sure the default FTDI driver is not in use)", Cause::Busy),
            ("Error: no device found", Cause::NoFpga),
            ("Error: Failed to program FPGA", Cause::Unknown),
        ];
        for (text, cause) in said {
            assert_eq!(Cause::of(text), cause, "{text}");
        }
    }
}
