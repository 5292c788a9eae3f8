//! The interpreted backend: one PE after another, row by row. It is the obviously right one, and the oracle
//! of others.

use super::{Inputs, Outputs, Pe};

/// Steps every PE on its frozen inputs; gives their outputs in the order of coordinates.
pub(super) fn dispatch<'a, P: Pe>(
    pe: &'a P,
    frozen: &'a [Inputs<P::Token>],
    states: &'a mut [P::State],
) -> impl Iterator<Item = Outputs<P::Token>> + 'a {
    states.iter_mut().zip(frozen).map(|(state, inputs)| pe.step(state, inputs))
}
