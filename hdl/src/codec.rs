//! The frames of [`crate::wire`] in plain Rust: SLIP, CRC, and every command and reply as a type.
//!
//! Hosts, models of the board and test benches of the gateware build and read frames here. Nothing in this module
//! depends on a design: operands and results stay bytes, with [`operands_to_bytes`] and [`values_from_bytes`] to
//! turn numbers into them and back.

mod command;
mod frame;
mod reply;

pub use command::{Command, Multiply};
pub use frame::{Decoder, Frame, FrameError, slip};
pub use reply::{Content, Reply, Status};

use crate::wire::Nak;
use thiserror::Error;

/// Why an intact frame is no command or no reply.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum BodyError {
    /// No frame in this direction has this opcode.
    #[error("opcode {0:#04x} means nothing in this direction")]
    Opcode(u8),
    /// The body's length does not fit the opcode.
    #[error("opcode {opcode:#04x} does not take a body of {got} bytes")]
    Length {
        /// The frame's opcode.
        opcode: u8,
        /// Bytes of its body.
        got: usize,
    },
    /// A code in the body stands for nothing.
    #[error("opcode {opcode:#04x} carries the unknown code {code:#04x}")]
    Code {
        /// The frame's opcode.
        opcode: u8,
        /// The unknown code.
        code: u8,
    },
}

impl BodyError {
    /// The reason that a board gives for dropping such a command.
    pub const fn nak(self) -> Nak {
        match self {
            Self::Opcode(_) => Nak::Opcode,
            Self::Length { .. } => Nak::Length,
            Self::Code { .. } => Nak::Argument,
        }
    }
}

/// Little-endian bytes of operands, `bytes` (1 or 2) each, in the order given.
pub fn operands_to_bytes(operands: &[i32], bytes: u32) -> Vec<u8> {
    operands.iter().flat_map(|x| x.to_le_bytes().into_iter().take(bytes as usize)).collect()
}

/// Two's-complement values of `width` (1 to 8) little-endian bytes each, sign-extended. A rest is ignored.
pub fn values_from_bytes(bytes: &[u8], width: u32) -> Vec<i64> {
    let unused = 64 - 8 * width;
    let value = |chunk: &[u8]| {
        let raw = chunk.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
        ((raw << unused) as i64) >> unused
    };
    bytes.chunks_exact(width as usize).map(value).collect()
}

