//! What `systole array` reports.

use super::ArrayArgs;
use crate::cli::report::FORMAT_VERSION;
use crate::software::Outcome;
use crate::software::direct::{Difference, Verdict};
use serde::Serialize;
use std::fmt::{self, Display};
use systole_hdl::wire::ErrorKind;

/// A PE's error.
#[derive(Debug, Serialize)]
pub(super) struct ErrorReport {
    row: usize,
    column: usize,
    kind: &'static str,
}

/// How a product compared with its definition.
#[derive(Debug, Serialize)]
pub(super) struct ReferenceReport<S> {
    /// `null` where some elements cannot be compared and no other differs.
    equal: Option<bool>,
    /// Elements whose sums overflow, so that their order decides what comes out.
    overflows: usize,
    first_difference: Option<DifferenceReport<S>>,
}

/// An element that is not what it must be.
#[derive(Debug, Serialize)]
pub(super) struct DifferenceReport<S> {
    row: usize,
    column: usize,
    expected: S,
    got: S,
}

/// The report; its fields are described in `host/schema/array.json`.
#[derive(Debug, Serialize)]
pub(super) struct ArrayReport<S> {
    format_version: u32,
    command: &'static str,
    pe: &'static str,
    backend: &'static str,
    rows: usize,
    columns: usize,
    ticks: u64,
    complete: bool,
    left: usize,
    result: Vec<Vec<S>>,
    errors: Vec<ErrorReport>,
    reference: Option<ReferenceReport<S>>,
}

impl<S: Copy> ArrayReport<S> {
    /// The report of a run that ended with these sums, with the first difference from the reference, if there was one
    /// to compare with; `error` gives the error of a state.
    pub(super) fn new<T>(
        arguments: &ArrayArgs,
        outcome: &Outcome<T>,
        sums: Vec<S>,
        reference: Option<Verdict<S>>,
        error: impl Fn(&T) -> Option<ErrorKind>,
    ) -> Self {
        let errors = outcome.map().into_iter().filter_map(|((row, column), state)| {
            error(state).map(|kind| ErrorReport { row, column, kind: kind.name() })
        });
        let reference = reference.map(|Verdict { first, overflows }| ReferenceReport {
            equal: (first.is_some() || overflows == 0).then_some(first.is_none()),
            overflows,
            first_difference: first.map(|Difference { row, column, expected, got }| DifferenceReport {
                row,
                column,
                expected,
                got,
            }),
        });
        Self {
            format_version: FORMAT_VERSION,
            command: "array",
            pe: arguments.pe.name(),
            backend: arguments.backend.name(),
            rows: outcome.rows,
            columns: outcome.columns,
            ticks: outcome.ticks,
            complete: outcome.complete,
            left: outcome.left,
            errors: errors.collect(),
            result: sums.chunks_exact(outcome.columns).map(<[S]>::to_vec).collect(),
            reference,
        }
    }
}

impl<S> ArrayReport<S> {
    /// Whether all that can be known to be right is.
    pub(super) fn is_right(&self) -> bool {
        self.errors.is_empty() && self.reference.as_ref().is_none_or(|r| r.equal == Some(true))
    }
}

/// For people; the result itself only up to this many rows and columns.
pub(super) const PRINTED: usize = 8;

impl<S: Copy + Default + Display> Display for ArrayReport<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows <= PRINTED && self.columns <= PRINTED {
            let matrix = self.result.concat();
            write!(f, "result =\n{}", crate::matrix::Matrix::new(self.rows, self.columns, matrix))?;
        }
        let Self { rows, columns, ticks, pe, backend, .. } = self;
        writeln!(f, "array      {rows}×{columns} {pe} PEs, {ticks} ticks on the {backend} backend")?;
        for ErrorReport { row, column, kind } in self.errors.iter().take(PRINTED) {
            writeln!(f, "error      PE({row},{column}) {kind}")?;
        }
        if self.errors.len() > PRINTED {
            writeln!(f, "           and {} PEs more", self.errors.len() - PRINTED)?;
        }
        match &self.reference {
            None => {}
            Some(ReferenceReport { first_difference: None, overflows: 0, .. }) => {
                writeln!(f, "equal      every sum agrees with the direct product")?;
            }
            Some(ReferenceReport { first_difference: None, overflows, .. }) => {
                writeln!(f, "UNKNOWN    {overflows} sums overflow, in an order or another; all else agrees")?;
            }
            Some(ReferenceReport { first_difference: Some(first), .. }) => {
                let DifferenceReport { row, column, expected, got } = first;
                write!(f, "DIFFERENT  from the direct product, first at row {row}, column {column}: ")?;
                writeln!(f, "expected {expected}, got {got}")?;
            }
        }
        match (self.complete, self.left) {
            (true, _) => writeln!(f, "complete   every stream has ended and has passed"),
            (false, 0) => writeln!(f, "INCOMPLETE operands are still under way: run more --ticks"),
            (false, left) => writeln!(f, "INCOMPLETE {left} entries have not entered yet: run more --ticks"),
        }
    }
}
