//! What a processing element is to the array.

use super::tile::Tile;
use std::fmt::Debug;
use systole_hdl::wire::ErrorKind;

/// What a PE sees on an edge: the registered outputs of its neighbours, or the boundary. `None` is no token
/// at all, which is not the same as a token that is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs<T> {
    /// From the left neighbour or the west boundary.
    pub west: Option<T>,
    /// From the PE above or the north boundary.
    pub north: Option<T>,
}

/// What a PE gives on an edge; its neighbours see it on the next one (R11).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs<T> {
    /// To the right neighbour.
    pub east: Option<T>,
    /// To the PE below.
    pub south: Option<T>,
    /// Error raised on this very edge, whether or not the PE already keeps one.
    pub raised: Option<ErrorKind>,
}

/// One kind of processing element. The array holds a state for each PE and calls [`Pe::step`] once an
/// advancing edge.
pub trait Pe: Clone + Send + Sync + 'static {
    /// What a link carries.
    type Token: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// What a PE keeps between edges, links not included.
    type State: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// How the partitioned backend computes a rectangle of these PEs: [`PerPe`](super::tile::PerPe) unless
    /// there is something faster.
    type Tile: Tile<Self> + 'static;

    /// State after reset and after clear.
    fn initial(&self) -> Self::State;

    /// One advancing edge: updates the state from the inputs as they were before the edge.
    fn step(&self, state: &mut Self::State, inputs: &Inputs<Self::Token>) -> Outputs<Self::Token>;
}
