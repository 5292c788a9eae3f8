//! From replies to bytes: chooses what is said next, and says it with SLIP and CRC.

use crate::block;
use crate::crc::Crc;
use crate::frame_part::Part;
use crate::parameters::Parameters;
use crate::reply_table::ReplyTable;
use crate::result_reader::ResultReader;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use crate::wire;
use rust_hdl::prelude::*;

block! {
    /// Sends a byte every other edge. Order: IDENT, which also cuts off a frame in flight; a reply that the executor
    /// asks for; NAK; ACK. `expected` and `retired` are those at the start of the frame; a reply counts as
    /// retired itself. An ACK waits while commands are queued, since what becomes of them will be worth telling.
    ///
    /// A value that does not fit its bytes makes the frame's CRC wrong, all of it inverted: the host cannot take it for
    /// good. The poison that it reports marks every later job.
    pub struct FrameEncoder {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Forgets everything, a frame in flight included.
        pub reset: Wire<In, bool>,
        /// A HELLO came (one edge): forget everything, end a frame in flight, send IDENT.
        pub hello: Wire<In, bool>,
        /// Its nonce.
        pub nonce: Wire<In, Word>,
        /// Seq that is taken next.
        pub expected: Wire<In, Word>,
        /// Seq of the last finished command.
        pub retired: Wire<In, Word>,
        /// The executor asks for a reply.
        pub open: Wire<In, bool>,
        /// Opcode of the command to answer.
        pub opcode: Wire<In, Word>,
        /// Its seq.
        pub seq: Wire<In, Word>,
        /// Bytes of the reply behind `expected` and `retired`.
        pub length: Wire<In, Word>,
        /// Bytes of a value in a RESULT.
        pub result_bytes: Wire<In, Word>,
        /// The reply is opened at the next edge.
        pub opened: Wire<Out, bool>,
        /// Whether `stream_data` is the next byte of DATA or ECHO_REPLY.
        pub stream_valid: Wire<In, bool>,
        /// The byte.
        pub stream_data: Wire<In, Word>,
        /// It is taken at the next edge.
        pub stream_take: Wire<Out, bool>,
        /// A command finished that has no reply, or a duplicate came (one edge).
        pub news: Wire<In, bool>,
        /// No command is queued or running.
        pub quiet: Wire<In, bool>,
        /// A frame was dropped (one edge).
        pub nak: Wire<In, bool>,
        /// Why.
        pub reason: Wire<In, Word>,
        /// The body of STATUS_REPLY behind `expected` and `retired`, a wire a byte.
        pub status_bytes: Vec<Wire<In, Word>>,
        /// Sum of steps for RESULT.
        pub steps: Wire<In, Word>,
        /// Sum of edges for RESULT.
        pub edges: Wire<In, Word>,
        /// Results cannot be trusted.
        pub poison: Wire<In, bool>,
        /// A job is in the result buffer: status and value hold.
        pub result_ready: Wire<In, bool>,
        /// Its status byte without poison.
        pub job_status: Wire<In, Word>,
        /// Its next value.
        pub value: Wire<In, Word>,
        /// Goes on to the next value.
        pub result_next: Wire<Out, bool>,
        /// A value did not fit its bytes (one edge).
        pub truncated: Wire<Out, bool>,
        /// IDENT is not yet begun.
        pub greeting: Wire<Out, bool>,
        /// A frame is in flight or waits.
        pub busy: Wire<Out, bool>,
        /// Byte to the wire.
        pub tx_data: Wire<Out, Word>,
        /// Whether there is one.
        pub tx_valid: Wire<Out, bool>,
        /// It is taken at the next edge.
        pub tx_ready: Wire<In, bool>,
        /// Which part of a frame is sent.
        pub part: Reg<Part>,
        crc: Crc,
        tables: ReplyTable,
        results: ResultReader,
        out: Reg<Word>,
        held: Reg<bool>,
        escaped: Reg<bool>,
        greet: Reg<bool>,
        ack_wanted: Reg<bool>,
        nak_wanted: Reg<bool>,
        nak_reason: Reg<Word>,
        code: Reg<Word>,
        head_seq: Reg<Word>,
        told_expected: Reg<Word>,
        told_retired: Reg<Word>,
        left: Reg<Word>,
        index: Reg<Word>,
        spoiled: Reg<bool>,
        /// The byte that `part` and `index` stand for, once `loaded`: a register between choosing a byte and what follows
        /// from it.
        byte: Reg<Word>,
        loaded: Reg<bool>,
        raw: Wire<Local, Word>,
        there: Wire<Local, bool>,
        plain: Wire<Local, bool>,
        go: Wire<Local, bool>,
        advance: Wire<Local, bool>,
        body: Wire<Local, bool>,
        begins: Wire<Local, bool>,
        announced: Wire<Local, Word>,
        end_byte: Param,
        esc_byte: Param,
        esc_end: Param,
        esc_esc: Param,
        reply_bit: Param,
        ident_code: Param,
        ack_code: Param,
        nak_code: Param,
        result_code: Param,
        status_code: Param,
        ident_bytes: Param,
        nak_bytes: Param,
        reply_head: Param,
        trailer_bytes: Param,
        all_bits: Param,
        status_length: usize,
    }
}

