//! `systole flash`: puts an image into a board, and asks the board whether it runs it.

mod report;
mod write;

use super::build::make;
use super::output::say;
use super::progress::Bar;
use super::{DesignArgs, Format};
use crate::discover::{Machine, RETURN, UsbDevice};
use crate::error::{Error, exit};
use crate::file::{self, shown};
use crate::flash::answer::{Answer, Uart, ask};
use crate::flash::target::{self, TargetError};
use crate::link::target::LinkSpec;
use anyhow::Context;
use clap::{Args, ValueEnum};
use report::{FlashReport, ImageReport, Outcome};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use systole_boards::{Board, Memory, device::Family, find};
use systole_firmware::build::{BuildError, Request, Seeds};
use systole_firmware::cache::{Cache, sha256};
use systole_firmware::design::Design;
use systole_firmware::image::{self, ice40};
use systole_firmware::label;
use systole_firmware::toolchain::Toolchain;
use write::{Action, Order};

/// Arguments of `systole flash`.
#[derive(Debug, Args)]
pub struct FlashArgs {
    /// Which board: see `systole boards`
    #[arg(long)]
    board: String,
    /// Write to the flash, so that the image is there after the power was off
    #[arg(long)]
    persist: bool,
    /// Write to this memory [default: the board's usual one]
    #[arg(long, value_enum, conflicts_with = "persist")]
    memory: Option<MemoryArg>,
    /// Write this file [default: the image of the design, from the cache or built]
    #[arg(long, value_name = "FILE", conflicts_with = "DesignArgs")]
    image: Option<PathBuf>,
    /// The design hash that the file's image answers with, as `systole build` told it; an iCE40's image tells its own
    #[arg(long, value_name = "HASH", requires = "image", value_parser = hash)]
    design_hash: Option<u64>,
    /// Save what is in the way in this file first (iCE40)
    #[arg(long, value_name = "FILE")]
    read: Option<PathBuf>,
    /// Only save the whole flash with --read and write nothing (iCE40)
    #[arg(long, requires = "read", conflicts_with_all = ["image", "DesignArgs", "erase", "verify", "persist", "force"])]
    no_write: bool,
    /// Erase the whole flash and write nothing (iCE40)
    #[arg(long, conflicts_with_all = ["image", "DesignArgs", "verify"])]
    erase: bool,
    /// Compare the flash with the image and write nothing; ends with 1 if they differ (iCE40)
    #[arg(long)]
    verify: bool,
    /// Write even if the board runs the image already
    #[arg(long)]
    force: bool,
    /// The board with this serial number [default: the only one of its kind]
    #[arg(long)]
    serial: Option<String>,
    /// Ask there whether the image runs [default: the UART of the board that was written to]
    #[arg(long, value_name = "LINK")]
    link: Option<LinkSpec>,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    design: DesignArgs,
}

/// A memory for images.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum MemoryArg {
    /// In the FPGA, until the power goes
    Sram,
    /// Beside the FPGA, which starts from it at power-up
    Flash,
}

