//! The partitioned backend: the array cut into tiles that several threads compute, superstep by superstep.
//!
//! A superstep has the same six steps as an advancing edge of the interpreted backend (R29), and is one advancing edge
//! unless [`superstep`](field@Options::superstep) says otherwise. The threads that *dispatch* wakes do *inject* and *read* for
//! their own tiles, which saves a barrier: the links into a tile are frozen from one *write*, which comes after all tiles
//! have executed, to the next, so that no tile sees what another gives on the same edge (R30).

mod dispatch;
mod links;
mod options;
mod pace;
mod share;

pub use options::{Dispatch, Options};

use super::array::{Checked, Direction, Side};
use super::boundary::Boundary;
use super::outcome::Outcome;
use super::tile::{Connected, Tile};
use super::trace::Sink;
use super::{Outputs, Pe, Signals, SoftwareError};
use dispatch::Workers;
use pace::Pace;
use share::{Fault, Placed, Share};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// An array cut into tiles.
///
/// One tile is the default, because of what a barrier costs. On two cores (`cargo bench -p systole --bench software --
/// 'one thread|two tiles'`, with its figures in the README), two threads of the pool that wait for each other every tick
/// are no faster with 64×64 token PEs in two tiles than one thread with one tile: computing is half of such a tick. With
/// 16 ticks between barriers ([`superstep`](field@Options::superstep)) they gain 1.4 to 1.7 times. 256×256 token PEs gain
/// either way, and so do 64×64 PEs that are stepped one by one, which are slow enough.
pub struct Partitioned<P: Pe> {
    pe: P,
    rows: usize,
    columns: usize,
    tile_rows: usize,
    tile_columns: usize,
    boundary: Streams<P>,
    shares: Shares<P>,
    /// For every tile, row-major, its share and its number in there.
    places: Vec<(usize, usize)>,
    workers: Workers<P>,
    /// Ticks between two barriers where there is no trace.
    superstep: u64,
    tick: u64,
    broken: bool,
}

/// All tiles, row-major, in portions that one thread computes. A portion is locked by the thread that steps
/// it, or, between ticks, by the one that runs the array: never by two at once.
type Shares<P> = Arc<Vec<Mutex<Share<P>>>>;

