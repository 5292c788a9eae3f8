//! A board behind a pseudo-terminal: the other end of `--link serial:PATH` where there is no hardware.

mod pace;
mod terminal;
pub mod usb_model;

pub use terminal::Terminal;

use crate::link::sim::SimLink;
use crate::link::software::SoftwareLink;
use crate::link::{Link, LinkError};
use pace::Pace;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Bytes held in each direction; with more the board waits, and then so does the host.
const HELD: usize = 1 << 16;

/// Longest wait for the host before another look at whether to stop.
const WAIT: Duration = Duration::from_millis(100);

/// Something that can be served as a board.
pub trait Device: Link {
    /// Whether nothing will come out of it unless something goes in.
    fn is_idle(&self) -> bool;
}

impl Device for SimLink {
    fn is_idle(&self) -> bool {
        self.is_idle()
    }
}

impl Device for SoftwareLink {
    fn is_idle(&self) -> bool {
        self.is_idle()
    }
}

/// Why a virtual board stopped.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The pseudo-terminal.
    #[error("the pseudo-terminal failed: {0}; close some, and start the virtual board again")]
    Terminal(#[from] io::Error),
    /// The board.
    #[error(transparent)]
    Board(#[from] LinkError),
}

/// Moves bytes between a pseudo-terminal and a board until `stop` becomes true; with `pace`, no faster in either
/// direction than a UART of that rate, in bits a second.
///
/// # Errors
/// [`ServeError`].
pub fn serve(
    device: &mut dyn Device,
    terminal: &mut Terminal,
    pace: Option<u32>,
    stop: &AtomicBool,
) -> Result<(), ServeError> {
    let (mut arrived, mut to_board) = (VecDeque::new(), VecDeque::new());
    let (mut from_board, mut to_host) = (Vec::new(), VecDeque::new());
    let now = Instant::now();
    let (mut pace_in, mut pace_out) = (Pace::new(pace, now), Pace::new(pace, now));
    while !stop.load(Ordering::Relaxed) {
        let mut moved = if arrived.len() < HELD { terminal.read(&mut arrived)? } else { 0 };
        let now = Instant::now();
        let taken = pace_in.take(now, arrived.len());
        to_board.extend(arrived.drain(..taken));
        if to_host.len() < HELD {
            let waiting = to_board.len();
            device.poll(&mut to_board, &mut from_board)?;
            moved += waiting - to_board.len() + from_board.len();
            to_host.extend(from_board.drain(..));
        }
        let most = pace_out.allowed(now, to_host.len());
        let given = terminal.write(&mut to_host, most)?;
        pace_out.spend(given);
        if moved + given > 0 {
            continue;
        }
        if !arrived.is_empty() || (most == 0 && !to_host.is_empty()) {
            terminal.wait(false, pace_in.byte())?;
        } else if !to_host.is_empty() {
            terminal.wait(true, WAIT)?;
        } else if to_board.is_empty() && device.is_idle() {
            terminal.wait(false, WAIT)?;
        }
    }
    Ok(())
}
