//! What wrong values have in common: it points at a PE, a link of the grid, a job, or a bit.

use super::Mismatch;

/// A feature that all wrong values share, as long as they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared<T> {
    One(T),
    Several,
}

impl<T: PartialEq> Shared<T> {
    fn and(self, other: T) -> Self {
        if self == Self::One(other) { self } else { Self::Several }
    }
}

/// The wrong values of a product on one grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    compared: u64,
    wrong: u64,
    features: Option<Features>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Features {
    row: Shared<usize>,
    column: Shared<usize>,
    job: Shared<Option<u64>>,
    block: Shared<usize>,
    off: Shared<i64>,
}

impl Pattern {
    /// Counts a value, wrong or not, of an `n × n` grid.
    pub(super) fn add(&mut self, n: usize, value: &Mismatch) {
        self.compared += 1;
        let off = value.got.wrapping_sub(value.expected);
        if off == 0 {
            return;
        }
        self.wrong += 1;
        let (row, column) = (value.row % n, value.column % n);
        self.features = Some(match self.features {
            None => Features {
                row: Shared::One(row),
                column: Shared::One(column),
                job: Shared::One(value.job),
                block: Shared::One(value.block),
                off: Shared::One(off),
            },
            Some(f) => Features {
                row: f.row.and(row),
                column: f.column.and(column),
                job: f.job.and(value.job),
                block: f.block.and(value.block),
                off: f.off.and(off),
            },
        });
    }

    /// What they have in common, for people; `None` for fewer than two wrong values.
    pub fn text(&self) -> Option<String> {
        let features = self.features.filter(|_| self.wrong > 1)?;
        let grid = match (features.row, features.column) {
            (Shared::One(row), Shared::One(column)) => format!("all in PE({row},{column})"),
            (Shared::One(row), Shared::Several) => format!("all in row {row} of the grid"),
            (Shared::Several, Shared::One(column)) => format!("all in column {column} of the grid"),
            (Shared::Several, Shared::Several) => "in several rows and columns of the grid".to_owned(),
        };
        let job = match (features.job, features.block) {
            (Shared::One(Some(job)), _) => format!(", in job {job}"),
            (_, Shared::One(block)) => format!(", in block {block}"),
            _ => String::new(),
        };
        let off = match features.off {
            Shared::One(off) => format!(", each off by {off:+}"),
            Shared::Several => String::new(),
        };
        Some(format!("{} of {} values are wrong, {grid}{job}{off}", self.wrong, self.compared))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Quantity;

    /// The pattern of values on a 2×2 grid: row, column, job, and how far they are off.
    fn text(values: &[(usize, usize, u64, i64)]) -> Option<String> {
        let mut pattern = Pattern::default();
        for &(row, column, job, off) in values {
            let place = Mismatch {
                what: Quantity::Value,
                row,
                column,
                block: 0,
                job: Some(job),
                expected: 7,
                got: 7 + off,
            };
            pattern.add(2, &place);
        }
        pattern.text()
    }

    #[test]
    fn what_wrong_values_share_is_told() {
        let told = |values: &[_]| text(values).expect("a pattern");
        assert_eq!(text(&[(0, 0, 0, 0), (1, 1, 0, 5)]), None, "one is told by itself");
        let pe = told(&[(1, 2, 0, 4), (3, 0, 1, 4), (0, 0, 1, 0)]);
        assert_eq!(pe, "2 of 3 values are wrong, all in PE(1,0), in block 0, each off by +4");
        let row = told(&[(1, 2, 9, 4), (1, 3, 9, -4)]);
        assert_eq!(row, "2 of 2 values are wrong, all in row 1 of the grid, in job 9");
        let column = told(&[(0, 1, 0, -1), (1, 1, 0, -1)]);
        assert_eq!(column, "2 of 2 values are wrong, all in column 1 of the grid, in job 0, each off by -1");
        let none = told(&[(0, 0, 0, 1), (1, 1, 1, 2)]);
        assert_eq!(none, "2 of 2 values are wrong, in several rows and columns of the grid, in block 0");
    }
}
