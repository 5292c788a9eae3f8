//! `systole boards`: which boards there are, and what each is known to do.

use super::Format;
use super::output::{print, print_json};
use super::report::FORMAT_VERSION;
use crate::error::{Error, exit};
use clap::Args;
use serde::Serialize;
use systole_boards::{Board, all};

/// Arguments of `systole boards`.
#[derive(Debug, Args)]
pub struct BoardsArgs {
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What `boards` reports.
#[derive(Debug, Serialize)]
struct BoardsReport {
    format_version: u32,
    command: &'static str,
    boards: Vec<BoardReport>,
}

/// A board.
#[derive(Debug, Serialize)]
struct BoardReport {
    name: &'static str,
    title: &'static str,
    family: &'static str,
    device: &'static str,
    package: &'static str,
    /// Grid side, clock in hertz and UART rate of the default design.
    n: u32,
    clock: u32,
    baud: u32,
    /// What the default design was verified to.
    level: &'static str,
    /// Largest grid side known to fit, and how it is known.
    largest_n: u32,
    largest_level: &'static str,
    /// What the next larger one lacked when it was tried.
    beyond: Option<&'static str>,
    /// Jumpers and the like.
    note: Option<&'static str>,
}

impl From<&'static Board> for BoardReport {
    fn from(board: &'static Board) -> Self {
        Self {
            name: &board.name,
            title: &board.title,
            family: board.fpga.family.name(),
            device: &board.fpga.device,
            package: &board.fpga.package,
            n: board.parameters.n,
            clock: board.parameters.clock_hz,
            baud: board.parameters.baud,
            level: board.level.name(),
            largest_n: board.largest.n,
            largest_level: board.largest.level.name(),
            beyond: board.largest.beyond.as_deref(),
            note: board.note.as_deref(),
        }
    }
}

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// A board file with something wrong, or a report that cannot be written.
pub fn main(arguments: &BoardsArgs) -> anyhow::Result<u8> {
    let boards = all().map_err(|error| Error::Board(error.into()))?.iter().map(BoardReport::from).collect();
    let report = BoardsReport { format_version: FORMAT_VERSION, command: "boards", boards };
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(exit::OK)
}

fn text(report: &BoardsReport) -> String {
    let mut text = format!(
        "{:<14}{:<22}{:>3}{:>9}{:>10}  {:<15}{:<18}{}\n",
        "board", "device", "N", "MHz", "baud", "level", "largest N", "name"
    );
    for b in &report.boards {
        let mhz = f64::from(b.clock) / 1e6;
        let largest = format!("{} ({})", b.largest_n, b.largest_level);
        text += &format!(
            "{:<14}{:<22}{:>3}{mhz:>9}{:>10}  {:<15}{largest:<18}{}\n",
            b.name, b.device, b.n, b.baud, b.level, b.title
        );
    }
    for (name, note) in report.boards.iter().filter_map(|b| Some((b.name, b.note?))) {
        text += &format!("\n{name}: {note}\n");
    }
    text
}
