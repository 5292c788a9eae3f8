//! The rules, by what they disturb.

mod framing;
mod hello;
mod pressure;
mod sequence;
mod session;
mod values;

use super::WireLevel;
use crate::level::Rule;
use systole_hdl::codec::{Command, operands_to_bytes};
use systole_hdl::parameters::Parameters;

/// A rule's name, and what panics when it is broken.
type Check = (&'static str, fn(&dyn WireLevel));

/// All of them.
pub fn rules() -> Vec<Rule<dyn WireLevel>> {
    let all = [framing::RULES, sequence::RULES, pressure::RULES, hello::RULES, values::RULES, session::RULES];
    all.concat().into_iter().map(|(name, check)| Rule { name, only: None, check }).collect()
}

/// N = 2, short panels, banks of two panels and the smallest FIFO that holds some commands.
fn small() -> Parameters {
    Parameters { n: 2, k_max: 4, a_depth: 8, b_depth: 16, fifo: 128, ..Parameters::default() }
}

/// A WRITE of one operand a lane.
fn write(bank: u8, address: u16, operands: &[i32]) -> Command {
    Command::Write { bank, address, k_len: 1, operands: operands_to_bytes(operands, 1) }
}
