//! A whole product: planned, run over a link, computed again by a reference, compared and put together.

use crate::compare::{Comparison, assemble};
use crate::error::Error;
use crate::execute::execute;
use crate::link::{Level, Link};
use crate::matrix::{Operands, Sums, size};
use crate::plan::{Plan, Shape};
use crate::reference::{Reference, runs, sums};
use crate::session::{Counters, Session, SessionError, SessionOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use systole_firmware::design::Design;

/// Bytes that a job takes in the host besides its values: both results' headers and its share of the plan.
const JOB_BYTES: u128 = 160;

/// Runs whose reference is computed between two looks at whether to stop.
const REFERENCE_RUNS: usize = 64;

/// The nonce of the first HELLO to a simulation, whose wire carries nobody else's bytes: every run is the same.
const FIRST_NONCE: u32 = 1;

/// What a product gave.
#[derive(Debug)]
pub struct Product {
    /// The product, put together from the results.
    pub c: Sums,
    /// How real it is.
    pub level: Level,
    /// What it was compared with.
    pub reference: Reference,
    /// How it compared.
    pub comparison: Comparison,
    /// Sizes.
    pub shape: Shape,
    /// Jobs whose results are in C.
    pub jobs: u64,
    /// Jobs issued again.
    pub reruns: u64,
    /// Advancing edges over all jobs.
    pub steps: u64,
    /// Physical edges over all jobs.
    pub edges: u64,
    /// Clock cycles from the first byte of the first WRITE to the last of the last RESULT, where they are counted.
    pub cycles: Option<u64>,
    /// The fewest bytes that can cross the wire, in the busier direction.
    pub bound_bytes: u64,
    /// What crossed the link.
    pub counters: Counters,
    /// Where the time went.
    pub seconds: Seconds,
}

/// Wall time of each stage, in seconds.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Seconds {
    /// Cutting and ordering.
    pub plan: f64,
    /// On the link.
    pub run: f64,
    /// Computing what must come back.
    pub reference: f64,
    /// Comparing and adding up.
    pub compare: f64,
    /// All of it.
    pub total: f64,
}

/// Someone who watches a product being made.
pub trait Watcher {
    /// `done` of `total` units of a stage are done.
    fn progress(&mut self, stage: &'static str, done: u64, total: u64);
}

/// Nobody watches.
impl Watcher for () {
    fn progress(&mut self, _stage: &'static str, _done: u64, _total: u64) {}
}

/// Refuses a product that would take more than `limit` bytes of memory in the host.
///
/// # Errors
/// [`Error::Memory`], which says how much it would take.
pub fn check_memory(m: u128, k: u128, p: u128, design: &Design, limit: u64) -> Result<(), Error> {
    let parameters = design.parameters();
    let n = u128::from(parameters.n);
    let limit_k = u128::from(parameters.k_limit());
    let blocks = m.div_ceil(n).saturating_mul(p.div_ceil(n));
    let jobs = blocks.saturating_mul(k.div_ceil(limit_k));
    // 32-bit operands; two 64-bit values for each result, the one that came and the one expected; 64-bit C, twice.
    let operands = m.saturating_mul(k).saturating_add(k.saturating_mul(p)).saturating_mul(4);
    let results = jobs.saturating_mul(JOB_BYTES + 16 * n * n);
    let needed = operands.saturating_add(results).saturating_add(m.saturating_mul(p).saturating_mul(16));
    if needed > u128::from(limit) {
        let shape = format!("{m}x{k}x{p}");
        return Err(Error::Memory { shape, needed: size(needed), limit: size(u128::from(limit)) });
    }
    Ok(())
}

/// The product of two matrices by the board behind a link, checked.
///
/// # Errors
/// [`Error::Shapes`]; whatever stops the session; [`SessionError::Interrupted`] when `cancel` becomes true.
pub fn product(
    link: &mut dyn Link,
    design: &Design,
    a: &Operands,
    b: &Operands,
    watcher: &mut dyn Watcher,
    cancel: &AtomicBool,
) -> Result<Product, Error> {
    if a.columns() != b.rows() {
        let (a_rows, a_columns, b_rows, b_columns) = (a.rows(), a.columns(), b.rows(), b.columns());
        return Err(Error::Shapes { a_rows, a_columns, b_rows, b_columns });
    }
    let begun = Instant::now();
    let mut seconds = Seconds::default();
    let mut stage = Instant::now();
    let mut lap = || std::mem::replace(&mut stage, Instant::now()).elapsed().as_secs_f64();
    let parameters = design.parameters();
    let n = parameters.n as usize;
    let shape = Shape { m: a.rows(), k: a.columns(), p: b.columns() };
    let plan = Plan::new(shape, parameters);
    seconds.plan = lap();

    let level = link.level();
    let options = SessionOptions { nonce: FIRST_NONCE, design: Some(design.clone()) };
    let mut session = Session::open(link, options, cancel)?;
    let outcome = execute(&mut session, &plan, a, b, &mut |done| watcher.progress("run", done, plan.jobs))?;
    let counters = session.counters();
    let counted = session.link().cycles().is_some();
    let span = counters.last_result.zip(counters.first_write).filter(|_| counted);
    seconds.run = lap();

    let reference = if level == Level::Software { Reference::Direct } else { Reference::Software };
    let mut expected = Vec::new();
    let all: Vec<_> = runs(&plan).collect();
    for runs in all.chunks(REFERENCE_RUNS) {
        if cancel.load(Ordering::Relaxed) {
            return Err(SessionError::Interrupted.into());
        }
        expected.extend(reference.runs(parameters, &plan, runs, a, b)?);
        let done = runs.last().map_or(0, |run| run.first_job + u64::from(run.count));
        watcher.progress("reference", done, plan.jobs);
    }
    let expected_c = sums(a, b);
    seconds.reference = lap();

    let mut comparison = Comparison::default();
    for (result, expected) in outcome.runs.iter().zip(&expected) {
        comparison.add(&plan, n, result, expected);
    }
    let c = assemble(&plan, n, &outcome);
    if comparison.equal() {
        comparison.add_sums(&plan, n, &c, &expected_c);
    }
    seconds.compare = lap();
    seconds.total = begun.elapsed().as_secs_f64();
    Ok(Product {
        c,
        level,
        reference,
        comparison,
        shape,
        jobs: plan.jobs,
        reruns: outcome.reruns,
        steps: outcome.runs.iter().map(|run| run.steps).sum(),
        edges: outcome.runs.iter().map(|run| run.edges).sum(),
        cycles: span.map(|(last, first)| last - first),
        bound_bytes: plan.bound_bytes(parameters),
        counters,
        seconds,
    })
}
