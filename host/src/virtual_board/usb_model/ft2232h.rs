//! An FT2232H on an iCE40 board: descriptors, vendor requests, and what is behind its two ports.

use super::channel::{BUFFER, Channel};
use super::device::{Device, Setup, Stall};
use super::fabric::{Fabric, Gateware};
use super::flash::Flash;
use super::ice40::{Ice40, Wiring};
use super::image;
use super::mpsse::Engine;
use crate::ftdi::{BitMode, Divisor, Generation, code};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;
use systole_firmware::image::ice40::Die;

/// Standard requests: direction and recipient, and number.
mod standard {
    pub(super) const GET_STATUS: u8 = 0;
    pub(super) const CLEAR_FEATURE: u8 = 1;
    pub(super) const GET_DESCRIPTOR: u8 = 6;
    pub(super) const TO_DEVICE: [u8; 3] = [0x00, 0x01, 0x02];
    pub(super) const FROM_DEVICE: [u8; 3] = [0x80, 0x81, 0x82];
    pub(super) const TO_ENDPOINT: u8 = 0x02;
}

/// Kinds of a vendor request.
const VENDOR_TO_DEVICE: u8 = 0x40;
const VENDOR_FROM_DEVICE: u8 = 0xC0;

/// Data bits and all that: 8N1.
const LINE: u16 = 8;

/// Deviation beyond which a UART takes nothing right: 3 %, as one part in.
const TOLERANCE: u32 = 33;

/// A board to be.
#[derive(Clone)]
pub struct Board {
    /// Serial number of the chip.
    pub serial: String,
    /// What the chip calls its product.
    pub product: String,
    /// The FPGA.
    pub die: Die,
    /// What the programmer's wires lead to.
    pub wiring: Wiring,
    /// What answers when a design runs.
    pub gateware: Gateware,
}

/// What can be done to a board from outside, from any thread.
#[derive(Clone, Default)]
pub struct Handle(Arc<Shared>);

#[derive(Default)]
struct Shared {
    halted: AtomicU8,
    unplugged: AtomicBool,
    moved: AtomicU64,
    unplug_at: AtomicU64,
}

impl Handle {
    /// Halts an endpoint, 1 to 4: every transfer on it fails until the host clears the halt.
    pub fn halt(&self, endpoint: u8) {
        self.0.halted.fetch_or(1 << endpoint, Ordering::Relaxed);
    }

    /// Whether an endpoint is halted.
    pub fn is_halted(&self, endpoint: u8) -> bool {
        self.0.halted.load(Ordering::Relaxed) & 1 << endpoint != 0
    }

    /// Pulls the plug once this many more bytes have passed the data endpoints, either way, status bytes not counted.
    pub fn unplug_after(&self, bytes: u64) {
        self.0.unplug_at.store(self.moved() + bytes.max(1), Ordering::Relaxed);
    }

    /// Bytes that have passed so far.
    pub fn moved(&self) -> u64 {
        self.0.moved.load(Ordering::Relaxed)
    }

    fn check(&self, endpoint: u8) -> Result<(), Stall> {
        if self.is_halted(endpoint) { Err(Stall) } else { Ok(()) }
    }

    fn count(&self, bytes: usize) {
        let moved = self.0.moved.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        let limit = self.0.unplug_at.load(Ordering::Relaxed);
        if limit != 0 && moved >= limit {
            self.0.unplugged.store(true, Ordering::Relaxed);
        }
    }
}

/// A port, seen from USB.
struct Port {
    channel: Channel,
    mode: u8,
    divisor: Divisor,
    line: u16,
}

impl Port {
    fn new() -> Self {
        let divisor = Divisor::from_words(Generation::HighSpeed, 0, 0);
        Self { channel: Channel::new(), mode: BitMode::Reset as u8, divisor, line: LINE }
    }

    /// Whether its UART understands one of this rate.
    fn agrees_with(&self, baud: u32) -> bool {
        self.line == LINE && self.divisor.baud().abs_diff(baud) <= baud / TOLERANCE
    }
}

