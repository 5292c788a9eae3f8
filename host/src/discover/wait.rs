//! Waiting for a device that comes back: after a flash it may leave and return under another number.

use super::{Access, Machine, Port, UsbDevice};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a device may take to come back.
pub const RETURN: Duration = Duration::from_secs(10);

/// Time between two looks.
const STEP: Duration = Duration::from_millis(50);

/// What a device lacked when the time was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// No device with its ids and serial number.
    Device,
    /// The device is there; its interface has no serial port.
    Port,
    /// There is a port, which this user may not open.
    Access(Access),
    /// The user asked to stop.
    Interrupted,
}

impl Machine {
    /// Waits until a USB device is there (again), for at most `limit`; [`RETURN`] is what boards need.
    ///
    /// # Errors
    /// What was still amiss then.
    pub fn wait_for_device(
        &self,
        before: &UsbDevice,
        limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<UsbDevice, Absent> {
        wait(limit, cancel, || {
            let found = self.again(before)?;
            if found.access.is_granted() { Ok(found) } else { Err(Absent::Access(found.access)) }
        })
    }

    /// Waits until the serial port of an interface of a USB device is there (again) and may be opened, for at most
    /// `limit`; [`RETURN`] is what boards need.
    ///
    /// # Errors
    /// What was still amiss then.
    pub fn wait_for_port(
        &self,
        before: &UsbDevice,
        interface: u8,
        limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Port, Absent> {
        wait(limit, cancel, || {
            let found = self.again(before)?;
            let interface = found.interfaces.iter().find(|candidate| candidate.number == interface);
            let path = interface.and_then(|interface| interface.port.as_ref()).ok_or(Absent::Port)?;
            let port = self.port(path).ok_or(Absent::Port)?;
            if port.access.is_granted() { Ok(port) } else { Err(Absent::Access(port.access)) }
        })
    }

    /// The device that is this one, as it is now.
    fn again(&self, before: &UsbDevice) -> Result<UsbDevice, Absent> {
        self.usb_devices().into_iter().find(|device| device.is_again(before)).ok_or(Absent::Device)
    }
}

fn wait<T>(
    limit: Duration,
    cancel: &AtomicBool,
    mut look: impl FnMut() -> Result<T, Absent>,
) -> Result<T, Absent> {
    let begun = Instant::now();
    loop {
        let absent = match look() {
            Ok(found) => return Ok(found),
            Err(absent) => absent,
        };
        if cancel.load(Ordering::Relaxed) {
            return Err(Absent::Interrupted);
        }
        if begun.elapsed() >= limit {
            return Err(absent);
        }
        std::thread::sleep(STEP);
    }
}
