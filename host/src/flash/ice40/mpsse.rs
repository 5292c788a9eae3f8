//! The command engine of an FTDI chip, and the pins of an iCE40 board on its first port.

use super::Programmer;
use super::error::FlashError;
use crate::discover::UsbDevice;
use crate::ftdi::{Chip, failed, opening};
use crate::link::LinkError;
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
    Link(#[from] LinkError),
    /// The chip has no such engine.
    #[error("{port} has no command engine for SPI; program this board with openFPGALoader")]
    NoEngine {
        /// The device.
        port: String,
    },
    /// The engine says nothing.
    #[error("{port}: no answer within {waited:?} while {doing}; plug the board in again")]
    Timeout {
        /// The device.
        port: String,
        /// What was being done.
        doing: &'static str,
        /// The time waited.
        waited: Duration,
    },
    /// The engine answers nonsense.
    #[error("{port} answered {got} bytes where {wanted} belong; plug the board in again")]
    Answer {
        /// The device.
        port: String,
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
    device: UsbDevice,
}

/// Takes the interface of a board's USB chip for programming, and holds the FPGA in reset.
///
/// # Errors
/// The chip cannot be claimed or has no engine; as [`Programmer::new`].
pub fn open(device: &UsbDevice, interface: u8, cancel: Arc<AtomicBool>) -> Result<Programmer, FlashError> {
    Programmer::new(Ftdi::open(device, interface)?, cancel)
}

impl Ftdi {
    /// Claims a chip's interface and makes it a command engine.
    ///
    /// # Errors
    /// No permission, in use, unplugged, no such engine.
    pub fn open(device: &UsbDevice, interface: u8) -> Result<Self, MpsseError> {
        let port = match interface {
            0 => ftdi_nusb::Interface::A,
            1 => ftdi_nusb::Interface::B,
            _ => return Err(MpsseError::NoEngine { port: device.link() }),
        };
        let info = Chip::of(device)?.info().clone();
        let opened = ftdi_nusb::blocking::FtdiDevice::from_device_info(info, port);
        let mut chip = opened.map_err(|error| failure(device, "opening it", error))?.into_async();
        chip.set_read_timeout(ANSWER);
        chip.set_write_timeout(ANSWER);
        let context = block_on(async {
            chip.set_latency_timer(LATENCY).await?;
            MpsseContext::init(&mut chip, CLOCK).await
        });
        let context = context.map_err(|error| failure(device, "starting its command engine", error))?;
        Ok(Self { chip, context, device: device.clone() })
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
        let got = done.map_err(|error| failure(&self.device, "programming", error))?;
        if got.len() == answer {
            return Ok(got);
        }
        Err(MpsseError::Answer { port: self.device.link(), wanted: answer, got: got.len() })
    }
}

impl Drop for Ftdi {
    fn drop(&mut self) {
        // Unplugged, it has been reset already.
        let _gone = block_on(self.chip.disable_bitbang());
    }
}

fn failure(device: &UsbDevice, doing: &'static str, error: ftdi_nusb::Error) -> MpsseError {
    use ftdi_nusb::Error;
    let port = device.link();
    match error {
        Error::Usb(error) => opening(device, doing, error).into(),
        Error::Transfer(error) => failed(&port, doing, error).into(),
        Error::DeviceNotFound | Error::DeviceUnavailable => LinkError::Closed { port }.into(),
        Error::UnsupportedChip(_) => MpsseError::NoEngine { port },
        Error::Timeout(waited) => MpsseError::Timeout { port, doing, waited },
        error => LinkError::Io { port, doing, source: std::io::Error::other(error) }.into(),
    }
}
