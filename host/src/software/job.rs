//! A job of the gateware, executed on the software array: operands in, results, steps, edges and status out.
//!
//! # Schedule
//! The job starts with a clear. Then `A(i,k)` is presented to row `i` at step `k+i` and `B(k,j)` to column
//! `j` at step `k+j` (R4), and the array advances until every entry of this schedule has passed the last PE
//! it leads to. Nothing here knows how many steps that takes; they are counted as they happen.
//!
//! # Injections
//! A [`Fault`] acts on one job. *The token at step s on lane l* is the one that the boundary presents before
//! the edge of step s: on lane 0 there is one at steps `0..k_len`, with `k = s`. Everything not named stays
//! as in a good job; in particular no fault changes how many steps a job takes.
//!
//! | injection | at `step` s | fired when |
//! |---|---|---|
//! | flip k | inverts bit 0 of `k` of the token on A lane 0 | `s < k_len` |
//! | flip job | inverts bit 0 of `job` of the token on A lane 0 | `s < k_len` |
//! | drop valid | the token on A lane 0 becomes a bubble | `s < k_len` |
//! | repeat k | the tokens on A lane 0 and B lane 0 carry `k = s − 1`, with their own values | `1 ≤ s < k_len` |
//! | truncate | the last token (`k = k_len − 1`) of every lane of A and B is a bubble; `step` is ignored | always |
//! | pause | `advance` is low for `length` edges before step s; they count as edges and not as steps | step s exists |
//! | start | a start is asked for and refused while the job runs; nothing else happens | step s exists |
//!
//! The steps that exist are those that the job executes, from 0 on. `length` means nothing but for a pause,
//! which may be of length 0. A fault that has not fired by the end of the job leaves it as it would have been
//! without.

use super::SoftwareError;
mod executor;
mod schedule;

use super::array::{Array, Direction};
use super::machine::Machine;
use super::tile::{Connected, Tile};
use super::token::{TokenPe, TokenState};
use super::token_tile::TokenTile;
use executor::Executor;
use schedule::Schedule;
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{ErrorKind, Injection};

/// One block product: `C = A·B` of an `n × k_len` by a `k_len × n` block.
#[derive(Clone, Copy, Debug)]
pub struct JobSpec<'a> {
    /// Terms of the reduction.
    pub k_len: u32,
    /// Tag that every token carries.
    pub tag: u32,
    /// Rows of A: `n` lanes of `k_len` operands.
    pub a: &'a [i32],
    /// Columns of B: `n` lanes of `k_len` operands.
    pub b: &'a [i32],
    /// Fault to inject.
    pub fault: Option<Fault>,
}

/// A fault and where it strikes; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// What to do.
    pub injection: Injection,
    /// Advancing edge, counted from E0.
    pub step: u32,
    /// Edges of a pause.
    pub length: u32,
}

/// An error and the PE that reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeError {
    /// What went wrong first in that PE, or missing terms.
    pub kind: ErrorKind,
    /// Row of the PE.
    pub row: u32,
    /// Column of the PE.
    pub column: u32,
}

/// What a job ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutcome {
    /// The accumulators, `n × n`, row-major.
    pub values: Vec<i64>,
    /// Terms each PE took, `n × n`, row-major.
    pub counts: Vec<u32>,
    /// Advancing edges executed.
    pub steps: u64,
    /// Edges of the compute phase, paused ones included.
    pub edges: u64,
    /// The erring PE that is lowest in row-major order; `None` for a good job.
    pub error: Option<PeError>,
    /// Whether the fault took effect.
    pub fired: bool,
    /// Whether a start was refused.
    pub refused: bool,
}

/// Executes a job, tick by tick.
///
/// # Errors
/// Parameters that [`Parameters::check`] refuses; `k_len` outside `1..=`[`Parameters::k_limit`]; panels of
/// the wrong size; an operand or tag that does not fit its width; a fault for a design without injections.
pub fn run_job(parameters: &Parameters, job: &JobSpec<'_>) -> Result<JobOutcome, SoftwareError> {
    Runner::new(parameters)?.run(job)
}

