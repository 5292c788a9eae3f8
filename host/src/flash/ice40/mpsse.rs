//! The command engine of an FTDI chip, and the pins of an iCE40 board on its first port.

use super::Programmer;
use super::error::FlashError;
use crate::ftdi::{Chip, UsbError};
use ftdi_nusb::constants::mpsse as op;
use ftdi_nusb::mpsse::MpsseContext;
use futures_lite::future::block_on;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use thiserror::Error;

/// SPI clock in hertz: every flash on these boards takes it, and so do their wires.
const CLOCK: u32 = 6_000_000;

/// The chip's latency timer, in milliseconds. Answers are asked for at once; this is for what is not.
const LATENCY: u8 = 1;

/// Time that a command may take, with its answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Pins of the port, as all boards with this arrangement wire them.
pub(super) mod pin {
    /// SPI clock.
    pub(in super::super) const CLOCK: u8 = 1 << 0;
    /// SPI data to flash and FPGA.
    pub(in super::super) const DATA: u8 = 1 << 1;
    /// SPI select, active low.
    pub(in super::super) const SELECT: u8 = 1 << 4;
    /// The FPGA has its image.
    pub(in super::super) const CDONE: u8 = 1 << 6;
    /// Reset of the FPGA, active low.
    pub(in super::super) const CRESET: u8 = 1 << 7;
}

/// State of select and reset. They are pulled up, and never driven high: once its reset ends the FPGA drives select itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pins {
    pub(super) select: bool,
    pub(super) reset: bool,
}

impl Pins {
    /// Neither selected nor in reset.
    pub(super) const RELEASED: Self = Self { select: false, reset: false };

    /// The command that brings it about.
    pub(super) fn command(self) -> [u8; 3] {
        let low = |active: bool, pin: u8| if active { pin } else { 0 };
        let driven = low(self.select, pin::SELECT) | low(self.reset, pin::CRESET);
        // With the FPGA at work the bus is its own.
        let bus = if self == Self::RELEASED { 0 } else { pin::CLOCK | pin::DATA };
        [op::SET_BITS_LOW, 0, driven | bus]
    }
}

/// Why a command did not get through.
#[derive(Debug, Error)]
pub enum MpsseError {
    /// The USB chip.
    #[error(transparent)]
    Usb(#[from] UsbError),
    /// The chip has no such engine.
    #[error("{device} has no command engine for SPI: program this board with openFPGALoader")]
    NoEngine {
        /// The device.
        device: String,
    },
    /// The engine answers nonsense.
    #[error("{device} answered {got} bytes where {wanted} belong; plug the board in again")]
    Answer {
        /// The device.
        device: String,
        /// Bytes asked for.
        wanted: usize,
        /// Bytes that came.
        got: usize,
    },
}

/// A command engine.
pub trait Mpsse {
    /// Sends commands and waits for the bytes that they answer.
    ///
    /// # Errors
    /// [`MpsseError`] when the chip is gone or does not answer.
    fn command(&mut self, bytes: &[u8], answer: usize) -> Result<Vec<u8>, MpsseError>;
}

/// The engine of a chip that is attached.
pub struct Ftdi {
    chip: ftdi_nusb::FtdiDevice,
    context: MpsseContext,
    name: String,
}

/// Takes a chip's interface for programming, and holds the FPGA in reset.
///
/// # Errors
/// The chip cannot be claimed or has no engine; as [`Programmer::new`].
pub fn open(chip: &Chip, interface: u8, cancel: Arc<AtomicBool>) -> Result<Programmer, FlashError> {
    Programmer::new(Ftdi::open(chip, interface)?, cancel)
}

impl Ftdi {
    /// Claims a chip's interface and makes it a command engine.
    ///
    /// # Errors
    /// No permission, in use, unplugged, no such engine.
    pub fn open(chip: &Chip, interface: u8) -> Result<Self, MpsseError> {
        let name = chip.to_string();
        let port = match interface {
            0 => ftdi_nusb::Interface::A,
            1 => ftdi_nusb::Interface::B,
            _ => return Err(MpsseError::NoEngine { device: name }),
        };
        let opened = ftdi_nusb::blocking::FtdiDevice::from_device_info(chip.info().clone(), port);
        let mut device = opened.map_err(|error| failure(&name, "opening it", error))?.into_async();
        device.set_read_timeout(ANSWER);
        device.set_write_timeout(ANSWER);
        let context = block_on(async {
            device.set_latency_timer(LATENCY).await?;
            MpsseContext::init(&mut device, CLOCK).await
        });
        let context = context.map_err(|error| failure(&name, "starting its command engine", error))?;
        Ok(Self { chip: device, context, name })
    }
}

impl Mpsse for Ftdi {
    fn command(&mut self, bytes: &[u8], answer: usize) -> Result<Vec<u8>, MpsseError> {
        let done = block_on(async {
            let mut session = self.context.session(&mut self.chip)?;
            match answer {
                0 => session.write_commands(bytes).await.map(|()| Vec::new()),
                _ => session.command_response(bytes, answer).await,
            }
        });
        let got = done.map_err(|error| failure(&self.name, "programming", error))?;
        if got.len() == answer {
            return Ok(got);
        }
        Err(MpsseError::Answer { device: self.name.clone(), wanted: answer, got: got.len() })
    }
}

impl Drop for Ftdi {
    fn drop(&mut self) {
        // Unplugged, it has been reset already.
        let _gone = block_on(self.chip.disable_bitbang());
    }
}

fn failure(name: &str, stage: &'static str, error: ftdi_nusb::Error) -> MpsseError {
    use ftdi_nusb::Error;
    let device = name.to_owned();
    match error {
        Error::Usb(error) => UsbError::open(name, stage, &error).into(),
        Error::Transfer(error) => UsbError::transfer(name, stage, error).into(),
        Error::DeviceNotFound | Error::DeviceUnavailable => UsbError::Gone { device }.into(),
        Error::UnsupportedChip(_) => MpsseError::NoEngine { device },
        Error::Timeout(waited) => UsbError::Timeout { device, stage, waited }.into(),
        error => UsbError::Transfer { device, stage, error: error.to_string() }.into(),
    }
}
