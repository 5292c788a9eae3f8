//! What happens on one edge (R9–R17).

use super::examples::{A2, A35, B2, B53, C2, design};
use super::{errors, sums};
use crate::contract::feed::{BUBBLE, Feed, token};
use crate::contract::{Grid, PeState, Token};

/// On an edge a PE accumulates the product of its inputs as they were before the edge, and stores those same inputs;
/// its neighbours consume them on the next edge.
pub fn r09_an_edge_takes_and_forwards_the_same_inputs(grid: &dyn Grid) {
    let states = Feed::new(2, 2, 2).job(0, &A2, &B2).run(grid, &design(2, 8));
    let after: Vec<Vec<i64>> = states.iter().map(|pes| sums(pes)).collect();
    assert_eq!(after, [[0, 0, 0, 0], [5, 0, 0, 0], [19, 6, 15, 0], [19, 22, 43, 18], C2]);
    let forwarded = |edge: usize, pe: usize| (states[1 + edge][pe].a_out, states[1 + edge][pe].b_out);
    assert_eq!(forwarded(0, 0), (token(1, 0), token(5, 0)));
    assert_eq!(forwarded(1, 0), (token(2, 1), token(7, 1)));
    assert_eq!(forwarded(1, 1), (token(1, 0), token(6, 0)));
    assert_eq!(forwarded(1, 2), (token(3, 0), token(5, 0)));
    assert_eq!(forwarded(2, 3), (token(3, 0), token(6, 0)));
    assert_eq!(forwarded(3, 3), (token(4, 1), token(8, 1)));
}

/// Reset and clear end before E0: what is presented together with them is not consumed.
pub fn r09_reset_and_clear_end_before_e0(grid: &dyn Grid) {
    let (a, b) = ([token(1, 0)], [token(5, 0)]);
    let feed = Feed::new(1, 1, 2).edge([true, false, false], &a, &b).edge([false, true, false], &a, &b);
    let states = feed.step(&a, &b).run(grid, &design(1, 2));
    let taken: Vec<u32> = states.iter().map(|pes| pes[0].count).collect();
    assert_eq!(taken, [0, 0, 0, 1]);
}

/// "A result on edge zero" is the accumulator after E0: 1×5 gives 5, and 2×7 on E1 makes it 19, while the neighbours
/// consume the first registered operands.
pub fn r10_a_result_on_edge_zero(grid: &dyn Grid) {
    let feed = Feed::new(2, 2, 2).step(&[token(1, 0)], &[token(5, 0)]);
    let states = feed.step(&[token(2, 1), token(3, 0)], &[token(7, 1), token(6, 0)]).run(grid, &design(2, 8));
    assert_eq!([states[0][0].acc, states[1][0].acc, states[2][0].acc], [0, 5, 19]);
    assert_eq!([states[1][1].acc, states[2][1].acc], [0, 6]);
    assert_eq!([states[1][2].acc, states[2][2].acc], [0, 15]);
}

/// A lone token is in the register of exactly one PE after every edge, one PE further each time.
pub fn r11_no_token_crosses_two_pes_on_one_edge(grid: &dyn Grid) {
    let east = Feed::new(3, 3, 2).step(&[BUBBLE, token(9, 0)], &[]).drain(4).run(grid, &design(3, 8));
    let south = Feed::new(3, 3, 2).step(&[], &[BUBBLE, token(9, 0)]).drain(4).run(grid, &design(3, 8));
    let holders = |pes: &[PeState], forward: fn(&PeState) -> Token| -> Vec<usize> {
        (0..9).filter(|&p| forward(&pes[p]).valid).collect()
    };
    let east: Vec<_> = east.iter().map(|pes| holders(pes, |pe| pe.a_out)).collect();
    let south: Vec<_> = south.iter().map(|pes| holders(pes, |pe| pe.b_out)).collect();
    assert_eq!(east, [vec![], vec![3], vec![4], vec![5], vec![], vec![]]);
    assert_eq!(south, [vec![], vec![1], vec![4], vec![7], vec![], vec![]]);
}

/// Column 0 takes A from the boundary and row 0 takes B; everyone else takes what the neighbour registered: value,
/// valid, job and k alike.
pub fn r12_links_carry_whole_tokens_from_neighbour_to_neighbour(grid: &dyn Grid) {
    let boundary = |side: i64, lane: usize, step: usize| Token {
        value: side * (30 * lane as i64 + 3 * step as i64 + 1),
        valid: !(lane + 2 * step).is_multiple_of(4),
        job: (lane + step) as u32 % 4,
        k: (3 * lane + 5 * step) as u32 % 8,
    };
    let lanes = |side, step| [0, 1, 2].map(|lane| boundary(side, lane, step));
    let feed = (0..8).fold(Feed::new(3, 3, 8), |feed, t| feed.step(&lanes(1, t), &lanes(-1, t)));
    let states = feed.run(grid, &design(3, 8));
    for (t, pes) in states[1..].iter().enumerate() {
        for (i, j) in (0..9).map(|p| (p / 3, p % 3)) {
            let a = t.checked_sub(j).map_or(BUBBLE, |step| boundary(1, i, step));
            let b = t.checked_sub(i).map_or(BUBBLE, |step| boundary(-1, j, step));
            assert_eq!((pes[3 * i + j].a_out, pes[3 * i + j].b_out), (a, b), "PE({i},{j}) after E{t}");
        }
    }
}

