//! Opening a session: HELLO until an IDENT with the same nonce comes back.

use super::pipe::{Counters, Pipe};
use super::{Heard, NoIdent, SessionError};
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

/// Byte times after which a line that never falls silent is spoken on anyway: more than any board and its chip hold. At
/// less than 437 kbaud the time below is over before: what is then still on its way is taken for noise.
const LONGEST_DRAIN: u64 = 1 << 17;

/// The same in nanoseconds of wall time: on a slow line nobody would wait for that many bytes.
const LONGEST_DRAIN_TIME: u64 = 3_000_000_000;

/// Bytes that are looked at for an echo: HELLO stands at their beginning, or soon after.
const ECHO: usize = 1024;

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
/// [`SessionError`], in particular [`SessionError::NoIdent`] when nobody answers and [`SessionError::Protocol`].
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
    let begun = pipe.link.now();
    let before = pipe.counters.heard();
    let mut echo = false;
    drain(pipe)?;
    for attempt in 0..most {
        if attempt > 0 {
            pipe.counters.hello_retries += 1;
        }
        let nonce = options.nonce;
        options.nonce = nonce.wrapping_add(1);
        if let Some(answer) = one_hello(pipe, nonce, &mut echo)? {
            let board = answer.identity.protocol;
            return if board == wire::PROTOCOL { Ok(answer) } else { Err(SessionError::Protocol { board }) };
        }
    }
    let heard = match pipe.counters.heard() - before {
        _ if echo => Heard::Echo,
        0 => Heard::Nothing,
        bytes => Heard::Bytes(bytes),
    };
    Err(SessionError::NoIdent(NoIdent {
        hellos: most,
        spent: pipe.link.now() - begun,
        unit: pipe.link.time().unit,
        heard,
        rates: Vec::from_iter(pipe.link.rate()),
    }))
}

/// Reads and forgets until nothing has come for a while.
fn drain(pipe: &mut Pipe<'_>) -> Result<(), SessionError> {
    let time = pipe.link.time();
    let begun = pipe.link.now();
    let mut last = begun;
    pipe.clear();
    while pipe.link.now() - last < QUIET * time.byte + time.latency {
        let heard = pipe.counters.heard();
        exchange(pipe)?;
        if pipe.counters.heard() != heard {
            last = pipe.link.now();
        }
        if pipe.link.now() - begun > longest_drain(&time) {
            break;
        }
    }
    pipe.clear();
    Ok(())
}

fn longest_drain(time: &TimeBase) -> u64 {
    let bytes = LONGEST_DRAIN * time.byte;
    match time.unit {
        Unit::Cycles => bytes,
        Unit::Nanoseconds => bytes.min(LONGEST_DRAIN_TIME),
    }
}

/// Sends one HELLO; gives the identity if an IDENT with its nonce comes back in time. `echo` becomes true when HELLO
/// itself comes back.
fn one_hello(pipe: &mut Pipe<'_>, nonce: u32, echo: &mut bool) -> Result<Option<Answer>, SessionError> {
    // The first byte on a line may arrive smashed. This one ends whatever came before, and is no part of HELLO.
    pipe.send(&[wire::END]);
    let hello = Command::Hello { nonce }.frame(super::FIRST_SEQ.wrapping_sub(1)).to_wire();
    pipe.send(&hello);
    let begun = pipe.link.now();
    let mut heard: Vec<u8> = Vec::new();
    while pipe.link.now() - begun <= deadline(&pipe.link.time()) {
        let contents = exchange(pipe)?;
        if heard.len() < ECHO {
            heard.extend(pipe.inbox());
        }
        for content in contents {
            match content {
                Content::Ident { nonce: n, identity } if n == nonce => {
                    return Ok(Some(Answer { identity, round_trip: pipe.link.now() - begun }));
                }
                _ => {}
            }
        }
    }
    *echo |= heard.windows(hello.len()).any(|bytes| bytes == hello);
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
    use crate::link::{Level, LinkError};
    use std::collections::VecDeque;

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

    /// A line at 1200 baud with no board: gives a byte of its own at a time, or what it is sent, or nothing.
    struct Line {
        noise: Option<u8>,
        echo: bool,
        now: u64,
    }

    impl Link for Line {
        fn level(&self, _origin: Origin) -> Level {
            Level::Unverified
        }

        fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
            self.now += self.time().byte;
            let sent = to_board.pop_front().filter(|_| self.echo);
            from_board.extend(sent.or(self.noise));
            Ok(())
        }

        fn time(&self) -> TimeBase {
            TimeBase {
                unit: Unit::Nanoseconds,
                byte: 8_333_333,
                latency: 10_000_000,
                patience: 0,
                slowness: 1,
            }
        }

        fn now(&self) -> u64 {
            self.now
        }

        fn cycles(&self) -> Option<u64> {
            None
        }
    }

    fn nobody(noise: Option<u8>, echo: bool) -> NoIdent {
        let mut line = Line { noise, echo, now: 77 };
        match identify(&mut line, &AtomicBool::new(false)) {
            Err(SessionError::NoIdent(error)) => error,
            other => panic!("there is nobody, and what came of it is {:?}", other.map(|(who, _)| who)),
        }
    }

    #[test]
    fn silence_noise_and_echo_are_told_apart_and_the_whole_time_is_told() {
        // A HELLO is given 2 · (2 · 74 bytes + 2 · 10 ms) = 2.507 s, three of them 7.52 s; 16 bytes of silence and 10 ms
        // go before.
        let silent = nobody(None, false);
        assert_eq!((silent.heard, silent.hellos, silent.rates.len()), (Heard::Nothing, 3, 0));
        assert!((7_600_000_000..7_800_000_000).contains(&silent.spent), "{}", silent.spent);
        assert_eq!(nobody(None, true).heard, Heard::Echo);
    }

    #[test]
    fn a_slow_line_that_never_falls_silent_is_spoken_on_after_seconds() {
        let noisy = nobody(Some(b'x'), false);
        assert!(matches!(noisy.heard, Heard::Bytes(1000..)), "{noisy}");
        assert!((10_400_000_000..10_800_000_000).contains(&noisy.spent), "three seconds more: {noisy}");
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
