//! The wrapper: one job at a time from start to result buffer (R24a–R27).
//!
//! idle → clear → stream → drain (only if N > 1) → collect → idle. A start is taken on one edge; the next one clears
//! the grid while the banks look up the first operands; then come the job's steps, then N² + 2 edges to collect. A job
//! of `k_len` terms therefore occupies the array for `k_len + 2N − 2 + N² + 4` edges and whatever was paused.

use crate::block;
use crate::collector::Collector;
use crate::feeder::Feeder;
use crate::grid::Grid;
use crate::injector::{INJECTION_BITS, Injector};
use crate::operand_memory::OperandMemory;
use crate::parameters::{Parameters, bits_for};
use crate::pe::KIND_BITS;
use crate::result_buffer::{ResultBuffer, STATUS_BITS};
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use crate::wire::{STATUS_FIRED, STATUS_NOT_FIRED, STATUS_REFUSED};
use rust_hdl::prelude::*;

/// Where a job is.
#[derive(LogicState, Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// No job.
    Idle,
    /// The grid empties and the banks look up the first operands.
    Clear,
    /// Tokens enter the grid.
    Stream,
    /// The last tokens are on their way through the grid (R25).
    Drain,
    /// Results are copied into the result buffer.
    Collect,
}

block! {
    /// Operand banks, feeder, grid, collector and result buffer, and the state machine that runs jobs on them.
    ///
    /// A start outside idle, without room for its results, or with a `k_len` outside `1..=k_limit` is refused: that
    /// shows on `refused` and changes nothing else.
    pub struct Wrapper {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Forgets job, results and fault; the banks keep their contents.
        pub reset: Wire<In, bool>,
        /// Whether to write an operand at the next edge.
        pub write_enable: Wire<In, bool>,
        /// Its bank: false for A, true for B.
        pub write_bank: Wire<In, bool>,
        /// Its lane: row of A or column of B.
        pub write_lane: Wire<In, Word>,
        /// Its address in the lane.
        pub write_address: Wire<In, Word>,
        /// The operand.
        pub write_data: Wire<In, Word>,
        /// Asks for a job to start.
        pub start: Wire<In, bool>,
        /// Where its panel begins in bank A.
        pub a_address: Wire<In, Word>,
        /// Where its panel begins in bank B.
        pub b_address: Wire<In, Word>,
        /// Its terms.
        pub k_len: Wire<In, Word>,
        /// Its tag.
        pub job: Wire<In, Word>,
        /// Arms a fault for the next job. Ignored while a job runs.
        pub inject_arm: Wire<In, bool>,
        /// The fault, as a code of [`Injection`](crate::wire::Injection).
        pub inject_kind: Wire<In, Word>,
        /// The step at which it strikes.
        pub inject_step: Wire<In, Word>,
        /// Edges, if it is a pause.
        pub inject_length: Wire<In, Word>,
        /// The step is beyond the counter's range: it never comes.
        pub inject_never: Wire<In, bool>,
        /// Goes on to the next result, after the last one of a job to the next job. Only while `result_ready`.
        pub result_next: Wire<In, bool>,
        /// A start with a legal `k_len` would be taken.
        pub ready: Wire<Out, bool>,
        /// A job is under way.
        pub busy: Wire<Out, bool>,
        /// A start is being refused.
        pub refused: Wire<Out, bool>,
        /// The operand presented lies beyond the end of its bank.
        pub overrun: Wire<Out, bool>,
        /// The job is in the result buffer after the next edge; high for one edge a job. With it stand the job's tag,
        /// steps, edges and error, which hold until the next start is taken.
        pub finished: Wire<Out, bool>,
        /// Tag of the job.
        pub finished_job: Wire<Out, Word>,
        /// Advancing edges taken.
        pub steps: Wire<Out, Word>,
        /// Edges of the compute phase, paused ones included.
        pub edges: Wire<Out, Word>,
        /// Kind of the erring PE that is lowest in row-major order, 0 for a good job.
        pub error: Wire<Out, Word>,
        /// Row of that PE.
        pub error_row: Wire<Out, Word>,
        /// Column of that PE.
        pub error_column: Wire<Out, Word>,
        /// A finished job is there: `result_status` and `result` hold.
        pub result_ready: Wire<Out, bool>,
        /// Its status byte, without poison.
        pub result_status: Wire<Out, Word>,
        /// Its results, one after the other in row-major order.
        pub result: Wire<Out, Word>,
        /// The grid.
        pub grid: Grid,
        a_bank: OperandMemory,
        b_bank: OperandMemory,
        feeder: Feeder,
        collector: Collector,
        results: ResultBuffer,
        /// One, or none when the design leaves injections out.
        injector: Vec<Injector>,
        phase: Reg<Phase>,
        length: Reg<Word>,
        tag: Reg<Word>,
        edge_count: Reg<Word>,
        tail: Reg<Word>,
        disturbed: Reg<bool>,
        take: Wire<Local, bool>,
        clearing: Wire<Local, bool>,
        computing: Wire<Local, bool>,
        ending: Wire<Local, bool>,
        hold: Wire<Local, bool>,
        advance: Wire<Local, bool>,
        injected_start: Wire<Local, bool>,
        refuse: Wire<Local, bool>,
        status: Wire<Local, Word>,
        k_limit: Param,
        stream_tail: Param,
        whole_tail: Param,
        fired_bit: Param,
        not_fired_bit: Param,
        refused_bit: Param,
        n: usize,
        injectors: usize,
    }
}

