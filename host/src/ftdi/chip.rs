//! A chip that is attached, as nusb knows it.

use super::baud::Generation;
use super::request::Port;
use crate::discover::{Machine, UsbDevice};
use crate::link::LinkError;
use nusb::{DeviceInfo, ErrorKind, MaybeFuture};

/// A chip that is attached.
#[derive(Clone, Debug)]
pub struct Chip {
    device: UsbDevice,
    info: DeviceInfo,
}

impl Chip {
    /// The chip of a device that was found.
    ///
    /// # Errors
    /// It is not there any more.
    pub fn of(device: &UsbDevice) -> Result<Self, LinkError> {
        let port = device.link();
        let devices =
            nusb::list_devices().wait().map_err(|error| opening(device, "listing USB devices", error))?;
        let same = |info: &DeviceInfo| {
            u32::from(info.busnum()) == device.bus && u32::from(info.device_address()) == device.address
        };
        let info = devices.into_iter().find(same).ok_or(LinkError::Closed { port })?;
        Ok(Self { device: device.clone(), info })
    }

    /// What was found.
    pub fn device(&self) -> &UsbDevice {
        &self.device
    }

    /// What nusb knows of it.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Claims an interface, from the kernel's driver if need be, which gets it back when it is dropped.
    ///
    /// # Errors
    /// No permission, in use, unplugged, no such interface, no chip of FTDI's.
    pub fn claim(&self, interface: u8) -> Result<Port, LinkError> {
        let device = &self.device;
        let (link, release) = (device.link(), self.info.device_version());
        let unsupported = |why: String| LinkError::Unsupported { link: link.clone(), why };
        let generation = Generation::of_release(release).ok_or_else(|| {
            unsupported(format!(
                "its release {release:04x} is that of no chip of FTDI's; use --link serial:PATH"
            ))
        })?;
        if !device.interfaces.iter().any(|known| known.number == interface) {
            return Err(unsupported(format!("it has no interface {interface}")));
        }
        let opened = self.info.open().wait().map_err(|error| opening(device, "opening it", error))?;
        let interface = opened.detach_and_claim_interface(interface).wait();
        let interface = interface.map_err(|error| opening(device, "claiming its interface", error))?;
        Ok(Port::new(interface, link, generation, device.interfaces.len() > 1))
    }
}

/// What an error of opening or claiming means.
pub(crate) fn opening(device: &UsbDevice, doing: &'static str, error: nusb::Error) -> LinkError {
    let port = device.link();
    match error.kind() {
        ErrorKind::PermissionDenied => LinkError::Permission { port, access: device.access.clone() },
        ErrorKind::Busy => LinkError::Busy { port, holders: Machine::default().holders(&device.path) },
        ErrorKind::Disconnected | ErrorKind::NotFound => LinkError::Closed { port },
        _ => LinkError::Io { port, doing, source: error.into() },
    }
}
