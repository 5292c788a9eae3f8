//! Describing an array: shape, PE, links, boundary streams.

use super::boundary::Boundary;
use super::partitioned::{Options, Partitioned};
use super::{Machine, Pe, SoftwareError};
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
        Builder { rows, columns, pe, connections: Vec::new(), streams: Vec::new() }
    }
}

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
}

impl<P: Pe> Builder<P> {
    /// Connects every PE with its neighbour in one direction.
    #[must_use]
    pub fn connect(mut self, direction: Direction) -> Self {
        self.connections.push(direction);
        self
    }

    /// Feeds boundary links of one side: pairs of coordinate and stream. A stream gives one entry an advancing edge,
    /// `None` being no token; after its end there are none.
    #[must_use]
    pub fn input<S>(mut self, side: Side, streams: impl IntoIterator<Item = (usize, S)>) -> Self
    where
        S: IntoIterator<Item = Option<P::Token>>,
    {
        let streams = streams.into_iter().map(|(at, stream)| (side, at, stream.into_iter().collect()));
        self.streams.extend(streams);
        self
    }

    /// Checks the description and makes a machine that steps one PE after another, with every PE in its initial state and
    /// no token anywhere.
    ///
    /// # Errors
    /// No PEs; a direction connected twice; a stream for a side that is not connected, for a coordinate off its side,
    /// or for a coordinate that already has one.
    pub fn build(self) -> Result<Machine<P>, SoftwareError> {
        let (pe, rows, columns) = (self.pe.clone(), self.rows, self.columns);
        Ok(Machine::new(pe, rows, columns, self.check()?))
    }

    /// Checks the description and makes the same machine, cut into tiles that run in parallel.
    ///
    /// # Errors
    /// Those of [`Builder::build`]; tiles or threads of zero; threads that the system refuses.
    pub fn build_partitioned(self, options: &Options) -> Result<Partitioned<P>, SoftwareError> {
        let (pe, rows, columns) = (self.pe.clone(), self.rows, self.columns);
        Partitioned::new(pe, rows, columns, self.check()?, options)
    }

    fn check(self) -> Result<Boundary<P::Token>, SoftwareError> {
        let Self { rows, columns, connections, streams, .. } = self;
        if rows == 0 || columns == 0 {
            return Err(SoftwareError::Size { rows, columns });
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
        Ok(Boundary::new(&connections, lanes(west), lanes(north)))
    }
}
