//! From the bytes of a WRITE to operands.

use crate::block;
use crate::parameters::Parameters;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use rust_hdl::prelude::*;

block! {
    /// Puts the one or two bytes of an operand together and says whether it fits the operand's width.
    pub struct OperandReader {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// The next byte is the first of an operand.
        pub clear: Wire<In, bool>,
        /// `data` is taken at the next edge.
        pub take: Wire<In, bool>,
        /// The byte.
        pub data: Wire<In, Word>,
        /// The byte completes an operand.
        pub whole: Wire<Out, bool>,
        /// The operand.
        pub operand: Wire<Out, Word>,
        /// Cutting it to its width changed it.
        pub misfit: Wire<Out, bool>,
        low: Reg<Word>,
        upper: Reg<bool>,
        one_byte: Wire<Local, Word>,
        two_bytes: Wire<Local, Word>,
        wide: Wire<Local, Word>,
        narrow: Wire<Local, Word>,
        complete: Wire<Local, bool>,
        is_wide: Param,
    }
}

impl OperandReader {
    /// The reader of a design.
    pub fn new(p: &Parameters) -> Self {
        let operand = Width::signed(p.w);
        Self {
            clock: Wire::default(),
            clear: Wire::default(),
            take: Wire::default(),
            data: Wire::new(Width::unsigned(8)),
            whole: Wire::default(),
            operand: Wire::new(operand),
            misfit: Wire::default(),
            low: Reg::new(Width::unsigned(8)),
            upper: Reg::default(),
            one_byte: Wire::new(Width::signed(8)),
            two_bytes: Wire::new(Width::signed(16)),
            wide: Wire::new(Width::signed(16)),
            narrow: Wire::new(operand),
            complete: Wire::default(),
            is_wide: Param::new((p.operand_bytes() == 2).into(), 1),
        }
    }
}

impl Logic for OperandReader {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, low, upper);
        self.one_byte.next = self.data.val();
        self.two_bytes.next = (self.data.val() << 8) | self.low.q.val();
        if self.is_wide.val().any() {
            self.wide.next = self.two_bytes.val();
            self.complete.next = self.upper.q.val();
        } else {
            self.wide.next = self.one_byte.val();
            self.complete.next = true;
        }
        self.narrow.next = self.wide.val();
        if self.take.val() {
            self.low.d.next = self.data.val();
            self.upper.d.next = !self.complete.val();
        }
        if self.clear.val() {
            self.upper.d.next = false;
        }
        self.whole.next = self.complete.val();
        self.operand.next = self.narrow.val();
        self.misfit.next = self.wide.val() != self.narrow.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    fn reader(w: u32) -> OperandReader {
        sim::power_up(OperandReader::new(&Parameters { w, ..Parameters::default() }))
    }

    fn read(reader: &mut OperandReader, byte: u8) -> Option<(i64, bool)> {
        reader.data.next = usize::from(byte).into();
        reader.take.next = true;
        sim::settle(reader);
        let operand = reader.whole.val().then(|| (reader.operand.val().get(), reader.misfit.val()));
        sim::edge(reader);
        operand
    }

    #[test]
    fn one_byte_operands() {
        let mut eight = reader(8);
        assert_eq!(read(&mut eight, 0x80), Some((-128, false)));
        assert_eq!(read(&mut eight, 0x7F), Some((127, false)));
        let mut four = reader(4);
        assert_eq!(read(&mut four, 0xF8), Some((-8, false)));
        assert_eq!(read(&mut four, 0x07), Some((7, false)));
        assert_eq!(read(&mut four, 0x08), Some((-8, true)));
        assert_eq!(read(&mut four, 0xF7), Some((7, true)));
    }

    #[test]
    fn two_byte_operands() {
        let mut twelve = reader(12);
        assert_eq!((read(&mut twelve, 0xFF), read(&mut twelve, 0x07)), (None, Some((2047, false))));
        assert_eq!((read(&mut twelve, 0x00), read(&mut twelve, 0xF8)), (None, Some((-2048, false))));
        assert_eq!((read(&mut twelve, 0x00), read(&mut twelve, 0x08)), (None, Some((-2048, true))));
        read(&mut twelve, 0x12);
        twelve.take.next = false;
        twelve.clear.next = true;
        sim::edge(&mut twelve);
        twelve.clear.next = false;
        assert_eq!((read(&mut twelve, 0x34), read(&mut twelve, 0x02)), (None, Some((0x234, false))));
    }
}
