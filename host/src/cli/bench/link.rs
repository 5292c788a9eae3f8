//! `systole bench link`: what a link does by itself.

use crate::cli::output::{count, note_trouble, print, print_json, say, time};
use crate::cli::report::{DesignReport, FORMAT_VERSION};
use crate::cli::{DesignArgs, Format, LinkArgs};
use crate::connect::Connection;
use crate::error::{Error, exit};
use crate::link_bench::{LinkFigures, measure};
use crate::session::{Session, SessionOptions};
use clap::Args;
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Arguments of `systole bench link`.
#[derive(Debug, Args)]
pub(super) struct LinkBenchArgs {
    /// Seconds to measure for, four times: source, sink, loopback, round trips
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    pub(super) link: LinkArgs,
    #[command(flatten)]
    design: DesignArgs,
}

/// What `bench link` reports: bytes of payload a second, and seconds.
#[derive(Debug, Serialize)]
struct LinkReport {
    format_version: u32,
    command: &'static str,
    level: &'static str,
    rate: Option<u32>,
    #[serde(flatten)]
    figures: LinkFigures,
    design: DesignReport,
}

/// Runs the benchmark; gives the exit code.
///
/// # Errors
/// Why the link cannot be opened, or what stops the session.
pub(super) fn main(arguments: &LinkBenchArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let Connection { mut link, design, level, .. } = arguments.link.connect(&arguments.design, cancel)?;
    let rate = link.rate();
    let options = SessionOptions::new(link.as_ref(), Some(design.clone()));
    let mut session = Session::open(link.as_mut(), options, cancel).map_err(Error::from)?;
    let each = Duration::from_secs(u64::from(arguments.seconds));
    let figures = measure(&mut session, each).map_err(Error::from)?;
    note_trouble(&session.counters());
    if figures.round_trip_p99.is_none() {
        let trips = figures.round_trips;
        say(&format!(
            "systole: note: {trips} round trips are too few to tell what one in a hundred takes; give more --seconds"
        ));
    }
    let report = LinkReport {
        format_version: FORMAT_VERSION,
        command: "bench link",
        level: level.name(),
        rate,
        figures,
        design: (&design).into(),
    };
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(exit::OK)
}

fn text(report: &LinkReport) -> String {
    let f = &report.figures;
    let speed = |bytes: f64| match bytes {
        1e6.. => format!("{:.3} MB/s", bytes / 1e6),
        _ => format!("{:.3} kB/s", bytes / 1e3),
    };
    let trip = |seconds: Option<f64>| seconds.map_or_else(|| "not measured".to_owned(), time);
    let facts = [
        ("level", report.level.to_owned()),
        (
            "rate",
            report.rate.map_or_else(|| "none".to_owned(), |baud| format!("{} baud", count(baud.into()))),
        ),
        ("source", speed(f.source)),
        ("sink", speed(f.sink)),
        ("loopback", format!("{} each way", speed(f.loopback))),
        (
            "round trip",
            format!(
                "{} median, {} for one in a hundred, of {}",
                trip(f.round_trip_p50),
                trip(f.round_trip_p99),
                count(f.round_trips as u64)
            ),
        ),
        ("lost", format!("{} answers", count(f.lost))),
    ];
    facts.iter().map(|(name, value)| format!("{name:<11} {value}\n")).collect()
}
