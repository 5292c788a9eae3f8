//! A tile of token PEs, field by field instead of PE by PE: one loop over a row, as wide as the machine's
//! vectors.
//!
//! The loop takes what is legal and only marks what is not; marked PEs, which a good job has none of, are
//! then looked at one by one with the same checks that [`TokenPe`] makes everywhere.

use super::lines::{ColumnLines, RowLines};
use super::tile::{Connected, Tile};
use super::{Inputs, Outputs, Token, TokenPe, TokenState};
use pulp::Arch;
use systole_hdl::wire::ErrorKind;

/// A link as one word: the operand in the low half, and above it k, job, and these two bits. All lanes of the
/// loop are of this width, so that nothing has to be widened or narrowed.
const TAG: u32 = 32;
const JOB: u32 = TAG + 16;
const VALID: u64 = 1 << (JOB + 8);
const PRESENT: u64 = VALID << 1;
const K: u64 = 0xffff << TAG;

/// Tiles of [`TokenPe`].
#[derive(Clone, Debug)]
pub struct TokenTile {
    columns: usize,
    a: RowLines<u64>,
    b: ColumnLines<u64>,
    /// Sums before they are cut to the accumulator's width.
    acc: Vec<i64>,
    count: Vec<u64>,
    error: Vec<Option<ErrorKind>>,
    /// What every PE raised on the last edge; all `None` unless `any_raised`.
    raised: Vec<Option<ErrorKind>>,
    any_raised: bool,
    /// Marks of the row at hand: not 0 for an illegal pair.
    marks: Vec<u64>,
    pe: TokenPe,
    arch: Arch,
}

fn pack(entry: &Option<Token>) -> u64 {
    entry.map_or(0, |Token { value, job, k, valid }| {
        let tag = u64::from(k) << TAG | u64::from(job) << JOB | PRESENT;
        u64::from(value.cast_unsigned()) | tag | if valid { VALID } else { 0 }
    })
}

fn unpack(word: u64) -> Option<Token> {
    // The halves cut off what is above them.
    let (value, k, job) = (word as i32, (word >> TAG) as u16, (word >> JOB) as u8);
    (word & PRESENT != 0).then_some(Token { value, job, k, valid: word & VALID != 0 })
}

/// Takes the legal pairs of a row and marks the illegal ones; not 0 when there are any.
///
/// The slices are parameters of their own, not fields, because only so does the compiler know that they do
/// not overlap.
#[inline(always)]
fn take(a: &[u64], b: &[u64], acc: &mut [i64], count: &mut [u64], marks: &mut [u64], k_len: u64) -> u64 {
    // Equal lengths, said so that the loop needs no checks.
    let n = a.len();
    let (b, acc, count, marks) = (&b[..n], &mut acc[..n], &mut count[..n], &mut marks[..n]);
    let mut any = 0;
    for j in 0..n {
        let (a, b, taken) = (a[j], b[j], count[j]);
        let partners = (a ^ b) >> TAG == 0;
        let in_order = a & (VALID | K) == VALID | taken << TAG;
        let legal = partners & in_order & (taken != k_len);
        let product = i64::from(a as i32).wrapping_mul(i64::from(b as i32));
        acc[j] = acc[j].wrapping_add(if legal { product } else { 0 });
        count[j] = taken.wrapping_add(u64::from(legal));
        let illegal = if legal { 0 } else { (a | b) & VALID };
        marks[j] = illegal;
        any |= illegal;
    }
    any
}

impl TokenTile {
    /// The PEs' settings.
    pub(super) fn pe(&self) -> TokenPe {
        self.pe
    }

    /// Whether no link leads an entry into a PE on the next edge, what enters the tile aside.
    pub(super) fn is_drained(&self) -> bool {
        let absent = |words: &[u64]| words.iter().all(|word| word & PRESENT == 0);
        // What the last column and the last row hold has left the tile.
        let (mut a, b) = (self.a.rows(), self.b.rows());
        let above_the_last = self.acc.len() / self.columns - 1;
        a.all(|row| absent(&row[..self.columns - 1])) && b.take(above_the_last).all(absent)
    }

