//! What each command may look like: its length and the ranges of its arguments, checked while its bytes pass.

use crate::block;
use crate::parameters::Parameters;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use crate::wire::{self, Injection};
use rust_hdl::prelude::*;

/// Bits that count every body a length field can announce, its CRC, and one byte more.
pub const BODY_BITS: u32 = 17;

block! {
    /// The tables of [`crate::wire`] as logic. Needs no copy of the body: an argument is compared with its limit byte by
    /// byte, lowest first, and the highest byte that differs decides.
    pub struct FrameRules {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Forgets the frame.
        pub clear: Wire<In, bool>,
        /// Opcode of the frame.
        pub opcode: Wire<In, Word>,
        /// Its length field.
        pub length: Wire<In, Word>,
        /// Bytes after the header so far, CRC included.
        pub body: Wire<In, Word>,
        /// `data` is byte `body` of the body.
        pub take: Wire<In, bool>,
        /// The byte.
        pub data: Wire<In, Word>,
        /// There is such an opcode.
        pub known: Wire<Out, bool>,
        /// An argument is out of range.
        pub bad_argument: Wire<Out, bool>,
        /// The length field fits the opcode, the largest frame and the bytes that came, as of the last edge.
        pub length_fits: Wire<Out, bool>,
        // What a later check needs. WRITE: k_len. MULTIPLY: count. INJECT: kind.
        kept: Reg<Word>,
        // The argument being read, as far as it came: beyond its limit; not zero.
        above: Reg<bool>,
        nonzero: Reg<bool>,
        bad: Reg<bool>,
        fits: Reg<bool>,
        first: Wire<Local, bool>,
        last: Wire<Local, bool>,
        positive: Wire<Local, bool>,
        limit: Wire<Local, Word>,
        beyond: Wire<Local, bool>,
        something: Wire<Local, bool>,
        too_long: Wire<Local, bool>,
        any_length: Wire<Local, bool>,
        wanted: Wire<Local, Word>,
        operand_bytes: Wire<Local, Word>,
        hello_code: Param,
        write_code: Param,
        multiply_code: Param,
        inject_code: Param,
        status_code: Param,
        source_code: Param,
        sink_code: Param,
        echo_code: Param,
        hello_body: Param,
        write_head: Param,
        multiply_body: Param,
        inject_body: Param,
        source_body: Param,
        crc_bytes: Param,
        body_limit: Param,
        term_bytes: Param,
        bank_limit: Param,
        kind_limit: Param,
        repeat_kind: Param,
        width_limit: Param,
        any_byte: Param,
        k_limit: Vec<Param>,
        source_limit: Vec<Param>,
        job_limit: Vec<Param>,
        widths: usize,
    }
}

/// Most jobs of one MULTIPLY whose RESULT's length fits its field.
fn job_limit(p: &Parameters, result_bytes: u32) -> u8 {
    let room = u32::from(u16::MAX) - (wire::REPLY_HEAD + wire::RESULT_TRAILER) as u32;
    (room / (1 + p.n * p.n * result_bytes)).min(u8::MAX.into()) as u8
}

