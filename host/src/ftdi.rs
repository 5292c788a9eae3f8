//! FTDI's USB chips, which sit between the computer and the boards: claiming one, and what its vendor requests mean.

mod baud;
mod chip;
mod request;

pub use baud::{Divisor, Generation};
pub use chip::Chip;
pub(crate) use chip::opening;
pub(crate) use request::code;
pub use request::{BitMode, Port};

use crate::link::LinkError;
use nusb::transfer::TransferError;

/// The error of a transfer with a device that is called `port`.
pub(crate) fn failed(port: &str, doing: &'static str, error: TransferError) -> LinkError {
    let port = port.to_owned();
    match error {
        TransferError::Disconnected => LinkError::Closed { port },
        error => LinkError::Io { port, doing, source: error.into() },
    }
}
