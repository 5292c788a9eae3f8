//! The netlist that is in a finished iCE40 bitstream: what the packer wrote is unpacked and read back as Verilog, so that
//! placement, routing and packing are all in it.

use super::Flow;
use crate::image::Subject;
use crate::verilog::{Library, Ports, Sources, watchdog};
use rust_hdl::prelude::Block;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use systole_firmware::build::{self, Request, Seeds};

/// Name that icebox_vlog is told to give the module.
const TOP: &str = "routed";

/// Longest time that a program may take to read a bitstream.
const LIMIT: Duration = Duration::from_secs(600);

/// Gives a subject the design hash that its image answers with, which covers the tools that make it.
///
/// # Errors
/// A tool is missing.
pub fn subject(flow: &Flow, subject: Subject) -> Result<Subject, String> {
    let tools = build::tools(subject.board, &flow.toolchain).map_err(|error| error.to_string())?;
    let (_, hash) =
        build::verilog(subject.board, &subject.design, &tools).map_err(|error| error.to_string())?;
    Ok(Subject { hash, ..subject })
}

/// Builds the image of a subject on the board of a flow, takes its bitstream apart, and compiles what is in it.
///
/// # Errors
/// Says at which stage it failed.
pub fn library<B: Block>(flow: &Flow, subject: &Subject, top: &B) -> Result<Arc<Library>, String> {
    let request = Request {
        board: subject.board,
        design: &subject.design,
        seeds: Seeds::One(1),
        // Simulated without delays.
        allow_timing_failure: true,
    };
    let image =
        build::build(&request, &flow.toolchain, None, &mut |_| ()).map_err(|error| error.to_string())?;

    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let board = subject.board;
    let pins = [
        ("clock", &board.clock.pin),
        ("rx", &board.uart.rx),
        ("tx", &board.uart.tx),
        ("led_idle", &board.leds.idle),
        ("led_busy", &board.leds.busy),
        ("led_error", &board.leds.error),
    ];
    let pins: String = pins.iter().map(|(name, pin)| format!("set_io {name} {}\n", pin.at)).collect();
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).map_err(|error| format!("{name}: {error}"))
    };
    write("image.bin", &image.bitstream)?;
    write("pins.pcf", pins.as_bytes())?;
    let run = |program, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments);
        watchdog::finish(command, program, "routed image", folder.path(), LIMIT)
            .map_err(|error| error.to_string())
    };
    run("iceunpack", &["image.bin", "image.asc"])?;
    let package = board.fpga.package.as_str();
    run("icebox_vlog", &["-s", "-n", TOP, "-d", package, "-p", "pins.pcf", "image.asc"])?;
    let text =
        fs::read_to_string(folder.path().join("icebox_vlog.log")).map_err(|error| error.to_string())?;
    let text = declare_ports(&text)? + &flow.cells.yosys;
    let arguments = ["-DNO_ICE40_DEFAULT_ASSIGNMENTS".to_owned()];
    let sources = Sources { top: TOP, verilog: &text, arguments: &arguments };
    Library::compile("routed image", Ports::of(top), &sources).map_err(|error| error.to_string())
}

/// Verilog in which ports are declared apart from the list of them: icebox_vlog declares every net, ports too, and both
/// in the list and after it Verilator does not take that.
fn declare_ports(text: &str) -> Result<String, String> {
    let (head, rest) = text.split_once(");\n").ok_or("icebox_vlog wrote no module")?;
    let (module, ports) = head.split_once('(').ok_or("icebox_vlog wrote no ports")?;
    let names: Vec<&str> = ports.split(", ").map(|port| port.rsplit(' ').next().unwrap_or(port)).collect();
    let declarations: String = ports.split(", ").map(|port| format!("{port};\n")).collect();
    Ok(format!("{module}({});\n{declarations}{rest}\n", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_declared_once() {
        let text = "\nmodule m (input a, output b);\n\nwire a, c;\nreg b = 0;\nendmodule\n";
        let declared = "\nmodule m (a, b);\ninput a;\noutput b;\n\nwire a, c;\nreg b = 0;\nendmodule\n\n";
        assert_eq!(declare_ports(text).as_deref(), Ok(declared));
    }
}
