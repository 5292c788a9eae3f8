//! Complete images of Systole's gateware: which design it is, and how it tells.

pub mod design;
pub mod toolchain;
