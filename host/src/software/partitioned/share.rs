//! What one thread computes in a tick: tiles at their places.

use crate::software::tile::{Connected, Tile};
use crate::software::trace::Event;
use crate::software::{Pe, SoftwareError};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What to do in a tick.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    pub(super) tick: u64,
    pub(super) trace: bool,
}

/// A portion of the tiles, and what happened to them.
pub(super) struct Share<P: Pe> {
    pub(super) pe: P,
    pub(super) tiles: Vec<Placed<P>>,
    pub(super) order: Order,
    /// First tile that failed in the last tick.
    pub(super) fault: Option<SoftwareError>,
}

impl<P: Pe> Share<P> {
    pub(super) fn new(pe: P, tiles: Vec<Placed<P>>) -> Self {
        Self { pe, tiles, order: Order::default(), fault: None }
    }

    /// Dispatch: steps every tile on what it has read. A PE that panics becomes a fault; the thread lives on.
    pub(super) fn step(&mut self) {
        let Self { pe, tiles, order, fault } = self;
        for placed in tiles {
            let stepped = catch_unwind(AssertUnwindSafe(|| placed.step(pe, *order)));
            if let Err(panic) = stepped {
                let (row, column) = placed.tile.at();
                let (row, column) = (placed.row + row, placed.column + column);
                let message = message(panic.as_ref());
                fault.get_or_insert(SoftwareError::Panicked { row, column, tick: order.tick, message });
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

/// A tile, where it is, and its events of the last tick.
pub(super) struct Placed<P: Pe> {
    pub(super) tile: P::Tile,
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) size: [usize; 2],
    pub(super) connected: Connected,
    pub(super) events: Vec<Event<P>>,
    /// States of single PEs after a clear, by their coordinates in the array.
    pub(super) starts: Vec<((usize, usize), P::State)>,
}

impl<P: Pe> Placed<P> {
    pub(super) fn new(pe: &P, [row, column]: [usize; 2], size: [usize; 2], connected: Connected) -> Self {
        let tile = P::Tile::new(pe, size[0], size[1], connected);
        Self { tile, row, column, size, connected, events: Vec::new(), starts: Vec::new() }
    }

    /// Puts PEs that have a state of their own to start from into it.
    pub(super) fn start(&mut self) {
        for ((row, column), state) in &self.starts {
            self.tile.set_state(row - self.row, column - self.column, state.clone());
        }
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

    fn step(&mut self, pe: &P, order: Order) {
        if !order.trace {
            return self.tile.step(pe);
        }
        let seen = self
            .coordinates()
            .map(|(row, column)| (self.tile.inputs(row, column), self.tile.state(row, column)));
        let seen: Vec<_> = seen.collect();
        self.tile.step(pe);
        let (tile, tick) = (&self.tile, order.tick);
        let events = self.coordinates().zip(seen).map(|((row, column), (inputs, before))| Event {
            tick,
            row: self.row + row,
            column: self.column + column,
            inputs,
            outputs: tile.outputs(row, column),
            before,
            after: tile.state(row, column),
        });
        self.events = events.collect();
    }
}
