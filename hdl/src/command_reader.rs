//! Reads a command's header and arguments out of the FIFO.

use crate::argument_map::ArgumentMap;
use crate::block;
use crate::parameters::Parameters;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use crate::wire;
use rust_hdl::prelude::*;

/// Bits of an address and of what may be added to it, as the wire carries them.
pub const SUM_BITS: u32 = 17;

/// Which byte of a command comes next.
#[derive(LogicState, Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// Its opcode.
    Opcode,
    /// Its seq.
    Seq,
    /// The lower byte of its length.
    LengthLow,
    /// The upper byte.
    LengthHigh,
    /// Its arguments.
    Arguments,
    /// All is read but the bytes that follow the arguments.
    Loaded,
}

block! {
    /// Takes a byte an edge. What it read stays until `done`; the bytes behind the arguments are the executor's to take.
    pub struct CommandReader {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Forgets the command.
        pub reset: Wire<In, bool>,
        /// Begins no further command.
        pub hold: Wire<In, bool>,
        /// Whether `data` is the next byte in the FIFO.
        pub valid: Wire<In, bool>,
        /// The byte.
        pub data: Wire<In, Word>,
        /// Goes on to the next byte.
        pub take: Wire<Out, bool>,
        /// The command is finished.
        pub done: Wire<In, bool>,
        /// The command's header and arguments are there.
        pub loaded: Wire<Out, bool>,
        /// Between commands.
        pub idle: Wire<Out, bool>,
        /// Opcode.
        pub opcode: Wire<Out, Word>,
        /// Seq.
        pub seq: Wire<Out, Word>,
        /// Bytes of the body, arguments included.
        pub length: Wire<Out, Word>,
        /// WRITE: address. MULTIPLY: a_address. INJECT: step. SOURCE: n.
        pub first: Wire<Out, Word>,
        /// MULTIPLY: b_address. INJECT: length.
        pub second: Wire<Out, Word>,
        /// MULTIPLY: b_stride.
        pub third: Wire<Out, Word>,
        /// WRITE, MULTIPLY: k_len.
        pub terms: Wire<Out, Word>,
        /// MULTIPLY: count.
        pub count: Wire<Out, Word>,
        /// MULTIPLY: job.
        pub tag: Wire<Out, Word>,
        /// WRITE: bank. MULTIPLY: result_bytes. INJECT: kind.
        pub choice: Wire<Out, Word>,
        /// INJECT: step or length is beyond what is counted.
        pub never: Wire<Out, bool>,
        /// Which byte of a command comes next.
        pub reading: Reg<Reading>,
        map: ArgumentMap,
        code: Reg<Word>,
        command_seq: Reg<Word>,
        body: Reg<Word>,
        index: Reg<Word>,
        first_kept: Reg<Word>,
        second_kept: Reg<Word>,
        third_kept: Reg<Word>,
        terms_kept: Reg<Word>,
        count_kept: Reg<Word>,
        tag_kept: Reg<Word>,
        choice_kept: Reg<Word>,
        beyond: Reg<bool>,
        write_code: Param,
        multiply_code: Param,
        inject_code: Param,
        source_code: Param,
        step_bits: Param,
    }
}

impl CommandReader {
    /// The reader of a design.
    pub fn new(p: &Parameters) -> Self {
        let bits = Width::unsigned;
        let byte = |value: u8| Param::new(value.into(), 8);
        let wide = bits(SUM_BITS.max(p.step_bits()));
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            hold: Wire::default(),
            valid: Wire::default(),
            data: Wire::new(bits(8)),
            take: Wire::default(),
            done: Wire::default(),
            loaded: Wire::default(),
            idle: Wire::default(),
            opcode: Wire::new(bits(8)),
            seq: Wire::new(bits(8)),
            length: Wire::new(bits(16)),
            first: Wire::new(wide),
            second: Wire::new(wide),
            third: Wire::new(bits(16)),
            terms: Wire::new(bits(SUM_BITS)),
            count: Wire::new(bits(8)),
            tag: Wire::new(bits(p.job_bits)),
            choice: Wire::new(bits(3)),
            never: Wire::default(),
            reading: Reg::default(),
            map: ArgumentMap::new(),
            code: Reg::new(bits(8)),
            command_seq: Reg::new(bits(8)),
            body: Reg::new(bits(16)),
            index: Reg::new(bits(4)),
            first_kept: Reg::new(wide),
            second_kept: Reg::new(wide),
            third_kept: Reg::new(bits(16)),
            terms_kept: Reg::new(bits(SUM_BITS)),
            count_kept: Reg::new(bits(8)),
            tag_kept: Reg::new(bits(p.job_bits)),
            choice_kept: Reg::new(bits(3)),
            beyond: Reg::default(),
            write_code: byte(wire::WRITE),
            multiply_code: byte(wire::MULTIPLY),
            inject_code: byte(wire::INJECT),
            source_code: byte(wire::SOURCE),
            step_bits: Param::new(p.step_bits().into(), 5),
        }
    }
}

