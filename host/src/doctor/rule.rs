//! The udev rule, and the service that it keeps off the boards.

use super::{Check, Kind};
use crate::discover::Machine;
use std::path::PathBuf;
use systole_boards::udev::{FILE, RULES};

/// Where udev looks for rules. Of files with one name it takes the first.
const FOLDERS: [&str; 4] =
    ["etc/udev/rules.d", "run/udev/rules.d", "usr/local/lib/udev/rules.d", "usr/lib/udev/rules.d"];

/// Exists while udev runs.
const CONTROL: &str = "run/udev/control";

/// The service that opens every new serial port and talks to it as to a modem.
const MODEM_MANAGER: &str = "ModemManager";

/// Installs the rule, or brings it up to date.
pub const INSTALL_RULE: &str = "systole udev | sudo tee /etc/udev/rules.d/60-systole.rules >/dev/null && sudo udevadm \
                                control --reload && sudo udevadm trigger";

/// How the rule is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// As this program prints it.
    Current(PathBuf),
    /// Another text under its name: an older one, or a link to nothing that switches it off.
    Other(PathBuf),
    /// Not at all.
    Missing,
    /// udev does not run, so that no rule has an effect.
    NoUdev,
}

impl Rule {
    /// Looks for it.
    pub fn of(machine: &Machine) -> Self {
        if !machine.path(CONTROL).exists() {
            return Self::NoUdev;
        }
        let mut files = FOLDERS.iter().map(|folder| machine.path(folder).join(FILE));
        match files.find(|file| file.symlink_metadata().is_ok()) {
            Some(file) if std::fs::read(&file).is_ok_and(|text| text == RULES.as_bytes()) => {
                Self::Current(file)
            }
            Some(file) => Self::Other(file),
            None => Self::Missing,
        }
    }

    /// Whether it does what it is for.
    pub fn is_current(&self) -> bool {
        matches!(self, Self::Current(_))
    }

    pub(super) fn check(&self) -> Check {
        let install = |text: String| {
            Check::finding(Kind::UdevRule, text + "; install it, then plug the board in again", INSTALL_RULE)
        };
        match self {
            Self::Current(file) => Check::good(Kind::UdevRule, format!("{} is current", file.display())),
            Self::Other(file) => install(format!("{} is not what `systole udev` prints", file.display())),
            Self::Missing => install(format!("{FILE} is not installed")),
            Self::NoUdev => {
                Check::note(Kind::UdevRule, "udev does not run here, so that no rule has an effect")
            }
        }
    }
}

pub(super) fn modem_manager(machine: &Machine, rule: &Rule) -> Check {
    let kind = Kind::ModemManager;
    match (machine.running(MODEM_MANAGER).first(), rule) {
        (None, _) => Check::good(kind, "ModemManager does not run"),
        (Some(process), Rule::Current(_)) => {
            Check::good(kind, format!("{process} runs, and the udev rule keeps it off the boards"))
        }
        (Some(process), Rule::NoUdev) => Check::finding(
            kind,
            format!("{process} runs and talks to every new serial port for seconds; end it"),
            format!("sudo kill {}", process.pid),
        ),
        (Some(process), Rule::Other(_) | Rule::Missing) => Check::finding(
            kind,
            format!(
                "{process} runs and talks to every new serial port for seconds, unless the udev rule forbids it"
            ),
            INSTALL_RULE,
        ),
    }
}
