//! Opening a session: HELLO until an IDENT with the same nonce comes back.

use super::SessionError;
use super::pipe::Counters;
use super::pipe::Pipe;
use crate::link::{Link, TimeBase, Unit};
use std::sync::atomic::AtomicBool;
use systole_firmware::design::{Design, canonical_text};
use systole_hdl::codec::{Command, Content};
use systole_hdl::parameters::{Parameters, STAGES};
use systole_hdl::wire::{self, Identity, Origin};

/// HELLOs sent before giving up.
const MOST_HELLOS: u32 = 5;

/// Byte times of silence after which nothing old is on its way any more.
const QUIET: u64 = 16;

/// Byte times after which a line that never falls silent is answered anyway.
const LONGEST_DRAIN: u64 = 1 << 17;

/// HELLOs sent to find out who is there, at one rate: there may be others to try.
const MOST_QUESTIONS: u32 = 3;

/// How much slower a simulation computes than it moves bytes, as against an FPGA, which has many cycles to a byte.
const COMPUTING: u64 = 8;

/// The nonce of the first HELLO to a simulation, whose wire carries nobody else's bytes: every run is the same.
const FIRST_NONCE: u32 = 1;

/// How a session is opened.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The nonce of the first HELLO; each further one takes the next.
    pub nonce: u32,
    /// The design that must answer; `None` accepts any.
    pub design: Option<Design>,
}

impl SessionOptions {
    /// A session with the board behind a link, which must have this design, if one is given. Where others may have left
    /// bytes on the wire the nonce is one that none of theirs has.
    pub fn new(link: &dyn Link, design: Option<Design>) -> Self {
        let nonce = match link.time().unit {
            Unit::Cycles => FIRST_NONCE,
            Unit::Nanoseconds => rand::random(),
        };
        Self { nonce, design }
    }
}

/// Asks who is behind a link; gives what crossed it, too. `cancel` becoming true ends the wait.
///
/// # Errors
/// [`SessionError`], in particular [`SessionError::Timeout`] when nobody answers and [`SessionError::Protocol`].
pub fn identify(link: &mut dyn Link, cancel: &AtomicBool) -> Result<(Identity, Counters), SessionError> {
    let mut options = SessionOptions::new(link, None);
    let mut pipe = Pipe::new(link, cancel);
    let answer = ask(&mut pipe, &mut options, MOST_QUESTIONS)?;
    Ok((answer.identity, pipe.counters))
}

/// Opens a session; gives who answered.
pub(super) fn hello(pipe: &mut Pipe<'_>, options: &mut SessionOptions) -> Result<Answer, SessionError> {
    let answer = ask(pipe, options, MOST_HELLOS)?;
    if let Some(design) = &options.design {
        check_design(design.parameters(), &answer.identity)?;
    }
    Ok(answer)
}

/// An IDENT.
pub(super) struct Answer {
    pub(super) identity: Identity,
    /// Link time from HELLO to IDENT.
    pub(super) round_trip: u64,
}

impl Answer {
    /// A link's time, scaled by what HELLO took where a simulation answers whose clock the host does not drive.
    pub(super) fn measured(&self, time: TimeBase) -> TimeBase {
        if self.identity.origin == Origin::Image || time.unit == Unit::Cycles {
            return time;
        }
        let slowness = (self.round_trip / (BYTES * time.byte).max(1)).max(1);
        let latency = time.latency + self.round_trip;
        TimeBase { byte: slowness * time.byte, latency, slowness: COMPUTING * slowness, ..time }
    }
}

fn ask(pipe: &mut Pipe<'_>, options: &mut SessionOptions, most: u32) -> Result<Answer, SessionError> {
    drain(pipe)?;
    for attempt in 0..most {
        if attempt > 0 {
            pipe.counters.hello_retries += 1;
        }
        let nonce = options.nonce;
        options.nonce = nonce.wrapping_add(1);
        if let Some(answer) = one_hello(pipe, nonce)? {
            let board = answer.identity.protocol;
            return if board == wire::PROTOCOL { Ok(answer) } else { Err(SessionError::Protocol { board }) };
        }
    }
    let time = pipe.link.time();
    let waited = time.text(deadline(&time));
    Err(SessionError::Timeout { stage: "HELLO", waited, retries: most - 1 })
}

/// Reads and forgets until nothing has come for a while.
fn drain(pipe: &mut Pipe<'_>) -> Result<(), SessionError> {
    let time = pipe.link.time();
    let begun = pipe.link.now();
    let mut last = begun;
    pipe.clear();
    while pipe.link.now() - last < QUIET * time.byte + time.latency {
        let heard = pipe.counters.bytes_from_board;
        exchange(pipe)?;
        if pipe.counters.bytes_from_board != heard {
            last = pipe.link.now();
        }
        if pipe.link.now() - begun > LONGEST_DRAIN * time.byte {
            break;
        }
    }
    pipe.clear();
    Ok(())
}

