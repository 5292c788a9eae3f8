//! From bytes to commands: SLIP, CRC, session, seq and every check that a frame must pass before any of it counts.

use crate::block;
use crate::counter::Counter;
use crate::crc::Crc;
use crate::frame_rules::{BODY_BITS, FrameRules};
use crate::parameters::Parameters;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use crate::wire::{self, Nak};
use rust_hdl::prelude::*;

/// Where in a frame the next byte belongs.
#[derive(LogicState, Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// No END since reset: in no frame.
    Outside,
    /// First byte of a frame.
    Opcode,
    /// Second byte.
    Seq,
    /// Third byte.
    LengthLow,
    /// Fourth byte.
    LengthHigh,
    /// Body and CRC.
    Body,
    /// A frame that SLIP or the UART found broken, until END.
    Broken,
}

/// What the decoder does.
#[derive(LogicState, Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Takes a byte.
    Take,
    /// Lets the CRC take the rest of it.
    Rest,
    /// A frame has ended: settles whether its length fits.
    Measure,
    /// Commits the frame, or drops it with a reason.
    Judge,
    /// The frame was a good HELLO: tells everyone.
    Greet,
}

block! {
    /// Takes a byte every other edge and is never held up by the output. Decoded header and body go to the FIFO at once
    /// and are committed or rolled back when the frame ends. The checks, in order: framing and CRC; HELLO; session; seq;
    /// opcode; length; argument; room. The first that fails names the reason.
    pub struct FrameDecoder {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Ends the session.
        pub reset: Wire<In, bool>,
        /// Byte from the wire.
        pub rx_data: Wire<In, Word>,
        /// Whether there is one.
        pub rx_valid: Wire<In, bool>,
        /// The byte is taken at the next edge.
        pub rx_ready: Wire<Out, bool>,
        /// The UART lost a byte to a wrong stop bit (one edge).
        pub rx_framing: Wire<In, bool>,
        /// The UART lost a byte because nobody took it (one edge).
        pub rx_overrun: Wire<In, bool>,
        /// The FIFO has no room.
        pub full: Wire<In, bool>,
        /// `data` goes to the FIFO.
        pub write: Wire<Out, bool>,
        /// Decoded byte.
        pub data: Wire<Out, Word>,
        /// The frame is good (one edge).
        pub commit: Wire<Out, bool>,
        /// The frame is dropped (one edge).
        pub rollback: Wire<Out, bool>,
        /// A good HELLO (one edge, after its roll back).
        pub hello: Wire<Out, bool>,
        /// Nonce of the last HELLO.
        pub nonce: Wire<Out, Word>,
        /// Seq that is taken next.
        pub expected: Wire<Out, Word>,
        /// A dropped frame wants NAK (one edge).
        pub nak: Wire<Out, bool>,
        /// Its [`Nak`] code.
        pub reason: Wire<Out, Word>,
        /// A dropped duplicate wants ACK (one edge).
        pub duplicate: Wire<Out, bool>,
        /// Frames with a wrong CRC.
        pub crc_errors: Wire<Out, Word>,
        /// Frames that SLIP or the UART found broken.
        pub framing_errors: Wire<Out, Word>,
        /// Bytes lost.
        pub overruns: Wire<Out, Word>,
        /// Intact frames not executed.
        pub dropped: Wire<Out, Word>,
        /// Where the next byte belongs.
        pub place: Reg<Place>,
        /// What the decoder does.
        pub step: Reg<Step>,
        crc: Crc,
        rules: FrameRules,
        crc_counter: Counter,
        framing_counter: Counter,
        overrun_counter: Counter,
        dropped_counter: Counter,
        escaped: Reg<bool>,
        in_session: Reg<bool>,
        awaited: Reg<Word>,
        opcode: Reg<Word>,
        seq: Reg<Word>,
        length: Reg<Word>,
        // Bytes after the header so far, CRC included.
        body: Reg<Word>,
        hello_nonce: Reg<Word>,
        lost: Reg<bool>,
        take: Wire<Local, bool>,
        frame_end: Wire<Local, bool>,
        decoded: Wire<Local, bool>,
        decoded_byte: Wire<Local, Word>,
        store: Wire<Local, bool>,
        argument: Wire<Local, bool>,
        distance: Wire<Local, Word>,
        drop: Wire<Local, bool>,
        refuse: Wire<Local, bool>,
        why: Wire<Local, Word>,
        bad_crc: Wire<Local, bool>,
        framing: Wire<Local, bool>,
        end_byte: Param,
        esc_byte: Param,
        esc_end: Param,
        esc_esc: Param,
        hello_code: Param,
        crc_bytes: Param,
        body_most: Param,
        nak_crc: Param,
        nak_seq: Param,
        nak_overflow: Param,
        nak_opcode: Param,
        nak_length: Param,
        nak_argument: Param,
        nak_no_session: Param,
    }
}

