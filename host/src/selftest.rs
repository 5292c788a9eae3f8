//! Proving the checks: every fault that can be injected, through the wire, and what the array makes of it.
//!
//! Each check opens a session of its own, so that STATUS tells the first error of this fault alone. What must happen is
//! the contract's, written out here; nothing is taken from a backend. After every fault the same job runs again
//! without one and must be right: the fault left nothing behind.

use crate::link::{Level, Link};
use crate::matrix::Operands;
use crate::plan::{Chunk, Side, panel};
use crate::session::{Counters, Session, SessionError, SessionOptions};
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use systole_firmware::design::Design;
use systole_hdl::codec::{Command, Content, Multiply, Status, operands_to_bytes, values_from_bytes};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{self, ErrorKind, Injection};

/// Edges of the injected pause.
const PAUSE: u32 = 37;

/// A step that no job reaches.
const NEVER: u32 = u32::MAX;

/// Tag of the injected job.
const TAG: u8 = 1;

/// What a job ended with, as far as a fault can change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Observed {
    /// Kind of the first error.
    pub kind: Option<&'static str>,
    /// Row of the PE that reports it.
    pub row: Option<u8>,
    /// Column of the PE that reports it.
    pub column: Option<u8>,
    /// Tag of the job it was reported in.
    pub job: Option<u8>,
    /// Whether the fault took effect.
    pub fired: bool,
    /// Whether a start was refused.
    pub refused: bool,
    /// Physical edges beyond the steps.
    pub paused_edges: u32,
}

/// One fault, what had to happen and what did.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The injection.
    pub injection: &'static str,
    /// The step it was armed for.
    pub step: u32,
    /// What the contract demands.
    pub expected: Observed,
    /// What the board said.
    pub got: Observed,
    /// Whether that is the same.
    pub detected: bool,
    /// Whether the next job, without a fault, was right.
    pub sound_after: bool,
}

impl Check {
    /// Whether the fault was detected and left nothing behind.
    pub fn passed(&self) -> bool {
        self.detected && self.sound_after
    }
}

/// A fault that cannot be shown in a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The injection.
    pub injection: &'static str,
    /// Why no job of the design can show it.
    pub why: &'static str,
}

/// The faults that [`selftest`] leaves out, because no job of this design can show them.
pub fn left_out(parameters: &Parameters) -> Vec<LeftOut> {
    let repeat =
        LeftOut { injection: Injection::RepeatK.name(), why: "a job of one term has no earlier k to repeat" };
    if terms(parameters) > 1 { Vec::new() } else { vec![repeat] }
}

/// Terms of the job that is injected.
fn terms(parameters: &Parameters) -> u32 {
    parameters.k_limit().min(4)
}

/// Injects every fault that a job of this design can show; gives the checks, how real the board is, and what
/// crossed the link.
///
/// # Errors
/// What stops a session. A RESULT that was lost is not asked for again: [`SessionError::LostResult`].
pub fn selftest(
    link: &mut dyn Link,
    design: &Design,
    cancel: &AtomicBool,
) -> Result<(Vec<Check>, Level, Counters), SessionError> {
    let options = SessionOptions::new(link, Some(design.clone()));
    let mut session = Session::open(link, options, cancel)?;
    let bench = Bench::new(design.parameters());
    let mut checks = Vec::new();
    for (i, (injection, step, expected)) in bench.faults().into_iter().enumerate() {
        if i > 0 {
            session.reopen()?;
        }
        checks.push(bench.check(&mut session, injection, step, expected)?);
    }
    let counters = session.counters();
    // Each check opens a session on purpose.
    Ok((checks, session.level(), Counters { restarts: 0, ..counters }))
}

/// A small job and its right product.
struct Bench<'a> {
    parameters: &'a Parameters,
    a: Operands,
    b: Operands,
    chunk: Chunk,
}

impl<'a> Bench<'a> {
    fn new(parameters: &'a Parameters) -> Self {
        let k_len = terms(parameters);
        let (n, k) = (parameters.n as usize, k_len as usize);
        // −1, 0 and 1 in turn: they fit every width, and neighbours differ.
        let values = |count: usize, shift: usize| (0..count).map(|i| ((i + shift) % 3) as i32 - 1).collect();
        let (a, b) = (Operands::new(n, k, values(n * k, 2)), Operands::new(k, n, values(n * k, 0)));
        let chunk = Chunk { start: 0, k_len, result_bytes: parameters.result_bytes(k_len) };
        Self { parameters, a, b, chunk }
    }