impl Wrapper {
    /// The wrapper of a design.
    pub fn new(p: &Parameters) -> Self {
        let a_address = Width::unsigned(p.a_address_bits());
        let b_address = Width::unsigned(p.b_address_bits());
        let lane = Width::unsigned(p.lane_bits());
        let count = Width::unsigned(p.count_bits());
        let tag = Width::unsigned(p.job_bits);
        let step = Width::unsigned(p.step_bits());
        let edge = Width::unsigned(p.edge_bits());
        let kind = Width::unsigned(KIND_BITS);
        let status = Width::unsigned(STATUS_BITS);
        // Steps after the one that takes lane 0's last term: those of a job less its terms (R5).
        let whole_tail = p.steps(0);
        let tail_bits = bits_for(u64::from(whole_tail) + 2);
        let injectors = usize::from(p.injection);
        let bit = |bit: u8| Param::new(bit.into(), STATUS_BITS);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            write_enable: Wire::default(),
            write_bank: Wire::default(),
            write_lane: Wire::new(lane),
            write_address: Wire::new(Width::unsigned(p.a_address_bits().max(p.b_address_bits()))),
            write_data: Wire::new(Width::signed(p.w)),
            start: Wire::default(),
            a_address: Wire::new(a_address),
            b_address: Wire::new(b_address),
            k_len: Wire::new(count),
            job: Wire::new(tag),
            inject_arm: Wire::default(),
            inject_kind: Wire::new(Width::unsigned(INJECTION_BITS)),
            inject_step: Wire::new(step),
            inject_length: Wire::new(step),
            inject_never: Wire::default(),
            result_next: Wire::default(),
            ready: Wire::default(),
            busy: Wire::default(),
            refused: Wire::default(),
            overrun: Wire::default(),
            finished: Wire::default(),
            finished_job: Wire::new(tag),
            steps: Wire::new(step),
            edges: Wire::new(edge),
            error: Wire::new(kind),
            error_row: Wire::new(lane),
            error_column: Wire::new(lane),
            result_ready: Wire::default(),
            result_status: Wire::new(status),
            result: Wire::new(Width::signed(p.aw)),
            grid: Grid::new(p),
            a_bank: OperandMemory::new(p, p.a_address_bits()),
            b_bank: OperandMemory::new(p, p.b_address_bits()),
            feeder: Feeder::new(p),
            collector: Collector::new(p),
            results: ResultBuffer::new(p),
            injector: (0..injectors).map(|_| Injector::new(p)).collect(),
            phase: Reg::default(),
            length: Reg::new(count),
            tag: Reg::new(tag),
            edge_count: Reg::new(edge),
            tail: Reg::new(Width::unsigned(tail_bits)),
            disturbed: Reg::default(),
            take: Wire::default(),
            clearing: Wire::default(),
            computing: Wire::default(),
            ending: Wire::default(),
            hold: Wire::default(),
            advance: Wire::default(),
            injected_start: Wire::default(),
            refuse: Wire::default(),
            status: Wire::new(status),
            k_limit: Param::new(p.k_limit().into(), p.count_bits()),
            stream_tail: Param::new((p.n - 1).into(), tail_bits),
            whole_tail: Param::new(whole_tail.into(), tail_bits),
            fired_bit: bit(STATUS_FIRED),
            not_fired_bit: bit(STATUS_NOT_FIRED),
            refused_bit: bit(STATUS_REFUSED),
            n: p.n as usize,
            injectors,
        }
    }

    /// Where the job is.
    pub fn phase(&self) -> Phase {
        self.phase.q.val()
    }

    /// Jobs that the result buffer holds.
    pub fn slots(&self) -> usize {
        self.results.slots()
    }
}

