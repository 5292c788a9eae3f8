//! The contract, rule by rule: written once against two traits, run at every level that implements them.
//!
//! [`Grid`] is the array alone, edge by edge (R1–R28); [`Wrapper`] is one that runs whole jobs (R5–R7, R24–R28 and the
//! injections). Rules are named after the contract's.

pub mod feed;
pub mod netlist;
pub mod pins;
mod ports;
pub mod rules;
pub mod rust_hdl;
pub mod software;
pub mod verilog;

use crate::level::Level;
use systole::software::job::{Fault, PeError};
use systole_hdl::parameters::{ParameterError, Parameters};
use systole_hdl::wire::ErrorKind;
use thiserror::Error;

/// A token on a link. When it is not valid the other fields may hold anything, wider than the link even: a level keeps
/// the bits that it has wires for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Token {
    /// The operand.
    pub value: i64,
    /// False for a bubble.
    pub valid: bool,
    /// Tag of the job.
    pub job: u32,
    /// Term of the reduction.
    pub k: u32,
}

/// Bubbles are equal whatever their other bits.
impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        let fields = |token: &Self| (token.value, token.job, token.k);
        self.valid == other.valid && (!self.valid || fields(self) == fields(other))
    }
}

/// The inputs of a grid, stable before one rising clock edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Shared reset.
    pub reset: bool,
    /// Shared clear.
    pub clear: bool,
    /// Shared enable.
    pub advance: bool,
    /// Terms of the job.
    pub k_len: u32,
    /// What the west boundary presents, one token a row.
    pub a: Vec<Token>,
    /// What the north boundary presents, one token a column.
    pub b: Vec<Token>,
}

/// What a PE shows after an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeState {
    /// Accumulator.
    pub acc: i64,
    /// Terms taken.
    pub count: u32,
    /// All `k_len` terms taken.
    pub done: bool,
    /// First error since reset or clear.
    pub error: Option<ErrorKind>,
    /// Forward register to the right.
    pub a_out: Token,
    /// Forward register down.
    pub b_out: Token,
}

/// Why a level gives no result.
#[derive(Debug, Error)]
pub enum LevelError {
    /// Parameters that nothing can be built from; every level refuses them before it builds anything.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// Something that this level cannot do at all.
    #[error("cannot run {0}")]
    Unsupported(String),
    /// The level broke down; says at which stage.
    #[error("{0}")]
    Broken(String),
}

/// The array alone.
pub trait Grid: Send + Sync {
    /// Where this runs.
    fn level(&self) -> Level;

    /// Runs a fresh grid of `rows × columns` PEs through a batch of edges, and gives the state of every PE (row-major)
    /// after each of them. The first edge of every batch is a reset. The gateware's grids are square, with
    /// `rows = columns = parameters.n`; `parameters.n` does not limit the software.
    ///
    /// # Errors
    /// See [`LevelError`].
    fn run(
        &self,
        parameters: &Parameters,
        rows: usize,
        columns: usize,
        edges: &[Edge],
    ) -> Result<Vec<Vec<PeState>>, LevelError>;
}

/// A job for a wrapper, as [`systole::software::job::JobSpec`] defines it.
#[derive(Clone, Debug)]
pub struct Job {
    /// Terms of the reduction. Need not be legal.
    pub k_len: u32,
    /// Tag of its tokens.
    pub tag: u32,
    /// `n` rows of `k_len` operands, row-major.
    pub a: Vec<i32>,
    /// `n` columns of `k_len` operands, column after column.
    pub b: Vec<i32>,
    /// Fault to inject; [`systole::software::job`] defines each.
    pub fault: Option<Fault>,
}

/// A state of the wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Waits for a start.
    Idle,
    /// Clears the grid.
    Clear,
    /// The boundary presents tokens.
    Stream,
    /// Bubbles enter until the last PE has its last term.
    Drain,
    /// Results are copied.
    Collect,
}

/// What a job ends with.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Accumulators, `n × n`, row-major.
    pub values: Vec<i64>,
    /// The error reported, and its PE.
    pub error: Option<PeError>,
    /// Advancing edges of the compute phase.
    pub steps: u64,
    /// All edges of the compute phase.
    pub edges: u64,
    /// The fault took effect.
    pub fired: bool,
    /// A start was refused while the job ran.
    pub refused: bool,
    /// The states that the wrapper went through, from the first after the start to the one it waits in when the results
    /// are collected, each once; `None` at a level that has no such states.
    pub phases: Option<Vec<Phase>>,
}

/// How a start was answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Not started, because `k_len` is 0 or beyond [`Parameters::k_limit`].
    Refused,
    /// Run to its end and collected.
    Run(Outcome),
}

/// An array with the wrapper that runs jobs on it.
pub trait Wrapper: Send + Sync {
    /// Where this runs.
    fn level(&self) -> Level;

    /// Runs a batch of jobs one after another on the same instance, with no reset in between, each started when the
    /// one before has been collected.
    ///
    /// # Errors
    /// See [`LevelError`].
    fn run(&self, parameters: &Parameters, jobs: &[Job]) -> Result<Vec<Answer>, LevelError>;
}
