//! What a USB device does, seen from the wire.

use std::time::Instant;

/// A control request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Direction, kind and recipient.
    pub kind: u8,
    /// What is asked for.
    pub request: u8,
    /// Its first word.
    pub value: u16,
    /// Its second word.
    pub index: u16,
    /// Most bytes of the answer.
    pub length: u16,
}

impl Setup {
    /// From the eight bytes on the wire.
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self { kind: bytes[0], request: bytes[1], value: word(2), index: word(4), length: word(6) }
    }
}

/// A request that the device refuses, or an endpoint that is halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall;

/// A USB device.
pub trait Device: Send {
    /// Answers a control request.
    ///
    /// # Errors
    /// It is none that the device knows.
    fn control(&mut self, setup: &Setup) -> Result<Vec<u8>, Stall>;

    /// Whether an endpoint takes more now.
    fn has_room(&self, endpoint: u8) -> bool;

    /// Takes what was sent to an endpoint.
    ///
    /// # Errors
    /// The endpoint is halted.
    fn write(&mut self, endpoint: u8, data: &[u8]) -> Result<(), Stall>;

    /// What an endpoint sends into a buffer of `most` bytes; `None` while it has nothing to say.
    ///
    /// # Errors
    /// The endpoint is halted.
    fn read(&mut self, endpoint: u8, most: usize, now: Instant) -> Result<Option<Vec<u8>>, Stall>;

    /// When an endpoint may have something to say without being asked anything.
    fn wakes_at(&self) -> Instant;

    /// Does what goes on inside; says whether the device is still plugged in.
    fn work(&mut self) -> bool;
}
