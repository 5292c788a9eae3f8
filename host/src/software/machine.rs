//! Executing an array edge by edge.
//!
//! An advancing edge is bulk-synchronous (R29): **inject** the boundary streams, **read** all link buffers,
//! **dispatch** the PEs on these frozen inputs, **collect** their results, **write** all outputs into the
//! link buffers, **record** the trace. No PE sees what another one gives on the same edge (R30).

use super::array::{Checked, Direction, Side};
use super::boundary::Boundary;
use super::outcome::Outcome;
use super::trace::{Event, Sink};
use super::{Inputs, Outputs, Pe, SoftwareError, interpreted};

/// The signals that the whole array shares, as they stand before an edge. Reset beats clear, clear beats
/// advance (R13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// Back to the initial state.
    pub reset: bool,
    /// Back to the initial state, for the next job.
    pub clear: bool,
    /// Consume one boundary entry and let every PE take a step; when low, everything holds.
    pub advance: bool,
}

impl Signals {
    /// Only advance.
    pub const ADVANCE: Self = Self { reset: false, clear: false, advance: true };
    /// Only clear.
    pub const CLEAR: Self = Self { reset: false, clear: true, advance: false };
    /// Nothing: a paused edge.
    pub const HOLD: Self = Self { reset: false, clear: false, advance: false };
}

/// An array with its states, links and streams.
#[derive(Clone, Debug)]
pub struct Machine<P: Pe> {
    pe: P,
    rows: usize,
    columns: usize,
    boundary: Boundary<P::Token>,
    /// Row-major, `columns + 1` a row: the boundary link, then the register that each PE forwards into.
    a: Vec<Option<P::Token>>,
    /// Row-major, `rows + 1` rows: the boundary links, then the registers that each PE forwards into.
    b: Vec<Option<P::Token>>,
    states: Vec<P::State>,
    /// States of single PEs after a clear, by coordinate.
    starts: Vec<((usize, usize), P::State)>,
    frozen: Vec<Inputs<P::Token>>,
    results: Vec<Outputs<P::Token>>,
    tick: u64,
}

impl<P: Pe> Machine<P> {
    pub(super) fn new(pe: P, checked: Checked<P>) -> Self {
        let Checked { rows, columns, boundary, states: starts } = checked;
        let mut machine = Self {
            starts,
            boundary,
            a: vec![None; rows * (columns + 1)],
            b: vec![None; (rows + 1) * columns],
            states: vec![pe.initial(); rows * columns],
            frozen: vec![Inputs { west: None, north: None }; rows * columns],
            results: vec![Outputs { east: None, south: None, raised: None }; rows * columns],
            tick: 0,
            pe,
            rows,
            columns,
        };
        machine.start();
        machine
    }

    /// Puts PEs that have a state of their own to start from into it.
    fn start(&mut self) {
        for ((row, column), state) in &self.starts {
            self.states[row * self.columns + column].clone_from(state);
        }
    }

