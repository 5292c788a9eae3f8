//! What can be wrong with a USB device, before or while it is used.

use nusb::ErrorKind;
use nusb::transfer::TransferError;
use std::time::Duration;
use thiserror::Error;

/// Why a USB chip cannot be used.
#[derive(Debug, Error)]
pub enum UsbError {
    /// A selector that cannot be read.
    #[error(
        "'{0}' names no USB device: write VID:PID or VID:PID:SERIAL, ids in hexadecimal, for example 0403:6010"
    )]
    Selector(String),
    /// The system has no list of USB devices.
    #[error(
        "this system shows no USB devices ({0}); without USB use --link serial:PATH, or no --link to simulate"
    )]
    NoUsb(nusb::Error),
    /// Nothing fits.
    #[error("no USB device fits {wanted}; {attached}")]
    NotFound {
        /// What was looked for.
        wanted: String,
        /// What there is instead.
        attached: String,
    },
    /// Several fit.
    #[error("{} USB devices fit {wanted}: name one of {}", candidates.len(), candidates.join(", "))]
    Several {
        /// What was looked for.
        wanted: String,
        /// Selectors of those that fit.
        candidates: Vec<String>,
    },
    /// The user may not use it.
    #[error(
        "no permission for {device}: install the udev rule that `systole udev` prints, then plug the board in again"
    )]
    Permission {
        /// The device.
        device: String,
    },
    /// Something else has it.
    #[error(
        "{device} is in use by another program: close it (a terminal, another systole, openFPGALoader) and try again"
    )]
    Busy {
        /// The device.
        device: String,
    },
    /// It is not there any more.
    #[error("{device} was unplugged; plug it in and start again")]
    Gone {
        /// The device.
        device: String,
    },
    /// It lacks what an FTDI chip has.
    #[error("{device} is no FTDI chip with {missing}")]
    NotFtdi {
        /// The device.
        device: String,
        /// What it lacks.
        missing: String,
    },
    /// A rate that the chip cannot make.
    #[error(
        "{device} cannot do {wanted} baud, the nearest is {nearest}; build the design for a rate that it has"
    )]
    Baud {
        /// The device.
        device: String,
        /// The rate asked for, in bits a second.
        wanted: u32,
        /// The rate it would do.
        nearest: u32,
    },
    /// A setting that did not stay.
    #[error("{device} did not take {what}: it says {got}")]
    Setting {
        /// The device.
        device: String,
        /// What was set, and to what.
        what: String,
        /// What was read back.
        got: String,
    },
    /// A transfer failed for good.
    #[error("{device} failed while {stage}: {error}; plug the board in again")]
    Transfer {
        /// The device.
        device: String,
        /// What was being done.
        stage: &'static str,
        /// What the system says.
        error: String,
    },
    /// A transfer took too long.
    #[error("{device} did not answer within {waited:?} while {stage}; plug the board in again")]
    Timeout {
        /// The device.
        device: String,
        /// What was being done.
        stage: &'static str,
        /// The time waited.
        waited: Duration,
    },
}

impl UsbError {
    /// An error of opening or claiming.
    pub(crate) fn open(device: &str, stage: &'static str, error: &nusb::Error) -> Self {
        let device = device.to_owned();
        match error.kind() {
            ErrorKind::PermissionDenied => Self::Permission { device },
            ErrorKind::Busy => Self::Busy { device },
            ErrorKind::Disconnected => Self::Gone { device },
            _ => Self::Transfer { device, stage, error: error.to_string() },
        }
    }

    /// An error of a transfer.
    pub(crate) fn transfer(device: &str, stage: &'static str, error: TransferError) -> Self {
        let device = device.to_owned();
        match error {
            TransferError::Disconnected => Self::Gone { device },
            error => Self::Transfer { device, stage, error: error.to_string() },
        }
    }
}
