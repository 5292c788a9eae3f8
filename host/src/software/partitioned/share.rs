//! What one thread computes between two barriers: tiles at their places.

use crate::software::tile::{Connected, Tile};
use crate::software::trace::Event;
use crate::software::{Outputs, Pe, SoftwareError};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A PE that panicked.
pub(super) struct Fault {
    pub(super) tick: u64,
    pub(super) row: usize,
    pub(super) column: usize,
    message: String,
}

impl Fault {
    /// The earliest tick, and in a tick the lowest coordinate.
    pub(super) fn order(&self) -> (u64, usize, usize) {
        (self.tick, self.row, self.column)
    }
}

impl From<Fault> for SoftwareError {
    fn from(Fault { tick, row, column, message }: Fault) -> Self {
        Self::Panicked { row, column, tick, message }
    }
}

/// A portion of the tiles, and what happened to them.
pub(super) struct Share<P: Pe> {
    pub(super) pe: P,
    pub(super) tiles: Vec<Placed<P>>,
    /// Whether events are wanted.
    pub(super) trace: bool,
    /// First fault of the last superstep.
    pub(super) fault: Option<Fault>,
}

impl<P: Pe> Share<P> {
    pub(super) fn new(pe: P, tiles: Vec<Placed<P>>) -> Self {
        Self { pe, tiles, trace: false, fault: None }
    }

    /// Dispatch: every tile executes its ticks on what it has read. A PE that panics becomes a fault; the thread
    /// lives on.
    pub(super) fn step(&mut self) {
        let Self { pe, tiles, trace, fault } = self;
        for placed in tiles.iter_mut().filter(|placed| !placed.faulty) {
            let stepped = catch_unwind(AssertUnwindSafe(|| placed.step(pe, *trace)));
            if let Err(panic) = stepped {
                placed.faulty = true;
                let (row, column) = placed.tile.at();
                let (row, column) = (placed.row + row, placed.column + column);
                let found = Fault { tick: placed.now, row, column, message: message(panic.as_ref()) };
                if fault.as_ref().is_none_or(|known| found.order() < known.order()) {
                    *fault = Some(found);
                }
            }
        }
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

/// A tile, where it is, what it sees and what it gives in a superstep.
pub(super) struct Placed<P: Pe> {
    pub(super) tile: P::Tile,
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) size: [usize; 2],
    pub(super) connected: Connected,
    /// Ticks to execute.
    pub(super) ticks: Range<u64>,
    /// What enters from the west and from the north: tick after tick, an entry a row, an entry a column.
    pub(super) west: Vec<Option<P::Token>>,
    pub(super) north: Vec<Option<P::Token>>,
    /// What leaves to the east and to the south, where there is a tile.
    pub(super) east: Option<Vec<Option<P::Token>>>,
    pub(super) south: Option<Vec<Option<P::Token>>>,
    /// Events, tick after tick, in a tick row by row.
    pub(super) events: Vec<Event<P>>,
    /// States of single PEs after a clear, by their coordinates in the array.
    pub(super) starts: Vec<((usize, usize), P::State)>,
    /// The tick being executed.
    now: u64,
    /// Whether a PE has panicked: until a clear nothing moves here any more.
    pub(super) faulty: bool,
}

impl<P: Pe> Placed<P> {
    pub(super) fn new(pe: &P, [row, column]: [usize; 2], size: [usize; 2], connected: Connected) -> Self {
        Self {
            tile: P::Tile::new(pe, size[0], size[1], connected),
            row,
            column,
            size,
            connected,
            ticks: 0..0,
            west: Vec::new(),
            north: Vec::new(),
            east: None,
            south: None,
            events: Vec::new(),
            starts: Vec::new(),
            now: 0,
            faulty: false,
        }
    }

    /// As after a reset.
    pub(super) fn clear(&mut self, pe: &P) {
        self.tile.clear(pe);
        self.start();
        self.east.iter_mut().chain(&mut self.south).for_each(Vec::clear);
        self.events.clear();
        self.faulty = false;
    }

    /// Puts PEs that have a state of their own to start from into it.
    pub(super) fn start(&mut self) {
        for ((row, column), state) in &self.starts {
            self.tile.set_state(row - self.row, column - self.column, state.clone());
        }
    }

    /// How many ticks to execute.
    pub(super) fn count(&self) -> u64 {
        self.ticks.end - self.ticks.start
    }

    /// Rows of the array that the tile covers.
    pub(super) fn rows(&self) -> Range<usize> {
        self.row..self.row + self.size[0]
    }

    /// Columns of the array that the tile covers.
    pub(super) fn columns(&self) -> Range<usize> {
        self.column..self.column + self.size[1]
    }

    /// Coordinates inside the tile, row-major.
    pub(super) fn coordinates(&self) -> impl Iterator<Item = (usize, usize)> + use<P> {
        let [height, width] = self.size;
        (0..height).flat_map(move |row| (0..width).map(move |column| (row, column)))
    }

    fn step(&mut self, pe: &P, trace: bool) {
        let [height, width] = self.size;
        self.now = self.ticks.start;
        let (west, north) = (std::mem::take(&mut self.west), std::mem::take(&mut self.north));
        for (west, north) in west.chunks_exact(height).zip(north.chunks_exact(width)) {
            self.tile.read(west, north);
            if trace {
                self.step_traced(pe);
            } else {
                self.tile.step(pe);
            }
            self.leave();
            self.now += 1;
        }
        (self.west, self.north) = (west, north);
    }

    fn step_traced(&mut self, pe: &P) {
        let (tick, first) = (self.now, self.events.len());
        for (row, column) in self.coordinates() {
            let (inputs, before) = (self.tile.inputs(row, column), self.tile.state(row, column));
            // What it gives and where it ends is filled in after the step.
            let (outputs, after) = (Outputs { east: None, south: None, raised: None }, before.clone());
            let (row, column) = (self.row + row, self.column + column);
            self.events.push(Event { tick, row, column, inputs, outputs, before, after });
        }
        self.tile.step(pe);
        for ((row, column), event) in self.coordinates().zip(&mut self.events[first..]) {
            event.outputs = self.tile.outputs(row, column);
            event.after = self.tile.state(row, column);
        }
    }

    /// Keeps what has left the tile for those that it leads into.
    fn leave(&mut self) {
        let [height, width] = self.size;
        let (tile, connected) = (&self.tile, self.connected);
        if let Some(east) = &mut self.east {
            let entry = |row| connected.west_to_east.then(|| tile.outputs(row, width - 1).east).flatten();
            east.extend((0..height).map(entry));
        }
        if let Some(south) = &mut self.south {
            let entry = |column| connected.north_to_south.then(|| tile.outputs(height - 1, column).south);
            south.extend((0..width).map(|column| entry(column).flatten()));
        }
    }
}
