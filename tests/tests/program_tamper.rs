//! Lies that no check of the wire can find: one value, one count, one status changed and the CRC computed again. The
//! program must end with 1, say exactly what differs, and write no file.

use clap::Parser;
use std::sync::atomic::AtomicBool;
use systole::cli::run::{RunArgs, run};
use systole::compare::{Mismatch, Quantity};
use systole::link::Link;
use systole::link::sim::SimLink;
use systole::link::software::SoftwareLink;
use systole::matrix::{Operands, random};
use systole::product::product;
use systole_firmware::design::Design;
use systole_hdl::codec::{Content, Reply};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::Origin;
use systole_tests::links::{Tap, pass, tamper};

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    run: RunArgs,
}

static GO_ON: AtomicBool = AtomicBool::new(false);

/// N = 2, and K = 5 as chunks of 3 and 2 terms.
fn design() -> Design {
    Design::new(Parameters { n: 2, k_max: 3, ..Parameters::default() }).expect("in range")
}

fn operands() -> (Operands, Operands) {
    random(4, 5, 6, 8, 11)
}

/// Changes the RESULT whose turn it is, counted from 0, and nothing else.
fn nth_result(
    turn: usize,
    mut change: impl FnMut(&mut Vec<u8>, &mut u32, &mut u32),
) -> impl FnMut(&mut Reply) {
    let mut seen = 0;
    move |reply| {
        if let Content::Result { jobs, steps, edges } = &mut reply.content {
            if seen == turn {
                change(jobs, steps, edges);
            }
            seen += 1;
        }
    }
}

fn boards(design: &Design) -> [Box<dyn Link>; 2] {
    let identity = design.identity(Origin::Simulated);
    [Box::new(SimLink::new(&identity, None)), Box::new(SoftwareLink::new(identity))]
}

/// The first mismatch and the number of them, on every link.
fn mismatch(change: impl Fn(&mut Vec<u8>, &mut u32, &mut u32) + Copy) -> (u64, Mismatch) {
    let (design, (a, b)) = (design(), operands());
    let found = boards(&design).map(|board| {
        let mut tap = Tap::new(board, pass(), tamper(nth_result(0, change)));
        let product = product(&mut tap, &design, &a, &b, &mut (), &GO_ON).expect("a product");
        assert_eq!(product.reruns, 0, "a mismatch is not retried away");
        (product.comparison.mismatches, product.comparison.first.expect("a mismatch"))
    });
    assert_eq!(found[0], found[1]);
    found[0]
}

/// A·B at a cell, over the first chunk's three terms.
fn partial(row: usize, column: usize) -> i64 {
    let (a, b) = operands();
    (0..3).map(|k| i64::from(a.row(row)[k]) * i64::from(b.row(k)[column])).sum()
}

#[test]
fn row_28_one_value_is_named_by_cell_block_and_job() {
    // The first RESULT is of block 0. Its second job, if it has one, is block 1; the change is in the first: status,
    // then 3 bytes a value, of which the third is row 1, column 0.
    let (mismatches, first) = mismatch(|jobs, _, _| jobs[1 + 2 * 3] ^= 1);
    let expected = partial(1, 0);
    let got = if expected & 1 == 0 { expected + 1 } else { expected - 1 };
    let place = Mismatch { what: Quantity::Value, row: 1, column: 0, block: 0, job: Some(0), expected, got };
    assert_eq!((mismatches, first), (1, place));
}

#[test]
fn row_28_what_wrong_values_have_in_common_is_told() {
    let (design, (a, b)) = (design(), operands());
    // Both values of the first job's second row, which are 3 bytes each; 24 values in 2 chunks are compared.
    let change = |jobs: &mut Vec<u8>, _: &mut u32, _: &mut u32| {
        for at in [1 + 2 * 3, 1 + 3 * 3] {
            jobs[at + 2] ^= 0x80;
        }
    };
    for board in boards(&design) {
        let mut tap = Tap::new(board, pass(), tamper(nth_result(0, change)));
        let product = product(&mut tap, &design, &a, &b, &mut (), &GO_ON).expect("a product");
        let text = product.comparison.pattern.text().expect("two are wrong");
        assert!(text.starts_with("2 of 48 values are wrong, all in row 1 of the grid, in job 0"), "{text}");
    }
}

#[test]
fn one_status() {
    let (mismatches, first) = mismatch(|jobs, _, _| jobs[0] = 3);
    let place =
        Mismatch { what: Quantity::Status, row: 0, column: 0, block: 0, job: Some(0), expected: 0, got: 3 };
    assert_eq!((mismatches, first), (1, place));
}

#[test]
fn one_count_of_steps_or_edges() {
    for (what, change) in [
        (Quantity::Steps, (|_, steps, _| *steps += 1) as fn(&mut Vec<u8>, &mut u32, &mut u32)),
        (Quantity::Edges, |_, _, edges| *edges += 1),
    ] {
        let (mismatches, first) = mismatch(change);
        // Jobs of three terms on a 2×2 grid take 3 + 2 steps each.
        assert_eq!(first.expected % 5, 0);
        let place =
            Mismatch { what, row: 0, column: 0, block: 0, job: Some(0), got: first.expected + 1, ..first };
        assert_eq!((mismatches, first), (1, place));
    }
}

#[test]
fn errors_that_cancel_out_are_still_found() {
    // The same cell of C, one more in one chunk and one less in the other: C itself stays right.
    let (design, (a, b)) = (design(), operands());
    for board in boards(&design) {
        let mut jobs_seen = 0;
        let change = move |reply: &mut Reply| {
            let Content::Result { jobs, .. } = &mut reply.content else { return };
            for job in jobs.chunks_mut(1 + 4 * 3) {
                // Six blocks a chunk. Block 0 is the first job of either chunk.
                if jobs_seen == 0 || jobs_seen == 6 {
                    let value = i32::from_le_bytes([job[1], job[2], job[3], 0]) << 8 >> 8;
                    let wrong = if jobs_seen == 0 { value + 1 } else { value - 1 };
                    job[1..4].copy_from_slice(&wrong.to_le_bytes()[..3]);
                }
                jobs_seen += 1;
            }
        };
        let mut tap = Tap::new(board, pass(), tamper(change));
        let product = product(&mut tap, &design, &a, &b, &mut (), &GO_ON).expect("a product");
        assert_eq!(product.comparison.mismatches, 2);
        let sum: i64 = (0..5).map(|k| i64::from(a.row(0)[k]) * i64::from(b.row(k)[0])).sum();
        assert_eq!(product.c.row(0)[0], sum, "the test itself: the two errors cancel out");
    }
}

#[test]
fn the_program_ends_with_1_and_writes_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let out = directory.path().join("c.npy");
    let out_text = out.to_str().expect("UTF-8");
    let (design, (a, b)) = (design(), operands());
    for (turn, code) in [(0, 1), (usize::MAX, 0)] {
        for board in boards(&design) {
            let arguments = Arguments::parse_from(["systole", "--random", "4x5x6", "--out", out_text]).run;
            let mut tap = Tap::new(board, pass(), tamper(nth_result(turn, |jobs, _, _| jobs[1] ^= 0x10)));
            let ended = run(&arguments, &mut tap, &design, &a, &b, &GO_ON).expect("a report");
            assert_eq!((ended, out.exists()), (code, code == 0));
        }
    }
}
