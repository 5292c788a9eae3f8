//! A tile of token PEs, field by field instead of PE by PE: one loop over a row, as wide as the machine's
//! vectors.
//!
//! The loop takes what is legal and only marks what is not; marked PEs, which a good job has none of, are
//! then looked at one by one with the same checks that [`TokenPe`] makes everywhere.

use super::lines::{ColumnLines, RowLines};
use super::tile::{Connected, Tile};
use super::{Inputs, Outputs, Token, TokenPe, TokenState};
use pulp::bytemuck::cast_slice;
use pulp::{Arch, Simd};
use systole_hdl::wire::ErrorKind;

/// A link as one word: the operand in the low half, and above it k, job, and these two bits. All lanes of the
/// loop are of this width, so that nothing has to be widened or narrowed.
const TAG: u32 = 32;
const JOB: u32 = TAG + 16;
const VALID: u64 = 1 << (JOB + 8);
const PRESENT: u64 = VALID << 1;
const K: u64 = 0xffff << TAG;

/// What tells a term from the next.
const TERM: u64 = 1 << TAG;

/// What a valid token must carry, above its operand and but for its job, to be this term.
fn term(count: u32) -> u64 {
    VALID.wrapping_add(u64::from(count) << TAG)
}

/// Tiles of [`TokenPe`].
#[derive(Clone, Debug)]
pub struct TokenTile {
    columns: usize,
    a: RowLines<u64>,
    b: ColumnLines<u64>,
    /// Sums before they are cut to the accumulator's width.
    acc: Vec<u64>,
    /// The [`term`] that is to be taken next.
    next: Vec<u64>,
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

/// Takes the legal pairs of a row and marks the illegal ones; whether there are any.
#[inline(always)]
fn take<S: Simd>(
    simd: S,
    a: &[u64],
    b: &[u64],
    acc: &mut [u64],
    next: &mut [u64],
    marks: &mut [u64],
    end: u64,
) -> bool {
    let ((a, a_rest), (b, b_rest)) = (S::as_simd_u64s(a), S::as_simd_u64s(b));
    let ((acc, acc_rest), (next, next_rest)) = (S::as_mut_simd_u64s(acc), S::as_mut_simd_u64s(next));
    let (marks, marks_rest) = S::as_mut_simd_u64s(marks);
    let all = |bits| simd.splat_u64s(bits);
    let (none, valid, checked, term, end_of_all) = (all(0), all(VALID), all(VALID | K), all(TERM), all(end));
    let mut any = none;
    for ((((&a, &b), acc), next), marks) in a.iter().zip(b).zip(acc).zip(next).zip(marks) {
        let partners = simd.less_than_u64s(simd.xor_u64s(a, b), term);
        let in_order = simd.equal_u64s(simd.and_u64s(a, checked), *next);
        let done = simd.equal_u64s(*next, end_of_all);
        let legal = simd.and_m64s(simd.and_m64s(partners, in_order), simd.not_m64s(done));
        let sum = simd.add_u64s(*acc, simd.mul_u64s(extended(simd, a), extended(simd, b)));
        *acc = simd.select_u64s(legal, sum, *acc);
        *next = simd.select_u64s(legal, simd.add_u64s(*next, term), *next);
        *marks = simd.select_u64s(legal, none, simd.and_u64s(simd.or_u64s(a, b), valid));
        any = simd.or_u64s(any, *marks);
    }
    let mut any = cast_slice(&[any]).iter().fold(0, |any: u64, marks| any | marks);
    let rest = a_rest.iter().zip(b_rest).zip(acc_rest).zip(next_rest).zip(marks_rest);
    for ((((&a, &b), acc), next), mark) in rest {
        let partners = a ^ b < TERM;
        let legal = partners & (a & (VALID | K) == *next) & (*next != end);
        let product = i64::from(a as i32).wrapping_mul(i64::from(b as i32)).cast_unsigned();
        *acc = acc.wrapping_add(if legal { product } else { 0 });
        *next += if legal { TERM } else { 0 };
        *mark = if legal { 0 } else { (a | b) & VALID };
        any |= *mark;
    }
    any != 0
}

/// The operands of links, sign-extended.
#[inline(always)]
fn extended<S: Simd>(simd: S, links: S::u64s) -> S::u64s {
    let sign = simd.splat_u64s(1 << 31);
    let operands = simd.and_u64s(links, simd.splat_u64s(TERM - 1));
    simd.sub_u64s(simd.xor_u64s(operands, sign), sign)
}

impl TokenTile {
    fn rows(&self) -> usize {
        self.acc.len() / self.columns
    }

