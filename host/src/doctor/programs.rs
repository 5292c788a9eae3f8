//! Programs: those that make images, and the one that writes them to most boards.

use super::{Check, Kind, State};
use crate::discover::UsbDevice;
use crate::flash::loader::{self, Loader};
use std::ffi::OsStr;
use systole_boards::{Programmer, device::Family};
use systole_firmware::build::tools_of;
use systole_firmware::toolchain::{INSTALL_COMMAND, Tool, Toolchain};

/// A check for every tool that is there, and one for all that are not: a finding if no image can be made at all, or none
/// for a board that is attached.
pub(super) fn tools(toolchain: &Toolchain, devices: &[UsbDevice]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    for tool in Tool::ALL {
        match toolchain.find(tool) {
            Ok(found) => checks.push(Check::good(Kind::Tool, found.identity().trim_end())),
            Err(_) if tool.is_required() => missing.push(tool),
            Err(_) => checks
                .push(Check::note(Kind::Tool, format!("{tool} is missing; images can be made without it"))),
        }
    }
    let lacks = |family| tools_of(family).iter().any(|tool| missing.contains(tool));
    let without: Vec<Family> = Family::ALL.into_iter().filter(|&family| lacks(family)).collect();
    if without.is_empty() {
        return checks;
    }
    let waiting = devices.iter().find(|device| device.boards.iter().any(|board| lacks(board.fpga.family)));
    let families: Vec<&str> = without.iter().map(|family| family.name()).collect();
    let names: Vec<&str> = missing.iter().map(|tool| tool.name()).collect();
    let who = waiting
        .map_or_else(String::new, |device| format!(" (the board at {} is one)", device.path.display()));
    let text = format!(
        "no image can be made for {}{who}: {} missing or too old",
        families.join(", "),
        names.join(", ")
    );
    let is_finding = waiting.is_some() || without.len() == Family::ALL.len();
    let state = if is_finding { State::Finding } else { State::Note };
    checks.push(Check { kind: Kind::Tool, state, text, fix: Some(INSTALL_COMMAND.to_owned()) });
    checks
}

/// openFPGALoader, which only some boards need.
pub(super) fn programmer(search_path: &OsStr, devices: &[UsbDevice]) -> Check {
    let kind = Kind::Programmer;
    let needs = |device: &&UsbDevice| {
        device.boards.iter().any(|board| board.program.tool == Programmer::OpenFpgaLoader)
    };
    match Loader::find(search_path) {
        Ok(loader) => Check::good(kind, format!("{loader} at {}", loader.program.display())),
        Err(_) => {
            let needed = devices.iter().find(needs);
            let who = needed.map_or("boards that are not attached need it".to_owned(), |device| {
                format!("the board at {} needs it", device.path.display())
            });
            let state = if needed.is_some() { State::Finding } else { State::Note };
            let text = format!("openFPGALoader is missing; {who}");
            Check { kind, state, text, fix: Some(loader::INSTALL.to_owned()) }
        }
    }
}
