//! SLIP and CRC: from bytes to frames and back.

use crate::wire;
use thiserror::Error;

/// Longest frame that the length field can announce, in decoded bytes with its CRC.
const LONGEST: usize = wire::HEADER + u16::MAX as usize + wire::CRC;

/// One frame without its framing and CRC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What the frame is: an opcode of [`crate::wire`].
    pub opcode: u8,
    /// Sequence number.
    pub seq: u8,
    /// The body, at most 65535 bytes.
    pub body: Vec<u8>,
}

/// Why the bytes between two ENDs are no frame.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    /// ESC was followed by a byte that means nothing.
    #[error("frame holds an escape that means nothing")]
    Escape,
    /// Fewer bytes than header and CRC need.
    #[error("frame ends after {got} bytes, but header and CRC take {}", wire::HEADER + wire::CRC)]
    Short {
        /// Decoded bytes seen.
        got: usize,
    },
    /// More bytes than any length field can announce.
    #[error("frame has more than {LONGEST} bytes")]
    Long,
    /// The CRC is not that of the bytes before it.
    #[error("frame's CRC is {got:08x}, but its bytes give {expected:08x}")]
    Crc {
        /// CRC computed over the bytes.
        expected: u32,
        /// CRC that the frame carries.
        got: u32,
    },
    /// The length field disagrees with the number of bytes.
    #[error("frame {seq} announces a body of {announced} bytes and has {got}")]
    Length {
        /// Sequence number that the frame carries.
        seq: u8,
        /// The length field.
        announced: usize,
        /// Body bytes seen.
        got: usize,
    },
}

impl Frame {
    /// Decoded bytes of header and body: what the frame takes of the board's FIFO.
    pub fn decoded_len(&self) -> usize {
        wire::HEADER + self.body.len()
    }

    /// Header, body and CRC, before escaping.
    ///
    /// # Panics
    /// When the body is longer than the length field can say.
    pub fn bytes(&self) -> Vec<u8> {
        let length = u16::try_from(self.body.len()).expect("a body is at most 65535 bytes");
        let mut bytes = Vec::with_capacity(self.decoded_len() + wire::CRC);
        bytes.extend([self.opcode, self.seq]);
        bytes.extend(length.to_le_bytes());
        bytes.extend(&self.body);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// The bytes that travel: END, the escaped frame, END.
    ///
    /// # Panics
    /// When the body is longer than the length field can say.
    pub fn to_wire(&self) -> Vec<u8> {
        slip(&self.bytes())
    }

    /// Reads the decoded bytes between two ENDs.
    ///
    /// # Errors
    /// [`FrameError`] when they are too few, when the CRC is wrong or when the length field is.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FrameError> {
        let short = FrameError::Short { got: bytes.len() };
        let (covered, crc) = bytes.split_last_chunk::<{ wire::CRC }>().ok_or(short)?;
        let (&[opcode, seq, low, high], body) =
            covered.split_first_chunk::<{ wire::HEADER }>().ok_or(short)?;
        let (expected, got) = (crc32fast::hash(covered), u32::from_le_bytes(*crc));
        if expected != got {
            return Err(FrameError::Crc { expected, got });
        }
        let announced = usize::from(u16::from_le_bytes([low, high]));
        if announced != body.len() {
            return Err(FrameError::Length { seq, announced, got: body.len() });
        }
        Ok(Self { opcode, seq, body: body.to_vec() })
    }
}

/// Wraps bytes in END and escapes them. Wrong on purpose they may be: nothing is checked.
pub fn slip(bytes: &[u8]) -> Vec<u8> {
    let mut sent = Vec::with_capacity(bytes.len() + bytes.len() / 16 + 2);
    sent.push(wire::END);
    for &byte in bytes {
        match byte {
            wire::END => sent.extend([wire::ESC, wire::ESC_END]),
            wire::ESC => sent.extend([wire::ESC, wire::ESC_ESC]),
            _ => sent.push(byte),
        }
    }
    sent.push(wire::END);
    sent
}

/// Finds frames in a stream of bytes, one byte at a time, from any starting point.
///
/// Bytes before the first END belong to no frame and are thrown away.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    inside: bool,
    escaped: bool,
    damage: Option<FrameError>,
}

impl Decoder {
    /// A decoder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one byte; an END that closes a non-empty frame gives the frame, or what is wrong with it.
    pub fn push(&mut self, byte: u8) -> Option<Result<Frame, FrameError>> {
        if byte == wire::END {
            let (inside, damage) = (self.inside, self.damage.take());
            let bytes = std::mem::take(&mut self.bytes);
            self.inside = true;
            self.escaped = false;
            return match damage {
                _ if !inside => None,
                Some(error) => Some(Err(error)),
                None if bytes.is_empty() => None,
                None => Some(Frame::from_bytes(&bytes)),
            };
        }
        if !self.inside || self.damage.is_some() {
            return None;
        }
        match (std::mem::take(&mut self.escaped), byte) {
            (false, wire::ESC) => self.escaped = true,
            (false, _) => self.keep(byte),
            (true, wire::ESC_END) => self.keep(wire::END),
            (true, wire::ESC_ESC) => self.keep(wire::ESC),
            (true, _) => self.damage = Some(FrameError::Escape),
        }
        None
    }

    /// Takes many bytes; gives every frame that they close.
    pub fn push_all(&mut self, bytes: &[u8]) -> Vec<Result<Frame, FrameError>> {
        bytes.iter().filter_map(|&byte| self.push(byte)).collect()
    }

    fn keep(&mut self, byte: u8) {
        if self.bytes.len() == LONGEST {
            self.damage = Some(FrameError::Long);
        } else {
            self.bytes.push(byte);
        }
    }
}
