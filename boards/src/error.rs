//! What is wrong with a board file, or with a name.

use crate::board::{Fact, Memory};
use systole_hdl::parameters::ParameterError;
use thiserror::Error;

/// What is wrong with a board file. Every message names the file and the key.
#[derive(Clone, Debug, Error)]
pub enum BoardError {
    /// No TOML, an unknown or missing key, a value of the wrong kind; the message shows the line.
    #[error("{file}: {error}")]
    Syntax {
        /// The file.
        file: String,
        /// What the parser says.
        error: Box<toml::de::Error>,
    },
    /// A board whose name does not begin as its file's.
    #[error("{file}: variant.name: {name:?} must be {stem:?} or begin with \"{stem}-\", in lower case")]
    Name {
        /// The file.
        file: String,
        /// The name of the board.
        name: String,
        /// The file's name without `.toml`.
        stem: String,
    },
    /// A file without a board.
    #[error("{file}: variant: there is none, and every board must be one")]
    NoVariant {
        /// The file.
        file: String,
    },
    /// A name that stands twice.
    #[error("{file}: variant.name: {name:?} stands twice")]
    NameTwice {
        /// The file.
        file: String,
        /// The name.
        name: String,
    },
    /// A device, package or speed grade that the toolchain does not know.
    #[error("{file}: {key}: the toolchain knows no {family} {key} {value:?}, but {}", .known.join(", "))]
    Unknown {
        /// The file.
        file: String,
        /// `device`, `package` or `speed`.
        key: &'static str,
        /// The family it was looked for in.
        family: &'static str,
        /// The value, empty where it is missing.
        value: String,
        /// What the toolchain knows.
        known: Vec<&'static str>,
    },
    /// One pin for two things.
    #[error("{file}: pin {pin} stands twice: {first} and {second}")]
    PinTwice {
        /// The file.
        file: String,
        /// The pin.
        pin: String,
        /// One use.
        first: String,
        /// The other.
        second: String,
    },
    /// An I/O standard where the tools take none, or none where they ask for one.
    #[error(
        "{file}: {key}.standard: {}",
        if *.wanted { "missing, and fpga.standard too: the tools ask for one" } else { "the tools of iCE40 take none" }
    )]
    Standard {
        /// The file.
        file: String,
        /// The pin's key.
        key: String,
        /// Whether one must stand there.
        wanted: bool,
    },
    /// A design that cannot be built, or whose baud rate the clock cannot make.
    #[error("{file}: variant.design of {board}: {error}")]
    Design {
        /// The file.
        file: String,
        /// The board.
        board: String,
        /// Why.
        error: ParameterError,
    },
    /// A design faster than the USB chip.
    #[error("{file}: variant.design of {board}: baud is {baud}, but usb.max-baud is {max}")]
    BaudOfUsb {
        /// The file.
        file: String,
        /// The board.
        board: String,
        /// The design's rate.
        baud: u32,
        /// The chip's fastest.
        max: u32,
    },
    /// A design on another clock than the oscillator's, without a PLL.
    #[error("{file}: pll: missing, and {board} runs at {design} Hz from an oscillator of {oscillator} Hz")]
    NoPll {
        /// The file.
        file: String,
        /// The board.
        board: String,
        /// Clock of the design in hertz.
        design: u32,
        /// Clock of the board in hertz.
        oscillator: u32,
    },
    /// A default design larger than the largest that fits.
    #[error("{file}: variant.largest of {board}: n is {largest}, but the design has n = {n}")]
    Largest {
        /// The file.
        file: String,
        /// The board.
        board: String,
        /// The design's grid side.
        n: u32,
        /// The largest grid side.
        largest: u32,
    },
    /// A default memory that cannot be written.
    #[error("{file}: program.memory: {memory:?} is not among program.memories")]
    Memory {
        /// The file.
        file: String,
        /// The default.
        memory: Memory,
    },
    /// openFPGALoader without its name for the board.
    #[error("{file}: program.target: missing, and openFPGALoader asks for it")]
    Target {
        /// The file.
        file: String,
    },
    /// Facts that too few sources confirm.
    #[error("{file}: sources: {found} confirm {}, but it takes {needed}", .fact.name())]
    Sources {
        /// The file.
        file: String,
        /// The facts.
        fact: Fact,
        /// Sources that confirm them.
        found: usize,
        /// Sources that it takes.
        needed: usize,
    },
}

/// Why there is no board.
#[derive(Clone, Debug, Error)]
pub enum FindError {
    /// No board of that name.
    #[error(
        "no board is called {name:?}{}; the boards are {}",
        if .near.is_empty() { String::new() } else { format!("; did you mean {}?", .near.join(", ")) },
        .known.join(", ")
    )]
    Unknown {
        /// The name.
        name: String,
        /// Names like it, likeliest first.
        near: Vec<&'static str>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// A board that no image fits.
    #[error("there is no image for {name}: {reason}")]
    Excluded {
        /// The board.
        name: &'static str,
        /// How that is known.
        reason: &'static str,
    },
    /// A board file with something wrong.
    #[error(transparent)]
    Board(#[from] BoardError),
}
