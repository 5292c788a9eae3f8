//! What can go wrong while programming.

use super::mpsse::MpsseError;
use std::time::Duration;
use thiserror::Error;

/// Why a board was not programmed.
#[derive(Debug, Error)]
pub enum FlashError {
    /// The USB chip.
    #[error(transparent)]
    Mpsse(#[from] MpsseError),
    /// Nothing answers on the SPI bus.
    #[error(
        "no flash answers on the board's SPI bus: check that the board is powered and its jumpers are set for flash \
         (`systole boards` has the note)"
    )]
    NoFlash,
    /// A flash of a kind that is not known.
    #[error("the flash {maker:02x} {device:04x} is of no kind that this program knows: use openFPGALoader")]
    UnknownFlash {
        /// JEDEC's number of the maker.
        maker: u8,
        /// The maker's number of the device.
        device: u16,
    },
    /// Outside the flash.
    #[error("{length} bytes at {address:#x} are not all within the flash of {capacity} bytes")]
    Range {
        /// The first byte.
        address: usize,
        /// How many.
        length: usize,
        /// What it holds.
        capacity: usize,
    },
    /// A stage took too long.
    #[error(
        "the flash was still busy after {waited:?} of {stage} at {address:#x}: it may be write-protected or worn out"
    )]
    Timeout {
        /// What was being done.
        stage: &'static str,
        /// Where in the flash, in bytes.
        address: usize,
        /// The time it had.
        waited: Duration,
    },
    /// The flash holds something else.
    #[error(
        "the flash has {read:02x} at {address:#x} where {wrote:02x} belongs: it may be write-protected or worn out"
    )]
    Differs {
        /// Where, in bytes.
        address: usize,
        /// What belongs there.
        wrote: u8,
        /// What is there.
        read: u8,
    },
    /// The FPGA did not take the image.
    #[error(
        "the FPGA did not start within {waited:?} (CDONE stays low): the image is for another device or damaged, or a \
         jumper is not set"
    )]
    NotConfigured {
        /// The time it had.
        waited: Duration,
    },
    /// The flash library would not.
    #[error("the flash could not be worked on while {stage} at {address:#x}: {what}")]
    Library {
        /// What was being done.
        stage: &'static str,
        /// Where in the flash, in bytes.
        address: usize,
        /// What the library says.
        what: String,
    },
    /// The user asked to stop.
    #[error("interrupted while {stage}; the board may have half an image, program it again")]
    Interrupted {
        /// What was being done.
        stage: &'static str,
    },
}
