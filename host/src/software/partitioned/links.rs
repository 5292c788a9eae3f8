//! The links that lead into a tile.

/// What the links into one side of a tile are going to carry: tick after tick, and in a tick one entry a lane.
///
/// A link between two tiles is a register: what leaves a tile on one tick enters the next on the tick after. So it
/// always holds one tick's entries, and more while the tile that it leads into is behind. A link from the boundary
/// holds what has been injected and not read.
#[derive(Clone, Debug)]
pub(super) struct Links<T> {
    lanes: usize,
    pub(super) entries: Vec<Option<T>>,
    /// Entries there are after a clear.
    registers: usize,
}

impl<T: Clone> Links<T> {
    /// Links from the boundary.
    pub(super) fn boundary(lanes: usize) -> Self {
        Self { lanes, entries: Vec::new(), registers: 0 }
    }

    /// Links from the neighbour.
    pub(super) fn between(lanes: usize) -> Self {
        Self { lanes, entries: vec![None; lanes], registers: lanes }
    }

    /// As after a reset.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.entries.resize(self.registers, None);
    }

    /// Moves the entries of the next ticks to where the tile sees them.
    pub(super) fn read(&mut self, ticks: usize, seen: &mut Vec<Option<T>>) {
        seen.clear();
        if self.entries.len() == ticks * self.lanes {
            std::mem::swap(&mut self.entries, seen);
        } else {
            seen.extend(self.entries.drain(..ticks * self.lanes));
        }
    }

    /// Takes what the neighbour gave.
    pub(super) fn write(&mut self, left: &mut Vec<Option<T>>) {
        self.entries.append(left);
    }
}
