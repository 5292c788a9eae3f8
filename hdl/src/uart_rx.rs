//! The receiving half of the UART: a line in, bytes out.

use crate::block;
use crate::parameters::{MAJORITY_CLOCKS_PER_BIT, Parameters};
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use rust_hdl::prelude::*;

/// What the receiver is waiting for.
#[derive(LogicState, Clone, Copy, Debug, PartialEq)]
enum State {
    /// The line to rise: after reset, and after a frame without stop bit (a break).
    Deaf,
    /// A start edge.
    Idle,
    /// The start bit to last more than half a bit.
    Start,
    /// The eight data bits.
    Data,
    /// The stop bit.
    Stop,
}

block! {
    /// An 8N1 receiver at an integer number of clocks a bit.
    ///
    /// The line passes two flip-flops, and at [`MAJORITY_CLOCKS_PER_BIT`] clocks a bit or more a majority of three
    /// successive samples, which removes pulses of one clock. Every falling edge outside a frame starts the bit clock
    /// anew. It is a start edge only if the line stays low for more than half a bit. Bits are sampled once, in their
    /// middle. The stop bit ends a frame at its sample, so that a sender that is too fast is not
    /// missed; a stop bit that is low drops the byte, pulses `framing`, and the receiver waits for the line to rise.
    ///
    /// Registers start at zero and the line idles high, hence the flip-flops hold "the line is low".
    pub struct UartRx {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Ends a frame in flight and drops a byte not taken; the line is sampled nevertheless.
        pub reset: Wire<In, bool>,
        /// The line, from any clock. High when idle.
        pub line: Wire<In, bool>,
        /// The byte received, while `valid`.
        pub data: Wire<Out, Word>,
        /// A byte waits; it is taken at an edge with `ready`.
        pub valid: Wire<Out, bool>,
        /// The byte is taken at this edge.
        pub ready: Wire<In, bool>,
        /// Pulses for a byte without stop bit, which is dropped.
        pub framing: Wire<Out, bool>,
        /// Pulses for a byte that came while another still waited, and is dropped.
        pub overrun: Wire<Out, bool>,
        meta: Reg<bool>,
        sample: Reg<bool>,
        older: Reg<bool>,
        oldest: Reg<bool>,
        state: Reg<State>,
        phase: Reg<Word>,
        bits: Reg<Word>,
        held: Reg<Word>,
        full: Reg<bool>,
        bad_stop: Reg<bool>,
        lost: Reg<bool>,
        low: Wire<Local, bool>,
        middle: Wire<Local, bool>,
        majority: Param,
        last: Param,
        sample_at: Param,
        start_at: Param,
    }
}

impl UartRx {
    /// A receiver for the clock and baud of a design.
    pub fn new(p: &Parameters) -> Self {
        let clocks = p.clocks_per_bit();
        let phase = p.bit_phase_bits();
        let byte = Width::unsigned(8);
        let number = |x: u32| Param::new(u64::from(x), phase);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            line: Wire::default(),
            data: Wire::new(byte),
            valid: Wire::default(),
            ready: Wire::default(),
            framing: Wire::default(),
            overrun: Wire::default(),
            meta: Reg::default(),
            sample: Reg::default(),
            older: Reg::default(),
            oldest: Reg::default(),
            state: Reg::default(),
            phase: Reg::new(Width::unsigned(phase)),
            bits: Reg::new(byte),
            held: Reg::new(byte),
            full: Reg::default(),
            bad_stop: Reg::default(),
            lost: Reg::default(),
            low: Wire::default(),
            middle: Wire::default(),
            majority: Param::new(u64::from(clocks >= MAJORITY_CLOCKS_PER_BIT), 1),
            last: number(clocks - 1),
            // The edge is seen up to a clock late: half a clock before the middle is the middle on average.
            sample_at: number((clocks - 1) / 2),
            // A pulse of less than half a bit shows in at most this many samples; a start bit in one more.
            start_at: number(clocks.div_ceil(2)),
        }
    }
}

