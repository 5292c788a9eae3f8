//! The rules, in the contract's order.

mod edge;

use super::{Grid, Wrapper};
use crate::level::Rule;

macro_rules! rules {
    ($($module:ident: $($name:ident),* $(,)?;)*) => {
        vec![$($(Rule { name: stringify!($name), only: None, check: $module::$name }),*),*]
    };
}

/// The rules of the array alone.
pub fn grid() -> Vec<Rule<dyn Grid>> {
    rules! {
        edge: r10_a_result_on_edge_zero;
    }
}

/// The rules of the wrapper.
pub fn wrapper() -> Vec<Rule<dyn Wrapper>> {
    rules! {}
}
