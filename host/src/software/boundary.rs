//! The boundary scheduler: what the streams still present, one entry a lane an advancing edge.

use super::array::{Direction, Side};
use super::error::SoftwareError;
use std::collections::VecDeque;
use std::ops::Range;

/// The streams of both sides.
#[derive(Clone, Debug)]
pub(super) struct Boundary<T> {
    west: Lanes<T>,
    north: Lanes<T>,
}

#[derive(Clone, Debug)]
struct Lanes<T> {
    connected: bool,
    lanes: Vec<VecDeque<Option<T>>>,
}

impl<T: Clone> Boundary<T> {
    /// Streams for every row and column.
    pub(super) fn new(
        connections: &[Direction],
        west: Vec<Vec<Option<T>>>,
        north: Vec<Vec<Option<T>>>,
    ) -> Self {
        let side = |direction, lanes: Vec<Vec<_>>| Lanes {
            connected: connections.contains(&direction),
            lanes: lanes.into_iter().map(VecDeque::from).collect(),
        };
        Self { west: side(Direction::WestToEast, west), north: side(Direction::NorthToSouth, north) }
    }

    fn side(&mut self, side: Side) -> &mut Lanes<T> {
        match side {
            Side::West => &mut self.west,
            Side::North => &mut self.north,
        }
    }

    /// Appends entries to one stream.
    pub(super) fn feed(
        &mut self,
        side: Side,
        coordinate: usize,
        entries: impl IntoIterator<Item = Option<T>>,
    ) -> Result<(), SoftwareError> {
        let Lanes { connected, lanes } = self.side(side);
        if !*connected {
            return Err(SoftwareError::NotConnected { side, direction: side.direction() });
        }
        let last = lanes.len() - 1;
        let lane = lanes.get_mut(coordinate).ok_or(SoftwareError::OffSide { side, coordinate, last })?;
        lane.extend(entries);
        Ok(())
    }

    /// Whether the links of a direction exist.
    pub(super) fn is_connected(&self, direction: Direction) -> bool {
        match direction {
            Direction::WestToEast => self.west.connected,
            Direction::NorthToSouth => self.north.connected,
        }
    }

    /// The next entry of every stream of one side; they must all be taken.
    pub(super) fn present(&mut self, side: Side) -> impl Iterator<Item = Option<T>> {
        self.side(side).lanes.iter_mut().map(|lane| lane.pop_front().flatten())
    }

    /// Appends to `entries` what some streams of one side present on edges to come, `edges` counted from the
    /// next one: edge after edge, an entry a stream. The streams stay where they are.
    pub(super) fn look_ahead(
        &self,
        side: Side,
        streams: Range<usize>,
        edges: Range<usize>,
        entries: &mut Vec<Option<T>>,
    ) {
        let lanes = match side {
            Side::West => &self.west.lanes,
            Side::North => &self.north.lanes,
        };
        if edges.is_empty() {
            return;
        }
        let (first, width) = (entries.len(), streams.len());
        entries.resize(first + edges.len() * width, None);
        for (lane, at) in lanes[streams].iter().zip(first..) {
            // A queue lies in two pieces: as slices they are gone through many times faster than entry by entry.
            let (front, back) = lane.as_slices();
            let pieces = [(front, 0), (back, front.len())];
            for (piece, begin) in pieces {
                let within = |edge: usize| edge.saturating_sub(begin).min(piece.len());
                let mut place = at + (edges.start.max(begin) - edges.start) * width;
                for entry in &piece[within(edges.start)..within(edges.end)] {
                    entries[place].clone_from(entry);
                    place += width;
                }
            }
        }
    }

    /// Lets both sides move on by so many edges without a taker.
    pub(super) fn skip(&mut self, edges: usize) {
        for lane in self.west.lanes.iter_mut().chain(&mut self.north.lanes) {
            lane.drain(..edges.min(lane.len()));
        }
    }

    /// Entries that are still to come, over all streams.
    pub(super) fn left(&self) -> usize {
        self.west.lanes.iter().chain(&self.north.lanes).map(VecDeque::len).sum()
    }
}
