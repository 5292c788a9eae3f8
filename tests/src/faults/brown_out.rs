//! A board that loses power for a moment in the middle of a job.

use crate::links::clock_of_inner;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeSet, VecDeque};
use systole::link::sim::SimLink;
use systole::link::{Level, Link, LinkError};
use systole::virtual_board::Device;
use systole_hdl::sim;
use systole_hdl::wire::Origin;

/// The simulated gateware, reset at chosen moments while a job runs.
pub struct BrownOut {
    inner: SimLink,
    /// Polls that found a job running.
    busy: u64,
    /// Those of them at which the core is reset.
    moments: BTreeSet<u64>,
    injected: u64,
}

impl BrownOut {
    /// Resets a core `resets` times at random moments of the first `busy` that find a job running.
    pub fn new(inner: SimLink, resets: u32, busy: u64, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let moments = (0..resets).map(|_| rng.random_range(1..=busy)).collect();
        Self { inner, busy: 0, moments, injected: 0 }
    }

    /// Moments that found a job running.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Resets so far.
    pub fn injected(&self) -> u64 {
        self.injected
    }
}

impl Link for BrownOut {
    fn level(&self, origin: Origin) -> Level {
        self.inner.level(origin)
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        let core = self.inner.core();
        if core.busy.val() {
            self.busy += 1;
            if self.moments.remove(&self.busy) {
                core.reset.next = true;
                sim::edge(core);
                core.reset.next = false;
                self.injected += 1;
            }
        }
        self.inner.poll(to_board, from_board)
    }

    clock_of_inner!();
}

impl Device for BrownOut {
    fn is_idle(&self) -> bool {
        self.inner.is_idle()
    }
}
