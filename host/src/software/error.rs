//! What can be wrong with an array, a run or a job in software.

use super::array::{Direction, Side};
use crate::matrix::size;
use thiserror::Error;

/// Why an array cannot be built or a job not be run: what, where, and what would be right.
#[derive(Debug, Error)]
pub enum SoftwareError {
    /// An array without PEs.
    #[error("an array of {rows}×{columns} has no PE: both sides must be at least 1")]
    Size {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
    },
    /// An array whose PEs, links and streams would not fit the memory it may take.
    #[error(
        "an array of {rows}×{columns} would take {} of memory, above the limit of {}",
        size(*bytes), size(u128::from(*limit))
    )]
    Memory {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
        /// Bytes needed.
        bytes: u128,
        /// Bytes allowed.
        limit: u64,
    },
    /// A state for a PE that the array does not have.
    #[error("a state for PE({row},{column}), but the array is {rows}×{columns} and counts from 0")]
    OffArray {
        /// Row asked for.
        row: usize,
        /// Column asked for.
        column: usize,
        /// Rows of the array.
        rows: usize,
        /// Columns of the array.
        columns: usize,
    },
    /// Two states to start with for one PE.
    #[error("a second state for PE({row},{column}): give each PE one")]
    SecondState {
        /// Row of the PE.
        row: usize,
        /// Column of the PE.
        column: usize,
    },
    /// The same links asked for twice.
    #[error("{direction} is connected twice: connect each direction once")]
    ConnectedTwice {
        /// The direction.
        direction: Direction,
    },
    /// A stream for a side whose links are not connected.
    #[error("a stream enters from the {side}, but {direction} is not connected")]
    NotConnected {
        /// Side of the stream.
        side: Side,
        /// The connection that would take it.
        direction: Direction,
    },
    /// A stream for a coordinate that the side does not have.
    #[error("a stream for {side} {coordinate}, but the {side} side has coordinates 0..={last}")]
    OffSide {
        /// Side of the stream.
        side: Side,
        /// Row or column asked for.
        coordinate: usize,
        /// Largest coordinate of that side.
        last: usize,
    },
    /// Two streams for one boundary link.
    #[error("a second stream for {side} {coordinate}: give each coordinate one stream")]
    SecondStream {
        /// Side of the stream.
        side: Side,
        /// Row or column.
        coordinate: usize,
    },
    /// A run of no ticks.
    #[error("a run of 0 ticks executes nothing: ask for at least 1")]
    NoTicks,
    /// A tile without PEs.
    #[error("a tile of 0 {side} has no PE: ask for at least 1, or leave it out for all {side}")]
    EmptyTile {
        /// `rows` or `columns`.
        side: &'static str,
    },
    /// Barriers with no tick between them.
    #[error("a superstep of 0 ticks executes nothing: ask for at least 1, or leave it out")]
    EmptySuperstep,
    /// A drawing of more than anyone could look at.
    #[error(
        "a drawing of {ticks} ticks of {rows}×{columns} PEs has more than {most} cells: draw fewer ticks"
    )]
    Drawing {
        /// Rows of the array.
        rows: usize,
        /// Columns of the array.
        columns: usize,
        /// Ticks asked for.
        ticks: u64,
        /// Most cells that are drawn.
        most: u128,
    },
    /// No thread to run on.
    #[error("0 threads compute nothing: ask for at least 1")]
    NoThreads,
    /// More threads than make sense.
    #[error("{threads} threads for an array: more than {most} only wait for each other")]
    TooManyThreads {
        /// Threads asked for.
        threads: usize,
        /// The most that are taken.
        most: usize,
    },
    /// Threads that the system did not give.
    #[error("{threads} threads for the array were refused: {why}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// What the system said.
        why: String,
    },
    /// A way of dispatching tiles that there is not.
    #[error("no dispatch '{name}': use tasks or pool")]
    UnknownDispatch {
        /// The name given.
        name: String,
    },
    /// A PE that panicked in its step.
    #[error("PE({row},{column}) panicked at tick {tick}: {message}")]
    Panicked {
        /// Row of the PE.
        row: usize,
        /// Column of the PE.
        column: usize,
        /// Tick of the step.
        tick: u64,
        /// What the panic said.
        message: String,
    },
    /// A worker that ended before its array did.
    #[error("a worker of the array has ended: build the array anew")]
    WorkerGone,
    /// A run on an array that an earlier error left half-way through a tick.
    #[error("an earlier error stopped this array within a tick: clear it first")]
    Broken,
    /// A sink that could not take an event.
    #[error("what happened at tick {tick} could not be written: {source}")]
    Trace {
        /// Tick of the event.
        tick: u64,
        /// What the sink said.
        source: std::io::Error,
    },
    /// Parameters that no design can have.
    #[error(transparent)]
    Parameters(#[from] systole_hdl::parameters::ParameterError),
    /// A reduction length outside what the design can do exactly.
    #[error(
        "a job of {k_len} terms: this design runs 1..={limit} (the least of k-max and what aw holds exactly)"
    )]
    Length {
        /// Terms asked for.
        k_len: u32,
        /// Most terms allowed.
        limit: u32,
    },
    /// A panel of the wrong size.
    #[error("panel {bank} holds {got} operands, but a job of {lanes} lanes × {k_len} terms takes {expected}")]
    Panel {
        /// `A` or `B`.
        bank: char,
        /// Lanes of the panel: the grid side.
        lanes: u32,
        /// Terms of the job.
        k_len: u32,
        /// Operands given.
        got: usize,
        /// Operands needed.
        expected: usize,
    },
    /// A product without elements or without terms.
    #[error("a product of {m}×{k} by {k}×{p} is empty: every size must be at least 1")]
    EmptyProduct {
        /// Rows of A.
        m: usize,
        /// Columns of A, rows of B.
        k: usize,
        /// Columns of B.
        p: usize,
    },
    /// A matrix of the wrong size.
    #[error("matrix {matrix} has {got} elements where its shape says {expected}")]
    Matrix {
        /// `A` or `B`.
        matrix: char,
        /// Elements given.
        got: usize,
        /// Elements of the shape.
        expected: usize,
    },
    /// An operand that does not fit its width.
    #[error("operand {value} of {bank} lane {lane}, k {k}, does not fit {w} bits")]
    Operand {
        /// `A` or `B`.
        bank: char,
        /// Row of A or column of B.
        lane: usize,
        /// Term.
        k: usize,
        /// The operand.
        value: i32,
        /// Operand width in bits.
        w: u32,
    },
    /// A job tag that does not fit its width.
    #[error("job tag {tag} does not fit {job_bits} bits")]
    Tag {
        /// The tag.
        tag: u32,
        /// Width of a tag.
        job_bits: u32,
    },
    /// An injection asked of a design without injections.
    #[error("this design leaves injections out: build it with injection to inject {injection}")]
    NoInjection {
        /// The injection asked for.
        injection: systole_hdl::wire::Injection,
    },
}