/// Sends one HELLO; gives the identity if an IDENT with its nonce comes back in time.
fn one_hello(pipe: &mut Pipe<'_>, nonce: u32) -> Result<Option<Answer>, SessionError> {
    // The first byte on a line may arrive smashed. This one ends whatever came before, and is no part of HELLO.
    pipe.send(&[wire::END]);
    pipe.send(&Command::Hello { nonce }.frame(super::FIRST_SEQ.wrapping_sub(1)).to_wire());
    let begun = pipe.link.now();
    while pipe.link.now() - begun <= deadline(&pipe.link.time()) {
        for content in exchange(pipe)? {
            match content {
                Content::Ident { nonce: n, identity } if n == nonce => {
                    return Ok(Some(Answer { identity, round_trip: pipe.link.now() - begun }));
                }
                _ => {}
            }
        }
    }
    Ok(None)
}

/// HELLO out and IDENT back with every byte escaped, and the way there and back; then as much again.
fn deadline(time: &TimeBase) -> u64 {
    2 * (2 * BYTES * time.byte + 2 * time.latency) + time.patience
}

/// Bytes of HELLO and IDENT together, escapes not counted.
pub(super) const BYTES: u64 =
    (2 * (wire::HEADER + wire::CRC + 2) + wire::HELLO_BODY + wire::IDENT_BODY) as u64;

/// Before IDENT the other end may be anything: what makes no sense is ignored.
fn exchange(pipe: &mut Pipe<'_>) -> Result<Vec<Content>, SessionError> {
    match pipe.exchange() {
        Ok(replies) => Ok(replies.into_iter().map(|reply| reply.content).collect()),
        Err(SessionError::Nonsense(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Holds the parameters asked for against what a board says of itself, fact by fact.
///
/// # Errors
/// [`SessionError::Design`] with the first fact that differs.
pub fn check_design(asked: &Parameters, identity: &Identity) -> Result<(), SessionError> {
    let disagree =
        |board: &str, asked: &str| SessionError::Design { board: board.to_owned(), asked: asked.to_owned() };
    let board = Design::new(identity.parameters.clone())
        .map_err(|error| disagree(&format!("impossible parameters ({error})"), "a valid design"))?;
    let (board_text, asked_text) = (board.canonical_text(), canonical_text(asked));
    match board_text.lines().zip(asked_text.lines()).find(|(board, asked)| board != asked) {
        Some((board, asked)) => Err(disagree(board, asked)),
        None if u32::from(identity.stages) != STAGES => {
            let stages = |stages: u32| format!("stages={stages}");
            Err(disagree(&stages(identity.stages.into()), &stages(STAGES)))
        }
        // Board, pins and tools are in the hash of an image, simulated or not: only who has built it can know that one.
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_26_what_a_board_says_of_itself_is_held_against_what_was_asked_for() {
        let design = Design::new(Parameters::DEFAULT).expect("default");
        for origin in [Origin::Simulated, Origin::Image] {
            let identity = Identity { design_hash: design.hash() ^ 1, ..design.identity(origin) };
            assert!(
                check_design(&Parameters::DEFAULT, &identity).is_ok(),
                "board, pins and tools are in the hash"
            );
            let n3 = Parameters { n: 3, ..Parameters::DEFAULT };
            let error = check_design(&n3, &identity).expect_err("another grid").to_string();
            assert!(error.starts_with("the board's design has n=4, but n=3 was asked for"), "{error}");
            let error = check_design(&Parameters::DEFAULT, &Identity { stages: 9, ..identity });
            let error = error.expect_err("another version of the gateware").to_string();
            assert!(error.contains("has stages=9, but stages=0 was asked for"), "{error}");
        }
    }

    #[test]
    fn deadlines_are_as_slow_as_the_simulation() {
        let design = Design::new(Parameters::DEFAULT).expect("default");
        let answer = |origin, round_trip| Answer { identity: design.identity(origin), round_trip };
        // 1 Mbaud: HELLO and IDENT are 74 bytes, 740 µs.
        let line = |unit| TimeBase { unit, byte: 10_000, latency: 1_000_000, patience: 7, slowness: 1 };
        let wall = line(Unit::Nanoseconds);
        assert_eq!(BYTES, 74);
        assert_eq!(answer(Origin::Image, 7_400_000).measured(wall), wall);
        let cycles = line(Unit::Cycles);
        assert_eq!(answer(Origin::Simulated, 7_400_000).measured(cycles), cycles);
        let slow = answer(Origin::Simulated, 7_400_000).measured(wall);
        assert_eq!((slow.byte, slow.latency, slow.slowness), (100_000, 8_400_000, 80));
        let fast = answer(Origin::Simulated, 1000).measured(wall);
        assert_eq!((fast.byte, fast.latency, fast.slowness), (10_000, 1_001_000, 8));
    }
}
