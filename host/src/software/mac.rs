//! The plain multiply-accumulate PE, for integers and floats.

use super::lines::{ColumnLines, RowLines};
use super::tile::{Connected, Tile};
use super::{Inputs, Outputs, Pe};
use pulp::Arch;
use std::fmt::Debug;
use std::marker::PhantomData;

/// A number that a [`Mac`] takes, and what it sums products in.
pub trait Operand: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// Type of the sum.
    type Sum: Copy + Debug + Default + PartialEq + Send + Sync + 'static;

    /// Whether a zero operand leaves every sum as it is, bit by bit. Not so for floats: zero times infinity
    /// is no number.
    const ZERO_IS_NEUTRAL: bool;

    /// `sum + a·b`: wrapping for integers, rounded after each operation for floats.
    fn add_product(sum: Self::Sum, a: Self, b: Self) -> Self::Sum;
}

macro_rules! integers {
    ($($operand:ty => $sum:ty),*) => { $(
        impl Operand for $operand {
            type Sum = $sum;
            const ZERO_IS_NEUTRAL: bool = true;

            #[inline(always)]
            fn add_product(sum: $sum, a: Self, b: Self) -> $sum {
                sum.wrapping_add(<$sum>::from(a).wrapping_mul(<$sum>::from(b)))
            }
        }
    )* };
}

macro_rules! floats {
    ($($operand:ty),*) => { $(
        impl Operand for $operand {
            type Sum = $operand;
            const ZERO_IS_NEUTRAL: bool = false;

            #[inline(always)]
            fn add_product(sum: $operand, a: Self, b: Self) -> $operand {
                sum + a * b
            }
        }
    )* };
}

integers!(i8 => i32, i16 => i32, i32 => i64, i64 => i64);
floats!(f32, f64);

/// Multiplies and accumulates whatever meets, and checks nothing. Where an operand is absent nothing is
/// added. A NaN is taken like any number; note that it is not equal to itself when states or events are
/// compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mac<T>(PhantomData<fn() -> T>);

impl<T> Mac<T> {
    /// The PE for one type of operand.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Operand> Pe for Mac<T> {
    type Token = T;
    type State = T::Sum;
    type Tile = MacTile<T>;

    fn initial(&self) -> T::Sum {
        T::Sum::default()
    }

    fn step(&self, sum: &mut T::Sum, inputs: &Inputs<T>) -> Outputs<T> {
        if let (Some(a), Some(b)) = (inputs.west, inputs.north) {
            *sum = T::add_product(*sum, a, b);
        }
        Outputs { east: inputs.west, south: inputs.north, raised: None }
    }
}

/// Tiles of [`Mac`]: one loop over a row, as wide as the machine's vectors.
#[derive(Clone, Debug)]
pub struct MacTile<T: Operand> {
    columns: usize,
    /// Operands; zero where there is none.
    a: RowLines<T>,
    b: ColumnLines<T>,
    /// Where there is an operand.
    a_here: RowLines<bool>,
    b_here: ColumnLines<bool>,
    sums: Vec<T::Sum>,
    arch: Arch,
}

impl<T: Operand> Tile<Mac<T>> for MacTile<T> {
    fn new(_pe: &Mac<T>, rows: usize, columns: usize, _connected: Connected) -> Self {
        Self {
            columns,
            a: RowLines::new(rows, columns),
            b: ColumnLines::new(rows, columns),
            a_here: RowLines::new(rows, columns),
            b_here: ColumnLines::new(rows, columns),
            sums: vec![T::Sum::default(); rows * columns],
            arch: Arch::new(),
        }
    }

    fn clear(&mut self, _pe: &Mac<T>) {
        self.a.clear();
        self.b.clear();
        self.a_here.clear();
        self.b_here.clear();
        self.sums.fill(T::Sum::default());
    }

    /// Without a connection nothing ever enters, and so nothing moves: there is nothing to tell the two cases
    /// apart for.
    fn read(&mut self, west: &[Option<T>], north: &[Option<T>]) {
        self.a.enter(west.iter().map(|entry| entry.unwrap_or_default()));
        self.b.enter(north.iter().map(|entry| entry.unwrap_or_default()));
        self.a_here.enter(west.iter().map(Option::is_some));
        self.b_here.enter(north.iter().map(Option::is_some));
    }

    fn step(&mut self, _pe: &Mac<T>) {
        let Self { columns, a, b, a_here, b_here, sums, arch } = self;
        arch.dispatch(AddRows { columns: *columns, a, b, a_here, b_here, sums });
    }

    fn inputs(&self, row: usize, column: usize) -> Inputs<T> {
        Inputs {
            west: self.a_here.at(row, column).then(|| self.a.at(row, column)),
            north: self.b_here.at(row, column).then(|| self.b.at(row, column)),
        }
    }

    fn outputs(&self, row: usize, column: usize) -> Outputs<T> {
        let Inputs { west, north } = self.inputs(row, column);
        Outputs { east: west, south: north, raised: None }
    }

    fn east(&self, left: &mut Vec<Option<T>>) {
        let rows = self.sums.len() / self.columns;
        left.extend((0..rows).map(|row| self.inputs(row, self.columns - 1).west));
    }

    fn south(&self, left: &mut Vec<Option<T>>) {
        let last = self.sums.len() / self.columns - 1;
        let entries = self.b.row(last).iter().zip(self.b_here.row(last));
        left.extend(entries.map(|(&b, here)| here.then_some(b)));
    }

    fn state(&self, row: usize, column: usize) -> T::Sum {
        self.sums[row * self.columns + column]
    }

    fn set_state(&mut self, row: usize, column: usize, sum: T::Sum) {
        self.sums[row * self.columns + column] = sum;
    }

    fn at(&self) -> (usize, usize) {
        (0, 0)
    }
}

/// The loop over rows, to be compiled once for every kind of vectors.
struct AddRows<'a, T: Operand> {
    columns: usize,
    a: &'a RowLines<T>,
    b: &'a ColumnLines<T>,
    a_here: &'a RowLines<bool>,
    b_here: &'a ColumnLines<bool>,
    sums: &'a mut [T::Sum],
}

impl<T: Operand> pulp::WithSimd for AddRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { columns, a, b, a_here, b_here, sums } = self;
        for (row, sums) in sums.chunks_exact_mut(columns).enumerate() {
            if T::ZERO_IS_NEUTRAL {
                add(sums, a.row(row), b.row(row));
            } else {
                add_where(sums, a.row(row), b.row(row), a_here.row(row), b_here.row(row));
            }
        }
    }
}

/// Adds the products of a row.
#[inline(always)]
fn add<T: Operand>(sums: &mut [T::Sum], a: &[T], b: &[T]) {
    let n = sums.len();
    let (a, b) = (&a[..n], &b[..n]);
    for j in 0..n {
        sums[j] = T::add_product(sums[j], a[j], b[j]);
    }
}

/// Adds the products of a row where both operands are there.
#[inline(always)]
fn add_where<T: Operand>(sums: &mut [T::Sum], a: &[T], b: &[T], a_here: &[bool], b_here: &[bool]) {
    let n = sums.len();
    let (a, b, a_here, b_here) = (&a[..n], &b[..n], &a_here[..n], &b_here[..n]);
    for j in 0..n {
        let sum = T::add_product(sums[j], a[j], b[j]);
        sums[j] = if a_here[j] & b_here[j] { sum } else { sums[j] };
    }
}
