//! The partitioned backend: the array cut into tiles that several threads compute, tick by tick.
//!
//! An advancing edge has the same six steps as in the interpreted backend (R29). Tiles keep the links among
//! their own PEs to themselves; the links between tiles lie here, so that *read* hands every tile all its
//! inputs before any tile executes, and *write* comes after all have (R30).

mod dispatch;
mod options;
mod share;

pub use options::{Dispatch, Options};

use super::array::{Checked, Direction, Side};
use super::boundary::Boundary;
use super::outcome::Outcome;
use super::tile::{Connected, Tile};
use super::trace::Sink;
use super::{Outputs, Pe, Signals, SoftwareError};
use dispatch::Workers;
use share::{Order, Placed, Share};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An array cut into tiles.
///
/// One tile is the default, because of what a barrier costs. Measured on two cores that others used too, the
/// best of many runs: a tick of 64×64 token PEs takes 3.3 µs on one thread and a barrier 1 to 2 µs, so that
/// two threads gain nothing there, and 1.7 times at 256×256. PEs that are stepped one by one, at some 15 ns
/// each, gain from 64×64 on: 2.1 times.
pub struct Partitioned<P: Pe> {
    pe: P,
    rows: usize,
    columns: usize,
    tile_rows: usize,
    tile_columns: usize,
    boundary: Boundary<P::Token>,
    /// For every column of tiles the links that lead into its first column of PEs, one a row of the array.
    into_columns: Vec<Vec<Option<P::Token>>>,
    /// For every row of tiles the links that lead into its first row of PEs, one a column of the array.
    into_rows: Vec<Vec<Option<P::Token>>>,
    shares: Shares<P>,
    workers: Workers<P>,
    tick: u64,
    broken: bool,
}

/// All tiles, row-major, in portions that one thread computes. A portion is locked by the thread that steps
/// it, or, between ticks, by the one that runs the array: never by two at once.
type Shares<P> = Arc<Vec<Mutex<Share<P>>>>;