/// The same on the interpreted backend, one PE after another: the oracle of [`run_job`].
///
/// # Errors
/// Those of [`run_job`].
pub fn run_job_interpreted(parameters: &Parameters, job: &JobSpec<'_>) -> Result<JobOutcome, SoftwareError> {
    parameters.check()?;
    let side = parameters.n as usize;
    let array = Array::new(side, side).fill(TokenPe { k_len: job.k_len, accumulator_bits: parameters.aw });
    let array = array.connect(Direction::WestToEast).connect(Direction::NorthToSouth);
    let mut machine: Machine<TokenPe> = array.build()?;
    execute(parameters, &mut machine, job)
}

/// Executes jobs one after another on one array, which is cleared before each.
#[derive(Clone, Debug)]
pub struct Runner {
    parameters: Parameters,
    array: TokenTile,
}

impl Runner {
    /// The array of a design.
    ///
    /// # Errors
    /// Parameters that [`Parameters::check`] refuses.
    pub fn new(parameters: &Parameters) -> Result<Self, SoftwareError> {
        parameters.check()?;
        let side = parameters.n as usize;
        let pe = TokenPe { k_len: 1, accumulator_bits: parameters.aw };
        let array = TokenTile::new(&pe, side, side, Connected { west_to_east: true, north_to_south: true });
        Ok(Self { parameters: parameters.clone(), array })
    }

    /// Executes a job.
    ///
    /// # Errors
    /// Those of [`run_job`].
    pub fn run(&mut self, job: &JobSpec<'_>) -> Result<JobOutcome, SoftwareError> {
        execute(&self.parameters, &mut self.array, job)
    }
}

fn execute(
    parameters: &Parameters,
    array: &mut impl Executor,
    job: &JobSpec<'_>,
) -> Result<JobOutcome, SoftwareError> {
    check(parameters, job)?;
    let side = parameters.n as usize;
    let pe = TokenPe { k_len: job.k_len, accumulator_bits: parameters.aw };
    array.clear(pe)?;
    let run = stream_and_drain(array, Schedule::new(side, job), job.fault)?;
    let states: Vec<TokenState> = (0..side * side).map(|at| array.state(at / side, at % side)).collect();
    Ok(JobOutcome {
        values: states.iter().map(|state| state.acc).collect(),
        counts: states.iter().map(|state| state.count).collect(),
        error: first_error(&pe, &states, side),
        steps: run.steps,
        edges: run.edges,
        fired: run.fired,
        refused: run.refused,
    })
}

fn check(parameters: &Parameters, job: &JobSpec<'_>) -> Result<(), SoftwareError> {
    let &JobSpec { k_len, tag, a, b, fault } = job;
    let limit = parameters.k_limit();
    if k_len == 0 || k_len > limit {
        return Err(SoftwareError::Length { k_len, limit });
    }
    let job_bits = parameters.job_bits;
    if tag >> job_bits != 0 {
        return Err(SoftwareError::Tag { tag, job_bits });
    }
    if let Some(Fault { injection, .. }) = fault.filter(|_| !parameters.injection) {
        return Err(SoftwareError::NoInjection { injection });
    }
    let (lanes, w) = (parameters.n, parameters.w);
    let largest = (1 << (w - 1)) - 1;
    for (bank, panel) in [('A', a), ('B', b)] {
        let expected = lanes as usize * k_len as usize;
        if panel.len() != expected {
            return Err(SoftwareError::Panel { bank, lanes, k_len, got: panel.len(), expected });
        }
        if let Some(i) = panel.iter().position(|value| !(-largest - 1..=largest).contains(value)) {
            let (lane, k) = (i / k_len as usize, i % k_len as usize);
            return Err(SoftwareError::Operand { bank, lane, k, value: panel[i], w });
        }
    }
    Ok(())
}

/// What was counted, and what struck, while a job ran.
#[derive(Default)]
struct Run {
    steps: u64,
    edges: u64,
    fired: bool,
    refused: bool,
}

