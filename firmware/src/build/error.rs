//! Why there is no image.

use super::Unmatched;
use crate::cache::CacheError;
use crate::report::{Report, Resource, mhz, table};
use crate::toolchain::ToolchainError;
use crate::top::PllError;
use std::path::PathBuf;
use systole_hdl::verilog::VerilogError;
use thiserror::Error;

/// Why there is no image.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The board's PLL cannot make the clock.
    #[error(transparent)]
    Pll(#[from] PllError),
    /// The description is wrong.
    #[error(transparent)]
    Verilog(#[from] VerilogError),
    /// A tool is missing or failed.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The device is too small.
    #[error("{0}")]
    Fit(Box<Shortfall>),
    /// The clock is missed.
    #[error(
        "{} misses its clock: {} asked, {} reached{} with seed {} of {:?}. Ask for a slower clock, a smaller N or more seeds \
         (--seed-sweep), or take it as it is (--allow-timing-failure){}",
        .report.board, mhz(.report.clock_hz.into()), mhz(.report.fmax_hz),
        .report.icetime_hz.map_or(String::new(), |hz| format!(" ({} by icetime)", mhz(hz))), .report.seed,
        .report.seeds_tried,
        .log.as_ref().map_or(String::new(), |log| format!("\nIts slowest path: the end of {}", log.display()))
    )]
    Timing {
        /// The image's figures.
        report: Box<Report>,
        /// What nextpnr said of it; `None` for one that comes from the cache.
        log: Option<PathBuf>,
    },
    /// The board's pins are not the ports of the image.
    #[error(
        "the pins of {board} and the ports of the image do not match: {unmatched}; this is a fault of systole"
    )]
    Pins {
        /// The board.
        board: String,
        /// What does not.
        unmatched: Unmatched,
    },
    /// A tool ended well, and what it should have written is not there or not whole.
    #[error("{tool} ended without an error, but {} is not what it should be: {why}. Is the disk full?", path.display())]
    Output {
        /// The tool.
        tool: &'static str,
        /// What it should have written.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The board's USB chip is slower than the UART of the design.
    #[error("{baud} baud is more than the USB chip of {board} does: {most}")]
    Baud {
        /// The board.
        board: String,
        /// Rate of the design, in bits a second.
        baud: u32,
        /// The chip's highest.
        most: u32,
    },
    /// No seed was asked for.
    #[error("a sweep of no seeds gives no image: ask for at least one")]
    NoSeed,
    /// A report could not be put into JSON.
    #[error("cannot write the report: {0}")]
    Json(String),
    /// A file or folder could not be used.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl BuildError {
    /// Whether something has to be installed.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Toolchain(error) if error.is_missing())
    }

    /// Whether what was asked for is at fault: the arguments, or a file or folder.
    pub fn is_input(&self) -> bool {
        matches!(self, Self::Pll(_) | Self::Baud { .. } | Self::NoSeed | Self::Cache(_) | Self::Io { .. })
    }
}

/// A design that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// The board.
    pub board: String,
    /// Grid side asked for.
    pub n: u32,
    /// Needed and available.
    pub resources: Vec<Resource>,
    /// Largest grid side that fits, all else being equal; `None` if none does.
    pub largest: Option<u32>,
}

impl Shortfall {
    /// Grid sides from here on need not be tried: every resource grows with N at least, and most of what is short with N².
    pub(super) fn estimate(&self) -> u32 {
        // What is short scales at most as N²; N falls at least to the square root of what there is.
        let scale =
            self.resources.iter().filter(|r| r.is_short()).map(|r| r.available as f64 / r.needed as f64);
        let scale = scale.fold(1.0, f64::min).sqrt();
        // One more than the rounded-up estimate: what does not grow with N makes it too low.
        ((f64::from(self.n) * scale).ceil() as u32 + 1).min(self.n)
    }
}

impl std::fmt::Display for Shortfall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "N = {} does not fit {}:\n{}", self.n, self.board, table(&self.resources))?;
        match self.largest {
            Some(n) => write!(f, "the largest that does is N = {n}"),
            None => write!(f, "no smaller N fits with these parameters"),
        }
    }
}
