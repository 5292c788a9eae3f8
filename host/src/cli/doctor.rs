//! `systole doctor`: what on this machine keeps boards from working.

use super::Format;
use super::output::{print, print_json};
use super::report::FORMAT_VERSION;
use crate::discover::Machine;
use crate::doctor::{Check, Person, State, examine};
use crate::error::{Error, exit};
use clap::Args;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use systole_firmware::build::BuildError;
use systole_firmware::toolchain::Toolchain;

/// Arguments of `systole doctor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Ends with 5 if the attached boards, or any image at all, would fail by what was found; notes do not count. \
                  Nothing is changed."
)]
pub struct DoctorArgs {
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What `doctor` reports.
#[derive(Debug, Serialize)]
struct DoctorReport {
    format_version: u32,
    command: &'static str,
    findings: usize,
    checks: Vec<CheckReport>,
}

/// Something that was looked at.
#[derive(Debug, Serialize)]
struct CheckReport {
    kind: &'static str,
    state: &'static str,
    text: String,
    fix: Option<String>,
}

impl From<Check> for CheckReport {
    fn from(check: Check) -> Self {
        Self { kind: check.kind.name(), state: check.state.name(), text: check.text, fix: check.fix }
    }
}

/// Runs the subcommand; gives the exit code, which findings decide: notes do not count.
///
/// # Errors
/// The user has no folder for tools; the report cannot be written.
pub fn main(arguments: &DoctorArgs, cancel: &Arc<AtomicBool>) -> anyhow::Result<u8> {
    let toolchain =
        Toolchain::of_user().map_err(|error| Error::Build(BuildError::from(error)))?.until(cancel);
    let person = Person {
        name: ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()),
        toolchain,
        search_path: std::env::var_os("PATH").unwrap_or_default(),
    };
    let checks = examine(&Machine::default(), &person);
    if cancel.load(Ordering::Relaxed) {
        return Ok(exit::INTERRUPTED);
    }
    let findings = checks.iter().filter(|check| check.state == State::Finding).count();
    let checks = checks.into_iter().map(CheckReport::from).collect();
    let report = DoctorReport { format_version: FORMAT_VERSION, command: "doctor", findings, checks };
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(if findings == 0 { exit::OK } else { exit::MISSING })
}

fn text(report: &DoctorReport) -> String {
    let mut text = String::new();
    for check in &report.checks {
        text += &format!("{:<9}{:<15}{}\n", check.state, check.kind, check.text);
        text += &check.fix.as_ref().map_or_else(String::new, |fix| format!("{:24}fix: {fix}\n", ""));
    }
    text + &match report.findings {
        0 => "nothing here keeps a board from working\n".to_owned(),
        1 => "1 finding\n".to_owned(),
        findings => format!("{findings} findings\n"),
    }
}
