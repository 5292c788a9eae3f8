//! Carries out commands in order: fills the banks, starts jobs, arms faults, asks for replies.

use crate::block;
use crate::command_reader::{CommandReader, SUM_BITS};
use crate::operand_reader::OperandReader;
use crate::parameters::Parameters;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use crate::wire;
use rust_hdl::prelude::*;

/// What the executor does with its command.
#[derive(LogicState, Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// Waits for a command.
    Wait,
    /// Writes the operands that follow.
    Write,
    /// Throws away the bytes that follow.
    Drain,
    /// Arms a fault.
    Arm,
    /// Adds up the length of a RESULT, one job an edge.
    Measure,
    /// Waits until the encoder has opened the reply.
    Open,
    /// Waits until the wrapper takes a job.
    Start,
    /// Waits until the job is in the result buffer.
    Run,
    /// Hands bytes that follow to the encoder.
    Echo,
    /// Hands counted bytes to the encoder.
    Count,
    /// The command is finished and no frame has said so.
    Retire,
    /// The command is finished and its reply says so.
    Answered,
}

block! {
    /// Reads committed bytes from the FIFO, one an edge, and never waits for anything but the wrapper and the encoder. A
    /// reply is opened before its first job starts, so that no job ever waits for room behind one that cannot leave.
    pub struct Executor {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Forgets everything: reset or HELLO.
        pub reset: Wire<In, bool>,
        /// Seq that counts as retired after `reset`.
        pub reset_seq: Wire<In, Word>,
        /// Starts no further command.
        pub hold: Wire<In, bool>,
        /// Whether `data` is the next byte of a command.
        pub valid: Wire<In, bool>,
        /// The byte.
        pub data: Wire<In, Word>,
        /// Goes on to the next byte.
        pub take: Wire<Out, bool>,
        /// One operand to the wrapper.
        pub write_enable: Wire<Out, bool>,
        /// Bank: false A, true B.
        pub write_bank: Wire<Out, bool>,
        /// Row of A or column of B.
        pub write_lane: Wire<Out, Word>,
        /// Where in the lane.
        pub write_address: Wire<Out, Word>,
        /// The operand.
        pub write_data: Wire<Out, Word>,
        /// Starts a job; only when the wrapper is ready.
        pub start: Wire<Out, bool>,
        /// Its panel in bank A.
        pub a_address: Wire<Out, Word>,
        /// Its panel in bank B.
        pub b_address: Wire<Out, Word>,
        /// Its terms.
        pub k_len: Wire<Out, Word>,
        /// Its tag.
        pub job: Wire<Out, Word>,
        /// The wrapper takes a job.
        pub ready: Wire<In, bool>,
        /// A job is in the result buffer (one edge).
        pub finished: Wire<In, bool>,
        /// Its steps.
        pub job_steps: Wire<In, Word>,
        /// Its edges.
        pub job_edges: Wire<In, Word>,
        /// Arms a fault (one edge).
        pub inject_arm: Wire<Out, bool>,
        /// Its kind.
        pub inject_kind: Wire<Out, Word>,
        /// Its step.
        pub inject_step: Wire<Out, Word>,
        /// Its length.
        pub inject_length: Wire<Out, Word>,
        /// Step or length are beyond what is counted: it never fires.
        pub inject_never: Wire<Out, bool>,
        /// A reply is to be opened; held until `opened`.
        pub open: Wire<Out, bool>,
        /// Opcode of the command that is answered.
        pub opcode: Wire<Out, Word>,
        /// Its seq.
        pub seq: Wire<Out, Word>,
        /// Bytes of the reply behind `expected` and `retired`.
        pub length: Wire<Out, Word>,
        /// Bytes of a value in a RESULT.
        pub result_bytes: Wire<Out, Word>,
        /// The encoder opens the reply at the next edge.
        pub opened: Wire<In, bool>,
        /// Whether `stream_data` is the next byte of DATA or ECHO_REPLY.
        pub stream_valid: Wire<Out, bool>,
        /// The byte.
        pub stream_data: Wire<Out, Word>,
        /// The encoder takes the byte at the next edge.
        pub stream_take: Wire<In, bool>,
        /// Steps of the jobs of the last MULTIPLY so far.
        pub steps: Wire<Out, Word>,
        /// Edges of these jobs.
        pub edges: Wire<Out, Word>,
        /// Seq of the last finished command; a reply opened for it counts.
        pub retired: Wire<Out, Word>,
        /// A command was finished that has no reply (one edge).
        pub news: Wire<Out, bool>,
        /// Something cannot be trusted from here on (one edge).
        pub poison: Wire<Out, bool>,
        /// In no command.
        pub idle: Wire<Out, bool>,
        /// What the executor does.
        pub doing: Reg<Task>,
        /// Reads commands.
        pub reader: CommandReader,
        operand: OperandReader,
        last_retired: Reg<Word>,
        // Bytes still to take or to hand over; or the length of a RESULT.
        left: Reg<Word>,
        // Which job runs, which lane is written, or which byte is handed over.
        index: Reg<Word>,
        // Where the next operand goes, or the panel in bank B.
        at: Reg<Word>,
        // Term within the lane.
        term: Reg<Word>,
        tag: Reg<Word>,
        step_sum: Reg<Word>,
        edge_sum: Reg<Word>,
        beyond_a: Wire<Local, bool>,
        beyond_b: Wire<Local, bool>,
        job_bytes: Wire<Local, Word>,
        taking: Wire<Local, bool>,
        finish: Wire<Local, bool>,
        write_code: Param,
        multiply_code: Param,
        inject_code: Param,
        status_code: Param,
        source_code: Param,
        sink_code: Param,
        bank_b: Param,
        last_lane: Param,
        a_bits: Param,
        b_bits: Param,
        trailer: Param,
        status_bytes: Param,
        job_sizes: Vec<Param>,
        widths: usize,
    }
}

