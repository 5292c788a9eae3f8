//! Opening a port: exclusive, raw, at a rate, empty, and why not.

use super::line::Line;
use super::{SerialLink, latency};
use crate::discover::{Holder, Machine, Port};
use crate::file::shown;
use crate::link::way::Way;
use crate::link::{LinkError, rates};
use rustix::io::Errno;
use serialport::TTYPort;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::time::Instant;

/// Major numbers of pseudo-terminals on Linux.
const TERMINALS: std::ops::RangeInclusive<u32> = 136..=143;

/// Opens the port of a path; gives what the user should know about it besides. A path that was given explicitly is
/// opened whatever it is, as long as it can be.
pub(super) fn open(path: &Path, baud: Option<u32>) -> Result<(SerialLink, Vec<String>), LinkError> {
    let machine = Machine::default();
    let name = shown(path);
    let known = machine.port(path);
    let mut notes = Vec::new();
    let mut line = Line::open(path, &name, &machine)?;
    let holders = machine.others(path);
    let mut rates = baud.map_or_else(|| rates::of(known.as_ref()), |baud| VecDeque::from([baud]));
    let way = way(&line, known.as_ref());
    let first = rates.pop_front().unwrap_or(systole_hdl::parameters::Parameters::DEFAULT.baud);
    let port = match way {
        Way::Terminal => terminal(&mut line, &name, &holders).map(|()| None)?,
        _ => Some(port(&mut line, path, &name, first, &holders)?),
    };
    if !holders.is_empty() {
        let who: Vec<String> = holders.iter().map(ToString::to_string).collect();
        notes.push(format!("{name} is open in {} too, which may take bytes away", who.join(", ")));
    }
    let timer = known.as_ref().and_then(|port| latency::shorten(&machine, port));
    notes.extend(timer.iter().filter_map(|(_, note)| note.clone()));
    let timer = timer.map_or(0, |(milliseconds, _)| milliseconds);
    let mut link = SerialLink { name, line, port, way, baud: first, rates, timer, begun: Instant::now() };
    match link.set_rate(first) {
        Err(LinkError::Baud { .. }) if super::Link::next_rate(&mut link)? => {}
        result => result?,
    }
    link.forget()?;
    Ok((link, notes))
}

/// The port, exclusive and raw.
fn port(
    line: &mut Line,
    path: &Path,
    name: &str,
    baud: u32,
    holders: &[Holder],
) -> Result<TTYPort, LinkError> {
    let port = name.to_owned();
    // serialport takes a path as text, and names files by nothing else.
    let text = path.to_str().ok_or_else(|| LinkError::NotSerial {
        port: port.clone(),
        reason: "its path is not UTF-8; make a link to it that is".to_owned(),
    })?;
    line.keep().map_err(|source| LinkError::Io { port: port.clone(), doing: "opening", source })?;
    let opened = serialport::new(text, baud).open_native();
    if opened.is_err() {
        // It may be another's, whose settings are not touched.
        line.leave();
    }
    opened.map_err(|error| match error.kind() {
        serialport::ErrorKind::NoDevice => LinkError::Busy { port, holders: holders.to_vec() },
        serialport::ErrorKind::Io(_) => {
            LinkError::Io { port, doing: "opening", source: io::Error::from(error) }
        }
        _ => LinkError::NotSerial { port, reason: error.description },
    })
}

/// Takes a pseudo-terminal, which has no rate, raw and for this process alone.
fn terminal(line: &mut Line, name: &str, holders: &[Holder]) -> Result<(), LinkError> {
    let port = || name.to_owned();
    let failed = |source: io::Error| match source.raw_os_error().map(Errno::from_raw_os_error) {
        // The other end was there a moment ago.
        Some(Errno::IO) => LinkError::Closed { port: port() },
        _ => LinkError::Io { port: port(), doing: "opening", source },
    };
    if !line.lock().map_err(failed)? {
        return Err(LinkError::Busy { port: port(), holders: holders.to_vec() });
    }
    line.keep().and_then(|()| line.make_raw()).map_err(failed)
}

fn way(line: &Line, known: Option<&Port>) -> Way {
    if line.device().is_some_and(|number| TERMINALS.contains(&rustix::fs::major(number))) {
        return Way::Terminal;
    }
    match known.and_then(|port| port.usb.as_ref()) {
        Some((device, _)) if device.is_model => Way::Model,
        Some(_) => Way::Usb,
        None => Way::Other,
    }
}
