//! What a PE makes of the tokens that meet in it (R18–R23).

use super::examples::{A2, B2, C2, design};
use super::{errors, sums};
use crate::contract::feed::{BUBBLE, Feed, token};
use crate::contract::{Grid, Token};
use systole_hdl::wire::ErrorKind;

/// A bubble's other bits mean nothing, whatever they are.
pub fn r18_bubbles_are_ignored_whatever_their_bits(grid: &dyn Grid) {
    let garbage = [
        Token { value: -1, valid: false, job: u32::MAX, k: u32::MAX },
        // All that a legal second term would have, but for valid.
        Token { value: 2, valid: false, job: 0, k: 1 },
        Token { value: 0x5a5a_5a5a, valid: false, job: 2, k: 0 },
    ];
    for (a, b) in garbage.iter().flat_map(|a| garbage.iter().map(move |b| (*a, *b))) {
        let feed = Feed::new(2, 2, 2).step(&[token(1, 0), a], &[token(5, 0), b]).step(&[a, a], &[b, b]);
        let states = feed.step(&[token(2, 1), a], &[token(7, 1), b]).run(grid, &design(2, 8));
        assert_eq!(states[2][0].count, states[1][0].count);
        assert_eq!((states[3][0].acc, states[3][0].count, states[3][0].done), (19, 2, true));
        // PE(1,1) has only seen bubbles; its neighbours met one half of a pair.
        let kinds = [None, Some(ErrorKind::Unpaired), Some(ErrorKind::Unpaired), None];
        assert_eq!(errors(&states[3]), kinds);
        assert_eq!((states[3][3].acc, states[3][3].count), (0, 0));
    }
}

/// A valid zero is a real operand and counts as a term.
pub fn r18_a_valid_zero_counts(grid: &dyn Grid) {
    let zeros: [&[i64]; 2] = [&[0, 0, 0], &[0, 0, 7]];
    let states = Feed::new(2, 2, 3).job(0, &zeros, &zeros).run(grid, &design(2, 8));
    let last = states.last().expect("samples");
    assert_eq!(sums(last), [0, 0, 0, 49]);
    assert!(last.iter().all(|pe| pe.count == 3 && pe.done && pe.error.is_none()), "{last:?}");
}

/// The connections fix the row of A and the column of B for each PE.
pub fn r19_connections_fix_row_and_column(grid: &dyn Grid) {
    let columns: [&[i64]; 3] = [&[3, 4], &[5, 6], &[7, 8]];
    for row in 0..3 {
        let mut rows: [&[i64]; 3] = [&[0, 0]; 3];
        rows[row] = &[1, 2];
        let states = Feed::new(3, 3, 2).job(0, &rows, &columns).run(grid, &design(3, 8));
        let mut product = [0; 9];
        product[3 * row..3 * row + 3].copy_from_slice(&[11, 17, 23]);
        assert_eq!(sums(states.last().expect("samples")), product, "row {row}");
    }
}

/// `A(0,1)=2` against `B(0,0)=5` is no legal term, and says so; against `B(1,0)=7` it is, and adds fourteen.
pub fn r20_partners_must_agree_on_k(grid: &dyn Grid) {
    let wrong = Feed::new(1, 1, 2).step(&[token(2, 1)], &[token(5, 0)]).run(grid, &design(1, 2));
    let pe = wrong[1][0];
    assert_eq!((pe.acc, pe.count, pe.error), (0, 0, Some(ErrorKind::KMismatch)));
    assert_eq!((pe.a_out, pe.b_out), (token(2, 1), token(5, 0)));
    let right = Feed::new(1, 1, 2).step(&[token(1, 0)], &[token(5, 0)]).step(&[token(2, 1)], &[token(7, 1)]);
    let states = right.run(grid, &design(1, 2));
    assert_eq!(states[2][0].acc - states[1][0].acc, 14);
    assert_eq!(states[2][0].error, None);
}

/// Partners of different jobs are a visible error too, whichever bit of the tag differs.
pub fn r20_partners_must_agree_on_job(grid: &dyn Grid) {
    for (mine, other) in [(0, 1), (1, 0), (0, 2), (3, 1), (1, 3)] {
        let a = Token { job: mine, ..token(2, 0) };
        let b = Token { job: other, ..token(5, 0) };
        let pe = Feed::new(1, 1, 2).step(&[a], &[b]).run(grid, &design(1, 2))[1][0];
        assert_eq!(
            (pe.acc, pe.count, pe.error),
            (0, 0, Some(ErrorKind::JobMismatch)),
            "{mine} against {other}"
        );
        assert_eq!((pe.a_out, pe.b_out), (a, b));
        let same = Feed::new(1, 1, 2).step(&[a], &[Token { job: mine, ..b }]).run(grid, &design(1, 2))[1][0];
        assert_eq!((same.acc, same.error), (10, None));
    }
}

