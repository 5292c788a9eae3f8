//! `systole virtual-board`: a board behind a pseudo-terminal, or behind a model of its USB chip.

use super::DesignArgs;
use super::output::{print, say};
use crate::error::{Error, exit};
use crate::link::sim::SimLink;
use crate::link::software::SoftwareLink;
use crate::virtual_board::usb_model::{Board, Flash, Gateware, Wiring, labelled, plug};
use crate::virtual_board::{Device, ServeError, Terminal, serve};
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use systole_firmware::design::Design;
use systole_firmware::image::ice40::{Die, Image};
use systole_firmware::label;
use systole_hdl::parameters::BAUD_RANGE;
use systole_hdl::wire::Origin;

/// Time between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Arguments of `systole virtual-board`.
#[derive(Debug, Args)]
pub struct VirtualBoardArgs {
    /// The software backend behind the same wire, instead of the simulated gateware: fast enough for any rate
    #[arg(long)]
    behavioural: bool,
    /// Move bytes no faster, in either direction, than a UART of this rate
    #[arg(long, value_name = "BAUD", value_parser = clap::value_parser!(u32).range(i64::from(*BAUD_RANGE.start())..=i64::from(*BAUD_RANGE.end())))]
    pace: Option<u32>,
    /// Plug a board with an FT2232H, a flash and an iCE40 into this system's virtual USB host controller instead (Linux,
    /// as root, after `modprobe vhci-hcd`)
    #[arg(long, conflicts_with = "pace")]
    usb_model: bool,
    /// Serial number of that board
    #[arg(long, value_name = "SERIAL", default_value = "SYSTOLE1", requires = "usb_model")]
    serial: String,
    /// What its flash holds, instead of an image of the design
    #[arg(long, value_name = "FILE", requires = "usb_model")]
    image: Option<PathBuf>,
    #[command(flatten)]
    design: DesignArgs,
}

/// Runs the subcommand until Ctrl-C; gives the exit code.
///
/// # Errors
/// A parameter out of range, or what the system says of pseudo-terminals.
pub fn main(arguments: &VirtualBoardArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let design = arguments.design.design()?;
    if arguments.usb_model {
        return usb_model(arguments, &design, cancel);
    }
    let identity = design.identity(Origin::Simulated);
    let mut terminal = Terminal::open().map_err(ServeError::from).map_err(Error::from)?;
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
    serve(device.as_mut(), &mut terminal, arguments.pace, cancel).map_err(Error::from)?;
    Ok(exit::INTERRUPTED)
}

/// Serves the model of a USB chip.
fn usb_model(arguments: &VirtualBoardArgs, design: &Design, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let image = match &arguments.image {
        Some(path) => std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?,
        None => labelled(Die::Ice5k, &label::lines(design, design.hash())),
    };
    let die = Image::read(&image).map_or(Die::Ice5k, |image| image.die);
    let mut flash = Flash::new();
    let cells = flash.memory_mut().get_mut(..image.len()).context("the image is larger than the flash")?;
    cells.copy_from_slice(&image);
    let gateware: Gateware = if arguments.behavioural {
        Arc::new(|identity| Box::new(SoftwareLink::new(identity.clone())))
    } else {
        Arc::new(|identity| Box::new(SimLink::new(identity, None)))
    };
    let (serial, product) = (arguments.serial.clone(), "iCEBreaker V1.0e".to_owned());
    let board = Board { serial, product, die, wiring: Wiring::Flash, gateware };
    let plugged = plug(board, flash).map_err(Error::from)?;
    print(&format!("usb:0403:6010:{}\n", arguments.serial))?;
    say("systole: an iCE40 board is plugged in; pull it out with Ctrl-C");
    while !cancel.load(Ordering::Relaxed) && plugged.is_served() {
        std::thread::sleep(LOOK);
    }
    let pulled_by_user = cancel.load(Ordering::Relaxed);
    plugged.unplug().map_err(Error::from)?;
    // Detached by somebody else, it has nothing more to do.
    Ok(if pulled_by_user { exit::INTERRUPTED } else { exit::OK })
}