/// An image, and what is known of it.
struct Image {
    bytes: Vec<u8>,
    report: ImageReport,
    /// Hash that the board answers with, where it is known.
    design_hash: Option<u64>,
    /// Rate of its UART, where it is known.
    baud: Option<u32>,
}

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// An unknown board, a file that cannot be used, no image, no board or several, no memory as asked for, what stops the
/// programmer.
pub fn main(arguments: &FlashArgs, cancel: &Arc<AtomicBool>) -> anyhow::Result<u8> {
    let board = find(&arguments.board).map_err(Error::from)?;
    let order = order(arguments, board)?;
    let design = arguments.design.over(&board.parameters)?;
    let machine = Machine::default();
    // A file that is of no use is told before a board is looked for, a board before an image is built.
    let file = arguments.image.as_deref().map(|path| from_file(arguments, board, path)).transpose()?;
    let device = device(arguments, &machine, board)?;
    let mut report = FlashReport::new(board, device.as_ref(), &order);
    let started = Instant::now();
    let image = match order.action {
        Action::Erase | Action::Save => None,
        Action::Write | Action::Verify if file.is_some() => file,
        Action::Write | Action::Verify => match made(board, &design, cancel)? {
            Some(image) => Some(image),
            None => return Ok(exit::INTERRUPTED),
        },
    };
    report.seconds.image = seconds(started);
    report.image = image.as_ref().map(|image| image.report.clone());
    let uart = Uart {
        machine: &machine,
        board,
        baud: image.as_ref().and_then(|image| image.baud),
        link: arguments.link.as_ref(),
        device: device.as_ref(),
    };
    let hash = image.as_ref().and_then(|image| image.design_hash);
    // Asked where the answer saves the writing, or is needed to judge the one afterwards.
    let tells = tells(board, order.memory);
    let may_skip = tells && order.save.is_none() && !arguments.force;
    let mut before = false;
    if let Some(hash) = hash.filter(|_| order.action == Action::Write && (may_skip || !tells)) {
        say("asking the board what it runs …");
        if let Answer::Meant(who) = ask(|| uart.who(cancel), Some(hash), Duration::ZERO, cancel)? {
            before = true;
            if may_skip {
                report.end(Outcome::AlreadyRunning, Some(who), None);
                return report.print(arguments.format);
            }
        }
    }
    let bytes = image.as_ref().map(|image| image.bytes.as_slice()).unwrap_or_default();
    if order.action == Action::Write {
        say(&format!("writing to {}: {}", board.name, target::overwritten(board, order.memory, bytes.len())));
        board.note.iter().for_each(|note| say(&format!("note: {note}")));
    }
    let mut bar = Bar::of_bytes();
    let started = Instant::now();
    let written = write::write(&order, board, device.as_ref(), bytes, &mut bar, cancel);
    bar.finish();
    report.seconds.write = seconds(started);
    let written = written?;
    report.programmer = written.programmer;
    report.saved = written.saved;
    match order.action {
        Action::Erase => report.end(Outcome::Erased, None, None),
        Action::Save => report.end(Outcome::Saved, None, None),
        Action::Verify => {
            let outcome = if written.differs.is_none() { Outcome::Verified } else { Outcome::Differs };
            report.end(outcome, None, written.differs);
        }
        Action::Write => {
            let started = Instant::now();
            say("asking the board what it runs …");
            let answer = ask(|| uart.who(cancel), hash, RETURN, cancel)?;
            report.seconds.answer = seconds(started);
            report.judge(answer, hash, before, written.said, written.proven);
        }
    }
    report.print(arguments.format)
}

