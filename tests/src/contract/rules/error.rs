//! What is wrong, how it is told, and what it leaves alone (R24–R24b, R28).

use super::examples::{A2, B2, C2, design};
use super::{counts, errors, sums};
use crate::contract::feed::{BUBBLE, Feed, token};
use crate::contract::{Grid, PeState, Token};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::ErrorKind;

/// A pair, or half of one, for a PE that has taken one term of job 0, and the error it makes: in order of precedence,
/// each with everything that comes after it wrong too.
const ILLEGAL: [(Token, Token, ErrorKind); 6] = [
    (Token { value: 9, valid: true, job: 1, k: 3 }, BUBBLE, ErrorKind::Unpaired),
    (BUBBLE, Token { value: 9, valid: true, job: 1, k: 3 }, ErrorKind::Unpaired),
    (Token { value: 9, valid: true, job: 1, k: 3 }, token(9, 2), ErrorKind::JobMismatch),
    (token(9, 1), token(9, 2), ErrorKind::KMismatch),
    (token(9, 2), token(9, 1), ErrorKind::KMismatch),
    (token(9, 3), token(9, 3), ErrorKind::OutOfOrder),
];

/// One term taken, for a job of four.
fn one_term() -> Feed {
    Feed::new(1, 1, 4).step(&[token(2, 0)], &[token(3, 0)])
}

/// A valid operand that meets a bubble is neither multiplied nor counted, is forwarded, and is an error.
pub fn r24_an_unpaired_operand_is_an_error(grid: &dyn Grid) {
    let states = Feed::new(2, 2, 2).step(&[token(7, 0)], &[]).drain(1).run(grid, &design(2, 8));
    let kinds = |edge: usize| errors(&states[edge]);
    assert_eq!(kinds(1), [Some(ErrorKind::Unpaired), None, None, None]);
    assert_eq!(kinds(2), [Some(ErrorKind::Unpaired), Some(ErrorKind::Unpaired), None, None]);
    assert_eq!((counts(&states[2]), sums(&states[2])), (vec![0; 4], vec![0; 4]));
    assert_eq!((states[1][0].a_out, states[2][1].a_out), (token(7, 0), token(7, 0)));
    let states = Feed::new(2, 2, 2).step(&[], &[token(7, 0)]).drain(1).run(grid, &design(2, 8));
    let unpaired = Some(ErrorKind::Unpaired);
    assert_eq!(errors(&states[2]), [unpaired, None, unpaired, None]);
    assert_eq!(states[2][2].b_out, token(7, 0));
}

/// A drain that ends with terms missing leaves count below K, and never `done`.
pub fn r24_missing_terms_show_in_the_count(grid: &dyn Grid) {
    let (a, b): ([&[i64]; 2], [&[i64]; 2]) = ([&[1], &[3]], [&[5], &[6]]);
    let states = Feed::new(2, 2, 2).job(0, &a, &b).drain(4).run(grid, &design(2, 8));
    let last = states.last().expect("samples");
    assert_eq!((sums(last), counts(last), errors(last)), (vec![5, 6, 15, 18], vec![1; 4], vec![None; 4]));
    assert!(states.iter().flatten().all(|pe| !pe.done));
}

/// Values are two's-complement: every combination of extreme signs.
pub fn r24a_operands_are_signed(grid: &dyn Grid) {
    let products =
        [(-128, -128, 16384), (-128, 127, -16256), (127, -128, -16256), (127, 127, 16129), (-1, -1, 1)];
    for (a, b, product) in products {
        let pe = Feed::new(1, 1, 1).step(&[token(a, 0)], &[token(b, 0)]).run(grid, &design(1, 1))[1][0];
        assert_eq!(pe.acc, product, "{a} × {b}");
    }
}

/// −128×−128 as often as the accumulator holds exactly: 511 terms in 24 bits, one in 16, and 3 in 9 bits of W = 4.
pub fn r24a_the_largest_sums_are_exact(grid: &dyn Grid) {
    let extremes = [
        (8, 24, 511, -128, -128, 8_372_224),
        (8, 24, 511, -128, 127, -8_306_816),
        (8, 16, 1, -128, -128, 16_384),
        (4, 9, 3, -8, -8, 192),
        (16, 34, 7, -32768, -32768, 7_516_192_768),
    ];
    for (w, aw, k_len, a, b, sum) in extremes {
        let parameters = Parameters { n: 1, w, aw, k_max: 512, ..Parameters::default() };
        assert_eq!(parameters.exact_limit(), u64::from(k_len));
        let terms =
            (0..k_len).fold(Feed::new(1, 1, k_len), |feed, k| feed.step(&[token(a, k)], &[token(b, k)]));
        let pe = terms.run(grid, &parameters).last().expect("samples")[0];
        assert_eq!((pe.acc, pe.count, pe.error), (sum, k_len, None), "W={w}, AW={aw}");
    }
}

/// The same at the largest K_MAX there is: 65,536 terms make 2^30.
pub fn r24a_the_longest_reduction_is_exact(grid: &dyn Grid) {
    let parameters =
        Parameters { n: 1, k_max: 65536, a_depth: 65536, b_depth: 65536, ..Parameters::default() };
    let k_len = 65536;
    let terms =
        (0..k_len).fold(Feed::new(1, 1, k_len), |feed, k| feed.step(&[token(-128, k)], &[token(-128, k)]));
    let pe = terms.run(grid, &parameters).last().expect("samples")[0];
    assert_eq!((pe.acc, pe.count, pe.done, pe.error), (1_073_741_824, 65536, true, None));
}

