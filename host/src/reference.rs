//! What must come back, computed by something that shares no code with what sends it: the operands of a job are picked
//! here by index arithmetic of its own, so that a mistake in cutting panels shows as a difference.

use crate::matrix::{Operands, Sums};
use crate::plan::{Plan, Run, Step};
use crate::software::SoftwareError;
use crate::software::job::{JobSpec, Runner};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use systole_hdl::parameters::Parameters;

/// What one job must give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The `n × n` values, row-major.
    pub values: Vec<i64>,
    /// Advancing edges.
    pub steps: u64,
    /// Physical edges.
    pub edges: u64,
}

/// Which computation a result is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The software backend, which executes every job edge by edge.
    Software,
    /// Three nested loops in 64 bits, and the contract's formula for the edges: for results of the software backend
    /// itself.
    Direct,
}

impl Reference {
    /// The name, as in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Software => "software",
            Self::Direct => "direct",
        }
    }

    /// Computes every job of these runs, run by run. Jobs are shared out among the threads of the current `rayon` pool,
    /// each of which has an array of its own.
    ///
    /// # Errors
    /// What the software backend refuses.
    pub fn runs(
        self,
        parameters: &Parameters,
        plan: &Plan,
        runs: &[&Run],
        a: &Operands,
        b: &Operands,
    ) -> Result<Vec<Vec<Expected>>, SoftwareError> {
        let runner = Runner::new(parameters)?;
        let jobs = runs.iter().flat_map(|&run| {
            let columns = run.column..run.column + usize::from(run.count);
            columns.zip(run.first_job..).map(move |(column, job)| (run, column, job))
        });
        let jobs: Vec<(&Run, usize, u64)> = jobs.collect();
        let compute = |runner: &mut Runner, &(run, column, job): &(&Run, usize, u64)| match self {
            Self::Software => software(runner, parameters, plan, run, column, job, a, b),
            Self::Direct => Ok(direct(parameters, plan, run, column, a, b)),
        };
        let expected: Result<Vec<Expected>, SoftwareError> =
            jobs.par_iter().map_init(|| runner.clone(), compute).collect();
        let mut expected = expected?.into_iter();
        Ok(runs.iter().map(|run| expected.by_ref().take(usize::from(run.count)).collect()).collect())
    }
}

#[expect(clippy::too_many_arguments, reason = "an array, and what says which job")]
fn software(
    runner: &mut Runner,
    parameters: &Parameters,
    plan: &Plan,
    run: &Run,
    column: usize,
    job: u64,
    a: &Operands,
    b: &Operands,
) -> Result<Expected, SoftwareError> {
    let chunk = plan.chunks[run.chunk];
    let (n, k_len) = (parameters.n as usize, chunk.k_len as usize);
    let (mut a_lanes, mut b_lanes) = (Vec::with_capacity(n * k_len), Vec::with_capacity(n * k_len));
    for lane in 0..n {
        for k in chunk.start..chunk.start + k_len {
            a_lanes.push(a.padded(run.row * n + lane, k));
            b_lanes.push(b.padded(k, column * n + lane));
        }
    }
    let tag = (job % (1 << parameters.job_bits)) as u32;
    let job = JobSpec { k_len: chunk.k_len, tag, a: &a_lanes, b: &b_lanes, fault: None };
    let outcome = runner.run(&job)?;
    Ok(Expected { values: outcome.values, steps: outcome.steps, edges: outcome.edges })
}

fn direct(
    parameters: &Parameters,
    plan: &Plan,
    run: &Run,
    column: usize,
    a: &Operands,
    b: &Operands,
) -> Expected {
    let chunk = plan.chunks[run.chunk];
    let n = parameters.n as usize;
    let mut values = Vec::with_capacity(n * n);
    for i in run.row * n..(run.row + 1) * n {
        for j in column * n..(column + 1) * n {
            let mut sum = 0;
            for k in chunk.start..chunk.start + chunk.k_len as usize {
                sum += i64::from(a.padded(i, k)) * i64::from(b.padded(k, j));
            }
            values.push(sum);
        }
    }
    let steps = u64::from(parameters.steps(chunk.k_len));
    Expected { values, steps, edges: steps }
}

/// The product by its definition, in 64 bits: what the partial products must add up to.
pub fn sums(a: &Operands, b: &Operands) -> Sums {
    let mut values = vec![0; a.rows() * b.columns()];
    for (i, row) in values.chunks_exact_mut(b.columns()).enumerate() {
        for (k, &left) in a.row(i).iter().enumerate() {
            for (sum, &right) in row.iter_mut().zip(b.row(k)) {
                *sum += i64::from(left) * i64::from(right);
            }
        }
    }
    Sums::new(a.rows(), b.columns(), values)
}

/// The runs of a plan, in order.
pub fn runs(plan: &Plan) -> impl Iterator<Item = &Run> {
    plan.steps.iter().filter_map(|step| match step {
        Step::Run(run) => Some(run),
        Step::Load(_) => None,
    })
}