impl FrameRules {
    /// The rules of a design.
    pub fn new(p: &Parameters) -> Self {
        let bits = Width::unsigned;
        let byte = |value: u8| Param::new(value.into(), 8);
        let bytes =
            |value: u32, count: usize| value.to_le_bytes().into_iter().take(count).map(byte).collect();
        let term_bytes = p.n * p.operand_bytes();
        let widths = p.accumulator_bytes();
        let body_limit = p.largest_frame() as usize - wire::HEADER;
        Self {
            clock: Wire::default(),
            clear: Wire::default(),
            opcode: Wire::new(bits(8)),
            length: Wire::new(bits(16)),
            body: Wire::new(bits(BODY_BITS)),
            take: Wire::default(),
            data: Wire::new(bits(8)),
            known: Wire::default(),
            bad_argument: Wire::default(),
            length_fits: Wire::default(),
            kept: Reg::new(bits(16)),
            above: Reg::default(),
            nonzero: Reg::default(),
            bad: Reg::default(),
            fits: Reg::default(),
            first: Wire::default(),
            last: Wire::default(),
            positive: Wire::default(),
            limit: Wire::new(bits(8)),
            beyond: Wire::default(),
            something: Wire::default(),
            too_long: Wire::default(),
            any_length: Wire::default(),
            wanted: Wire::new(bits(24)),
            operand_bytes: Wire::new(bits(16 + u32::BITS - term_bytes.leading_zeros())),
            hello_code: byte(wire::HELLO),
            write_code: byte(wire::WRITE),
            multiply_code: byte(wire::MULTIPLY),
            inject_code: byte(wire::INJECT),
            status_code: byte(wire::STATUS),
            source_code: byte(wire::SOURCE),
            sink_code: byte(wire::SINK),
            echo_code: byte(wire::ECHO),
            hello_body: byte(wire::HELLO_BODY as u8),
            write_head: byte(wire::WRITE_HEAD as u8),
            multiply_body: byte(wire::MULTIPLY_BODY as u8),
            inject_body: byte(wire::INJECT_BODY as u8),
            source_body: byte(wire::SOURCE_BODY as u8),
            crc_bytes: byte(wire::CRC as u8),
            body_limit: Param::new(body_limit as u64, 16),
            term_bytes: Param::new(term_bytes.into(), 1),
            bank_limit: byte(wire::BANK_B),
            // Where faults are left out, no kind is in range.
            kind_limit: byte(if p.injection { Injection::Start.code() } else { 0 }),
            repeat_kind: byte(Injection::RepeatK.code()),
            width_limit: byte(p.accumulator_bytes() as u8),
            any_byte: byte(u8::MAX),
            k_limit: bytes(p.k_limit(), 4),
            source_limit: bytes(u32::from(u16::MAX) - wire::REPLY_HEAD as u32, 2),
            job_limit: (0..=widths).map(|width| byte(job_limit(p, width))).collect(),
            widths: widths as usize,
        }
    }
}

