//! Opening a session: HELLO until an IDENT with the same nonce comes back.

use super::SessionError;
use super::pipe::Pipe;
use crate::link::TimeBase;
use systole_firmware::design::Design;
use systole_hdl::codec::{Command, Content};
use systole_hdl::wire::{self, Identity};

/// HELLOs sent before giving up.
const MOST_HELLOS: u32 = 5;

/// Byte times of silence after which nothing old is on its way any more.
const QUIET: u64 = 16;

/// Byte times after which a line that never falls silent is answered anyway.
const LONGEST_DRAIN: u64 = 1 << 17;

/// How a session is opened.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The nonce of the first HELLO; each further one takes the next.
    pub nonce: u32,
    /// The design that must answer; `None` accepts any.
    pub design: Option<Design>,
}

/// Opens a session; gives who answered.
pub(super) fn hello(pipe: &mut Pipe<'_>, options: &mut SessionOptions) -> Result<Identity, SessionError> {
    drain(pipe)?;
    for attempt in 0..MOST_HELLOS {
        if attempt > 0 {
            pipe.counters.hello_retries += 1;
        }
        let nonce = options.nonce;
        options.nonce = nonce.wrapping_add(1);
        if let Some(identity) = one_hello(pipe, nonce)? {
            check(&identity, options)?;
            return Ok(identity);
        }
    }
    let time = pipe.link.time();
    let waited = time.text(deadline(&time));
    Err(SessionError::Timeout { stage: "HELLO", waited, retries: MOST_HELLOS - 1 })
}

fn check(identity: &Identity, options: &SessionOptions) -> Result<(), SessionError> {
    if identity.protocol != wire::PROTOCOL {
        return Err(SessionError::Protocol { board: identity.protocol });
    }
    options.design.as_ref().map_or(Ok(()), |design| check_design(design, identity))
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
fn one_hello(pipe: &mut Pipe<'_>, nonce: u32) -> Result<Option<Identity>, SessionError> {
    pipe.send(&Command::Hello { nonce }.frame(super::FIRST_SEQ.wrapping_sub(1)).to_wire());
    let begun = pipe.link.now();
    while pipe.link.now() - begun <= deadline(&pipe.link.time()) {
        for content in exchange(pipe)? {
            match content {
                Content::Ident { nonce: n, identity } if n == nonce => return Ok(Some(identity)),
                _ => {}
            }
        }
    }
    Ok(None)
}

/// HELLO out and IDENT back with every byte escaped, and the way there and back; then as much again.
fn deadline(time: &TimeBase) -> u64 {
    let frame = |body: usize| (2 * (wire::HEADER + body + wire::CRC) + 2) as u64;
    2 * ((frame(wire::HELLO_BODY) + frame(wire::IDENT_BODY)) * time.byte + 2 * time.latency)
}

/// Before IDENT the other end may be anything: what makes no sense is ignored.
fn exchange(pipe: &mut Pipe<'_>) -> Result<Vec<Content>, SessionError> {
    match pipe.exchange() {
        Ok(replies) => Ok(replies.into_iter().map(|reply| reply.content).collect()),
        Err(SessionError::Nonsense(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Compares the design asked for with the one that answers, fact by fact.
fn check_design(asked: &Design, identity: &Identity) -> Result<(), SessionError> {
    let disagree =
        |board: &str, asked: &str| SessionError::Design { board: board.to_owned(), asked: asked.to_owned() };
    let board = Design::new(identity.parameters.clone())
        .map_err(|error| disagree(&format!("impossible parameters ({error})"), "a valid design"))?;
    let (board_text, asked_text) = (board.canonical_text(), asked.canonical_text());
    match board_text.lines().zip(asked_text.lines()).find(|(board, asked)| board != asked) {
        Some((board, asked)) => Err(disagree(board, asked)),
        None if identity.design_hash != asked.hash() => {
            let hash = |hash| format!("design hash {hash:016x}");
            Err(disagree(&hash(identity.design_hash), &hash(asked.hash())))
        }
        None => Ok(()),
    }
}
