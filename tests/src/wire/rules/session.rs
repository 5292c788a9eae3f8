//! The program's own sessions over a core whose bytes are disturbed: a right product or an error with a name.

use super::{Check, small};
use crate::links::{Filter, Noise, Tap, pass};
use crate::wire::driver::Job;
use crate::wire::{WireBench, WireLevel};
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use systole::error::Error;
use systole::link::{Level, Link, LinkError, TimeBase};
use systole::matrix::random;
use systole::product::{Product, Watcher, product};
use systole::session::{Session, SessionError, SessionOptions};
use systole_firmware::design::Design;
use systole_hdl::codec::{Command, Content, Frame};
use systole_hdl::wire::{self, Origin};

pub const RULES: &[Check] = &[
    ("every_single_bit_flip_to_the_board", flips_to_board),
    ("every_single_bit_flip_from_the_board", flips_from_board),
    ("lost_results_whose_panels_were_overwritten_since", lost_results),
    ("lost_naks", lost_naks),
    ("noise_both_ways", noise),
    ("reset_in_the_middle_of_a_product", reset),
];

/// Edges of one poll at most.
const BURST: u64 = 60;

/// Edges that a byte takes at most, on a link that nothing slows down.
const BYTE: u64 = 4;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// A core as a link. Its bytes may be disturbed: bit number `flip_to` or `flip_from` of all that pass is inverted, and the
/// core is reset when `reset_at` edges have passed.
struct BenchLink {
    bench: Box<dyn WireBench>,
    edges: u64,
    sent: u64,
    heard: u64,
    flip_to: Option<u64>,
    flip_from: Option<u64>,
    reset_at: Option<u64>,
    /// Bits that passed, to and from the board.
    bits: Rc<Cell<(u64, u64)>>,
}

impl BenchLink {
    fn new(level: &dyn WireLevel) -> Self {
        let bench = level.bench(&small());
        let bits = Rc::default();
        Self { bench, edges: 0, sent: 0, heard: 0, flip_to: None, flip_from: None, reset_at: None, bits }
    }
}

fn design() -> Design {
    Design::new(small()).expect("in range")
}

/// The byte, with the bit inverted if it is the one with this number in the stream.
fn flipped(byte: u8, index: u64, bit: Option<u64>) -> u8 {
    match bit {
        Some(bit) if bit / 8 == index => byte ^ 1 << (bit % 8),
        _ => byte,
    }
}

impl Link for BenchLink {
    /// Which engine runs the core is no matter here.
    fn level(&self, _origin: Origin) -> Level {
        Level::RustHdl
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        for _ in 0..BURST {
            if self.reset_at == Some(self.edges) {
                self.bench.reset();
            }
            let offered = to_board.front().map(|&byte| flipped(byte, self.sent, self.flip_to));
            let edge = self.bench.edge(offered, true);
            self.edges += 1;
            if edge.taken {
                to_board.pop_front();
                self.sent += 1;
            }
            if let Some(byte) = edge.byte {
                from_board.push(flipped(byte, self.heard, self.flip_from));
                self.heard += 1;
                break;
            }
        }
        self.bits.set((8 * self.sent, 8 * self.heard));
        Ok(())
    }

    fn time(&self) -> TimeBase {
        TimeBase::of_simulation(BYTE, BURST)
    }

    fn now(&self) -> u64 {
        self.edges
    }

    fn cycles(&self) -> Option<u64> {
        Some(self.edges)
    }
}

/// A session of one job: HELLO, WRITE, WRITE, MULTIPLY, all sent ahead; run again when its RESULT was lost.
fn one_job(link: &mut dyn Link, job: &Job) -> Result<Content, SessionError> {
    let mut session = Session::open(link, SessionOptions { nonce: 0xDBC0_0102, design: None }, &GO_ON)?;
    loop {
        for command in job.writes(&small()) {
            session.issue(&command)?;
        }
        let ticket = session.issue(&Command::Multiply(job.multiply(&small())))?;
        if let Some(content) = session.finish(ticket)? {
            return Ok(content);
        }
    }
}

/// A job whose frames hold escapes.
fn recorded() -> Job {
    Job { k: 2, a: vec![-64, 2, 3, -37], b: vec![5, 7, -64, 8] }
}

