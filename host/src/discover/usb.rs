//! USB devices.

use super::{Access, Machine, boards, entries, hexadecimal, name, target_name, text};
use std::path::{Path, PathBuf};
use systole_boards::Board;

/// Class of hubs.
const HUB: u16 = 0x09;

/// The controller to which the kernel attaches devices that software serves.
const SOFTWARE_CONTROLLER: &str = "vhci_hcd";

/// A USB device.
#[derive(Clone, Debug)]
pub struct UsbDevice {
    /// Its place, as the kernel calls it: bus, then ports.
    pub place: String,
    /// Number of the bus.
    pub bus: u32,
    /// Number on the bus; another after every re-plug.
    pub address: u32,
    /// Vendor.
    pub vid: u16,
    /// Product.
    pub pid: u16,
    /// What it says its maker is.
    pub manufacturer: Option<String>,
    /// What it says it is.
    pub product: Option<String>,
    /// What tells it from others of its kind.
    pub serial: Option<String>,
    /// Whether software serves it: a model, no hardware.
    pub is_model: bool,
    /// Its device file.
    pub path: PathBuf,
    /// Whether this user may open that.
    pub access: Access,
    /// Its interfaces, by number.
    pub interfaces: Vec<Interface>,
    /// The boards that have such a chip.
    pub boards: Vec<&'static Board>,
}

/// An interface of a USB device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its number, from 0.
    pub number: u8,
    /// The kernel's driver that has claimed it.
    pub driver: Option<String>,
    /// The serial port that the driver makes of it.
    pub port: Option<PathBuf>,
}

impl UsbDevice {
    /// What to give to `--link`.
    pub fn link(&self) -> String {
        let serial = self.serial.as_ref().map_or_else(String::new, |serial| format!(":{serial}"));
        format!("usb:{:04x}:{:04x}{serial}", self.vid, self.pid)
    }

    /// Whether this may be the same device, found again: by ids and serial number, without one by its place.
    pub fn is_again(&self, before: &Self) -> bool {
        let same = (self.vid, self.pid, &self.serial) == (before.vid, before.pid, &before.serial);
        same && (self.serial.is_some() || self.place == before.place)
    }
}

pub(super) fn all(machine: &Machine) -> Vec<UsbDevice> {
    let entries = entries(&machine.path("sys/bus/usb/devices"));
    let directories = entries.iter().filter_map(|entry| entry.canonicalize().ok());
    directories
        .filter(|path| hexadecimal(&path.join("bDeviceClass")) != Some(HUB))
        .filter_map(|path| read(machine, &path))
        .collect()
}

/// The device whose directory this is, if it is one's.
pub(super) fn read(machine: &Machine, directory: &Path) -> Option<UsbDevice> {
    let number = |file: &str| text(&directory.join(file))?.parse().ok();
    let (vid, pid) = (hexadecimal(&directory.join("idVendor"))?, hexadecimal(&directory.join("idProduct"))?);
    let (bus, address) = (number("busnum")?, number("devnum")?);
    let place = name(directory);
    let path = machine.path(&format!("dev/bus/usb/{bus:03}/{address:03}"));
    let product = text(&directory.join("product"));
    let is_interface =
        |path: &&PathBuf| name(path).strip_prefix(&place).is_some_and(|rest| rest.starts_with(':'));
    Some(UsbDevice {
        interfaces: entries(directory)
            .iter()
            .filter(is_interface)
            .filter_map(|path| interface(machine, path))
            .collect(),
        boards: boards(vid, pid, product.as_deref(), None),
        manufacturer: text(&directory.join("manufacturer")),
        serial: text(&directory.join("serial")),
        is_model: directory
            .components()
            .any(|part| part.as_os_str().to_string_lossy().starts_with(SOFTWARE_CONTROLLER)),
        access: Access::of(&path, &machine.path("etc/group")),
        place,
        bus,
        address,
        vid,
        pid,
        product,
        path,
    })
}

fn interface(machine: &Machine, directory: &Path) -> Option<Interface> {
    let number = hexadecimal(&directory.join("bInterfaceNumber"))? as u8;
    // A USB-serial driver has a directory of the port's name here; a modem's has it within `tty`.
    let ports = entries(directory).into_iter().chain(entries(&directory.join("tty")));
    let port = ports.map(|path| name(&path)).find(|name| name.starts_with("tty") && name != "tty");
    let port = port.map(|name| machine.path("dev").join(name));
    Some(Interface { number, driver: target_name(&directory.join("driver")), port })
}
