//! What on this machine keeps boards from working, and the command that mends it.
//!
//! Nothing is changed. What is looked at is given: a [`Machine`], which a test can make in a folder, and the places of
//! programs.

mod ports;
mod programs;
mod rule;

use crate::discover::Machine;
use std::ffi::OsString;
use systole_firmware::toolchain::Toolchain;

pub use rule::{INSTALL_RULE, Rule};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Good,
    /// Worth knowing; nothing that is asked for fails by it.
    Note,
    /// Something fails by it.
    Finding,
}

impl State {
    /// The name, as in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Finding => "finding",
        }
    }
}

/// What was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The udev rule.
    UdevRule,
    /// The service that takes any new serial port for a modem's.
    ModemManager,
    /// Whether a known board is attached.
    Boards,
    /// Whether a serial port may be opened.
    Port,
    /// Whether a USB chip may be opened.
    UsbDevice,
    /// Whether a port or a chip is free.
    Holder,
    /// How long an FTDI chip keeps bytes back.
    LatencyTimer,
    /// A program that makes images.
    Tool,
    /// The program that writes images where this one does not itself.
    Programmer,
}

impl Kind {
    /// The name, as in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UdevRule => "udev-rule",
            Self::ModemManager => "modem-manager",
            Self::Boards => "boards",
            Self::Port => "port",
            Self::UsbDevice => "usb-device",
            Self::Holder => "holder",
            Self::LatencyTimer => "latency-timer",
            Self::Tool => "tool",
            Self::Programmer => "programmer",
        }
    }
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What kind of thing.
    pub kind: Kind,
    /// How it is.
    pub state: State,
    /// What it is about, and how that is.
    pub text: String,
    /// The command that mends it.
    pub fix: Option<String>,
}

impl Check {
    fn good(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, state: State::Good, text: text.into(), fix: None }
    }

    fn note(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, state: State::Note, text: text.into(), fix: None }
    }

    fn finding(kind: Kind, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { kind, state: State::Finding, text: text.into(), fix: Some(fix.into()) }
    }
}

/// Who asks, and where their programs are.
#[derive(Clone, Debug)]
pub struct Person {
    /// Their name, as groups list it; `None` where the system does not tell.
    pub name: Option<String>,
    /// Where the programs that make images are looked for.
    pub toolchain: Toolchain,
    /// Where other programs are, in the form of the variable `PATH`.
    pub search_path: OsString,
}

/// Looks at everything; in the order in which it is best mended.
pub fn examine(machine: &Machine, person: &Person) -> Vec<Check> {
    let rule = Rule::of(machine);
    let (ports, devices) = (machine.ports(), machine.usb_devices());
    let mut checks = vec![rule.check(), rule::modem_manager(machine, &rule)];
    checks.extend(ports::check_all(machine, person.name.as_deref(), &rule, &ports, &devices));
    checks.extend(programs::tools(&person.toolchain, &devices));
    checks.push(programs::programmer(&person.search_path, &devices));
    checks
}

#[cfg(test)]
mod tests;
