//! What happens on one edge (R9–R17).

use crate::contract::Grid;
use crate::contract::feed::{Feed, token};
use systole_hdl::parameters::Parameters;

/// "A result on edge zero" is the accumulator after E0.
pub fn r10_a_result_on_edge_zero(grid: &(dyn Grid + 'static)) {
    let feed = Feed::new(1, 1, 2).step(&[token(1, 0)], &[token(5, 0)]).step(&[token(2, 1)], &[token(7, 1)]);
    let states = feed.run(grid, &Parameters { n: 1, ..Parameters::default() });
    let sums: Vec<i64> = states.iter().map(|pes| pes[0].acc).collect();
    assert_eq!(sums, [0, 5, 19]);
}