impl FrameDecoder {
    /// The decoder of a design.
    pub fn new(p: &Parameters) -> Self {
        let bits = Width::unsigned;
        let byte = |value: u8| Param::new(value.into(), 8);
        let nak = |reason: Nak| byte(reason.code());
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            rx_data: Wire::new(bits(8)),
            rx_valid: Wire::default(),
            rx_ready: Wire::default(),
            rx_framing: Wire::default(),
            rx_overrun: Wire::default(),
            full: Wire::default(),
            write: Wire::default(),
            data: Wire::new(bits(8)),
            commit: Wire::default(),
            rollback: Wire::default(),
            hello: Wire::default(),
            nonce: Wire::new(bits(32)),
            expected: Wire::new(bits(8)),
            nak: Wire::default(),
            reason: Wire::new(bits(8)),
            duplicate: Wire::default(),
            crc_errors: Wire::new(bits(8)),
            framing_errors: Wire::new(bits(8)),
            overruns: Wire::new(bits(8)),
            dropped: Wire::new(bits(8)),
            place: Reg::default(),
            step: Reg::default(),
            crc: Crc::new(),
            rules: FrameRules::new(p),
            crc_counter: Counter::new(),
            framing_counter: Counter::new(),
            overrun_counter: Counter::new(),
            dropped_counter: Counter::new(),
            escaped: Reg::default(),
            in_session: Reg::default(),
            awaited: Reg::new(bits(8)),
            opcode: Reg::new(bits(8)),
            seq: Reg::new(bits(8)),
            length: Reg::new(bits(16)),
            body: Reg::new(bits(BODY_BITS)),
            hello_nonce: Reg::new(bits(32)),
            lost: Reg::default(),
            take: Wire::default(),
            frame_end: Wire::default(),
            decoded: Wire::default(),
            decoded_byte: Wire::new(bits(8)),
            store: Wire::default(),
            argument: Wire::default(),
            distance: Wire::new(bits(8)),
            drop: Wire::default(),
            refuse: Wire::default(),
            why: Wire::new(bits(8)),
            bad_crc: Wire::default(),
            framing: Wire::default(),
            end_byte: byte(wire::END),
            esc_byte: byte(wire::ESC),
            esc_end: byte(wire::ESC_END),
            esc_esc: byte(wire::ESC_ESC),
            hello_code: byte(wire::HELLO),
            crc_bytes: byte(wire::CRC as u8),
            body_most: Param::new(u64::from(u16::MAX) + wire::CRC as u64 + 1, BODY_BITS),
            nak_crc: nak(Nak::Crc),
            nak_seq: nak(Nak::Seq),
            nak_overflow: nak(Nak::Overflow),
            nak_opcode: nak(Nak::Opcode),
            nak_length: nak(Nak::Length),
            nak_argument: nak(Nak::Argument),
            nak_no_session: nak(Nak::NoSession),
        }
    }
}

