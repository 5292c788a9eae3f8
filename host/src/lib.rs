//! Streams matrices to a systolic array on an FPGA, or to its simulation, and checks every result.

pub mod cli;
pub mod compare;
pub mod error;
pub mod execute;
pub mod link;
pub mod matrix;
pub mod plan;
pub mod product;
pub mod reference;
pub mod selftest;
pub mod session;
pub mod software;