    /// All states, and whether they are the end of it.
    pub fn outcome(&self) -> Outcome<P::State> {
        Outcome {
            rows: self.rows,
            columns: self.columns,
            states: self.states.clone(),
            ticks: self.tick,
            complete: self.is_drained(),
            left: self.left(),
        }
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Advancing edges executed since the machine was built; clear does not touch it.
    pub fn ticks(&self) -> u64 {
        self.tick
    }

    /// Every PE's state, row-major.
    pub fn states(&self) -> &[P::State] {
        &self.states
    }

    /// What a PE forwarded on the last advancing edge, to the east and to the south; `None` where nothing is
    /// connected.
    ///
    /// # Panics
    /// When the coordinate is off the array.
    pub fn forwarded(&self, row: usize, column: usize) -> (Option<&P::Token>, Option<&P::Token>) {
        assert!(row < self.rows && column < self.columns, "PE({row},{column}) is off the array");
        let east = self.a[row * (self.columns + 1) + column + 1].as_ref();
        (east, self.b[(row + 1) * self.columns + column].as_ref())
    }

    /// The PE, whose settings all coordinates share.
    pub fn pe(&self) -> &P {
        &self.pe
    }

    /// Changes the settings that all PEs share; states and tokens stay. Meant for the edge before a clear.
    pub fn set_pe(&mut self, pe: P) {
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

    /// Whether nothing is left to do: the streams are at their end and no link leads an entry into a PE any
    /// more.
    pub fn is_drained(&self) -> bool {
        let (width, fed) = (self.columns + 1, self.columns..self.rows * self.columns);
        self.left() == 0
            && (self.a.chunks(width).all(|row| row[1..self.columns].iter().all(Option::is_none)))
            && self.b[fed].iter().all(Option::is_none)
    }

    /// Executes `ticks` advancing edges.
    ///
    /// # Errors
    /// No ticks asked for, or a sink that fails.
    pub fn run(&mut self, ticks: u64, sink: &mut impl Sink<P>) -> Result<(), SoftwareError> {
        if ticks == 0 {
            return Err(SoftwareError::NoTicks);
        }
        (0..ticks).try_for_each(|_| self.advance(sink))
    }

    /// One edge under the shared signals. Under clear or reset the streams move on only if advance is high
    /// too, and what they present is dropped.
    ///
    /// # Errors
    /// A sink that fails.
    pub fn edge(&mut self, signals: Signals, sink: &mut impl Sink<P>) -> Result<(), SoftwareError> {
        if signals.reset || signals.clear {
            if signals.advance {
                self.boundary.skip(1);
            }
            self.clear();
        } else if signals.advance {
            self.advance(sink)?;
        }
        Ok(())
    }

    /// Empties states, links and what the boundary presents; the rest of the streams stays.
    fn clear(&mut self) {
        self.a.fill(None);
        self.b.fill(None);
        self.states.fill(self.pe.initial());
        self.start();
    }

    fn advance<S: Sink<P>>(&mut self, sink: &mut S) -> Result<(), SoftwareError> {
        let before = if S::ENABLED { self.states.clone() } else { Vec::new() };
        self.inject();
        self.read();
        let outputs = interpreted::dispatch(&self.pe, &self.frozen, &mut self.states);
        collect(&mut self.results, outputs);
        self.write();
        self.record(before, sink)?;
        self.tick += 1;
        Ok(())
    }

    /// Inject: the next entry of every stream enters its boundary link.
    fn inject(&mut self) {
        let west_links = self.a.iter_mut().step_by(self.columns + 1);
        west_links.zip(self.boundary.present(Side::West)).for_each(|(link, entry)| *link = entry);
        self.b.iter_mut().zip(self.boundary.present(Side::North)).for_each(|(link, entry)| *link = entry);
    }

    /// Read: every PE's inputs are frozen before any PE executes.
    fn read(&mut self) {
        let rows = self.a.chunks_exact(self.columns + 1).zip(self.b.chunks_exact(self.columns));
        for ((west, north), frozen) in rows.zip(self.frozen.chunks_exact_mut(self.columns)) {
            for ((inputs, west), north) in frozen.iter_mut().zip(west).zip(north) {
                inputs.west.clone_from(west);
                inputs.north.clone_from(north);
            }
        }
    }

    /// Write: all outputs go into the link buffers.
    fn write(&mut self) {
        let west_to_east = self.boundary.is_connected(Direction::WestToEast);
        let north_to_south = self.boundary.is_connected(Direction::NorthToSouth);
        let below = self.b[self.columns..].chunks_exact_mut(self.columns);
        let rows = self.a.chunks_exact_mut(self.columns + 1).zip(below);
        for ((east, south), results) in rows.zip(self.results.chunks_exact(self.columns)) {
            for ((outputs, east), south) in results.iter().zip(&mut east[1..]).zip(south) {
                if west_to_east {
                    east.clone_from(&outputs.east);
                }
                if north_to_south {
                    south.clone_from(&outputs.south);
                }
            }
        }
    }

    /// Record: one event a PE, in the order of coordinates.
    fn record<S: Sink<P>>(&mut self, before: Vec<P::State>, sink: &mut S) -> Result<(), SoftwareError> {
        let tick = self.tick;
        for (i, before) in before.into_iter().enumerate() {
            let event = Event {
                tick,
                row: i / self.columns,
                column: i % self.columns,
                inputs: self.frozen[i].clone(),
                outputs: self.results[i].clone(),
                before,
                after: self.states[i].clone(),
            };
            sink.record(&event).map_err(|source| SoftwareError::Trace { tick, source })?;
        }
        Ok(())
    }
}

/// Collect: the results of all PEs, in the order of coordinates, before any of them is written.
fn collect<T>(results: &mut Vec<Outputs<T>>, outputs: impl Iterator<Item = Outputs<T>>) {
    results.clear();
    results.extend(outputs);
}
