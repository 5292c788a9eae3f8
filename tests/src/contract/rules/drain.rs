//! Drain and clear (R25, R26, R28).

use super::examples::{A2, A35, B2, B53, C2, C33, design};
use super::{counts, errors, sums};
use crate::contract::feed::{BUBBLE, Feed, token};
use crate::contract::{Grid, PeState};
use systole_hdl::wire::ErrorKind;

/// Tokens remain in the forward registers when the last boundary input has entered; with bubbles the array ends by
/// itself, and completed accumulators hold.
pub fn r25_tokens_remain_when_the_last_input_has_entered(grid: &dyn Grid) {
    let stream = Feed::new(3, 3, 5).stream(0, &A35, &B53);
    let entered = stream.len();
    let states = stream.drain(8).run(grid, &design(3, 8));
    let at_last_input = &states[entered - 1];
    assert!(at_last_input.iter().any(|pe| pe.a_out.valid && !pe.done), "tokens are under way");
    // The corner completed at E4 and holds from there on; the others are complete after two more edges.
    assert!(states[1 + 4..].iter().all(|pes| pes[0].acc == 15 && pes[0].done));
    assert_eq!(counts(at_last_input), [5, 5, 5, 5, 5, 4, 5, 4, 3]);
    for pes in &states[entered + 1..] {
        assert_eq!((sums(pes), errors(pes)), (C33.to_vec(), vec![None; 9]));
    }
}

/// After the drain no valid token is on any link that leads into a PE, and after N−1 more edges on none at all.
pub fn r25_the_drain_empties_the_links(grid: &dyn Grid) {
    let states = Feed::new(2, 2, 2).job(0, &A2, &B2).drain(2).run(grid, &design(2, 8));
    let drained = &states[4];
    assert!(!drained[0].a_out.valid && !drained[2].a_out.valid, "no A leads into column 1");
    assert!(!drained[0].b_out.valid && !drained[1].b_out.valid, "no B leads into row 1");
    let empty = states.last().expect("samples");
    assert!(empty.iter().all(|pe| !pe.a_out.valid && !pe.b_out.valid));
    assert_eq!(sums(empty), C2);
}

/// Draining is not clearing: the next job's first term is an error to a PE that is done.
pub fn r26_a_drained_array_is_not_a_cleared_one(grid: &dyn Grid) {
    let feed = Feed::new(2, 2, 2).job(0, &A2, &B2).job(0, &A2, &B2);
    let last = feed.run(grid, &design(2, 8)).pop().expect("samples");
    assert_eq!((sums(&last), errors(&last)), (C2.to_vec(), vec![Some(ErrorKind::OutOfOrder); 4]));
    let cleared = Feed::new(2, 2, 2).job(0, &A2, &B2).clear().job(0, &A2, &B2);
    let last = cleared.run(grid, &design(2, 8)).pop().expect("samples");
    assert_eq!((sums(&last), errors(&last)), (C2.to_vec(), vec![None; 4]));
}

/// A job given up after any number of edges, then clear, then another job with the same tag and another K, and a third:
/// nothing of the first is left in either.
pub fn r26_nothing_survives_a_clear(grid: &dyn Grid) {
    let whole = Feed::new(3, 3, 5).job(1, &A35, &B53);
    let units: [&[i64]; 3] = [&[1, 0, 0], &[0, 1, 0], &[0, 0, 1]];
    let columns: [&[i64]; 3] = [&[1, 4, 7], &[2, 5, 8], &[3, 6, 9]];
    let mut feed = Feed::new(3, 3, 5);
    let (mut cleared, mut ends) = (Vec::new(), Vec::new());
    for cut in 0..whole.len() {
        for edge in &whole.edges()[1..=cut] {
            feed = feed.step(&edge.a, &edge.b);
        }
        feed = feed.clear();
        cleared.push(feed.len() - 1);
        feed = feed.k_len(3).job(1, &units, &columns);
        ends.push((feed.len() - 1, (1..=9).collect::<Vec<i64>>()));
        feed = feed.clear().k_len(5).job(1, &A35, &B53);
        ends.push((feed.len() - 1, C33.to_vec()));
        feed = feed.clear();
    }
    let states = feed.run(grid, &design(3, 8));
    for at in cleared {
        assert_eq!(states[at], [PeState::default(); 9], "edge {at}");
    }
    for (at, product) in ends {
        assert_eq!((sums(&states[at]), errors(&states[at])), (product, vec![None; 9]), "edge {at}");
        assert!(states[at].iter().all(|pe| pe.done));
    }
}

/// Without a clear the tokens left in the registers do reach the next job's PEs, which say so.
pub fn r28_valid_state_left_over_is_caught(grid: &dyn Grid) {
    let step = |feed: Feed, k: u32| feed.step(&[token(1, k)], &[token(1, k)]);
    let left_over = step(step(Feed::new(2, 2, 4), 0), 1);
    let unpaired = Some(ErrorKind::Unpaired);
    let without = left_over.clone().drain(1).run(grid, &design(2, 8)).pop().expect("samples");
    assert_eq!(errors(&without), [None, unpaired, unpaired, None]);
    let with = left_over.clear().drain(2).run(grid, &design(2, 8)).pop().expect("samples");
    assert_eq!(with, [PeState::default(); 4]);
}

/// A job of nothing but valid zeros is a complete one; one of nothing but bubbles has no terms at all.
pub fn r28_zeros_count_and_bubbles_do_not(grid: &dyn Grid) {
    let zeros: [&[i64]; 2] = [&[0, 0], &[0, 0]];
    let last = Feed::new(2, 2, 2).job(0, &zeros, &zeros).run(grid, &design(2, 8)).pop().expect("samples");
    assert!(last.iter().all(|pe| pe.done && pe.count == 2 && pe.acc == 0 && pe.error.is_none()), "{last:?}");
    let bubbles = (0..4).fold(Feed::new(2, 2, 2), |feed, _| feed.step(&[BUBBLE; 2], &[BUBBLE; 2]));
    let last = bubbles.run(grid, &design(2, 8)).pop().expect("samples");
    assert_eq!(last, [PeState::default(); 4]);
}
