//! The link `usb`: straight to the FTDI chip of a board, the system's driver set aside while it lasts.
//!
//! The chip sends what it has after a millisecond instead of the sixteen that the driver leaves it, and several
//! transfers wait for it at any time, so that it never waits for the host.

mod pipe;

use super::target::{Asked, Kind, Opened, Read, Target};
use super::way::Way;
use super::{Level, Link, LinkError, TimeBase, rates};
use crate::discover::{Machine, UsbDevice};
use crate::error::Error;
use crate::ftdi::Chip;
use pipe::Pipe;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use systole_hdl::wire::Origin;

pub(super) const KIND: Kind = Kind {
    name: "usb",
    form: "usb[:VID:PID[:SERIAL]]",
    about: "a board's USB chip itself, the system's driver set aside",
    read,
};

/// The chip's latency timer, in milliseconds.
const LATENCY: u8 = 1;

/// Longest wait for bytes in one poll.
const WAIT: Duration = Duration::from_millis(2);

/// Which USB device.
#[derive(Clone, Debug)]
struct Usb {
    /// Vendor and product; `None` for those of any known board.
    ids: Option<(u16, u16)>,
    /// Serial number, where one was given.
    serial: Option<String>,
}

/// The chip of the one known board that is attached.
pub(super) fn any() -> impl Target {
    Usb { ids: None, serial: None }
}

fn read(details: Option<&str>) -> Read {
    let Some(details) = details else { return Ok(Arc::new(any())) };
    let mut parts = details.splitn(3, ':');
    let mut id = || u16::from_str_radix(parts.next()?, 16).ok();
    let wrong = || format!("VID and PID are two hexadecimal numbers of up to four digits, not '{details}'");
    let ids = id().zip(id()).ok_or_else(wrong)?;
    match parts.next() {
        Some("") => Err("the serial number is empty".to_owned()),
        serial => Ok(Arc::new(Usb { ids: Some(ids), serial: serial.map(str::to_owned) })),
    }
}

impl Usb {
    /// The one device that is meant.
    fn find(&self, machine: &Machine) -> Result<UsbDevice, LinkError> {
        let fits = |device: &UsbDevice| {
            let ids = self.ids.map_or(!device.boards.is_empty(), |ids| ids == (device.vid, device.pid));
            ids && self.serial.as_deref().is_none_or(|serial| device.serial.as_deref() == Some(serial))
        };
        let mut fitting: Vec<UsbDevice> = machine.usb_devices().into_iter().filter(fits).collect();
        match (fitting.pop(), fitting.is_empty()) {
            (Some(device), true) => Ok(device),
            (Some(device), false) => {
                fitting.push(device);
                let candidates = fitting.iter().map(|device| (device.link(), describe(device))).collect();
                Err(LinkError::Ambiguous { candidates })
            }
            (None, _) if self.ids.is_none() => Err(LinkError::NoBoard),
            (None, _) => Err(LinkError::Missing { port: self.link() }),
        }
    }

    /// As it is written behind `--link`.
    fn link(&self) -> String {
        let ids = self.ids.map_or_else(String::new, |(vid, pid)| format!(":{vid:04x}:{pid:04x}"));
        let serial = self.serial.as_ref().map_or_else(String::new, |serial| format!(":{serial}"));
        format!("usb{ids}{serial}")
    }
}

/// What a device says it is, and where it is.
fn describe(device: &UsbDevice) -> String {
    format!("{} at USB {}", device.product.as_deref().unwrap_or("nameless"), device.place)
}

impl Target for Usb {
    fn open(&self, _asked: Asked<'_>) -> Result<Opened, Error> {
        let device = self.find(&Machine::default())?;
        Ok(Opened::new(UsbLink::open(&device)?))
    }
}

/// An open link to a board's USB chip.
pub struct UsbLink {
    pipe: Pipe,
    name: String,
    way: Way,
    baud: u32,
    /// Rates still to try.
    rates: VecDeque<u32>,
    begun: Instant,
}

impl UsbLink {
    /// Claims the interface of the UART, and sets the chip up at the first rate that the board may have.
    ///
    /// # Errors
    /// [`LinkError`]: no permission, in use, gone, no chip of FTDI's, no rate that it can do.
    pub fn open(device: &UsbDevice) -> Result<Self, LinkError> {
        // Boards of one chip have their UART at one place; without a board it is the last, as two-channel adapters have it.
        let known = device.boards.first().map(|board| board.usb.interface);
        let last = device.interfaces.iter().map(|interface| interface.number).max();
        let port = Chip::of(device)?.claim(known.or(last).unwrap_or(0))?;
        port.reset()?;
        port.set_line()?;
        port.set_latency(LATENCY)?;
        let way = if device.is_model { Way::Model } else { Way::Usb };
        let mut link = Self {
            name: device.link(),
            pipe: Pipe::new(port)?,
            way,
            baud: 0,
            rates: rates::of_boards(&device.boards),
            begun: Instant::now(),
        };
        if link.next_rate()? {
            return Ok(link);
        }
        Err(LinkError::Unsupported {
            link: link.name.clone(),
            why: "it can do no rate that a board has".to_owned(),
        })
    }
}

impl Link for UsbLink {
    fn level(&self, origin: Origin) -> Level {
        self.way.level(origin)
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        let before = from_board.len();
        let sent = self.pipe.send(to_board)?;
        self.pipe.receive(from_board, Duration::ZERO)?;
        if sent == 0 && from_board.len() == before {
            self.pipe.receive(from_board, WAIT)?;
        }
        Ok(())
    }

    fn time(&self) -> TimeBase {
        self.way.time(self.baud, LATENCY.into())
    }

    fn now(&self) -> u64 {
        // Five centuries of nanoseconds fit.
        self.begun.elapsed().as_nanos() as u64
    }

    fn cycles(&self) -> Option<u64> {
        None
    }

    fn rate(&self) -> Option<u32> {
        Some(self.baud)
    }

    fn next_rate(&mut self) -> Result<bool, LinkError> {
        while let Some(baud) = self.rates.pop_front() {
            let got = self.pipe.port().set_baud(baud)?;
            // A rate that this chip cannot do is none that the board behind it has.
            if rates::check(&self.name, baud, got).is_ok() {
                self.baud = baud;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
