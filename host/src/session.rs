//! A session with a board: identity, sequence, credits, retries and deadlines over any [`Link`].
//!
//! Commands are issued in order and get a *ticket*, their number since HELLO. They are sent as far as the board's FIFO
//! and the window of the wire allow, again from where the board asks for it, and each ends as an [`Event`]. A frame
//! that is lost or damaged costs time; what the board accepted is never executed twice.

mod hello;
mod no_ident;
mod pipe;
mod window;

pub use hello::{SessionOptions, check_design, identify};
pub use no_ident::{Heard, NoIdent};
pub use pipe::Counters;

use crate::link::{Level, Link, LinkError, TimeBase};
use pipe::Pipe;
use std::sync::atomic::AtomicBool;
use systole_hdl::codec::{BodyError, Command, Content, Reply};
use systole_hdl::wire::{self, Identity, Nak};
use thiserror::Error;
use window::Window;

/// Times that a deadline may pass without any progress in between before the session gives up.
const MOST_RETRIES: u32 = 5;

/// Seq of the first command after HELLO, whose own seq is the one before.
const FIRST_SEQ: u8 = 0;

/// Why a session cannot go on.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// Nothing happened for too long in a session that was open.
    #[error(
        "no answer to {stage} within {waited}, sent again {retries} times, from a board that had said who it is; check \
         cable and power, and start again"
    )]
    Timeout {
        /// What the host was waiting for.
        stage: &'static str,
        /// The whole time since the last answer, with its unit.
        waited: String,
        /// Times that the frames were sent again.
        retries: u32,
    },
    /// Nobody has said who they are.
    #[error("{0}")]
    NoIdent(NoIdent),
    /// The board refused a command for good.
    #[error("the board refused {stage}: {reason}; host and gateware disagree about the wire, rebuild both")]
    Refused {
        /// The command.
        stage: &'static str,
        /// The reason that the board gave.
        reason: Nak,
    },
    /// The board has forgotten the session: it was reset, or another host opened one.
    #[error("the board is in no session any more: it was reset, or another program talks to it")]
    NoSession,
    /// An intact frame that makes no sense.
    #[error("the board sent a frame that makes no sense ({0}); host and gateware disagree about the wire")]
    Nonsense(#[from] BodyError),
    /// A frame that no board of this design takes.
    #[error("a {stage} of {bytes} bytes is longer than the {limit} that the board takes; send it in pieces")]
    TooLong {
        /// The command.
        stage: &'static str,
        /// Decoded bytes of its header and body.
        bytes: usize,
        /// Most that the board takes.
        limit: usize,
    },
    /// A RESULT that does not fit its MULTIPLY.
    #[error(
        "the board sent a RESULT with {got} bytes of jobs where {expected} belong; rebuild host and gateware"
    )]
    ResultLength {
        /// Bytes that the jobs take.
        expected: usize,
        /// Bytes that came.
        got: usize,
    },
    /// An answer that may not be asked for again, because a fault was injected.
    #[error("the answer to an injected fault was lost on the way; start again")]
    LostResult,
    /// Bytes that came back as others, with a good CRC.
    #[error(
        "the board sent other bytes than were asked for; host and gateware disagree about the wire, rebuild both"
    )]
    Echo,
    /// Another version of the wire.
    #[error(
        "the board speaks version {board} of the wire, this program version {}; write a matching image with `systole \
         flash`",
        wire::PROTOCOL
    )]
    Protocol {
        /// The board's version.
        board: u8,
    },
    /// Another design than the one asked for.
    #[error(
        "the board's design has {board}, but {asked} was asked for; leave the option out to take the board's, or write \
         another image with `systole flash`"
    )]
    Design {
        /// What the board has, `name=value`.
        board: String,
        /// What was asked for, `name=value`.
        asked: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SessionError {
    /// Whether it is that nobody answers.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::Timeout { .. } | Self::NoIdent(_))
    }

    /// Whether it is about the board and says nothing of the link to it: who shows it to people names that.
    pub fn is_of_board(&self) -> bool {
        !matches!(self, Self::Link(_) | Self::Interrupted)
    }
}

