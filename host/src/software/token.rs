//! The array's own PE: tagged tokens, counted terms, and every check of the contract (R18–R24b).

use super::pe::{Inputs, Outputs, Pe};
use systole_hdl::wire::ErrorKind;

/// One operand on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Token {
    /// The operand.
    pub value: i64,
    /// Tag of its job.
    pub job: u32,
    /// Its term within the reduction.
    pub k: u32,
    /// False for a bubble, whose other fields mean nothing.
    pub valid: bool,
}

/// The PE that the gateware builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenPe {
    /// Terms of the job that is running.
    pub k_len: u32,
    /// Accumulator width in bits, at most 63; sums wrap as they do in the gateware.
    pub accumulator_bits: u32,
}

/// What a token PE keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TokenState {
    /// Sum of the products taken.
    pub acc: i64,
    /// Terms taken.
    pub count: u32,
    /// First error since reset or clear.
    pub error: Option<ErrorKind>,
}

impl TokenPe {
    /// Whether a PE in this state has taken every term (R21).
    pub fn done(&self, state: &TokenState) -> bool {
        state.count == self.k_len
    }

    /// Keeps the low bits of a sum, sign-extended.
    fn wrap(&self, sum: i64) -> i64 {
        let unused = 64 - self.accumulator_bits;
        (sum << unused) >> unused
    }

    /// What is wrong with a pair, in order of precedence (R24b), if anything.
    fn check(&self, state: &TokenState, a: &Token, b: &Token) -> Option<ErrorKind> {
        if a.job != b.job {
            Some(ErrorKind::JobMismatch)
        } else if a.k != b.k {
            Some(ErrorKind::KMismatch)
        } else if a.k != state.count || self.done(state) {
            Some(ErrorKind::OutOfOrder)
        } else {
            None
        }
    }
}

impl Pe for TokenPe {
    type Token = Token;
    type State = TokenState;

    fn initial(&self) -> TokenState {
        TokenState::default()
    }

    /// Forwards both tokens whatever they are. A legal pair is taken, also by a PE that already keeps an error; an
    /// illegal one touches neither sum nor count.
    fn step(&self, state: &mut TokenState, inputs: &Inputs<Token>) -> Outputs<Token> {
        let a = inputs.west.filter(|token| token.valid);
        let b = inputs.north.filter(|token| token.valid);
        let raised = match (a, b) {
            (None, None) => None,
            (Some(a), Some(b)) => {
                let raised = self.check(state, &a, &b);
                if raised.is_none() {
                    state.acc = self.wrap(state.acc.wrapping_add(a.value.wrapping_mul(b.value)));
                    state.count += 1;
                }
                raised
            }
            _ => Some(ErrorKind::Unpaired),
        };
        state.error = state.error.or(raised);
        Outputs { east: inputs.west, south: inputs.north, raised }
    }
}
