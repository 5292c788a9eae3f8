//! The gateware of Systole: an N×N systolic array behind a checked, sequenced wire.

pub mod codec;
pub mod collector;
pub mod feeder;
pub mod grid;
pub mod injector;
pub mod lane;
pub mod operand_memory;
pub mod parameters;
pub mod pe;
pub mod result_buffer;
pub mod signal;
pub mod sim;
pub mod types;
pub mod uart_rx;
pub mod uart_tx;
pub mod verilog;
pub mod wire;
pub mod wrapper;
