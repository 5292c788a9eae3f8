//! Vendor requests of FTDI's chips, by name.

use super::baud::{Divisor, Generation};
use super::failed;
use crate::link::LinkError;
use nusb::transfer::{ControlIn, ControlOut, ControlType, Recipient};
use nusb::{Interface, MaybeFuture};
use std::io;
use std::time::Duration;

/// Time that a chip has for a request. One takes well under a millisecond.
const ANSWER: Duration = Duration::from_secs(2);

/// Request numbers, and values of the request `RESET`.
pub(crate) mod code {
    /// Resets a port, or empties one of its buffers.
    pub(crate) const RESET: u8 = 0x00;
    /// Sets the modem lines.
    pub(crate) const MODEM: u8 = 0x01;
    /// Sets the flow control.
    pub(crate) const FLOW: u8 = 0x02;
    /// Sets the rate.
    pub(crate) const BAUD: u8 = 0x03;
    /// Sets data bits, parity, stop bits and break.
    pub(crate) const LINE: u8 = 0x04;
    /// Reads the modem lines.
    pub(crate) const MODEM_STATUS: u8 = 0x05;
    /// Sets the event character.
    pub(crate) const EVENT: u8 = 0x06;
    /// Sets the error character.
    pub(crate) const ERROR: u8 = 0x07;
    /// Sets the latency timer.
    pub(crate) const SET_LATENCY: u8 = 0x09;
    /// Reads the latency timer.
    pub(crate) const GET_LATENCY: u8 = 0x0A;
    /// Sets what the pins do.
    pub(crate) const BIT_MODE: u8 = 0x0B;
    /// Reads the pins.
    pub(crate) const PINS: u8 = 0x0C;
    /// Reads a word of the EEPROM.
    pub(crate) const EEPROM: u8 = 0x90;

    /// `RESET`: the port itself.
    pub(crate) const RESET_PORT: u16 = 0;
    /// `RESET`: what waits to go out on the line.
    pub(crate) const PURGE_TO_SEND: u16 = 1;
    /// `RESET`: what came in from the line.
    pub(crate) const PURGE_RECEIVED: u16 = 2;
}

/// What the pins of a port do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitMode {
    /// Serial port.
    Reset = 0,
    /// The command engine for SPI and JTAG.
    Mpsse = 2,
}

/// The control side of one port of a chip.
#[derive(Clone)]
pub struct Port {
    interface: Interface,
    /// What errors call the device.
    name: String,
    generation: Generation,
    /// What requests call the port.
    index: u16,
}

impl Port {
    /// The port of a claimed interface.
    pub(super) fn new(interface: Interface, name: String, generation: Generation, several: bool) -> Self {
        let index = if several { u16::from(interface.interface_number()) + 1 } else { 0 };
        Self { interface, name, generation, index }
    }

    /// What errors call the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The claimed interface.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Resets the port, empties its buffers and makes its pins a serial port.
    ///
    /// # Errors
    /// The chip is gone, or refuses.
    pub fn reset(&self) -> Result<(), LinkError> {
        self.set(code::BIT_MODE, (BitMode::Reset as u16) << 8, self.index)?;
        for what in [code::RESET_PORT, code::PURGE_TO_SEND, code::PURGE_RECEIVED] {
            self.set(code::RESET, what, self.index)?;
        }
        Ok(())
    }

    /// Eight data bits, no parity, one stop bit, no flow control, DTR and RTS on as a serial port has them when opened.
    ///
    /// # Errors
    /// The chip is gone, or refuses.
    pub fn set_line(&self) -> Result<(), LinkError> {
        self.set(code::LINE, 8, self.index)?;
        self.set(code::FLOW, 0, self.index)?;
        self.set(code::MODEM, 0x0303, self.index)
    }

    /// Sets the rate nearest to this one, in bits a second; gives it.
    ///
    /// # Errors
    /// The chip is gone, or refuses.
    pub fn set_baud(&self, baud: u32) -> Result<u32, LinkError> {
        // Slower than the slowest there is nothing to set, and nothing to be got.
        let Some(divisor) = Divisor::nearest(self.generation, baud) else { return Ok(0) };
        let (value, high) = divisor.words();
        self.set(code::BAUD, value, u16::from(high) << 8 | self.index)?;
        Ok(divisor.baud())
    }

    /// Sets the time after which a packet that is not full is sent, and reads it back. In milliseconds.
    ///
    /// # Errors
    /// It did not stay; the chip is gone, or refuses.
    pub fn set_latency(&self, ms: u8) -> Result<(), LinkError> {
        self.set(code::SET_LATENCY, u16::from(ms), self.index)?;
        let got = self.latency()?;
        if got == ms {
            return Ok(());
        }
        let source = io::Error::other(format!("it was set to {ms} ms and says {got} ms"));
        Err(LinkError::Io { port: self.name.clone(), doing: "setting its latency timer", source })
    }

    /// Reads the latency timer, in milliseconds.
    ///
    /// # Errors
    /// The chip is gone, or refuses.
    pub fn latency(&self) -> Result<u8, LinkError> {
        let request = ControlIn {
            control_type: ControlType::Vendor,
            recipient: Recipient::Device,
            request: code::GET_LATENCY,
            value: 0,
            index: self.index,
            length: 1,
        };
        let answer = self.interface.control_in(request, ANSWER).wait();
        let answer = answer.map_err(|error| failed(&self.name, "reading its latency timer", error))?;
        answer.first().copied().ok_or_else(|| LinkError::Io {
            port: self.name.clone(),
            doing: "reading its latency timer",
            source: io::ErrorKind::UnexpectedEof.into(),
        })
    }

    fn set(&self, request: u8, value: u16, index: u16) -> Result<(), LinkError> {
        let request = ControlOut {
            control_type: ControlType::Vendor,
            recipient: Recipient::Device,
            request,
            value,
            index,
            data: &[],
        };
        let done = self.interface.control_out(request, ANSWER).wait();
        done.map_err(|error| failed(&self.name, "setting it up", error))
    }
}
