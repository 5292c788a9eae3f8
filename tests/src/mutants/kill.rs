//! Trying a fault on the suites.

use super::{Mutant, Suites};
use crate::contract::rules;
use crate::contract::verilog::Verilog;
use crate::contract::{Grid, Wrapper};
use crate::level::{Level, Rule};
use crate::stimulus::{self, small};
use crate::verilog::differential::{Case, Failure};
use crate::verilog::{BenchError, Engine};
use std::panic::{AssertUnwindSafe, catch_unwind};
use systole_hdl::signal::Clocked;

/// Cycles of a comparison with the simulation, as in the differential suite.
const CYCLES: u64 = 20_000;

/// What became of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Noticed by this rule or comparison.
    Killed(String),
    /// Noticed by nothing.
    Survived,
}

/// Tries a fault until something notices it.
///
/// # Errors
/// A fault that cannot be tried: it has no place, or is no Verilog.
pub fn judge(mutant: &Mutant) -> Result<Verdict, BenchError> {
    let killed = match mutant.suites {
        Suites::Array => {
            let level = Verilog::edited(mutant.edit);
            let by_grid = by_rules::<dyn Grid>(&rules::grid(), &level, &level)?;
            match or_else(by_grid, || by_rules::<dyn Wrapper>(&rules::wrapper(), &level, &level))? {
                None => by_comparison(mutant, stimulus::pe(&small(2)))?,
                killed => killed,
            }
        }
        Suites::Jobs => {
            let level = Verilog::edited(mutant.edit);
            let by_jobs = by_rules::<dyn Wrapper>(&rules::wrapper(), &level, &level)?;
            or_else(by_jobs, || by_comparison(mutant, stimulus::wrapper(&small(2))))?
        }
        Suites::Decoder => by_comparison(mutant, stimulus::frame_decoder(&small(2)))?,
        Suites::Fifo => by_comparison(mutant, stimulus::command_fifo(&small(2)))?,
    };
    Ok(killed.map_or(Verdict::Survived, Verdict::Killed))
}

/// What killed it so far, else what kills it next.
fn or_else(
    killed: Option<String>,
    next: impl FnOnce() -> Result<Option<String>, BenchError>,
) -> Result<Option<String>, BenchError> {
    if killed.is_some() { Ok(killed) } else { next() }
}

/// The first rule of the contract that a fault breaks.
fn by_rules<T: ?Sized>(
    rules: &[Rule<T>],
    subject: &T,
    level: &Verilog,
) -> Result<Option<String>, BenchError> {
    for rule in rules.iter().filter(|rule| rule.only.is_none_or(|levels| levels.contains(&Level::Verilog))) {
        let broken = catch_unwind(AssertUnwindSafe(|| (rule.check)(subject))).is_err();
        match level.take_failure() {
            None if broken => return Ok(Some(format!("{}::{}", Level::Verilog, rule.name))),
            // A design without a place for the fault, such as one with a single lane: other rules have others.
            None | Some(BenchError::Edit { places: 0, .. }) => {}
            Some(error) => return Err(error),
        }
    }
    Ok(None)
}

/// A comparison with the simulation, if that shows the fault.
fn by_comparison<B: Clocked>(mutant: &Mutant, case: Case<B>) -> Result<Option<String>, BenchError> {
    let design = case.design(Engine::Icarus, Some(&mutant.edit))?;
    match case.hold(&design, CYCLES) {
        Err(Failure::Mismatch { case, mismatch }) => {
            Ok(Some(format!("differential::{case}: cycle {}, {}", mismatch.cycle, mismatch.port.name)))
        }
        Err(Failure::Bench(error)) => Err(error),
        Ok(_) | Err(Failure::Reach { .. }) => Ok(None),
    }
}
