//! The order of loads and runs.
//!
//! Both directions of the wire are to be busy all the time. Results outweigh operands for most products, so what counts
//! is that they start early: with all of one operand loaded first, the way back stays idle meanwhile. Loading the
//! panels of both operands in turn makes the number of runnable jobs grow with the square of the panels loaded.
//!
//! A small model of the wire decides between loading and running. It counts byte times on both directions: a load costs
//! input only, a run costs a little input and all its results as output. While the output still has work for longer
//! than the next load takes, loading goes on and the runs become longer, which saves headers; when it would run dry,
//! the row with most columns to do is run. 64×64×64 on a default design: 15.5 thousand byte times by the model, against
//! 18.0 thousand with one operand loaded first; the bound is 12.3 thousand.
//!
//! One operand is loaded once and stays resident, the other streams through its bank; where neither fits its bank, the
//! product is cut into regions such that one fits in each, along the operand that makes for fewer loads.

use super::{Chunk, Load, Run, Side, Step};
use std::collections::VecDeque;
use std::ops::Range;
use systole_hdl::parameters::Parameters;
use systole_hdl::wire;

/// Column panels loaded for each 2 row panels while both operands grow. Runs go along columns, so that a few more
/// columns than rows make them longer.
const COLUMNS_PER_TWO_ROWS: usize = 3;

/// Fewest jobs worth a run of their own while more can be loaded.
const WORTH_A_RUN: usize = 2;

/// Most panels of a bank that are told apart; more would cost planning time and gain nothing.
const MOST_SLOTS: usize = 1024;

/// Clocks a UART byte takes at the pace the model assumes; only the ratio of computing to sending depends on it.
const CLOCKS_PER_BYTE: f64 = 80.0;

/// Bytes a frame adds to its body.
const FRAME: usize = wire::HEADER + wire::CRC + 2;

/// Loads and runs for every chunk, row block and column block.
pub(super) fn order(parameters: &Parameters, chunks: &[Chunk], rows: usize, columns: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut wire = Wire::default();
    let mut first_job = 0;
    for (number, chunk) in chunks.iter().enumerate() {
        let geometry = Geometry::new(parameters, chunk);
        for (rows, columns) in regions(&geometry, rows, columns) {
            let region =
                Region { chunk: number, rows, columns, geometry: &geometry, wire: &mut wire, first_job };
            first_job = region.order(&mut steps);
        }
    }
    steps
}

/// Sizes and costs that a chunk fixes.
struct Geometry {
    k_len: u32,
    a_slots: usize,
    b_slots: usize,
    /// Most jobs of a run.
    most_jobs: usize,
    /// Bytes to load a panel.
    load_bytes: f64,
    /// Bytes that come back for a job.
    job_bytes: f64,
    /// Byte times that a job computes.
    job_time: f64,
}

impl Geometry {
    fn new(parameters: &Parameters, chunk: &Chunk) -> Self {
        let n = parameters.n as usize;
        let slots = |depth: u32| ((depth / chunk.k_len) as usize).clamp(1, MOST_SLOTS);
        let job_bytes = 1 + n * n * chunk.result_bytes as usize;
        let longest = u16::MAX as usize - wire::REPLY_HEAD - wire::RESULT_TRAILER;
        let frames = chunk.k_len.div_ceil(parameters.write_terms()) as usize;
        let operands = n * (chunk.k_len * parameters.operand_bytes()) as usize;
        Self {
            k_len: chunk.k_len,
            a_slots: slots(parameters.a_depth),
            b_slots: slots(parameters.b_depth),
            most_jobs: (longest / job_bytes).min(usize::from(u8::MAX)),
            load_bytes: (operands + frames * (FRAME + wire::WRITE_HEAD)) as f64,
            job_bytes: job_bytes as f64,
            job_time: f64::from(parameters.steps(chunk.k_len) + parameters.n) / CLOCKS_PER_BYTE,
        }
    }
}

/// Cuts the blocks into regions in each of which all rows or all columns fit their bank, with the fewest loads.
fn regions(geometry: &Geometry, rows: usize, columns: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let cut = |total: usize, most: usize| {
        let parts = total.div_ceil(most);
        (0..parts).map(move |part| total * part / parts..total * (part + 1) / parts)
    };
    let resident_b = columns + rows * columns.div_ceil(geometry.b_slots);
    let resident_a = rows + columns * rows.div_ceil(geometry.a_slots);
    if resident_b <= resident_a {
        cut(columns, geometry.b_slots).map(|columns| (0..rows, columns)).collect()
    } else {
        cut(rows, geometry.a_slots).map(|rows| (rows, 0..columns)).collect()
    }
}

