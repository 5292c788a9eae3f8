//! Finding one chip among those attached.

use super::baud::Generation;
use super::error::UsbError;
use super::request::Port;
use nusb::{DeviceInfo, MaybeFuture};
use std::fmt;
use std::str::FromStr;
use systole_boards::Usb;

/// Which chip is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Vendor and product; without them, those of every known board.
    pub ids: Option<(u16, u16)>,
    /// Serial number.
    pub serial: Option<String>,
}

impl FromStr for Selector {
    type Err = UsbError;

    /// Reads `VID:PID` or `VID:PID:SERIAL`, or nothing.
    fn from_str(text: &str) -> Result<Self, UsbError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let wrong = || UsbError::Selector(text.to_owned());
        let id = |text: &str| u16::from_str_radix(text, 16).map_err(|_| wrong());
        let mut parts = text.splitn(3, ':');
        let (Some(vid), Some(pid)) = (parts.next(), parts.next()) else { return Err(wrong()) };
        let serial = parts.next().map(str::to_owned);
        if serial.as_deref() == Some("") {
            return Err(wrong());
        }
        Ok(Self { ids: Some((id(vid)?, id(pid)?)), serial })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ids, &self.serial) {
            (Some((vid, pid)), None) => write!(f, "{vid:04x}:{pid:04x}"),
            (Some((vid, pid)), Some(serial)) => write!(f, "{vid:04x}:{pid:04x}:{serial}"),
            (None, None) => f.write_str("a known board"),
            (None, Some(serial)) => write!(f, "a known board with serial number {serial}"),
        }
    }
}

impl Selector {
    fn fits(&self, chip: &Chip) -> bool {
        let ids = self.ids.map_or_else(|| chip.board_usb().is_some(), |ids| ids == chip.ids());
        ids && self.serial.as_deref().is_none_or(|serial| chip.info.serial_number() == Some(serial))
    }
}

/// A chip that is attached.
#[derive(Clone, Debug)]
pub struct Chip {
    info: DeviceInfo,
}

impl Chip {
    /// Vendor and product.
    pub fn ids(&self) -> (u16, u16) {
        (self.info.vendor_id(), self.info.product_id())
    }

    /// What nusb knows of it.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The selector that means this chip.
    pub fn selector(&self) -> Selector {
        Selector { ids: Some(self.ids()), serial: self.info.serial_number().map(str::to_owned) }
    }

    /// Whether it is a model in software, behind the kernel's virtual host controller.
    pub fn is_model(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.info.sysfs_path().to_string_lossy().contains("vhci_hcd");
        #[cfg(not(target_os = "linux"))]
        return false;
    }

    /// The interface of the UART: as known of boards with these ids, else the last, which is the one that two-channel
    /// programmers leave free.
    pub fn uart_interface(&self) -> u8 {
        let last = || self.info.interfaces().map(nusb::InterfaceInfo::interface_number).max().unwrap_or(0);
        self.board_usb().map_or_else(last, |usb| usb.interface)
    }

    /// Claims an interface, from the kernel's driver if need be, which gets it back when it is dropped.
    ///
    /// # Errors
    /// No permission, in use, unplugged, no such interface, no chip of FTDI's.
    pub fn claim(&self, interface: u8) -> Result<Port, UsbError> {
        let name = self.to_string();
        let release = self.info.device_version();
        let not_ftdi = |missing: String| UsbError::NotFtdi { device: name.clone(), missing };
        let generation = Generation::of_release(release)
            .ok_or_else(|| not_ftdi(format!("a known release (it says {release:04x})")))?;
        if !self.info.interfaces().any(|known| known.interface_number() == interface) {
            return Err(not_ftdi(format!("an interface {interface}")));
        }
        let several = self.info.interfaces().count() > 1;
        let opened = self.info.open().wait().map_err(|error| UsbError::open(&name, "opening it", &error))?;
        let claimed = opened.detach_and_claim_interface(interface).wait();
        let claimed = claimed.map_err(|error| UsbError::open(&name, "claiming its interface", &error))?;
        Ok(Port::new(claimed, name, generation, several))
    }

    /// The USB side of a known board with these ids.
    fn board_usb(&self) -> Option<&'static Usb> {
        let boards = systole_boards::all().unwrap_or_default();
        boards.iter().map(|board| &board.usb).find(|usb| (usb.vid, usb.pid) == self.ids())
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "USB device {}", self.selector())?;
        self.info.product_string().map_or(Ok(()), |product| write!(f, " ({product})"))
    }
}

/// All USB devices.
///
/// # Errors
/// The system has no USB.
pub fn attached() -> Result<Vec<Chip>, UsbError> {
    let devices = nusb::list_devices().wait().map_err(UsbError::NoUsb)?;
    Ok(devices.map(|info| Chip { info }).collect())
}

/// The one chip that fits.
///
/// # Errors
/// None or several fit, with the candidates; the system has no USB.
pub fn find(selector: &Selector) -> Result<Chip, UsbError> {
    let all = attached()?;
    let mut fitting: Vec<Chip> = all.iter().filter(|chip| selector.fits(chip)).cloned().collect();
    let wanted = selector.to_string();
    match (fitting.pop(), fitting.is_empty()) {
        (Some(chip), true) => Ok(chip),
        (Some(chip), false) => {
            fitting.push(chip);
            let candidates = fitting.iter().map(|chip| format!("usb:{}", chip.selector())).collect();
            Err(UsbError::Several { wanted, candidates })
        }
        (None, _) => {
            // Hubs are no answer to anything.
            let others = all.iter().filter(|chip| chip.info.class() != 9);
            let names: Vec<String> = others.map(ToString::to_string).collect();
            let attached = if names.is_empty() {
                "none is attached".to_owned()
            } else {
                format!("attached: {}", names.join(", "))
            };
            Err(UsbError::NotFound { wanted, attached })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_and_written() {
        let read = |text: &str| text.parse::<Selector>();
        assert_eq!(read("").expect("any"), Selector::default());
        let with_serial = Selector { ids: Some((0x0403, 0x6010)), serial: Some("a:b".to_owned()) };
        assert_eq!(read("0403:6010:a:b").expect("three parts"), with_serial);
        assert_eq!(with_serial.to_string(), "0403:6010:a:b");
        assert_eq!(read("403:6010").expect("short id").to_string(), "0403:6010");
        for wrong in ["0403", "0403:", "x:6010", "0403:6010:", "10403:6010"] {
            let error = read(wrong).expect_err("wrong").to_string();
            assert!(error.contains(wrong) && error.contains("VID:PID:SERIAL"), "{error}");
        }
    }
}