    /// Checks the marked PEs of a row one by one.
    fn check_marked(&mut self, row: usize, pe: &TokenPe) {
        self.any_raised = true;
        for column in 0..self.columns {
            if self.marks[column] != 0 {
                let at = row * self.columns + column;
                let Inputs { west, north } = self.inputs(row, column);
                // An illegal pair has changed neither sum nor count: the state is still that before the edge.
                self.raised[at] = pe.fault(&self.state(row, column), west, north);
                self.error[at] = self.error[at].or(self.raised[at]);
            }
        }
    }
}

impl Tile<TokenPe> for TokenTile {
    fn new(pe: &TokenPe, rows: usize, columns: usize, _connected: Connected) -> Self {
        let cells = rows * columns;
        Self {
            columns,
            a: RowLines::new(rows, columns),
            b: ColumnLines::new(rows, columns),
            acc: vec![0; cells],
            count: vec![0; cells],
            error: vec![None; cells],
            raised: vec![None; cells],
            any_raised: false,
            marks: vec![0; columns],
            pe: *pe,
            arch: Arch::new(),
        }
    }

    fn clear(&mut self, pe: &TokenPe) {
        self.a.clear();
        self.b.clear();
        self.acc.fill(0);
        self.count.fill(0);
        self.error.fill(None);
        self.raised.fill(None);
        self.any_raised = false;
        self.pe = *pe;
    }

    /// Without a connection nothing ever enters, and so nothing moves: there is nothing to tell the two cases
    /// apart for.
    fn read(&mut self, west: &[Option<Token>], north: &[Option<Token>]) {
        self.a.enter(west.iter().map(pack));
        self.b.enter(north.iter().map(pack));
    }

    fn step(&mut self, pe: &TokenPe) {
        self.pe = *pe;
        if self.any_raised {
            self.raised.fill(None);
            self.any_raised = false;
        }
        let mut first = 0;
        while let Some(row) = self.take_rows(first) {
            self.check_marked(row, pe);
            first = row + 1;
        }
    }

    fn inputs(&self, row: usize, column: usize) -> Inputs<Token> {
        Inputs { west: unpack(self.a.at(row, column)), north: unpack(self.b.at(row, column)) }
    }

    fn outputs(&self, row: usize, column: usize) -> Outputs<Token> {
        let Inputs { west, north } = self.inputs(row, column);
        Outputs { east: west, south: north, raised: self.raised[row * self.columns + column] }
    }

    fn state(&self, row: usize, column: usize) -> TokenState {
        let at = row * self.columns + column;
        TokenState { acc: self.pe.wrap(self.acc[at]), count: self.count[at] as u32, error: self.error[at] }
    }

    fn set_state(&mut self, row: usize, column: usize, state: TokenState) {
        let at = row * self.columns + column;
        self.acc[at] = state.acc;
        self.count[at] = u64::from(state.count);
        self.error[at] = state.error;
    }

    fn at(&self) -> (usize, usize) {
        (0, 0)
    }
}

impl TokenTile {
    /// Takes rows from `first` on, and stops after one that has marks.
    fn take_rows(&mut self, first: usize) -> Option<usize> {
        let Self { columns, a, b, acc, count, marks, pe, arch, .. } = self;
        arch.dispatch(TakeRows {
            first,
            columns: *columns,
            k_len: u64::from(pe.k_len),
            a,
            b,
            acc,
            count,
            marks,
        })
    }
}

/// The loop over rows, to be compiled once for every kind of vectors.
struct TakeRows<'a> {
    first: usize,
    columns: usize,
    k_len: u64,
    a: &'a RowLines<u64>,
    b: &'a ColumnLines<u64>,
    acc: &'a mut [i64],
    count: &'a mut [u64],
    marks: &'a mut [u64],
}

impl pulp::WithSimd for TakeRows<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Option<usize> {
        let Self { first, columns, k_len, a, b, acc, count, marks } = self;
        let states = acc.chunks_exact_mut(columns).zip(count.chunks_exact_mut(columns));
        let rows = a.rows().zip(b.rows()).zip(states).enumerate().skip(first);
        for (row, ((a, b), (acc, count))) in rows {
            if take(a, b, acc, count, marks, k_len) != 0 {
                return Some(row);
            }
        }
        None
    }
}
