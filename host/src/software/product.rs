//! A matrix product of any size as jobs of the software array: the reference for a run, and the work of a benchmark.
//!
//! It cuts the operands by itself and shares no code with the plan of a run, so that a mistake in one of them shows.

use super::SoftwareError;
use super::job::{JobSpec, run_job};
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
}

/// Multiplies an `m × k` by a `k × p` matrix, both row-major, job by job. Blocks at the edges are padded with zeros, K is
/// split at [`Parameters::k_limit`], and partial products are added in 64 bits.
///
/// # Errors
/// Sizes of zero, operands that are not `m·k` and `k·p` long, and whatever [`run_job`] refuses.
pub fn product(
    parameters: &Parameters,
    [m, k, p]: [usize; 3],
    a: &[i32],
    b: &[i32],
) -> Result<Product, SoftwareError> {
    parameters.check()?;
    if m == 0 || k == 0 || p == 0 {
        return Err(SoftwareError::EmptyProduct { m, k, p });
    }
    for (matrix, got, expected) in [('A', a.len(), m * k), ('B', b.len(), k * p)] {
        if got != expected {
            return Err(SoftwareError::Matrix { matrix, got, expected });
        }
    }
    let side = parameters.n as usize;
    let mut product = Product { values: vec![0; m * p], jobs: 0, steps: 0 };
    for start in (0..k).step_by(parameters.k_limit() as usize) {
        let terms = start..k.min(start + parameters.k_limit() as usize);
        let k_len = terms.len() as u32;
        let rows = panels(side, m, terms.clone(), |row, term| a[row * k + term]);
        let columns = panels(side, p, terms, |column, term| b[term * p + column]);
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in columns.iter().enumerate() {
                let outcome = run_job(parameters, &JobSpec { k_len, tag: 0, a, b, fault: None })?;
                product.jobs += 1;
                product.steps += outcome.steps;
                let block = outcome.values.chunks(side).enumerate();
                for (row, values) in
                    block.map(|(r, values)| (i * side + r, values)).take_while(|&(row, _)| row < m)
                {
                    let cells = product.values[row * p..][..p].iter_mut().skip(j * side);
                    cells.zip(values).for_each(|(cell, value)| *cell += value);
                }
            }
        }
    }
    Ok(product)
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