/// Unpaired before job mismatch before k mismatch before out of order; an illegal pair touches neither sum nor count,
/// and both halves are forwarded.
pub fn r24b_precedence_within_one_edge(grid: &dyn Grid) {
    for (a, b, kind) in ILLEGAL {
        let states = one_term().step(&[a], &[b]).run(grid, &design(1, 4));
        let pe = states[2][0];
        assert_eq!((pe.acc, pe.count, pe.error), (6, 1, Some(kind)), "{a:?} meets {b:?}");
        assert_eq!((pe.a_out, pe.b_out), (a, b));
    }
}

/// The first kind stays whatever comes later, legal terms go on being taken, and clear makes the PE good again.
pub fn r24b_the_first_kind_is_kept_until_clear(grid: &dyn Grid) {
    for (a, b, first) in ILLEGAL {
        let mut feed = one_term().step(&[a], &[b]);
        for (a, b, _) in ILLEGAL {
            feed = feed.step(&[a], &[b]);
        }
        let feed = feed.step(&[token(4, 1)], &[token(5, 1)]).clear();
        let states = feed.step(&[token(4, 0)], &[token(4, 0)]).run(grid, &design(1, 4));
        assert!(states[2..10].iter().all(|pes| pes[0].error == Some(first)), "{first}");
        assert_eq!((states[8][0].acc, states[8][0].count), (6, 1), "{first}");
        assert_eq!((states[9][0].acc, states[9][0].count), (26, 2), "{first}");
        assert_eq!(states[10][0], PeState::default());
        assert_eq!((states[11][0].acc, states[11][0].error), (16, None));
    }
}

/// Checks act on advancing edges only, and not on one with clear or reset.
pub fn r24b_checks_act_on_advancing_edges_only(grid: &dyn Grid) {
    for (a, b, kind) in ILLEGAL {
        for signals in [[false, false, false], [false, true, true], [true, false, true]] {
            let pe = one_term().edge(signals, &[a], &[b]).run(grid, &design(1, 4))[2][0];
            assert_eq!(pe.error, None, "{kind} with [reset, clear, advance] = {signals:?}");
        }
    }
}

/// A PE's error is its own: its neighbours go on unless the damaged tokens reach them.
pub fn r24b_an_error_is_told_where_it_happens(grid: &dyn Grid) {
    // B(0,1) comes one step early: PE(0,1) meets it alone, then A alone; so does PE(1,1) below.
    let feed = Feed::new(2, 2, 1)
        .step(&[token(1, 0)], &[token(5, 0), token(6, 0)])
        .step(&[BUBBLE, token(3, 0)], &[]);
    let states = feed.drain(2).run(grid, &design(2, 8));
    let unpaired = Some(ErrorKind::Unpaired);
    let last = states.last().expect("samples");
    assert_eq!(errors(last), [None, unpaired, None, unpaired]);
    assert_eq!(sums(last), [5, 0, 15, 0]);
}

/// Streams that are not skewed: PE(0,1) and PE(1,0) meet halves of pairs and wrong partners, the others end clean.
pub fn r28_streams_without_skew_are_caught(grid: &dyn Grid) {
    let feed = Feed::new(2, 2, 2).step(&[token(1, 0), token(3, 0)], &[token(5, 0), token(6, 0)]);
    let states =
        feed.step(&[token(2, 1), token(4, 1)], &[token(7, 1), token(8, 1)]).drain(3).run(grid, &design(2, 8));
    let last = states.last().expect("samples");
    let unpaired = Some(ErrorKind::Unpaired);
    assert_eq!(errors(last), [None, unpaired, unpaired, None]);
    assert_eq!((sums(last), counts(last)), (vec![19, 0, 0, 50], vec![2, 0, 0, 2]));
}

/// One token with a wrong tag, in the middle of a job: every PE it passes says so, and no other.
pub fn r28_wrong_tags_are_caught(grid: &dyn Grid) {
    for kind in [ErrorKind::JobMismatch, ErrorKind::KMismatch] {
        // The second term of row 1 enters at step 2.
        let job = Feed::new(2, 2, 2).job(0, &A2, &B2);
        let mut edges = job.edges().to_vec();
        let struck = &mut edges[1 + 2].a[1];
        match kind {
            ErrorKind::JobMismatch => struck.job ^= 1,
            _ => struck.k ^= 1,
        }
        let feed = edges[1..].iter().fold(Feed::new(2, 2, 2), |feed, edge| feed.step(&edge.a, &edge.b));
        let last = feed.run(grid, &design(2, 8)).pop().expect("samples");
        assert_eq!(errors(&last), [None, None, Some(kind), Some(kind)]);
        assert_eq!((sums(&last), counts(&last)), (vec![19, 22, 15, 18], vec![2, 2, 1, 1]));
    }
}

/// A repeated term, in the middle of a job, is caught by every PE it passes with its partner.
pub fn r28_repeated_terms_are_caught(grid: &dyn Grid) {
    let (a, b): ([&[i64]; 2], [&[i64]; 2]) = ([&[1, 2, 2], &[3, 4, 4]], [&[5, 7, 7], &[6, 8, 8]]);
    let job = Feed::new(2, 2, 2).job(0, &a, &b);
    let mut edges = job.edges().to_vec();
    for token in edges.iter_mut().flat_map(|edge| edge.a.iter_mut().chain(&mut edge.b)) {
        token.k = token.k.min(1);
    }
    let feed = edges[1..].iter().fold(Feed::new(2, 2, 2), |feed, edge| feed.step(&edge.a, &edge.b));
    let last = feed.run(grid, &design(2, 8)).pop().expect("samples");
    assert_eq!(errors(&last), [Some(ErrorKind::OutOfOrder); 4]);
    assert_eq!((sums(&last), counts(&last)), (C2.to_vec(), vec![2; 4]));
}
