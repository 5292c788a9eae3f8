//! The parts of a frame, in the order in which the encoder sends them.

use rust_hdl::prelude::*;

/// Which part of a frame is sent.
#[derive(LogicState, Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// Between frames.
    Idle,
    /// The END that starts a frame.
    Open,
    /// Opcode, seq, length, `expected`, `retired`.
    Head,
    /// The body of IDENT, NAK and STATUS_REPLY; the sums that end a RESULT.
    Table,
    /// Bytes from the executor.
    Stream,
    /// Jobs from the result buffer.
    Jobs,
    /// The CRC.
    Crc,
    /// The END that ends a frame.
    Close,
    /// The END that cuts a frame off.
    Break,
}
