//! A matrix product of any size as jobs of the software array: the reference for a run, and the work of a
//! benchmark.
//!
//! It cuts the operands by itself and shares no code with the plan of a run, so that a mistake in one of them
//! shows.

use super::SoftwareError;
use super::job::{JobSpec, Runner};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use systole_hdl::parameters::Parameters;

/// A product and what was executed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// `m × p`, row-major.
    pub values: Vec<i64>,
    /// Jobs executed.
    pub jobs: u64,
    /// Advancing edges of all jobs together.
    pub steps: u64,
    /// Steps of PEs: the advancing edges of every job times the PEs of the array.
    pub pe_ticks: u64,
}

/// Multiplies an `m × k` by a `k × p` matrix, both row-major, job by job. Blocks at the edges are padded with
/// zeros, K is split at [`Parameters::k_limit`], and partial products are added in 64 bits. Every job is
/// executed edge by edge; rows of blocks are shared out among the threads of the current `rayon` pool.
///
/// # Errors
/// Sizes of zero, operands that are not `m·k` and `k·p` long, and whatever [`run_job`](super::job::run_job)
/// refuses.
pub fn product(
    parameters: &Parameters,
    [m, k, p]: [usize; 3],
    a: &[i32],
    b: &[i32],
) -> Result<Product, SoftwareError> {
    let runner = Runner::new(parameters)?;
    if m == 0 || k == 0 || p == 0 {
        return Err(SoftwareError::EmptyProduct { m, k, p });
    }
    for (matrix, got, expected) in [('A', a.len(), m * k), ('B', b.len(), k * p)] {
        if got != expected {
            return Err(SoftwareError::Matrix { matrix, got, expected });
        }
    }
    let side = parameters.n as usize;
    let mut product = Product { values: vec![0; m * p], jobs: 0, steps: 0, pe_ticks: 0 };
    for start in (0..k).step_by(parameters.k_limit() as usize) {
        let terms = start..k.min(start + parameters.k_limit() as usize);
        let k_len = terms.len() as u32;
        let rows = panels(side, m, terms.clone(), |row, term| a[row * k + term]);
        let columns = panels(side, p, terms, |column, term| b[term * p + column]);
        let bands = product.values.par_chunks_mut(side * p).zip(rows.par_iter());
        let steps: Result<Vec<u64>, SoftwareError> = bands
            .map_init(|| runner.clone(), |runner, (band, a)| add_band(runner, k_len, a, &columns, band, p))
            .collect();
        product.jobs += (rows.len() * columns.len()) as u64;
        product.steps += steps?.iter().sum::<u64>();
    }
    product.pe_ticks = product.steps * (side * side) as u64;
    Ok(product)
}

/// Runs the jobs of one row of blocks and adds their values to those rows of the product, `p` columns each.
/// Gives the steps executed.
fn add_band(
    runner: &mut Runner,
    k_len: u32,
    a: &[i32],
    columns: &[Vec<i32>],
    band: &mut [i64],
    p: usize,
) -> Result<u64, SoftwareError> {
    let mut steps = 0;
    let side = a.len() / k_len as usize;
    for (j, b) in columns.iter().enumerate() {
        let outcome = runner.run(&JobSpec { k_len, tag: 0, a, b, fault: None })?;
        steps += outcome.steps;
        for (row, values) in band.chunks_exact_mut(p).zip(outcome.values.chunks_exact(side)) {
            row.iter_mut().skip(j * side).zip(values).for_each(|(cell, value)| *cell += value);
        }
    }
    Ok(steps)
}

/// Cuts a matrix into panels of `side` lanes each, lane after lane, with zeros where the matrix has no lane.
fn panels(
    side: usize,
    lanes: usize,
    terms: std::ops::Range<usize>,
    at: impl Fn(usize, usize) -> i32,
) -> Vec<Vec<i32>> {
    let panel = |first: usize| {
        let mut panel = Vec::with_capacity(side * terms.len());
        for lane in first..first + side {
            panel.extend(terms.clone().map(|term| if lane < lanes { at(lane, term) } else { 0 }));
        }
        panel
    };
    (0..lanes).step_by(side).map(panel).collect()
}
