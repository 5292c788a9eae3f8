//! Measuring a link by itself: how fast bytes pass each way and both, and how long an answer takes.
//!
//! The board answers SOURCE, SINK and ECHO like any command, in order and with credits; every byte that comes back is
//! checked.

use crate::link::Unit;
use crate::session::{Event, Session, SessionError};
use serde::Serialize;
use std::time::{Duration, Instant};
use systole_hdl::codec::{Command, Content};
use systole_hdl::wire;

/// Most payload of a SOURCE, in bytes: large against its frame, small against what is in flight.
const SOURCE: u16 = 4096;

/// Fewest bytes of payload in a request: with fewer the frame around them would be all that is measured.
const LEAST: f64 = 16.0;

/// Bytes of a command and its answer besides the payload.
const FRAMES: usize = 2 * (wire::HEADER + wire::CRC + 2) + wire::REPLY_HEAD;

/// Requests that fit in the time, so that one more or less makes no difference.
const REQUESTS: f64 = 8.0;

/// Round trips that may be lost before there is no use in trying on.
const MOST_LOST: u64 = 10;

/// What a link does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkFigures {
    /// Payload from the board, in bytes a second.
    pub source: f64,
    /// Payload to the board, in bytes a second.
    pub sink: f64,
    /// Payload to the board and back at once, in bytes a second each way.
    pub loopback: f64,
    /// Round trips measured, of one byte each, one at a time.
    pub round_trips: usize,
    /// The median round trip, in seconds; `None` if there was none.
    pub round_trip_p50: Option<f64>,
    /// The round trip that one in a hundred exceeds, in seconds; `None` if there were fewer than a hundred.
    pub round_trip_p99: Option<f64>,
    /// Answers that were lost on the way.
    pub lost: u64,
}

/// Measures for about this long each: round trips, source, sink, loopback. On a slow link requests are small, and there
/// is at least one of each.
///
/// # Errors
/// What stops the session; [`SessionError::Echo`] when bytes come back as others.
pub fn measure(session: &mut Session<'_>, each: Duration) -> Result<LinkFigures, SessionError> {
    let mut lost = 0;
    let trips = round_trips(session, each, &mut lost)?;
    let percentile = |percent: usize| trips.get(trips.len().saturating_sub(1) * percent / 100).copied();
    let (p50, p99) = (percentile(50), percentile(99).filter(|_| trips.len() >= 100));
    let byte = byte(session, p50);
    let room = session.identity().largest_frame as usize - wire::HEADER;
    let fitting = (each.as_secs_f64() / REQUESTS / byte).max(LEAST);
    let size = |most: usize| (fitting as usize).min(most);
    // Every byte value comes, escapes included, in the same share as in random data.
    let payload = |size: usize| (0..size).map(|i| i as u8).collect::<Vec<u8>>();
    let mut rate = |command: &Command, expected: &Content, size: usize| {
        let load =
            Load { command, expected, size, cost: Duration::from_secs_f64(byte * (size + FRAMES) as f64) };
        rate(session, each, &load, &mut lost)
    };
    let n = size(usize::from(SOURCE));
    let source = rate(&Command::Source { n: n as u16 }, &Content::Data(payload(n)), n)?;
    let n = size(room);
    let sink = rate(&Command::Sink(payload(n)), &Content::Ack, n)?;
    let loopback = rate(&Command::Echo(payload(n)), &Content::Echo(payload(n)), n)?;
    let round_trips = trips.len();
    Ok(LinkFigures { source, sink, loopback, round_trips, round_trip_p50: p50, round_trip_p99: p99, lost })
}

/// The times of one byte there and back, one at a time, in seconds, the shortest first.
fn round_trips(session: &mut Session<'_>, time: Duration, lost: &mut u64) -> Result<Vec<f64>, SessionError> {
    let mut trips = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < time || (trips.is_empty() && *lost < MOST_LOST) {
        let byte = vec![trips.len() as u8];
        let sent = Instant::now();
        let ticket = session.issue(&Command::Echo(byte.clone()))?;
        match session.finish(ticket)? {
            Some(content) if content == Content::Echo(byte) => trips.push(sent.elapsed().as_secs_f64()),
            Some(_) => return Err(SessionError::Echo),
            None => *lost += 1,
        }
    }
    trips.sort_by(f64::total_cmp);
    Ok(trips)
}

/// Seconds that a byte takes: by the link's rate, or where that is not in seconds, or where a simulation turned out to be
/// slower, no more than a round trip shows.
fn byte(session: &Session<'_>, round_trip: Option<f64>) -> f64 {
    let time = session.time();
    let shown = round_trip.map(|round_trip| round_trip / (FRAMES + 2) as f64);
    match time.unit {
        Unit::Cycles => shown.unwrap_or(0.0),
        Unit::Nanoseconds => (time.byte as f64 / 1e9).min(shown.unwrap_or(f64::INFINITY)),
    }
}

/// What is repeated.
struct Load<'a> {
    command: &'a Command,
    expected: &'a Content,
    /// Bytes of payload, there or back.
    size: usize,
    /// The time that it takes at most where only the rate counts.
    cost: Duration,
}

/// Repeats a command, as many at once as the session takes and the time has room for; gives its payload in bytes a
/// second.
fn rate(
    session: &mut Session<'_>,
    time: Duration,
    load: &Load<'_>,
    lost: &mut u64,
) -> Result<f64, SessionError> {
    let begun = Instant::now();
    let (mut issued, mut missing) = (0u32, 0);
    loop {
        let has_room =
            |session: &Session<'_>| begun.elapsed() + load.cost * (session.under_way() as u32 + 1) <= time;
        while issued == 0 || (session.wants_more() && has_room(session)) {
            session.issue(load.command)?;
            issued += 1;
        }
        for event in session.poll()? {
            match event {
                Event::Answer { content, .. } if content != *load.expected => return Err(SessionError::Echo),
                Event::Answer { .. } => {}
                Event::Lost { .. } => missing += 1,
            }
        }
        if session.is_idle() && !has_room(session) {
            break;
        }
    }
    *lost += u64::from(missing);
    Ok(f64::from(issued - missing) * load.size as f64 / begun.elapsed().as_secs_f64())
}
