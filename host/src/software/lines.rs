//! Registers of PEs that pass on whatever they take. Along such links nothing is computed, so that they need
//! not be copied PE by PE: the registers of a row are a window over what entered it, which slides by one an
//! edge; those of the columns are the last rows of entries, of which the oldest is dropped.

/// Fewest free cells beside a window: it slides through them before it must be moved back.
const SLIDE: usize = 64;

/// Registers that run along rows.
#[derive(Clone, Debug)]
pub(super) struct RowLines<T> {
    columns: usize,
    /// Cells of a row: the window and room for it to slide.
    stride: usize,
    /// Where the windows start.
    head: usize,
    cells: Vec<T>,
}

impl<T: Copy + Default> RowLines<T> {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        let stride = columns + columns.max(SLIDE);
        Self { columns, stride, head: stride - columns, cells: vec![T::default(); rows * stride] }
    }

    pub(super) fn clear(&mut self) {
        self.cells.fill(T::default());
    }

    /// Moves every row on by one PE and lets one entry a row in.
    pub(super) fn enter(&mut self, entries: impl Iterator<Item = T>) {
        if self.head == 0 {
            self.head = self.stride - self.columns;
            for row in self.cells.chunks_exact_mut(self.stride) {
                row.copy_within(..self.columns - 1, self.head + 1);
            }
        } else {
            self.head -= 1;
        }
        for (row, entry) in self.cells.chunks_exact_mut(self.stride).zip(entries) {
            row[self.head] = entry;
        }
    }

    /// The entry in front of each PE of a row.
    // Inlined, as its namesake below: loops over rows are compiled for vectors that a call would not know of.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[T] {
        &self.cells[row * self.stride + self.head..][..self.columns]
    }

    /// The entry in front of one PE.
    pub(super) fn at(&self, row: usize, column: usize) -> T {
        self.cells[row * self.stride + self.head + column]
    }
}

/// Registers that run down columns.
#[derive(Clone, Debug)]
pub(super) struct ColumnLines<T> {
    columns: usize,
    /// Where the entries of the first row are.
    top: usize,
    /// Whole rows of entries, youngest at `top`, then older ones, around the end.
    cells: Vec<T>,
}

impl<T: Copy + Default> ColumnLines<T> {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { columns, top: 0, cells: vec![T::default(); rows * columns] }
    }

    pub(super) fn clear(&mut self) {
        self.cells.fill(T::default());
    }

    /// Moves every column on by one PE and lets one entry a column in.
    pub(super) fn enter(&mut self, entries: impl Iterator<Item = T>) {
        self.top = self.top.checked_sub(self.columns).unwrap_or(self.cells.len() - self.columns);
        self.cells[self.top..][..self.columns]
            .iter_mut()
            .zip(entries)
            .for_each(|(cell, entry)| *cell = entry);
    }

    /// The entry in front of each PE of a row.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[T] {
        let at = self.top + row * self.columns;
        let around = if at < self.cells.len() { 0 } else { self.cells.len() };
        &self.cells[at - around..][..self.columns]
    }

    /// The entry in front of one PE.
    pub(super) fn at(&self, row: usize, column: usize) -> T {
        self.row(row)[column]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_move_by_one_pe_an_edge() {
        let (rows, columns) = (3, 5);
        let mut along = RowLines::new(rows, columns);
        let mut down = ColumnLines::new(rows, columns);
        // Long enough for the window to be moved back three times.
        for t in 1..=200 {
            along.enter((0..rows).map(|row| 1000 * row + t));
            down.enter((0..columns).map(|column| 1000 * column + t));
            for row in 0..rows {
                let (a, b) = (along.row(row), down.row(row));
                for column in 0..columns {
                    let a_now = if t > column { 1000 * row + t - column } else { 0 };
                    let b_now = if t > row { 1000 * column + t - row } else { 0 };
                    assert_eq!((a[column], b[column]), (a_now, b_now), "PE({row},{column}) at {t}");
                    assert_eq!((along.at(row, column), down.at(row, column)), (a_now, b_now));
                }
            }
        }
    }
}
