//! Stimulus for a grid: edges, one after another, from a reset on.

use super::{Edge, Grid, PeState, Token};
use systole_hdl::parameters::Parameters;

/// A bubble with all bits clear.
pub const BUBBLE: Token = Token { value: 0, valid: false, job: 0, k: 0 };

/// A valid token of job 0.
pub const fn token(value: i64, k: u32) -> Token {
    Token { value, valid: true, job: 0, k }
}

/// The edges of a run under construction. The first one is a reset.
#[derive(Clone, Debug)]
pub struct Feed {
    rows: usize,
    columns: usize,
    k_len: u32,
    edges: Vec<Edge>,
}

impl Feed {
    /// A run that starts with a reset, of jobs of `k_len` terms.
    pub fn new(rows: usize, columns: usize, k_len: u32) -> Self {
        Self { rows, columns, k_len, edges: Vec::new() }.reset()
    }

    /// Terms of the jobs from here on.
    pub fn k_len(mut self, k_len: u32) -> Self {
        self.k_len = k_len;
        self
    }

    /// One edge: shared signals, then what the boundary presents. Lanes that are not given are bubbles.
    pub fn edge(mut self, [reset, clear, advance]: [bool; 3], a: &[Token], b: &[Token]) -> Self {
        let fill = |tokens: &[Token], lanes| {
            assert!(tokens.len() <= lanes, "{} tokens for {lanes} lanes", tokens.len());
            let mut lane = tokens.to_vec();
            lane.resize(lanes, BUBBLE);
            lane
        };
        let (a, b) = (fill(a, self.rows), fill(b, self.columns));
        self.edges.push(Edge { reset, clear, advance, k_len: self.k_len, a, b });
        self
    }

    /// One edge of reset.
    pub fn reset(self) -> Self {
        self.edge([true, false, false], &[], &[])
    }

    /// One edge of clear.
    pub fn clear(self) -> Self {
        self.edge([false, true, false], &[], &[])
    }

    /// One advancing edge.
    pub fn step(self, a: &[Token], b: &[Token]) -> Self {
        self.edge([false, false, true], a, b)
    }

    /// Advancing edges with nothing at the boundary.
    pub fn drain(self, edges: usize) -> Self {
        (0..edges).fold(self, |feed, _| feed.step(&[], &[]))
    }

    /// Edges without advance, and nothing at the boundary.
    pub fn pause(self, edges: usize) -> Self {
        (0..edges).fold(self, |feed, _| feed.edge([false; 3], &[], &[]))
    }

    /// The boundary injections of a job (R4), without the drain: `a` is row after row, `b` column after column, both of
    /// `k_len` operands.
    pub fn stream(self, job: u32, a: &[&[i64]], b: &[&[i64]]) -> Self {
        assert_eq!((a.len(), b.len()), (self.rows, self.columns), "lanes of the job and of the grid");
        let lane = |operands: &[i64], lane: usize, step: usize| {
            let k = step.checked_sub(lane)?;
            Some(Token { value: *operands.get(k)?, valid: true, job, k: k as u32 })
        };
        let lanes = |panel: &[&[i64]], step| -> Vec<Token> {
            let lanes = panel.iter().enumerate();
            lanes.map(|(i, operands)| lane(operands, i, step).unwrap_or(BUBBLE)).collect()
        };
        let last =
            |panel: &[&[i64]]| panel.iter().enumerate().map(|(i, lane)| i + lane.len()).max().unwrap_or(0);
        let steps = last(a).max(last(b));
        (0..steps).fold(self, |feed, step| feed.step(&lanes(a, step), &lanes(b, step)))
    }

    /// A whole job: its boundary injections, then the drain.
    pub fn job(self, tag: u32, a: &[&[i64]], b: &[&[i64]]) -> Self {
        let drain = self.rows.min(self.columns) - 1;
        self.stream(tag, a, b).drain(drain)
    }

    /// Edges so far.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Never true: there is always the reset.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Inserts a pause of `edges` edges before the edge `at`; the boundary presents that edge's tokens all the while.
    pub fn pause_before(mut self, at: usize, edges: usize) -> Self {
        let mut held = self.edges[at].clone();
        held.advance = false;
        self.edges.splice(at..at, std::iter::repeat_n(held, edges));
        self
    }

    /// Runs a fresh grid through the edges; the states of all PEs after each of them.
    ///
    /// # Panics
    /// When the level gives none.
    pub fn run(&self, grid: &dyn Grid, parameters: &Parameters) -> Vec<Vec<PeState>> {
        let states = grid.run(parameters, self.rows, self.columns, &self.edges);
        let states = states.unwrap_or_else(|error| panic!("{}: {error}", grid.level()));
        assert_eq!(states.len(), self.edges.len(), "{}: one sample an edge", grid.level());
        crate::cycles::report("contract", self.edges.len() as u64);
        states
    }
}