fn stream_and_drain(
    array: &mut impl Executor,
    mut schedule: Schedule<'_>,
    fault: Option<Fault>,
) -> Result<Run, SoftwareError> {
    let mut run = Run::default();
    while !(schedule.is_over() && array.is_drained()) {
        match fault.filter(|fault| u64::from(fault.step) == run.steps) {
            Some(Fault { injection: Injection::Pause, length, .. }) => {
                for _ in 0..length {
                    array.hold()?;
                    run.edges += 1;
                }
                run.fired = true;
            }
            Some(Fault { injection: Injection::Start, .. }) => {
                run.fired = true;
                run.refused = true;
            }
            _ => {}
        }
        let (west, north) = schedule.present();
        array.advance(west, north)?;
        run.steps += 1;
        run.edges += 1;
    }
    run.fired |= schedule.has_struck();
    Ok(run)
}

/// The erring PE that is lowest in row-major order. A PE that keeps no error errs too if it lacks terms now
/// that the drain is over (R24b).
fn first_error(pe: &TokenPe, states: &[TokenState], side: usize) -> Option<PeError> {
    states.iter().enumerate().find_map(|(i, state)| {
        let missing = (!pe.done(state)).then_some(ErrorKind::MissingTerms);
        let kind = state.error.or(missing)?;
        Some(PeError { kind, row: (i / side) as u32, column: (i % side) as u32 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job<'a>(k_len: u32, a: &'a [i32], b: &'a [i32]) -> JobSpec<'a> {
        JobSpec { k_len, tag: 1, a, b, fault: None }
    }

    fn square(n: u32) -> Parameters {
        Parameters { n, ..Parameters::default() }
    }

    #[test]
    fn two_by_two() {
        let outcome = run_job(&square(2), &job(2, &[1, 2, 3, 4], &[5, 7, 6, 8])).expect("a good job");
        assert_eq!(outcome.values, [19, 22, 43, 50]);
        assert_eq!(outcome.counts, [2, 2, 2, 2]);
        assert_eq!((outcome.steps, outcome.edges), (4, 4));
        assert_eq!((outcome.error, outcome.fired, outcome.refused), (None, false, false));
    }

    /// Every injection at every step, several sides and lengths: the fast array and the oracle agree in
    /// everything.
    #[test]
    fn the_interpreted_backend_agrees() {
        for (n, k_len) in [(1, 1), (1, 5), (2, 1), (3, 4), (5, 3), (8, 9)] {
            let operands: Vec<i32> = (0..(n * k_len) as i32).map(|i| (i * 37) % 255 - 127).collect();
            let faults = Injection::ALL.iter().flat_map(|&injection| {
                (0..k_len + 2 * n).map(move |step| Some(Fault { injection, step, length: step % 3 }))
            });
            for fault in std::iter::once(None).chain(faults) {
                let spec = JobSpec { fault, ..job(k_len, &operands, &operands) };
                let fast = run_job(&square(n), &spec).expect("a job");
                let oracle = run_job_interpreted(&square(n), &spec).expect("a job");
                assert_eq!(fast, oracle, "N={n}, K={k_len}, {fault:?}");
            }
        }
    }

    #[test]
    fn bad_jobs_are_named() {
        let p = Parameters { aw: 17, ..square(1) };
        let message = |spec: &JobSpec<'_>| run_job(&p, spec).expect_err("refused").to_string();
        assert!(message(&job(0, &[], &[])).starts_with("a job of 0 terms: this design runs 1..=3"));
        assert!(message(&job(4, &[0; 4], &[0; 4])).starts_with("a job of 4 terms"));
        assert!(message(&job(2, &[0; 3], &[0; 2])).starts_with("panel A holds 3 operands"));
        assert!(message(&job(2, &[0; 2], &[0, 128])).starts_with("operand 128 of B lane 0, k 1,"));
        assert!(message(&JobSpec { tag: 4, ..job(1, &[0], &[0]) }).starts_with("job tag 4"));
        let fault = Some(Fault { injection: Injection::Start, step: 0, length: 0 });
        let plain = Parameters { injection: false, ..square(1) };
        let error = run_job(&plain, &JobSpec { fault, ..job(1, &[0], &[0]) }).expect_err("left out");
        assert!(error.to_string().starts_with("this design leaves injections out"), "{error}");
    }
}
