//! `systole build`: an image for a board.

use super::output::{print, print_json, say};
use super::report::{DesignReport, FORMAT_VERSION};
use super::{DESIGN_HEADING, DesignArgs, Format};
use crate::error::{Error, exit};
use crate::file;
use anyhow::Context;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use systole_boards::{Board, find};
use systole_firmware::build::{self, Image, Request, Seeds};
use systole_firmware::cache::Cache;
use systole_firmware::design::Design;
use systole_firmware::report::{Report, Resource, table};
use systole_firmware::toolchain::Toolchain;

/// Arguments of `systole build`.
#[derive(Debug, Args)]
pub struct BuildArgs {
    /// For which board: see `systole boards`
    #[arg(long)]
    board: String,
    /// Start the placer with this seed only [default: the board's and the two after it, until one meets the clock]
    #[arg(long, conflicts_with = "seed_sweep")]
    seed: Option<u32>,
    /// Start it with this many seeds, and take the fastest image
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    seed_sweep: Option<u32>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Emit::Bitstream)]
    emit: Emit,
    /// Where to write it [default: BOARD-nN, with the ending of its kind]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Take an image that misses its clock
    #[arg(long)]
    allow_timing_failure: bool,
    /// Build, even if the image is in the cache, and do not put it there
    #[arg(long)]
    no_cache: bool,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    design: DesignArgs,
}

/// The command's help, in which the parameters that are not given are the board's, and not those of a simulated design.
pub(super) fn with_board_defaults(command: clap::Command) -> clap::Command {
    command.mut_args(|argument| {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        match help.rsplit_once(" [default: ") {
            Some((what, _)) if argument.get_help_heading() == Some(DESIGN_HEADING) => {
                argument.help(format!("{what} [default: the board's]"))
            }
            _ => argument,
        }
    })
}

/// What `build` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Emit {
    /// The description; no tool is needed
    Verilog,
    /// The netlist of the device's cells, as Verilog; nothing is placed
    Netlist,
    /// What is written to the board
    Bitstream,
}

/// What `build` reports.
#[derive(Debug, Serialize)]
struct BuildReport {
    format_version: u32,
    command: &'static str,
    board: String,
    emit: Emit,
    out: String,
    from_cache: bool,
    design_hash: String,
    design: DesignReport,
    /// What a netlist needs and the device has; those of an image are among its figures.
    resources: Option<Vec<Resource>>,
    /// Figures of the image; `null` where it is not asked for.
    image: Option<Report>,
}

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// An unknown board, a parameter out of range, a tool that is missing or fails, an image that does not fit or misses its
/// clock, an output that cannot be written.
pub fn main(arguments: &BuildArgs, cancel: &Arc<AtomicBool>) -> anyhow::Result<u8> {
    let board = find(&arguments.board).map_err(Error::from)?;
    let design = arguments.design.over(&board.parameters)?;
    let toolchain = Toolchain::of_user().map_err(build::BuildError::from).map_err(Error::from)?.until(cancel);
    let path = out(arguments, board, &design);
    let cannot = || format!("cannot write {}", file::shown(&path));
    file::check(&path).with_context(cannot)?;
    let report = BuildReport::new(arguments, board, &design, &path);
    let made = match arguments.emit {
        Emit::Verilog => verilog(report, board, &design, &toolchain).map(Some)?,
        Emit::Netlist => netlist(report, &request(arguments, board, &design), &toolchain, cancel)?,
        Emit::Bitstream => {
            let cache = match arguments.no_cache {
                true => None,
                false => Some(Cache::of_user().map_err(build::BuildError::from).map_err(Error::from)?),
            };
            image(report, &request(arguments, board, &design), &toolchain, cache.as_ref(), cancel)?
        }
    };
    let Some((bytes, report)) = made else { return Ok(exit::INTERRUPTED) };
    file::replace(&path, |file| file.write_all(&bytes)).with_context(cannot)?;
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(exit::OK)
}