/// When each part of the path is through with what it was given, in byte times.
#[derive(Default)]
struct Wire {
    input: f64,
    array: f64,
    output: f64,
}

impl Wire {
    fn load(&mut self, geometry: &Geometry) {
        self.input += geometry.load_bytes;
        self.array = self.array.max(self.input);
    }

    fn run(&mut self, geometry: &Geometry, jobs: usize) {
        self.input += (FRAME + wire::MULTIPLY_BODY) as f64;
        self.array = self.array.max(self.input);
        self.output = self.output.max(self.array + geometry.job_time)
            + jobs as f64 * geometry.job_bytes
            + (FRAME + wire::REPLY_HEAD + wire::RESULT_TRAILER) as f64;
        self.array += jobs as f64 * geometry.job_time;
    }

    /// Whether the output runs out of work before another panel is loaded.
    fn starves(&self, geometry: &Geometry) -> bool {
        self.output < self.input + geometry.load_bytes
    }
}

/// A row panel in the bank, and how far its jobs have come.
struct Row {
    index: usize,
    slot: usize,
    done: usize,
}

/// Blocks that are run with one operand resident.
struct Region<'a> {
    chunk: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    geometry: &'a Geometry,
    wire: &'a mut Wire,
    first_job: u64,
}

impl Region<'_> {
    /// Appends the steps of the region; gives the number of the next job.
    fn order(mut self, steps: &mut Vec<Step>) -> u64 {
        let (mut a, mut b) = (0, 0);
        let mut live: Vec<Row> = Vec::new();
        let mut free: VecDeque<usize> = (0..self.geometry.a_slots.min(self.rows.len())).collect();
        while a < self.rows.len() || !live.is_empty() {
            let finished = match a == self.rows.len() {
                true => live.iter().map(|row| row.done).min().unwrap_or(b),
                false => 0,
            };
            let a_fits = a < self.rows.len() && !free.is_empty();
            let b_fits = b < self.columns.len() && b - finished < self.geometry.b_slots;
            let most = live.iter().enumerate().max_by_key(|(i, row)| (b - row.done, usize::MAX - i));
            let (row, waiting) = most.map_or((0, 0), |(i, row)| (i, b - row.done));
            // The last jobs of a row free its place, so they are worth a run however few they are.
            let worth = waiting >= WORTH_A_RUN || b == self.columns.len();
            if waiting > 0 && (worth && self.wire.starves(self.geometry) || !(a_fits || b_fits)) {
                steps.push(Step::Run(self.run(&mut live[row], b)));
                if live[row].done == self.columns.len() {
                    free.push_back(live.remove(row).slot);
                }
                continue;
            }
            let take_a = a_fits && (!b_fits || 2 * b >= COLUMNS_PER_TWO_ROWS * a);
            match free.front().filter(|_| take_a).copied() {
                Some(slot) => {
                    free.pop_front();
                    live.push(Row { index: a, slot, done: 0 });
                    steps.push(Step::Load(self.load(Side::A, a, slot)));
                    a += 1;
                }
                None => {
                    steps.push(Step::Load(self.load(Side::B, b, b % self.geometry.b_slots)));
                    b += 1;
                }
            }
        }
        self.first_job
    }

    fn address(&self, slot: usize) -> u32 {
        slot as u32 * self.geometry.k_len
    }

    fn load(&mut self, side: Side, index: usize, slot: usize) -> Load {
        self.wire.load(self.geometry);
        let first = match side {
            Side::A => self.rows.start,
            Side::B => self.columns.start,
        };
        Load { side, chunk: self.chunk, index: first + index, address: self.address(slot) }
    }

    fn run(&mut self, row: &mut Row, loaded: usize) -> Run {
        // Column panels take the slots of bank B in turn; a run cannot go past the last slot.
        let b_slot = row.done % self.geometry.b_slots;
        let jobs = (loaded - row.done).min(self.geometry.b_slots - b_slot).min(self.geometry.most_jobs);
        self.wire.run(self.geometry, jobs);
        let run = Run {
            chunk: self.chunk,
            row: self.rows.start + row.index,
            column: self.columns.start + row.done,
            count: jobs as u8,
            a_address: self.address(row.slot),
            b_address: self.address(b_slot),
            first_job: self.first_job,
        };
        row.done += jobs;
        self.first_job += jobs as u64;
        run
    }
}
