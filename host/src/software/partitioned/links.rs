//! The links that lead into a tile.

use std::ops::Range;

/// Entries of a boundary link's side that are taken from the streams at once: about what a small cache holds.
const AHEAD: usize = 512;

/// What the links into one side of a tile are going to carry: tick after tick, and in a tick one entry a lane.
///
/// A link between two tiles is a register: what leaves a tile on one tick enters the next on the tick after. So it
/// always holds one tick's entries, and more while the tile that it leads into is behind. A link from the boundary
/// holds what has been injected and not read.
#[derive(Clone, Debug)]
pub(super) struct Links<T> {
    lanes: usize,
    entries: Vec<Option<T>>,
    /// Entries at the front that have been read.
    gone: usize,
    /// Ticks of a run that have been injected; `None` for links between tiles.
    injected: Option<u64>,
}

impl<T: Clone> Links<T> {
    /// Links from the boundary.
    pub(super) fn boundary(lanes: usize) -> Self {
        Self { lanes, entries: Vec::new(), gone: 0, injected: Some(0) }
    }

    /// Links from the neighbour.
    pub(super) fn between(lanes: usize) -> Self {
        Self { lanes, entries: vec![None; lanes], gone: 0, injected: None }
    }

    /// As after a reset.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.gone = 0;
        if self.injected.is_none() {
            self.entries.resize(self.lanes, None);
        }
    }

    /// Before a run: nothing of its streams has been injected.
    pub(super) fn begin(&mut self) {
        if let Some(injected) = &mut self.injected {
            *injected = 0;
            self.entries.clear();
            self.gone = 0;
        }
    }

    /// Lets in from the boundary what the next `ticks` need, if it is not there yet, of a run that ends at `end`.
    /// `stream` appends what the streams present on some edges of the run.
    pub(super) fn inject(
        &mut self,
        ticks: u64,
        end: u64,
        stream: impl FnOnce(Range<usize>, &mut Vec<Option<T>>),
    ) {
        let held = self.entries.len() - self.gone;
        let Some(injected) = &mut self.injected else { return };
        if held as u64 >= ticks * self.lanes as u64 {
            return;
        }
        let until = end.min(*injected + ticks.max((AHEAD / self.lanes) as u64));
        stream(*injected as usize..until as usize, &mut self.entries);
        *injected = until;
    }

    /// Moves the entries of the next ticks to where the tile sees them.
    pub(super) fn read(&mut self, ticks: u64, seen: &mut Vec<Option<T>>) {
        let ahead = self.gone + ticks as usize * self.lanes;
        seen.clear();
        seen.extend_from_slice(&self.entries[self.gone..ahead]);
        self.gone = ahead;
        if ahead == self.entries.len() {
            self.entries.clear();
            self.gone = 0;
        }
    }

    /// Takes what the neighbour gave.
    pub(super) fn write(&mut self, left: &mut Vec<Option<T>>) {
        self.entries.append(left);
    }
}
