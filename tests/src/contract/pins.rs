//! Jobs on a wrapper's pins, wherever they lead: into rust-hdl's simulation, its Verilog or a netlist of that.

use super::{Answer, Job, LevelError, Outcome, Phase};
use systole::software::job::{Fault, PeError};
use systole_hdl::parameters::Parameters;
use systole_hdl::types::Word;
use systole_hdl::wire::{ErrorKind, STATUS_FIRED, STATUS_KIND, STATUS_NOT_FIRED, STATUS_REFUSED};
use systole_hdl::wrapper;

/// A wrapper somewhere, behind pins that are driven by `next` and read by `val()`.
pub trait Pins {
    /// The pins.
    fn pins(&mut self) -> &mut wrapper::Wrapper;

    /// Lets what is driven settle, without an edge.
    ///
    /// # Errors
    /// A simulator that breaks down.
    fn settle(&mut self) -> Result<(), LevelError>;

    /// Takes an edge; the pins are those after it.
    ///
    /// # Errors
    /// A simulator that breaks down.
    fn edge(&mut self) -> Result<(), LevelError>;

    /// Where the wrapper is; `None` where that cannot be seen.
    fn phase(&self) -> Option<Phase>;
}

/// Resets the wrapper and runs jobs, one after another.
///
/// # Errors
/// See [`super::Wrapper::run`].
pub fn run(level: impl Pins, parameters: &Parameters, jobs: &[Job]) -> Result<Vec<Answer>, LevelError> {
    let mut bench = Bench { parameters, level };
    bench.level.pins().reset.next = true;
    bench.level.edge()?;
    bench.level.pins().reset.next = false;
    jobs.iter().map(|job| bench.job(job)).collect()
}

/// A wrapper and what it takes to run jobs on it.
struct Bench<'a, P> {
    parameters: &'a Parameters,
    level: P,
}

impl<P: Pins> Bench<'_, P> {
    fn job(&mut self, job: &Job) -> Result<Answer, LevelError> {
        if u64::from(job.k_len) >> self.parameters.count_bits() != 0 {
            let length = format!("a job of {} terms: the wrapper's port is narrower", job.k_len);
            return Err(LevelError::Unsupported(length));
        }
        self.write(false, &job.a, job.k_len)?;
        self.write(true, &job.b, job.k_len)?;
        if let Some(fault) = job.fault {
            self.arm(fault)?;
        }
        if !self.start(job)? {
            return Ok(Answer::Refused);
        }
        let mut phases = self.level.phase().map(|_| Vec::new());
        let (error, steps, edges) = self.finish(job, phases.as_mut())?;
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
        let (fired, refused) = (flag(STATUS_FIRED), flag(STATUS_REFUSED));
        Ok(Answer::Run(Outcome { values, error, steps, edges, fired, refused, phases }))
    }

    /// Writes a panel to address 0 of a bank.
    fn write(&mut self, bank: bool, operands: &[i32], k_len: u32) -> Result<(), LevelError> {
        let wrapper = self.level.pins();
        wrapper.write_enable.next = true;
        wrapper.write_bank.next = bank;
        for (i, &operand) in operands.iter().enumerate() {
            let wrapper = self.level.pins();
            wrapper.write_lane.next = (i / k_len as usize).into();
            wrapper.write_address.next = (i % k_len as usize).into();
            wrapper.write_data.next = Word::of(operand.into());
            self.level.edge()?;
        }
        self.level.pins().write_enable.next = false;
        Ok(())
    }

    fn arm(&mut self, fault: Fault) -> Result<(), LevelError> {
        let bits = self.parameters.step_bits();
        if fault.length >> bits != 0 {
            return Err(LevelError::Unsupported(format!("a pause of {} edges", fault.length)));
        }
        let wrapper = self.level.pins();
        wrapper.inject_arm.next = true;
        wrapper.inject_kind.next = usize::from(fault.injection.code()).into();
        wrapper.inject_step.next = (fault.step as usize).into();
        wrapper.inject_length.next = (fault.length as usize).into();
        wrapper.inject_never.next = fault.step >> bits != 0;
        self.level.edge()?;
        self.level.pins().inject_arm.next = false;
        Ok(())
    }

    /// Asks for a start for one edge; says whether it was taken.
    fn start(&mut self, job: &Job) -> Result<bool, LevelError> {
        let wrapper = self.level.pins();
        wrapper.start.next = true;
        wrapper.k_len.next = (job.k_len as usize).into();
        wrapper.job.next = (job.tag as usize).into();
        self.level.settle()?;
        let taken = !self.level.pins().refused.val();
        self.level.edge()?;
        self.level.pins().start.next = false;
        self.level.settle()?;
        Ok(taken)
    }

    /// Runs until the wrapper is idle again, and gives what it reported of the job when it finished.
    fn finish(
        &mut self,
        job: &Job,
        mut phases: Option<&mut Vec<Phase>>,
    ) -> Result<(Option<PeError>, u64, u64), LevelError> {
        let pause = job.fault.map_or(0, |fault| fault.length);
        let side = u64::from(self.parameters.n);
        let limit = 100 + u64::from(job.k_len) + u64::from(pause) + 2 * side * side;
        let mut report = None;
        for _ in 0..limit {
            if let (Some(phases), Some(phase)) = (&mut phases, self.level.phase())
                && phases.last() != Some(&phase)
            {
                phases.push(phase);
            }
            let wrapper = self.level.pins();
            if wrapper.finished.val() {
                let kind = ErrorKind::from_code(wrapper.error.val().get() as u8);
                let (row, column) = (wrapper.error_row.val().get(), wrapper.error_column.val().get());
                let error = kind.map(|kind| PeError { kind, row: row as u32, column: column as u32 });
                let count = |word: Word| word.get() as u64;
                report = Some((error, count(wrapper.steps.val()), count(wrapper.edges.val())));
            }
            match report {
                Some(report) if !wrapper.busy.val() => return Ok(report),
                _ => self.level.edge()?,
            }
        }
        Err(LevelError::Broken(format!("the job did not finish within {limit} edges, phases {phases:?}")))
    }

    /// Reads the status and the results of the job.
    fn read(&mut self) -> Result<(u8, Vec<i64>), LevelError> {
        let values = self.parameters.n * self.parameters.n;
        let mut status = 0;
        let mut read = Vec::new();
        // A status takes a few edges to come out of the memory.
        for _ in 0..values + 10 {
            self.level.pins().result_next.next = false;
            self.level.settle()?;
            let wrapper = self.level.pins();
            if wrapper.result_ready.val() {
                status = wrapper.result_status.val().get() as u8;
                read.push(wrapper.result.val().get());
                wrapper.result_next.next = true;
            }
            self.level.edge()?;
        }
        self.level.pins().result_next.next = false;
        if read.len() != values as usize {
            return Err(LevelError::Broken(format!("{} results of {values} came out", read.len())));
        }
        Ok((status, read))
    }
}