    /// The PEs' settings.
    pub(super) fn pe(&self) -> TokenPe {
        self.pe
    }

    /// Whether no link leads an entry into a PE on the next edge, what enters the tile aside.
    pub(super) fn is_drained(&self) -> bool {
        let absent = |words: &[u64]| words.iter().all(|word| word & PRESENT == 0);
        // What the last column and the last row hold has left the tile.
        let (rows, columns) = (self.rows(), self.columns);
        (0..rows).all(|row| absent(&self.a.row(row)[..columns - 1]))
            && (0..rows - 1).all(|row| absent(self.b.row(row)))
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
            next: vec![term(0); cells],
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
        self.next.fill(term(0));
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

    #[inline]
    fn inputs(&self, row: usize, column: usize) -> Inputs<Token> {
        Inputs { west: unpack(self.a.at(row, column)), north: unpack(self.b.at(row, column)) }
    }

    #[inline]
    fn outputs(&self, row: usize, column: usize) -> Outputs<Token> {
        let Inputs { west, north } = self.inputs(row, column);
        Outputs { east: west, south: north, raised: self.raised[row * self.columns + column] }
    }

    fn east(&self, left: &mut Vec<Option<Token>>) {
        left.extend((0..self.rows()).map(|row| unpack(self.a.at(row, self.columns - 1))));
    }

    fn south(&self, left: &mut Vec<Option<Token>>) {
        left.extend(self.b.row(self.rows() - 1).iter().map(|&word| unpack(word)));
    }

    fn state(&self, row: usize, column: usize) -> TokenState {
        let at = row * self.columns + column;
        let count = self.next[at].wrapping_sub(term(0)) >> TAG;
        TokenState {
            acc: self.pe.wrap(self.acc[at].cast_signed()),
            count: count as u32,
            error: self.error[at],
        }
    }

    fn set_state(&mut self, row: usize, column: usize, state: TokenState) {
        let at = row * self.columns + column;
        self.acc[at] = state.acc.cast_unsigned();
        self.next[at] = term(state.count);
        self.error[at] = state.error;
    }

    fn at(&self) -> (usize, usize) {
        (0, 0)
    }
}

impl TokenTile {
    /// Takes rows from `first` on, and stops after one that has marks.
    fn take_rows(&mut self, first: usize) -> Option<usize> {
        let Self { columns, a, b, acc, next, marks, pe, arch, .. } = self;
        let end = term(pe.k_len);
        arch.dispatch(TakeRows { first, columns: *columns, end, a, b, acc, next, marks })
    }
}

/// The loop over rows, to be compiled once for every kind of vectors.
struct TakeRows<'a> {
    first: usize,
    columns: usize,
    /// The term after the last.
    end: u64,
    a: &'a RowLines<u64>,
    b: &'a ColumnLines<u64>,
    acc: &'a mut [u64],
    next: &'a mut [u64],
    marks: &'a mut [u64],
}

impl pulp::WithSimd for TakeRows<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<usize> {
        let Self { first, columns, end, a, b, acc, next, marks } = self;
        let states = acc.chunks_exact_mut(columns).zip(next.chunks_exact_mut(columns));
        for (row, (acc, next)) in states.enumerate() {
            if row >= first && take(simd, a.row(row), b.row(row), acc, next, marks, end) {
                return Some(row);
            }
        }
        None
    }
}