/// The streams: read by all threads during a superstep, changed only between runs.
type Streams<P> = Arc<RwLock<Boundary<<P as Pe>::Token>>>;

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
                let mut placed = Placed::new(&pe, [row, column], [height, width], connected);
                placed.hops = row / tile_rows + column / tile_columns;
                placed.left.east = (column + width < columns).then(Vec::new);
                placed.left.south = (row + height < rows).then(Vec::new);
                tiles.push(placed);
            }
        }
        let per_row = columns.div_ceil(tile_columns);
        for ((row, column), state) in starts {
            tiles[row / tile_rows * per_row + column / tile_columns].starts.push(((row, column), state));
        }
        tiles.iter_mut().for_each(Placed::start);
        let threads = options.threads(tiles.len())?;
        let superstep = options.superstep(tiles.len())?;
        let portions = match options.dispatch {
            _ if threads == 1 => 1,
            Dispatch::Tasks => tiles.len(),
            Dispatch::Pool => threads,
        };
        let boundary = Arc::new(RwLock::new(boundary));
        let (mut shares, mut places) = (Vec::with_capacity(portions), Vec::with_capacity(tiles.len()));
        let mut tiles = tiles.into_iter();
        for portion in 0..portions {
            let size = tiles.len().div_ceil(portions - portion);
            places.extend((0..size).map(|number| (portion, number)));
            let tiles = tiles.by_ref().take(size).collect();
            shares.push(Mutex::new(Share::new(pe.clone(), tiles, Arc::clone(&boundary))));
        }
        let shares = Arc::new(shares);
        Ok(Self {
            pe,
            rows,
            columns,
            tile_rows,
            tile_columns,
            boundary,
            places,
            superstep,
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
        self.streams_mut().feed(side, coordinate, entries)
    }

    /// Entries of all streams that have not been presented yet.
    pub fn left(&self) -> usize {
        self.streams().left()
    }

    fn streams(&self) -> RwLockReadGuard<'_, Boundary<P::Token>> {
        self.boundary.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn streams_mut(&self) -> RwLockWriteGuard<'_, Boundary<P::Token>> {
        self.boundary.write().unwrap_or_else(PoisonError::into_inner)
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
        let moves = |direction| self.streams().is_connected(direction);
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
        let start = self.tick;
        let run = match self.workers.tasks() {
            // Inside the task pool from the first tick to the last, so that no tick has to enter it.
            Some(pool) => pool.install(|| self.supersteps(ticks, sink)),
            None => self.supersteps(ticks, sink),
        };
        // A tick that ended half-way has taken its entries too.
        let presented = self.tick - start + u64::from(run.is_err());
        self.streams_mut().skip(usize::try_from(presented).unwrap_or(usize::MAX));
        self.broken = run.is_err();
        run
    }

    /// One edge under the shared signals. Under clear or reset the streams move on only if advance is high
    /// too, and what they present is dropped.
    ///
    /// # Errors
    /// See [`Partitioned::run`].
    pub fn edge<S: Sink<P> + Send>(&mut self, signals: Signals, sink: &mut S) -> Result<(), SoftwareError> {
        if signals.reset || signals.clear {
            if signals.advance {
                self.streams_mut().skip(1);
            }
            self.clear();
        } else if signals.advance {
            self.run(1, sink)?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        for share in self.shares.iter() {
            let Share { pe, tiles, .. } = &mut *lock(share);
            tiles.iter_mut().for_each(|placed| placed.clear(pe));
        }
        self.broken = false;
    }

    /// Executes ticks; the streams stay where they are.
    fn supersteps<S: Sink<P>>(&mut self, ticks: u64, sink: &mut S) -> Result<(), SoftwareError> {
        let superstep = if S::ENABLED { 1 } else { self.superstep };
        let (start, rows, columns) = (self.tick, self.tile_rows, self.tile_columns);
        let (rows, columns) = (self.rows.div_ceil(rows), self.columns.div_ceil(columns));
        let pace = Pace::new(start, ticks, superstep, rows, columns);
        self.shares.iter().for_each(|share| lock(share).begin(pace, S::ENABLED));
        let mut fault: Option<Fault> = None;
        for superstep in 0..pace.supersteps() {
            self.workers.dispatch(&self.shares)?;
            fault = self.collect(fault);
            // Tiles that are behind may still find an earlier fault.
            if let Some(fault) = fault.take_if(|fault| pace.is_past(superstep, fault.tick)) {
                self.tick = fault.tick;
                return Err(fault.into());
            }
            self.write();
            self.record(sink)?;
        }
        self.tick = start + ticks;
        Ok(())
    }

    /// Collect: what went wrong in any tile, and before: the first of it.
    fn collect(&mut self, known: Option<Fault>) -> Option<Fault> {
        let found = self.shares.iter().filter_map(|share| lock(share).fault.take());
        found.chain(known).min_by_key(Fault::order)
    }

    /// Write: what leaves a tile goes into the links that lead into the next.
    fn write(&self) {
        let per_row = self.columns.div_ceil(self.tile_columns);
        for at in 0..self.places.len() {
            let mut left = self.with(at, Placed::leave);
            if let Some(east) = &mut left.east {
                self.with(at + 1, |next| next.west.write(east));
            }
            if let Some(south) = &mut left.south {
                self.with(at + per_row, |next| next.north.write(south));
            }
            self.with(at, |placed| placed.left = left);
        }
    }

    /// Does something with a tile.
    fn with<T>(&self, tile: usize, what: impl FnOnce(&mut Placed<P>) -> T) -> T {
        let (share, number) = self.places[tile];
        what(&mut lock(&self.shares[share]).tiles[number])
    }

    /// Record: merge the tiles' events, each tile's being in order already, into the order of coordinates. With a
    /// trace, a superstep is one tick.
    fn record<S: Sink<P>>(&mut self, sink: &mut S) -> Result<(), SoftwareError> {
        if !S::ENABLED {
            return Ok(());
        }
        let tick = self.tick;
        let mut shares: Vec<_> = self.shares.iter().map(lock).collect();
        let mut tiles: Vec<&mut Placed<P>> = shares.iter_mut().flat_map(|share| &mut share.tiles).collect();
        for band in tiles.chunks_mut(self.columns.div_ceil(self.tile_columns)) {
            let height = band[0].size[0];
            for row in 0..height {
                for placed in &*band {
                    let width = placed.size[1];
                    for event in &placed.events[row * width..][..width] {
                        sink.record(event).map_err(|source| SoftwareError::Trace { tick, source })?;
                    }
                }
            }
            band.iter_mut().for_each(|placed| placed.events.clear());
        }
        self.tick += 1;
        Ok(())
    }
}
