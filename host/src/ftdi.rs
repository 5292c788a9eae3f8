//! FTDI's USB chips, which sit between the computer and the boards: finding one, and what its vendor requests mean.

mod baud;
mod error;
mod find;
mod request;

pub use baud::{Divisor, Generation};
pub use error::UsbError;
pub use find::{Chip, Selector, attached, find};
pub(crate) use request::code;
pub use request::{BitMode, Port};
