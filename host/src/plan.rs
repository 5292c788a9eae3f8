//! How a product becomes jobs: blocks of C, chunks of K, and the order in which panels are loaded and jobs are run.
//!
//! C is cut into `n × n` blocks and K into chunks that one job can reduce exactly. A *panel* is what a job needs of one
//! operand: `n` lanes of a chunk; the panels of A are numbered by row block, those of B by column block. A job is a row
//! panel times a column panel, and every job of a product is run exactly once, in an order that keeps both directions
//! of the wire busy. Blocks at the edges are padded with zeros.

mod order;
mod panel;
mod residency;

pub use panel::panel;
pub use residency::{Bank, Banks};

use systole_hdl::parameters::Parameters;

/// Sizes of a product: an `m × k` by a `k × p` matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Columns of B and C.
    pub p: usize,
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}x{}", self.m, self.k, self.p)
    }
}

/// A piece of the reduction, short enough for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// First term.
    pub start: usize,
    /// Number of terms.
    pub k_len: u32,
    /// Bytes of a result on the wire.
    pub result_bytes: u32,
}

/// Which operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The left operand; its panels are row blocks, held in bank A.
    A,
    /// The right operand; its panels are column blocks, held in bank B.
    B,
}

/// One entry of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bring a panel into its place, so that it is there when a run needs it.
    Load(Load),
    /// Run jobs.
    Run(Run),
}

/// A panel and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Which operand.
    pub side: Side,
    /// Number of the chunk.
    pub chunk: usize,
    /// Number of the panel.
    pub index: usize,
    /// Address in its bank.
    pub address: u32,
}

/// `count` jobs: one row panel times successive column panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of the chunk.
    pub chunk: usize,
    /// The row panel.
    pub row: usize,
    /// The first column panel.
    pub column: usize,
    /// Number of jobs.
    pub count: u8,
    /// Address of the row panel in bank A.
    pub a_address: u32,
    /// Address of the first column panel in bank B; the others follow it closely.
    pub b_address: u32,
    /// Number of the first job in the plan's order.
    pub first_job: u64,
}

impl Run {
    /// The panels that must be in the banks when this run starts.
    pub fn needs(&self, k_len: u32) -> impl Iterator<Item = Load> + use<> {
        let run = *self;
        let a = Load { side: Side::A, chunk: run.chunk, index: run.row, address: run.a_address };
        let b = (0..u32::from(run.count)).map(move |i| Load {
            side: Side::B,
            chunk: run.chunk,
            index: run.column + i as usize,
            address: run.b_address + i * k_len,
        });
        std::iter::once(a).chain(b)
    }
}

/// A product, cut and ordered for a design.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is multiplied.
    pub shape: Shape,
    /// The pieces of K.
    pub chunks: Vec<Chunk>,
    /// Number of row blocks.
    pub rows: usize,
    /// Number of column blocks.
    pub columns: usize,
    /// Loads and runs, in order.
    pub steps: Vec<Step>,
    /// Number of jobs.
    pub jobs: u64,
}

impl Plan {
    /// Plans a product of at least 1×1×1 for a design whose parameters are in range.
    pub fn new(shape: Shape, parameters: &Parameters) -> Self {
        let limit = parameters.k_limit() as usize;
        let chunk = |start| {
            let k_len = limit.min(shape.k - start) as u32;
            Chunk { start, k_len, result_bytes: parameters.result_bytes(k_len) }
        };
        let chunks: Vec<Chunk> = (0..shape.k).step_by(limit).map(chunk).collect();
        let n = parameters.n as usize;
        let (rows, columns) = (shape.m.div_ceil(n), shape.p.div_ceil(n));
        let steps = order::order(parameters, &chunks, rows, columns);
        let jobs = rows as u64 * columns as u64 * chunks.len() as u64;
        Self { shape, chunks, rows, columns, steps, jobs }
    }

    /// The fewest bytes that can cross the wire for this product, in the direction that carries more of them: each
    /// operand once one way, each result of each chunk once the other.
    pub fn bound_bytes(&self, parameters: &Parameters) -> u64 {
        let Shape { m, k, p } = self.shape;
        let operands = (m * k + k * p) as u64 * u64::from(parameters.operand_bytes());
        let widths: u64 = self.chunks.iter().map(|chunk| u64::from(chunk.result_bytes)).sum();
        operands.max((m * p) as u64 * widths)
    }
}

#[cfg(test)]
mod tests;