impl Logic for Wrapper {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, length, tag, edge_count, tail, disturbed);
        clock!(self, clock, grid, a_bank, b_bank, feeder, collector, results);
        self.grid.reset.next = self.reset.val();
        self.feeder.reset.next = self.reset.val();
        self.collector.reset.next = self.reset.val();
        self.results.reset.next = self.reset.val();

        // A job's way through the phases. `tail` counts the steps from lane 0's last term on.
        self.take.next = false;
        self.computing.next = false;
        self.clearing.next = false;
        self.collector.go.next = false;
        self.ready.next = false;
        self.busy.next = true;
        self.ending.next = self.feeder.last.val() | !self.feeder.feeding.val();
        self.hold.next = false;
        for x in 0..self.injectors {
            self.hold.next = self.injector[x].hold.val();
        }
        self.advance.next = false;
        match self.phase.q.val() {
            Phase::Idle => {
                self.busy.next = false;
                self.ready.next = self.results.room.val();
                self.take.next = self.start.val()
                    & self.results.room.val()
                    & self.k_len.val().any()
                    & (self.k_len.val() <= self.k_limit.val());
                if self.take.val() {
                    self.length.d.next = self.k_len.val();
                    self.tag.d.next = self.job.val();
                    self.edge_count.d.next = 0.into();
                    self.tail.d.next = 0.into();
                    self.phase.d.next = Phase::Clear;
                }
            }
            Phase::Clear => {
                self.clearing.next = true;
                self.phase.d.next = Phase::Stream;
            }
            Phase::Stream => {
                self.computing.next = true;
            }
            Phase::Drain => {
                self.computing.next = true;
            }
            Phase::Collect => {
                if self.collector.close.val() {
                    self.phase.d.next = Phase::Idle;
                }
            }
        }
        if self.computing.val() {
            self.edge_count.d.next = self.edge_count.q.val() + 1;
            self.advance.next = !self.hold.val();
            if self.ending.val() & !self.hold.val() {
                self.tail.d.next = self.tail.q.val() + 1;
                if self.tail.q.val() == self.whole_tail.val() {
                    self.collector.go.next = true;
                    self.phase.d.next = Phase::Collect;
                } else if self.tail.q.val() == self.stream_tail.val() {
                    self.phase.d.next = Phase::Drain;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = Phase::Idle;
        }

        // Operands.
        self.a_bank.write_enable.next = self.write_enable.val() & !self.write_bank.val();
        self.b_bank.write_enable.next = self.write_enable.val() & self.write_bank.val();
        self.a_bank.write_lane.next = self.write_lane.val();
        self.b_bank.write_lane.next = self.write_lane.val();
        self.a_bank.write_address.next = self.write_address.val();
        self.b_bank.write_address.next = self.write_address.val();
        self.a_bank.write_data.next = self.write_data.val();
        self.b_bank.write_data.next = self.write_data.val();

        // Tokens.
        self.feeder.load.next = self.take.val();
        self.feeder.advance.next = self.advance.val();
        self.feeder.a_address.next = self.a_address.val();
        self.feeder.b_address.next = self.b_address.val();
        self.feeder.k_len.next = self.length.q.val();
        self.feeder.job.next = self.tag.q.val();
        self.grid.clear.next = self.clearing.val();
        self.grid.advance.next = self.advance.val();
        self.grid.k_len.next = self.length.q.val();
        for l in 0..self.n {
            self.a_bank.read_address[l].next = self.feeder.a_read[l].val();
            self.b_bank.read_address[l].next = self.feeder.b_read[l].val();
            self.feeder.a_data[l].next = self.a_bank.read_data[l].val();
            self.feeder.b_data[l].next = self.b_bank.read_data[l].val();
            self.grid.a_in[l].next = self.feeder.a_out[l].val();
            self.grid.b_in[l].next = self.feeder.b_out[l].val();
            self.grid.row[l].next = self.collector.row[l].val();
            self.collector.acc[l].next = self.grid.acc[l].val();
            self.collector.kind[l].next = self.grid.kind[l].val();
            self.collector.done[l].next = self.grid.done[l].val();
        }

        // Faults, if the design can inject them.
        self.feeder.flip_k.next = false;
        self.feeder.flip_job.next = false;
        self.feeder.drop_valid.next = false;
        self.feeder.repeat_k.next = false;
        self.feeder.truncate.next = false;
        self.injected_start.next = false;
        self.status.next = self.collector.error.val();
        for x in 0..self.injectors {
            self.injector[x].clock.next = self.clock.val();
            self.injector[x].reset.next = self.reset.val();
            self.injector[x].arm.next = self.inject_arm.val() & !self.busy.val();
            self.injector[x].kind.next = self.inject_kind.val();
            self.injector[x].at.next = self.inject_step.val();
            self.injector[x].length.next = self.inject_length.val();
            self.injector[x].never.next = self.inject_never.val();
            self.injector[x].job_begins.next = self.clearing.val();
            self.injector[x].running.next = self.computing.val();
            self.injector[x].step.next = self.feeder.step.val();
            self.injector[x].feeding.next = self.feeder.feeding.val();
            self.injector[x].last.next = self.feeder.last.val();
            self.injector[x].job_ends.next = self.collector.close.val();
            self.feeder.flip_k.next = self.injector[x].flip_k.val();
            self.feeder.flip_job.next = self.injector[x].flip_job.val();
            self.feeder.drop_valid.next = self.injector[x].drop_valid.val();
            self.feeder.repeat_k.next = self.injector[x].repeat_k.val();
            self.feeder.truncate.next = self.injector[x].truncate.val();
            self.injected_start.next = self.injector[x].start.val();
            if self.injector[x].fired.val() {
                self.status.next = self.status.val() | self.fired_bit.val();
            } else if self.injector[x].pending.val() {
                self.status.next = self.status.val() | self.not_fired_bit.val();
            }
        }

        self.refuse.next = (self.start.val() & !self.take.val()) | self.injected_start.val();
        self.disturbed.d.next = self.busy.val() & (self.disturbed.q.val() | self.refuse.val());
        if self.disturbed.q.val() | self.refuse.val() {
            self.status.next = self.status.val() | self.refused_bit.val();
        }
        self.refused.next = self.refuse.val();

        // Results.
        self.results.write.next = self.collector.write.val();
        self.results.value.next = self.collector.value.val();
        self.results.close.next = self.collector.close.val();
        self.results.status.next = self.status.val();
        self.results.advance.next = self.result_next.val();
        self.result_ready.next = self.results.ready.val();
        self.result_status.next = self.results.shown_status.val();
        self.result.next = self.results.shown.val();

        self.finished.next = self.collector.close.val();
        self.finished_job.next = self.tag.q.val();
        self.steps.next = self.feeder.step.val();
        self.edges.next = self.edge_count.q.val();
        self.error.next = self.collector.error.val();
        self.error_row.next = self.collector.error_row.val();
        self.error_column.next = self.collector.error_column.val();
        self.overrun.next = self.feeder.overrun.val();
    }
}
