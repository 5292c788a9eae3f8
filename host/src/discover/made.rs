//! For tests: machines made in a directory.

use super::Machine;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A directory that looks like `/`.
pub(crate) struct Made(pub(crate) TempDir);

impl Made {
    /// An empty machine.
    pub(crate) fn new() -> Self {
        let made = Self(tempfile::tempdir().expect("a directory"));
        for directory in ["sys/class/tty", "sys/bus/usb/devices", "dev/bus/usb", "etc", "proc"] {
            fs::create_dir_all(made.0.path().join(directory)).expect("made");
        }
        made
    }

    /// What discovery looks at.
    pub(crate) fn machine(&self) -> Machine {
        Machine::at(self.0.path())
    }

    /// Writes a file, and makes its directories.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("in a directory")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// Links a path to another.
    pub(crate) fn link(&self, path: &str, to: &str) {
        let (path, to) = (self.0.path().join(path), self.0.path().join(to));
        fs::create_dir_all(path.parent().expect("in a directory")).expect("made");
        symlink(to, path).expect("linked");
    }

    /// A USB device at `controller/place`, with these ids and texts.
    pub(crate) fn usb(&self, directory: &str, address: u32, ids: &str, product: &str, serial: &str) {
        let place = directory.rsplit('/').next().expect("a name");
        let (vid, pid) = ids.split_once(':').expect("two ids");
        let device_class = if product == "hub" { "09" } else { "00" };
        for (file, text) in [
            ("idVendor", vid),
            ("idProduct", pid),
            ("busnum", "1"),
            ("devnum", &address.to_string()),
            ("bDeviceClass", device_class),
            ("product", product),
            ("serial", serial),
        ] {
            self.write(&format!("sys/{directory}/{file}"), &format!("{text}\n"));
        }
        self.link(&format!("sys/bus/usb/devices/{place}"), &format!("sys/{directory}"));
        self.write(&format!("dev/bus/usb/001/{address:03}"), "");
    }

    /// An interface of a USB device, with a port that ftdi_sio makes of it.
    pub(crate) fn ftdi_port(&self, directory: &str, number: u8, port: &str) {
        let place = directory.rsplit('/').next().expect("a name");
        let interface = format!("sys/{directory}/{place}:1.{number}");
        self.write(&format!("{interface}/bInterfaceNumber"), &format!("{number:02}\n"));
        self.write(&format!("{interface}/{port}/latency_timer"), "16\n");
        self.write("sys/bus/usb-serial/drivers/ftdi_sio/bind", "");
        self.link(&format!("{interface}/driver"), "sys/bus/usb-serial/drivers/ftdi_sio");
        self.link(&format!("{interface}/{port}/driver"), "sys/bus/usb-serial/drivers/ftdi_sio");
        self.link(&format!("sys/class/tty/{port}/device"), &format!("{interface}/{port}"));
        self.write(&format!("dev/{port}"), "");
    }
}
