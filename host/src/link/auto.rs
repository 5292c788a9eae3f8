//! The link `auto`: to the one board that is attached.

use super::LinkError;
use super::serial::Serial;
use super::target::{Asked, Kind, Opened, Read, Target, no_details};
use super::usb;
use crate::discover::{Machine, Port};
use crate::error::Error;
use std::sync::Arc;

pub(super) const KIND: Kind =
    Kind { name: "auto", form: "auto", about: "the one known board that is attached", read };

#[derive(Debug)]
struct Auto;

fn read(details: Option<&str>) -> Read {
    no_details(details)?;
    Ok(Arc::new(Auto))
}

impl Target for Auto {
    fn open(&self, asked: Asked<'_>) -> Result<Opened, Error> {
        let port = match the_one(&Machine::default()) {
            // The kernel makes no port of a chip without its driver: where there is none, or who took it off was killed.
            Err(LinkError::NoBoard) => {
                let mut opened = usb::any().open(asked)?;
                opened.notes.insert(0, "the link is usb: the board's chip has no serial port".to_owned());
                return Ok(opened);
            }
            port => port?,
        };
        let mut opened = Serial::new(port.path.clone(), None).open(asked)?;
        opened.notes.insert(0, format!("the link is {}, {}", port.link(), describe(&port)));
        Ok(opened)
    }
}

/// The ports where known boards have their UART.
pub fn candidates(machine: &Machine) -> Vec<Port> {
    machine.ports().into_iter().filter(|port| !port.boards.is_empty()).collect()
}

/// The one port where a known board has its UART.
///
/// # Errors
/// [`LinkError::NoBoard`]; [`LinkError::Ambiguous`] with all there are.
pub fn the_one(machine: &Machine) -> Result<Port, LinkError> {
    let mut ports = candidates(machine);
    match (ports.pop(), ports.is_empty()) {
        (None, _) => Err(LinkError::NoBoard),
        (Some(port), true) => Ok(port),
        (Some(port), false) => {
            ports.push(port);
            let candidates = ports.iter().map(|port| (port.link(), describe(port))).collect();
            Err(LinkError::Ambiguous { candidates })
        }
    }
}

/// What a port may be, and what tells it from others.
pub fn describe(port: &Port) -> String {
    let names: Vec<&str> = port.boards.iter().map(|board| board.name.as_str()).collect();
    let serial = port.usb.as_ref().and_then(|(device, _)| device.serial.as_deref());
    format!("{} (serial number {})", names.join(" or "), serial.unwrap_or("none"))
}
