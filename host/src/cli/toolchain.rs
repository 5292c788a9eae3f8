//! `systole toolchain`: the programs that make images.

use super::Format;
use super::build::{tell, unless};
use super::output::{print, print_json};
use super::report::FORMAT_VERSION;
use crate::error::{Error, exit};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use systole_firmware::build::BuildError;
use systole_firmware::toolchain::{INSTALL_COMMAND, PINS, Tool, Toolchain, ToolchainError};

/// Arguments of `systole toolchain`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ToolchainArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Install yosys, nextpnr and packers for every family, in pinned versions, for this user (needs Python)
    Install,
}

/// What `toolchain` reports.
#[derive(Debug, Serialize)]
struct ToolchainReport {
    format_version: u32,
    command: &'static str,
    folder: String,
    complete: bool,
    tools: Vec<ToolReport>,
}

/// A tool, found or not.
#[derive(Debug, Serialize)]
struct ToolReport {
    name: &'static str,
    required: bool,
    minimum: Option<String>,
    found: bool,
    source: Option<String>,
    version: Option<String>,
    program: Option<String>,
    /// Where it was looked for, and why it was not taken from there.
    looked: Vec<String>,
}

/// Runs the subcommand; gives the exit code: 5 if a tool is missing that images need.
///
/// # Errors
/// No folder to look in; in `install`, whatever stops it.
pub fn main(arguments: &ToolchainArgs, cancel: &Arc<AtomicBool>) -> anyhow::Result<u8> {
    let toolchain = Toolchain::of_user().map_err(failed)?.until(cancel);
    if let Some(Action::Install) = arguments.action {
        let installed = toolchain.install(tell).map_err(BuildError::from);
        if unless(cancel, installed)?.is_none() {
            return Ok(exit::INTERRUPTED);
        }
        let pins: String = PINS.map(|(name, version)| format!("{name} {version}\n")).concat();
        print(&format!("installed in {}\n{pins}", toolchain.folder().display()))?;
        return Ok(exit::OK);
    }
    let tools: Vec<_> = Tool::ALL.map(|tool| tool_report(&toolchain, tool)).into();
    if cancel.load(Ordering::Relaxed) {
        return Ok(exit::INTERRUPTED);
    }
    let complete = tools.iter().all(|tool| tool.found || !tool.required);
    let report = ToolchainReport {
        format_version: FORMAT_VERSION,
        command: "toolchain",
        folder: toolchain.folder().display().to_string(),
        complete,
        tools,
    };
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(if complete { exit::OK } else { exit::MISSING })
}

fn failed(error: ToolchainError) -> Error {
    Error::Build(BuildError::from(error))
}

fn tool_report(toolchain: &Toolchain, tool: Tool) -> ToolReport {
    let (found, looked) = match toolchain.find(tool) {
        Ok(found) => (Some(found), Vec::new()),
        Err(ToolchainError::Missing { looked, .. }) => {
            (None, looked.iter().map(|l| l.to_string().trim().to_owned()).collect())
        }
        Err(error) => (None, vec![error.to_string()]),
    };
    ToolReport {
        name: tool.name(),
        required: tool.is_required(),
        minimum: tool.minimum(),
        found: found.is_some(),
        source: found.as_ref().map(|found| found.source.to_string()),
        version: found.as_ref().map(|found| found.version.clone()),
        program: found.as_ref().map(|found| found.program.display().to_string()),
        looked,
    }
}

fn text(report: &ToolchainReport) -> String {
    let mut text = String::new();
    for tool in &report.tools {
        let at_least =
            tool.minimum.as_ref().map_or(String::new(), |minimum| format!(" (at least {minimum})"));
        match (&tool.source, &tool.program) {
            (Some(source), Some(program)) => {
                let version = tool.version.as_deref().filter(|v| !v.is_empty()).unwrap_or("no version told");
                text += &format!("{:<20}{source:<9}{version}{at_least}\n{:20}{program}\n", tool.name, "");
            }
            _ => {
                let state =
                    if tool.required { "MISSING" } else { "not there; images can be made without it" };
                text += &format!("{:<20}{state}{at_least}\n", tool.name);
                tool.looked.iter().for_each(|place| text += &format!("{:20}{place}\n", ""));
            }
        }
    }
    if !report.complete {
        text += &format!("Install what is missing: {INSTALL_COMMAND}\n");
    }
    text
}
