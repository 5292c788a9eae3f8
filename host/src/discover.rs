//! What is plugged in: serial ports and USB devices, and the boards that they may be.
//!
//! Everything is read from sysfs and /proc, anew at each call. (serialport's own list knows neither the driver, nor who
//! holds a port, nor whether the device is a model, and it looks at no other root than the system's.)

mod access;
mod holder;
#[cfg(test)]
pub(crate) mod made;
mod port;
mod usb;
mod wait;

pub use access::Access;
pub use holder::Holder;
pub use port::Port;
pub use usb::{Interface, UsbDevice};
pub use wait::{Absent, RETURN};

use std::fs;
use std::path::{Path, PathBuf};
use systole_boards::{Board, all};

/// Where a system keeps its devices.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
}

impl Default for Machine {
    /// This machine.
    fn default() -> Self {
        Self::at("/")
    }
}

impl Machine {
    /// A machine whose `sys`, `proc`, `dev` and `etc` are in this directory.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The serial ports that have hardware behind them, in the order of their names.
    pub fn ports(&self) -> Vec<Port> {
        port::all(self)
    }

    /// The serial port of this path, by whatever links it is reached; `None` where the path is none that the system
    /// lists, such as a pseudo-terminal's.
    pub fn port(&self, path: &Path) -> Option<Port> {
        port::at(self, path)
    }

    /// The USB devices that are no hubs, in the order of their places.
    pub fn usb_devices(&self) -> Vec<UsbDevice> {
        usb::all(self)
    }

    /// The processes of this name, as the kernel cuts it.
    pub fn running(&self, name: &str) -> Vec<Holder> {
        holder::running(self, name)
    }

    /// The processes that have a file open, as far as this user may see.
    ///
    /// Whoever serves a pseudo-terminal is none of them: it is the other end.
    pub fn holders(&self, path: &Path) -> Vec<Holder> {
        holder::of(self, path)
    }

    /// The processes besides this one that have a file open.
    pub fn others(&self, path: &Path) -> Vec<Holder> {
        let mut holders = self.holders(path);
        holders.retain(|holder| holder.pid != std::process::id());
        holders
    }
}

/// The boards whose USB chip says this of itself; with `interface`, only those that have their UART there.
fn boards(vid: u16, pid: u16, product: Option<&str>, interface: Option<u8>) -> Vec<&'static Board> {
    // A board file with something wrong is what every command about boards reports; here it only means no guess.
    let boards = all().unwrap_or_default().iter();
    let fits = |board: &&Board| {
        let usb = &board.usb;
        let named = |product: &str| usb.products.iter().any(|known| product.contains(known.as_str()));
        (usb.vid, usb.pid) == (vid, pid)
            && (usb.products.is_empty() || product.is_some_and(named))
            && interface.is_none_or(|interface| interface == usb.interface)
    };
    boards.filter(fits).collect()
}

/// The text of a small file, without the white space around it; `None` where there is none.
fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A number in hexadecimal, as sysfs has ids and interfaces.
fn hexadecimal(path: &Path) -> Option<u16> {
    u16::from_str_radix(&text(path)?, 16).ok()
}

/// The name of the file that a link points to, as sysfs names drivers.
fn target_name(link: &Path) -> Option<String> {
    Some(fs::read_link(link).ok()?.file_name()?.to_string_lossy().into_owned())
}

/// The entries of a directory by name, shorter names first so that numbers are in order; none where there is none.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
