//! The board's side of the wire in plain Rust: decoder, sessions, sequence, FIFO and replies.

use super::executor::Executor;
use crate::software::SoftwareError;
use std::collections::VecDeque;
use systole_hdl::codec::{Command, Content, Decoder, Frame, FrameError, Reply, Status};
use systole_hdl::wire::{self, Identity, Nak};

/// Bytes of replies beyond which no further command is executed: the result buffer is full.
const OUTPUT: usize = 4096;

/// A command that was accepted and waits for its turn.
struct Queued {
    seq: u8,
    command: Command,
    /// Bytes it takes of the FIFO.
    bytes: usize,
}

/// A board.
pub struct Board {
    identity: Identity,
    decoder: Decoder,
    in_session: bool,
    expected: u8,
    retired: u8,
    fifo: VecDeque<Queued>,
    fifo_used: usize,
    executor: Executor,
    status: Status,
    /// An ACK is owed; several come to one.
    ack: bool,
    /// A NAK is owed; several come to one, of the first reason.
    nak: Option<Nak>,
    output: VecDeque<u8>,
}

impl Board {
    /// A board after reset, in no session.
    pub fn new(identity: Identity) -> Self {
        Self {
            executor: Executor::new(&identity.parameters),
            identity,
            decoder: Decoder::new(),
            in_session: false,
            expected: 0,
            retired: 0,
            fifo: VecDeque::new(),
            fifo_used: 0,
            status: Status::default(),
            ack: false,
            nak: None,
            output: VecDeque::new(),
        }
    }

    /// Resets the board, at any moment; what it had sent stays sent.
    pub fn reset(&mut self) {
        *self = Self::new(self.identity.clone());
    }

    /// Takes one byte from the host.
    pub fn receive(&mut self, byte: u8) {
        match self.decoder.push(byte) {
            None => {}
            Some(Ok(frame)) => self.take(&frame),
            Some(Err(error)) => self.damaged(error),
        }
    }

    /// Gives at most `most` bytes to the host; says how many.
    pub fn send(&mut self, most: usize, to: &mut Vec<u8>) -> usize {
        if self.output.is_empty() {
            self.reply_owed();
        }
        let given = most.min(self.output.len());
        to.extend(self.output.drain(..given));
        given
    }

    /// Executes one queued command, if there is one and its reply has room; says whether it did.
    ///
    /// # Errors
    /// What the software backend refuses.
    pub fn work(&mut self) -> Result<bool, SoftwareError> {
        if self.output.len() >= OUTPUT {
            return Ok(false);
        }
        let Some(Queued { seq, command, bytes }) = self.fifo.pop_front() else { return Ok(false) };
        self.fifo_used -= bytes;
        let answer = match command {
            Command::Write { bank, address, k_len, operands } => {
                self.executor.write(bank, address, k_len, &operands);
                None
            }
            Command::Multiply(m) => Some(self.executor.multiply(&m, &mut self.status)?),
            Command::Inject { kind, step, length } => {
                self.executor.arm(kind, step, length);
                None
            }
            Command::Status => Some(Content::Status(self.status)),
            Command::Source { n } => Some(Content::Data((0..n).map(|i| i as u8).collect())),
            Command::Echo(bytes) => Some(Content::Echo(bytes)),
            // HELLO never enters the FIFO.
            Command::Sink(_) | Command::Hello { .. } => None,
        };
        self.retired = seq;
        match answer {
            Some(content) => self.reply(seq, content),
            None => self.ack = true,
        }
        Ok(true)
    }

    fn reply(&mut self, seq: u8, content: Content) {
        let reply = Reply { seq, expected: self.expected, retired: self.retired, content };
        self.output.extend(reply.frame().to_wire());
        self.ack = false;
    }

    /// ACK and NAK wait until nothing else tells the host `expected` and `retired`.
    fn reply_owed(&mut self) {
        if let Some(reason) = self.nak.take() {
            self.reply(self.expected, Content::Nak(reason));
        } else if self.ack {
            self.reply(self.expected, Content::Ack);
        }
    }

    fn drop_frame(&mut self, reason: Nak) {
        self.status.dropped = self.status.dropped.saturating_add(1);
        self.nak.get_or_insert(reason);
    }

    fn damaged(&mut self, error: FrameError) {
        // Before HELLO nothing that is broken is answered: it may be anything but a frame.
        if !self.in_session {
            return;
        }
        let counter = match error {
            FrameError::Crc { .. } => &mut self.status.crc,
            _ => &mut self.status.framing,
        };
        *counter = counter.saturating_add(1);
        self.nak.get_or_insert(Nak::Crc);
    }

    fn take(&mut self, frame: &Frame) {
        let command = Command::parse(frame);
        if let Ok(Command::Hello { nonce }) = command {
            self.hello(frame.seq, nonce);
            return;
        }
        if !self.in_session {
            self.nak = Some(Nak::NoSession);
            return;
        }
        let behind = self.expected.wrapping_sub(frame.seq);
        if (1..=wire::WINDOW).contains(&behind) {
            self.status.dropped = self.status.dropped.saturating_add(1);
            self.ack = true;
            return;
        }
        if behind != 0 {
            self.drop_frame(Nak::Seq);
            return;
        }
        let bytes = frame.decoded_len();
        match command {
            Err(error) => self.drop_frame(error.nak()),
            Ok(_) if bytes > self.identity.largest_frame as usize => self.drop_frame(Nak::Length),
            Ok(_) if self.fifo_used + bytes > self.identity.parameters.fifo as usize => {
                self.status.overrun = self.status.overrun.saturating_add(1);
                self.drop_frame(Nak::Overflow);
            }
            Ok(command) => match self.executor.check(&command) {
                Err(reason) => self.drop_frame(reason),
                Ok(()) => {
                    self.fifo_used += bytes;
                    self.fifo.push_back(Queued { seq: frame.seq, command, bytes });
                    self.expected = self.expected.wrapping_add(1);
                }
            },
        }
    }

    fn hello(&mut self, seq: u8, nonce: u32) {
        self.reset();
        self.in_session = true;
        self.expected = seq.wrapping_add(1);
        self.retired = seq;
        // Whatever frame the host was receiving ends here.
        self.output.push_back(wire::END);
        let identity = self.identity.clone();
        self.reply(seq, Content::Ident { nonce, identity });
    }
}