/// The board's USB chip; `None` where only openFPGALoader may find it, since the link that is given leads past every list.
fn device(arguments: &FlashArgs, machine: &Machine, board: &Board) -> Result<Option<UsbDevice>, Error> {
    let may_be_elsewhere =
        arguments.link.is_some() && arguments.serial.is_none() && board.fpga.family != Family::Ice40;
    match target::device(machine, board, arguments.serial.as_deref()) {
        Err(TargetError::Absent { .. }) if may_be_elsewhere => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// What is asked for, held against what the board allows.
fn order(arguments: &FlashArgs, board: &Board) -> anyhow::Result<Order> {
    let asked = match (arguments.persist, arguments.memory) {
        (true, _) | (_, Some(MemoryArg::Flash)) => Some(Memory::Flash),
        (false, Some(MemoryArg::Sram)) => Some(Memory::Sram),
        (false, None) => None,
    };
    let about_flash = arguments.erase || arguments.verify || arguments.read.is_some();
    let asked = asked.or(about_flash.then_some(Memory::Flash));
    let memory = target::memory(board, asked).map_err(Error::from)?;
    if about_flash && board.fpga.family != Family::Ice40 {
        let text = format!(
            "--read, --erase and --verify are for boards with an iCE40; for {} there are openFPGALoader's --dump-flash, \
             --bulk-erase and --verify",
            board.name
        );
        return Err(Error::Arguments(text).into());
    }
    if about_flash && memory == Memory::Sram {
        let text = "--read, --erase and --verify are about the flash, not the FPGA's own memory".to_owned();
        return Err(Error::Arguments(text).into());
    }
    if let Some(file) = &arguments.read {
        if arguments.image.as_ref().is_some_and(|image| file::is_same(file, image)) {
            let text = format!("--read {} is the image itself; give it another name", shown(file));
            return Err(Error::Arguments(text).into());
        }
        file::check(file).with_context(|| format!("cannot write {}", shown(file)))?;
    }
    let action = match (arguments.erase, arguments.verify, arguments.no_write) {
        (true, ..) => Action::Erase,
        (_, true, _) => Action::Verify,
        (.., true) => Action::Save,
        _ => Action::Write,
    };
    Ok(Order { action, memory, save: arguments.read.clone() })
}

/// Whether what an FPGA runs tells what is in a memory. It does not of the flash where the FPGA can have its image from
/// elsewhere.
fn tells(board: &Board, memory: Memory) -> bool {
    memory == Memory::Sram || board.program.memories == [Memory::Flash]
}

/// The image in a file.
fn from_file(arguments: &FlashArgs, board: &Board, path: &Path) -> anyhow::Result<Image> {
    let bytes = file::read(path, image::LIMIT).with_context(|| format!("cannot read {}", shown(path)))?;
    let comments = match arguments.verify && !bytes.is_empty() {
        // Compared with whatever it is, if it is anything.
        true => ice40::Image::read(&bytes).map(|image| image.comments).unwrap_or_default(),
        false => target::image(board, &shown(path), &bytes).map_err(Error::from)?,
    };
    let label = label::read(&comments);
    let (told, baud) = label.map(|(design, hash)| (hash, design.parameters().baud)).unzip();
    if let (Some(told), Some(given)) = (told, arguments.design_hash)
        && told != given
    {
        let text = format!("{}: its label tells the design hash {told:016x}, not {given:016x}", shown(path));
        return Err(Error::Arguments(text).into());
    }
    let design_hash = told.or(arguments.design_hash);
    let report = ImageReport {
        bytes: bytes.len(),
        sha256: sha256(&bytes),
        from: shown(path),
        design_hash: design_hash.map(|hash| format!("{hash:016x}")),
    };
    Ok(Image { bytes, report, design_hash, baud })
}

/// The image of a design, from the cache or built; `None` when interrupted.
fn made(board: &Board, design: &Design, cancel: &Arc<AtomicBool>) -> anyhow::Result<Option<Image>> {
    let failed = |error| Error::Build(error);
    let toolchain = Toolchain::of_user().map_err(BuildError::from).map_err(failed)?.until(cancel);
    let cache = Cache::of_user().map_err(BuildError::from).map_err(failed)?;
    let request = Request { board, design, seeds: Seeds::UntilMet(board.seed), allow_timing_failure: false };
    let Some(built) = make(&request, &toolchain, Some(&cache), cancel)? else { return Ok(None) };
    let design_hash = u64::from_str_radix(&built.report.design_hash, 16).ok();
    let report = ImageReport {
        bytes: built.bitstream.len(),
        sha256: built.report.image_sha256,
        from: if built.from_cache { "cache" } else { "built" }.to_owned(),
        design_hash: Some(built.report.design_hash),
    };
    Ok(Some(Image { bytes: built.bitstream, report, design_hash, baud: Some(design.parameters().baud) }))
}

/// Reads a design hash.
fn hash(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is no design hash: they have 16 hexadecimal digits");
    if text.len() != 16 {
        return Err(wrong());
    }
    u64::from_str_radix(text, 16).map_err(|_| wrong())
}

fn seconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64()
}
