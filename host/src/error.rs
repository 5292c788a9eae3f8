//! Everything that can stop a command, and the exit code it ends with.

use crate::flash::ice40::FlashError;
use crate::flash::loader::LoaderError;
use crate::flash::target::TargetError;
use crate::link::LinkError;
use crate::matrix::MatrixError;
use crate::session::SessionError;
use crate::software::SoftwareError;
use crate::virtual_board::ServeError;
use crate::virtual_board::usb_model::ModelError;
use systole_boards::FindError;
use systole_firmware::build::BuildError;
use systole_hdl::parameters::ParameterError;
use thiserror::Error;

/// Exit codes of the program.
pub mod exit {
    /// Everything equal.
    pub const OK: u8 = 0;
    /// Results differ, or an injected fault went undetected.
    pub const DIFFERENT: u8 = 1;
    /// Arguments, input files or output files.
    pub const INPUT: u8 = 2;
    /// Board or link.
    pub const LINK: u8 = 3;
    /// A tool ran and failed, an image does not fit or misses its clock.
    pub const TOOL: u8 = 4;
    /// Something is missing on this machine.
    pub const MISSING: u8 = 5;
    /// Ctrl-C.
    pub const INTERRUPTED: u8 = 130;
}

/// Why a command stopped.
#[derive(Debug, Error)]
pub enum Error {
    /// A design that cannot be built.
    #[error("{0}")]
    Parameter(#[from] ParameterError),
    /// A matrix or its file.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// Shapes that do not multiply.
    #[error("A is {a_rows}×{a_columns} and B is {b_rows}×{b_columns}: A needs as many columns as B has rows")]
    Shapes {
        /// Rows of A.
        a_rows: usize,
        /// Columns of A.
        a_columns: usize,
        /// Rows of B.
        b_rows: usize,
        /// Columns of B.
        b_columns: usize,
    },
    /// A product that would not fit the memory.
    #[error(
        "{shape} would take {needed} of memory, above the limit of {limit}; raise --memory-limit or split it"
    )]
    Memory {
        /// The product.
        shape: String,
        /// Memory it needs, for people.
        needed: String,
        /// Memory it may take, for people.
        limit: String,
    },
    /// A product for which there is no memory.
    #[error("{shape} would take {needed} of memory, more than is free on this machine; split it")]
    NoMemory {
        /// The product.
        shape: String,
        /// Memory it needs, for people.
        needed: String,
    },
    /// A file to write that is also read, or written as something else.
    #[error("--out {out} is the same file as the input {input}; give it another name")]
    SameFile {
        /// Where C was to go.
        out: String,
        /// The file of A or B.
        input: String,
    },
    /// Arguments that do not go together.
    #[error("{0}")]
    Arguments(String),
    /// Board or link.
    #[error("{0}")]
    Session(#[from] SessionError),
    /// A link that cannot be opened.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// There is nothing to write an image to.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// An iCE40 board was not programmed.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// openFPGALoader did not program the board.
    #[error(transparent)]
    Loader(#[from] LoaderError),
    /// A virtual board that stopped.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The software backend refused a job.
    #[error("the software backend refused a job: {0}")]
    Software(#[from] SoftwareError),
    /// No such board, or a board file with something wrong.
    #[error(transparent)]
    Board(#[from] FindError),
    /// No board could be plugged into the virtual USB host controller.
    #[error(transparent)]
    UsbModel(#[from] ModelError),
    /// There is no image.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An array that cannot be built or run as asked for.
    #[error(transparent)]
    Array(SoftwareError),
    /// The report could not be written.
    #[error("cannot write the report: {0}")]
    Report(std::io::Error),
}

impl Error {
    /// The exit code that tells a script what kind of error it was.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Session(SessionError::Interrupted) => exit::INTERRUPTED,
            Self::Loader(LoaderError::Interrupted) | Self::Flash(FlashError::Interrupted { .. }) => {
                exit::INTERRUPTED
            }
            Self::Loader(LoaderError::Missing) => exit::MISSING,
            Self::Loader(LoaderError::Failed { cause, .. }) if cause.is_link() => exit::LINK,
            Self::Loader(_) => exit::TOOL,
            Self::Target(TargetError::NoMemory { .. } | TargetError::NoImage { .. }) => exit::INPUT,
            Self::Target(_) | Self::Flash(_) => exit::LINK,
            Self::Build(error) if error.is_missing() => exit::MISSING,
            Self::UsbModel(ModelError::NoController) => exit::MISSING,
            Self::Build(error) if error.is_input() => exit::INPUT,
            Self::Build(_) => exit::TOOL,
            Self::Link(LinkError::OwnTerminal { .. }) => exit::INPUT,
            Self::Session(_) | Self::Link(_) | Self::Serve(_) | Self::Software(_) | Self::UsbModel(_) => {
                exit::LINK
            }
            _ => exit::INPUT,
        }
    }
}
