//! The bytes that are read from a table: the bodies of IDENT, NAK and STATUS_REPLY, and the end of a RESULT.

use crate::block;
use crate::rom::Rom;
use crate::signal::{Param, Wire};
use crate::types::{Width, Word};
use crate::wire;
use rust_hdl::prelude::*;

/// Bytes of a nonce.
pub const NONCE: usize = 4;

/// Bits that count the bytes of the longest table.
pub const INDEX_BITS: u32 = 6;

block! {
    /// Byte `index` of a body, counted behind `expected` and `retired`; of a RESULT, behind its jobs.
    pub struct ReplyTable {
        /// The clock; nothing here depends on it.
        pub clock: Wire<In, Clock>,
        /// Opcode of the reply.
        pub opcode: Wire<In, Word>,
        /// Which byte.
        pub index: Wire<In, Word>,
        /// Nonce of the last HELLO.
        pub nonce: Wire<In, Word>,
        /// Why a frame was dropped.
        pub reason: Wire<In, Word>,
        /// The body of STATUS_REPLY.
        pub status_bytes: Vec<Wire<In, Word>>,
        /// Sum of steps.
        pub steps: Wire<In, Word>,
        /// Sum of edges.
        pub edges: Wire<In, Word>,
        /// The byte.
        pub data: Wire<Out, Word>,
        identity: Rom,
        ident_code: Param,
        result_code: Param,
        status_code: Param,
        sum: Wire<Local, Word>,
        nonce_bytes: usize,
        status_length: usize,
    }
}

impl ReplyTable {
    /// The tables of a design. `identity` is what IDENT says behind the nonce.
    pub fn new(identity: Vec<u8>) -> Self {
        let byte = || Width::unsigned(8);
        let status_length = wire::STATUS_BODY - wire::REPLY_HEAD;
        // Filled up in front, so that the table is read with the same index as the body.
        let identity = [vec![0; NONCE], identity].concat();
        Self {
            clock: Wire::default(),
            opcode: Wire::new(byte()),
            index: Wire::new(Width::unsigned(INDEX_BITS)),
            nonce: Wire::new(Width::unsigned(8 * NONCE as u32)),
            reason: Wire::new(byte()),
            status_bytes: (0..status_length).map(|_| Wire::new(byte())).collect(),
            steps: Wire::new(Width::unsigned(32)),
            edges: Wire::new(Width::unsigned(32)),
            data: Wire::new(byte()),
            identity: Rom::new(INDEX_BITS, identity),
            ident_code: Param::new(wire::IDENT.into(), 8),
            result_code: Param::new(wire::RESULT.into(), 8),
            status_code: Param::new(wire::STATUS_REPLY.into(), 8),
            sum: Wire::new(Width::unsigned(32)),
            nonce_bytes: NONCE,
            status_length,
        }
    }
}

impl Logic for ReplyTable {
    #[hdl_gen]
    fn update(&mut self) {
        self.identity.address.next = self.index.val();
        self.sum.next = self.steps.val();
        if self.index.val().get_bit(2) {
            self.sum.next = self.edges.val();
        }
        self.data.next = self.reason.val();
        if self.opcode.val() == self.ident_code.val() {
            self.data.next = self.identity.data.val();
            for i in 0..self.nonce_bytes {
                if self.index.val() == i {
                    self.data.next = self.nonce.val() >> (8 * i);
                }
            }
        } else if self.opcode.val() == self.result_code.val() {
            self.data.next = self.sum.val();
            for i in 1..4 {
                if (self.index.val() & 3) == i {
                    self.data.next = self.sum.val() >> (8 * i);
                }
            }
        } else if self.opcode.val() == self.status_code.val() {
            for i in 0..self.status_length {
                if self.index.val() == i {
                    self.data.next = self.status_bytes[i].val();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    #[test]
    fn each_reply_reads_its_own_bytes() {
        let mut table = sim::power_up(ReplyTable::new(vec![7, 8, 9]));
        table.nonce.next = 0x4433_2211usize.into();
        table.reason.next = 0x13usize.into();
        table.steps.next = 0x0403_0201usize.into();
        table.edges.next = 0x0807_0605usize.into();
        for (i, byte) in table.status_bytes.iter_mut().enumerate() {
            byte.next = (100 + i).into();
        }
        let mut read = |opcode: u8, length: usize| -> Vec<i64> {
            table.opcode.next = usize::from(opcode).into();
            let byte = |index: usize| {
                table.index.next = index.into();
                sim::settle(&mut table);
                table.data.val().get()
            };
            (0..length).map(byte).collect()
        };
        assert_eq!(read(wire::IDENT, 7), [0x11, 0x22, 0x33, 0x44, 7, 8, 9]);
        assert_eq!(read(wire::NAK, 1), [0x13]);
        assert_eq!(read(wire::RESULT, 8), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(read(wire::STATUS_REPLY, 9), [100, 101, 102, 103, 104, 105, 106, 107, 108]);
    }
}
