//! The operands of one panel.

use super::{Chunk, Side};
use crate::matrix::Operands;

/// `n` lanes of `k_len` operands, lane-major, k ascending: rows of A or columns of B, zeros beyond the matrix.
pub fn panel(matrix: &Operands, side: Side, index: usize, chunk: Chunk, n: u32) -> Vec<i32> {
    let n = n as usize;
    let terms = chunk.start..chunk.start + chunk.k_len as usize;
    let lanes = index * n..(index + 1) * n;
    let lane = |lane| {
        terms.clone().map(move |k| match side {
            Side::A => matrix.padded(lane, k),
            Side::B => matrix.padded(k, lane),
        })
    };
    lanes.flat_map(lane).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_and_columns_of_b() {
        let m = Operands::new(3, 3, (1..=9).collect());
        let chunk = Chunk { start: 1, k_len: 2, result_bytes: 3 };
        assert_eq!(panel(&m, Side::A, 0, chunk, 2), [2, 3, 5, 6]);
        assert_eq!(panel(&m, Side::A, 1, chunk, 2), [8, 9, 0, 0]);
        assert_eq!(panel(&m, Side::B, 0, chunk, 2), [4, 7, 5, 8]);
        assert_eq!(panel(&m, Side::B, 1, chunk, 2), [6, 9, 0, 0]);
    }
}
