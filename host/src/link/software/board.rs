//! The board's side of the wire in plain Rust: decoder, sessions, sequence, FIFO and replies.

use super::executor::Executor;
use crate::software::SoftwareError;
use std::collections::VecDeque;
use systole_hdl::codec::{BodyError, Command, Content, Decoder, Frame, FrameError, Reply, Status, slip};
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
    executor: Executor,
    state: State,
}

/// What a reset forgets.
#[derive(Default)]
struct State {
    decoder: Decoder,
    in_session: bool,
    expected: u8,
    retired: u8,
    fifo: VecDeque<Queued>,
    fifo_used: usize,
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
        Self { executor: Executor::new(&identity.parameters), identity, state: State::default() }
    }

    /// Resets the board, at any moment: it forgets all but what the banks hold.
    pub fn reset(&mut self) {
        self.executor.flush();
        self.state = State::default();
    }

    /// Whether nothing is queued or on its way out.
    pub fn is_idle(&self) -> bool {
        let s = &self.state;
        s.fifo.is_empty() && s.output.is_empty() && !s.ack && s.nak.is_none()
    }

    /// Takes one byte from the host.
    pub fn receive(&mut self, byte: u8) {
        match self.state.decoder.push(byte) {
            None => {}
            Some(Ok(frame)) => self.take(&frame),
            // Intact, but of another length than it says.
            Some(Err(FrameError::Length { seq, .. })) => self.misshapen(seq),
            Some(Err(error)) => self.damaged(error),
        }
    }

    /// Gives at most `most` bytes to the host; says how many.
    pub fn send(&mut self, most: usize, to: &mut Vec<u8>) -> usize {
        if self.state.output.is_empty() {
            self.reply_owed();
        }
        let given = most.min(self.state.output.len());
        to.extend(self.state.output.drain(..given));
        given
    }

    /// Executes one queued command, if there is one and its reply has room; says whether it did.
    ///
    /// # Errors
    /// What the software backend refuses.
    pub fn work(&mut self) -> Result<bool, SoftwareError> {
        if self.state.output.len() >= OUTPUT {
            return Ok(false);
        }
        let Some(Queued { seq, command, bytes }) = self.state.fifo.pop_front() else { return Ok(false) };
        self.state.fifo_used -= bytes;
        let answer = match command {
            Command::Write { bank, address, k_len, operands } => {
                self.executor.write(bank, address, k_len, &operands);
                None
            }
            Command::Multiply(m) => {
                let (content, all_fit) = self.executor.multiply(&m, &mut self.state.status)?;
                self.state.retired = seq;
                self.reply(seq, content, all_fit);
                return Ok(true);
            }
            Command::Inject { kind, step, length } => {
                self.executor.arm(kind, step, length);
                None
            }
            Command::Status => Some(Content::Status(self.state.status)),
            Command::Source { n } => Some(Content::Data((0..n).map(|i| i as u8).collect())),
            Command::Echo(bytes) => Some(Content::Echo(bytes)),
            // HELLO never enters the FIFO.
            Command::Sink(_) | Command::Hello { .. } => None,
        };
        self.state.retired = seq;
        match answer {
            Some(content) => self.reply(seq, content, true),
            None => self.state.ack = true,
        }
        Ok(true)
    }

    /// Queues a reply. One that cannot be trusted goes out with its CRC inverted, and so is lost.
    fn reply(&mut self, seq: u8, content: Content, trusted: bool) {
        let reply = Reply { seq, expected: self.state.expected, retired: self.state.retired, content };
        let mut bytes = reply.frame().bytes();
        if !trusted {
            let crc = bytes.len() - wire::CRC;
            bytes[crc..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        self.state.output.extend(slip(&bytes));
        self.state.ack = false;
    }

    /// ACK and NAK wait until nothing else tells the host `expected` and `retired`.
    fn reply_owed(&mut self) {
        if let Some(reason) = self.state.nak.take() {
            self.reply(self.state.expected, Content::Nak(reason), true);
        } else if self.state.ack {
            self.reply(self.state.expected, Content::Ack, true);
        }
    }

    fn drop_frame(&mut self, reason: Nak) {
        self.state.status.dropped = self.state.status.dropped.saturating_add(1);
        self.state.nak.get_or_insert(reason);
    }

    fn damaged(&mut self, error: FrameError) {
        // Before HELLO nothing that is broken is answered: it may be anything but a frame.
        if !self.state.in_session {
            return;
        }
        let counter = match error {
            FrameError::Crc { .. } => &mut self.state.status.crc,
            _ => &mut self.state.status.framing,
        };
        *counter = counter.saturating_add(1);
        self.state.nak.get_or_insert(Nak::Crc);
    }

    /// An intact frame whose length field is wrong; that it is out of turn would be said first.
    fn misshapen(&mut self, seq: u8) {
        if self.is_in_turn(seq) {
            self.drop_frame(Nak::Length);
        }
    }

    /// Whether a frame with this seq is the one expected; any other is dropped here.
    fn is_in_turn(&mut self, seq: u8) -> bool {
        if !self.state.in_session {
            self.state.nak = Some(Nak::NoSession);
            return false;
        }
        let behind = self.state.expected.wrapping_sub(seq);
        if (1..=wire::WINDOW).contains(&behind) {
            self.state.status.dropped = self.state.status.dropped.saturating_add(1);
            self.state.ack = true;
        } else if behind != 0 {
            self.drop_frame(Nak::Seq);
        }
        behind == 0
    }

    fn take(&mut self, frame: &Frame) {
        let command = Command::parse(frame);
        if let Ok(Command::Hello { nonce }) = command {
            self.hello(frame.seq, nonce);
            return;
        }
        if !self.is_in_turn(frame.seq) {
            return;
        }
        let bytes = frame.decoded_len();
        match command {
            Err(BodyError::Opcode(_)) => self.drop_frame(Nak::Opcode),
            _ if bytes > self.identity.largest_frame as usize => self.drop_frame(Nak::Length),
            Err(error) => self.drop_frame(error.nak()),
            Ok(command) => match self.executor.check(&command) {
                Err(reason) => self.drop_frame(reason),
                Ok(()) if self.state.fifo_used + bytes > self.identity.parameters.fifo as usize => {
                    self.drop_frame(Nak::Overflow);
                }
                Ok(()) => {
                    self.state.fifo_used += bytes;
                    self.state.fifo.push_back(Queued { seq: frame.seq, command, bytes });
                    self.state.expected = self.state.expected.wrapping_add(1);
                }
            },
        }
    }

    fn hello(&mut self, seq: u8, nonce: u32) {
        let in_flight = !self.state.output.is_empty();
        self.reset();
        self.state.in_session = true;
        self.state.expected = seq.wrapping_add(1);
        self.state.retired = seq;
        if in_flight {
            self.state.output.push_back(wire::END);
        }
        let identity = self.identity.clone();
        self.reply(seq, Content::Ident { nonce, identity }, true);
    }
}