impl FrameEncoder {
    /// The encoder of a design. `identity` is what IDENT says behind the nonce.
    pub fn new(p: &Parameters, identity: Vec<u8>) -> Self {
        let bits = Width::unsigned;
        let byte = |value: u8| Param::new(value.into(), 8);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            hello: Wire::default(),
            nonce: Wire::new(bits(32)),
            expected: Wire::new(bits(8)),
            retired: Wire::new(bits(8)),
            open: Wire::default(),
            opcode: Wire::new(bits(8)),
            seq: Wire::new(bits(8)),
            length: Wire::new(bits(16)),
            result_bytes: Wire::new(bits(3)),
            opened: Wire::default(),
            stream_valid: Wire::default(),
            stream_data: Wire::new(bits(8)),
            stream_take: Wire::default(),
            news: Wire::default(),
            quiet: Wire::default(),
            nak: Wire::default(),
            reason: Wire::new(bits(8)),
            status_bytes: (wire::REPLY_HEAD..wire::STATUS_BODY).map(|_| Wire::new(bits(8))).collect(),
            steps: Wire::new(bits(32)),
            edges: Wire::new(bits(32)),
            poison: Wire::default(),
            result_ready: Wire::default(),
            job_status: Wire::new(bits(8)),
            value: Wire::new(Width::signed(p.aw)),
            result_next: Wire::default(),
            truncated: Wire::default(),
            greeting: Wire::default(),
            busy: Wire::default(),
            tx_data: Wire::new(bits(8)),
            tx_valid: Wire::default(),
            tx_ready: Wire::default(),
            part: Reg::default(),
            crc: Crc::new(),
            tables: ReplyTable::new(identity),
            results: ResultReader::new(p),
            out: Reg::new(bits(8)),
            held: Reg::default(),
            escaped: Reg::default(),
            greet: Reg::default(),
            ack_wanted: Reg::default(),
            nak_wanted: Reg::default(),
            nak_reason: Reg::new(bits(8)),
            code: Reg::new(bits(8)),
            head_seq: Reg::new(bits(8)),
            told_expected: Reg::new(bits(8)),
            told_retired: Reg::new(bits(8)),
            left: Reg::new(bits(16)),
            index: Reg::new(bits(6)),
            spoiled: Reg::default(),
            byte: Reg::new(bits(8)),
            loaded: Reg::default(),
            raw: Wire::new(bits(8)),
            there: Wire::default(),
            plain: Wire::default(),
            go: Wire::default(),
            advance: Wire::default(),
            body: Wire::default(),
            begins: Wire::default(),
            announced: Wire::new(bits(16)),
            end_byte: byte(wire::END),
            esc_byte: byte(wire::ESC),
            esc_end: byte(wire::ESC_END),
            esc_esc: byte(wire::ESC_ESC),
            reply_bit: byte(wire::IDENT ^ wire::HELLO),
            ident_code: byte(wire::IDENT),
            ack_code: byte(wire::ACK),
            nak_code: byte(wire::NAK),
            result_code: byte(wire::RESULT),
            status_code: byte(wire::STATUS_REPLY),
            ident_bytes: Param::new((wire::IDENT_BODY - wire::REPLY_HEAD) as u64, 16),
            nak_bytes: Param::new(1, 16),
            reply_head: Param::new(wire::REPLY_HEAD as u64, 16),
            trailer_bytes: Param::new(wire::RESULT_TRAILER as u64, 16),
            all_bits: byte(u8::MAX),
            status_length: wire::STATUS_BODY - wire::REPLY_HEAD,
        }
    }
}

