//! CRC-32 (IEEE, as in zlib), four bits an edge.

use crate::block;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use rust_hdl::prelude::*;

/// Bits of a CRC.
const BITS: u32 = 32;

/// The bit shifted in: zero, inverted.
const SHIFTED_IN: u64 = 1 << (BITS - 1);

/// The reflected polynomial, added together with the bit shifted in.
const STEP: u64 = 0xEDB8_8320 ^ SHIFTED_IN;

/// The register, inverted, after any bytes followed by their own CRC.
const RESIDUE: u64 = 0x2144_DF1C;

block! {
    /// Takes a byte every other edge. The register is kept inverted: zero stands for the initial all-ones, and it reads
    /// as the CRC that goes on the wire.
    pub struct Crc {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Starts over; beats `enable`.
        pub clear: Wire<In, bool>,
        /// Takes `data`; ignored while `busy`.
        pub enable: Wire<In, bool>,
        /// The byte.
        pub data: Wire<In, Word>,
        /// The upper half of the last byte is still to be taken.
        pub busy: Wire<Out, bool>,
        /// The CRC of the bytes taken.
        pub value: Wire<Out, Word>,
        /// The bytes taken ended with the right CRC of those before it.
        pub good: Wire<Out, bool>,
        sum: Reg<Word>,
        high: Reg<Word>,
        half: Reg<bool>,
        nibble: Wire<Local, Word>,
        after: Vec<Wire<Local, Word>>,
        step: Param,
        shifted_in: Param,
        residue: Param,
    }
}

impl Crc {
    /// A CRC of no bytes.
    pub fn new() -> Self {
        let (crc, byte, nibble) = (Width::unsigned(BITS), Width::unsigned(8), Width::unsigned(4));
        Self {
            clock: Wire::default(),
            clear: Wire::default(),
            enable: Wire::default(),
            data: Wire::new(byte),
            busy: Wire::default(),
            value: Wire::new(crc),
            good: Wire::default(),
            sum: Reg::new(crc),
            high: Reg::new(nibble),
            half: Reg::default(),
            nibble: Wire::new(nibble),
            after: (0..5).map(|_| Wire::new(crc)).collect(),
            step: Param::new(STEP, BITS),
            shifted_in: Param::new(SHIFTED_IN, BITS),
            residue: Param::new(RESIDUE, BITS),
        }
    }
}

impl Default for Crc {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for Crc {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, sum, high, half);
        if self.half.q.val() {
            self.nibble.next = self.high.q.val();
        } else {
            self.nibble.next = self.data.val();
        }
        self.after[0].next = self.sum.q.val();
        for i in 0..4 {
            if self.after[i].val().get_bit(0) == self.nibble.val().get_bit(i) {
                self.after[i + 1].next = (self.after[i].val() >> 1) ^ self.step.val();
            } else {
                self.after[i + 1].next = (self.after[i].val() >> 1) ^ self.shifted_in.val();
            }
        }
        if self.clear.val() {
            self.sum.d.next = 0.into();
            self.half.d.next = false;
        } else if self.half.q.val() {
            self.sum.d.next = self.after[4].val();
            self.half.d.next = false;
        } else if self.enable.val() {
            self.sum.d.next = self.after[4].val();
            self.high.d.next = self.data.val() >> 4;
            self.half.d.next = true;
        }
        self.busy.next = self.half.q.val();
        self.value.next = self.sum.q.val();
        self.good.next = self.sum.q.val() == self.residue.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    fn feed(crc: &mut Crc, bytes: &[u8]) {
        for &byte in bytes {
            assert!(!crc.busy.val());
            crc.data.next = usize::from(byte).into();
            crc.enable.next = true;
            sim::edge(crc);
            crc.enable.next = false;
            crc.data.next = 0x55usize.into();
            sim::edge(crc);
        }
    }

    #[test]
    fn the_check_value_of_the_standard_and_its_residue() {
        let mut crc = sim::power_up(Crc::new());
        feed(&mut crc, b"123456789");
        assert_eq!(crc.value.val().get(), 0xCBF4_3926);
        assert!(!crc.good.val());
        feed(&mut crc, &0xCBF4_3926u32.to_le_bytes());
        assert!(crc.good.val());
        feed(&mut crc, &[0]);
        assert!(!crc.good.val());
    }

    #[test]
    fn clear_starts_over_in_the_middle_of_a_byte() {
        let mut crc = sim::power_up(Crc::new());
        feed(&mut crc, &[1, 2, 3]);
        crc.data.next = 0xA5usize.into();
        crc.enable.next = true;
        sim::edge(&mut crc);
        assert!(crc.busy.val());
        crc.enable.next = false;
        crc.clear.next = true;
        sim::edge(&mut crc);
        assert!(!crc.busy.val());
        crc.clear.next = false;
        let bytes: Vec<u8> = (0..=255).collect();
        feed(&mut crc, &bytes);
        assert_eq!(crc.value.val().get(), i64::from(crc32fast::hash(&bytes)));
    }
}
