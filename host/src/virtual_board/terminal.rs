//! A pseudo-terminal, raw from before its first byte, whose board side never blocks.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A pseudo-terminal.
#[derive(Debug)]
pub struct Terminal {
    /// The board's side.
    board: File,
    /// A host's side that stays open: without one the board would read errors whenever no host is there, and settings
    /// would be lost.
    _spare: File,
    path: PathBuf,
}

impl Terminal {
    /// A new pseudo-terminal.
    ///
    /// # Errors
    /// What the system says, such as that there are too many.
    pub fn open() -> io::Result<Self> {
        let board = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&board)?;
        unlockpt(&board)?;
        let name = ptsname(&board, Vec::new())?.into_bytes();
        let path = PathBuf::from(std::ffi::OsString::from_vec(name));
        let flags = OFlags::NOCTTY.bits() as i32;
        let spare = File::options().read(true).write(true).custom_flags(flags).open(&path)?;
        // As a terminal comes, it would send the board its own bytes back.
        let mut settings = tcgetattr(&spare)?;
        settings.make_raw();
        tcsetattr(&spare, OptionalActions::Now, &settings)?;
        rustix::io::ioctl_fionbio(&board, true)?;
        Ok(Self { board: board.into(), _spare: spare, path })
    }

    /// What a host opens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends what the host has sent; gives the number of bytes.
    pub(super) fn read(&mut self, bytes: &mut VecDeque<u8>) -> io::Result<usize> {
        let mut buffer = [0; 4096];
        let got = or_none(self.board.read(&mut buffer))?;
        bytes.extend(&buffer[..got]);
        Ok(got)
    }

    /// Gives the host at most `most` bytes from the front; gives the number that it took.
    pub(super) fn write(&mut self, bytes: &mut VecDeque<u8>, most: usize) -> io::Result<usize> {
        let front = bytes.as_slices().0;
        let most = most.min(front.len());
        if most == 0 {
            return Ok(0);
        }
        let taken = or_none(self.board.write(&front[..most]))?;
        bytes.drain(..taken);
        Ok(taken)
    }

    /// Waits until the host has sent something, or with `to_write` takes something, but no longer than this.
    pub(super) fn wait(&self, to_write: bool, most: Duration) -> io::Result<()> {
        let events = if to_write { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let timeout = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: i64::from(most.subsec_nanos()) };
        match poll(&mut [PollFd::new(&self.board, events)], Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// No bytes, where none can move just now.
fn or_none(moved: io::Result<usize>) -> io::Result<usize> {
    match moved {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
        moved => moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that a terminal would swallow, change or answer by itself: break, end, return, stop, start, suspend, quit.
    const BYTES: [u8; 11] = [b'a', 3, 4, 10, 13, 17, 19, 26, 28, 0, 255];

    #[test]
    fn every_byte_passes_nothing_is_echoed_and_hosts_come_and_go() {
        let mut terminal = Terminal::open().expect("a terminal");
        for _ in 0..2 {
            let mut to_host = VecDeque::from(BYTES);
            assert_eq!(terminal.write(&mut to_host, 100).expect("room"), BYTES.len());
            assert_eq!(terminal.read(&mut VecDeque::new()).expect("no echo"), 0);
            let mut host = File::options().read(true).write(true).open(terminal.path()).expect("a port");
            let mut got = [0; BYTES.len()];
            host.read_exact(&mut got).expect("bytes");
            assert_eq!(got, BYTES);
            host.write_all(&BYTES).expect("room");
            drop(host);
            let mut from_host = VecDeque::new();
            assert_eq!(terminal.read(&mut from_host).expect("bytes"), BYTES.len());
            assert_eq!(from_host, BYTES);
        }
    }
}
