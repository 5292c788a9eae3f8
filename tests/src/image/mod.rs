//! Whole images at their pins: a clock, a UART bit by bit, and lamps. One suite for every engine that runs an image.

pub mod compiled;
mod host;
pub mod rules;
pub mod rust_hdl;

use crate::level::Level;
use crate::wire;
use systole_boards::{Board, find};
use systole_firmware::design::Design;
use systole_hdl::parameters::Parameters;

/// What an image drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// UART to the computer.
    pub tx: bool,
    /// Level at the lamp for nothing to do.
    pub idle: bool,
    /// Level at the lamp for a job that runs.
    pub busy: bool,
    /// Level at the lamp for an error.
    pub error: bool,
}

/// A running image.
pub trait Pins {
    /// What it drives now.
    fn shown(&self) -> Shown;
    /// One edge of its clock, with a level on the UART from the computer.
    fn edge(&mut self, rx: bool);
}

/// An image, and an engine that runs it.
pub trait ImageLevel: Send + Sync {
    /// How real it is.
    fn level(&self) -> Level;
    /// The image.
    fn subject(&self) -> &Subject;
    /// The image at the moment at which the device has been configured, its clock low.
    fn power_up(&self) -> Box<dyn Pins>;
}

/// Which image it is.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its board.
    pub board: &'static Board,
    /// Its design.
    pub design: Design,
    /// What it answers HELLO with.
    pub hash: u64,
}

impl Subject {
    /// A small image of a board: N = 2, eight clocks a bit.
    ///
    /// # Panics
    /// When there is no such board: a mistake in the test.
    pub fn small(board: &str, clock_hz: u32) -> Self {
        let board = find(board).unwrap_or_else(|error| panic!("{error}"));
        let parameters = Parameters { clock_hz, baud: clock_hz / 8, ..wire::rules::small() };
        let design = Design::new(parameters).unwrap_or_else(|error| panic!("{error}"));
        Self { board, design, hash: 0x0123_4567_89AB_CDEF }
    }
}
