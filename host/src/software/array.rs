//! Describing an array: shape, PE, links, boundary streams.

use super::boundary::Boundary;
use super::partitioned::{Options, Partitioned};
use super::{Machine, Pe, SoftwareError};
use std::collections::HashSet;
use std::fmt;

/// A side of the array that tokens can enter from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Coordinates are rows; tokens travel east.
    West,
    /// Coordinates are columns; tokens travel south.
    North,
}

/// Links between neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From every PE to the one on its right, fed from the west.
    WestToEast,
    /// From every PE to the one below, fed from the north.
    NorthToSouth,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::West => "west",
            Self::North => "north",
        })
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WestToEast => "west-to-east",
            Self::NorthToSouth => "north-to-south",
        })
    }
}

impl Side {
    /// The links that carry what enters here.
    pub fn direction(self) -> Direction {
        match self {
            Self::West => Direction::WestToEast,
            Self::North => Direction::NorthToSouth,
        }
    }
}

/// The shape of an array that has no PEs yet.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    rows: usize,
    columns: usize,
}

impl Array {
    /// An array of `rows × columns` PEs; they need not be equal. Checked by [`Builder::build`].
    pub fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns }
    }

    /// Puts the same kind of PE everywhere.
    pub fn fill<P: Pe>(self, pe: P) -> Builder<P> {
        let Self { rows, columns } = self;
        let (connections, streams, states) = (Vec::new(), Vec::new(), Vec::new());
        Builder { rows, columns, pe, connections, streams, states, memory_limit: MEMORY_LIMIT, beside: 0 }
    }
}

/// Most memory in bytes that an array may take, unless its builder is told otherwise.
pub const MEMORY_LIMIT: u64 = 4 << 30;

/// A stream for one boundary link.
type Stream<T> = Vec<Option<T>>;

/// An array being described. Nothing is checked before [`Builder::build`].
#[derive(Clone, Debug)]
pub struct Builder<P: Pe> {
    rows: usize,
    columns: usize,
    pe: P,
    connections: Vec<Direction>,
    streams: Vec<(Side, usize, Stream<P::Token>)>,
    states: Vec<((usize, usize), P::State)>,
    memory_limit: u64,
    /// Bytes a PE that the caller takes.
    beside: usize,
}

/// A description that has been checked, apart from the PE.
pub(super) struct Checked<P: Pe> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) boundary: Boundary<P::Token>,
    /// States that differ from [`Pe::initial`], by coordinate.
    pub(super) states: Vec<((usize, usize), P::State)>,
}

/// Bytes that a tile takes beside its PEs, about.
const TILE: u128 = 2048;

impl<P: Pe> Builder<P> {
    /// Connects every PE with its neighbour in one direction.
    #[must_use]
    pub fn connect(mut self, direction: Direction) -> Self {
        self.connections.push(direction);
        self
    }

    /// Feeds boundary links of one side: pairs of coordinate and stream. A stream gives one entry an
    /// advancing edge, `None` being no token; after its end there are none.
    #[must_use]
    pub fn input<S>(mut self, side: Side, streams: impl IntoIterator<Item = (usize, S)>) -> Self
    where
        S: IntoIterator<Item = Option<P::Token>>,
    {
        let streams = streams.into_iter().map(|(at, stream)| (side, at, stream.into_iter().collect()));
        self.streams.extend(streams);
        self
    }

    /// Gives single PEs, by row and column, a state of their own to start from, also after reset and clear.
    #[must_use]
    pub fn initial(mut self, states: impl IntoIterator<Item = ((usize, usize), P::State)>) -> Self {
        self.states.extend(states);
        self
    }

    /// Sets the most memory in bytes that the array may take, streams included; [`MEMORY_LIMIT`] otherwise.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Counts what the caller is going to take beside the array, for each of its PEs, against the limit too.
    #[must_use]
    pub fn beside(mut self, bytes_a_pe: usize) -> Self {
        self.beside = bytes_a_pe;
        self
    }

