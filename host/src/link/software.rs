//! The link `software`: no gateware at all, but the software backend behind a model of the board's side of the wire.

mod board;
mod executor;

pub use board::Board;

use super::target::{Asked, Kind, Opened, Read, Target, no_details};
use super::{Level, Link, LinkError, TimeBase};
use crate::error::Error;
use std::collections::VecDeque;
use std::sync::Arc;
use systole_firmware::design::Design;
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{Identity, Origin};

pub(super) const KIND: Kind =
    Kind { name: "software", form: "software", about: "no gateware: the software backend alone", read };

/// A model of a board of the design that is asked for.
#[derive(Debug)]
struct Software;

fn read(details: Option<&str>) -> Read {
    no_details(details)?;
    Ok(Arc::new(Software))
}

impl Target for Software {
    fn open(&self, asked: Asked<'_>) -> Result<Opened, Error> {
        let design = Design::new(asked(&Parameters::DEFAULT))?;
        Ok(Opened::new(SoftwareLink::new(design.identity(Origin::Simulated))))
    }
}

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

    /// Whether nothing is queued or on its way out.
    pub fn is_idle(&self) -> bool {
        self.board.is_idle()
    }
}

impl Link for SoftwareLink {
    fn level(&self, _origin: Origin) -> Level {
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
        TimeBase::of_simulation(BYTE, IDLE)
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn cycles(&self) -> Option<u64> {
        None
    }
}
