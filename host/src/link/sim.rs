//! The link `sim`: the gateware itself, simulated in rust-hdl, clocked by the host.

use super::target::{Asked, Kind, Opened, Read, Target, no_details};
use super::{Level, Link, LinkError, TimeBase};
use crate::error::Error;
use std::collections::VecDeque;
use std::sync::Arc;
use systole_firmware::design::Design;
use systole_hdl::core::Core;
use systole_hdl::parameters::Parameters;
use systole_hdl::sim;
use systole_hdl::wire::{Identity, Origin};

pub(super) const KIND: Kind =
    Kind { name: "sim", form: "sim", about: "the gateware, simulated in rust-hdl; the default", read };

/// A core of the design that is asked for.
#[derive(Debug)]
struct Sim;

fn read(details: Option<&str>) -> Read {
    no_details(details)?;
    Ok(Arc::new(Sim))
}

impl Target for Sim {
    fn open(&self, asked: Asked<'_>) -> Result<Opened, Error> {
        let design = Design::new(asked(&Parameters::DEFAULT))?;
        Ok(Opened::new(SimLink::new(&design.identity(Origin::Simulated), None)))
    }
}

/// Most clock cycles of one poll.
const BURST: u64 = 2000;

/// Cycles that deadlines allow for a byte on an unpaced link: more than the core ever takes.
const UNPACED_BYTE: u64 = 80;

/// The core of a design, with a byte offered and taken as often as the pace allows.
pub struct SimLink {
    core: Core,
    cycles: u64,
    pace: Option<u32>,
    /// Cycle from which another byte may go in.
    next_in: u64,
    /// Cycle from which another byte may come out.
    next_out: u64,
}

impl SimLink {
    /// A core fresh from power-up. `pace` is the number of clock cycles that a byte takes on the wire, in each
    /// direction; without one, bytes pass as fast as the core takes and gives them.
    pub fn new(identity: &Identity, pace: Option<u32>) -> Self {
        let core = Core::new(&identity.parameters, Origin::Simulated, identity.design_hash);
        Self { core: sim::power_up(core), cycles: 0, pace, next_in: 0, next_out: 0 }
    }

    /// The core, to look at it or to disturb it between polls.
    pub fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    /// Whether nothing is queued, running or on its way out.
    pub fn is_idle(&self) -> bool {
        self.core.idle.val()
    }

    /// Takes one clock edge with what is offered; says whether a byte was taken, and gives the byte that came.
    fn edge(&mut self, offered: Option<u8>) -> (bool, Option<u8>) {
        let wait = u64::from(self.pace.unwrap_or(1));
        let offered = offered.filter(|_| self.cycles >= self.next_in);
        self.core.rx_valid.next = offered.is_some();
        self.core.rx_data.next = usize::from(offered.unwrap_or(0)).into();
        self.core.tx_ready.next = self.cycles >= self.next_out;
        sim::settle(&mut self.core);
        let taken = offered.is_some() && self.core.rx_ready.val();
        let given = self.core.tx_valid.val() && self.core.tx_ready.val();
        let byte = given.then(|| self.core.tx_data.val().get() as u8);
        sim::edge(&mut self.core);
        if taken {
            self.next_in = self.cycles + wait;
        }
        if given {
            self.next_out = self.cycles + wait;
        }
        self.cycles += 1;
        (taken, byte)
    }
}

impl Link for SimLink {
    fn level(&self, _origin: Origin) -> Level {
        Level::RustHdl
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        for _ in 0..BURST {
            let had_bytes = !to_board.is_empty();
            let (taken, byte) = self.edge(to_board.front().copied());
            if taken {
                to_board.pop_front();
            }
            from_board.extend(byte);
            // The host may have more to say once its last byte is taken, and it may want to answer.
            if byte.is_some() || (had_bytes && to_board.is_empty()) {
                break;
            }
        }
        Ok(())
    }

    fn time(&self) -> TimeBase {
        let byte = self.pace.map_or(UNPACED_BYTE, u64::from);
        TimeBase::of_simulation(byte, BURST)
    }

    fn now(&self) -> u64 {
        self.cycles
    }

    fn cycles(&self) -> Option<u64> {
        Some(self.cycles)
    }
}