fn flips_to_board(level: &dyn WireLevel) {
    let job = recorded();
    let mut clean = BenchLink::new(level);
    let bits = Rc::clone(&clean.bits);
    assert_eq!(one_job(&mut clean, &job).expect("nothing was disturbed"), job.result(&small()));
    let all = bits.get().0;
    assert!((600..=128 * 8).contains(&all), "{all} bits");
    for bit in 0..all {
        let mut link = BenchLink { flip_to: Some(bit), ..BenchLink::new(level) };
        let result = one_job(&mut link, &job).unwrap_or_else(|error| panic!("bit {bit}: {error}"));
        assert_eq!(result, job.result(&small()), "bit {bit}");
        // And the next good job works.
        link.flip_to = None;
        let job = Job::random(&small(), bit);
        assert_eq!(one_job(&mut link, &job).expect("undisturbed"), job.result(&small()), "after bit {bit}");
    }
}

fn flips_from_board(level: &dyn WireLevel) {
    let job = recorded();
    let mut clean = BenchLink::new(level);
    let bits = Rc::clone(&clean.bits);
    assert_eq!(one_job(&mut clean, &job).expect("nothing was disturbed"), job.result(&small()));
    for bit in 0..bits.get().1 {
        let mut link = BenchLink { flip_from: Some(bit), ..BenchLink::new(level) };
        let result = one_job(&mut link, &job).unwrap_or_else(|error| panic!("bit {bit}: {error}"));
        assert_eq!(result, job.result(&small()), "bit {bit}");
    }
}

struct Nobody;

impl Watcher for Nobody {
    fn progress(&mut self, _stage: &'static str, _done: u64, _total: u64) {}
}

/// An 11×9×13 product: more panels than the banks hold, so that they are overwritten all the time.
fn multiply(link: &mut dyn Link) -> Result<Product, Error> {
    let (a, b) = random(11, 9, 13, 8, 5);
    product(link, &design(), &a, &b, &mut Nobody, &GO_ON)
}

fn expect_equal(link: &mut dyn Link) -> Product {
    let product = multiply(link).expect("a product");
    assert!(product.comparison.equal(), "{:?}", product.comparison);
    assert_eq!(product.jobs, 6 * 7 * 3);
    product
}

/// Loses the frames of one opcode whose turn it is, counted from 0.
fn losing<'a>(opcode: u8, turns: &'a [usize]) -> Filter<'a> {
    let mut seen = 0;
    Box::new(move |frame: Frame| {
        let hit = frame.opcode == opcode && turns.contains(&seen);
        seen += usize::from(frame.opcode == opcode);
        if hit { vec![] } else { vec![frame] }
    })
}

fn lost_results(level: &dyn WireLevel) {
    for turns in [&[0][..], &[3, 4], &[1, 5, 6, 7, 20]] {
        let mut tap = Tap::new(BenchLink::new(level), pass(), losing(wire::RESULT, turns));
        let product = expect_equal(&mut tap);
        assert!(product.reruns >= turns.len() as u64, "{turns:?}: {} jobs run again", product.reruns);
    }
}

fn lost_naks(level: &dyn WireLevel) {
    let all: Vec<usize> = (0..1000).collect();
    for opcode in [wire::WRITE, wire::MULTIPLY] {
        let mut tap = Tap::new(BenchLink::new(level), losing(opcode, &[2]), losing(wire::NAK, &all));
        let product = expect_equal(&mut tap);
        assert_eq!(product.counters.go_backs, 0);
        assert!(product.counters.timeouts > 0, "{:?}", product.counters);
        // Only the first NAK is lost: the next one turns the host back.
        let mut tap = Tap::new(BenchLink::new(level), losing(opcode, &[2]), losing(wire::NAK, &[0]));
        expect_equal(&mut tap);
    }
}

fn noise(level: &dyn WireLevel) {
    let (mut good, mut go_backs) = (0, 0);
    for seed in 0..12 {
        match multiply(&mut Noise::new(BenchLink::new(level), seed, 400)) {
            Ok(product) => {
                assert!(product.comparison.equal(), "seed {seed}: {:?}", product.comparison);
                good += 1;
                go_backs += product.counters.go_backs;
            }
            Err(Error::Session(error)) if error.is_silence() => {}
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    assert!(good >= 10 && go_backs > 0, "{good} of 12 products came through, {go_backs} go-backs");
}

fn reset(level: &dyn WireLevel) {
    let mut restarts = 0;
    for edges in [500, 1000, 1777, 2500, 4001] {
        let mut link = BenchLink { reset_at: Some(edges), ..BenchLink::new(level) };
        restarts += expect_equal(&mut link).counters.restarts;
    }
    assert!(restarts >= 4, "{restarts} of 5 resets fell into the product");
}