impl Logic for FrameDecoder {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, place, step, escaped, in_session, awaited, opcode, seq, length, body);
        dff_setup!(self, clock, hello_nonce, lost);
        self.crc.clock.next = self.clock.val();
        self.rules.clock.next = self.clock.val();
        self.crc_counter.clock.next = self.clock.val();
        self.framing_counter.clock.next = self.clock.val();
        self.overrun_counter.clock.next = self.clock.val();
        self.dropped_counter.clock.next = self.clock.val();
        self.crc_counter.reset.next = self.reset.val() | (self.step.q.val() == Step::Greet);
        self.framing_counter.reset.next = self.reset.val() | (self.step.q.val() == Step::Greet);
        self.overrun_counter.reset.next = self.reset.val() | (self.step.q.val() == Step::Greet);
        self.dropped_counter.reset.next = self.reset.val() | (self.step.q.val() == Step::Greet);

        // SLIP: what the byte on the wire is.
        self.take.next = self.rx_valid.val() & (self.step.q.val() == Step::Take);
        self.frame_end.next = self.take.val() & (self.rx_data.val() == self.end_byte.val());
        self.decoded.next = false;
        self.decoded_byte.next = self.rx_data.val();
        if self.take.val() & !self.frame_end.val() {
            if self.escaped.q.val() {
                self.escaped.d.next = false;
                self.decoded.next = true;
                if self.rx_data.val() == self.esc_end.val() {
                    self.decoded_byte.next = self.end_byte.val();
                } else if self.rx_data.val() == self.esc_esc.val() {
                    self.decoded_byte.next = self.esc_byte.val();
                } else {
                    self.decoded.next = false;
                    if self.place.q.val() != Place::Outside {
                        self.place.d.next = Place::Broken;
                    }
                }
            } else if self.rx_data.val() == self.esc_byte.val() {
                self.escaped.d.next = true;
            } else {
                self.decoded.next = true;
            }
        }

        // Where the byte goes.
        self.store.next = false;
        self.argument.next = false;
        if self.decoded.val() {
            match self.place.q.val() {
                Place::Outside => {}
                Place::Opcode => {
                    self.opcode.d.next = self.decoded_byte.val();
                    self.store.next = true;
                    self.place.d.next = Place::Seq;
                }
                Place::Seq => {
                    self.seq.d.next = self.decoded_byte.val();
                    self.store.next = true;
                    self.place.d.next = Place::LengthLow;
                }
                Place::LengthLow => {
                    self.length.d.next = self.decoded_byte.val();
                    self.store.next = true;
                    self.place.d.next = Place::LengthHigh;
                }
                Place::LengthHigh => {
                    self.length.d.next = self.length.q.val() | (self.decoded_byte.val() << 8);
                    self.store.next = true;
                    self.place.d.next = Place::Body;
                }
                Place::Body => {
                    self.argument.next = self.body.q.val() < self.length.q.val();
                    self.store.next = self.argument.val();
                    if self.body.q.val() != self.body_most.val() {
                        self.body.d.next = self.body.q.val() + 1;
                    }
                }
                Place::Broken => {}
            }
        }
        if self.argument.val() & (self.opcode.q.val() == self.hello_code.val()) {
            self.hello_nonce.d.next = (self.hello_nonce.q.val() >> 8) | (self.decoded_byte.val() << 24);
        }
        if self.store.val() & self.full.val() {
            self.lost.d.next = true;
        }
        self.rules.clear.next = self.step.q.val() == Step::Judge;
        self.rules.opcode.next = self.opcode.q.val();
        self.rules.length.next = self.length.q.val();
        self.rules.body.next = self.body.q.val();
        self.rules.take.next = self.argument.val();
        self.rules.data.next = self.decoded_byte.val();
        self.crc.clear.next = self.step.q.val() == Step::Judge;
        self.crc.enable.next = self.decoded.val() & (self.place.q.val() != Place::Outside);
        self.crc.data.next = self.decoded_byte.val();

        // 1 to 128 back from the expected seq is a duplicate; the expected one itself is 255 here.
        self.distance.next = (self.awaited.q.val() - self.seq.q.val()) - 1;

        self.commit.next = false;
        self.rollback.next = false;
        self.duplicate.next = false;
        self.drop.next = false;
        self.refuse.next = false;
        self.why.next = self.nak_crc.val();
        self.bad_crc.next = false;
        self.framing.next = false;
        match self.step.q.val() {
            Step::Take => {
                if self.decoded.val() {
                    self.step.d.next = Step::Rest;
                }
                if self.frame_end.val() {
                    self.escaped.d.next = false;
                    if self.place.q.val() == Place::Outside {
                        self.place.d.next = Place::Opcode;
                    } else if self.place.q.val() != Place::Opcode {
                        self.step.d.next = Step::Measure;
                    }
                }
            }
            Step::Rest => {
                self.step.d.next = Step::Take;
            }
            Step::Measure => {
                self.step.d.next = Step::Judge;
            }
            Step::Judge => {
                self.step.d.next = Step::Take;
                self.rollback.next = true;
                if (self.place.q.val() != Place::Body) | (self.body.q.val() < self.crc_bytes.val()) {
                    self.framing.next = true;
                    self.refuse.next = self.in_session.q.val();
                } else if !self.crc.good.val() {
                    self.bad_crc.next = true;
                    self.refuse.next = self.in_session.q.val();
                } else if (self.opcode.q.val() == self.hello_code.val()) & self.rules.length_fits.val() {
                    self.in_session.d.next = true;
                    self.awaited.d.next = self.seq.q.val() + 1;
                    self.step.d.next = Step::Greet;
                } else {
                    self.drop.next = true;
                    self.refuse.next = true;
                    if !self.in_session.q.val() {
                        self.why.next = self.nak_no_session.val();
                    } else if self.seq.q.val() != self.awaited.q.val() {
                        self.why.next = self.nak_seq.val();
                        self.duplicate.next = !self.distance.val().get_bit(7);
                        self.refuse.next = self.distance.val().get_bit(7);
                    } else if !self.rules.known.val() {
                        self.why.next = self.nak_opcode.val();
                    } else if !self.rules.length_fits.val() {
                        self.why.next = self.nak_length.val();
                    } else if self.rules.bad_argument.val() {
                        self.why.next = self.nak_argument.val();
                    } else if self.lost.q.val() {
                        self.why.next = self.nak_overflow.val();
                    } else {
                        self.drop.next = false;
                        self.refuse.next = false;
                        self.rollback.next = false;
                        self.commit.next = true;
                        self.awaited.d.next = self.awaited.q.val() + 1;
                    }
                }
                self.place.d.next = Place::Opcode;
                self.body.d.next = 0.into();
                self.lost.d.next = false;
            }
            Step::Greet => {
                self.step.d.next = Step::Take;
            }
        }
        if self.rx_framing.val() & (self.place.q.val() != Place::Outside) {
            self.place.d.next = Place::Broken;
        }
        if self.reset.val() {
            self.place.d.next = Place::Outside;
            self.step.d.next = Step::Take;
            self.escaped.d.next = false;
            self.in_session.d.next = false;
            self.awaited.d.next = 0.into();
            self.body.d.next = 0.into();
            self.lost.d.next = false;
            self.rules.clear.next = true;
            self.crc.clear.next = true;
        }

        self.crc_counter.happens.next = self.bad_crc.val();
        self.framing_counter.happens.next = self.framing.val();
        self.overrun_counter.happens.next = (self.store.val() & self.full.val()) | self.rx_overrun.val();
        self.dropped_counter.happens.next = self.drop.val();
        self.crc_errors.next = self.crc_counter.value.val();
        self.framing_errors.next = self.framing_counter.value.val();
        self.overruns.next = self.overrun_counter.value.val();
        self.dropped.next = self.dropped_counter.value.val();
        self.rx_ready.next = self.step.q.val() == Step::Take;
        self.write.next = self.store.val() & !self.full.val();
        self.data.next = self.decoded_byte.val();
        self.hello.next = self.step.q.val() == Step::Greet;
        self.nonce.next = self.hello_nonce.q.val();
        self.expected.next = self.awaited.q.val();
        self.nak.next = self.refuse.val();
        self.reason.next = self.why.val();
    }
}
