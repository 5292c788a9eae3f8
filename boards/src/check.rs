//! Whether a board can be what its file says.

use crate::board::{Board, Fact, Pin, Programmer};
use crate::error::BoardError;
use std::collections::{HashMap, HashSet};

/// Public sources that must state each group of pins.
const PIN_SOURCES: usize = 2;

/// Public sources that must state the ids of the USB chip: few places do, and the device itself tells them.
const USB_SOURCES: usize = 1;

impl Board {
    /// Every pin in use, by its key in the file.
    pub fn pins(&self) -> Vec<(String, &Pin)> {
        let fixed = [
            ("clock.pin", &self.clock.pin),
            ("uart.rx", &self.uart.rx),
            ("uart.tx", &self.uart.tx),
            ("leds.idle", &self.leds.idle),
            ("leds.busy", &self.leds.busy),
            ("leds.error", &self.leds.error),
        ];
        let ties = self.ties.iter().map(|tie| (format!("ties.{}", tie.name), &tie.pin));
        fixed.into_iter().map(|(key, pin)| (key.to_owned(), pin)).chain(ties).collect()
    }

    /// Whether the design needs a PLL between the oscillator and its clock.
    pub fn needs_pll(&self) -> bool {
        self.parameters.clock_hz != self.clock.hz
    }
}

/// Checks the names of a file's boards.
pub fn names(file: &str, boards: &[Board]) -> Result<(), BoardError> {
    let own = || file.to_owned();
    if boards.is_empty() {
        return Err(BoardError::NoVariant { file: own() });
    }
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    let mut seen = HashSet::new();
    for board in boards {
        let name = board.name.clone();
        let rest = name.strip_prefix(stem).filter(|rest| rest.is_empty() || rest.starts_with('-'));
        if rest.is_none() || name != name.to_lowercase() {
            return Err(BoardError::Name { file: own(), name, stem: stem.to_owned() });
        }
        if !seen.insert(&board.name) {
            return Err(BoardError::NameTwice { file: own(), name });
        }
    }
    Ok(())
}

/// Checks all else.
pub fn board(file: &str, board: &Board) -> Result<(), BoardError> {
    device(file, board)?;
    pins(file, board)?;
    design(file, board)?;
    program(file, board)?;
    sources(file, board)
}

fn device(file: &str, board: &Board) -> Result<(), BoardError> {
    let fpga = &board.fpga;
    let unknown = |key, value: Option<&str>, known| BoardError::Unknown {
        file: file.to_owned(),
        key,
        family: fpga.family.name(),
        value: value.unwrap_or_default().to_owned(),
        known,
    };
    let Some(device) = fpga.family.device(&fpga.device) else {
        let known = fpga.family.devices().map(|device| device.name).collect();
        return Err(unknown("device", Some(&fpga.device), known));
    };
    if !device.packages.contains(&fpga.package.as_str()) {
        return Err(unknown("package", Some(&fpga.package), device.packages.to_vec()));
    }
    match fpga.speed.as_deref() {
        Some(speed) if device.speeds.contains(&speed) => Ok(()),
        None if device.speeds.is_empty() => Ok(()),
        speed => Err(unknown("speed", speed, device.speeds.to_vec())),
    }
}

fn pins(file: &str, board: &Board) -> Result<(), BoardError> {
    let wanted = board.fpga.family.has_standards();
    let mut uses: HashMap<&str, String> = HashMap::new();
    for (key, pin) in board.pins() {
        if pin.standard.is_some() != wanted {
            return Err(BoardError::Standard { file: file.to_owned(), key, wanted });
        }
        if let Some(first) = uses.insert(&pin.at, key.clone()) {
            return Err(BoardError::PinTwice {
                file: file.to_owned(),
                pin: pin.at.clone(),
                first,
                second: key,
            });
        }
    }
    Ok(())
}

fn design(file: &str, board: &Board) -> Result<(), BoardError> {
    let (own, name) = (|| file.to_owned(), || board.name.clone());
    let p = &board.parameters;
    p.check().map_err(|error| BoardError::Design { file: own(), board: name(), error })?;
    if p.baud > board.usb.max_baud {
        return Err(BoardError::BaudOfUsb {
            file: own(),
            board: name(),
            baud: p.baud,
            max: board.usb.max_baud,
        });
    }
    if board.needs_pll() && board.pll.is_none() {
        let (design, oscillator) = (p.clock_hz, board.clock.hz);
        return Err(BoardError::NoPll { file: own(), board: name(), design, oscillator });
    }
    if p.n > board.largest.n {
        return Err(BoardError::Largest { file: own(), board: name(), n: p.n, largest: board.largest.n });
    }
    Ok(())
}

fn program(file: &str, board: &Board) -> Result<(), BoardError> {
    let program = &board.program;
    if !program.memories.contains(&program.memory) {
        return Err(BoardError::Memory { file: file.to_owned(), memory: program.memory });
    }
    if program.tool == Programmer::OpenFpgaLoader && program.target.is_none() {
        return Err(BoardError::Target { file: file.to_owned() });
    }
    Ok(())
}

fn sources(file: &str, board: &Board) -> Result<(), BoardError> {
    let ties = if board.ties.is_empty() { 0 } else { PIN_SOURCES };
    let needs = [
        (Fact::Clock, PIN_SOURCES),
        (Fact::Uart, PIN_SOURCES),
        (Fact::Leds, PIN_SOURCES),
        (Fact::Ties, ties),
        (Fact::Usb, USB_SOURCES),
    ];
    for (fact, needed) in needs {
        // Two files of one repository are one source.
        let confirm = board.sources.iter().filter(|source| source.confirms.contains(&fact));
        let found = confirm.map(|source| &source.repository).collect::<HashSet<_>>().len();
        if found < needed {
            return Err(BoardError::Sources { file: file.to_owned(), fact, found, needed });
        }
    }
    Ok(())
}
