//! One bank of operands: a block RAM for each lane.

use crate::block;
use crate::parameters::Parameters;
use crate::signal::{Ram, Wire};
use crate::types::{Width, Word};
use rust_hdl::prelude::*;

block! {
    /// A bank. One operand of one lane is written an edge; every lane is read at its own address on every edge.
    pub struct OperandMemory {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Whether to write at the next edge.
        pub write_enable: Wire<In, bool>,
        /// Lane to write.
        pub write_lane: Wire<In, Word>,
        /// Cell of that lane to write.
        pub write_address: Wire<In, Word>,
        /// Operand to write.
        pub write_data: Wire<In, Word>,
        /// Cell to read, one a lane.
        pub read_address: Vec<Wire<In, Word>>,
        /// What the cells read at the last edge held, one a lane.
        pub read_data: Vec<Wire<Out, Word>>,
        lane: Vec<Ram>,
        n: usize,
    }
}

impl OperandMemory {
    /// A bank of `2^address_bits` operands a lane.
    pub fn new(p: &Parameters, address_bits: u32) -> Self {
        let address = Width::unsigned(address_bits);
        let operand = Width::signed(p.w);
        let lanes = || 0..p.n;
        Self {
            clock: Wire::default(),
            write_enable: Wire::default(),
            write_lane: Wire::new(Width::unsigned(p.lane_bits())),
            write_address: Wire::new(address),
            write_data: Wire::new(operand),
            read_address: lanes().map(|_| Wire::new(address)).collect(),
            read_data: lanes().map(|_| Wire::new(operand)).collect(),
            lane: lanes().map(|_| Ram::new(address_bits, operand)).collect(),
            n: p.n as usize,
        }
    }
}

impl Logic for OperandMemory {
    #[hdl_gen]
    fn update(&mut self) {
        for l in 0..self.n {
            self.lane[l].clock.next = self.clock.val();
            self.lane[l].write_enable.next = self.write_enable.val() & (self.write_lane.val() == l);
            self.lane[l].write_address.next = self.write_address.val();
            self.lane[l].write_data.next = self.write_data.val();
            self.lane[l].read_address.next = self.read_address[l].val();
            self.read_data[l].next = self.lane[l].read_data.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    fn write(bank: &mut OperandMemory, lane: usize, address: usize, value: i64) {
        bank.write_enable.next = true;
        bank.write_lane.next = lane.into();
        bank.write_address.next = address.into();
        bank.write_data.next = Word::of(value);
        sim::edge(bank);
        bank.write_enable.next = false;
    }

    fn read(bank: &mut OperandMemory, addresses: [usize; 2]) -> [i64; 2] {
        for (wire, address) in bank.read_address.iter_mut().zip(addresses) {
            wire.next = address.into();
        }
        sim::edge(bank);
        [0, 1].map(|lane: usize| bank.read_data[lane].val().get())
    }

    #[test]
    fn a_write_reaches_one_cell_of_one_lane() {
        let p = Parameters { n: 2, ..Parameters::default() };
        let mut bank = sim::power_up(OperandMemory::new(&p, 3));
        write(&mut bank, 0, 7, -128);
        write(&mut bank, 1, 7, 127);
        write(&mut bank, 1, 2, 5);
        assert_eq!(read(&mut bank, [7, 7]), [-128, 127]);
        assert_eq!(read(&mut bank, [2, 2]), [0, 5]);
        assert_eq!(read(&mut bank, [7, 2]), [-128, 5]);
    }
}
