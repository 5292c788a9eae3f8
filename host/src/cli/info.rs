//! `systole info`: who is at the other end of the link.

use super::output::{print, print_json};
use super::report::{DesignReport, FORMAT_VERSION};
use super::{DesignArgs, Format, LinkArgs};
use crate::connect::Connection;
use crate::error::exit;
use clap::Args;
use serde::Serialize;
use std::sync::atomic::AtomicBool;

/// Arguments of `systole info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    pub(super) link: LinkArgs,
    #[command(flatten)]
    design: DesignArgs,
}

/// What `info` reports.
#[derive(Debug, Serialize)]
struct InfoReport {
    format_version: u32,
    command: &'static str,
    level: &'static str,
    origin: &'static str,
    protocol: u8,
    design_hash: String,
    stages: u8,
    largest_frame: u32,
    k_limit: u32,
    design: DesignReport,
}

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// A parameter out of range, or what stops the session.
pub fn main(arguments: &InfoArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let Connection { design: board, identity, level, .. } =
        arguments.link.connect(&arguments.design, cancel)?;
    let report = InfoReport {
        format_version: FORMAT_VERSION,
        command: "info",
        level: level.name(),
        origin: identity.origin.name(),
        protocol: identity.protocol,
        design_hash: format!("{:016x}", identity.design_hash),
        stages: identity.stages,
        largest_frame: identity.largest_frame,
        k_limit: identity.parameters.k_limit(),
        design: (&board).into(),
    };
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(exit::OK)
}

fn text(r: &InfoReport) -> String {
    let d = &r.design;
    let facts = [
        ("level", r.level.to_owned()),
        ("origin", r.origin.to_owned()),
        ("protocol", r.protocol.to_string()),
        ("design hash", r.design_hash.clone()),
        ("n", format!("{}  ({0}×{0} processing elements)", d.n)),
        ("w", format!("{}  (operand bits)", d.w)),
        ("aw", format!("{}  (accumulator bits)", d.aw)),
        ("k-max", format!("{}  (terms of a job; exact up to {})", d.k_max, r.k_limit)),
        ("job-bits", d.job_bits.to_string()),
        ("a-depth", format!("{}  (operands a lane)", d.a_depth)),
        ("b-depth", format!("{}  (operands a lane)", d.b_depth)),
        ("fifo", format!("{} bytes; largest frame {} bytes", d.fifo, r.largest_frame)),
        ("clock", format!("{} Hz", d.clock)),
        ("baud", d.baud.to_string()),
        ("stages", r.stages.to_string()),
        ("injection", if d.injection { "yes" } else { "no" }.to_owned()),
    ];
    facts.iter().map(|(name, value)| format!("{name:<12} {value}\n")).collect()
}