impl Logic for FrameEncoder {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, part, out, held, escaped, greet, ack_wanted, nak_wanted, nak_reason, code);
        dff_setup!(self, clock, head_seq, told_expected, told_retired, left, index, spoiled, byte, loaded);
        clock!(self, clock, crc, tables, results);
        self.tables.opcode.next = self.code.q.val();
        self.tables.index.next = self.index.q.val();
        self.tables.nonce.next = self.nonce.val();
        self.tables.reason.next = self.nak_reason.q.val();
        for i in 0..self.status_length {
            self.tables.status_bytes[i].next = self.status_bytes[i].val();
        }
        self.results.result_bytes.next = self.result_bytes.val();
        self.results.poison.next = self.poison.val();
        self.results.result_ready.next = self.result_ready.val();
        self.results.job_status.next = self.job_status.val();
        self.results.value.next = self.value.val();

        // The next byte of the frame, before escaping.
        self.announced.next = self.left.q.val() + self.reply_head.val();
        self.raw.next = self.end_byte.val();
        self.there.next = true;
        self.plain.next = false;
        self.body.next = false;
        self.tables.steps.next = self.steps.val();
        self.tables.edges.next = self.edges.val();
        match self.part.q.val() {
            Part::Idle => {
                self.there.next = false;
            }
            Part::Open => {
                self.plain.next = true;
            }
            Part::Head => {
                if self.index.q.val() == 0 {
                    self.raw.next = self.code.q.val();
                } else if self.index.q.val() == 1 {
                    self.raw.next = self.head_seq.q.val();
                } else if self.index.q.val() == 2 {
                    self.raw.next = self.announced.val();
                } else if self.index.q.val() == 3 {
                    self.raw.next = self.announced.val() >> 8;
                } else if self.index.q.val() == 4 {
                    self.raw.next = self.told_expected.q.val();
                } else {
                    self.raw.next = self.told_retired.q.val();
                }
            }
            Part::Table => {
                self.raw.next = self.tables.data.val();
                self.body.next = true;
            }
            Part::Stream => {
                self.raw.next = self.stream_data.val();
                self.there.next = self.stream_valid.val();
                self.body.next = true;
            }
            Part::Jobs => {
                self.raw.next = self.results.data.val();
                self.there.next = self.results.valid.val();
                self.body.next = true;
            }
            Part::Crc => {
                self.raw.next = self.crc.value.val();
                for i in 1..4 {
                    if self.index.q.val() == i {
                        self.raw.next = self.crc.value.val() >> (8 * i);
                    }
                }
                if self.spoiled.q.val() {
                    self.raw.next = self.raw.val() ^ self.all_bits.val();
                }
            }
            Part::Close => {
                self.plain.next = true;
            }
            Part::Break => {
                self.plain.next = true;
            }
        }

        // The CRC is settled when it is sent.
        if self.there.val() & !self.loaded.q.val() & !((self.part.q.val() == Part::Crc) & self.crc.busy.val())
        {
            self.byte.d.next = self.raw.val();
            self.loaded.d.next = true;
        }

        // SLIP.
        self.go.next =
            self.loaded.q.val() & !self.crc.busy.val() & (!self.held.q.val() | self.tx_ready.val());
        self.advance.next = self.go.val();
        if self.tx_ready.val() {
            self.held.d.next = false;
        }
        if self.go.val() {
            self.held.d.next = true;
            self.out.d.next = self.byte.q.val();
            self.escaped.d.next = false;
            if !self.plain.val() {
                if self.escaped.q.val() {
                    self.out.d.next = self.esc_esc.val();
                    if self.byte.q.val() == self.end_byte.val() {
                        self.out.d.next = self.esc_end.val();
                    }
                } else if (self.byte.q.val() == self.end_byte.val())
                    | (self.byte.q.val() == self.esc_byte.val())
                {
                    self.out.d.next = self.esc_byte.val();
                    self.escaped.d.next = true;
                    self.advance.next = false;
                }
            }
        }
        self.crc.clear.next = self.part.q.val() == Part::Open;
        self.crc.enable.next = self.advance.val() & (self.body.val() | (self.part.q.val() == Part::Head));
        self.crc.data.next = self.byte.q.val();

        // What comes after it.
        self.opened.next = false;
        self.begins.next = false;
        if self.advance.val() {
            self.index.d.next = self.index.q.val() + 1;
            self.loaded.d.next = false;
        }
        match self.part.q.val() {
            Part::Idle => {
                self.index.d.next = 0.into();
                self.spoiled.d.next = false;
                self.told_expected.d.next = self.expected.val();
                self.told_retired.d.next = self.retired.val();
                self.head_seq.d.next = self.expected.val();
                if self.greet.q.val() {
                    self.greet.d.next = false;
                    self.code.d.next = self.ident_code.val();
                    self.left.d.next = self.ident_bytes.val();
                    self.head_seq.d.next = self.retired.val();
                    self.begins.next = true;
                } else if self.open.val() {
                    self.opened.next = true;
                    self.code.d.next = self.opcode.val() ^ self.reply_bit.val();
                    self.left.d.next = self.length.val();
                    self.head_seq.d.next = self.seq.val();
                    self.told_retired.d.next = self.seq.val();
                    self.begins.next = true;
                } else if self.nak_wanted.q.val() {
                    self.nak_wanted.d.next = false;
                    self.code.d.next = self.nak_code.val();
                    self.left.d.next = self.nak_bytes.val();
                    self.begins.next = true;
                } else if self.ack_wanted.q.val() & self.quiet.val() {
                    self.code.d.next = self.ack_code.val();
                    self.left.d.next = 0.into();
                    self.begins.next = true;
                }
                if self.begins.val() {
                    self.ack_wanted.d.next = false;
                    self.part.d.next = Part::Open;
                }
            }
            Part::Open => {
                if self.advance.val() {
                    self.index.d.next = 0.into();
                    self.part.d.next = Part::Head;
                }
            }
            Part::Head => {
                if self.advance.val() & (self.index.q.val() == 5) {
                    self.index.d.next = 0.into();
                    if self.left.q.val() == 0 {
                        self.part.d.next = Part::Crc;
                    } else if self.code.q.val() == self.result_code.val() {
                        self.part.d.next = Part::Jobs;
                    } else if (self.code.q.val() == self.ident_code.val())
                        | (self.code.q.val() == self.nak_code.val())
                        | (self.code.q.val() == self.status_code.val())
                    {
                        self.part.d.next = Part::Table;
                    } else {
                        self.part.d.next = Part::Stream;
                    }
                }
            }
            Part::Table => {}
            Part::Stream => {}
            Part::Jobs => {
                if self.advance.val() & (self.left.q.val() == (self.trailer_bytes.val() + 1)) {
                    self.index.d.next = 0.into();
                    self.part.d.next = Part::Table;
                }
            }
            Part::Crc => {
                if self.advance.val() & (self.index.q.val() == 3) {
                    self.part.d.next = Part::Close;
                }
            }
            Part::Close => {
                if self.advance.val() {
                    self.part.d.next = Part::Idle;
                }
            }
            Part::Break => {
                if self.advance.val() {
                    self.part.d.next = Part::Idle;
                }
            }
        }
        if self.body.val() & self.advance.val() {
            self.left.d.next = self.left.q.val() - 1;
            if self.left.q.val() == 1 {
                self.index.d.next = 0.into();
                self.part.d.next = Part::Crc;
            }
        }
        self.results.clear.next = self.begins.val();
        self.results.take.next = self.advance.val() & (self.part.q.val() == Part::Jobs);
        if self.results.misfit.val() {
            self.spoiled.d.next = true;
        }

        // What others ask for meanwhile.
        if self.news.val() {
            self.ack_wanted.d.next = true;
        }
        if self.nak.val() {
            self.nak_wanted.d.next = true;
            // The first reason stands, unless sending again cannot help against a later one.
            if !self.nak_wanted.q.val() | (self.reason.val().get_bit(4) & !self.nak_reason.q.val().get_bit(4))
            {
                self.nak_reason.d.next = self.reason.val();
            }
        }
        if self.hello.val() {
            self.greet.d.next = true;
            self.ack_wanted.d.next = false;
            self.nak_wanted.d.next = false;
            self.escaped.d.next = false;
            self.loaded.d.next = false;
            self.part.d.next = Part::Break;
            if self.part.q.val() == Part::Idle {
                self.part.d.next = Part::Idle;
            }
        }
        if self.reset.val() {
            self.greet.d.next = false;
            self.ack_wanted.d.next = false;
            self.nak_wanted.d.next = false;
            self.escaped.d.next = false;
            self.held.d.next = false;
            self.loaded.d.next = false;
            self.part.d.next = Part::Idle;
        }
        self.stream_take.next = self.advance.val() & (self.part.q.val() == Part::Stream);
        self.result_next.next = self.results.result_next.val();
        self.truncated.next = self.results.misfit.val();
        self.greeting.next = self.greet.q.val();
        self.busy.next = (self.part.q.val() != Part::Idle)
            | self.held.q.val()
            | self.greet.q.val()
            | self.nak_wanted.q.val()
            | self.ack_wanted.q.val();
        self.tx_data.next = self.out.q.val();
        self.tx_valid.next = self.held.q.val();
    }
}
