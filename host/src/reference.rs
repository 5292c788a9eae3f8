//! What must come back, computed by something that shares no code with what sends it.

use crate::matrix::Operands;
use crate::plan::{Plan, Run, Side, Step, panel};
use crate::software::SoftwareError;
use crate::software::job::{JobSpec, run_job};
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
    /// Three nested loops in 64 bits, and the contract's formula for the edges: for results of the software backend itself.
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

    /// Computes every job of a run.
    ///
    /// # Errors
    /// What the software backend refuses.
    pub fn run(
        self,
        parameters: &Parameters,
        plan: &Plan,
        run: &Run,
        a: &Operands,
        b: &Operands,
    ) -> Result<Vec<Expected>, SoftwareError> {
        let columns = run.column..run.column + usize::from(run.count);
        let jobs = columns.zip(run.first_job..);
        jobs.map(|(column, job)| match self {
            Self::Software => software(parameters, plan, run, column, job, a, b),
            Self::Direct => Ok(direct(parameters, plan, run, column, a, b)),
        })
        .collect()
    }
}

fn software(
    parameters: &Parameters,
    plan: &Plan,
    run: &Run,
    column: usize,
    job: u64,
    a: &Operands,
    b: &Operands,
) -> Result<Expected, SoftwareError> {
    let chunk = plan.chunks[run.chunk];
    let a = panel(a, Side::A, run.row, chunk, parameters.n);
    let b = panel(b, Side::B, column, chunk, parameters.n);
    let tag = (job % (1 << parameters.job_bits)) as u32;
    let outcome = run_job(parameters, &JobSpec { k_len: chunk.k_len, tag, a: &a, b: &b, fault: None })?;
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

/// The runs of a plan, in order.
pub fn runs(plan: &Plan) -> impl Iterator<Item = &Run> {
    plan.steps.iter().filter_map(|step| match step {
        Step::Run(run) => Some(run),
        Step::Load(_) => None,
    })
}
