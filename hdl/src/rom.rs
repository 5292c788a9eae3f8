//! A read-only table.

use crate::signal::{Part, Wire};
use crate::types::{Width, Word};
use crate::walk;
use rust_hdl::prelude::*;

/// Bytes fixed when the design is generated, read without a clock; zero beyond the last one.
#[derive(Clone, Debug)]
pub struct Rom {
    /// Which byte to read.
    pub address: Wire<In, Word>,
    /// The byte.
    pub data: Wire<Out, Word>,
    bytes: Vec<u8>,
}

impl Rom {
    /// The table, with an address of `address_bits`.
    pub fn new(address_bits: u32, bytes: Vec<u8>) -> Self {
        assert!(bytes.len() <= 1 << address_bits, "{} bytes need more than {address_bits} bits", bytes.len());
        Self { address: Wire::new(Width::unsigned(address_bits)), data: Wire::new(Width::unsigned(8)), bytes }
    }
}

impl Logic for Rom {
    fn update(&mut self) {
        let byte = self.bytes.get(self.address.val().index()).copied().unwrap_or(0);
        self.data.next = usize::from(byte).into();
    }
    fn connect(&mut self) {
        self.data.connect();
    }
    fn hdl(&self) -> Verilog {
        let cases = self.bytes.iter().enumerate().map(|(i, byte)| format!("  {i}: data = 8'h{byte:02x};\n"));
        let cases: String = cases.collect();
        Verilog::Custom(format!("always @(*) case (address)\n{cases}  default: data = 0;\nendcase\n"))
    }
}

impl Part for Rom {
    fn settle(&mut self) -> bool {
        if self.address.latch() {
            self.update();
        }
        self.data.publish()
    }
    walk!();
}

walk!(Rom { address, data });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_its_bytes_and_zero_behind_them() {
        let mut rom = Rom::new(2, vec![0xC0, 1, 0xFF]);
        rom.connect_all();
        for (address, byte) in [(0usize, 0xC0), (2, 0xFF), (3, 0), (1, 1)] {
            rom.address.next = address.into();
            rom.update_all();
            assert_eq!(rom.data.val().get(), byte);
        }
    }
}
