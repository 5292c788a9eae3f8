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
    /// Links from the boundary, or from the neighbour.
    pub(super) fn new(boundary: bool, lanes: usize) -> Self {
        let entries = if boundary { Vec::new() } else { vec![None; lanes] };
        Self { lanes, entries, gone: 0, injected: boundary.then_some(0) }
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
        let Some(injected) = self.injected else { return };
        if held as u64 >= ticks * self.lanes as u64 {
            return;
        }
        self.forget();
        let until = end.min(injected + ticks.max((AHEAD / self.lanes) as u64));
        stream(injected as usize..until as usize, &mut self.entries);
        self.injected = Some(until);
    }

    /// The entries of the next tick.
    pub(super) fn read(&mut self) -> &[Option<T>] {
        let seen = self.gone..self.gone + self.lanes;
        self.gone = seen.end;
        &self.entries[seen]
    }

    /// Takes what the neighbour gave.
    pub(super) fn write(&mut self, left: &mut Vec<Option<T>>) {
        self.forget();
        self.entries.append(left);
    }

    /// Makes room: drops what has been read.
    fn forget(&mut self) {
        self.entries.drain(..self.gone);
        self.gone = 0;
    }
}
