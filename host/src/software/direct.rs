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

/// What comes of comparing an array's sum with the sum by the definition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compared<S> {
    /// They agree.
    Equal,
    /// They do not, and this is the sum by the definition.
    Different(S),
    /// What is added is so large that the order decides what comes out.
    Overflow,
}

/// A number whose sums of products can be compared.
pub trait Comparable: Operand {
    /// Holds a sum against that of a starting value and of products, as far as the order in which they are added does
    /// not matter.
    fn compare(
        got: Self::Sum,
        start: Self::Sum,
        terms: impl DoubleEndedIterator<Item = (Self, Self)>,
    ) -> Compared<Self::Sum>;
}

macro_rules! integers {
    ($($integer:ty),*) => { $(
        /// Exactly: sums wrap, whatever their order.
        impl Comparable for $integer {
            fn compare(
                got: Self::Sum,
                start: Self::Sum,
                terms: impl DoubleEndedIterator<Item = (Self, Self)>,
            ) -> Compared<Self::Sum> {
                let expected = terms.fold(start, |sum, (a, b)| Self::add_product(sum, a, b));
                if expected == got { Compared::Equal } else { Compared::Different(expected) }
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
        /// equals what is not a number. Where finite terms add up to a Σ|a·b| beyond all numbers the same sum says that
        /// all is well, but another one nothing.
        impl Comparable for $float {
            fn compare(
                got: Self,
                start: Self,
                terms: impl DoubleEndedIterator<Item = (Self, Self)>,
            ) -> Compared<Self> {
                let (mut sum, mut size, mut n) = (0.0, <$float>::abs(start), 1.0);
                let mut finite = start.is_finite();
                // Last to first, as no array adds them.
                for (a, b) in terms.rev() {
                    sum += a * b;
                    size += <$float>::abs(a * b);
                    n += 1.0;
                    finite &= a.is_finite() && b.is_finite();
                }
                let (expected, nu) = (sum + start, n * <$float>::EPSILON / 2.0);
                let gamma = if nu < 1.0 { nu / (1.0 - nu) } else { <$float>::INFINITY };
                let epsilon = 2.0 * (gamma * size + n * <$float>::MIN_POSITIVE);
                if got == expected || got.is_nan() && expected.is_nan() {
                    Compared::Equal
                } else if finite && size.is_infinite() {
                    Compared::Overflow
                } else if finite && approx::abs_diff_eq!(got, expected, epsilon = epsilon) {
                    Compared::Equal
                } else {
                    Compared::Different(expected)
                }
            }
        }
    )* };
}

integers!(i8, i16, i32, i64);
floats!(f32, f64);

/// What an array's result is, held against the product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict<S> {
    /// The first element, row-major, that differs, if any.
    pub first: Option<Difference<S>>,
    /// Elements that cannot be compared: [`Compared::Overflow`]. All of them, whatever else differs.
    pub overflows: usize,
}

/// Holds an array's result against `start + A·B`. A is `m × k` and B `k × p`, all matrices are row-major; `start` is what
/// the PEs had to begin with.
///
/// # Panics
/// Matrices that do not have these sizes.
pub fn compare<T: Comparable>(
    result: &[T::Sum],
    start: &[T::Sum],
    [m, k, p]: [usize; 3],
    a: &[T],
    b: &[T],
) -> Verdict<T::Sum> {
    let sizes = (result.len(), start.len(), a.len(), b.len());
    assert_eq!(sizes, (m * p, m * p, m * k, k * p), "matrices of {m}×{k} by {k}×{p}");
    let mut verdict = Verdict { first: None, overflows: 0 };
    for (at, (&got, &start)) in result.iter().zip(start).enumerate() {
        let (row, column) = (at / p, at % p);
        let terms = (0..k).map(|t| (a[row * k + t], b[t * p + column]));
        match T::compare(got, start, terms) {
            Compared::Equal => {}
            Compared::Overflow => verdict.overflows += 1,
            Compared::Different(expected) => {
                verdict.first.get_or_insert(Difference { row, column, expected, got });
            }
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact() {
        let (a, b) = ([1, 2, 3, 4], [5, 6, 7, 8]);
        let compare = |result: &[i64]| compare::<i32>(result, &[0, 0, 0, 9], [2; 3], &a, &b).first;
        assert_eq!(compare(&[19, 22, 43, 59]), None);
        let difference = Difference { row: 1, column: 0, expected: 43, got: 44 };
        assert_eq!(compare(&[19, 22, 44, 0]), Some(difference));
    }

    #[test]
    fn floats_are_within_rounding() {
        // 2·γ·Σ|a·b| is 2 · 101·2⁻²⁴ · 10, or 0.00012.
        let (a, b) = (vec![0.1f32; 100], vec![1.0f32; 100]);
        let compare = |got: f32| compare(&[got], &[0.0], [1, 100, 1], &a, &b).first.is_none();
        assert!(compare(10.0) && compare(10.0001) && compare(9.9999));
        assert!(!compare(10.0002) && !compare(9.9998) && !compare(f32::NAN) && !compare(f32::INFINITY));
        let compare = |got: f64, a: &[f64]| f64::compare(got, 0.0, a.iter().map(|&a| (a, 1.0)));
        assert_eq!(compare(f64::NAN, &[f64::NAN, 1.0]), Compared::Equal);
        assert!(matches!(compare(1.0, &[f64::NAN, 1.0]), Compared::Different(expected) if expected.is_nan()));
        // Nothing but zero is near a sum of zeros, apart from what underflows.
        assert_eq!(compare(1e-30, &[0.0]), Compared::Different(0.0));
    }

    #[test]
    fn what_overflows_is_equal_or_not_known() {
        let compare = |got: f64, a: &[f64]| f64::compare(got, 0.0, a.iter().map(|&a| (a, 1.0)));
        let infinite = f64::INFINITY;
        assert_eq!(compare(infinite, &[infinite, 1.0]), Compared::Equal);
        assert_eq!(compare(5.0, &[infinite, 1.0]), Compared::Different(infinite));
        assert_eq!(compare(-infinite, &[infinite, 1.0]), Compared::Different(infinite));
        assert_eq!(compare(infinite, &[1e308, 1e308]), Compared::Equal);
        // From the left this is infinite, from the right it is not: neither is the array's fault.
        assert_eq!(compare(infinite, &[1e308, 1e308, -1e308]), Compared::Overflow);
        assert_eq!(compare(5.0, &[1e308, 1e308, -1e308]), Compared::Overflow);
        let verdict = super::compare(&[5.0, 2.0], &[0.0; 2], [2, 2, 1], &[1e308, 1e308, 1.0, 2.0], &[1.0; 2]);
        let first = Some(Difference { row: 1, column: 0, expected: 3.0, got: 2.0 });
        assert_eq!(verdict, Verdict { first, overflows: 1 });
    }
}
