//! Shape, widths and counts (R1–R8) of the array alone.

use super::examples::{A2, A23, A35, B2, B34, B53, C2, C24, C33, design};
use super::{counts, errors, sums};
use crate::contract::feed::{Feed, token};
use crate::contract::{Grid, LevelError};
use systole_hdl::parameters::{Parameters, STAGES};

/// The reduction length is independent of the side: nine PEs take five terms each, forty-five MACs.
pub fn r01_nine_pes_take_five_terms_each(grid: &dyn Grid) {
    let states = Feed::new(3, 3, 5).job(0, &A35, &B53).run(grid, &design(3, 8));
    let last = states.last().expect("samples");
    assert_eq!(sums(last), C33);
    assert_eq!(counts(last), [5; 9]);
    assert_eq!(counts(last).iter().sum::<u32>(), 45);
    assert_eq!(errors(last), [None; 9]);
}

/// Arrays need not be square in software: the last PE of a 2×4 array with K = 3 finishes after the edge K+R+C−3 = 6, the
/// last injection is at K+max(R,C)−2 = 5, and min(R,C)−1 = 1 drain edge follows.
pub fn r01_rectangular_arrays(grid: &dyn Grid) {
    let stream = Feed::new(2, 4, 3).stream(0, &A23, &B34);
    assert_eq!(stream.len(), 1 + 6);
    let states = stream.drain(2).run(grid, &design(4, 8));
    assert_eq!(states.iter().position(|pes| pes[7].done), Some(1 + 6));
    assert_eq!(sums(&states[1 + 6]), C24);
    assert_eq!(errors(&states[1 + 6]), [None; 8]);
    assert_eq!(states[1 + 7][7].acc, 123);

    let (tall, wide): ([&[i64]; 3], [&[i64]; 1]) = ([&[2, 3], &[-4, 5], &[7, 1]], [&[10, -1]]);
    let states = Feed::new(3, 1, 2).job(0, &tall, &wide).run(grid, &design(3, 8));
    assert_eq!(states.len(), 1 + 4);
    assert_eq!(sums(states.last().expect("samples")), [17, -45, 69]);
}

/// No PE, no term, or an accumulator below twice the operand width: refused with the parameter's name before anything
/// is built.
pub fn r02_impossible_designs_are_refused(grid: &dyn Grid) {
    let designs = [
        (Parameters { n: 0, ..Parameters::default() }, "n is 0"),
        (Parameters { k_max: 0, ..Parameters::default() }, "k-max is 0"),
        (Parameters { w: 8, aw: 15, ..Parameters::default() }, "aw is 15"),
    ];
    for (parameters, name) in designs {
        let answer = grid.run(&parameters, 1, 1, Feed::new(1, 1, 1).edges());
        let error = answer.expect_err(name);
        assert!(matches!(error, LevelError::Parameters(_)), "{error}");
        assert!(error.to_string().starts_with(name), "{error}");
    }
}

/// Counters and tags differ where K is a power of two above 1, and neither is ever without bits: a design of each K_MAX
/// takes all its terms, and no more.
pub fn r03_counters_hold_k_and_tags_hold_k_minus_one(grid: &dyn Grid) {
    let widths = [(1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 3, 2), (5, 3, 3), (7, 3, 3), (8, 4, 3), (16, 5, 4)];
    for (k_max, counter, tag) in widths {
        let parameters = design(1, k_max);
        assert_eq!((parameters.count_bits(), parameters.tag_bits()), (counter, tag), "K = {k_max}");
        let terms =
            (0..k_max).fold(Feed::new(1, 1, k_max), |feed, k| feed.step(&[token(3, k)], &[token(-2, k)]));
        let states = terms.run(grid, &parameters);
        let taken: Vec<u32> = states.iter().map(|pes| pes[0].count).collect();
        assert_eq!(taken, (0..=k_max).collect::<Vec<_>>(), "K = {k_max}");
        let last = states.last().expect("samples")[0];
        assert!(last.done && last.error.is_none(), "K = {k_max}: {last:?}");
        assert_eq!(last.acc, -6 * i64::from(k_max));
    }
}

/// `A(i,k)` and `B(k,j)` are both at PE(i,j) at step k+i+j.
pub fn r04_operands_meet_at_step_k_plus_i_plus_j(grid: &dyn Grid) {
    let states = Feed::new(3, 3, 5).job(0, &A35, &B53).run(grid, &design(3, 8));
    // Terms taken by a PE at distance i+j from the corner, after E0 … E8.
    let taken_at_distance = [
        [1, 2, 3, 4, 5, 5, 5, 5, 5],
        [0, 1, 2, 3, 4, 5, 5, 5, 5],
        [0, 0, 1, 2, 3, 4, 5, 5, 5],
        [0, 0, 0, 1, 2, 3, 4, 5, 5],
        [0, 0, 0, 0, 1, 2, 3, 4, 5],
    ];
    for (i, j) in (0..9).map(|p| (p / 3, p % 3)) {
        let taken: Vec<u32> = states[1..].iter().map(|pes| pes[3 * i + j].count).collect();
        assert_eq!(taken, taken_at_distance[i + j], "PE({i},{j})");
    }
}