impl Logic for CommandReader {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, reading, code, command_seq, body, index, first_kept, second_kept, third_kept);
        dff_setup!(self, clock, terms_kept, count_kept, tag_kept, choice_kept, beyond);
        clock!(self, clock, map);
        self.map.opcode.next = self.code.q.val();
        self.map.index.next = self.index.q.val();
        self.map.data.next = self.data.val();
        self.take.next = false;
        self.loaded.next = false;
        self.idle.next = false;
        match self.reading.q.val() {
            Reading::Opcode => {
                self.idle.next = true;
                self.index.d.next = 0.into();
                self.first_kept.d.next = 0.into();
                self.second_kept.d.next = 0.into();
                self.third_kept.d.next = 0.into();
                self.terms_kept.d.next = 0.into();
                self.beyond.d.next = false;
                if self.valid.val() & !self.hold.val() {
                    self.take.next = true;
                    self.code.d.next = self.data.val();
                    self.reading.d.next = Reading::Seq;
                }
            }
            Reading::Seq => {
                if self.valid.val() {
                    self.take.next = true;
                    self.command_seq.d.next = self.data.val();
                    self.reading.d.next = Reading::LengthLow;
                }
            }
            Reading::LengthLow => {
                if self.valid.val() {
                    self.take.next = true;
                    self.body.d.next = self.data.val();
                    self.reading.d.next = Reading::LengthHigh;
                }
            }
            Reading::LengthHigh => {
                if self.valid.val() {
                    self.take.next = true;
                    self.body.d.next = self.body.q.val() | (self.data.val() << 8);
                    self.reading.d.next = Reading::Loaded;
                    if (self.code.q.val() == self.write_code.val())
                        | (self.code.q.val() == self.multiply_code.val())
                        | (self.code.q.val() == self.inject_code.val())
                        | (self.code.q.val() == self.source_code.val())
                    {
                        self.reading.d.next = Reading::Arguments;
                    }
                }
            }
            Reading::Arguments => {
                if self.valid.val() {
                    self.take.next = true;
                    self.index.d.next = self.index.q.val() + 1;
                    if self.map.to_first.val() {
                        self.first_kept.d.next = self.first_kept.q.val() | self.map.placed.val();
                    }
                    if self.map.to_second.val() {
                        self.second_kept.d.next = self.second_kept.q.val() | self.map.placed.val();
                    }
                    if self.map.to_third.val() {
                        self.third_kept.d.next = self.third_kept.q.val() | self.map.placed.val();
                    }
                    if self.map.to_terms.val() {
                        self.terms_kept.d.next = self.terms_kept.q.val() | self.map.placed.val();
                    }
                    if self.map.to_count.val() {
                        self.count_kept.d.next = self.data.val();
                    }
                    if self.map.to_tag.val() {
                        self.tag_kept.d.next = self.data.val();
                    }
                    if self.map.to_choice.val() {
                        self.choice_kept.d.next = self.data.val();
                    } else if (self.map.placed.val() >> self.step_bits.val()).any() {
                        self.beyond.d.next = true;
                    }
                    if self.map.last.val() {
                        self.reading.d.next = Reading::Loaded;
                    }
                }
            }
            Reading::Loaded => {
                self.loaded.next = true;
                if self.done.val() {
                    self.reading.d.next = Reading::Opcode;
                }
            }
        }
        if self.reset.val() {
            self.reading.d.next = Reading::Opcode;
        }
        self.opcode.next = self.code.q.val();
        self.seq.next = self.command_seq.q.val();
        self.length.next = self.body.q.val();
        self.first.next = self.first_kept.q.val();
        self.second.next = self.second_kept.q.val();
        self.third.next = self.third_kept.q.val();
        self.terms.next = self.terms_kept.q.val();
        self.count.next = self.count_kept.q.val();
        self.tag.next = self.tag_kept.q.val();
        self.choice.next = self.choice_kept.q.val();
        self.never.next = self.beyond.q.val();
    }
}
