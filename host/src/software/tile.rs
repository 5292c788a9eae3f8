//! A rectangle of PEs, computed by one thread: what every kind of tile can do, and the tile that steps any
//! PE.

use super::{Inputs, Outputs, Pe};

/// A rectangle of PEs with the links among them and the links that lead into it. An advancing edge is
/// [`Tile::read`], then [`Tile::step`]; in between, the tile sees nothing of other tiles.
pub trait Tile<P: Pe>: Send {
    /// A tile in the initial state. Nothing passes from PE to PE in a direction that is not connected.
    fn new(pe: &P, rows: usize, columns: usize, connected: Connected) -> Self;

    /// Empties states and links.
    fn clear(&mut self, pe: &P);

    /// Takes the entries that lead into the tile on this edge: one a row from the west, one a column from the
    /// north.
    fn read(&mut self, west: &[Option<P::Token>], north: &[Option<P::Token>]);

    /// Steps every PE on its inputs, then writes all outputs into the tile's links.
    fn step(&mut self, pe: &P);

    /// What a PE sees on this edge; between [`Tile::read`] and [`Tile::step`].
    fn inputs(&self, row: usize, column: usize) -> Inputs<P::Token>;

    /// What a PE gave on the last edge.
    fn outputs(&self, row: usize, column: usize) -> Outputs<P::Token>;

    /// Appends what left the tile to the east on the last edge, an entry a row, in a connected direction.
    fn east(&self, left: &mut Vec<Option<P::Token>>);

    /// Appends what left the tile to the south on the last edge, an entry a column, in a connected direction.
    fn south(&self, left: &mut Vec<Option<P::Token>>);

    /// A PE's state.
    fn state(&self, row: usize, column: usize) -> P::State;

    /// Puts a PE into a state, as it is to start.
    fn set_state(&mut self, row: usize, column: usize, state: P::State);

    /// The PE that is being stepped: where to point when it panics.
    fn at(&self) -> (usize, usize);
}

/// Directions that are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connected {
    /// From every PE to its right neighbour.
    pub west_to_east: bool,
    /// From every PE to the one below.
    pub north_to_south: bool,
}

/// Steps any PE, one after another.
#[derive(Clone, Debug)]
pub struct PerPe<P: Pe> {
    columns: usize,
    connected: Connected,
    /// Row-major, `columns + 1` a row: the link into the row, then the register that each PE forwards into.
    a: Vec<Option<P::Token>>,
    /// Row-major, `rows + 1` rows: the links into the columns, then the registers that each PE forwards into.
    b: Vec<Option<P::Token>>,
    states: Vec<P::State>,
    results: Vec<Outputs<P::Token>>,
    at: usize,
}

impl<P: Pe> PerPe<P> {
    fn west(&self, row: usize, column: usize) -> usize {
        row * (self.columns + 1) + column
    }
}

impl<P: Pe> Tile<P> for PerPe<P> {
    fn new(pe: &P, rows: usize, columns: usize, connected: Connected) -> Self {
        Self {
            columns,
            connected,
            a: vec![None; rows * (columns + 1)],
            b: vec![None; (rows + 1) * columns],
            states: vec![pe.initial(); rows * columns],
            results: vec![Outputs { east: None, south: None, raised: None }; rows * columns],
            at: 0,
        }
    }

    fn clear(&mut self, pe: &P) {
        self.a.fill(None);
        self.b.fill(None);
        self.states.fill(pe.initial());
        self.results.fill(Outputs { east: None, south: None, raised: None });
    }

    fn read(&mut self, west: &[Option<P::Token>], north: &[Option<P::Token>]) {
        for (link, entry) in self.a.iter_mut().step_by(self.columns + 1).zip(west) {
            link.clone_from(entry);
        }
        self.b[..self.columns].clone_from_slice(north);
    }

    fn step(&mut self, pe: &P) {
        let Self { columns, a, b, states, results, at, .. } = self;
        let (columns, links) = (*columns, a.chunks_exact(*columns + 1).zip(b.chunks_exact(*columns)));
        for (row, (west, north)) in links.enumerate() {
            for (column, (west, north)) in west.iter().zip(north).take(columns).enumerate() {
                *at = row * columns + column;
                let inputs = Inputs { west: west.clone(), north: north.clone() };
                results[*at] = pe.step(&mut states[*at], &inputs);
            }
        }
        let below = b[columns..].chunks_exact_mut(columns);
        let rows = a.chunks_exact_mut(columns + 1).zip(below);
        for ((east, south), results) in rows.zip(results.chunks_exact(columns)) {
            for ((outputs, east), south) in results.iter().zip(&mut east[1..]).zip(south) {
                if self.connected.west_to_east {
                    east.clone_from(&outputs.east);
                }
                if self.connected.north_to_south {
                    south.clone_from(&outputs.south);
                }
            }
        }
    }

    fn inputs(&self, row: usize, column: usize) -> Inputs<P::Token> {
        let west = self.a[self.west(row, column)].clone();
        Inputs { west, north: self.b[row * self.columns + column].clone() }
    }

    fn outputs(&self, row: usize, column: usize) -> Outputs<P::Token> {
        self.results[row * self.columns + column].clone()
    }

    fn east(&self, left: &mut Vec<Option<P::Token>>) {
        left.extend(self.results.chunks_exact(self.columns).map(|row| row[self.columns - 1].east.clone()));
    }

    fn south(&self, left: &mut Vec<Option<P::Token>>) {
        let last = &self.results[self.results.len() - self.columns..];
        left.extend(last.iter().map(|outputs| outputs.south.clone()));
    }

    fn state(&self, row: usize, column: usize) -> P::State {
        self.states[row * self.columns + column].clone()
    }

    fn set_state(&mut self, row: usize, column: usize, state: P::State) {
        self.states[row * self.columns + column] = state;
    }

    fn at(&self) -> (usize, usize) {
        (self.at / self.columns, self.at % self.columns)
    }
}