/// Clear and advance are shared: one edge of either acts on every PE.
pub fn r12_clear_and_advance_are_shared_by_the_whole_grid(grid: &dyn Grid) {
    let states = Feed::new(2, 2, 2).job(0, &A2, &B2).pause(1).clear().run(grid, &design(2, 8));
    assert_eq!((sums(&states[5]), sums(&states[6])), (C2.to_vec(), vec![0; 4]));
    assert_eq!(states[4], states[5]);
}

/// Reset, then clear, then advance: a legal pair presented together with reset or clear is dropped.
pub fn r13_reset_beats_clear_beats_advance(grid: &dyn Grid) {
    let signals = [
        [true, false, false],
        [false, true, false],
        [true, true, false],
        [true, false, true],
        [false, true, true],
        [true, true, true],
    ];
    for signals in signals {
        let first = Feed::new(1, 1, 2).step(&[token(1, 0)], &[token(5, 0)]);
        let feed = first.edge(signals, &[token(2, 1)], &[token(7, 1)]);
        let states = feed.step(&[token(3, 0)], &[token(4, 0)]).run(grid, &design(1, 2));
        assert_eq!((states[1][0].acc, states[1][0].count), (5, 1));
        assert_eq!(states[2][0], PeState::default(), "[reset, clear, advance] = {signals:?}");
        assert_eq!((states[3][0].acc, states[3][0].count), (12, 1));
    }
}

/// Reset and clear empty accumulator, count, done, error, valid and tag state together.
pub fn r14_reset_and_clear_empty_everything(grid: &dyn Grid) {
    for signals in [[true, false, false], [false, true, false]] {
        let full = Feed::new(2, 2, 1).step(&[token(3, 0)], &[token(4, 0)]).step(&[token(9, 1)], &[]);
        let states = full.edge(signals, &[], &[]).run(grid, &design(2, 8));
        let corner = states[2][0];
        assert!(
            corner.acc == 12 && corner.done && corner.error.is_some() && corner.a_out.valid,
            "{corner:?}"
        );
        assert_eq!(states[3], [PeState::default(); 4], "[reset, clear, advance] = {signals:?}");
    }
}

/// Without advance everything holds, whatever the boundary presents: an accumulator of 5 paused for two edges is still
/// 5, and the next advancing edge is the next step.
pub fn r15_without_advance_everything_holds(grid: &dyn Grid) {
    let start = Feed::new(2, 2, 2).step(&[token(1, 0)], &[token(5, 0)]);
    let held = start.edge([false; 3], &[token(2, 1), token(3, 0)], &[token(7, 1), token(6, 0)]).edge(
        [false; 3],
        &[token(77, 0), token(-77, 1)],
        &[BUBBLE, token(55, 1)],
    );
    let feed = held.step(&[token(2, 1), token(3, 0)], &[token(7, 1), token(6, 0)]);
    let states = feed.step(&[BUBBLE, token(4, 1)], &[BUBBLE, token(8, 1)]).drain(1).run(grid, &design(2, 8));
    assert_eq!(states[1][0].acc, 5);
    assert_eq!((&states[2], &states[3]), (&states[1], &states[1]));
    assert_eq!(sums(&states[4]), [19, 6, 15, 0]);
    assert_eq!(sums(&states[6]), C2);
    assert_eq!(errors(&states[6]), [None; 4]);
}

/// Reset and clear work during a pause too: old tokens never leak into the next job.
pub fn r16_reset_and_clear_work_during_a_pause(grid: &dyn Grid) {
    for signals in [[true, false, false], [false, true, false]] {
        for cut in 1..=8 {
            let mut feed = Feed::new(3, 3, 5);
            let whole = feed.clone().job(0, &A35, &B53);
            for edge in &whole.edges()[1..=cut] {
                feed = feed.step(&edge.a, &edge.b);
            }
            let feed = feed.pause(1).edge(signals, &[], &[]).pause(1);
            let empty = feed.len() - 2;
            let states = feed.job(0, &A35, &B53).run(grid, &design(3, 8));
            assert_eq!(states[empty], [PeState::default(); 9], "cut after {cut} edges");
            let last = states.last().expect("samples");
            assert_eq!((sums(last), errors(last)), (super::examples::C33.to_vec(), vec![None; 9]));
        }
    }
}

/// A sample shows the state after the update of its edge, for every PE alike and in whatever order they are computed.
pub fn r17_samples_show_the_state_after_the_edge(grid: &dyn Grid) {
    let feed = Feed::new(3, 3, 5).job(0, &A35, &B53);
    let states = feed.run(grid, &design(3, 8));
    let taken = |p: usize| -> Vec<u32> { states.iter().map(|pes| pes[p].count).collect() };
    assert_eq!(taken(0), [0, 1, 2, 3, 4, 5, 5, 5, 5, 5]);
    assert_eq!(taken(1), [0, 0, 1, 2, 3, 4, 5, 5, 5, 5]);
    assert_eq!(taken(3), taken(1));
    assert_eq!(taken(8), [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]);
    assert_eq!(feed.run(grid, &design(3, 8)), states, "the same edges give the same samples");
}
