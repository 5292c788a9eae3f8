//! The array's own PE: tagged tokens, counted terms, and every check of the contract (R18–R24b).

use super::pe::{Inputs, Outputs, Pe};
use super::token_tile::TokenTile;
use serde::{Serialize, Serializer};
use systole_hdl::wire::ErrorKind;

/// One operand on a link, with fields as wide as any design has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Token {
    /// The operand.
    pub value: i32,
    /// Tag of its job.
    pub job: u8,
    /// Its term within the reduction.
    pub k: u16,
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

/// As `[value, job, k, valid]`.
impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.value, self.job, self.k, self.valid).serialize(serializer)
    }
}

/// As `[acc, count, error]`, the error by its name.
impl Serialize for TokenState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.acc, self.count, self.error.map(|kind| kind.name())).serialize(serializer)
    }
}

impl TokenPe {
    /// Whether a PE in this state has taken every term (R21).
    pub fn done(&self, state: &TokenState) -> bool {
        state.count == self.k_len
    }

    /// Keeps the low bits of a sum, sign-extended.
    pub(super) fn wrap(&self, sum: i64) -> i64 {
        let unused = 64 - self.accumulator_bits;
        (sum << unused) >> unused
    }

    /// What is wrong with what meets in a PE, in order of precedence (R24b), if anything.
    pub(super) fn fault(
        &self,
        state: &TokenState,
        west: Option<Token>,
        north: Option<Token>,
    ) -> Option<ErrorKind> {
        let valid = |token: &Token| token.valid;
        match (west.filter(valid), north.filter(valid)) {
            (None, None) => None,
            (Some(a), Some(b)) if a.job != b.job => Some(ErrorKind::JobMismatch),
            (Some(a), Some(b)) if a.k != b.k => Some(ErrorKind::KMismatch),
            (Some(a), Some(_)) if u32::from(a.k) != state.count || self.done(state) => {
                Some(ErrorKind::OutOfOrder)
            }
            (Some(_), Some(_)) => None,
            _ => Some(ErrorKind::Unpaired),
        }
    }
}

impl Pe for TokenPe {
    type Token = Token;
    type State = TokenState;
    type Tile = TokenTile;

    fn initial(&self) -> TokenState {
        TokenState::default()
    }

    /// Forwards both tokens whatever they are. A legal pair is taken, also by a PE that already keeps an
    /// error; an illegal one touches neither sum nor count.
    fn step(&self, state: &mut TokenState, inputs: &Inputs<Token>) -> Outputs<Token> {
        let &Inputs { west, north } = inputs;
        let raised = self.fault(state, west, north);
        if let (Some(a), Some(b)) = (west, north)
            && a.valid
            && b.valid
            && raised.is_none()
        {
            let product = i64::from(a.value).wrapping_mul(i64::from(b.value));
            state.acc = self.wrap(state.acc.wrapping_add(product));
            state.count += 1;
        }
        state.error = state.error.or(raised);
        Outputs { east: west, south: north, raised }
    }
}
