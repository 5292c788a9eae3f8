//! The gateware of Systole: an N×N systolic array behind a checked, sequenced wire.

pub mod parameters;
pub mod wire;
