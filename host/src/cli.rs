//! The program: one file a subcommand.
//!
//! Results go to standard output, progress and errors to standard error.

mod arguments;
pub mod array;
pub mod bench;
pub mod boards;
pub mod build;
pub mod completions;
pub mod doctor;
pub mod flash;
pub mod info;
pub mod list;
pub mod man;
mod output;
mod progress;
pub mod report;
pub mod run;
pub mod selftest;
pub mod toolchain;
pub mod udev;
pub mod virtual_board;

pub use arguments::{DESIGN_HEADING, DesignArgs, Format, LinkArgs, MemoryArgs, Size};

use crate::error::{Error, exit};
use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Streams matrices through a systolic array on an FPGA, or through its simulation, and checks every result.
#[derive(Debug, Parser)]
#[command(name = "systole", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Shown below the help text of every command.
const EXIT_CODES: &str = "Exit codes: 0 all equal · 1 results differ or a fault went undetected · 2 arguments or \
                          files · 3 board or link · 4 a tool failed, no fit, no timing · 5 something is \
                          missing on this machine · 130 interrupted";

#[derive(Debug, Subcommand)]
enum Command {
    /// Multiply two matrices and check every element, step and edge.
    Run(run::RunArgs),
    /// Measure.
    Bench(bench::BenchArgs),
    /// Run an array in software and draw its wavefront.
    Array(array::ArrayArgs),
    /// Show the identity of the linked design.
    Info(info::InfoArgs),
    /// Inject every fault and show that each is detected.
    Selftest(selftest::SelftestArgs),
    /// List the serial ports and the boards that are attached, and how to talk to them.
    List(list::ListArgs),
    /// Serve a board behind a pseudo-terminal, for programs and for trying things out.
    VirtualBoard(virtual_board::VirtualBoardArgs),
    /// Make an image for a board.
    Build(build::BuildArgs),
    /// List the boards, their default designs and what each was verified to.
    Boards(boards::BoardsArgs),
    /// Show the programs that make images, or install them.
    Toolchain(toolchain::ToolchainArgs),
    /// Put an image into a board, and ask the board whether it runs it.
    Flash(flash::FlashArgs),
    /// Find what on this machine keeps boards from working, with the command that mends it.
    Doctor(doctor::DoctorArgs),
    /// Print the udev rule that lets a person use the boards without being root.
    Udev,
    /// Print the completions of this command line for a shell.
    Completions(completions::CompletionsArgs),
    /// Write the man pages.
    Man(man::ManArgs),
}

impl Command {
    /// The link that the command talks to a board by.
    fn link(&self) -> Option<&LinkArgs> {
        match self {
            Self::Run(arguments) => Some(&arguments.link),
            Self::Bench(arguments) => arguments.link(),
            Self::Info(arguments) => Some(&arguments.link),
            Self::Selftest(arguments) => Some(&arguments.link),
            _ => None,
        }
    }
}

/// Runs the program with these arguments; gives its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match parse(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to standard output, where a reader that closes it is no failure.
            let _closed = error.print();
            return if error.use_stderr() { exit::INPUT } else { exit::OK };
        }
    };
    let link = cli.command.link().and_then(LinkArgs::text);
    match watch_for_interrupt().and_then(|cancel| command(cli.command, &cancel)) {
        Ok(code) => code,
        Err(error) => {
            output::say(&format!("systole: {}{}", of_link(link.as_deref(), &error), explain(&error)));
            // What no library error explains is about the arguments or this machine.
            error.downcast_ref().map_or(exit::INPUT, Error::exit_code)
        }
    }
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = definition();
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The whole command line.
fn definition() -> clap::Command {
    let of_boards = ["build", "flash"];
    let all =
        of_boards.iter().fold(Cli::command(), |all, one| all.mut_subcommand(one, build::with_board_defaults));
    with_exit_codes(all)
}

/// The command and all below it, with the exit codes in their help.
fn with_exit_codes(command: clap::Command) -> clap::Command {
    let own = command.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
    command.after_help(own + EXIT_CODES).mut_subcommands(with_exit_codes)
}

/// The link that was given, where the error is about the board and does not name it.
fn of_link(link: Option<&str>, error: &anyhow::Error) -> String {
    match (link, error.downcast_ref()) {
        (Some(link), Some(Error::Session(session))) if session.is_of_board() => format!("{link}: "),
        _ => String::new(),
    }
}

/// An error with its causes, each said once: many errors already quote what caused them.
fn explain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn command(command: Command, cancel: &Arc<AtomicBool>) -> anyhow::Result<u8> {
    match command {
        Command::Run(arguments) => run::main(&arguments, cancel),
        Command::Bench(arguments) => bench::main(&arguments, cancel),
        Command::Array(arguments) => array::main(&arguments, cancel),
        Command::Info(arguments) => info::main(&arguments, cancel),
        Command::Selftest(arguments) => selftest::main(&arguments, cancel),
        Command::List(arguments) => list::main(&arguments),
        Command::VirtualBoard(arguments) => virtual_board::main(&arguments, cancel),
        Command::Build(arguments) => build::main(&arguments, cancel),
        Command::Boards(arguments) => boards::main(&arguments),
        Command::Toolchain(arguments) => toolchain::main(&arguments, cancel),
        Command::Flash(arguments) => flash::main(&arguments, cancel),
        Command::Doctor(arguments) => doctor::main(&arguments, cancel),
        Command::Udev => udev::main(),
        Command::Completions(arguments) => completions::main(&arguments),
        Command::Man(arguments) => man::main(&arguments),
    }
}

/// A flag that Ctrl-C, SIGTERM and SIGHUP set, so that whatever runs can end in order. The second of these ends the
/// program at once.
///
/// What whoever started the program has it ignore stays ignored: Ctrl-C by a shell for what it runs in the background,
/// SIGHUP by `nohup`.
fn watch_for_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let ignored = ignored_signals();
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
        // In this order: the first sets the flag that the second ends by.
        flag::register_conditional_shutdown(signal, exit::INTERRUPTED.into(), Arc::clone(&cancel))
            .and_then(|_| flag::register(signal, Arc::clone(&cancel)))
            .context("Ctrl-C cannot be watched for")?;
    }
    Ok(cancel)
}

/// A bit for each signal that is ignored, from the lowest; none where the system does not tell.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use systole_hdl::parameters::Parameters;

    #[test]
    fn a_cause_is_told_once() {
        let bad = Parameters { n: 40, ..Parameters::default() }.check().expect_err("out of range");
        let error = Err::<(), _>(Error::from(bad)).context("while reading the arguments").expect_err("bad");
        let text = "while reading the arguments: n is 40, but must be 1..=32";
        assert_eq!(explain(&error), text);
    }
}
