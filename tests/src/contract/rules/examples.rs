//! Operands and products that several rules use; the products were worked out by hand or by another program.

use systole_hdl::parameters::Parameters;

/// A design of `n × n` PEs and jobs of at most `k_max` terms, otherwise the default.
pub fn design(n: u32, k_max: u32) -> Parameters {
    Parameters { n, k_max, ..Parameters::default() }
}

/// Rows of the 2×2 example.
pub const A2: [&[i64]; 2] = [&[1, 2], &[3, 4]];
/// Columns of the 2×2 example.
pub const B2: [&[i64]; 2] = [&[5, 7], &[6, 8]];
/// Its product, row-major.
pub const C2: [i64; 4] = [19, 22, 43, 50];

/// Rows of the 3×5 by 5×3 example.
pub const A35: [&[i64]; 3] = [&[1, -2, 3, -4, 5], &[6, -7, 8, -9, 10], &[-11, 12, -13, 14, -15]];
/// Columns of the 3×5 by 5×3 example.
pub const B53: [&[i64]; 3] = [&[1, 2, 3, 4, 5], &[-6, 7, -8, 9, -10], &[0, -1, 2, -3, 127]];
/// Its product, row-major.
pub const C33: [i64; 9] = [15, -130, 655, 30, -330, 1320, -45, 530, -1985];

/// Rows of a 2×3 block.
pub const A23: [&[i64]; 2] = [&[1, 2, 3], &[4, 5, 6]];
/// Columns of a 3×4 block.
pub const B34: [&[i64]; 4] = [&[1, -1, 2], &[0, 3, -2], &[5, 5, 5], &[-128, 127, 0]];
/// Their product, row-major.
pub const C24: [i64; 8] = [5, 0, 30, 126, 11, 3, 75, 123];
