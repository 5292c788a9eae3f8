//! What one thread computes between two barriers: tiles at their places.

use super::Streams;
use super::links::Links;
use super::pace::Pace;
use crate::software::array::Side;
use crate::software::boundary::Boundary;
use crate::software::tile::{Connected, Tile};
use crate::software::trace::Event;
use crate::software::{Outputs, Pe, SoftwareError};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;

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
    streams: Streams<P>,
    /// The run, and supersteps of it that have been executed.
    pace: Pace,
    supersteps: u64,
    /// Whether events are wanted.
    trace: bool,
    /// First fault of the last superstep.
    pub(super) fault: Option<Fault>,
}

impl<P: Pe> Share<P> {
    pub(super) fn new(pe: P, tiles: Vec<Placed<P>>, streams: Streams<P>) -> Self {
        Self { pe, tiles, streams, pace: Pace::default(), supersteps: 0, trace: false, fault: None }
    }

    /// Before a run.
    pub(super) fn begin(&mut self, pace: Pace, trace: bool) {
        (self.pace, self.supersteps, self.trace) = (pace, 0, trace);
        let links = |placed: &mut Placed<P>| {
            placed.west.begin();
            placed.north.begin();
        };
        self.tiles.iter_mut().for_each(links);
    }

    /// Dispatch: every tile takes the inputs of its ticks and executes them. A PE that panics becomes a fault; the
    /// thread lives on.
    pub(super) fn step(&mut self) {
        let Self { pe, tiles, streams, pace, supersteps, trace, fault } = self;
        let streams = streams.read().unwrap_or_else(PoisonError::into_inner);
        for placed in tiles.iter_mut() {
            placed.ticks = pace.ticks(*supersteps, placed.hops);
            if placed.faulty {
                continue;
            }
            placed.inject(&streams, pace.length());
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
        *supersteps += 1;
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
    /// Its distance in tiles from the first tile.
    pub(super) hops: usize,
    /// Ticks to execute.
    ticks: Range<u64>,
    /// The links that lead into it.
    pub(super) west: Links<P::Token>,
    pub(super) north: Links<P::Token>,
    /// What leaves it.
    pub(super) left: Left<P::Token>,
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
            hops: 0,
            ticks: 0..0,
            west: Links::new(column == 0, size[0]),
            north: Links::new(row == 0, size[1]),
            left: Left::default(),
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
        self.west.clear();
        self.north.clear();
        self.left.east.iter_mut().chain(&mut self.left.south).for_each(Vec::clear);
        self.events.clear();
        self.faulty = false;
    }

    /// Puts PEs that have a state of their own to start from into it.
    pub(super) fn start(&mut self) {
        for ((row, column), state) in &self.starts {
            self.tile.set_state(row - self.row, column - self.column, state.clone());
        }
    }

    /// Coordinates inside the tile, row-major.
    pub(super) fn coordinates(&self) -> impl Iterator<Item = (usize, usize)> + use<P> {
        let [height, width] = self.size;
        (0..height).flat_map(move |row| (0..width).map(move |column| (row, column)))
    }

    /// Inject: the next entries of the streams enter the links from the boundary.
    fn inject(&mut self, streams: &Boundary<P::Token>, end: u64) {
        let ([height, width], ticks) = (self.size, self.ticks.end - self.ticks.start);
        let (rows, columns) = (self.row..self.row + height, self.column..self.column + width);
        self.west.inject(ticks, end, |edges, entries| streams.look_ahead(Side::West, rows, edges, entries));
        self.north
            .inject(ticks, end, |edges, entries| streams.look_ahead(Side::North, columns, edges, entries));
    }

    fn step(&mut self, pe: &P, trace: bool) {
        for tick in self.ticks.clone() {
            self.now = tick;
            self.tile.read(self.west.read(), self.north.read());
            if trace {
                self.step_traced(pe);
            } else {
                self.tile.step(pe);
            }
            self.keep();
        }
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
    fn keep(&mut self) {
        let Connected { west_to_east, north_to_south } = self.connected;
        if let Some(east) = self.left.east.as_mut().filter(|_| west_to_east) {
            self.tile.east(east);
        }
        if let Some(south) = self.left.south.as_mut().filter(|_| north_to_south) {
            self.tile.south(south);
        }
    }

    /// Gives away what has left the tile in a superstep; nothing has where a PE has panicked, or nothing is connected.
    pub(super) fn leave(&mut self) -> Left<P::Token> {
        let ([height, width], ticks) = (self.size, (self.ticks.end - self.ticks.start) as usize);
        self.left.east.iter_mut().for_each(|east| east.resize(ticks * height, None));
        self.left.south.iter_mut().for_each(|south| south.resize(ticks * width, None));
        std::mem::take(&mut self.left)
    }
}

/// What leaves a tile to the east and to the south, where there is a tile: tick after tick, an entry a row, an entry a
/// column.
pub(super) struct Left<T> {
    pub(super) east: Option<Vec<Option<T>>>,
    pub(super) south: Option<Vec<Option<T>>>,
}

impl<T> Default for Left<T> {
    fn default() -> Self {
        Self { east: None, south: None }
    }
}
