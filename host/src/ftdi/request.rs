//! Vendor requests of FTDI's chips, by name.

use super::baud::{Divisor, Generation};
use super::error::UsbError;
use nusb::transfer::{ControlIn, ControlOut, ControlType, Recipient};
use nusb::{Interface, MaybeFuture};
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
    device: String,
    generation: Generation,
    /// What requests call the port.
    index: u16,
}

impl Port {
    /// The port of a claimed interface.
    pub(super) fn new(interface: Interface, device: String, generation: Generation, several: bool) -> Self {
        let index = if several { u16::from(interface.interface_number()) + 1 } else { 0 };
        Self { interface, device, generation, index }
    }

    /// What errors call the device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// The claimed interface.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Resets the port, empties its buffers and makes its pins a serial port.
    ///
    /// # Errors
    /// The chip is gone, or refuses.
    pub fn reset(&self) -> Result<(), UsbError> {
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
    pub fn set_line(&self) -> Result<(), UsbError> {
        self.set(code::LINE, 8, self.index)?;
        self.set(code::FLOW, 0, self.index)?;
        self.set(code::MODEM, 0x0303, self.index)
    }

    /// Sets the rate, in bits a second; gives the one that the chip makes of it.
    ///
    /// # Errors
    /// [`UsbError::Baud`] when that is more than 2 % off; the chip is gone, or refuses.
    pub fn set_baud(&self, baud: u32) -> Result<u32, UsbError> {
        let divisor = Divisor::nearest(self.generation, baud);
        let nearest = divisor.map_or(0, Divisor::baud);
        match divisor {
            Some(divisor) if nearest.abs_diff(baud) <= baud / 50 => {
                let (value, high) = divisor.words();
                self.set(code::BAUD, value, u16::from(high) << 8 | self.index)?;
                Ok(nearest)
            }
            _ => Err(UsbError::Baud { device: self.device.clone(), wanted: baud, nearest }),
        }
    }

    /// Sets the time after which a packet that is not full is sent, and reads it back. In milliseconds.
    ///
    /// # Errors
    /// [`UsbError::Setting`] when it did not stay; the chip is gone, or refuses.
    pub fn set_latency(&self, ms: u8) -> Result<(), UsbError> {
        self.set(code::SET_LATENCY, u16::from(ms), self.index)?;
        let got = self.latency()?;
        if got == ms {
            return Ok(());
        }
        let (what, got) = (format!("a latency timer of {ms} ms"), format!("{got} ms"));
        Err(UsbError::Setting { device: self.device.clone(), what, got })
    }

    /// Reads the latency timer, in milliseconds.
    ///
    /// # Errors
    /// The chip is gone, or refuses.
    pub fn latency(&self) -> Result<u8, UsbError> {
        let request = ControlIn {
            control_type: ControlType::Vendor,
            recipient: Recipient::Device,
            request: code::GET_LATENCY,
            value: 0,
            index: self.index,
            length: 1,
        };
        let answer = self.interface.control_in(request, ANSWER).wait();
        let answer =
            answer.map_err(|error| UsbError::transfer(&self.device, "reading its latency timer", error))?;
        answer.first().copied().ok_or_else(|| UsbError::NotFtdi {
            device: self.device.clone(),
            missing: "a latency timer".to_owned(),
        })
    }

    fn set(&self, request: u8, value: u16, index: u16) -> Result<(), UsbError> {
        let request = ControlOut {
            control_type: ControlType::Vendor,
            recipient: Recipient::Device,
            request,
            value,
            index,
            data: &[],
        };
        let done = self.interface.control_out(request, ANSWER).wait();
        done.map_err(|error| UsbError::transfer(&self.device, "setting it up", error))
    }
}
