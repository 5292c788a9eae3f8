//! The product by its definition, to hold what an array computed against: it shares nothing with the array but the
//! arithmetic of a single term.

use super::mac::Operand;

/// An element in which an array and the direct product differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference<S> {
    /// Row of the element.
    pub row: usize,
    /// Column of the element.
    pub column: usize,
    /// The sum by the definition.
    pub expected: S,
    /// The array's.
    pub got: S,
}

/// A number whose sums of products can be compared.
pub trait Comparable: Operand {
    /// The sum of a starting value and of products, as far as the order in which they are added does not
    /// matter, if it is not what was got.
    fn differs(
        got: Self::Sum,
        start: Self::Sum,
        terms: impl DoubleEndedIterator<Item = (Self, Self)>,
    ) -> Option<Self::Sum>;
}

macro_rules! integers {
    ($($integer:ty),*) => { $(
        /// Exactly: sums wrap, whatever their order.
        impl Comparable for $integer {
            fn differs(
                got: Self::Sum,
                start: Self::Sum,
                terms: impl DoubleEndedIterator<Item = (Self, Self)>,
            ) -> Option<Self::Sum> {
                let expected = terms.fold(start, |sum, (a, b)| Self::add_product(sum, a, b));
                (expected != got).then_some(expected)
            }
        }
    )* };
}

macro_rules! floats {
    ($($float:ty),*) => { $(
        /// Within what rounding allows. Summed in any order, n = K + 1 terms (K products and what the sum starts from)
        /// are off by at most γ·Σ|a·b|, with γ = n·u/(1 − n·u) and u half of the type's epsilon (Higham, Accuracy and
        /// Stability of Numerical Algorithms, section 3.1); two such sums are within twice that of each other.
        /// Products too small for a normal number may be off by the smallest one each. What is not a number
        /// equals what is not a number.
        impl Comparable for $float {
            fn differs(
                got: Self,
                start: Self,
                terms: impl DoubleEndedIterator<Item = (Self, Self)>,
            ) -> Option<Self> {
                let (mut sum, mut size, mut n) = (0.0, <$float>::abs(start), 1.0);
                // Last to first, as no array adds them.
                for (a, b) in terms.rev() {
                    sum += a * b;
                    size += <$float>::abs(a * b);
                    n += 1.0;
                }
                let (expected, nu) = (sum + start, n * <$float>::EPSILON / 2.0);
                let gamma = if nu < 1.0 { nu / (1.0 - nu) } else { <$float>::INFINITY };
                let epsilon = 2.0 * (gamma * size + n * <$float>::MIN_POSITIVE);
                let alike = got.is_nan() && expected.is_nan();
                (!alike && approx::abs_diff_ne!(got, expected, epsilon = epsilon)).then_some(expected)
            }
        }
    )* };
}

integers!(i8, i16, i32, i64);
floats!(f32, f64);

/// The first element of an array's result, row-major, that is not `start + A·B`, if any. A is `m × k` and B `k × p`,
/// all matrices are row-major; `start` is what the PEs had to begin with.
///
/// # Panics
/// Matrices that do not have these sizes.
pub fn first_difference<T: Comparable>(
    result: &[T::Sum],
    start: &[T::Sum],
    [m, k, p]: [usize; 3],
    a: &[T],
    b: &[T],
) -> Option<Difference<T::Sum>> {
    let sizes = (result.len(), start.len(), a.len(), b.len());
    assert_eq!(sizes, (m * p, m * p, m * k, k * p), "matrices of {m}×{k} by {k}×{p}");
    result.iter().zip(start).enumerate().find_map(|(at, (&got, &start))| {
        let (row, column) = (at / p, at % p);
        let terms = (0..k).map(|t| (a[row * k + t], b[t * p + column]));
        T::differs(got, start, terms).map(|expected| Difference { row, column, expected, got })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact() {
        let (a, b) = ([1, 2, 3, 4], [5, 6, 7, 8]);
        let compare = |result: &[i64]| first_difference::<i32>(result, &[0, 0, 0, 9], [2; 3], &a, &b);
        assert_eq!(compare(&[19, 22, 43, 59]), None);
        let difference = Difference { row: 1, column: 0, expected: 43, got: 44 };
        assert_eq!(compare(&[19, 22, 44, 0]), Some(difference));
    }

    #[test]
    fn floats_are_within_rounding() {
        // 2·γ·Σ|a·b| is 2 · 101·2⁻²⁴ · 10, or 0.00012.
        let (a, b) = (vec![0.1f32; 100], vec![1.0f32; 100]);
        let compare = |got: f32| first_difference(&[got], &[0.0], [1, 100, 1], &a, &b).is_none();
        assert!(compare(10.0) && compare(10.0001) && compare(9.9999));
        assert!(!compare(10.0002) && !compare(9.9998) && !compare(f32::NAN) && !compare(f32::INFINITY));
        let compare = |got: f64| first_difference(&[got], &[0.0], [1, 2, 1], &[f64::NAN, 1.0], &[1.0; 2]);
        assert_eq!(compare(f64::NAN), None);
        assert!(compare(1.0).is_some());
        // Nothing but zero is near a sum of zeros, apart from what underflows.
        assert!(first_difference(&[1e-30f64], &[0.0], [1, 1, 1], &[0.0], &[1.0]).is_some());
    }
}
