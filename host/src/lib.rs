//! Streams matrices to a systolic array on an FPGA, or to its simulation, and checks every result.

pub mod matrix;
pub mod plan;
pub mod software;
