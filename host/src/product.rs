//! A whole product: planned, run over a link, computed again by a reference, compared and put together.

use crate::compare::{Comparison, assemble};
use crate::error::Error;
use crate::execute::execute;
use crate::link::{Level, Link};
use crate::matrix::{Operands, Sums};
use crate::plan::{Plan, Shape};
use crate::reference::{Reference, runs, sums};
use crate::session::{Counters, Session, SessionError, SessionOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use systole_firmware::design::Design;

/// Runs whose reference is computed between two looks at whether to stop.
const REFERENCE_RUNS: usize = 64;

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

    watcher.progress("run", 0, plan.jobs);
    let options = SessionOptions::new(link, Some(design.clone()));
    let mut session = Session::open(link, options, cancel)?;
    let level = session.level();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::software::SoftwareLink;
    use systole_hdl::parameters::Parameters;
    use systole_hdl::wire::Origin;

    #[derive(Default)]
    struct Seen(Vec<(&'static str, u64, u64)>);

    impl Watcher for Seen {
        fn progress(&mut self, stage: &'static str, done: u64, total: u64) {
            self.0.push((stage, done, total));
        }
    }

    #[test]
    fn progress_begins_at_none_of_all() {
        let design = Design::new(Parameters::default()).expect("default");
        let mut link = SoftwareLink::new(design.identity(Origin::Simulated));
        let (a, b) = (Operands::zeros(8, 1), Operands::zeros(1, 4));
        let mut seen = Seen::default();
        product(&mut link, &design, &a, &b, &mut seen, &AtomicBool::new(false)).expect("a product");
        assert_eq!(seen.0.first(), Some(&("run", 0, 2)));
        assert_eq!(seen.0.last(), Some(&("reference", 2, 2)));
    }
}
