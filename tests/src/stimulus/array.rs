//! The array: a processing element alone, and grids.

use super::{bits, once_in, operand};
use crate::verilog::differential::{Case, Reach};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use systole_hdl::grid::Grid;
use systole_hdl::parameters::Parameters;
use systole_hdl::pe::Pe;
use systole_hdl::sim::power_up;
use systole_hdl::types::Token;
use systole_hdl::wire::ErrorKind;

/// One job of a lane: what its tokens say when nothing is wrong with them.
#[derive(Clone, Copy)]
struct Plan {
    k_len: u32,
    job: u32,
}

impl Plan {
    fn new(p: &Parameters, random: &mut ChaCha8Rng) -> Self {
        // Short jobs come to an end before the next clear; one in eight is as long as any.
        let k_len = if once_in(random, 8) { p.k_max } else { random.random_range(1..=p.k_max.min(6)) };
        Self { k_len, job: bits(random, p.job_bits) as u32 }
    }

    /// The token for a term. A term out of range is a bubble with garbage in it.
    fn token(&self, p: &Parameters, k: i64, random: &mut ChaCha8Rng) -> Token {
        let value = operand(random, p.w);
        if (0..i64::from(self.k_len)).contains(&k) {
            Token::new(value, true, self.job, k as u32)
        } else {
            Token::new(value, false, bits(random, p.job_bits) as u32, bits(random, p.tag_bits()) as u32)
        }
    }

    /// The token with one thing wrong.
    fn spoilt(&self, p: &Parameters, token: Token, random: &mut ChaCha8Rng) -> Token {
        let (value, valid) = (token.value.get(), token.valid);
        let (job, k) = (token.job.get() as u32, token.k.get() as u32);
        match random.random_range(0..3) {
            0 => Token::new(value, !valid, job, k),
            1 => Token::new(value, valid, job ^ 1 << random.random_range(0..p.job_bits), k),
            _ => Token::new(value, valid, job, k ^ 1 << random.random_range(0..p.tag_bits())),
        }
    }
}

/// A processing element of a design.
pub fn pe(p: &Parameters) -> Case<Pe> {
    let parameters = p.clone();
    let mut plan = Plan { k_len: 1, job: 0 };
    let mut taken = 0;
    let stimulus = move |pe: &mut Pe, random: &mut ChaCha8Rng| {
        let p = &parameters;
        pe.reset.next = once_in(random, 200);
        pe.clear.next = once_in(random, 24);
        pe.advance.next = !once_in(random, 6);
        if pe.clear.next || pe.reset.next {
            plan = Plan::new(p, random);
            taken = 0;
        }
        pe.k_len.next = (plan.k_len as usize).into();
        let bubble = once_in(random, 6);
        let k = if bubble { -1 } else { taken };
        let (mut a, mut b) = (plan.token(p, k, random), plan.token(p, k, random));
        match random.random_range(0..60) {
            0 => a = plan.spoilt(p, a, random),
            1 => b = plan.spoilt(p, b, random),
            // Both agree on a term whose turn it is not.
            2 => (a, b) = (plan.token(p, taken - 1, random), plan.token(p, taken - 1, random)),
            3 => (a, b) = (plan.token(p, taken + 1, random), plan.token(p, taken + 1, random)),
            _ if pe.advance.next && !bubble => taken += 1,
            _ => {}
        }
        (pe.a_in.next, pe.b_in.next) = (a, b);
    };
    let reach: Vec<Reach<Pe>> = vec![
        ("unpaired operand", |pe| pe.kind.val().get() == i64::from(ErrorKind::Unpaired.code())),
        ("job mismatch", |pe| pe.kind.val().get() == i64::from(ErrorKind::JobMismatch.code())),
        ("k mismatch", |pe| pe.kind.val().get() == i64::from(ErrorKind::KMismatch.code())),
        ("out of order", |pe| pe.kind.val().get() == i64::from(ErrorKind::OutOfOrder.code())),
        ("done without error", |pe| pe.done.val() && pe.kind.val().get() == 0 && pe.k_len.next.get() > 0),
        ("a negative sum", |pe| pe.acc.val().get() < 0),
        ("a pair with clear", |pe| pe.clear.next && pe.a_in.next.valid && pe.b_in.next.valid),
        ("a pair in a pause", |pe| !pe.advance.next && pe.a_in.next.valid && pe.b_in.next.valid),
        ("clear in a pause", |pe| pe.clear.next && !pe.advance.next),
        ("reset", |pe| pe.reset.next),
    ];
    Case {
        name: format!("pe of {}", title(p)),
        block: power_up(Pe::new(p)),
        stimulus: Box::new(stimulus),
        reach,
        transitions: Some(vec![]),
    }
}

/// A grid of a design.
pub fn grid(p: &Parameters) -> Case<Grid> {
    let parameters = p.clone();
    let lanes = p.n as usize;
    let mut plan = Plan { k_len: 1, job: 0 };
    let mut step = 0;
    let stimulus = move |grid: &mut Grid, random: &mut ChaCha8Rng| {
        let p = &parameters;
        grid.reset.next = once_in(random, 300);
        grid.clear.next = once_in(random, 24 + p.n);
        grid.advance.next = !once_in(random, 6);
        if grid.clear.next || grid.reset.next {
            plan = Plan::new(p, random);
            step = 0;
        }
        grid.k_len.next = (plan.k_len as usize).into();
        for lane in 0..lanes {
            let k = step - lane as i64;
            let (mut a, mut b) = (plan.token(p, k, random), plan.token(p, k, random));
            match random.random_range(0..40 * p.n) {
                0 => a = plan.spoilt(p, a, random),
                1 => b = plan.spoilt(p, b, random),
                // Two steps of one lane in the same edge's place.
                2 => (a, b) = (plan.token(p, k + 1, random), plan.token(p, k + 1, random)),
                _ => {}
            }
            (grid.a_in[lane].next, grid.b_in[lane].next) = (a, b);
        }
        if grid.advance.next {
            step += 1;
        }
        let row = random.random_range(0..=lanes);
        for lane in 0..lanes {
            grid.row[lane].next = lane == row;
        }
    };
    fn shows(grid: &Grid, kind: ErrorKind) -> bool {
        grid.kind.iter().any(|shown| shown.val().get() == i64::from(kind.code()))
    }
    let reach: Vec<Reach<Grid>> = vec![
        ("unpaired operand", |grid| shows(grid, ErrorKind::Unpaired)),
        ("job mismatch", |grid| shows(grid, ErrorKind::JobMismatch)),
        ("k mismatch", |grid| shows(grid, ErrorKind::KMismatch)),
        ("out of order", |grid| shows(grid, ErrorKind::OutOfOrder)),
        ("the last PE done, shown", |grid| {
            grid.row.last().is_some_and(|row| row.next) && grid.done.last().is_some_and(|done| done.val())
        }),
        ("a negative sum, shown", |grid| grid.acc.iter().any(|acc| acc.val().get() < 0)),
        ("no row", |grid| grid.row.iter().all(|row| !row.next)),
        ("clear in a pause", |grid| grid.clear.next && !grid.advance.next),
        ("reset", |grid| grid.reset.next),
    ];
    Case {
        name: format!("grid of {}", title(p)),
        block: power_up(Grid::new(p)),
        stimulus: Box::new(stimulus),
        reach,
        transitions: Some(vec![]),
    }
}

/// The parameters that shape the array.
fn title(p: &Parameters) -> String {
    format!("n={} w={} aw={} k_max={} job_bits={}", p.n, p.w, p.aw, p.k_max, p.job_bits)
}
