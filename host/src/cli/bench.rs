//! `systole bench`: figures that can be compared.

mod link;
mod wire;

use super::LinkArgs;
use clap::{Args, Subcommand};
use std::sync::atomic::AtomicBool;

/// Arguments of `systole bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    bench: Bench,
}

impl BenchArgs {
    /// The link to a board, where the benchmark has one.
    pub(super) fn link(&self) -> Option<&LinkArgs> {
        match &self.bench {
            Bench::Wire(_) => None,
            Bench::Link(arguments) => Some(&arguments.link),
        }
    }
}

/// The benchmarks there are.
#[derive(Debug, Subcommand)]
enum Bench {
    /// How close a product comes to the limit of the wire, in cycles of the simulated gateware
    Wire(wire::WireArgs),
    /// How fast bytes pass a link each way and both, and how long an answer takes
    Link(link::LinkBenchArgs),
}

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// Those of the benchmark.
pub fn main(arguments: &BenchArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    match &arguments.bench {
        Bench::Wire(arguments) => wire::main(arguments, cancel),
        Bench::Link(arguments) => link::main(arguments, cancel),
    }
}