/// The chip with its board.
pub struct Ft2232h {
    board: Board,
    /// The command engine's port, and the UART's.
    ports: [Port; 2],
    engine: Engine,
    fabric: Option<(u64, Fabric)>,
    handle: Handle,
    bell: UnixStream,
}

impl Ft2232h {
    /// A board at power-up with what its flash holds; `bell` is written to when it has something to say.
    pub(super) fn new(board: Board, mut flash: Flash, handle: Handle, bell: UnixStream) -> Self {
        let fpga = Ice40::new(board.die, board.wiring, &mut flash);
        let engine = Engine::new(flash, fpga);
        Self { board, ports: [Port::new(), Port::new()], engine, fabric: None, handle, bell }
    }

    /// The flash, taken off the board.
    pub(super) fn into_flash(self) -> Flash {
        self.engine.flash
    }

    fn descriptor(&self, kind: u8, index: u8) -> Result<Vec<u8>, Stall> {
        match (kind, index) {
            (1, 0) => Ok(vec![18, 1, 0, 2, 0, 0, 0, 64, 0x03, 0x04, 0x10, 0x60, 0x00, 0x07, 1, 2, 3, 1]),
            (2, 0) => Ok(configuration()),
            (3, 0) => Ok(vec![4, 3, 0x09, 0x04]),
            (3, 1) => Ok(string("FTDI")),
            (3, 2) => Ok(string(&self.board.product)),
            (3, 3) => Ok(string(&self.board.serial)),
            // The same at full speed, with what that has.
            (6, 0) => Ok(vec![10, 6, 0, 2, 0, 0, 0, 64, 1, 0]),
            _ => Err(Stall),
        }
    }

    fn set(&mut self, setup: &Setup) -> Result<(), Stall> {
        let index = usize::from((setup.index & 0xFF).saturating_sub(1)).min(1);
        let port = &mut self.ports[index];
        match setup.request {
            code::RESET if setup.value == code::PURGE_TO_SEND => {}
            code::RESET => port.channel.purge(),
            code::MODEM | code::FLOW | code::EVENT | code::ERROR => {}
            code::BAUD => {
                let high = (setup.index >> 8) as u8;
                port.divisor = Divisor::from_words(Generation::HighSpeed, setup.value, high);
            }
            code::LINE => port.line = setup.value,
            code::SET_LATENCY => port.channel.set_latency(setup.value as u8),
            code::BIT_MODE => {
                port.mode = (setup.value >> 8) as u8;
                port.channel.purge();
                if index == 0 {
                    self.engine.reset();
                }
            }
            _ => return Err(Stall),
        }
        Ok(())
    }

    fn get(&self, setup: &Setup) -> Result<Vec<u8>, Stall> {
        let index = usize::from((setup.index & 0xFF).saturating_sub(1)).min(1);
        match setup.request {
            code::MODEM_STATUS => Ok(vec![0x01, 0x60]),
            code::GET_LATENCY => Ok(vec![self.ports[index].channel.latency()]),
            code::PINS => Ok(vec![0xFF]),
            // An EEPROM that was never written.
            code::EEPROM => Ok(vec![0xFF, 0xFF]),
            _ => Err(Stall),
        }
    }

    /// Starts the gateware when the FPGA has, and ends it when the FPGA is reset.
    fn follow_fpga(&mut self) {
        let resets = self.engine.fpga.resets();
        if self.fabric.as_ref().is_some_and(|(since, _)| *since != resets) {
            self.fabric = None;
        }
        let Some(image) = self.engine.fpga.running().filter(|_| self.fabric.is_none()) else { return };
        // An image without a label is somebody else's design, and says nothing.
        let (Some(identity), Ok(bell)) = (image::identity(image), self.bell.try_clone()) else { return };
        self.fabric = Some((resets, Fabric::start(identity, &self.board.gateware, bell)));
    }
}