/// Reads a body from its front; every error names the frame's opcode.
struct Reader<'a> {
    frame: &'a Frame,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn new(frame: &'a Frame) -> Self {
        Self { frame, rest: &frame.body }
    }

    fn length_error(&self) -> BodyError {
        BodyError::Length { opcode: self.frame.opcode, got: self.frame.body.len() }
    }

    fn take<const L: usize>(&mut self) -> Result<[u8; L], BodyError> {
        let (bytes, rest) = self.rest.split_first_chunk::<L>().ok_or(self.length_error())?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn u8(&mut self) -> Result<u8, BodyError> {
        self.take().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, BodyError> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, BodyError> {
        self.take().map(u32::from_le_bytes)
    }

    fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.rest).to_vec()
    }

    fn all_but(&mut self, trailer: usize) -> Result<Vec<u8>, BodyError> {
        let length = self.rest.len().checked_sub(trailer).ok_or(self.length_error())?;
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(bytes.to_vec())
    }

    fn end(&self) -> Result<(), BodyError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.length_error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;
    use crate::wire::{ErrorKind, Identity, Injection, Origin};

    /// Frames made by `tests/vectors/frames/make.py` with Python's zlib: a line a frame, `name hex`.
    const GOLDEN: &str = include_str!("../../tests/vectors/frames/frames.txt");

    fn golden(name: &str) -> Vec<u8> {
        let hex = GOLDEN.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let hex = hex.expect(name).as_bytes();
        let digit = |x: u8| char::from(x).to_digit(16).expect("hex") as u8;
        hex.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
    }

    fn one_frame(bytes: &[u8]) -> Result<Frame, FrameError> {
        let mut frames = Decoder::new().push_all(bytes);
        assert_eq!(frames.len(), 1);
        frames.remove(0)
    }

    #[test]
    fn commands_match_the_golden_frames() {
        let write = |bank, address, k_len, operands: &[i32]| {
            let operands = operands_to_bytes(operands, 1);
            Command::Write { bank, address, k_len, operands }
        };
        let multiply =
            Multiply { a_address: 0, b_address: 0, b_stride: 2, k_len: 2, count: 1, job: 0, result_bytes: 3 };
        let table = [
            ("hello", 0x10, Command::Hello { nonce: 0x1234_5678 }),
            ("write-a", 0x11, write(0, 0, 2, &[1, 2, 3, 4])),
            ("write-b", 0x12, write(1, 0, 2, &[5, 7, 6, 8])),
            ("multiply", 0x13, Command::Multiply(multiply)),
            ("write-negative", 0xC0, write(1, 0xDB, 1, &[-64, -37, -128, 127])),
            ("inject", 0x21, Command::Inject { kind: Injection::Pause, step: 3, length: 1000 }),
            ("status", 0x22, Command::Status),
            ("source", 0x23, Command::Source { n: 5 }),
            ("sink", 0x24, Command::Sink(vec![0xC0, 0xDB, 0xDC, 0xDD])),
            ("echo", 0x25, Command::Echo(vec![0xDB, 0xC0])),
        ];
        for (name, seq, command) in table {
            assert_eq!(command.frame(seq).to_wire(), golden(name), "{name}");
            let frame = one_frame(&golden(name)).expect(name);
            assert_eq!((frame.seq, Command::parse(&frame)), (seq, Ok(command)), "{name}");
        }
    }

    #[test]
    fn replies_match_the_golden_frames() {
        let reply = |seq, expected, retired, content| Reply { seq, expected, retired, content };
        let identity = Identity {
            protocol: 1,
            origin: Origin::Simulated,
            parameters: Parameters { n: 2, ..Parameters::default() },
            stages: 0,
            largest_frame: 2048,
            design_hash: 0x0123_4567_89AB_CDEF,
        };
        let kind = Some(ErrorKind::KMismatch);
        let status = Status {
            kind,
            row: 0,
            column: 1,
            job: 2,
            crc: 9,
            framing: 8,
            overrun: 7,
            dropped: 6,
            refused: 5,
        };
        let jobs = vec![0, 19, 0, 0, 22, 0, 0, 43, 0, 0, 50, 0, 0];
        let table = [
            ("ident", reply(0x10, 0x11, 0x10, Content::Ident { nonce: 0x1234_5678, identity })),
            ("ack-a", reply(0x12, 0x12, 0x11, Content::Ack)),
            ("ack-b", reply(0x13, 0x13, 0x12, Content::Ack)),
            ("result", reply(0x13, 0x14, 0x13, Content::Result { jobs, steps: 4, edges: 4 })),
            ("nak-crc", reply(0x14, 0x14, 0x13, Content::Nak(Nak::Crc))),
            ("status-reply", reply(0x22, 0x23, 0x22, Content::Status(status))),
            ("data", reply(0x23, 0x24, 0x23, Content::Data(vec![0, 1, 2, 3, 4]))),
            ("echo-reply", reply(0x25, 0x26, 0x25, Content::Echo(vec![0xDB, 0xC0]))),
        ];
        for (name, reply) in table {
            assert_eq!(reply.frame().to_wire(), golden(name), "{name}");
            assert_eq!(Reply::parse(&one_frame(&golden(name)).expect(name)), Ok(reply), "{name}");
        }
    }

    #[test]
    fn a_damaged_crc_is_named() {
        let error = one_frame(&golden("write-damaged")).expect_err("one bit is wrong");
        assert!(matches!(error, FrameError::Crc { expected, got } if expected ^ got == 1), "{error}");
    }

    #[test]
    fn end_always_ends_a_frame() {
        let good = golden("status");
        let mut cut = good[..3].to_vec();
        cut.push(crate::wire::ESC);
        cut.extend(&good);
        let frames = Decoder::new().push_all(&cut);
        assert_eq!(frames.len(), 2);
        assert_eq!(frames[0], Err(FrameError::Short { got: 2 }));
        assert_eq!(frames[1].as_ref().map(|f| f.opcode), Ok(0x05));
    }

    #[test]
    fn an_unknown_escape_poisons_until_end() {
        let mut bytes = vec![0xC0, 0xDB, 0x00];
        bytes.extend(&golden("status")[1..]);
        bytes.extend(golden("status"));
        let frames = Decoder::new().push_all(&bytes);
        assert_eq!(frames[0], Err(FrameError::Escape));
        assert_eq!(frames[1].as_ref().map(|f| f.opcode), Ok(0x05));
        assert_eq!(frames.len(), 2);
    }

    #[test]
    fn garbage_before_the_first_end_and_empty_frames_are_ignored() {
        let mut bytes = vec![1, 2, 0xDB, 3, 0xC0, 0xC0];
        bytes.extend(golden("status"));
        assert_eq!(one_frame(&bytes).map(|f| f.opcode), Ok(0x05));
    }

    #[test]
    fn a_wrong_length_field_and_an_endless_frame_are_named() {
        let mut frame = vec![5, 0, 1, 0];
        frame.extend(crc32fast::hash(&frame).to_le_bytes());
        assert_eq!(one_frame(&slip(&frame)), Err(FrameError::Length { seq: 0, announced: 1, got: 0 }));
        assert_eq!(one_frame(&slip(&vec![0; 70_000])), Err(FrameError::Long));
    }

    #[test]
    fn bodies_that_fit_no_opcode_are_named() {
        let frame = |opcode, body: &[u8]| Frame { opcode, seq: 0, body: body.to_vec() };
        let length = |opcode, got| BodyError::Length { opcode, got };
        assert_eq!(Command::parse(&frame(0x99, &[])), Err(BodyError::Opcode(0x99)));
        assert_eq!(Command::parse(&frame(0x01, &[1, 2, 3])), Err(length(0x01, 3)));
        assert_eq!(Command::parse(&frame(0x05, &[1])), Err(length(0x05, 1)));
        let inject = Command::parse(&frame(0x04, &[99, 0, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(inject, Err(BodyError::Code { opcode: 0x04, code: 99 }));
        assert_eq!(inject.map_err(BodyError::nak), Err(Nak::Argument));
        assert_eq!(Reply::parse(&frame(0x83, &[0; 9])), Err(length(0x83, 9)));
        assert_eq!(Reply::parse(&frame(0x84, &[0, 0, 9])), Err(BodyError::Code { opcode: 0x84, code: 9 }));
        assert_eq!(Reply::parse(&frame(0x02, &[0, 0])), Err(BodyError::Opcode(0x02)));
    }

    #[test]
    fn numbers_keep_their_sign() {
        assert_eq!(operands_to_bytes(&[-1, 300], 2), [0xFF, 0xFF, 0x2C, 0x01]);
        assert_eq!(values_from_bytes(&[0xFF, 0xFF, 0x7F, 0x00, 0x00, 0x80], 3), [0x7F_FFFF, -0x80_0000]);
        assert_eq!(values_from_bytes(&[0, 0, 0, 0, 0, 0, 0, 0x80], 8), [i64::MIN]);
    }
}
