//! Complete images of Systole's gateware: which design it is, and how it tells.

pub mod build;
pub mod cache;
pub mod design;
pub mod image;
pub mod label;
pub mod report;
pub mod toolchain;
pub mod top;
