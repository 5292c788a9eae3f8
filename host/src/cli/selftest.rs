//! `systole selftest`: every injected fault must be detected.

use super::output::{note_trouble, print, print_json};
use super::report::{DesignReport, FORMAT_VERSION};
use super::{DesignArgs, Format, LinkArgs};
use crate::connect::Connection;
use crate::error::{Error, exit};
use crate::link::Link;
use crate::selftest::{Check, LeftOut, Observed, left_out, selftest};
use clap::Args;
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use systole_firmware::design::Design;

/// Arguments of `systole selftest`.
#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    pub(super) link: LinkArgs,
    #[command(flatten)]
    design: DesignArgs,
}

/// What `selftest` reports.
#[derive(Debug, Serialize)]
struct SelftestReport {
    format_version: u32,
    command: &'static str,
    level: &'static str,
    passed: bool,
    checks: Vec<Check>,
    left_out: Vec<LeftOut>,
    design: DesignReport,
}

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// A parameter out of range, a design without injections, or what stops a session.
pub fn main(arguments: &SelftestArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let Connection { mut link, design, .. } = arguments.link.connect(&arguments.design, cancel)?;
    run(arguments, link.as_mut(), &design, cancel)
}

/// Tests the board behind a given link; gives the exit code.
///
/// # Errors
/// As [`main`].
pub fn run(
    arguments: &SelftestArgs,
    link: &mut dyn Link,
    design: &Design,
    cancel: &AtomicBool,
) -> anyhow::Result<u8> {
    if !design.parameters().injection {
        let text =
            "this design leaves fault injection out, so its checks cannot be proved; build it with injection";
        return Err(Error::Arguments(text.to_owned()).into());
    }
    let (checks, level, counters) = selftest(link, design, cancel).map_err(Error::from)?;
    note_trouble(&counters);
    let passed = checks.iter().all(Check::passed);
    let report = SelftestReport {
        format_version: FORMAT_VERSION,
        command: "selftest",
        level: level.name(),
        passed,
        checks,
        left_out: left_out(design.parameters()),
        design: design.into(),
    };
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(if passed { exit::OK } else { exit::DIFFERENT })
}

fn text(report: &SelftestReport) -> String {
    let line = |check: &Check| {
        let verdict = match (check.detected, check.sound_after) {
            (true, true) => "detected",
            (false, _) => "UNDETECTED",
            (true, false) => "LEFT DAMAGE",
        };
        let mut line = format!("{verdict:<11} {:<11} {}\n", check.injection, describe(&check.got));
        if !check.detected {
            line += &format!("{:23} expected {}\n", "", describe(&check.expected));
        }
        line
    };
    let mut text: String = report.checks.iter().map(line).collect();
    for left in &report.left_out {
        text += &format!("{:<11} {:<11} {}\n", "left out", left.injection, left.why);
    }
    let failed = report.checks.iter().filter(|check| !check.passed()).count();
    text += &match failed {
        0 => format!(
            "all {} faults behaved as the contract says, and the array was sound after each (level {})\n",
            report.checks.len(),
            report.level
        ),
        _ => format!("{failed} of {} checks FAILED (level {})\n", report.checks.len(), report.level),
    };
    text
}

fn describe(o: &Observed) -> String {
    match (o.kind, o.row.zip(o.column).zip(o.job)) {
        (Some(kind), Some(((row, column), job))) => format!("{kind} at PE({row},{column}) in job {job}"),
        _ if o.refused => "start refused while the job ran".to_owned(),
        _ if o.paused_edges > 0 => format!("{} edges more than steps, the product right", o.paused_edges),
        _ if !o.fired => "its step never came, reported as not fired".to_owned(),
        _ => "nothing noticed".to_owned(),
    }
}
