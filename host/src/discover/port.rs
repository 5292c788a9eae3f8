//! Serial ports.

use super::usb::{self, UsbDevice};
use super::{Access, Holder, Machine, boards, entries, hexadecimal, name, target_name, text};
use std::path::{Path, PathBuf};
use systole_boards::Board;

/// A serial port.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its device file.
    pub path: PathBuf,
    /// The kernel's driver, such as `ftdi_sio`.
    pub driver: Option<String>,
    /// The USB device it belongs to, and the interface there.
    pub usb: Option<(UsbDevice, u8)>,
    /// Whether this user may open it.
    pub access: Access,
    /// Who has it open.
    pub holders: Vec<Holder>,
    /// Milliseconds that an FTDI chip waits for more bytes before it sends the ones it has.
    pub latency_timer: Option<u32>,
    /// The boards that have their UART at such a port.
    pub boards: Vec<&'static Board>,
}

impl Port {
    /// What to give to `--link`.
    pub fn link(&self) -> String {
        format!("serial:{}", self.path.display())
    }

    /// The file in which the kernel keeps the latency timer of this port.
    pub(crate) fn latency_file(&self, machine: &Machine) -> PathBuf {
        class(machine).join(name(&self.path)).join("device/latency_timer")
    }
}

fn class(machine: &Machine) -> PathBuf {
    machine.path("sys/class/tty")
}

pub(super) fn all(machine: &Machine) -> Vec<Port> {
    entries(&class(machine)).iter().filter_map(|entry| read(machine, entry)).collect()
}

pub(super) fn at(machine: &Machine, path: &Path) -> Option<Port> {
    let path = path.canonicalize().ok()?;
    let known =
        path.parent().is_some_and(|parent| machine.path("dev").canonicalize().is_ok_and(|dev| dev == parent));
    read(machine, &class(machine).join(name(&path))).filter(|_| known)
}

/// The port of an entry of `/sys/class/tty`, if it is one with hardware behind it.
fn read(machine: &Machine, entry: &Path) -> Option<Port> {
    let device = entry.join("device").canonicalize().ok()?;
    // The kernel lists ports of a PC that it has not found as of type 0.
    if text(&entry.join("type")).as_deref() == Some("0") {
        return None;
    }
    let interface = device.ancestors().find_map(|path| hexadecimal(&path.join("bInterfaceNumber")));
    let usb = device
        .ancestors()
        .find_map(|path| usb::read(machine, path))
        .zip(interface.map(|number| number as u8));
    let path = machine.path("dev").join(name(entry));
    let boards = usb.as_ref().map_or_else(Vec::new, |(device, interface)| {
        boards(device.vid, device.pid, device.product.as_deref(), Some(*interface))
    });
    Some(Port {
        driver: target_name(&device.join("driver")),
        access: Access::of(&path, &machine.path("etc/group")),
        holders: machine.holders(&path),
        latency_timer: text(&device.join("latency_timer")).and_then(|text| text.parse().ok()),
        path,
        usb,
        boards,
    })
}
