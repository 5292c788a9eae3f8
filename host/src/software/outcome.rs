//! What an array has computed so far.

use std::collections::BTreeMap;

/// The states of all PEs after some ticks, and whether more ticks would change them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<S> {
    /// Rows of the array.
    pub rows: usize,
    /// Columns of the array.
    pub columns: usize,
    /// Every PE's state, row-major.
    pub states: Vec<S>,
    /// Advancing edges executed.
    pub ticks: u64,
    /// Whether every stream is at its end and nothing is under way from PE to PE: false after too few ticks.
    pub complete: bool,
    /// Entries of all streams that have not been presented.
    pub left: usize,
}

impl<S> Outcome<S> {
    /// The result as a matrix: states row by row.
    pub fn matrix(&self) -> impl Iterator<Item = &[S]> {
        self.states.chunks_exact(self.columns)
    }

    /// The result as a map from row and column.
    pub fn map(&self) -> BTreeMap<(usize, usize), &S> {
        self.states.iter().enumerate().map(|(at, s)| ((at / self.columns, at % self.columns), s)).collect()
    }
}