impl Logic for FrameRules {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, kept, above, nonzero, bad, fits);
        // The limits of the argument that the byte belongs to; an unlimited byte is an argument of its own.
        self.limit.next = self.any_byte.val();
        self.first.next = true;
        self.last.next = false;
        self.positive.next = false;
        self.too_long.next = false;
        if self.opcode.val() == self.write_code.val() {
            if self.body.val() == 0 {
                self.limit.next = self.bank_limit.val();
                self.last.next = true;
            } else if self.body.val() == 4 {
                self.first.next = false;
                self.last.next = true;
                self.positive.next = true;
            }
        } else if self.opcode.val() == self.multiply_code.val() {
            for i in 0..4 {
                if self.body.val() == (i + 6) {
                    self.limit.next = self.k_limit[i].val();
                }
            }
            if (self.body.val() == 7) | (self.body.val() == 8) {
                self.first.next = false;
            } else if self.body.val() == 9 {
                self.first.next = false;
                self.last.next = true;
                self.positive.next = true;
            } else if self.body.val() == 10 {
                self.last.next = true;
                self.positive.next = true;
            } else if self.body.val() == 12 {
                self.limit.next = self.width_limit.val();
                self.last.next = true;
                self.positive.next = true;
                for width in 1..(self.widths + 1) {
                    if self.data.val() == width {
                        self.too_long.next = self.kept.q.val() > self.job_limit[width].val();
                    }
                }
            }
        } else if self.opcode.val() == self.inject_code.val() {
            if self.body.val() == 0 {
                self.limit.next = self.kind_limit.val();
                self.last.next = true;
                self.positive.next = true;
            } else if (self.body.val() == 2) | (self.body.val() == 3) {
                self.first.next = false;
            } else if self.body.val() == 4 {
                self.first.next = false;
                self.last.next = true;
                // There is no k before that of step 0 to repeat.
                self.positive.next = self.kept.q.val() == self.repeat_kind.val();
            }
        } else if self.opcode.val() == self.source_code.val() {
            if self.body.val() == 0 {
                self.limit.next = self.source_limit[0].val();
            } else if self.body.val() == 1 {
                self.limit.next = self.source_limit[1].val();
                self.first.next = false;
                self.last.next = true;
            }
        }
        self.beyond.next = self.above.q.val() & !self.first.val();
        if self.data.val() > self.limit.val() {
            self.beyond.next = true;
        } else if self.data.val() < self.limit.val() {
            self.beyond.next = false;
        }
        self.something.next = (self.nonzero.q.val() & !self.first.val()) | self.data.val().any();

        if self.take.val() {
            self.above.d.next = self.beyond.val();
            self.nonzero.d.next = self.something.val();
            if self.last.val() & (self.beyond.val() | (self.positive.val() & !self.something.val())) {
                self.bad.d.next = true;
            }
            if self.opcode.val() == self.write_code.val() {
                if self.body.val() == 3 {
                    self.kept.d.next = self.data.val();
                } else if self.body.val() == 4 {
                    self.kept.d.next = self.kept.q.val() | (self.data.val() << 8);
                }
            } else if (self.body.val() == 0) | (self.body.val() == 10) {
                self.kept.d.next = self.data.val();
            }
            if self.too_long.val() {
                self.bad.d.next = true;
            }
        }
        if self.clear.val() {
            self.bad.d.next = false;
        }
        self.bad_argument.next = self.bad.q.val();

        // The length that the opcode wants.
        self.operand_bytes.next = self.kept.q.val() * self.term_bytes.val();
        self.known.next = true;
        self.any_length.next = false;
        self.wanted.next = 0.into();
        if self.opcode.val() == self.hello_code.val() {
            self.wanted.next = self.hello_body.val();
        } else if self.opcode.val() == self.write_code.val() {
            self.wanted.next = self.operand_bytes.val() + self.write_head.val();
        } else if self.opcode.val() == self.multiply_code.val() {
            self.wanted.next = self.multiply_body.val();
        } else if self.opcode.val() == self.inject_code.val() {
            self.wanted.next = self.inject_body.val();
        } else if self.opcode.val() == self.source_code.val() {
            self.wanted.next = self.source_body.val();
        } else if (self.opcode.val() == self.sink_code.val()) | (self.opcode.val() == self.echo_code.val()) {
            self.any_length.next = true;
        } else {
            self.known.next = self.opcode.val() == self.status_code.val();
        }
        self.fits.d.next = (self.any_length.val() | (self.length.val() == self.wanted.val()))
            & (self.length.val() <= self.body_limit.val())
            & (self.body.val() == (self.length.val() + self.crc_bytes.val()));
        self.length_fits.next = self.fits.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    /// What the rules say of a whole body: known, length fits, arguments good.
    fn judge(p: &Parameters, opcode: u8, body: &[u8]) -> (bool, bool, bool) {
        let mut rules = sim::power_up(FrameRules::new(p));
        rules.opcode.next = usize::from(opcode).into();
        rules.length.next = body.len().into();
        for (i, &byte) in body.iter().enumerate() {
            rules.body.next = i.into();
            rules.data.next = usize::from(byte).into();
            rules.take.next = true;
            sim::edge(&mut rules);
        }
        rules.take.next = false;
        rules.body.next = (body.len() + wire::CRC).into();
        sim::edge(&mut rules);
        (rules.known.val(), rules.length_fits.val(), !rules.bad_argument.val())
    }

    const GOOD: (bool, bool, bool) = (true, true, true);
    const BAD_LENGTH: (bool, bool, bool) = (true, false, true);
    const BAD_ARGUMENT: (bool, bool, bool) = (true, true, false);

    #[test]
    fn opcodes_and_lengths() {
        let p = Parameters { n: 2, ..Parameters::default() };
        assert_eq!(judge(&p, wire::HELLO, &[0; 4]), GOOD);
        assert_eq!(judge(&p, wire::HELLO, &[0; 3]), BAD_LENGTH);
        assert_eq!(judge(&p, wire::STATUS, &[]), GOOD);
        assert_eq!(judge(&p, wire::STATUS, &[0]), BAD_LENGTH);
        assert_eq!(judge(&p, wire::SINK, &[0; 77]), GOOD);
        assert_eq!(judge(&p, wire::ECHO, &[]), GOOD);
        // The largest frame is half of the FIFO, header included.
        assert_eq!(judge(&p, wire::ECHO, &[0; 2044]), GOOD);
        assert_eq!(judge(&p, wire::ECHO, &[0; 2045]), BAD_LENGTH);
        for opcode in [0, 9, 0x81, 0xFF] {
            assert!(!judge(&p, opcode, &[]).0, "{opcode}");
        }
    }

    #[test]
    fn write() {
        let three = Parameters { n: 3, w: 12, aw: 32, ..Parameters::default() };
        let write = |bank: u8, k_len: u16, operands: usize| {
            let [low, high] = k_len.to_le_bytes();
            let body = [vec![bank, 9, 9, low, high], vec![0; operands]].concat();
            judge(&three, wire::WRITE, &body)
        };
        assert_eq!(write(0, 1, 6), GOOD);
        assert_eq!(write(1, 300, 1800), GOOD);
        assert_eq!(write(1, 300, 1799), BAD_LENGTH);
        assert_eq!(write(2, 1, 6), BAD_ARGUMENT);
        assert_eq!(write(0, 0, 0), BAD_ARGUMENT);
        assert_eq!(judge(&three, wire::WRITE, &[0; 4]), BAD_LENGTH);
    }

    #[test]
    fn multiply() {
        let p = Parameters { k_max: 300, a_depth: 512, ..Parameters::default() };
        let multiply = |p: &Parameters, k_len: u32, count: u8, result_bytes: u8| {
            let mut body = vec![255; 6];
            body.extend(k_len.to_le_bytes());
            body.extend([count, 255, result_bytes]);
            judge(p, wire::MULTIPLY, &body)
        };
        for k_len in [1, 255, 256, 299, 300] {
            assert_eq!(multiply(&p, k_len, 1, 4), GOOD, "{k_len}");
        }
        for k_len in [0, 301, 511, 512, 0x1_0001, 0x0100_0001] {
            assert_eq!(multiply(&p, k_len, 1, 4), BAD_ARGUMENT, "{k_len}");
        }
        assert_eq!(multiply(&p, 1, 0, 4), BAD_ARGUMENT);
        assert_eq!(multiply(&p, 1, 255, 4), GOOD);
        assert_eq!(multiply(&p, 1, 1, 0), BAD_ARGUMENT);
        assert_eq!(multiply(&p, 1, 1, 5), BAD_ARGUMENT);
        // 65525 bytes of jobs at most: 21 of 1 + 32·32·3.
        let wide = Parameters { n: 32, ..p };
        assert_eq!(multiply(&wide, 1, 21, 3), GOOD);
        assert_eq!(multiply(&wide, 1, 22, 3), BAD_ARGUMENT);
        assert_eq!(multiply(&wide, 1, 63, 1), GOOD);
        assert_eq!(multiply(&wide, 1, 64, 1), BAD_ARGUMENT);
    }

    #[test]
    fn inject_and_source() {
        let p = Parameters::default();
        let inject = |p: &Parameters, kind: u8, step: u32| {
            let body = [vec![kind], step.to_le_bytes().to_vec(), vec![255; 4]].concat();
            judge(p, wire::INJECT, &body)
        };
        for kind in 1..=7 {
            assert_eq!(inject(&p, kind, 0x0100_0000), GOOD);
            assert_eq!(inject(&p, kind, 0), if kind == 4 { BAD_ARGUMENT } else { GOOD });
        }
        assert_eq!(inject(&p, 0, 1), BAD_ARGUMENT);
        assert_eq!(inject(&p, 8, 1), BAD_ARGUMENT);
        let without = Parameters { injection: false, ..Parameters::default() };
        assert_eq!(inject(&without, 1, 1), BAD_ARGUMENT);
        for (n, verdict) in [(0u16, GOOD), (65_533, GOOD), (65_534, BAD_ARGUMENT), (65_535, BAD_ARGUMENT)] {
            assert_eq!(judge(&p, wire::SOURCE, &n.to_le_bytes()), verdict, "{n}");
        }
    }
}
