//! What crosses Systole's crates: one suite, run at every level that is present.

pub mod contract;
pub mod cycles;
pub mod faults;
pub mod image;
pub mod level;
pub mod links;
pub mod mutants;
pub mod netlist;
pub mod stimulus;
pub mod uart;
pub mod verilog;
pub mod wire;