impl Device for Ft2232h {
    fn control(&mut self, setup: &Setup) -> Result<Vec<u8>, Stall> {
        match (setup.kind, setup.request) {
            (kind, standard::GET_DESCRIPTOR) if standard::FROM_DEVICE.contains(&kind) => {
                self.descriptor((setup.value >> 8) as u8, setup.value as u8)
            }
            (kind, standard::GET_STATUS) if standard::FROM_DEVICE.contains(&kind) => Ok(vec![0, 0]),
            (standard::TO_ENDPOINT, standard::CLEAR_FEATURE) => {
                self.handle.0.halted.fetch_and(!(1 << (setup.index & 7)), Ordering::Relaxed);
                Ok(Vec::new())
            }
            (kind, _) if standard::TO_DEVICE.contains(&kind) => Ok(Vec::new()),
            (VENDOR_TO_DEVICE, _) => self.set(setup).map(|()| Vec::new()),
            (VENDOR_FROM_DEVICE, _) => self.get(setup),
            _ => Err(Stall),
        }
    }

    fn has_room(&self, endpoint: u8) -> bool {
        match endpoint {
            2 => self.ports[0].channel.has_room(),
            4 => self.fabric.as_ref().is_none_or(|(_, fabric)| fabric.backlog() < BUFFER),
            _ => true,
        }
    }

    fn write(&mut self, endpoint: u8, data: &[u8]) -> Result<(), Stall> {
        self.handle.check(endpoint)?;
        self.handle.count(data.len());
        match endpoint {
            2 if self.ports[0].mode == BitMode::Mpsse as u8 => {
                self.engine.take(data, &mut self.ports[0].channel);
            }
            4 => {
                // Without a design there is nobody at the other end of the line.
                if let Some((_, fabric)) = &self.fabric {
                    let right = self.ports[1].agrees_with(fabric.baud());
                    fabric.send(data.iter().map(|&byte| on_line(byte, right)).collect());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn read(&mut self, endpoint: u8, most: usize, now: Instant) -> Result<Option<Vec<u8>>, Stall> {
        self.handle.check(endpoint)?;
        let port = if endpoint == 1 { 0 } else { 1 };
        let packets = self.ports[port].channel.read(most, now);
        if let Some(packets) = &packets {
            self.handle.count(packets.len() - 2 * packets.len().div_ceil(512));
        }
        Ok(packets)
    }

    fn wakes_at(&self) -> Instant {
        let due = self.ports[0].channel.due_at().min(self.ports[1].channel.due_at());
        self.engine.fpga.reading_until().filter(|_| self.fabric.is_none()).map_or(due, |until| due.min(until))
    }

    fn work(&mut self) -> bool {
        self.follow_fpga();
        if let Some((_, fabric)) = &self.fabric {
            let right = self.ports[1].agrees_with(fabric.baud());
            let said: Vec<u8> = fabric.take().into_iter().map(|byte| on_line(byte, right)).collect();
            self.ports[1].channel.push(&said);
        }
        !self.handle.0.unplugged.load(Ordering::Relaxed)
    }
}

/// A byte as it arrives: at a wrong rate nothing arrives as it was sent.
fn on_line(byte: u8, right: bool) -> u8 {
    if right { byte } else { !byte.rotate_left(1) }
}

/// A configuration with two vendor-specific interfaces of two bulk endpoints each.
fn configuration() -> Vec<u8> {
    let mut bytes = vec![9, 2, 55, 0, 2, 1, 0, 0x80, 250];
    for interface in 0..2u8 {
        bytes.extend([9, 4, interface, 0, 2, 0xFF, 0xFF, 0xFF, 2]);
        bytes.extend([7, 5, 0x81 + 2 * interface, 2, 0, 2, 0]);
        bytes.extend([7, 5, 0x02 + 2 * interface, 2, 0, 2, 0]);
    }
    bytes
}

fn string(text: &str) -> Vec<u8> {
    let mut bytes = vec![0, 3];
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes[0] = bytes.len() as u8;
    bytes
}
