//! Matrices: in memory, in `.npy` files, and at random.

mod error;
mod npy;
mod random;

pub use error::MatrixError;
pub(crate) use error::size;
pub use npy::{OutType, check_fits, check_writable, read, read_floats, read_whole, write};
pub use random::random;

use std::fmt;

/// A dense matrix, row-major, at least 1×1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix<T> {
    rows: usize,
    columns: usize,
    values: Vec<T>,
}

/// A matrix of operands, each of W bits.
pub type Operands = Matrix<i32>;

/// A matrix of exact sums.
pub type Sums = Matrix<i64>;

impl<T: Copy + Default> Matrix<T> {
    /// A matrix from its values, row after row.
    ///
    /// # Panics
    /// When a dimension is 0 or the number of values is not `rows·columns`.
    pub fn new(rows: usize, columns: usize, values: Vec<T>) -> Self {
        assert!(rows > 0 && columns > 0, "a matrix is at least 1×1");
        assert_eq!(values.len(), rows * columns, "values of a {rows}×{columns} matrix");
        Self { rows, columns, values }
    }

    /// A matrix of zeros.
    ///
    /// # Panics
    /// When a dimension is 0.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self::new(rows, columns, vec![T::default(); rows * columns])
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row after row.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.columns..][..self.columns]
    }

    /// The value at a place, zero outside the matrix: blocks at the edges are padded so.
    pub fn padded(&self, row: usize, column: usize) -> T {
        if row < self.rows && column < self.columns { self.row(row)[column] } else { T::default() }
    }

    /// A value to change; `None` outside the matrix.
    pub fn get_mut(&mut self, row: usize, column: usize) -> Option<&mut T> {
        (row < self.rows && column < self.columns).then(|| &mut self.values[row * self.columns + column])
    }
}

impl<T: fmt::Display + Copy + Default> fmt::Display for Matrix<T> {
    /// One line a row, columns right-aligned.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells: Vec<String> = self.values.iter().map(ToString::to_string).collect();
        let width = cells.iter().map(String::len).max().unwrap_or(0);
        for row in cells.chunks(self.columns) {
            let line: Vec<String> = row.iter().map(|cell| format!("{cell:>width$}")).collect();
            writeln!(f, "  {}", line.join("  "))?;
        }
        Ok(())
    }
}

/// Smallest and largest operand of `w` bits.
pub fn operand_range(w: u32) -> (i32, i32) {
    let half = 1 << (w - 1);
    (-half, half - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_aligned_rows() {
        let m = Matrix::new(2, 2, vec![1i64, -20, 300, 4]);
        assert_eq!(m.to_string(), "    1  -20\n  300    4\n");
    }

    #[test]
    fn outside_is_zero() {
        let m = Matrix::new(1, 2, vec![7, 8]);
        assert_eq!((m.padded(0, 1), m.padded(0, 2), m.padded(1, 0)), (8, 0, 0));
    }

    #[test]
    fn operands_of_a_width() {
        assert_eq!(operand_range(8), (-128, 127));
        assert_eq!(operand_range(2), (-2, 1));
    }
}
