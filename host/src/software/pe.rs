//! What a processing element is to the array, and the plain multiply-accumulate PE.

use super::tile::{PerPe, Tile};
use std::fmt::Debug;
use systole_hdl::wire::ErrorKind;

/// What a PE sees on an edge: the registered outputs of its neighbours, or the boundary. `None` is no token at all,
/// which is not the same as a token that is zero.
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

/// One kind of processing element. The array holds a state for each PE and calls [`Pe::step`] once an advancing edge.
pub trait Pe: Clone + Send + Sync + 'static {
    /// What a link carries.
    type Token: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// What a PE keeps between edges, links not included.
    type State: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// How the partitioned backend computes a rectangle of these PEs: [`PerPe`] unless there is something faster.
    type Tile: Tile<Self> + 'static;

    /// State after reset and after clear.
    fn initial(&self) -> Self::State;

    /// One advancing edge: updates the state from the inputs as they were before the edge.
    fn step(&self, state: &mut Self::State, inputs: &Inputs<Self::Token>) -> Outputs<Self::Token>;
}

/// Multiplies and accumulates whatever meets, and checks nothing. Where an operand is absent nothing is added. The sum
/// wraps in 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mac;

impl Pe for Mac {
    type Token = i64;
    type State = i64;
    type Tile = PerPe<Self>;

    fn initial(&self) -> i64 {
        0
    }

    fn step(&self, sum: &mut i64, inputs: &Inputs<i64>) -> Outputs<i64> {
        if let (Some(a), Some(b)) = (inputs.west, inputs.north) {
            *sum = sum.wrapping_add(a.wrapping_mul(b));
        }
        Outputs { east: inputs.west, south: inputs.north, raised: None }
    }
}
