//! Links: byte pipes to a board or to what stands for one.

pub mod auto;
mod error;
mod level;
mod rates;
pub mod serial;
pub mod sim;
pub mod software;
pub mod target;
mod usb;
mod way;

pub use error::{LinkError, TOLERANCE_PERCENT};
pub use level::Level;

use std::collections::VecDeque;
use systole_hdl::wire::Origin;

/// The time by which a link's deadlines are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBase {
    /// What [`Link::now`] counts.
    pub unit: Unit,
    /// Time of one byte on the wire, in units.
    pub byte: u64,
    /// Time that bytes may spend between the ends, in units.
    pub latency: u64,
    /// Time that the other end may take besides to answer its first HELLO, in units: none for an FPGA, plenty for a
    /// simulation whose speed nobody knows yet.
    pub patience: u64,
    /// How many times slower than its clock says the other end computes.
    pub slowness: u64,
}

/// What a link's time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Clock cycles of a simulation that the host drives: a slow machine misses no deadline.
    Cycles,
    /// Nanoseconds of wall time.
    Nanoseconds,
}

impl Unit {
    /// A time for people.
    pub fn text(self, time: u64) -> String {
        match self {
            Self::Cycles => format!("{time} cycles"),
            Self::Nanoseconds => format!("{:.3} s", time as f64 / 1e9),
        }
    }
}

impl TimeBase {
    /// The time of a simulation that the host clocks, in cycles.
    pub const fn of_simulation(byte: u64, latency: u64) -> Self {
        Self { unit: Unit::Cycles, byte, latency, patience: 0, slowness: 1 }
    }

    /// Units that a number of the board's clock cycles take, at `clock_hz`.
    pub fn of_cycles(&self, cycles: u64, clock_hz: u32) -> u64 {
        match self.unit {
            Unit::Cycles => cycles,
            Unit::Nanoseconds => {
                let nanoseconds = u128::from(cycles) * 1_000_000_000 / u128::from(clock_hz.max(1));
                u64::try_from(nanoseconds).unwrap_or(u64::MAX)
            }
        }
    }
}

/// A byte pipe in both directions.
pub trait Link {
    /// How real the other end is, given what it says of its origin.
    fn level(&self, origin: Origin) -> Level;

    /// Moves bytes: takes some from the front of `to_board`, appends what has arrived to `from_board`.
    ///
    /// Returns as soon as something has arrived, else after a short while.
    ///
    /// # Errors
    /// [`LinkError`] when the link is of no more use.
    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError>;

    /// The time that deadlines are measured in.
    fn time(&self) -> TimeBase;

    /// Time since the link was made.
    fn now(&self) -> u64;

    /// Clock cycles of the gateware since the link was made; `None` where nobody counts them.
    fn cycles(&self) -> Option<u64>;

    /// The rate of the UART in bits a second, where the host has one.
    fn rate(&self) -> Option<u32> {
        None
    }

    /// Changes to the next rate that the board may have; whether there was one left to try.
    ///
    /// # Errors
    /// [`LinkError`] when the link is of no more use.
    fn next_rate(&mut self) -> Result<bool, LinkError> {
        Ok(false)
    }
}

impl<L: Link + ?Sized> Link for Box<L> {
    fn level(&self, origin: Origin) -> Level {
        (**self).level(origin)
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        (**self).poll(to_board, from_board)
    }

    fn time(&self) -> TimeBase {
        (**self).time()
    }

    fn now(&self) -> u64 {
        (**self).now()
    }

    fn cycles(&self) -> Option<u64> {
        (**self).cycles()
    }

    fn rate(&self) -> Option<u32> {
        (**self).rate()
    }

    fn next_rate(&mut self) -> Result<bool, LinkError> {
        (**self).next_rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_in_either_unit() {
        let base = |unit| TimeBase { unit, byte: 1, latency: 0, patience: 0, slowness: 1 };
        assert_eq!(base(Unit::Cycles).of_cycles(240, 24_000_000), 240);
        assert_eq!(base(Unit::Nanoseconds).of_cycles(240, 24_000_000), 10_000);
        assert_eq!(Unit::Cycles.text(1500), "1500 cycles");
        assert_eq!(Unit::Nanoseconds.text(1_500_000_000), "1.500 s");
    }
}
