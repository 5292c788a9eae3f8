//! The contract's traits on the gateware in rust-hdl's simulation.

use super::{Answer, Edge, Grid, Job, LevelError, Outcome, PeState, Phase, Token, Wrapper};
use crate::level::Level;
use systole::software::job::{Fault, PeError};
use systole_hdl::parameters::Parameters;
use systole_hdl::types::Word;
use systole_hdl::wire::{ErrorKind, STATUS_FIRED, STATUS_KIND, STATUS_NOT_FIRED, STATUS_REFUSED};
use systole_hdl::{grid, pe, sim, types, wrapper};

/// The gateware, simulated directly.
#[derive(Clone, Copy, Debug, Default)]
pub struct RustHdl;

fn to_wire(token: &Token) -> types::Token {
    types::Token::new(token.value, token.valid, token.job, token.k)
}

fn from_wire(token: types::Token) -> Token {
    let types::Token { value, k, job, valid, .. } = token;
    Token { value: value.get(), valid, job: job.get() as u32, k: k.get() as u32 }
}

fn state(pe: &pe::Pe) -> PeState {
    PeState {
        acc: pe.acc.val().get(),
        count: pe.count.val().get() as u32,
        done: pe.done.val(),
        error: ErrorKind::from_code(pe.kind.val().get() as u8),
        a_out: from_wire(pe.a_out.val()),
        b_out: from_wire(pe.b_out.val()),
    }
}

impl Grid for RustHdl {
    fn level(&self) -> Level {
        Level::RustHdl
    }

    fn run(
        &self,
        parameters: &Parameters,
        rows: usize,
        columns: usize,
        edges: &[Edge],
    ) -> Result<Vec<Vec<PeState>>, LevelError> {
        parameters.check()?;
        let side = parameters.n as usize;
        if (rows, columns) != (side, side) {
            let shape = format!("a {rows}x{columns} grid with n = {side}: the gateware's grids are square");
            return Err(LevelError::Unsupported(shape));
        }
        let mut grid = sim::power_up(grid::Grid::new(parameters));
        let after = |edge: &Edge| {
            grid.reset.next = edge.reset;
            grid.clear.next = edge.clear;
            grid.advance.next = edge.advance;
            grid.k_len.next = (edge.k_len as usize).into();
            for (wire, token) in grid.a_in.iter_mut().zip(&edge.a) {
                wire.next = to_wire(token);
            }
            for (wire, token) in grid.b_in.iter_mut().zip(&edge.b) {
                wire.next = to_wire(token);
            }
            sim::edge(&mut grid);
            grid.pe.iter().map(state).collect()
        };
        Ok(edges.iter().map(after).collect())
    }
}

impl Wrapper for RustHdl {
    fn level(&self) -> Level {
        Level::RustHdl
    }

    fn run(&self, parameters: &Parameters, jobs: &[Job]) -> Result<Vec<Answer>, LevelError> {
        parameters.check()?;
        let mut bench = Bench { parameters, wrapper: sim::power_up(wrapper::Wrapper::new(parameters)) };
        bench.wrapper.reset.next = true;
        sim::edge(&mut bench.wrapper);
        bench.wrapper.reset.next = false;
        jobs.iter().map(|job| bench.job(job)).collect()
    }
}

/// A wrapper and what it takes to run jobs on it.
struct Bench<'a> {
    parameters: &'a Parameters,
    wrapper: wrapper::Wrapper,
}