/// Where to write.
fn out(arguments: &BuildArgs, board: &Board, design: &Design) -> PathBuf {
    let ending = match arguments.emit {
        Emit::Verilog => "v",
        Emit::Netlist => "netlist.v",
        Emit::Bitstream => board.fpga.family.ending(),
    };
    let default = || format!("{}-n{}.{ending}", board.name, design.parameters().n).into();
    arguments.out.clone().unwrap_or_else(default)
}

/// A file's bytes and what to report of them.
type Made = (Vec<u8>, BuildReport);

impl BuildReport {
    /// What is known before anything is made.
    fn new(arguments: &BuildArgs, board: &Board, design: &Design, out: &Path) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            command: "build",
            board: board.name.clone(),
            emit: arguments.emit,
            out: out.display().to_string(),
            from_cache: false,
            design_hash: String::new(),
            design: design.into(),
            resources: None,
            image: None,
        }
    }
}

fn verilog(
    report: BuildReport,
    board: &Board,
    design: &Design,
    toolchain: &Toolchain,
) -> anyhow::Result<Made> {
    // The tools are in the design hash. Without them the text is all there, under another hash.
    let tools = build::tools(board, toolchain).unwrap_or_default();
    let (text, hash) = build::verilog(board, design, &tools).map_err(Error::from)?;
    Ok((text.into_bytes(), BuildReport { design_hash: format!("{hash:016x}"), ..report }))
}

fn request<'a>(arguments: &BuildArgs, board: &'a Board, design: &'a Design) -> Request<'a> {
    let seeds = match (arguments.seed, arguments.seed_sweep) {
        (Some(seed), _) => Seeds::One(seed),
        (None, Some(count)) => Seeds::BestOf(count),
        (None, None) => Seeds::UntilMet(board.seed),
    };
    Request { board, design, seeds, allow_timing_failure: arguments.allow_timing_failure }
}

fn netlist(
    report: BuildReport,
    request: &Request,
    toolchain: &Toolchain,
    cancel: &AtomicBool,
) -> anyhow::Result<Option<Made>> {
    let made = unless(cancel, build::synthesis(request, toolchain, &mut tell))?;
    Ok(made.map(|netlist| {
        let design_hash = format!("{:016x}", netlist.design_hash);
        let report = BuildReport { design_hash, resources: Some(netlist.resources), ..report };
        (netlist.verilog.into_bytes(), report)
    }))
}

fn image(
    report: BuildReport,
    request: &Request,
    toolchain: &Toolchain,
    cache: Option<&Cache>,
    cancel: &AtomicBool,
) -> anyhow::Result<Option<Made>> {
    let made = make(request, toolchain, cache, cancel)?;
    Ok(made.map(|image| {
        let design_hash = image.report.design_hash.clone();
        let from_cache = image.from_cache;
        let report = BuildReport { design_hash, from_cache, image: Some(image.report), ..report };
        (image.bitstream, report)
    }))
}

/// An image, from the cache or built; `None` when interrupted.
pub(super) fn make(
    request: &Request,
    toolchain: &Toolchain,
    cache: Option<&Cache>,
    cancel: &AtomicBool,
) -> Result<Option<Image>, Error> {
    unless(cancel, build::build(request, toolchain, cache, &mut tell))
}

/// Says what a build is doing.
pub(super) fn tell(stage: &str) {
    say(&format!("{stage} …"));
}

/// What was made; `None` when interrupted.
pub(super) fn unless<T>(cancel: &AtomicBool, made: Result<T, build::BuildError>) -> Result<Option<T>, Error> {
    match made {
        Err(_) if cancel.load(Ordering::Relaxed) => Ok(None),
        made => Ok(Some(made?)),
    }
}

fn text(report: &BuildReport) -> String {
    let out = file::shown(Path::new(&report.out));
    let cached = if report.from_cache { ", from the cache" } else { "" };
    let table = report.resources.as_ref().map_or_else(String::new, |resources| table(resources) + "\n");
    match &report.image {
        Some(image) => format!("{image}\nwritten         {}{cached}\n", out),
        None => format!("{table}design hash     {}\nwritten         {}\n", report.design_hash, out),
    }
}