impl Executor {
    /// The executor of a design.
    pub fn new(p: &Parameters) -> Self {
        let bits = Width::unsigned;
        let byte = |value: u8| Param::new(value.into(), 8);
        let address = bits(p.a_address_bits().max(p.b_address_bits()));
        let widths = p.accumulator_bytes() as usize;
        let job_size = |width: usize| Param::new(u64::from(1 + p.n * p.n * width as u32), 1);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            reset_seq: Wire::new(bits(8)),
            hold: Wire::default(),
            valid: Wire::default(),
            data: Wire::new(bits(8)),
            take: Wire::default(),
            write_enable: Wire::default(),
            write_bank: Wire::default(),
            write_lane: Wire::new(bits(p.lane_bits())),
            write_address: Wire::new(address),
            write_data: Wire::new(Width::signed(p.w)),
            start: Wire::default(),
            a_address: Wire::new(bits(p.a_address_bits())),
            b_address: Wire::new(bits(p.b_address_bits())),
            k_len: Wire::new(bits(p.count_bits())),
            job: Wire::new(bits(p.job_bits)),
            ready: Wire::default(),
            finished: Wire::default(),
            job_steps: Wire::new(bits(p.step_bits())),
            job_edges: Wire::new(bits(p.edge_bits())),
            inject_arm: Wire::default(),
            inject_kind: Wire::new(bits(3)),
            inject_step: Wire::new(bits(p.step_bits())),
            inject_length: Wire::new(bits(p.step_bits())),
            inject_never: Wire::default(),
            open: Wire::default(),
            opcode: Wire::new(bits(8)),
            seq: Wire::new(bits(8)),
            length: Wire::new(bits(16)),
            result_bytes: Wire::new(bits(3)),
            opened: Wire::default(),
            stream_valid: Wire::default(),
            stream_data: Wire::new(bits(8)),
            stream_take: Wire::default(),
            steps: Wire::new(bits(32)),
            edges: Wire::new(bits(32)),
            retired: Wire::new(bits(8)),
            news: Wire::default(),
            poison: Wire::default(),
            idle: Wire::default(),
            doing: Reg::default(),
            reader: CommandReader::new(p),
            operand: OperandReader::new(p),
            last_retired: Reg::new(bits(8)),
            left: Reg::new(bits(16)),
            index: Reg::new(bits(8)),
            at: Reg::new(bits(SUM_BITS)),
            term: Reg::new(bits(16)),
            tag: Reg::new(bits(p.job_bits)),
            step_sum: Reg::new(bits(8 + p.step_bits())),
            edge_sum: Reg::new(bits(8 + p.edge_bits())),
            beyond_a: Wire::default(),
            beyond_b: Wire::default(),
            job_bytes: Wire::new(bits(16)),
            taking: Wire::default(),
            finish: Wire::default(),
            write_code: byte(wire::WRITE),
            multiply_code: byte(wire::MULTIPLY),
            inject_code: byte(wire::INJECT),
            status_code: byte(wire::STATUS),
            source_code: byte(wire::SOURCE),
            sink_code: byte(wire::SINK),
            bank_b: Param::new(wire::BANK_B.into(), 3),
            last_lane: Param::new((p.n - 1).into(), 8),
            a_bits: Param::new(p.a_address_bits().into(), 5),
            b_bits: Param::new(p.b_address_bits().into(), 5),
            trailer: Param::new(wire::RESULT_TRAILER as u64, 16),
            status_bytes: Param::new((wire::STATUS_BODY - wire::REPLY_HEAD) as u64, 16),
            job_sizes: (0..=widths).map(job_size).collect(),
            widths,
        }
    }
}