impl Bench<'_> {
    fn job(&mut self, job: &Job) -> Result<Answer, LevelError> {
        if u64::from(job.k_len) >> self.parameters.count_bits() != 0 {
            let length = format!("a job of {} terms: the wrapper's port is narrower", job.k_len);
            return Err(LevelError::Unsupported(length));
        }
        self.write(false, &job.a, job.k_len);
        self.write(true, &job.b, job.k_len);
        if let Some(fault) = job.fault {
            self.arm(fault)?;
        }
        if !self.start(job) {
            return Ok(Answer::Refused);
        }
        let mut phases = Vec::new();
        let (error, steps, edges) = self.finish(job, &mut phases)?;
        let (status, values) = self.read()?;
        let flag = |bit: u8| status & bit != 0;
        if error.map_or(0, |error| error.kind.code()) != status & STATUS_KIND {
            return Err(LevelError::Broken(format!(
                "status {status:#04x} of a job that ended with {error:?}"
            )));
        }
        if job.fault.is_some() != (flag(STATUS_FIRED) ^ flag(STATUS_NOT_FIRED)) {
            return Err(LevelError::Broken(format!("status {status:#04x} of a job with {:?}", job.fault)));
        }
        let (fired, refused, phases) = (flag(STATUS_FIRED), flag(STATUS_REFUSED), Some(phases));
        Ok(Answer::Run(Outcome { values, error, steps, edges, fired, refused, phases }))
    }

    /// Writes a panel to address 0 of a bank.
    fn write(&mut self, bank: bool, operands: &[i32], k_len: u32) {
        let wrapper = &mut self.wrapper;
        wrapper.write_enable.next = true;
        wrapper.write_bank.next = bank;
        for (i, &operand) in operands.iter().enumerate() {
            wrapper.write_lane.next = (i / k_len as usize).into();
            wrapper.write_address.next = (i % k_len as usize).into();
            wrapper.write_data.next = Word::of(operand.into());
            sim::edge(wrapper);
        }
        wrapper.write_enable.next = false;
    }

    fn arm(&mut self, fault: Fault) -> Result<(), LevelError> {
        let bits = self.parameters.step_bits();
        if fault.length >> bits != 0 {
            return Err(LevelError::Unsupported(format!("a pause of {} edges", fault.length)));
        }
        let wrapper = &mut self.wrapper;
        wrapper.inject_arm.next = true;
        wrapper.inject_kind.next = usize::from(fault.injection.code()).into();
        wrapper.inject_step.next = (fault.step as usize).into();
        wrapper.inject_length.next = (fault.length as usize).into();
        wrapper.inject_never.next = fault.step >> bits != 0;
        sim::edge(wrapper);
        wrapper.inject_arm.next = false;
        Ok(())
    }

    /// Asks for a start for one edge; says whether it was taken.
    fn start(&mut self, job: &Job) -> bool {
        let wrapper = &mut self.wrapper;
        wrapper.start.next = true;
        wrapper.k_len.next = (job.k_len as usize).into();
        wrapper.job.next = (job.tag as usize).into();
        sim::settle(wrapper);
        let taken = !wrapper.refused.val();
        sim::edge(wrapper);
        wrapper.start.next = false;
        sim::settle(wrapper);
        taken
    }

    /// Runs until the wrapper is idle again, and gives what it reported of the job when it finished.
    fn finish(
        &mut self,
        job: &Job,
        phases: &mut Vec<Phase>,
    ) -> Result<(Option<PeError>, u64, u64), LevelError> {
        let pause = job.fault.map_or(0, |fault| fault.length);
        let side = u64::from(self.parameters.n);
        let limit = 100 + u64::from(job.k_len) + u64::from(pause) + 2 * side * side;
        let mut report = None;
        for _ in 0..limit {
            let wrapper = &mut self.wrapper;
            let phase = phase(wrapper.phase());
            if phases.last() != Some(&phase) {
                phases.push(phase);
            }
            if wrapper.finished.val() {
                let kind = ErrorKind::from_code(wrapper.error.val().get() as u8);
                let (row, column) = (wrapper.error_row.val().get(), wrapper.error_column.val().get());
                let error = kind.map(|kind| PeError { kind, row: row as u32, column: column as u32 });
                let count = |word: Word| word.get() as u64;
                report = Some((error, count(wrapper.steps.val()), count(wrapper.edges.val())));
            }
            match report {
                Some(report) if !wrapper.busy.val() => return Ok(report),
                _ => sim::edge(wrapper),
            }
        }
        Err(LevelError::Broken(format!("the job did not finish within {limit} edges, phases {phases:?}")))
    }

    /// Reads the status and the results of the job.
    fn read(&mut self) -> Result<(u8, Vec<i64>), LevelError> {
        let wrapper = &mut self.wrapper;
        let values = self.parameters.n * self.parameters.n;
        let mut status = 0;
        let mut read = Vec::new();
        // A status takes a few edges to come out of the memory.
        for _ in 0..values + 10 {
            wrapper.result_next.next = false;
            sim::settle(wrapper);
            if wrapper.result_ready.val() {
                status = wrapper.result_status.val().get() as u8;
                read.push(wrapper.result.val().get());
                wrapper.result_next.next = true;
            }
            sim::edge(wrapper);
        }
        wrapper.result_next.next = false;
        if read.len() != values as usize {
            return Err(LevelError::Broken(format!("{} results of {values} came out", read.len())));
        }
        Ok((status, read))
    }
}

fn phase(phase: wrapper::Phase) -> Phase {
    match phase {
        wrapper::Phase::Idle => Phase::Idle,
        wrapper::Phase::Clear => Phase::Clear,
        wrapper::Phase::Stream => Phase::Stream,
        wrapper::Phase::Drain => Phase::Drain,
        wrapper::Phase::Collect => Phase::Collect,
    }
}
