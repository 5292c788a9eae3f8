//! The wavefront, for people: what meets in every PE, tick by tick.

mod svg;
mod text;

pub use svg::Drawing;
pub use text::TextView;

use super::mac::Operand;
use super::trace::Event;
use super::{Mac, Pe, Token, TokenPe, TokenState};
use std::fmt::Display;

/// A PE that people can look at.
pub trait Drawn: Pe {
    /// A token in a few letters; `None` for a bubble.
    fn token(token: &Self::Token) -> Option<String>;

    /// What the PE has accumulated.
    fn sum(state: &Self::State) -> String;
}

impl Drawn for TokenPe {
    /// Value, k and job, as in `-3k2j0`.
    fn token(token: &Token) -> Option<String> {
        token.valid.then(|| format!("{}k{}j{}", token.value, token.k, token.job))
    }

    fn sum(state: &TokenState) -> String {
        state.acc.to_string()
    }
}

impl<T: Operand<Sum: Display> + Display> Drawn for Mac<T> {
    fn token(token: &T) -> Option<String> {
        Some(token.to_string())
    }

    fn sum(state: &T::Sum) -> String {
        state.to_string()
    }
}

/// What a PE looks like in one tick.
struct Cell {
    /// From the west, from the north: a token, `o` for a bubble, `.` for nothing.
    met: [String; 2],
    /// How many of these are tokens.
    tokens: usize,
    /// Sum after the tick.
    sum: String,
    /// Name of the error raised in the tick.
    raised: Option<&'static str>,
}

impl Cell {
    fn new<P: Drawn>(event: &Event<P>) -> Self {
        let links = [&event.inputs.west, &event.inputs.north];
        let tokens = links.map(|link| link.as_ref().map(P::token));
        let count = tokens.iter().flatten().flatten().count();
        let met = tokens.map(|token| match token {
            None => ".".to_owned(),
            Some(bubble) => bubble.unwrap_or_else(|| "o".to_owned()),
        });
        let raised = event.outputs.raised.map(|kind| kind.name());
        Self { met, tokens: count, sum: P::sum(&event.after), raised }
    }
}
