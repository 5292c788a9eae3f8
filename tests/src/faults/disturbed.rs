//! A link on which bytes are lost, changed, repeated, invented and held up, both ways, reproducibly.

use crate::links::clock_of_inner;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use systole::link::{Level, Link, LinkError};
use systole_hdl::wire::Origin;

/// What becomes of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// It is lost.
    Drop,
    /// One of its bits is inverted.
    Flip,
    /// It comes twice.
    Duplicate,
    /// Another comes behind it.
    Insert,
    /// What follows is held up for a while, shorter than any deadline.
    Delay,
    /// What follows is held up for longer than a deadline.
    Stall,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Drop, Self::Flip, Self::Duplicate, Self::Insert, Self::Delay, Self::Stall];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Flip => "flip",
            Self::Duplicate => "duplicate",
            Self::Insert => "insert",
            Self::Delay => "delay",
            Self::Stall => "stall",
        }
    }
}

/// Byte times of a delay.
const DELAY: u64 = 20;

/// Byte times and link latencies of a stall: longer than a deadline when little is in flight, also that of a host which a
/// busy machine has made patient; shorter than all retries.
const STALL: (u64, u64) = (1000, 16);

/// Byte times after which a product counts as hanging.
const WATCHDOG: u64 = 10_000_000;

/// Bytes of one direction on their way.
#[derive(Default)]
struct Lane {
    held: VecDeque<u8>,
    /// Link time before which nothing more passes.
    until: u64,
}

/// A link with faults of one kind.
pub struct Disturbed<L> {
    inner: L,
    fault: Fault,
    /// Chance of a byte to suffer.
    rate: f64,
    rng: ChaCha8Rng,
    to_board: Lane,
    from_board: Lane,
    queue: VecDeque<u8>,
    injected: u64,
}

impl<L: Link> Disturbed<L> {
    /// Disturbs bytes of a link at this rate, each way.
    pub fn new(inner: L, fault: Fault, rate: f64, seed: u64) -> Self {
        Self {
            inner,
            fault,
            rate,
            rng: ChaCha8Rng::seed_from_u64(seed),
            to_board: Lane::default(),
            from_board: Lane::default(),
            queue: VecDeque::new(),
            injected: 0,
        }
    }

    /// Faults so far.
    pub fn injected(&self) -> u64 {
        self.injected
    }

    /// The bytes of a lane that pass now.
    fn pass(&mut self, lane: &mut Lane) -> Vec<u8> {
        let (now, time) = (self.inner.now(), self.inner.time());
        let mut out = Vec::new();
        while now >= lane.until {
            let Some(byte) = lane.held.pop_front() else { break };
            if !self.rng.random_bool(self.rate) {
                out.push(byte);
                continue;
            }
            self.injected += 1;
            match self.fault {
                Fault::Drop => {}
                Fault::Flip => out.push(byte ^ 1 << self.rng.random_range(0..8)),
                Fault::Duplicate => out.extend([byte, byte]),
                Fault::Insert => out.extend([byte, self.rng.random()]),
                Fault::Delay => {
                    out.push(byte);
                    lane.until = now + DELAY * time.byte;
                }
                Fault::Stall => {
                    out.push(byte);
                    lane.until = now + STALL.0 * time.byte + STALL.1 * time.latency;
                }
            }
        }
        out
    }
}

impl<L: Link> Link for Disturbed<L> {
    fn level(&self, origin: Origin) -> Level {
        self.inner.level(origin)
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        let spent = self.inner.now() / self.inner.time().byte;
        assert!(spent < WATCHDOG, "a product with {} faults of kind {:?} hangs", self.injected, self.fault);
        let mut lane = std::mem::take(&mut self.to_board);
        lane.held.extend(to_board.drain(..));
        let passed = self.pass(&mut lane);
        self.queue.extend(passed);
        self.to_board = lane;
        let mut inbox = Vec::new();
        self.inner.poll(&mut self.queue, &mut inbox)?;
        let mut lane = std::mem::take(&mut self.from_board);
        lane.held.extend(inbox);
        from_board.extend(self.pass(&mut lane));
        self.from_board = lane;
        Ok(())
    }

    clock_of_inner!();
}
