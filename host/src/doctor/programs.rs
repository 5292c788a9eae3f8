//! Programs: those that make images, and the one that writes them to most boards.

use super::{Check, Kind, State};
use crate::discover::UsbDevice;
use crate::flash::loader::{self, Loader};
use std::ffi::OsStr;
use systole_boards::Programmer;
use systole_firmware::toolchain::{INSTALL_COMMAND, Tool, Toolchain};

/// A check for every tool that is there, and one for all that are not.
pub(super) fn tools(toolchain: &Toolchain) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    for tool in Tool::ALL {
        match toolchain.find(tool) {
            Ok(found) => checks.push(Check::good(Kind::Tool, found.identity().trim_end())),
            Err(_) if tool.is_required() => missing.push(tool.name()),
            Err(_) => checks
                .push(Check::note(Kind::Tool, format!("{tool} is missing; images can be made without it"))),
        }
    }
    if !missing.is_empty() {
        let text =
            format!("images cannot be made for every board: {} missing or too old", missing.join(", "));
        checks.push(Check::finding(Kind::Tool, text, INSTALL_COMMAND));
    }
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