/// How a command ended.
#[derive(Debug)]
pub enum Event {
    /// The answer to a command that has one.
    Answer {
        /// The command's ticket.
        ticket: u64,
        /// What the board said.
        content: Content,
    },
    /// The board is through with a command whose answer never arrived.
    Lost {
        /// The command's ticket.
        ticket: u64,
    },
}

/// An open session.
pub struct Session<'a> {
    pipe: Pipe<'a>,
    options: SessionOptions,
    identity: Identity,
    /// The link's time, as slow as the board turned out to be.
    time: TimeBase,
    window: Window,
    /// Link time of the last sign that the board gets on.
    progress: u64,
    /// Deadlines passed since the last answer.
    retries: u32,
    /// The time that those took.
    spent: u64,
    /// Where the last NAK turned back to; another for the same frame tells nothing new until the deadline.
    turned_back: Option<u64>,
}

impl<'a> Session<'a> {
    /// Opens a session: waits until the link is quiet, sends HELLO, and throws away all that comes before the IDENT
    /// with its nonce. `cancel` becoming true ends any wait.
    ///
    /// # Errors
    /// [`SessionError`], in particular [`SessionError::NoIdent`], [`SessionError::Protocol`] and
    /// [`SessionError::Design`].
    pub fn open(
        link: &'a mut dyn Link,
        mut options: SessionOptions,
        cancel: &'a AtomicBool,
    ) -> Result<Self, SessionError> {
        let mut pipe = Pipe::new(link, cancel);
        let answer = hello::hello(&mut pipe, &mut options)?;
        let time = answer.measured(pipe.link.time());
        let identity = answer.identity;
        let window = Window::new(identity.parameters.fifo as usize);
        let progress = pipe.link.now();
        Ok(Self { pipe, options, identity, time, window, progress, retries: 0, spent: 0, turned_back: None })
    }

