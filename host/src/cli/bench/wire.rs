//! `systole bench wire`: how close a product comes to the limit of the wire.

use crate::cli::output::{count, note_trouble, print, print_json, time};
use crate::cli::progress::Bar;
use crate::cli::report::ProductReport;
use crate::cli::{DesignArgs, Format, MemoryArgs, Size};
use crate::error::exit;
use crate::link::sim::SimLink;
use crate::matrix::random;
use crate::memory;
use crate::product::{Watcher, product};
use clap::Args;
use std::sync::atomic::AtomicBool;
use systole_hdl::parameters::UART_BITS;
use systole_hdl::wire::Origin;

/// Slowest pace, in cycles a byte: at more, even a product of one element takes minutes to simulate.
const SLOWEST: i64 = 100_000;

/// Arguments of `systole bench wire`.
#[derive(Debug, Args)]
pub(super) struct WireArgs {
    /// Sizes of the product
    #[arg(long, value_name = "MxKxP", default_value = "64x64x64")]
    product: Size,
    /// Seed of the random matrices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[arg(
        long,
        help = format!("Clock cycles a byte takes on the wire, each way, 1 to {SLOWEST} [default: the design's UART]"),
        value_parser = clap::value_parser!(u32).range(1..=SLOWEST))]
    pace: Option<u32>,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    design: DesignArgs,
}

/// Runs the benchmark; gives the exit code.
///
/// # Errors
/// A parameter out of range, a product too large for the memory, or what stops the session.
pub(super) fn main(arguments: &WireArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let design = arguments.design.design()?;
    let Size { m, k, p } = arguments.product;
    memory::check(m as u128, k as u128, p as u128, &design, arguments.memory.bytes())?;
    let pace = arguments.pace.unwrap_or(UART_BITS * design.parameters().clocks_per_bit());
    let (a, b) = random(m, k, p, design.parameters().w, arguments.seed);
    let mut link = SimLink::new(&design.identity(Origin::Simulated), Some(pace));
    let mut bar = Bar::new();
    let result = product(&mut link, &design, &a, &b, &mut bar as &mut dyn Watcher, cancel);
    bar.finish();
    let product = result?;
    note_trouble(&product.counters);
    let report = ProductReport::new("bench wire", &product, &design, Some(pace));
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report, pace))?,
    }
    Ok(if report.equal { exit::OK } else { exit::DIFFERENT })
}

fn text(report: &ProductReport, pace: u32) -> String {
    let shape = &report.shape;
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let facts = [
        ("product", format!("{}x{}x{}", shape.m, shape.k, shape.p)),
        ("equal", report.equal.to_string()),
        ("pace", format!("{pace} cycles a byte, each way")),
        ("cycles", report.cycles.map_or_else(|| "not counted".to_owned(), count)),
        ("bound", format!("{} bytes", count(report.bound_bytes))),
        ("sent", format!("{} bytes and {} escapes", count(report.bytes_to_board), report.escapes_to_board)),
        (
            "received",
            format!("{} bytes and {} escapes", count(report.bytes_from_board), report.escapes_from_board),
        ),
        ("efficiency", report.wire_efficiency.map_or_else(|| "unknown".to_owned(), percent)),
        ("simulated in", time(report.seconds.run)),
    ];
    facts.iter().map(|(name, value)| format!("{name:<13} {value}\n")).collect()
}