impl Logic for Executor {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, doing, last_retired, left, index, at, term, tag, step_sum, edge_sum);
        clock!(self, clock, reader, operand);
        self.reader.reset.next = self.reset.val();
        self.reader.hold.next = self.hold.val();
        self.reader.valid.next = self.valid.val();
        self.reader.data.next = self.data.val();
        self.operand.clear.next = self.doing.q.val() != Task::Write;
        self.operand.take.next = self.valid.val();
        self.operand.data.next = self.data.val();
        self.beyond_a.next = (self.reader.first.val() >> self.a_bits.val()).any();
        self.beyond_b.next = (self.at.q.val() >> self.b_bits.val()).any();
        self.job_bytes.next = 0.into();
        for width in 1..(self.widths + 1) {
            if self.reader.choice.val() == width {
                self.job_bytes.next = self.job_sizes[width].val();
            }
        }

        self.taking.next = self.reader.take.val();
        self.finish.next = false;
        self.write_enable.next = false;
        self.start.next = false;
        self.inject_arm.next = false;
        self.open.next = false;
        self.stream_valid.next = false;
        self.stream_data.next = self.data.val();
        self.news.next = false;
        self.poison.next = false;
        match self.doing.q.val() {
            Task::Wait => {
                self.index.d.next = 0.into();
                self.term.d.next = 0.into();
                self.tag.d.next = self.reader.tag.val();
                self.at.d.next = self.reader.second.val();
                self.left.d.next = self.reader.length.val();
                if self.reader.loaded.val() {
                    self.doing.d.next = Task::Open;
                    if self.reader.opcode.val() == self.write_code.val() {
                        self.at.d.next = self.reader.first.val();
                        self.doing.d.next = Task::Write;
                    } else if self.reader.opcode.val() == self.multiply_code.val() {
                        self.left.d.next = self.trailer.val();
                        self.doing.d.next = Task::Measure;
                    } else if self.reader.opcode.val() == self.inject_code.val() {
                        self.doing.d.next = Task::Arm;
                    } else if self.reader.opcode.val() == self.sink_code.val() {
                        self.doing.d.next = Task::Drain;
                    } else if self.reader.opcode.val() == self.status_code.val() {
                        self.left.d.next = self.status_bytes.val();
                    } else if self.reader.opcode.val() == self.source_code.val() {
                        self.left.d.next = self.reader.first.val();
                    }
                }
            }
            Task::Write => {
                if self.valid.val() {
                    self.taking.next = true;
                    if self.operand.whole.val() {
                        self.write_enable.next = true;
                        self.poison.next = self.operand.misfit.val();
                        if self.reader.choice.val() == self.bank_b.val() {
                            if self.beyond_b.val() {
                                self.poison.next = true;
                            }
                        } else if (self.at.q.val() >> self.a_bits.val()).any() {
                            self.poison.next = true;
                        }
                        self.term.d.next = self.term.q.val() + 1;
                        self.at.d.next = self.at.q.val() + 1;
                        if (self.term.q.val() + 1) == self.reader.terms.val() {
                            self.term.d.next = 0.into();
                            self.at.d.next = self.reader.first.val();
                            self.index.d.next = self.index.q.val() + 1;
                            if self.index.q.val() == self.last_lane.val() {
                                self.doing.d.next = Task::Retire;
                            }
                        }
                    }
                }
            }
            Task::Drain => {
                if self.left.q.val() == 0 {
                    self.doing.d.next = Task::Retire;
                } else if self.valid.val() {
                    self.taking.next = true;
                    self.left.d.next = self.left.q.val() - 1;
                }
            }
            Task::Arm => {
                self.inject_arm.next = true;
                self.doing.d.next = Task::Retire;
            }
            Task::Measure => {
                if self.index.q.val() == self.reader.count.val() {
                    self.doing.d.next = Task::Open;
                } else {
                    self.left.d.next = self.left.q.val() + self.job_bytes.val();
                    self.index.d.next = self.index.q.val() + 1;
                }
            }
            Task::Open => {
                self.open.next = true;
                if self.opened.val() {
                    self.index.d.next = 0.into();
                    self.step_sum.d.next = 0.into();
                    self.edge_sum.d.next = 0.into();
                    if self.reader.opcode.val() == self.multiply_code.val() {
                        self.doing.d.next = Task::Start;
                    } else if self.reader.opcode.val() == self.status_code.val() {
                        self.doing.d.next = Task::Answered;
                    } else if self.reader.opcode.val() == self.source_code.val() {
                        self.doing.d.next = Task::Count;
                    } else {
                        self.doing.d.next = Task::Echo;
                    }
                }
            }
            Task::Start => {
                if self.ready.val() {
                    self.start.next = true;
                    self.poison.next = self.beyond_a.val() | self.beyond_b.val();
                    self.doing.d.next = Task::Run;
                }
            }
            Task::Run => {
                if self.finished.val() {
                    self.step_sum.d.next = self.step_sum.q.val() + self.job_steps.val();
                    self.edge_sum.d.next = self.edge_sum.q.val() + self.job_edges.val();
                    self.at.d.next = self.at.q.val() + self.reader.third.val();
                    self.tag.d.next = self.tag.q.val() + 1;
                    self.index.d.next = self.index.q.val() + 1;
                    if (self.index.q.val() + 1) == self.reader.count.val() {
                        self.doing.d.next = Task::Answered;
                    } else {
                        self.doing.d.next = Task::Start;
                    }
                }
            }
            Task::Echo => {
                if self.left.q.val() == 0 {
                    self.doing.d.next = Task::Answered;
                } else {
                    self.stream_valid.next = self.valid.val();
                    if self.stream_take.val() {
                        self.taking.next = true;
                        self.left.d.next = self.left.q.val() - 1;
                    }
                }
            }
            Task::Count => {
                if self.left.q.val() == 0 {
                    self.doing.d.next = Task::Answered;
                } else {
                    self.stream_valid.next = true;
                    self.stream_data.next = self.index.q.val();
                    if self.stream_take.val() {
                        self.index.d.next = self.index.q.val() + 1;
                        self.left.d.next = self.left.q.val() - 1;
                    }
                }
            }
            Task::Retire => {
                self.news.next = true;
                self.finish.next = true;
            }
            Task::Answered => {
                self.finish.next = true;
            }
        }
        if self.finish.val() {
            self.last_retired.d.next = self.reader.seq.val();
            self.doing.d.next = Task::Wait;
        }
        if self.reset.val() {
            self.doing.d.next = Task::Wait;
            self.last_retired.d.next = self.reset_seq.val();
        }

        self.reader.done.next = self.finish.val();
        self.idle.next = self.reader.idle.val();
        self.take.next = self.taking.val();
        self.write_bank.next = self.reader.choice.val() == self.bank_b.val();
        self.write_lane.next = self.index.q.val();
        self.write_address.next = self.at.q.val();
        self.write_data.next = self.operand.operand.val();
        self.a_address.next = self.reader.first.val();
        self.b_address.next = self.at.q.val();
        self.k_len.next = self.reader.terms.val();
        self.job.next = self.tag.q.val();
        self.inject_kind.next = self.reader.choice.val();
        self.inject_step.next = self.reader.first.val();
        self.inject_length.next = self.reader.second.val();
        self.inject_never.next = self.reader.never.val();
        self.opcode.next = self.reader.opcode.val();
        self.seq.next = self.reader.seq.val();
        self.length.next = self.left.q.val();
        self.result_bytes.next = self.reader.choice.val();
        self.steps.next = self.step_sum.q.val();
        self.edges.next = self.edge_sum.q.val();
        self.retired.next = self.last_retired.q.val();
    }
}
