//! Bulk transfers to and from a port of an FTDI chip, several at a time.

use crate::ftdi::{Port, failed};
use crate::link::LinkError;
use nusb::descriptors::TransferType;
use nusb::transfer::{
    Buffer, Bulk, BulkOrInterrupt, Completion, Direction, EndpointDirection, In, Out, TransferError,
};
use nusb::{Endpoint, MaybeFuture};
use std::collections::VecDeque;
use std::time::Duration;

/// Transfers that wait for the chip at any time.
const WAITING: usize = 4;

/// Bytes of each, a multiple of any packet.
const READ: usize = 4096;

/// Transfers on their way to the chip at any time.
const SENDING: usize = 4;

/// Bytes of each at most: a packet, so that little is on its way when the board asks for something again.
const WRITE: usize = 512;

/// Status bytes that the chip puts before the data of every packet.
const STATUS: usize = 2;

/// Halts in a row that are cleared before the chip is given up.
const MOST_HALTS: u32 = 3;

/// Time for transfers that were given up to come back.
const GIVEN_UP: Duration = Duration::from_secs(1);

/// Both directions of a port.
pub(super) struct Pipe {
    input: Endpoint<Bulk, In>,
    output: Endpoint<Bulk, Out>,
    /// Dropped last: with it the interface goes back to the kernel.
    port: Port,
    packet: usize,
    /// Halts since bytes last passed.
    halts: u32,
}

impl Pipe {
    pub(super) fn new(port: Port) -> Result<Self, LinkError> {
        let missing = || LinkError::Unsupported {
            link: port.name().to_owned(),
            why: "its interface lacks a bulk endpoint each way: it is no UART of FTDI's".to_owned(),
        };
        let descriptor = port.interface().descriptor().ok_or_else(missing)?;
        let address = |direction| {
            let bulk =
                descriptor.endpoints().filter(|endpoint| endpoint.transfer_type() == TransferType::Bulk);
            bulk.map(|endpoint| (endpoint.direction(), endpoint.address()))
                .find_map(|(way, address)| (way == direction).then_some(address))
                .ok_or_else(missing)
        };
        let mut input = port.interface().endpoint(address(Direction::In)?).map_err(|_| missing())?;
        let output = port.interface().endpoint(address(Direction::Out)?).map_err(|_| missing())?;
        (0..WAITING).for_each(|_| input.submit(Buffer::new(READ)));
        let packet = input.max_packet_size();
        Ok(Self { input, output, port, packet, halts: 0 })
    }

    /// The control side of the port.
    pub(super) fn port(&self) -> &Port {
        &self.port
    }

    /// Hands bytes to the chip, as many as may be on their way; gives their number.
    pub(super) fn send(&mut self, bytes: &mut VecDeque<u8>) -> Result<usize, LinkError> {
        while self.output.pending() > 0 {
            let Some(Completion { status, .. }) = self.output.wait_next_complete(Duration::ZERO) else {
                break;
            };
            match status {
                Ok(()) => {}
                // What was in it is lost, as on a bad line; the session notices.
                Err(TransferError::Stall) => self.clear_output()?,
                Err(error) => return Err(failed(self.port.name(), "writing", error)),
            }
        }
        let mut sent = 0;
        while self.output.pending() < SENDING && !bytes.is_empty() {
            let piece = WRITE.min(bytes.len());
            self.output.submit(bytes.drain(..piece).collect::<Vec<u8>>().into());
            sent += piece;
        }
        Ok(sent)
    }

    /// Takes what has arrived; if that is nothing, waits for one transfer. The chip ends one at least once in the period of
    /// its latency timer.
    pub(super) fn receive(&mut self, to: &mut Vec<u8>, mut wait: Duration) -> Result<(), LinkError> {
        while let Some(completion) = self.input.wait_next_complete(wait) {
            match completion.status {
                Ok(()) => {
                    let packets = completion.buffer[..completion.actual_len].chunks(self.packet);
                    let before = to.len();
                    packets.for_each(|packet| to.extend(packet.get(STATUS..).unwrap_or_default()));
                    if to.len() > before {
                        self.halts = 0;
                    }
                    let mut again = completion.buffer;
                    again.clear();
                    self.input.submit(again);
                }
                Err(TransferError::Stall) => self.clear_input()?,
                Err(error) => return Err(failed(self.port.name(), "reading", error)),
            }
            wait = Duration::ZERO;
        }
        Ok(())
    }

    fn clear_input(&mut self) -> Result<(), LinkError> {
        self.note_halt("reading")?;
        clear(&mut self.input, self.port.name())?;
        (0..WAITING).for_each(|_| self.input.submit(Buffer::new(READ)));
        Ok(())
    }

    fn clear_output(&mut self) -> Result<(), LinkError> {
        self.note_halt("writing")?;
        clear(&mut self.output, self.port.name())
    }

    fn note_halt(&mut self, doing: &'static str) -> Result<(), LinkError> {
        self.halts += 1;
        if self.halts > MOST_HALTS {
            return Err(failed(self.port.name(), doing, TransferError::Stall));
        }
        Ok(())
    }
}

/// Takes back all transfers of a halted endpoint, and clears the halt.
fn clear<D: EndpointDirection>(endpoint: &mut Endpoint<Bulk, D>, name: &str) -> Result<(), LinkError>
where
    Bulk: BulkOrInterrupt,
{
    let doing = "clearing a halted endpoint";
    endpoint.cancel_all();
    while endpoint.pending() > 0 {
        match endpoint.wait_next_complete(GIVEN_UP) {
            Some(Completion { status: Err(error @ TransferError::Disconnected), .. }) => {
                return Err(failed(name, doing, error));
            }
            Some(_) => {}
            None => return Err(failed(name, doing, TransferError::Fault)),
        }
    }
    let cleared = endpoint.clear_halt().wait();
    cleared.map_err(|error| LinkError::Io { port: name.to_owned(), doing, source: error.into() })
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // Gone already, or left as it is found at power-up: a serial port, its buffers empty.
        let _gone = self.port.reset();
    }
}
