//! The Verilog level: any block's generated Verilog under a real simulator, driven edge by edge over a pipe.
//!
//! A [`Design`] is compiled once; each [`Run`] of it starts from power-up. [`differential`] holds a run against the
//! rust-hdl simulation of the same block. A [`Library`] is for suites of millions of edges in which each depends on the
//! one before.

mod bench;
mod design;
pub mod differential;
mod edit;
mod library;
mod ports;
mod run;
mod states;
pub(crate) mod watchdog;

pub use bench::Tap;
pub use design::{Design, Engine};
pub use edit::Edit;
pub use library::{Library, Model, Sources};
pub use ports::{Port, Ports};
pub use run::{Reading, Run};
pub use states::Transitions;

use std::path::PathBuf;
use std::time::Duration;
use systole_hdl::verilog::VerilogError;
use thiserror::Error;

/// Why a Verilog simulation gives no result. Every message names the design and the stage.
#[derive(Debug, Error)]
pub enum BenchError {
    /// The block has no Verilog.
    #[error(transparent)]
    Emit(#[from] VerilogError),
    /// A tool that is not on this machine.
    #[error("{tool} does not run: {error}")]
    Missing {
        /// The program.
        tool: &'static str,
        /// What the system says.
        error: std::io::Error,
    },
    /// A fault that has not exactly one place.
    #[error("{design}: {:?} stands {places} times in module {}, and must once", .edit.find, .edit.module)]
    Edit {
        /// Name of the design.
        design: String,
        /// The fault.
        edit: Edit,
        /// How many places it has.
        places: usize,
    },
    /// A tool that refuses the design.
    #[error("{design}: {tool} fails:\n{log}")]
    Compile {
        /// Name of the design.
        design: String,
        /// The program.
        tool: &'static str,
        /// The last of what it printed.
        log: String,
    },
    /// A stage beyond its time.
    #[error("{design}: no end of {stage} after {} s", .limit.as_secs())]
    Hang {
        /// Name of the design.
        design: String,
        /// What was going on.
        stage: String,
        /// How long it was given.
        limit: Duration,
    },
    /// The simulator stopped answering.
    #[error("{design}: the simulator ended at cycle {cycle}: {log}")]
    Ended {
        /// Name of the design.
        design: String,
        /// Cycles answered until then.
        cycle: u64,
        /// The last of what it printed.
        log: String,
    },
    /// An answer that is none.
    #[error("{design}: the simulator says {line:?} at cycle {cycle}")]
    Answer {
        /// Name of the design.
        design: String,
        /// Cycles answered until then.
        cycle: u64,
        /// The line.
        line: String,
    },
    /// A library that was compiled and cannot be used.
    #[error("{design}: the compiled model cannot be loaded: {error}")]
    Load {
        /// Name of the design.
        design: String,
        /// What the system says.
        error: libloading::Error,
    },
    /// A file or pipe that fails.
    #[error("{design}: {path}: {error}")]
    Io {
        /// Name of the design.
        design: String,
        /// The file, or the pipe's name.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
}