/// The last PE finishes just after E_(K+2N−3): edge 3 for N=K=2, edge 8 for N=3, K=5.
pub fn r05_the_last_pe_finishes_after_edge_k_plus_2n_minus_3(grid: &dyn Grid) {
    let one: [&[i64]; 1] = [&[7]];
    let columns: [&[i64]; 3] = [&[2], &[3], &[5]];
    let runs = [
        (Feed::new(1, 1, 1).job(0, &one, &one), design(1, 1), 0, vec![49]),
        (Feed::new(2, 2, 2).job(0, &A2, &B2), design(2, 8), 3, C2.to_vec()),
        (Feed::new(3, 3, 5).job(0, &A35, &B53), design(3, 8), 8, C33.to_vec()),
        (
            Feed::new(3, 3, 1).job(0, &columns, &columns),
            design(3, 8),
            4,
            vec![4, 6, 10, 6, 9, 15, 10, 15, 25],
        ),
    ];
    for (feed, parameters, last_edge, product) in runs {
        let states = feed.run(grid, &parameters);
        let done = |pes: &Vec<crate::contract::PeState>| pes.last().expect("PEs").done;
        assert_eq!(states.iter().position(done), Some(1 + last_edge), "edge {last_edge}");
        assert_eq!(states.len(), 1 + last_edge + 1, "edge {last_edge} is the last of the job");
        assert_eq!(sums(&states[1 + last_edge]), product);
    }
}

/// The last injection is at E_(K+N−2); N−1 drain edges follow, none of which may be left out.
pub fn r06_drain_edges_follow_the_last_injection(grid: &dyn Grid) {
    let stream = Feed::new(3, 3, 5).stream(0, &A35, &B53);
    let valid = |edge: &crate::contract::Edge| edge.a.iter().chain(&edge.b).any(|token| token.valid);
    assert_eq!(stream.edges().iter().rposition(valid), Some(1 + 6));
    let states = stream.clone().drain(1).run(grid, &design(3, 8));
    assert!(!states.last().expect("samples")[8].done);
    let states = stream.drain(2).run(grid, &design(3, 8));
    assert_eq!(sums(states.last().expect("samples")), C33);
    // At N=1 the last injection is the last edge.
    let alone: [&[i64]; 1] = [&[4, 5]];
    let states = Feed::new(1, 1, 2).stream(0, &alone, &alone).run(grid, &design(1, 2));
    assert_eq!((states.len(), states[2][0].acc, states[2][0].done), (1 + 2, 41, true));
}

/// A pause before any step, the first one included, delays the steps and changes nothing else.
pub fn r07_pauses_delay_and_change_nothing(grid: &dyn Grid) {
    let steps = 4;
    let job = Feed::new(2, 2, 2).job(0, &A2, &B2);
    let unpaused = job.run(grid, &design(2, 8));
    assert_eq!(unpaused.len(), 1 + steps);
    for step in 0..steps {
        for pause in 1..=3 {
            let paused = job.clone().pause_before(1 + step, pause).run(grid, &design(2, 8));
            assert_eq!(paused.len(), 1 + steps + pause);
            assert_eq!(paused[..=step], unpaused[..=step], "before step {step}");
            assert!(paused[1 + step..1 + step + pause].iter().all(|pes| *pes == unpaused[step]));
            assert_eq!(paused[1 + step + pause..], unpaused[1 + step..], "from step {step} on");
        }
    }
}

/// The formulas are those of an array without pipeline stages.
pub fn r08_the_formulas_are_of_an_unpipelined_array(grid: &dyn Grid) {
    assert_eq!(STAGES, 0);
    let steps = [(1, 1, 1), (2, 2, 4), (3, 5, 9), (4, 1, 7), (1, 9, 9), (32, 65536, 65598)];
    for (n, k_len, steps) in steps {
        assert_eq!(design(n, 65536).steps(k_len), steps, "N={n}, K={k_len}");
    }
    // And the product is in the accumulator on the edge that takes its operands.
    let states = Feed::new(1, 1, 1).step(&[token(6, 0)], &[token(7, 0)]).run(grid, &design(1, 1));
    assert_eq!(states[1][0].acc, 42);
}
