//! The open file of a port, which is left with the settings that it was found with.

use crate::discover::{Access, Machine};
use crate::link::LinkError;
use rustix::fs::{FlockOperation, OFlags, flock, fstat};
use rustix::io::Errno;
use rustix::termios::{
    OptionalActions, QueueSelector, Termios, isatty, tcflush, tcgetattr, tcgetsid, tcsetattr,
};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A descriptor that never blocks and does not make the port this process's terminal.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) file: File,
    /// The settings that the port had; `None` while it is not ours to change.
    before: Option<Termios>,
}

impl Line {
    /// Opens a port, and changes nothing of it yet.
    pub(super) fn open(path: &Path, name: &str, machine: &Machine) -> Result<Self, LinkError> {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        // The flags are the system's own, of its own width.
        let opened = File::options().read(true).write(true).custom_flags(flags.bits() as i32).open(path);
        let file = opened.map_err(|source| refused(path, name, machine, source))?;
        if let Err(errno) = tcgetattr(&file) {
            let reason = io::Error::from(errno).to_string();
            return Err(LinkError::NotSerial { port: name.to_owned(), reason });
        }
        if is_own(&file) {
            return Err(LinkError::OwnTerminal { port: name.to_owned() });
        }
        Ok(Self { file, before: None })
    }

    /// The numbers of the device.
    pub(super) fn device(&self) -> Option<u64> {
        Some(self.file.metadata().ok()?.rdev())
    }

    /// Takes the port for this process alone; false if another has it. Unlike `TIOCEXCL`, which stays with a
    /// pseudo-terminal for as long as its server runs, this ends with the process however that ends.
    pub(super) fn lock(&self) -> io::Result<bool> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Remembers the settings: from here on they are given back at the end.
    pub(super) fn keep(&mut self) -> io::Result<()> {
        self.before = Some(tcgetattr(&self.file)?);
        Ok(())
    }

    /// Leaves the port as it is: another program has it.
    pub(super) fn leave(&mut self) {
        self.before = None;
    }

    /// Lets every byte pass as it is.
    pub(super) fn make_raw(&self) -> io::Result<()> {
        let mut settings = tcgetattr(&self.file)?;
        settings.make_raw();
        Ok(tcsetattr(&self.file, OptionalActions::Now, &settings)?)
    }

    /// Forgets what was not sent and what was not read.
    pub(super) fn forget(&self) -> io::Result<()> {
        Ok(tcflush(&self.file, QueueSelector::IOFlush)?)
    }
}

impl Drop for Line {
    /// Leaves nothing behind for whoever comes next, and does not wait for a board that no longer listens.
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // A port that is gone has no settings.
            let _gone = self.forget();
            let _gone = tcsetattr(&self.file, OptionalActions::Now, before);
        }
    }
}

/// Why a port cannot be opened.
fn refused(path: &Path, name: &str, machine: &Machine, source: io::Error) -> LinkError {
    let port = name.to_owned();
    match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NXIO | Errno::NODEV) => LinkError::Missing { port },
        Some(Errno::ACCESS | Errno::PERM) => {
            LinkError::Permission { port, access: Access::of(path, Path::new("/etc/group")) }
        }
        Some(Errno::BUSY) => LinkError::Busy { port, holders: machine.others(path) },
        Some(Errno::ISDIR | Errno::NOTDIR | Errno::IO) => {
            LinkError::NotSerial { port, reason: source.to_string() }
        }
        _ => LinkError::Io { port, doing: "opening", source },
    }
}

/// Whether this is the terminal that the program itself runs in: the system tells the session of that one alone, and
/// one of the standard streams may be it without being the session's.
fn is_own(file: &File) -> bool {
    let device = |stream: &dyn AsFd| fstat(stream.as_fd()).map(|status| status.st_rdev).ok();
    let streams: [&dyn AsFd; 3] = [&io::stdin(), &io::stdout(), &io::stderr()];
    tcgetsid(file).is_ok()
        || streams.iter().any(|stream| isatty(stream.as_fd()) && device(*stream) == device(file))
}