/// Locks a share. A panic in a PE is caught inside, so that a poisoned lock tells nothing new.
fn lock<P: Pe>(share: &Mutex<Share<P>>) -> MutexGuard<'_, Share<P>> {
    share.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Pe> Partitioned<P> {
    pub(super) fn new(pe: P, checked: Checked<P>, options: &Options) -> Result<Self, SoftwareError> {
        let Checked { rows, columns, boundary, states: starts } = checked;
        let (tile_rows, tile_columns) = options.tile(rows, columns)?;
        let connected = Connected {
            west_to_east: boundary.is_connected(Direction::WestToEast),
            north_to_south: boundary.is_connected(Direction::NorthToSouth),
        };
        let mut tiles = Vec::new();
        for row in (0..rows).step_by(tile_rows) {
            for column in (0..columns).step_by(tile_columns) {
                let (height, width) = (tile_rows.min(rows - row), tile_columns.min(columns - column));
                tiles.push(Placed::new(&pe, [row, column], [height, width], connected));
            }
        }
        let per_row = columns.div_ceil(tile_columns);
        for ((row, column), state) in starts {
            tiles[row / tile_rows * per_row + column / tile_columns].starts.push(((row, column), state));
        }
        tiles.iter_mut().for_each(Placed::start);
        let threads = options.threads(tiles.len())?;
        let portions = match options.dispatch {
            _ if threads == 1 => 1,
            Dispatch::Tasks => tiles.len(),
            Dispatch::Pool => threads,
        };
        let mut shares = Vec::with_capacity(portions);
        let mut tiles = tiles.into_iter();
        for portion in 0..portions {
            let size = tiles.len().div_ceil(portions - portion);
            shares.push(Mutex::new(Share::new(pe.clone(), tiles.by_ref().take(size).collect())));
        }
        let shares = Arc::new(shares);
        Ok(Self {
            pe,
            rows,
            columns,
            tile_rows,
            tile_columns,
            boundary,
            into_columns: vec![vec![None; rows]; columns.div_ceil(tile_columns)],
            into_rows: vec![vec![None; columns]; rows.div_ceil(tile_rows)],
            workers: Workers::new(options.dispatch, threads, &shares)?,
            shares,
            tick: 0,
            broken: false,
        })
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Advancing edges executed since the machine was built; clear does not touch it.
    pub fn ticks(&self) -> u64 {
        self.tick
    }

    /// The PE, whose settings all coordinates share.
    pub fn pe(&self) -> &P {
        &self.pe
    }

    /// Changes the settings that all PEs share; states and tokens stay. Meant for the edge before a clear.
    pub fn set_pe(&mut self, pe: P) {
        self.shares.iter().for_each(|share| lock(share).pe = pe.clone());
        self.pe = pe;
    }

    /// Appends entries to the stream of one boundary link.
    ///
    /// # Errors
    /// The side is not connected or has no such coordinate.
    pub fn feed(
        &mut self,
        side: Side,
        coordinate: usize,
        entries: impl IntoIterator<Item = Option<P::Token>>,
    ) -> Result<(), SoftwareError> {
        self.boundary.feed(side, coordinate, entries)
    }

    /// Entries of all streams that have not been presented yet.
    pub fn left(&self) -> usize {
        self.boundary.left()
    }

    /// Every PE's state, row-major.
    pub fn states(&self) -> Vec<P::State> {
        self.gather(P::Tile::state)
    }

    /// What every PE gave on the last advancing edge, row-major.
    pub fn outputs(&self) -> Vec<Outputs<P::Token>> {
        self.gather(P::Tile::outputs)
    }

    /// Whether nothing is left to do: the streams are at their end and no link leads an entry into a PE any
    /// more.
    pub fn is_drained(&self) -> bool {
        let moves = |direction| self.boundary.is_connected(direction);
        let (east, south) = (moves(Direction::WestToEast), moves(Direction::NorthToSouth));
        let idle = |(at, outputs): (usize, &Outputs<P::Token>)| {
            let (row, column) = (at / self.columns + 1, at % self.columns + 1);
            !(east && column < self.columns && outputs.east.is_some()
                || south && row < self.rows && outputs.south.is_some())
        };
        self.left() == 0 && self.outputs().iter().enumerate().all(idle)
    }

    /// All states, and whether they are the end of it.
    pub fn outcome(&self) -> Outcome<P::State> {
        Outcome {
            rows: self.rows,
            columns: self.columns,
            states: self.states(),
            ticks: self.tick,
            complete: self.is_drained(),
            left: self.left(),
        }
    }

    fn gather<T>(&self, of: impl Fn(&P::Tile, usize, usize) -> T) -> Vec<T> {
        let mut all: Vec<Option<T>> = (0..self.rows * self.columns).map(|_| None).collect();
        for share in self.shares.iter() {
            for placed in &lock(share).tiles {
                for (row, column) in placed.coordinates() {
                    let at = (placed.row + row) * self.columns + placed.column + column;
                    all[at] = Some(of(&placed.tile, row, column));
                }
            }
        }
        // Tiles cover the array, so that nothing is left out.
        all.into_iter().flatten().collect()
    }

    /// Executes `ticks` advancing edges.
    ///
    /// # Errors
    /// No ticks asked for; a PE that panics, with its coordinate; a worker that is gone; a sink that fails.
    /// After any of these but the first the array can only be cleared.
    pub fn run<S: Sink<P> + Send>(&mut self, ticks: u64, sink: &mut S) -> Result<(), SoftwareError> {
        if ticks == 0 {
            return Err(SoftwareError::NoTicks);
        }
        if self.broken {
            return Err(SoftwareError::Broken);
        }
        self.broken = true;
        match self.workers.tasks() {
            // Inside the task pool from the first tick to the last, so that no tick has to enter it.
            Some(pool) => pool.install(|| (0..ticks).try_for_each(|_| self.advance(sink)))?,
            None => (0..ticks).try_for_each(|_| self.advance(sink))?,
        }
        self.broken = false;
        Ok(())
    }

    /// One edge under the shared signals. Under clear or reset the streams move on only if advance is high
    /// too, and what they present is dropped.
    ///
    /// # Errors
    /// See [`Partitioned::run`].
    pub fn edge<S: Sink<P> + Send>(&mut self, signals: Signals, sink: &mut S) -> Result<(), SoftwareError> {
        if signals.reset || signals.clear {
            if signals.advance {
                self.boundary.skip();
            }
            self.clear();
        } else if signals.advance {
            self.run(1, sink)?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.into_columns.iter_mut().chain(&mut self.into_rows).for_each(|links| links.fill(None));
        for share in self.shares.iter() {
            let Share { pe, tiles, .. } = &mut *lock(share);
            for placed in tiles {
                placed.tile.clear(pe);
                placed.start();
            }
        }
        self.broken = false;
    }

    fn advance<S: Sink<P>>(&mut self, sink: &mut S) -> Result<(), SoftwareError> {
        self.inject();
        self.read(S::ENABLED);
        self.workers.dispatch(&self.shares)?;
        self.collect()?;
        self.write();
        self.record(sink)?;
        self.tick += 1;
        Ok(())
    }

    /// Inject: the next entry of every stream enters its boundary link.
    fn inject(&mut self) {
        let links = self.into_columns[0].iter_mut();
        links.zip(self.boundary.present(Side::West)).for_each(|(link, entry)| *link = entry);
        let links = self.into_rows[0].iter_mut();
        links.zip(self.boundary.present(Side::North)).for_each(|(link, entry)| *link = entry);
    }

    /// Read: every tile gets all its inputs before any tile executes.
    fn read(&mut self, trace: bool) {
        for share in self.shares.iter() {
            let mut share = lock(share);
            share.order = Order { tick: self.tick, trace };
            for placed in &mut share.tiles {
                let west = &self.into_columns[placed.column / self.tile_columns];
                let north = &self.into_rows[placed.row / self.tile_rows];
                placed.tile.read(&west[placed.rows()], &north[placed.columns()]);
            }
        }
    }

    /// Collect: what went wrong in any tile, the first in the order of tiles.
    fn collect(&mut self) -> Result<(), SoftwareError> {
        let faults = self.shares.iter().map(|share| lock(share).fault.take());
        // All are taken, so that none shows up again after a clear.
        faults.fold(None, Option::or).map_or(Ok(()), Err)
    }

    /// Write: what leaves a tile goes into the links that lead into the next.
    fn write(&mut self) {
        if self.into_columns.len() == 1 && self.into_rows.len() == 1 {
            return;
        }
        for share in self.shares.iter() {
            for placed in &lock(share).tiles {
                let (next_column, next_row) =
                    (placed.column / self.tile_columns + 1, placed.row / self.tile_rows + 1);
                let [height, width] = placed.size;
                if let Some(links) =
                    self.into_columns.get_mut(next_column).filter(|_| placed.connected.west_to_east)
                {
                    let links = links[placed.rows()].iter_mut().enumerate();
                    links.for_each(|(row, link)| *link = placed.tile.outputs(row, width - 1).east);
                }
                if let Some(links) =
                    self.into_rows.get_mut(next_row).filter(|_| placed.connected.north_to_south)
                {
                    let links = links[placed.columns()].iter_mut().enumerate();
                    links.for_each(|(column, link)| *link = placed.tile.outputs(height - 1, column).south);
                }
            }
        }
    }

    /// Record: merge the tiles' events, each tile's being in order already, into the order of coordinates.
    fn record<S: Sink<P>>(&mut self, sink: &mut S) -> Result<(), SoftwareError> {
        if !S::ENABLED {
            return Ok(());
        }
        let tick = self.tick;
        let mut shares: Vec<_> = self.shares.iter().map(lock).collect();
        let mut tiles: Vec<&mut Placed<P>> = shares.iter_mut().flat_map(|share| &mut share.tiles).collect();
        for band in tiles.chunks_mut(self.into_columns.len()) {
            let height = band[0].size[0];
            let mut events: Vec<_> =
                band.iter_mut().map(|placed| (placed.size[1], placed.events.drain(..))).collect();
            for _ in 0..height {
                for (width, events) in &mut events {
                    for event in events.by_ref().take(*width) {
                        sink.record(event).map_err(|source| SoftwareError::Trace { tick, source })?;
                    }
                }
            }
        }
        Ok(())
    }
}
