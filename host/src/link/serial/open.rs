//! Opening a port: exclusive, raw, at a rate, empty, and why not.

use super::{SerialLink, Way, latency, rates};
use crate::discover::{Access, Holder, Machine, Port};
use crate::file::shown;
use crate::link::LinkError;
use rustix::fs::OFlags;
use rustix::io::Errno;
use serialport::TTYPort;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

/// Time that the system may take on the way there or back, in nanoseconds: USB, and a computer that is busy.
pub(in super::super) const SYSTEM: u64 = 10_000_000;

/// The same where the other end is a process that has to get its turn first.
pub(in super::super) const PROCESS: u64 = 50_000_000;

/// Major numbers of pseudo-terminals on Linux.
const TERMINALS: std::ops::RangeInclusive<u32> = 136..=143;

/// Opens the port of a path; gives what the user should know about it besides. A path that was given explicitly is
/// opened whatever it is, as long as it can be.
pub(super) fn open(path: &Path, baud: Option<u32>) -> Result<(SerialLink, Vec<String>), LinkError> {
    let machine = Machine::default();
    let name = shown(path);
    let known = machine.port(path);
    let mut notes = Vec::new();
    let data = data(path, &name, &machine)?;
    let holders = others(&machine, path);
    let mut rates = baud.map_or_else(|| rates::of(known.as_ref()), |baud| VecDeque::from([baud]));
    let way = way(&data, known.as_ref());
    let first = rates.pop_front().unwrap_or(systole_hdl::parameters::Parameters::DEFAULT.baud);
    let port = port(path, &name, first, &holders)?;
    // Whoever serves a pseudo-terminal has it open, too.
    if !holders.is_empty() && way != Way::Terminal {
        let who: Vec<String> = holders.iter().map(ToString::to_string).collect();
        notes.push(format!("{name} is open in {} too, which may take bytes away", who.join(", ")));
    }
    let timer = known.as_ref().and_then(|port| latency::shorten(&machine, port));
    notes.extend(timer.iter().filter_map(|(_, note)| note.clone()));
    let timer = timer.map_or(0, |(milliseconds, _)| u64::from(milliseconds) * 1_000_000);
    let latency = timer + if way.is_simulated() { PROCESS } else { SYSTEM };
    let mut link = SerialLink { name, port, data, way, baud: first, rates, latency, begun: Instant::now() };
    match link.set_rate(first) {
        Err(LinkError::Baud { .. }) if super::Link::next_rate(&mut link)? => {}
        result => result?,
    }
    link.forget()?;
    Ok((link, notes))
}

/// A descriptor that never blocks and does not make the port this process's terminal.
fn data(path: &Path, name: &str, machine: &Machine) -> Result<File, LinkError> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    // The flags are the system's own, of its own width.
    let opened = File::options().read(true).write(true).custom_flags(flags.bits() as i32).open(path);
    let port = name.to_owned();
    opened.map_err(|source| match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NXIO | Errno::NODEV) => LinkError::Missing { port },
        Some(Errno::ACCESS | Errno::PERM) => {
            LinkError::Permission { port, access: Access::of(path, Path::new("/etc/group")) }
        }
        Some(Errno::BUSY) => LinkError::Busy { port, holders: others(machine, path) },
        Some(Errno::ISDIR | Errno::NOTDIR | Errno::IO) => {
            LinkError::NotSerial { port, reason: source.to_string() }
        }
        _ => LinkError::Io { port, doing: "opening", source },
    })
}

/// The port, exclusive and raw.
fn port(path: &Path, name: &str, baud: u32, holders: &[Holder]) -> Result<TTYPort, LinkError> {
    let port = name.to_owned();
    // serialport takes a path as text, and names files by nothing else.
    let text = path.to_str().ok_or_else(|| LinkError::NotSerial {
        port: port.clone(),
        reason: "its path is not UTF-8; make a link to it that is".to_owned(),
    })?;
    serialport::new(text, baud).open_native().map_err(|error| match error.kind() {
        serialport::ErrorKind::NoDevice => LinkError::Busy { port, holders: holders.to_vec() },
        serialport::ErrorKind::Io(_) => {
            LinkError::Io { port, doing: "opening", source: io::Error::from(error) }
        }
        _ => LinkError::NotSerial { port, reason: error.description },
    })
}

/// The other processes that have a port open.
fn others(machine: &Machine, path: &Path) -> Vec<Holder> {
    let mut holders = machine.holders(path);
    holders.retain(|holder| holder.pid != std::process::id());
    holders
}

fn way(data: &File, known: Option<&Port>) -> Way {
    let number = data.metadata().map(|metadata| metadata.rdev());
    if number.is_ok_and(|number| TERMINALS.contains(&rustix::fs::major(number))) {
        return Way::Terminal;
    }
    match known.and_then(|port| port.usb.as_ref()) {
        Some((device, _)) if device.is_model => Way::Model,
        Some(_) => Way::Usb,
        None => Way::Other,
    }
}
