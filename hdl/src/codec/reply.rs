//! What a board says.

use super::{BodyError, Frame, Reader};
use crate::parameters::Parameters;
use crate::wire::{self, ErrorKind, Identity, Nak, Origin};

/// A frame from board to host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Seq of the command that is answered; in ACK and NAK the same as `expected`.
    pub seq: u8,
    /// Seq that the board takes next.
    pub expected: u8,
    /// Seq of the last finished command.
    pub retired: u8,
    /// What the frame says.
    pub content: Content,
}

/// What a board's frame says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Who answers.
    Ident {
        /// The nonce of the HELLO that is answered.
        nonce: u32,
        /// What the board is.
        identity: Identity,
    },
    /// Nothing but `expected` and `retired`.
    Ack,
    /// A frame was dropped.
    Nak(Nak),
    /// Results of a MULTIPLY.
    Result {
        /// For each job a status byte and its values; [`super::values_from_bytes`] reads the latter.
        jobs: Vec<u8>,
        /// Advancing edges, summed over the jobs.
        steps: u32,
        /// Physical edges of the compute phases, summed over the jobs.
        edges: u32,
    },
    /// The first error since HELLO, and the counters.
    Status(Status),
    /// Bytes that were asked for.
    Data(Vec<u8>),
    /// The bytes of an ECHO.
    Echo(Vec<u8>),
}

/// The body of STATUS_REPLY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// First error since HELLO, if any.
    pub kind: Option<ErrorKind>,
    /// Row of the erring PE.
    pub row: u8,
    /// Column of the erring PE.
    pub column: u8,
    /// Tag of the job it erred in.
    pub job: u8,
    /// Frames with a wrong CRC.
    pub crc: u8,
    /// Frames that SLIP or the UART found broken.
    pub framing: u8,
    /// Bytes that came while the FIFO was full.
    pub overrun: u8,
    /// Intact frames that were not executed.
    pub dropped: u8,
    /// Starts refused while a job ran.
    pub refused: u8,
}

impl Reply {
    /// The frame that carries this reply.
    pub fn frame(&self) -> Frame {
        let mut body = vec![self.expected, self.retired];
        let opcode = match &self.content {
            Content::Ident { nonce, identity } => {
                put_identity(&mut body, *nonce, identity);
                wire::IDENT
            }
            Content::Ack => wire::ACK,
            Content::Nak(reason) => {
                body.push(reason.code());
                wire::NAK
            }
            Content::Result { jobs, steps, edges } => {
                body.extend(jobs);
                body.extend(steps.to_le_bytes());
                body.extend(edges.to_le_bytes());
                wire::RESULT
            }
            Content::Status(s) => {
                body.extend([s.kind.map_or(0, ErrorKind::code), s.row, s.column, s.job]);
                body.extend([s.crc, s.framing, s.overrun, s.dropped, s.refused]);
                wire::STATUS_REPLY
            }
            Content::Data(bytes) => {
                body.extend(bytes);
                wire::DATA
            }
            Content::Echo(bytes) => {
                body.extend(bytes);
                wire::ECHO_REPLY
            }
        };
        Frame { opcode, seq: self.seq, body }
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// [`BodyError`] when the opcode is none of a board's, or the body does not fit it.
    pub fn parse(frame: &Frame) -> Result<Self, BodyError> {
        let opcode = frame.opcode;
        let mut body = Reader::new(frame);
        let (expected, retired) = (body.u8()?, body.u8()?);
        let content = match opcode {
            wire::IDENT => {
                let nonce = body.u32()?;
                Content::Ident { nonce, identity: take_identity(&mut body)? }
            }
            wire::ACK => Content::Ack,
            wire::NAK => {
                let code = body.u8()?;
                Content::Nak(Nak::from_code(code).ok_or(BodyError::Code { opcode, code })?)
            }
            wire::RESULT => {
                let jobs = body.all_but(wire::RESULT_TRAILER)?;
                Content::Result { jobs, steps: body.u32()?, edges: body.u32()? }
            }
            wire::STATUS_REPLY => Content::Status(take_status(&mut body)?),
            wire::DATA => Content::Data(body.rest()),
            wire::ECHO_REPLY => Content::Echo(body.rest()),
            _ => return Err(BodyError::Opcode(opcode)),
        };
        body.end()?;
        Ok(Self { seq: frame.seq, expected, retired, content })
    }
}

fn put_identity(body: &mut Vec<u8>, nonce: u32, identity: &Identity) {
    let p = &identity.parameters;
    body.extend(nonce.to_le_bytes());
    body.extend([identity.protocol, identity.origin.code()]);
    body.extend([p.n, p.w, p.aw, p.job_bits].map(|x| x as u8));
    body.extend([identity.stages, u8::from(p.injection)]);
    for word in [p.k_max, p.a_depth, p.b_depth, p.fifo, p.clock_hz, p.baud, identity.largest_frame] {
        body.extend(word.to_le_bytes());
    }
    body.extend(identity.design_hash.to_le_bytes());
}

fn take_identity(body: &mut Reader<'_>) -> Result<Identity, BodyError> {
    let protocol = body.u8()?;
    let code = body.u8()?;
    let origin = Origin::from_code(code).ok_or(BodyError::Code { opcode: wire::IDENT, code })?;
    let [n, w, aw, job_bits] = [body.u8()?, body.u8()?, body.u8()?, body.u8()?].map(u32::from);
    let (stages, injection) = (body.u8()?, body.u8()? != 0);
    let (k_max, a_depth, b_depth, fifo) = (body.u32()?, body.u32()?, body.u32()?, body.u32()?);
    let (clock_hz, baud) = (body.u32()?, body.u32()?);
    let parameters =
        Parameters { n, w, aw, k_max, job_bits, a_depth, b_depth, fifo, clock_hz, baud, injection };
    let (largest_frame, design_hash) = (body.u32()?, u64::from_le_bytes(body.take()?));
    Ok(Identity { protocol, origin, parameters, stages, largest_frame, design_hash })
}

fn take_status(body: &mut Reader<'_>) -> Result<Status, BodyError> {
    let kind = match body.u8()? {
        0 => None,
        code => {
            let unknown = BodyError::Code { opcode: wire::STATUS_REPLY, code };
            Some(ErrorKind::from_code(code).ok_or(unknown)?)
        }
    };
    let [row, column, job] = body.take()?;
    let [crc, framing, overrun, dropped, refused] = body.take()?;
    Ok(Status { kind, row, column, job, crc, framing, overrun, dropped, refused })
}
