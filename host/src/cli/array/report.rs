//! What `systole array` reports.

use crate::cli::report::FORMAT_VERSION;
use crate::software::Outcome;
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

/// The report; its fields are described in `host/schema/array.json`.
#[derive(Debug, Serialize)]
pub(super) struct ArrayReport {
    format_version: u32,
    command: &'static str,
    pe: &'static str,
    backend: &'static str,
    rows: usize,
    columns: usize,
    ticks: u64,
    complete: bool,
    left: usize,
    result: Vec<Vec<i64>>,
    errors: Vec<ErrorReport>,
}

impl ArrayReport {
    /// The report of a run whose states are read as sum and error.
    pub(super) fn new<S>(
        [pe, backend]: [&'static str; 2],
        outcome: &Outcome<S>,
        read: impl Fn(&S) -> (i64, Option<ErrorKind>),
    ) -> Self {
        let errors = outcome.map().into_iter().filter_map(|((row, column), state)| {
            read(state).1.map(|kind| ErrorReport { row, column, kind: kind.name() })
        });
        Self {
            format_version: FORMAT_VERSION,
            command: "array",
            pe,
            backend,
            rows: outcome.rows,
            columns: outcome.columns,
            ticks: outcome.ticks,
            complete: outcome.complete,
            left: outcome.left,
            errors: errors.collect(),
            result: outcome.matrix().map(|row| row.iter().map(|state| read(state).0).collect()).collect(),
        }
    }
}

/// For people; the result itself only up to this many rows and columns.
pub(super) const PRINTED: usize = 8;

impl Display for ArrayReport {
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
        match (self.complete, self.left) {
            (true, _) => writeln!(f, "complete   every stream has ended and has passed"),
            (false, 0) => writeln!(f, "INCOMPLETE operands are still under way: run more --ticks"),
            (false, left) => writeln!(f, "INCOMPLETE {left} entries have not entered yet: run more --ticks"),
        }
    }
}
