//! The rules, by what they disturb.

mod framing;
mod hello;
mod pressure;
mod sequence;
mod session;
mod values;

use super::WireLevel;
use crate::level::{Level, Rule};
use systole_hdl::codec::{Command, operands_to_bytes};
use systole_hdl::parameters::Parameters;

/// A rule's name, and what panics when it is broken.
type Check = (&'static str, fn(&dyn WireLevel));

/// All of them.
pub fn rules() -> Vec<Rule<dyn WireLevel>> {
    let small =
        [framing::RULES, sequence::RULES, pressure::RULES, hello::RULES, values::RULES, session::RULES];
    let others = [sequence::OTHER_DESIGNS, pressure::OTHER_DESIGNS, values::OTHER_DESIGNS];
    let at =
        |checks: Vec<Check>, only| checks.into_iter().map(move |(name, check)| Rule { name, only, check });
    // A Verilator build for each of the other designs would take longer than all the rules.
    at(small.concat(), None).chain(at(others.concat(), Some(&[Level::RustHdl][..]))).collect()
}

/// The design of every rule that needs no other: N = 2, short panels, banks of two panels and the smallest FIFO that holds some commands.
pub fn small() -> Parameters {
    Parameters { n: 2, k_max: 4, a_depth: 8, b_depth: 16, fifo: 128, ..Parameters::default() }
}

/// A WRITE of one operand a lane.
fn write(bank: u8, address: u16, operands: &[i32]) -> Command {
    Command::Write { bank, address, k_len: 1, operands: operands_to_bytes(operands, 1) }
}
