//! The sending half of the UART: bytes in, a line out.

use crate::block;
use crate::parameters::{Parameters, UART_BITS};
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use rust_hdl::prelude::*;

block! {
    /// An 8N1 sender at an integer number of clocks a bit. Bytes that wait go out without a gap: ten bits a byte.
    ///
    /// Registers start at zero and the line idles high, hence the shift register holds "the line is low": from the
    /// first edge, in reset and between bytes the line is high, and the receiver at the other end never sees a break.
    pub struct UartTx {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Lets the line go high at once, in mid-byte too.
        pub reset: Wire<In, bool>,
        /// The byte to send, while `valid`.
        pub data: Wire<In, Word>,
        /// A byte is offered; it is taken at an edge with `ready`.
        pub valid: Wire<In, bool>,
        /// The sender takes a byte at this edge.
        pub ready: Wire<Out, bool>,
        /// The line, straight from a flip-flop. High when idle.
        pub line: Wire<Out, bool>,
        low: Reg<Word>,
        left: Reg<Word>,
        phase: Reg<Word>,
        next_bit: Wire<Local, bool>,
        bits: Param,
        last: Param,
        last_of_stop: Param,
    }
}

impl UartTx {
    /// A sender for the clock and baud of a design.
    pub fn new(p: &Parameters) -> Self {
        let clocks = p.clocks_per_bit();
        let phase = p.bit_phase_bits();
        let number = |x: u32| Param::new(u64::from(x), phase);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            data: Wire::new(Width::unsigned(8)),
            valid: Wire::default(),
            ready: Wire::default(),
            line: Wire::default(),
            low: Reg::new(Width::unsigned(9)),
            left: Reg::new(Width::unsigned(4)),
            phase: Reg::new(Width::unsigned(phase)),
            next_bit: Wire::default(),
            bits: Param::new(UART_BITS.into(), 4),
            last: number(clocks - 1),
            // The idle clock in which the next byte is taken is the last one of the stop bit.
            last_of_stop: number(clocks - 2),
        }
    }
}

impl Logic for UartTx {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, low, left, phase);
        self.ready.next = self.left.q.val() == 0;
        self.next_bit.next = (self.phase.q.val() == self.last.val())
            | ((self.left.q.val() == 1) & (self.phase.q.val() == self.last_of_stop.val()));
        if self.reset.val() {
            self.low.d.next = 0.into();
            self.left.d.next = 0.into();
            self.phase.d.next = 0.into();
        } else if self.ready.val() {
            self.phase.d.next = 0.into();
            if self.valid.val() {
                // Start bit lowest; the zeros that follow the data are the stop bit.
                self.low.d.next = ((self.data.val() ^ 255) << 1) | 1;
                self.left.d.next = self.bits.val();
            }
        } else if self.next_bit.val() {
            self.phase.d.next = 0.into();
            self.low.d.next = self.low.q.val() >> 1;
            self.left.d.next = self.left.q.val() - 1;
        } else {
            self.phase.d.next = self.phase.q.val() + 1;
        }
        self.line.next = !self.low.q.val().get_bit(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    /// A sender with 4 clocks a bit.
    fn sender() -> UartTx {
        sim::power_up(UartTx::new(&Parameters {
            clock_hz: 12_000_000,
            baud: 3_000_000,
            ..Parameters::default()
        }))
    }

    /// The line after each of some edges.
    fn levels(tx: &mut UartTx, clocks: usize) -> String {
        (0..clocks)
            .map(|_| {
                sim::edge(tx);
                if tx.line.val() { '1' } else { '0' }
            })
            .collect()
    }

    #[test]
    fn the_line_is_high_from_the_first_edge_and_in_reset() {
        let mut tx = sender();
        assert!(tx.line.val());
        tx.reset.next = true;
        assert_eq!(levels(&mut tx, 20), "1".repeat(20));
        tx.reset.next = false;
        assert_eq!(levels(&mut tx, 20), "1".repeat(20));
    }

    #[test]
    fn bytes_that_wait_follow_each_other_without_a_gap() {
        let mut tx = sender();
        tx.data.next = 0x53usize.into();
        tx.valid.next = true;
        let first = levels(&mut tx, 40);
        tx.data.next = 0xA5usize.into();
        let second = levels(&mut tx, 40);
        tx.valid.next = false;
        assert_eq!(first, "0000111111110000000011110000111100001111");
        assert_eq!(second, "0000111100001111000000001111000011111111");
        assert_eq!(levels(&mut tx, 100), "1".repeat(100));
        assert!(tx.ready.val());
    }

    #[test]
    fn reset_lets_the_line_go_high_at_once() {
        let mut tx = sender();
        tx.valid.next = true;
        assert_eq!(levels(&mut tx, 10), "0".repeat(10));
        tx.reset.next = true;
        assert_eq!(levels(&mut tx, 3), "111");
    }
}
