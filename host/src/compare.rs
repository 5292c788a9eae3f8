//! Results against what must come back, and the product made of them.
//!
//! Partial products are compared job by job, before they are summed: two errors never cancel out.

mod pattern;

pub use pattern::Pattern;

use crate::execute::{Outcome, RunResult};
use crate::matrix::Sums;
use crate::plan::Plan;
use crate::reference::Expected;
use serde::Serialize;
use std::fmt;

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// The status byte of a job, which must be 0.
    Status,
    /// A value of a block.
    Value,
    /// The advancing edges of a run.
    Steps,
    /// The physical edges of a run.
    Edges,
    /// A value of C, though all partial products agree.
    Sum,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Status => "status",
            Self::Value => "value",
            Self::Steps => "steps",
            Self::Edges => "edges",
            Self::Sum => "sum",
        })
    }
}

/// A difference, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// What differs.
    pub what: Quantity,
    /// Row of C: of the value, else of the block's first.
    pub row: usize,
    /// Column of C: of the value, else of the block's first.
    pub column: usize,
    /// The block of C, counted row by row.
    pub block: usize,
    /// The job, in the plan's order; for steps and edges the first of its run, for sums none.
    pub job: Option<u64>,
    /// What had to come.
    pub expected: i64,
    /// What came.
    pub got: i64,
}

/// All differences of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Number of differences.
    pub mismatches: u64,
    /// The first, in the order of jobs.
    pub first: Option<Mismatch>,
    /// What wrong values have in common.
    pub pattern: Pattern,
}

impl Comparison {
    /// Whether nothing differs.
    pub fn equal(&self) -> bool {
        self.mismatches == 0
    }

    /// Compares the results of a run with its jobs' expectations, for an `n × n` grid.
    pub fn add(&mut self, plan: &Plan, n: usize, result: &RunResult, expected: &[Expected]) {
        let run = &result.run;
        let place = |i: usize| (run.row * n, (run.column + i) * n, run.row * plan.columns + run.column + i);
        for (i, (job, want)) in result.jobs.iter().zip(expected).enumerate() {
            let (row, column, block) = place(i);
            let job_number = Some(run.first_job + i as u64);
            let found = |what, row, column, expected, got| Mismatch {
                what,
                row,
                column,
                block,
                job: job_number,
                expected,
                got,
            };
            self.note(found(Quantity::Status, row, column, 0, i64::from(job.status)));
            for (cell, (&got, &value)) in job.values.iter().zip(&want.values).enumerate() {
                let found = found(Quantity::Value, row + cell / n, column + cell % n, value, got);
                self.pattern.add(n, &found);
                self.note(found);
            }
        }
        let (row, column, block) = place(0);
        let mut note = |what, expected: u64, got: u64| {
            let (expected, got) = (expected as i64, got as i64);
            self.note(Mismatch { what, row, column, block, job: Some(run.first_job), expected, got });
        };
        note(Quantity::Steps, expected.iter().map(|job| job.steps).sum(), result.steps);
        note(Quantity::Edges, expected.iter().map(|job| job.edges).sum(), result.edges);
    }

    /// Compares C, put together on an `n × n` grid, with what the product must be.
    pub fn add_sums(&mut self, plan: &Plan, n: usize, c: &Sums, expected: &Sums) {
        for (cell, (&got, &expected)) in c.values().iter().zip(expected.values()).enumerate() {
            let (row, column) = (cell / c.columns(), cell % c.columns());
            let block = row / n * plan.columns + column / n;
            self.note(Mismatch { what: Quantity::Sum, row, column, block, job: None, expected, got });
        }
    }

    fn note(&mut self, mismatch: Mismatch) {
        if mismatch.expected != mismatch.got {
            self.mismatches += 1;
            self.first.get_or_insert(mismatch);
        }
    }
}

/// Adds the partial products of all chunks into C, leaving the padding out.
pub fn assemble(plan: &Plan, n: usize, outcome: &Outcome) -> Sums {
    let mut c = Sums::zeros(plan.shape.m, plan.shape.p);
    for result in &outcome.runs {
        for (i, job) in result.jobs.iter().enumerate() {
            let (row, column) = (result.run.row * n, (result.run.column + i) * n);
            for (cell, value) in job.values.iter().enumerate() {
                if let Some(sum) = c.get_mut(row + cell / n, column + cell % n) {
                    *sum += value;
                }
            }
        }
    }
    c
}
