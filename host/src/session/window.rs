//! The frames of a session that the board is not known to be through with.
//!
//! Frames are numbered by tickets, from 0 at HELLO; a seq is a ticket's low byte, counted from the session's first
//! seq. At any time `base ≤ accepted` and `base ≤ sent ≤ issued`: below `base` the board is through, below `accepted` it
//! has taken the frame, below `sent` the link has it.

use super::FIRST_SEQ;
use std::collections::VecDeque;
use systole_hdl::codec::{Command, Content, Frame, Reply};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire;

/// Clocks that a job takes besides its steps, and any command besides its bytes: a generous bound.
const OVERHEAD_CYCLES: u64 = 256;

/// A frame that may have to be sent again.
pub(super) struct Sent {
    pub(super) opcode: u8,
    pub(super) wire: Vec<u8>,
    decoded: usize,
    answered: bool,
    reply_bytes: u64,
    cycles: u64,
}

pub(super) struct Window {
    frames: VecDeque<Sent>,
    base: u64,
    accepted: u64,
    sent: u64,
    /// Tickets below this are finished, but not yet retired.
    finished: u64,
    /// Edges of a pause that is armed for the next job.
    pause: u64,
    fifo: usize,
}

impl Window {
    /// An empty window; the board takes `fifo` decoded bytes.
    pub(super) fn new(fifo: usize) -> Self {
        Self { frames: VecDeque::new(), base: 0, accepted: 0, sent: 0, finished: 0, pause: 0, fifo }
    }

    fn issued(&self) -> u64 {
        self.base + self.frames.len() as u64
    }

    fn out(&self) -> usize {
        (self.sent - self.base) as usize
    }

    pub(super) fn unsent(&self) -> u64 {
        self.issued() - self.sent
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn nothing_out(&self) -> bool {
        self.sent == self.base
    }

    pub(super) fn is_retired(&self, ticket: u64) -> bool {
        ticket < self.base
    }

    pub(super) fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Seq of the next frame.
    pub(super) fn next_seq(&self) -> u8 {
        FIRST_SEQ.wrapping_add(self.issued() as u8)
    }

    /// Puts a command, whose frame carries [`Window::next_seq`], behind all others; gives its ticket.
    pub(super) fn issue(&mut self, command: &Command, frame: &Frame, p: &Parameters) -> u64 {
        let ticket = self.issued();
        let (reply_body, mut cycles) = cost(command, p);
        match command {
            Command::Inject { length, .. } => self.pause = u64::from(*length),
            Command::Multiply(_) => cycles += std::mem::take(&mut self.pause),
            _ => {}
        }
        self.frames.push_back(Sent {
            opcode: frame.opcode,
            decoded: frame.decoded_len(),
            wire: frame.to_wire(),
            answered: matches!(command, Command::Write { .. } | Command::Inject { .. } | Command::Sink(_)),
            reply_bytes: (wire::HEADER + wire::REPLY_HEAD + reply_body + wire::CRC + 2) as u64,
            cycles: cycles + OVERHEAD_CYCLES,
        });
        ticket
    }

    /// The next frame to send, if window and credits allow one.
    pub(super) fn send(&mut self) -> Option<&Sent> {
        let used: usize = self.frames.iter().take(self.out()).map(|frame| frame.decoded).sum();
        let frame = self.frames.get(self.out())?;
        if self.out() >= usize::from(wire::WINDOW) || used + frame.decoded > self.fifo {
            return None;
        }
        self.sent += 1;
        Some(frame)
    }

    /// The ticket that a seq of the board means, if it can mean one now: the wire never has more than 128 frames out.
    fn ticket(&self, seq: u8) -> Option<u64> {
        let base_seq = FIRST_SEQ.wrapping_add(self.base as u8);
        let ticket = self.base + u64::from(seq.wrapping_sub(base_seq));
        (ticket <= self.issued()).then_some(ticket)
    }

    /// Takes in `expected` and `retired`; whether either tells of progress.
    pub(super) fn heard(&mut self, reply: &Reply) -> bool {
        let before = (self.accepted, self.finished);
        let through = reply.retired.wrapping_add(1);
        if let Some(finished) = self.ticket(through) {
            self.finished = self.finished.max(finished);
        }
        if let Some(expected) = self.ticket(reply.expected) {
            self.accepted = self.accepted.max(expected);
        }
        // A RESULT says by itself that its command is finished, whatever was known when its head was sent.
        if let (Some(ticket), true) = (self.ticket(reply.seq), is_answer(&reply.content)) {
            self.finished = self.finished.max((ticket + 1).min(self.issued()));
        }
        self.accepted = self.accepted.max(self.finished);
        before != (self.accepted, self.finished)
    }

    /// The command that this reply answers, the first time.
    pub(super) fn answered(&mut self, reply: &Reply) -> Option<u64> {
        if !is_answer(&reply.content) {
            return None;
        }
        let ticket = self.ticket(reply.seq)?;
        let frame = self.frames.get_mut((ticket - self.base) as usize)?;
        let asked = match reply.content {
            Content::Result { .. } => wire::MULTIPLY,
            Content::Status(_) => wire::STATUS,
            Content::Data(_) => wire::SOURCE,
            _ => wire::ECHO,
        };
        (frame.opcode == asked && !std::mem::replace(&mut frame.answered, true)).then_some(ticket)
    }

    /// Forgets finished frames; gives those whose answer never came.
    pub(super) fn retire(&mut self) -> Vec<u64> {
        let mut lost = Vec::new();
        while self.base < self.finished {
            let Some(frame) = self.frames.pop_front() else { break };
            if !frame.answered {
                lost.push(self.base);
            }
            self.base += 1;
        }
        self.sent = self.sent.max(self.base);
        lost
    }

    /// Sends again from the first frame that the board has not taken.
    pub(super) fn go_back(&mut self) {
        self.sent = self.sent.min(self.accepted.max(self.base));
    }

    /// As [`Window::go_back`]; when the board has taken all, repeats the last frame, which it answers without
    /// executing.
    pub(super) fn go_back_or_repeat_last(&mut self) {
        let last = self.sent.saturating_sub(1);
        self.go_back();
        self.sent = self.sent.min(last).max(self.base);
    }

    /// Bytes and cycles that everything sent may still take.
    pub(super) fn in_flight(&self) -> (u64, u64) {
        let out = self.frames.iter().take(self.out());
        out.fold((0, 0), |(bytes, cycles), frame| {
            (bytes + frame.wire.len() as u64 + frame.reply_bytes, cycles + frame.cycles)
        })
    }

    /// What the oldest frame is waiting for.
    pub(super) fn stage(&self) -> &'static str {
        self.frames.front().map_or("nothing", |frame| name(frame.opcode))
    }

