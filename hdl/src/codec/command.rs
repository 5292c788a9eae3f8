//! What a host says.

use super::{BodyError, Frame, Reader};
use crate::wire::{self, Injection};

/// A frame from host to board.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the tables in `wire`")]
pub enum Command {
    /// Opens a session.
    Hello { nonce: u32 },
    /// Fills `address .. address + k_len` of every lane of a bank; `operands` as [`super::operands_to_bytes`] gives
    /// them.
    Write { bank: u8, address: u16, k_len: u16, operands: Vec<u8> },
    /// Runs `count` jobs.
    Multiply(Multiply),
    /// Arms one fault for the next job.
    Inject { kind: Injection, step: u32, length: u32 },
    /// Asks for the first error and the counters.
    Status,
    /// Asks for `n` bytes.
    Source { n: u16 },
    /// Sends bytes that are thrown away.
    Sink(Vec<u8>),
    /// Sends bytes that come back.
    Echo(Vec<u8>),
}

/// The arguments of MULTIPLY, in the order of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiply {
    /// First operand of the panel in bank A.
    pub a_address: u16,
    /// First operand of job 0's panel in bank B.
    pub b_address: u16,
    /// Distance between the panels of successive jobs in bank B.
    pub b_stride: u16,
    /// Terms of every job.
    pub k_len: u32,
    /// Number of jobs.
    pub count: u8,
    /// Tag of job 0.
    pub job: u8,
    /// Bytes of a value in the RESULT.
    pub result_bytes: u8,
}

impl Command {
    /// The frame that carries this command.
    pub fn frame(&self, seq: u8) -> Frame {
        let mut body = Vec::new();
        let opcode = match self {
            Self::Hello { nonce } => {
                body.extend(nonce.to_le_bytes());
                wire::HELLO
            }
            Self::Write { bank, address, k_len, operands } => {
                body.push(*bank);
                body.extend(address.to_le_bytes());
                body.extend(k_len.to_le_bytes());
                body.extend(operands);
                wire::WRITE
            }
            Self::Multiply(m) => {
                for value in [m.a_address, m.b_address, m.b_stride] {
                    body.extend(value.to_le_bytes());
                }
                body.extend(m.k_len.to_le_bytes());
                body.extend([m.count, m.job, m.result_bytes]);
                wire::MULTIPLY
            }
            Self::Inject { kind, step, length } => {
                body.push(kind.code());
                body.extend(step.to_le_bytes());
                body.extend(length.to_le_bytes());
                wire::INJECT
            }
            Self::Status => wire::STATUS,
            Self::Source { n } => {
                body.extend(n.to_le_bytes());
                wire::SOURCE
            }
            Self::Sink(bytes) => {
                body.extend(bytes);
                wire::SINK
            }
            Self::Echo(bytes) => {
                body.extend(bytes);
                wire::ECHO
            }
        };
        Frame { opcode, seq, body }
    }

    /// Reads a frame. Arguments that depend on the design are not checked.
    ///
    /// # Errors
    /// [`BodyError`] when the opcode is none of a host's or the body does not fit it.
    pub fn parse(frame: &Frame) -> Result<Self, BodyError> {
        let opcode = frame.opcode;
        let mut body = Reader::new(frame);
        let command = match opcode {
            wire::HELLO => Self::Hello { nonce: body.u32()? },
            wire::WRITE => {
                let (bank, address, k_len) = (body.u8()?, body.u16()?, body.u16()?);
                Self::Write { bank, address, k_len, operands: body.rest() }
            }
            wire::MULTIPLY => Self::Multiply(Multiply {
                a_address: body.u16()?,
                b_address: body.u16()?,
                b_stride: body.u16()?,
                k_len: body.u32()?,
                count: body.u8()?,
                job: body.u8()?,
                result_bytes: body.u8()?,
            }),
            wire::INJECT => {
                let (code, step, length) = (body.u8()?, body.u32()?, body.u32()?);
                // A wrong length is the worse fault, and is what a board names.
                body.end()?;
                let kind = Injection::from_code(code).ok_or(BodyError::Code { opcode, code })?;
                Self::Inject { kind, step, length }
            }
            wire::STATUS => Self::Status,
            wire::SOURCE => Self::Source { n: body.u16()? },
            wire::SINK => Self::Sink(body.rest()),
            wire::ECHO => Self::Echo(body.rest()),
            _ => return Err(BodyError::Opcode(opcode)),
        };
        body.end()?;
        Ok(command)
    }
}