    /// The faults that a job of this length can show, and what must come of them.
    fn faults(&self) -> Vec<(Injection, u32, Observed)> {
        let nothing = Observed {
            kind: None,
            row: None,
            column: None,
            job: None,
            fired: true,
            refused: false,
            paused_edges: 0,
        };
        // Faults strike lane 0, so PE(0,0) is the first to see them.
        let job = Some(TAG & ((1 << self.parameters.job_bits) - 1) as u8);
        let error = |kind: ErrorKind| Observed {
            kind: Some(kind.name()),
            row: Some(0),
            column: Some(0),
            job,
            ..nothing
        };
        let mut faults = vec![
            (Injection::DropValid, 0, error(ErrorKind::Unpaired)),
            (Injection::FlipJob, 0, error(ErrorKind::JobMismatch)),
            (Injection::FlipK, 0, error(ErrorKind::KMismatch)),
            (Injection::Truncate, 0, error(ErrorKind::MissingTerms)),
            (Injection::Pause, 0, Observed { paused_edges: PAUSE, ..nothing }),
            (Injection::Start, 0, Observed { refused: true, ..nothing }),
            (Injection::FlipK, NEVER, Observed { fired: false, ..nothing }),
        ];
        if left_out(self.parameters).is_empty() {
            faults.insert(3, (Injection::RepeatK, 1, error(ErrorKind::OutOfOrder)));
        }
        faults
    }

    fn check(
        &self,
        session: &mut Session<'_>,
        injection: Injection,
        step: u32,
        expected: Observed,
    ) -> Result<Check, SessionError> {
        self.write(session, Side::A)?;
        self.write(session, Side::B)?;
        let length = if injection == Injection::Pause { PAUSE } else { 0 };
        let ticket = session.issue(&Command::Inject { kind: injection, step, length })?;
        session.finish(ticket)?;
        let (job, steps, edges) = self.multiply(session)?;
        let status = self.status(session)?;
        let error = status.kind;
        let place = |value: u8| error.map(|_| value);
        let got = Observed {
            kind: error.map(ErrorKind::name),
            row: place(status.row),
            column: place(status.column),
            job: place(status.job),
            fired: job.first().is_some_and(|byte| byte & wire::STATUS_FIRED != 0),
            refused: job.first().is_some_and(|byte| byte & wire::STATUS_REFUSED != 0),
            paused_edges: edges.saturating_sub(steps),
        };
        let status_byte = job.first().copied().unwrap_or(0);
        // The status byte of the job and the STATUS reply must name the same error, and a fault that does no harm must
        // leave the product right.
        let consistent = ErrorKind::from_code(status_byte & wire::STATUS_KIND) == error
            && steps == self.parameters.steps(self.chunk.k_len)
            && (error.is_some() || self.product_is_right(&job));
        let not_fired = status_byte & wire::STATUS_NOT_FIRED != 0;
        let detected = got == expected && consistent && not_fired != expected.fired;
        let (after, steps, edges) = self.multiply(session)?;
        let sound_after = after.first() == Some(&0)
            && self.product_is_right(&after)
            && steps == edges
            && steps == self.parameters.steps(self.chunk.k_len);
        Ok(Check { injection: injection.name(), step, expected, got, detected, sound_after })
    }

    fn write(&self, session: &mut Session<'_>, side: Side) -> Result<(), SessionError> {
        let (bank, matrix) = match side {
            Side::A => (wire::BANK_A, &self.a),
            Side::B => (wire::BANK_B, &self.b),
        };
        let lanes = panel(matrix, side, 0, self.chunk, self.parameters.n);
        let k_len = self.chunk.k_len as usize;
        // A small FIFO may not take all terms in one frame.
        for first in (0..k_len).step_by(self.parameters.write_terms() as usize) {
            let terms = k_len.min(first + self.parameters.write_terms() as usize) - first;
            let piece: Vec<i32> =
                lanes.chunks(k_len).flat_map(|lane| lane[first..][..terms].to_vec()).collect();
            let operands = operands_to_bytes(&piece, self.parameters.operand_bytes());
            let (address, k_len) = (first as u16, terms as u16);
            let ticket = session.issue(&Command::Write { bank, address, k_len, operands })?;
            session.finish(ticket)?;
        }
        Ok(())
    }

    /// Runs the job; gives its status byte with its values, its steps and its edges.
    fn multiply(&self, session: &mut Session<'_>) -> Result<(Vec<u8>, u32, u32), SessionError> {
        let ticket = session.issue(&Command::Multiply(Multiply {
            a_address: 0,
            b_address: 0,
            b_stride: 0,
            k_len: self.chunk.k_len,
            count: 1,
            job: TAG,
            result_bytes: self.chunk.result_bytes as u8,
        }))?;
        match session.finish(ticket)? {
            Some(Content::Result { jobs, steps, edges }) => Ok((jobs, steps, edges)),
            _ => Err(SessionError::LostResult),
        }
    }

    fn status(&self, session: &mut Session<'_>) -> Result<Status, SessionError> {
        let ticket = session.issue(&Command::Status)?;
        match session.finish(ticket)? {
            Some(Content::Status(status)) => Ok(status),
            _ => Err(SessionError::LostResult),
        }
    }

    fn product_is_right(&self, job: &[u8]) -> bool {
        let n = self.parameters.n as usize;
        let got = values_from_bytes(job.get(1..).unwrap_or_default(), self.chunk.result_bytes);
        let term = |i: usize, j: usize, k: usize| i64::from(self.a.row(i)[k]) * i64::from(self.b.row(k)[j]);
        let cell = |i: usize, j: usize| (0..self.chunk.k_len as usize).map(|k| term(i, j, k)).sum::<i64>();
        let expected: Vec<i64> = (0..n * n).map(|at| cell(at / n, at % n)).collect();
        got == expected
    }
}
