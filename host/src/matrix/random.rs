//! Reproducible random operands.

use super::{Operands, operand_range};
use rand::SeedableRng;
use rand::distr::{Distribution, Uniform};
use rand_chacha::ChaCha8Rng;

/// The two operands of a random product, `m × k` and `k × p`, uniform over all values of `w` bits.
///
/// The same seed gives the same matrices on every machine: A first, row after row, then B.
pub fn random(m: usize, k: usize, p: usize, w: u32, seed: u64) -> (Operands, Operands) {
    let (low, high) = operand_range(w);
    let uniform = Uniform::new_inclusive(low, high).expect("low is below high for every width");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |rows: usize, columns: usize| {
        let values = uniform.sample_iter(&mut rng).take(rows * columns).collect();
        Operands::new(rows, columns, values)
    };
    (draw(m, k), draw(k, p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_values_are_pinned() {
        let (a, b) = random(2, 3, 2, 8, 1);
        assert_eq!(
            (a.values(), b.values()),
            (&[12, -25, 124, -108, -74, 24][..], &[-29, -72, 85, -56, 105, 53][..])
        );
    }

    #[test]
    fn every_value_of_the_width_appears() {
        let (a, _) = random(64, 64, 1, 3, 7);
        let mut seen: Vec<i32> = a.values().to_vec();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [-4, -3, -2, -1, 0, 1, 2, 3]);
    }
}