impl Logic for UartRx {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, meta, sample, older, oldest, state, phase, bits, held, full, bad_stop, lost);
        self.meta.d.next = !self.line.val();
        self.sample.d.next = self.meta.q.val();
        self.older.d.next = self.sample.q.val();
        self.oldest.d.next = self.older.q.val();
        self.low.next = self.sample.q.val();
        if self.majority.val() == 1 {
            self.low.next = (self.sample.q.val() & self.older.q.val())
                | (self.sample.q.val() & self.oldest.q.val())
                | (self.older.q.val() & self.oldest.q.val());
        }

        self.middle.next = self.phase.q.val() == self.sample_at.val();
        if self.phase.q.val() == self.last.val() {
            self.phase.d.next = 0.into();
        } else {
            self.phase.d.next = self.phase.q.val() + 1;
        }
        self.bad_stop.d.next = false;
        self.lost.d.next = false;
        if self.ready.val() {
            self.full.d.next = false;
        }

        match self.state.q.val() {
            State::Deaf => {
                if !self.low.val() {
                    self.state.d.next = State::Idle;
                }
            }
            State::Idle => {
                // This sample is the edge's, phase 0.
                self.phase.d.next = 1.into();
                if self.low.val() {
                    self.state.d.next = State::Start;
                }
            }
            State::Start => {
                // The marker reaches bit 0 when seven data bits are in.
                self.bits.d.next = 128.into();
                if !self.low.val() {
                    self.state.d.next = State::Idle;
                } else if self.phase.q.val() == self.start_at.val() {
                    self.state.d.next = State::Data;
                }
            }
            State::Data => {
                if self.middle.val() {
                    if self.low.val() {
                        self.bits.d.next = self.bits.q.val() >> 1;
                    } else {
                        self.bits.d.next = (self.bits.q.val() >> 1) | 128;
                    }
                    if self.bits.q.val().get_bit(0) {
                        self.state.d.next = State::Stop;
                    }
                }
            }
            State::Stop => {
                if self.middle.val() {
                    if self.low.val() {
                        self.bad_stop.d.next = true;
                        self.state.d.next = State::Deaf;
                    } else {
                        self.state.d.next = State::Idle;
                        if self.full.q.val() & !self.ready.val() {
                            self.lost.d.next = true;
                        } else {
                            self.held.d.next = self.bits.q.val();
                            self.full.d.next = true;
                        }
                    }
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = State::Deaf;
            self.full.d.next = false;
            self.bad_stop.d.next = false;
            self.lost.d.next = false;
        }
        self.data.next = self.held.q.val();
        self.valid.next = self.full.q.val();
        self.framing.next = self.bad_stop.q.val();
        self.overrun.next = self.lost.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    /// A receiver out of reset with 8 clocks a bit and a byte taker that is always ready.
    fn receiver() -> UartRx {
        let mut rx = sim::power_up(UartRx::new(&Parameters { baud: 3_000_000, ..Parameters::default() }));
        rx.ready.next = true;
        rx.reset.next = true;
        hold(&mut rx, true, 16);
        rx.reset.next = false;
        rx
    }

    /// Holds the line for some clocks; the bytes, framing errors and overruns meanwhile.
    fn hold(rx: &mut UartRx, line: bool, clocks: usize) -> (Vec<i64>, usize, usize) {
        let mut seen = (vec![], 0, 0);
        for _ in 0..clocks {
            rx.line.next = line;
            sim::settle(rx);
            if rx.valid.val() && rx.ready.next {
                seen.0.push(rx.data.val().get());
            }
            sim::edge(rx);
            seen.1 += usize::from(rx.framing.val());
            seen.2 += usize::from(rx.overrun.val());
        }
        seen
    }

    /// Sends ten bits, first to last.
    fn bits(rx: &mut UartRx, bits: [u8; 10]) -> (Vec<i64>, usize, usize) {
        let mut all = (vec![], 0, 0);
        for bit in bits {
            let seen = hold(rx, bit == 1, 8);
            all.0.extend(seen.0);
            all.1 += seen.1;
            all.2 += seen.2;
        }
        all
    }

    const BYTE_53: [u8; 10] = [0, 1, 1, 0, 0, 1, 0, 1, 0, 1];
    const BYTE_A5: [u8; 10] = [0, 1, 0, 1, 0, 0, 1, 0, 1, 1];

    #[test]
    fn a_byte_comes_lowest_bit_first() {
        let mut rx = receiver();
        assert_eq!(bits(&mut rx, BYTE_53), (vec![0x53], 0, 0));
        assert_eq!(bits(&mut rx, BYTE_A5), (vec![0xA5], 0, 0));
    }

    #[test]
    fn a_missing_stop_bit_drops_the_byte_and_the_line_must_rise_first() {
        let mut rx = receiver();
        assert_eq!(bits(&mut rx, [0, 1, 1, 0, 0, 1, 0, 1, 0, 0]), (vec![], 1, 0));
        assert_eq!(hold(&mut rx, false, 1000), (vec![], 0, 0));
        hold(&mut rx, true, 8);
        assert_eq!(bits(&mut rx, BYTE_53), (vec![0x53], 0, 0));
    }

    #[test]
    fn a_byte_waits_until_it_is_taken_and_the_next_ones_are_lost_visibly() {
        let mut rx = receiver();
        rx.ready.next = false;
        assert_eq!(bits(&mut rx, BYTE_53), (vec![], 0, 0));
        assert_eq!(bits(&mut rx, BYTE_A5), (vec![], 0, 1));
        assert_eq!(bits(&mut rx, BYTE_A5), (vec![], 0, 1));
        rx.ready.next = true;
        assert_eq!(hold(&mut rx, true, 100), (vec![0x53], 0, 0));
    }

    #[test]
    fn a_line_that_is_low_at_power_up_is_no_frame() {
        let mut rx = sim::power_up(UartRx::new(&Parameters::default()));
        rx.ready.next = true;
        rx.reset.next = true;
        hold(&mut rx, false, 16);
        rx.reset.next = false;
        assert_eq!(hold(&mut rx, false, 1000), (vec![], 0, 0));
        hold(&mut rx, true, 8);
        assert_eq!(bits(&mut rx, BYTE_A5), (vec![0xA5], 0, 0));
    }
}