    /// Opens the session again. Whatever was issued is forgotten, and what the banks hold is unknown.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn reopen(&mut self) -> Result<(), SessionError> {
        self.pipe.counters.restarts += 1;
        let answer = hello::hello(&mut self.pipe, &mut self.options)?;
        self.time = answer.measured(self.pipe.link.time());
        self.identity = answer.identity;
        self.window = Window::new(self.identity.parameters.fifo as usize);
        self.progress = self.pipe.link.now();
        self.retries = 0;
        self.spent = 0;
        self.turned_back = None;
        Ok(())
    }

    /// Who answered.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What crossed the link so far.
    pub fn counters(&self) -> Counters {
        self.pipe.counters
    }

    /// How real the board is.
    pub fn level(&self) -> Level {
        self.pipe.link.level(self.identity.origin)
    }

    /// The link's time, as slow as the board turned out to be.
    pub fn time(&self) -> TimeBase {
        self.time
    }

    /// The link's time and cycles.
    pub fn link(&self) -> &dyn Link {
        self.pipe.link
    }

    /// Whether another command can be issued now without queueing in the host.
    pub fn wants_more(&self) -> bool {
        self.window.unsent() == 0 && self.pipe.has_room()
    }

    /// Whether every command has ended.
    pub fn is_idle(&self) -> bool {
        self.window.is_empty()
    }

    /// Commands that have not ended.
    pub fn under_way(&self) -> usize {
        self.window.len()
    }

    /// Puts a command behind all others; gives its ticket.
    ///
    /// # Errors
    /// [`SessionError::TooLong`] for a frame that the board can never take.
    pub fn issue(&mut self, command: &Command) -> Result<u64, SessionError> {
        let frame = command.frame(self.window.next_seq());
        let (bytes, limit) = (frame.decoded_len(), self.identity.largest_frame as usize);
        if bytes > limit {
            return Err(SessionError::TooLong { stage: window::name(frame.opcode), bytes, limit });
        }
        if self.window.is_empty() {
            self.progress = self.pipe.link.now();
        }
        let ticket = self.window.issue(command, &frame, &self.identity.parameters);
        self.fill();
        Ok(ticket)
    }

    /// Moves bytes both ways for a short while; gives what ended meanwhile, in the order of the wire.
    ///
    /// # Errors
    /// [`SessionError`]; after [`SessionError::NoSession`] the session can be opened again by [`Session::reopen`].
    pub fn poll(&mut self) -> Result<Vec<Event>, SessionError> {
        self.fill();
        let mut events = Vec::new();
        for reply in self.pipe.exchange()? {
            self.take(reply, &mut events)?;
        }
        self.watch()?;
        Ok(events)
    }

    /// Polls until a command has ended; gives its answer, `None` when it has none or when that was lost.
    ///
    /// # Errors
    /// As [`Session::poll`].
    pub fn finish(&mut self, ticket: u64) -> Result<Option<Content>, SessionError> {
        let mut answer = None;
        while !self.window.is_retired(ticket) {
            for event in self.poll()? {
                match event {
                    Event::Answer { ticket: t, content } if t == ticket => answer = Some(content),
                    _ => {}
                }
            }
        }
        Ok(answer)
    }

    /// Hands frames to the link while window and credits allow.
    fn fill(&mut self) {
        while self.pipe.has_room() {
            let Some(frame) = self.window.send() else { break };
            if frame.opcode == wire::WRITE {
                let now = self.pipe.link.now();
                self.pipe.counters.first_write.get_or_insert(now);
            }
            self.pipe.send(&frame.wire);
        }
    }

    fn take(&mut self, reply: Reply, events: &mut Vec<Event>) -> Result<(), SessionError> {
        let moved = self.window.heard(&reply);
        if let Some(ticket) = self.window.answered(&reply) {
            if matches!(reply.content, Content::Result { .. }) {
                self.pipe.counters.last_result = Some(self.pipe.link.now());
            }
            events.push(Event::Answer { ticket, content: reply.content.clone() });
        }
        let lost = self.window.retire();
        events.extend(lost.into_iter().map(|ticket| Event::Lost { ticket }));
        if moved {
            self.progress = self.pipe.link.now();
            self.retries = 0;
            self.spent = 0;
            self.turned_back = None;
        }
        match reply.content {
            Content::Nak(Nak::NoSession) => Err(SessionError::NoSession),
            Content::Nak(reason) if reason.is_fatal() => {
                Err(SessionError::Refused { stage: self.window.stage_at_expected(), reason })
            }
            Content::Nak(_) if self.turned_back != Some(self.window.accepted()) => {
                self.turned_back = Some(self.window.accepted());
                self.pipe.counters.go_backs += 1;
                self.window.go_back();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Sends again when nothing happened for too long, and gives up when that did not help.
    fn watch(&mut self) -> Result<(), SessionError> {
        let now = self.pipe.link.now();
        if self.window.nothing_out() {
            self.progress = now;
            return Ok(());
        }
        let allowed = self.allowed();
        let waited = now - self.progress;
        if waited <= allowed {
            return Ok(());
        }
        if self.retries == MOST_RETRIES {
            let (stage, waited) = (self.window.stage(), self.time.unit.text(self.spent + waited));
            return Err(SessionError::Timeout { stage, waited, retries: self.retries });
        }
        self.retries += 1;
        self.spent += waited;
        self.pipe.counters.timeouts += 1;
        self.progress = now;
        self.turned_back = None;
        self.window.go_back_or_repeat_last();
        Ok(())
    }

    /// The longest silence that everything in flight can explain: all bytes, doubled for escapes, all computing, and
    /// the way there and back; then as much again.
    fn allowed(&self) -> u64 {
        let time = &self.time;
        let (bytes, cycles) = self.window.in_flight();
        let clock = self.identity.parameters.clock_hz;
        let bytes = 2 * (bytes + self.pipe.waiting() as u64);
        2 * (bytes * time.byte + time.slowness * time.of_cycles(cycles, clock) + 2 * time.latency)
    }
}
