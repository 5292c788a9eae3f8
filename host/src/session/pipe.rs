//! Frames over a link: bytes out, intact replies in, and the count of both.

use super::SessionError;
use crate::link::Link;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use systole_hdl::codec::{Decoder, Reply};
use systole_hdl::wire;

/// Bytes handed to the link ahead of what it has taken: enough to keep it busy, few enough to turn back quickly.
const AHEAD: usize = 512;

/// What crossed the link in a session, and what went wrong on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes sent, framing and CRC included, escapes not.
    pub bytes_to_board: u64,
    /// Bytes received, framing and CRC included, escapes not.
    pub bytes_from_board: u64,
    /// Escapes sent.
    pub escapes_to_board: u64,
    /// Escapes received.
    pub escapes_from_board: u64,
    /// Times that frames were sent again because the board asked for it.
    pub go_backs: u64,
    /// Deadlines that passed.
    pub timeouts: u64,
    /// Frames received with damage.
    pub damaged: u64,
    /// Sessions opened after the first.
    pub restarts: u64,
    /// HELLOs that were not answered.
    pub hello_retries: u64,
    /// Link time when the first WRITE was handed over.
    pub first_write: Option<u64>,
    /// Link time when the last RESULT had arrived.
    pub last_result: Option<u64>,
}

impl Counters {
    /// Bytes received, escapes too.
    pub(super) fn heard(&self) -> u64 {
        self.bytes_from_board + self.escapes_from_board
    }
}

/// A link with a decoder.
pub(super) struct Pipe<'a> {
    pub(super) link: &'a mut dyn Link,
    cancel: &'a AtomicBool,
    decoder: Decoder,
    to_board: VecDeque<u8>,
    inbox: Vec<u8>,
    pub(super) counters: Counters,
}

impl<'a> Pipe<'a> {
    pub(super) fn new(link: &'a mut dyn Link, cancel: &'a AtomicBool) -> Self {
        Self {
            link,
            cancel,
            decoder: Decoder::new(),
            to_board: VecDeque::new(),
            inbox: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Whether the link is nearly through with what it was given.
    pub(super) fn has_room(&self) -> bool {
        self.to_board.len() < AHEAD
    }

    /// Bytes that the link has not taken yet.
    pub(super) fn waiting(&self) -> usize {
        self.to_board.len()
    }

    /// Forgets what was not sent and what was half received.
    pub(super) fn clear(&mut self) {
        self.to_board.clear();
        self.decoder = Decoder::new();
    }

    /// The bytes of the last exchange.
    pub(super) fn inbox(&self) -> &[u8] {
        &self.inbox
    }

    /// Queues the bytes of a frame.
    pub(super) fn send(&mut self, frame: &[u8]) {
        let escapes = escapes(frame);
        self.counters.escapes_to_board += escapes;
        self.counters.bytes_to_board += frame.len() as u64 - escapes;
        self.to_board.extend(frame);
    }

    /// Moves bytes; gives the intact frames that arrived.
    ///
    /// # Errors
    /// The link's errors, [`SessionError::Interrupted`], and [`SessionError::Nonsense`] for an intact frame that is no
    /// reply.
    pub(super) fn exchange(&mut self) -> Result<Vec<Reply>, SessionError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(SessionError::Interrupted);
        }
        self.inbox.clear();
        self.link.poll(&mut self.to_board, &mut self.inbox)?;
        let escapes = escapes(&self.inbox);
        self.counters.escapes_from_board += escapes;
        self.counters.bytes_from_board += self.inbox.len() as u64 - escapes;
        let mut replies = Vec::new();
        for frame in self.decoder.push_all(&self.inbox) {
            match frame {
                Ok(frame) => replies.push(Reply::parse(&frame)?),
                Err(_) => self.counters.damaged += 1,
            }
        }
        Ok(replies)
    }
}

fn escapes(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == wire::ESC).count() as u64
}
