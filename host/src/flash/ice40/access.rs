//! SPI through the command engine: chip select and reset as pins, and a deadline for whatever is being done.

use super::error::FlashError;
use super::mpsse::{Mpsse, MpsseError, Pins, pin};
use super::{SHORT, Stage};
use ftdi_nusb::constants::mpsse as op;
use spi_flash::FlashAccess;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Bytes to shift out on the falling edge, and in on the rising one: SPI mode 0.
const SHIFT_OUT: u8 = op::DO_WRITE | op::WRITE_NEG;
const SHIFT: u8 = SHIFT_OUT | op::DO_READ;

/// The wires, with what is being done on them.
pub(super) struct Access<M: Mpsse> {
    mpsse: M,
    cancel: Arc<AtomicBool>,
    stage: Stage,
    /// Where in the flash.
    address: usize,
    allowed: Duration,
    deadline: Instant,
}

/// Why a command failed. It travels through the flash library and back.
#[derive(Debug, Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Mpsse(MpsseError),
    #[error("the time is over")]
    Timeout,
    #[error("interrupted")]
    Interrupted,
}

impl From<Failure> for spi_flash::Error {
    fn from(failure: Failure) -> Self {
        Self::Access(failure.into())
    }
}

impl<M: Mpsse> Access<M> {
    pub(super) fn new(mpsse: M, cancel: Arc<AtomicBool>) -> Self {
        let (stage, deadline) = (Stage::Starting, Instant::now() + SHORT);
        Self { mpsse, cancel, stage, address: 0, allowed: SHORT, deadline }
    }

    /// What follows is this, and may take so long.
    pub(super) fn begin(&mut self, stage: Stage, address: usize, allowed: Duration) {
        self.stage = stage;
        self.address = address;
        self.allowed = allowed;
        self.deadline = Instant::now() + allowed;
    }

    /// Whether the time is over.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() > self.deadline
    }

    /// Sets the pins.
    pub(super) fn set(&mut self, pins: Pins) -> Result<(), FlashError> {
        Ok(self.mpsse.command(&pins.command(), 0).map(|_| ())?)
    }

    /// Whether the FPGA has an image.
    pub(super) fn configured(&mut self) -> Result<bool, FlashError> {
        self.interrupted().map_err(|failure| self.error(failure))?;
        let answer = self.mpsse.command(&[op::GET_BITS_LOW], 1)?;
        Ok(answer.first().is_some_and(|pins| pins & pin::CDONE != 0))
    }

    /// Shifts bytes out, with the pins as they are.
    pub(super) fn shift_out(&mut self, bytes: &[u8]) -> Result<(), FlashError> {
        self.interrupted().map_err(|failure| self.error(failure))?;
        let mut command = Vec::with_capacity(bytes.len() + 3);
        shift(&mut command, SHIFT_OUT, bytes);
        Ok(self.mpsse.command(&command, 0).map(|_| ())?)
    }

    /// What the flash library's error comes from.
    pub(super) fn reason(&self, error: spi_flash::Error) -> FlashError {
        let (stage, address) = (self.stage.name(), self.address);
        match error {
            spi_flash::Error::Access(error) => match error.downcast() {
                Ok(failure) => self.error(failure),
                Err(error) => FlashError::Library { stage, address, what: error.to_string() },
            },
            spi_flash::Error::InvalidManufacturer => FlashError::NoFlash,
            error => FlashError::Library { stage, address, what: error.to_string() },
        }
    }

    fn error(&self, failure: Failure) -> FlashError {
        let stage = self.stage.name();
        match failure {
            Failure::Mpsse(error) => FlashError::Mpsse(error),
            Failure::Timeout => FlashError::Timeout { stage, address: self.address, waited: self.allowed },
            Failure::Interrupted => FlashError::Interrupted { stage },
        }
    }

    fn interrupted(&self) -> Result<(), Failure> {
        if self.cancel.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// Selects the flash, shifts, and lets it go, all in one.
    fn transaction(&mut self, opcode: u8, bytes: &[u8], answer: usize) -> Result<Vec<u8>, Failure> {
        // A flash that stays busy is asked again and again: this is where that ends.
        if self.is_over() {
            return Err(Failure::Timeout);
        }
        self.interrupted()?;
        let mut command = Vec::with_capacity(bytes.len() + 9);
        command.extend(Pins { select: true, reset: true }.command());
        shift(&mut command, opcode, bytes);
        command.extend(Pins { select: false, reset: true }.command());
        self.mpsse.command(&command, answer).map_err(Failure::Mpsse)
    }
}

impl<M: Mpsse> Drop for Access<M> {
    fn drop(&mut self) {
        // The board may be gone already, and then there is nothing to let go of.
        let _gone = self.mpsse.command(&Pins::RELEASED.command(), 0);
    }
}

impl<M: Mpsse> FlashAccess for Access<M> {
    type Error = Failure;

    fn exchange(&mut self, data: &[u8]) -> Result<Vec<u8>, Failure> {
        self.transaction(SHIFT, data, data.len())
    }

    fn write(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.transaction(SHIFT_OUT, data, 0).map(|_| ())
    }

    fn delay(&mut self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// Appends the command that shifts these bytes, of which there is at least one.
fn shift(command: &mut Vec<u8>, opcode: u8, bytes: &[u8]) {
    let count = u16::try_from(bytes.len().saturating_sub(1)).unwrap_or(u16::MAX);
    command.push(opcode);
    command.extend(count.to_le_bytes());
    command.extend(bytes);
}
