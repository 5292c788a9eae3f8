//! The link `usb`: straight to the USB chip of a board.

use super::LinkError;
use super::target::{Asked, Kind, Opened, Read, Target};
use crate::error::Error;
use std::sync::Arc;

pub(super) const KIND: Kind = Kind {
    name: "usb",
    form: "usb[:VID:PID[:SERIAL]]",
    about: "a board's USB chip itself, the system's driver set aside",
    read,
};

/// Which USB device.
#[derive(Clone, Debug)]
struct Usb {
    /// Vendor and product; `None` for those of any known board.
    ids: Option<(u16, u16)>,
    /// Serial number, where one was given.
    serial: Option<String>,
}

fn read(details: Option<&str>) -> Read {
    let Some(details) = details else { return Ok(Arc::new(Usb { ids: None, serial: None })) };
    let mut parts = details.splitn(3, ':');
    let mut id = || u16::from_str_radix(parts.next()?, 16).ok();
    let wrong = || format!("VID and PID are two hexadecimal numbers of up to four digits, not '{details}'");
    let ids = id().zip(id()).ok_or_else(wrong)?;
    match parts.next() {
        Some("") => Err("the serial number is empty".to_owned()),
        serial => Ok(Arc::new(Usb { ids: Some(ids), serial: serial.map(str::to_owned) })),
    }
}

impl Target for Usb {
    fn open(&self, _asked: Asked<'_>) -> Result<Opened, Error> {
        let ids = self.ids.map_or_else(String::new, |(vid, pid)| format!(":{vid:04x}:{pid:04x}"));
        let serial = self.serial.as_ref().map_or_else(String::new, |serial| format!(":{serial}"));
        let why = "this build has no link of its own to USB chips; use the port that the system makes of it, \
                   --link serial:PATH (see `systole list`)";
        Err(LinkError::Unsupported { link: format!("usb{ids}{serial}"), why: why.to_owned() }.into())
    }
}