/// Terms are counted, not clocks: bubbles and pauses count nothing, and `done` comes right after k = K−1.
pub fn r21_terms_are_counted_not_clocks(grid: &dyn Grid) {
    let term = |feed: Feed, k: u32| feed.step(&[token(2, k)], &[token(3, k)]);
    let feed = term(Feed::new(1, 1, 3), 0).drain(2).pause(1);
    let feed = term(term(feed, 1).pause(2), 2).drain(1);
    let states = feed.run(grid, &design(1, 8));
    let after: Vec<(u32, bool)> = states.iter().map(|pes| (pes[0].count, pes[0].done)).collect();
    let (one, two, three) = ((1, false), (2, false), (3, true));
    assert_eq!(after, [(0, false), one, one, one, one, two, two, two, three, three]);
    assert_eq!(states.last().expect("samples")[0].acc, 18);
}

/// A sixth term of a five-term job is an error although its k equals count.
pub fn r21_a_sixth_term_of_five_is_an_error(grid: &dyn Grid) {
    let terms = (0..6).fold(Feed::new(1, 1, 5), |feed, k| feed.step(&[token(1, k)], &[token(1, k)]));
    let states = terms.run(grid, &design(1, 8));
    let (five, six) = (states[5][0], states[6][0]);
    assert_eq!((five.acc, five.count, five.done, five.error), (5, 5, true, None));
    assert_eq!((six.acc, six.count, six.done, six.error), (5, 5, true, Some(ErrorKind::OutOfOrder)));
}

/// K=2: 1 and 5, a bubble, 2 and 7; then k=1 once more, although the result was complete.
pub fn r22_the_two_term_example(grid: &dyn Grid) {
    let first = Feed::new(1, 1, 2).step(&[token(1, 0)], &[token(5, 0)]).drain(1);
    let second = first.step(&[token(2, 1)], &[token(7, 1)]).pause(1);
    let states = second.step(&[token(2, 1)], &[token(7, 1)]).run(grid, &design(1, 2));
    let after: Vec<_> =
        states.iter().map(|pes| (pes[0].acc, pes[0].count, pes[0].done, pes[0].error)).collect();
    let (five, nineteen) = ((5, 1, false, None), (19, 2, true, None));
    let repeated = (19, 2, true, Some(ErrorKind::OutOfOrder));
    assert_eq!(after, [(0, 0, false, None), five, five, nineteen, nineteen, repeated]);
}

/// k comes in order: a term that is skipped, repeated or early is an error.
pub fn r23_k_comes_in_order(grid: &dyn Grid) {
    let orders: [(&[u32], u32, i64); 5] = [
        (&[1], 0, 0),       // skipped the first
        (&[0, 2], 1, 1),    // skipped one
        (&[0, 0], 1, 1),    // repeated
        (&[0, 1, 0], 2, 2), // went back
        (&[1, 0, 1], 2, 2), // swapped: what follows is in order again
    ];
    for (order, count, acc) in orders {
        let terms =
            order.iter().fold(Feed::new(1, 1, 3), |feed, &k| feed.step(&[token(1, k)], &[token(1, k)]));
        let pe = terms.run(grid, &design(1, 8)).last().expect("samples")[0];
        assert_eq!((pe.count, pe.acc, pe.error), (count, acc, Some(ErrorKind::OutOfOrder)), "{order:?}");
    }
}

/// Bubbles between the terms of every lane delay the product and change nothing else.
pub fn r18_bubbles_between_terms_only_delay(grid: &dyn Grid) {
    // A(i,k) enters at step 2k+i instead of k+i, and B(k,j) at 2k+j.
    let lanes = |panel: &[&[i64]; 2], step: usize| {
        [0, 1].map(|lane| {
            let k = step.checked_sub(lane).filter(|late| late % 2 == 0).map(|late| late / 2);
            k.and_then(|k| panel[lane].get(k).map(|&value| token(value, k as u32))).unwrap_or(BUBBLE)
        })
    };
    let feed = (0..5).fold(Feed::new(2, 2, 2), |feed, t| feed.step(&lanes(&A2, t), &lanes(&B2, t)));
    let states = feed.run(grid, &design(2, 8));
    assert_eq!(states.iter().position(|pes| pes[3].done), Some(1 + 4));
    let last = states.last().expect("samples");
    assert_eq!((sums(last), errors(last)), (C2.to_vec(), vec![None; 4]));
}
