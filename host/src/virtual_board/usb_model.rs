//! A board with an FT2232H in software, plugged into a real Linux USB stack.
//!
//! The kernel's virtual host controller (`vhci_hcd`) takes a device at the other end of a socket. What is at that end here is
//! an FT2232H: its first port is the command engine with a W25Q128 flash and an iCE40's configuration logic on its wires, its
//! second one the UART of whatever design the FPGA has started, if it has. The design stands in the label of the image:
//! erase the flash, and the UART falls silent; write another image, and another design answers.
//!
//! Everything below the socket is real: `ftdi_sio`, usbfs, and any program that uses them.

mod channel;
mod device;
mod fabric;
mod flash;
mod ft2232h;
mod ice40;
mod image;
mod mpsse;
mod serve;
mod usbip;
mod vhci;

pub use device::{Device, Setup, Stall};
pub use fabric::Gateware;
pub use flash::Flash;
pub use ft2232h::{Board, Ft2232h, Handle};
pub use ice40::Wiring;
pub use image::labelled;
pub use vhci::{ModelError, Plugged, plug};

#[cfg(test)]
mod tests;