    /// Checks the description and makes a machine that steps one PE after another, with every PE in its
    /// initial state and no token anywhere.
    ///
    /// # Errors
    /// No PEs, or more than the memory may hold, which is found out before anything is allocated; a direction
    /// connected twice; a stream for a side that is not connected, for a coordinate off its side, or for a
    /// coordinate that already has one; a state for a PE off the array, or for one that already has one.
    pub fn build(self) -> Result<Machine<P>, SoftwareError> {
        let pe = self.pe.clone();
        Ok(Machine::new(pe, self.check(0)?))
    }

    /// Checks the description and makes the same machine, cut into tiles that run in parallel.
    ///
    /// # Errors
    /// Those of [`Builder::build`]; tiles or threads of zero; threads that the system refuses.
    pub fn build_partitioned(self, options: &Options) -> Result<Partitioned<P>, SoftwareError> {
        let pe = self.pe.clone();
        let (tile_rows, tile_columns) = options.tile(self.rows, self.columns)?;
        // Of an array without PEs there are no tiles, and that is refused.
        let tiles = |all: usize, tile: usize| all.div_ceil(tile.max(1)) as u128;
        let tiles = tiles(self.rows, tile_rows).saturating_mul(tiles(self.columns, tile_columns));
        Partitioned::new(pe, self.check(tiles.saturating_mul(TILE))?, options)
    }

    /// Bytes that PEs and links take in either backend, together with the streams.
    fn bytes(&self) -> u128 {
        let entry = size_of::<Option<P::Token>>();
        // Two links a PE, and their copies in what PEs see and give; its state, and one to compare with.
        let pe = 8 * entry + 2 * size_of::<P::State>() + self.beside;
        let pes = (self.rows as u128).saturating_mul(self.columns as u128).saturating_mul(pe as u128);
        let lanes = (self.rows as u128 + self.columns as u128) * 2 * size_of::<Stream<P::Token>>() as u128;
        let entries: usize = self.streams.iter().map(|(.., stream)| stream.len()).sum();
        pes.saturating_add(lanes).saturating_add((entries * entry) as u128)
    }

    /// Checks the description; `more` are bytes that it takes besides.
    fn check(self, more: u128) -> Result<Checked<P>, SoftwareError> {
        let (bytes, limit) = (self.bytes().saturating_add(more), self.memory_limit);
        let Self { rows, columns, connections, streams, states, .. } = self;
        if rows == 0 || columns == 0 {
            return Err(SoftwareError::Size { rows, columns });
        }
        if bytes > u128::from(limit) {
            return Err(SoftwareError::Memory { rows, columns, bytes, limit });
        }
        let mut given = HashSet::new();
        for &((row, column), _) in &states {
            if row >= rows || column >= columns {
                return Err(SoftwareError::OffArray { row, column, rows, columns });
            }
            if !given.insert((row, column)) {
                return Err(SoftwareError::SecondState { row, column });
            }
        }
        for (i, &direction) in connections.iter().enumerate() {
            if connections[..i].contains(&direction) {
                return Err(SoftwareError::ConnectedTwice { direction });
            }
        }
        let mut west = vec![None; rows];
        let mut north = vec![None; columns];
        for (side, coordinate, stream) in streams {
            let direction = side.direction();
            if !connections.contains(&direction) {
                return Err(SoftwareError::NotConnected { side, direction });
            }
            let lanes = match side {
                Side::West => &mut west,
                Side::North => &mut north,
            };
            let last = lanes.len() - 1;
            let lane = lanes.get_mut(coordinate).ok_or(SoftwareError::OffSide { side, coordinate, last })?;
            if lane.replace(stream).is_some() {
                return Err(SoftwareError::SecondStream { side, coordinate });
            }
        }
        let lanes =
            |side: Vec<Option<Stream<P::Token>>>| side.into_iter().map(Option::unwrap_or_default).collect();
        let boundary = Boundary::new(&connections, lanes(west), lanes(north));
        Ok(Checked { rows, columns, boundary, states })
    }
}
