//! The link `software`: no gateware at all, but the software backend behind a model of the board's side of the wire.

mod board;
mod executor;

pub use board::Board;

use super::{Level, Link, LinkError, TimeBase, Unit};
use std::collections::VecDeque;
use systole_hdl::wire::Identity;

/// Bytes moved in each direction by one poll.
const BURST: usize = 256;

/// Time of a byte in this link's own count, in cycles: a UART at 8 clocks a bit.
const BYTE: u64 = 80;

/// Time of a poll that moves nothing. Nothing will move by waiting, so deadlines may come soon.
const IDLE: u64 = 100 * BYTE;

/// A board in software.
pub struct SoftwareLink {
    board: Board,
    now: u64,
}

impl SoftwareLink {
    /// A board that answers with `identity` and computes with its parameters.
    pub fn new(identity: Identity) -> Self {
        Self { board: Board::new(identity), now: 0 }
    }

    /// The board, to look at it or to disturb it.
    pub fn board(&mut self) -> &mut Board {
        &mut self.board
    }
}

impl Link for SoftwareLink {
    fn level(&self) -> Level {
        Level::Software
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        let taken = to_board.len().min(BURST);
        for byte in to_board.drain(..taken) {
            self.board.receive(byte);
        }
        let worked = self.board.work()?;
        let given = self.board.send(BURST, from_board);
        let moved = taken.max(given) as u64;
        self.now += if moved > 0 || worked { moved * BYTE } else { IDLE };
        Ok(())
    }

    fn time(&self) -> TimeBase {
        TimeBase { unit: Unit::Cycles, byte: BYTE, latency: IDLE }
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn cycles(&self) -> Option<u64> {
        None
    }
}
