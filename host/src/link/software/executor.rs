//! What the board does with an accepted command: banks, jobs and injections.

use crate::software::SoftwareError;
use crate::software::job::{Fault, JobOutcome, JobSpec, run_job};
use systole_hdl::codec::{Command, Content, Multiply, Status, values_from_bytes};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{self, ErrorKind, Injection, Nak};

/// A bank of operands: `n` lanes of `2^address_bits` cells.
struct Bank {
    lanes: Vec<Vec<i32>>,
}

impl Bank {
    fn new(lanes: u32, address_bits: u32) -> Self {
        Self { lanes: vec![vec![0; 1 << address_bits]; lanes as usize] }
    }

    /// The cells of a range, which wraps where an address would leave the memory.
    fn cells(&self, address: u32, k_len: u32) -> impl Iterator<Item = usize> + Clone + use<> {
        let mask = self.lanes[0].len() - 1;
        (0..k_len as usize).map(move |k| (address as usize + k) & mask)
    }

    fn leaves(&self, address: u32, k_len: u32) -> bool {
        u64::from(address) + u64::from(k_len) > self.lanes[0].len() as u64
    }

    fn panel(&self, address: u32, k_len: u32) -> Vec<i32> {
        let cells = self.cells(address, k_len);
        self.lanes.iter().flat_map(|lane| cells.clone().map(|cell| lane[cell])).collect()
    }
}

/// Banks, the armed injection and the poison bit.
pub(super) struct Executor {
    parameters: Parameters,
    a: Bank,
    b: Bank,
    armed: Option<Fault>,
    poison: bool,
}

impl Executor {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let p = parameters;
        Self {
            a: Bank::new(p.n, p.a_address_bits()),
            b: Bank::new(p.n, p.b_address_bits()),
            parameters: p.clone(),
            armed: None,
            poison: false,
        }
    }

    /// Forgets what is armed and what was poisoned; the banks stay as they are.
    pub(super) fn flush(&mut self) {
        self.armed = None;
        self.poison = false;
    }

    /// Checks the arguments that depend on the design, before a command is accepted.
    pub(super) fn check(&self, command: &Command) -> Result<(), Nak> {
        let p = &self.parameters;
        match command {
            Command::Write { bank, k_len, operands, .. } => {
                let expected = u64::from(p.n) * u64::from(*k_len) * u64::from(p.operand_bytes());
                if operands.len() as u64 != expected {
                    return Err(Nak::Length);
                }
                let known = *bank == wire::BANK_A || *bank == wire::BANK_B;
                if known && *k_len > 0 { Ok(()) } else { Err(Nak::Argument) }
            }
            Command::Multiply(m) => {
                let length = u64::from(m.count) * job_bytes(p, m) + u64::from(RESULT_FRAMING);
                let good = (1..=p.k_limit()).contains(&m.k_len)
                    && m.count > 0
                    && (1..=p.accumulator_bytes()).contains(&u32::from(m.result_bytes))
                    && length <= u64::from(u16::MAX);
                if good { Ok(()) } else { Err(Nak::Argument) }
            }
            Command::Inject { kind, step, .. } => match kind {
                _ if !p.injection => Err(Nak::Argument),
                Injection::RepeatK if *step == 0 => Err(Nak::Argument),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    pub(super) fn write(&mut self, bank: u8, address: u16, k_len: u16, operands: &[u8]) {
        let bank = if bank == wire::BANK_A { &mut self.a } else { &mut self.b };
        let (address, k_len) = (u32::from(address), u32::from(k_len));
        self.poison |= bank.leaves(address, k_len);
        let values = values_from_bytes(operands, self.parameters.operand_bytes());
        let cells = bank.cells(address, k_len);
        // Cells hold w bits: an operand that is not sign-extended is cut.
        let unused = 64 - self.parameters.w;
        for (lane, values) in bank.lanes.iter_mut().zip(values.chunks(k_len as usize)) {
            for (cell, &value) in cells.clone().zip(values) {
                let cut = (value << unused) >> unused;
                self.poison |= cut != value;
                lane[cell] = cut as i32;
            }
        }
    }

    pub(super) fn arm(&mut self, injection: Injection, step: u32, length: u32) {
        self.armed = Some(Fault { injection, step, length });
    }

    /// Runs the jobs of a MULTIPLY; notes the first error and refused starts in `status`. Says whether every value fits
    /// its bytes; one that does not is noticed when the status byte of its job has left.
    pub(super) fn multiply(
        &mut self,
        m: &Multiply,
        status: &mut Status,
    ) -> Result<(Content, bool), SoftwareError> {
        let (mut jobs, mut steps, mut edges, mut all_fit) = (Vec::new(), 0, 0, true);
        let a = self.a.panel(u32::from(m.a_address), m.k_len);
        self.poison |= self.a.leaves(u32::from(m.a_address), m.k_len);
        for i in 0..u32::from(m.count) {
            let address = u32::from(m.b_address) + i * u32::from(m.b_stride);
            self.poison |= self.b.leaves(address, m.k_len);
            let b = self.b.panel(address, m.k_len);
            let tag = (u32::from(m.job) + i) & ((1 << self.parameters.job_bits) - 1);
            let fault = self.armed.take();
            let outcome = run_job(&self.parameters, &JobSpec { k_len: m.k_len, tag, a: &a, b: &b, fault })?;
            jobs.push(self.status_byte(&outcome, fault.is_some()));
            let fit = outcome.values.iter().all(|&value| fits(value, m.result_bytes));
            self.poison |= !fit;
            all_fit &= fit;
            let bytes = |value: &i64| value.to_le_bytes().into_iter().take(usize::from(m.result_bytes));
            jobs.extend(outcome.values.iter().flat_map(bytes));
            steps += outcome.steps;
            edges += outcome.edges;
            note(status, &outcome, tag);
        }
        // The sums are 32 bits on the wire.
        Ok((Content::Result { jobs, steps: steps as u32, edges: edges as u32 }, all_fit))
    }

    fn status_byte(&self, outcome: &JobOutcome, armed: bool) -> u8 {
        let flag = |on, bit| if on { bit } else { 0 };
        outcome.error.map_or(0, |error| error.kind.code())
            | flag(armed && outcome.fired, wire::STATUS_FIRED)
            | flag(armed && !outcome.fired, wire::STATUS_NOT_FIRED)
            | flag(outcome.refused, wire::STATUS_REFUSED)
            | flag(self.poison, wire::STATUS_POISON)
    }
}

/// Body of a RESULT besides its jobs.
const RESULT_FRAMING: u32 = (wire::REPLY_HEAD + wire::RESULT_TRAILER) as u32;

fn job_bytes(p: &Parameters, m: &Multiply) -> u64 {
    1 + u64::from(p.n * p.n) * u64::from(m.result_bytes)
}

fn fits(value: i64, bytes: u8) -> bool {
    let half = 1i64 << (8 * u32::from(bytes) - 1);
    (-half..half).contains(&value)
}

fn note(status: &mut Status, outcome: &JobOutcome, tag: u32) {
    if outcome.refused {
        status.refused = status.refused.saturating_add(1);
    }
    let first: Option<ErrorKind> = status.kind;
    if let (None, Some(error)) = (first, outcome.error) {
        status.kind = Some(error.kind);
        (status.row, status.column, status.job) = (error.row as u8, error.column as u8, tag as u8);
    }
}