    /// The command that the board expects next.
    pub(super) fn stage_at_expected(&self) -> &'static str {
        let at = self.accepted.saturating_sub(self.base) as usize;
        self.frames.get(at).map_or("a command", |frame| name(frame.opcode))
    }
}

fn is_answer(content: &Content) -> bool {
    matches!(content, Content::Result { .. } | Content::Status(_) | Content::Data(_) | Content::Echo(_))
}

pub(super) fn name(opcode: u8) -> &'static str {
    match opcode {
        wire::WRITE => "WRITE",
        wire::MULTIPLY => "MULTIPLY",
        wire::INJECT => "INJECT",
        wire::STATUS => "STATUS",
        wire::SOURCE => "SOURCE",
        wire::SINK => "SINK",
        _ => "ECHO",
    }
}

/// Bytes that come back beyond the reply's head, and cycles that the board computes.
fn cost(command: &Command, p: &Parameters) -> (usize, u64) {
    match command {
        Command::Multiply(m) => {
            let values = (p.n * p.n) as usize;
            let reply =
                usize::from(m.count) * (1 + values * usize::from(m.result_bytes)) + wire::RESULT_TRAILER;
            let job = u64::from(p.steps(m.k_len)) + values as u64 + OVERHEAD_CYCLES;
            (reply, u64::from(m.count) * job)
        }
        Command::Write { k_len, .. } => (0, u64::from(p.n) * u64::from(*k_len)),
        Command::Status => (wire::STATUS_BODY - wire::REPLY_HEAD, 0),
        Command::Source { n } => (usize::from(*n), 0),
        Command::Echo(bytes) => (bytes.len(), 0),
        Command::Inject { .. } | Command::Sink(_) | Command::Hello { .. } => (0, 0),
    }
}
