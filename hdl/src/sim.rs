//! The direct clock loop: drive inputs, take an edge, read outputs. No threads, no test bench framework.
//!
//! ```
//! use systole_hdl::{parameters::Parameters, pe::Pe, sim, types::Token};
//!
//! let mut pe = sim::power_up(Pe::new(&Parameters::default()));
//! pe.advance.next = true;
//! pe.k_len.next = 2usize.into();
//! pe.a_in.next = Token::new(1, true, 0, 0);
//! pe.b_in.next = Token::new(5, true, 0, 0);
//! sim::edge(&mut pe);
//! assert_eq!(pe.acc.val().get(), 5);
//! ```

use crate::signal::Clocked;

/// Connects a fresh block and lets it settle, clock low.
pub fn power_up<B: Clocked>(mut block: B) -> B {
    block.connect_all();
    block.update_all();
    block
}

/// Lets the inputs driven since the last edge settle, without an edge.
pub fn settle<B: Clocked>(block: &mut B) {
    block.update_all();
}

/// Takes one rising edge with the inputs as driven, and settles: outputs are those just after the edge.
pub fn edge<B: Clocked>(block: &mut B) {
    block.update_all();
    block.tick();
    block.update_all();
}
