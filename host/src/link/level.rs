//! How real a result is.

use std::fmt;

/// How real a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The software backend behind a model of the wire.
    Software,
    /// The gateware, simulated in rust-hdl.
    RustHdl,
    /// A simulated board behind a pseudo-terminal.
    VirtualBoard,
    /// A simulated board behind a model of its USB chip, on the real USB stack.
    UsbStack,
    /// An FPGA on a physical USB device.
    RealBoard,
    /// What answers says one thing and the way to it another, or nobody knows the way.
    Unverified,
}

impl Level {
    /// The name, as in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Software => "software",
            Self::RustHdl => "rust-hdl",
            Self::VirtualBoard => "virtual-board",
            Self::UsbStack => "usb-stack",
            Self::RealBoard => "real-board",
            Self::Unverified => "unverified",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
