//! Which ticks a tile executes between two barriers.

use std::ops::Range;

/// A run cut into supersteps, each of which ends with a barrier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// First tick of the run.
    start: u64,
    /// The tick after its last.
    end: u64,
    /// Ticks of a superstep.
    superstep: u64,
    /// Supersteps that the last tile is behind the first.
    behind: u64,
}

impl Pace {
    /// A run of `ticks` from tick `start` on, over tiles in so many rows and columns.
    ///
    /// With one tick between barriers all tiles execute the same tick. With more, what a tile needs for its second
    /// tick has only been computed once its neighbours to the west and the north are through with their first: each
    /// is one superstep behind these neighbours.
    pub(super) fn new(start: u64, ticks: u64, superstep: u64, tile_rows: usize, tile_columns: usize) -> Self {
        let superstep = superstep.min(ticks);
        let behind = if superstep > 1 { (tile_rows + tile_columns - 2) as u64 } else { 0 };
        Self { start, end: start.saturating_add(ticks), superstep, behind }
    }

    /// Ticks of the run.
    pub(super) fn length(&self) -> u64 {
        self.end - self.start
    }

    /// How many supersteps the run takes.
    pub(super) fn supersteps(&self) -> u64 {
        self.length().div_ceil(self.superstep) + self.behind
    }

    /// The ticks that a tile executes in a superstep, `hops` being its distance in tiles from the first tile.
    pub(super) fn ticks(&self, superstep: u64, hops: usize) -> Range<u64> {
        let behind = (hops as u64).min(self.behind);
        let Some(nth) = superstep.checked_sub(behind) else { return self.start..self.start };
        let at = |nth: u64| self.start.saturating_add(nth.saturating_mul(self.superstep)).min(self.end);
        at(nth)..at(nth.saturating_add(1))
    }

    /// Whether after a superstep no tile has a tick up to `tick` still to execute.
    pub(super) fn is_past(&self, superstep: u64, tick: u64) -> bool {
        self.ticks(superstep, self.behind as usize).end > tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_executes_every_tick_once() {
        // 10 ticks from tick 5 on, by 4, on 2×3 tiles: the last tile is 1 + 2 supersteps behind.
        let pace = Pace::new(5, 10, 4, 2, 3);
        assert_eq!(pace.supersteps(), 3 + 3);
        let of = |hops| (0..6).map(|superstep| pace.ticks(superstep, hops)).collect::<Vec<_>>();
        assert_eq!(of(0), [5..9, 9..13, 13..15, 15..15, 15..15, 15..15]);
        assert_eq!(of(3), [5..5, 5..5, 5..5, 5..9, 9..13, 13..15]);
        assert!(!pace.is_past(4, 13) && pace.is_past(5, 13));
        // One tick a barrier: all at once.
        let pace = Pace::new(0, 2, 1, 2, 3);
        assert_eq!((pace.supersteps(), pace.ticks(1, 0), pace.ticks(1, 3)), (2, 1..2, 1..2));
        assert!(pace.is_past(1, 1));
    }
}
