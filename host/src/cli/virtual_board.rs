//! `systole virtual-board`: a board behind a pseudo-terminal.

use super::DesignArgs;
use super::output::{print, say};
use crate::error::exit;
use crate::link::sim::SimLink;
use crate::link::software::SoftwareLink;
use crate::virtual_board::{Device, Terminal, serve};
use anyhow::Context;
use clap::Args;
use std::sync::atomic::AtomicBool;
use systole_hdl::parameters::BAUD_RANGE;
use systole_hdl::wire::Origin;

/// Arguments of `systole virtual-board`.
#[derive(Debug, Args)]
pub struct VirtualBoardArgs {
    /// The software backend behind the same wire, instead of the simulated gateware: fast enough for any rate
    #[arg(long)]
    behavioural: bool,
    /// Move bytes no faster, in either direction, than a UART of this rate
    #[arg(long, value_name = "BAUD", value_parser = clap::value_parser!(u32).range(i64::from(*BAUD_RANGE.start())..=i64::from(*BAUD_RANGE.end())))]
    pace: Option<u32>,
    #[command(flatten)]
    design: DesignArgs,
}

/// Runs the subcommand until Ctrl-C; gives the exit code.
///
/// # Errors
/// A parameter out of range, or what the system says of pseudo-terminals.
pub fn main(arguments: &VirtualBoardArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let design = arguments.design.design()?;
    let identity = design.identity(Origin::Simulated);
    let mut terminal = Terminal::open().context("no pseudo-terminal can be had")?;
    let mut device: Box<dyn Device> = if arguments.behavioural {
        Box::new(SoftwareLink::new(identity))
    } else {
        Box::new(SimLink::new(&identity, None))
    };
    // The path comes first and at once, for scripts that wait for it.
    print(&format!("{}\n", terminal.path().display()))?;
    let n = design.parameters().n;
    let what = if arguments.behavioural { "software backend" } else { "simulated gateware" };
    say(&format!(
        "systole: a {n}×{n} array, {what}; talk to it with --link serial:{}, stop it with Ctrl-C",
        terminal.path().display()
    ));
    serve(device.as_mut(), &mut terminal, arguments.pace, cancel)?;
    Ok(exit::INTERRUPTED)
}
