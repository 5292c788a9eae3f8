//! Measuring a link by itself: how fast bytes pass each way and both, and how long an answer takes.
//!
//! The board answers SOURCE, SINK and ECHO like any command, in order and with credits; every byte that comes back is
//! checked.

use crate::session::{Event, Session, SessionError};
use serde::Serialize;
use std::time::{Duration, Instant};
use systole_hdl::codec::{Command, Content};
use systole_hdl::wire;

/// Payload of a SOURCE, in bytes: large against its frame, small against what is in flight.
const SOURCE: u16 = 4096;

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
    /// The median round trip, in seconds.
    pub round_trip_p50: f64,
    /// The round trip that one in a hundred exceeds, in seconds.
    pub round_trip_p99: f64,
    /// Answers that were lost on the way.
    pub lost: u64,
}

/// Measures for about this long each: source, sink, loopback, round trips.
///
/// # Errors
/// What stops the session; [`SessionError::Echo`] when bytes come back as others.
pub fn measure(session: &mut Session<'_>, each: Duration) -> Result<LinkFigures, SessionError> {
    let most = session.identity().largest_frame as usize - wire::HEADER;
    // Every byte value comes, escapes included, in the same share as in random data.
    let payload: Vec<u8> = (0..most).map(|i| i as u8).collect();
    let pattern: Vec<u8> = (0..SOURCE).map(|i| i as u8).collect();
    let mut lost = 0;
    let source = rate(session, each, &Command::Source { n: SOURCE }, &Content::Data(pattern), &mut lost)?;
    let sink = rate(session, each, &Command::Sink(payload.clone()), &Content::Ack, &mut lost)?;
    let echo = Content::Echo(payload.clone());
    let loopback = rate(session, each, &Command::Echo(payload), &echo, &mut lost)?;
    let mut trips = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < each || trips.is_empty() {
        let byte = vec![trips.len() as u8];
        let sent = Instant::now();
        let ticket = session.issue(&Command::Echo(byte.clone()))?;
        match session.finish(ticket)? {
            Some(content) if content == Content::Echo(byte) => trips.push(sent.elapsed().as_secs_f64()),
            Some(_) => return Err(SessionError::Echo),
            None => lost += 1,
        }
    }
    trips.sort_by(f64::total_cmp);
    let percentile = |percent: usize| trips[(trips.len() - 1) * percent / 100];
    Ok(LinkFigures {
        source,
        sink,
        loopback,
        round_trips: trips.len(),
        round_trip_p50: percentile(50),
        round_trip_p99: percentile(99),
        lost,
    })
}

/// Repeats a command, as many at once as the session takes; gives its payload, there or back, in bytes a second.
fn rate(
    session: &mut Session<'_>,
    time: Duration,
    command: &Command,
    expected: &Content,
    lost: &mut u64,
) -> Result<f64, SessionError> {
    let payload = match (command, expected) {
        (Command::Sink(bytes), _) | (_, Content::Data(bytes) | Content::Echo(bytes)) => bytes.len(),
        _ => 0,
    };
    let begun = Instant::now();
    let (mut issued, mut missing) = (0u64, 0);
    while begun.elapsed() < time || !session.is_idle() {
        while begun.elapsed() < time && session.wants_more() {
            session.issue(command)?;
            issued += 1;
        }
        for event in session.poll()? {
            match event {
                Event::Answer { content, .. } if content != *expected => return Err(SessionError::Echo),
                Event::Answer { .. } => {}
                Event::Lost { .. } => missing += 1,
            }
        }
    }
    *lost += missing;
    Ok((issued - missing) as f64 * payload as f64 / begun.elapsed().as_secs_f64())
}
