//! Writing: natively where this program can, else through openFPGALoader.

use super::report::SavedReport;
use crate::cli::output::say;
use crate::cli::progress::Bar;
use crate::discover::UsbDevice;
use crate::error::Error;
use crate::file::{self, shown};
use crate::flash::ice40::{self, FlashError, Programmer, Progress};
use crate::flash::loader::{Loader, Said};
use crate::flash::target::taken;
use crate::link::LinkError;
use crate::product::Watcher;
use anyhow::Context;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use systole_boards::{Board, Memory, device::Family};

/// What is to be done with the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Write the image.
    Write,
    /// Compare it.
    Verify,
    /// Erase everything.
    Erase,
    /// Save everything.
    Save,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) action: Action,
    pub(super) memory: Memory,
    /// Where what is overwritten is saved first.
    pub(super) save: Option<PathBuf>,
}

/// What was done.
pub(super) struct Written {
    /// Who did it.
    pub(super) programmer: String,
    pub(super) saved: Option<SavedReport>,
    /// Where flash and image differ.
    pub(super) differs: Option<String>,
    /// What is known of the image, should nobody answer: that it was read back or that the FPGA took it.
    pub(super) proven: Option<&'static str>,
    /// What openFPGALoader said.
    pub(super) said: Option<Said>,
}

/// Carries an order out.
///
/// # Errors
/// What stops the programmer; a file that cannot be written; interrupted.
pub(super) fn write(
    order: &Order,
    board: &Board,
    device: Option<&UsbDevice>,
    image: &[u8],
    bar: &mut Bar,
    cancel: &Arc<AtomicBool>,
) -> anyhow::Result<Written> {
    if board.fpga.family == Family::Ice40 {
        let device = device.ok_or(Error::Link(LinkError::NoBoard))?;
        return native(order, board, device, image, bar, cancel);
    }
    let serial = device.and_then(|device| device.serial.as_deref());
    let loader = Loader::find(&std::env::var_os("PATH").unwrap_or_default()).map_err(Error::from)?;
    say("openFPGALoader is writing …");
    let said = loader.write(board, order.memory, serial, image, cancel).map_err(Error::from)?;
    Ok(Written { programmer: loader.to_string(), saved: None, differs: None, proven: None, said: Some(said) })
}

fn native(
    order: &Order,
    board: &Board,
    device: &UsbDevice,
    image: &[u8],
    bar: &mut Bar,
    cancel: &Arc<AtomicBool>,
) -> anyhow::Result<Written> {
    let mut watch = |p: Progress| bar.progress(p.stage.name(), p.done as u64, p.total as u64);
    let mut programmer =
        ice40::open(device, board.program.interface, Arc::clone(cancel)).map_err(Error::from)?;
    let saved = match &order.save {
        Some(file) => Some(save(&mut programmer, file, order, image.len(), &mut watch)?),
        None => None,
    };
    let mut differs = None;
    let proven = match (order.action, order.memory) {
        (Action::Write, Memory::Flash) => {
            programmer.program(0, image, &mut watch).map_err(Error::from)?;
            programmer.start().map_err(Error::from)?;
            Some("the flash was read back and is right, and the FPGA has started (CDONE is high)")
        }
        (Action::Write, Memory::Sram) => {
            programmer.load(image, &mut watch).map_err(Error::from)?;
            Some("the FPGA took the image (CDONE is high)")
        }
        (Action::Verify, _) => {
            match programmer.verify(0, image, &mut watch) {
                Ok(()) => {}
                Err(error @ FlashError::Differs { .. }) => differs = Some(error.to_string()),
                Err(error) => return Err(Error::from(error).into()),
            }
            None
        }
        (Action::Save, _) => None,
        (Action::Erase, _) => {
            let all = programmer.id().map_err(Error::from)?.capacity;
            programmer.erase(0, all, &mut watch).map_err(Error::from)?;
            None
        }
    };
    Ok(Written { programmer: "systole".to_owned(), saved, differs, proven, said: None })
}

/// Saves what the order overwrites.
fn save(
    programmer: &mut Programmer,
    file: &Path,
    order: &Order,
    image: usize,
    watch: &mut dyn FnMut(Progress),
) -> anyhow::Result<SavedReport> {
    let all = programmer.id().map_err(Error::from)?.capacity;
    let length =
        if matches!(order.action, Action::Erase | Action::Save) { all } else { taken(image).min(all) };
    let bytes = programmer.read(0, length, watch).map_err(Error::from)?;
    file::replace(file, |out| out.write_all(&bytes))
        .with_context(|| format!("cannot write {}", shown(file)))?;
    Ok(SavedReport { file: shown(file), bytes: length })
}
