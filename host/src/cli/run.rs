//! `systole run`: a product of two matrices, checked.

use super::output::{count, note_trouble, print, print_json, time};
use super::progress::Bar;
use super::report::ProductReport;
use super::{DesignArgs, Format, LinkArgs, MemoryArgs, Size};
use crate::connect::Connection;
use crate::error::{Error, exit};
use crate::file::{is_same, shown};
use crate::link::{Level, Link};
use crate::matrix::{self, Operands, OutType, random};
use crate::memory;
use crate::product::{Product, Watcher, product};
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use systole_firmware::design::Design;
use systole_hdl::parameters::UART_BITS;

/// Sides up to which C is printed.
const PRINTED: usize = 8;

/// Arguments of `systole run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Left operand: a .npy file of int8, or int16 where --w is above 8
    #[arg(value_name = "A.npy", required_unless_present = "random", requires = "b")]
    a: Option<PathBuf>,
    /// Right operand
    #[arg(value_name = "B.npy")]
    b: Option<PathBuf>,
    /// Multiply random matrices of these sizes instead
    #[arg(long, value_name = "MxKxP", conflicts_with_all = ["a", "b"])]
    random: Option<Size>,
    /// Seed of the random matrices [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Keep the random matrices in this directory, as A.npy and B.npy
    #[arg(long, value_name = "DIR")]
    save_inputs: Option<PathBuf>,
    /// Write C to this file
    #[arg(long, value_name = "C.npy")]
    out: Option<PathBuf>,
    /// Type of C
    #[arg(long, value_enum, default_value_t = OutDtype::Int32)]
    out_dtype: OutDtype,
    #[command(flatten)]
    memory: MemoryArgs,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    pub(super) link: LinkArgs,
    #[command(flatten)]
    design: DesignArgs,
}

/// Types that C can have.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutDtype {
    /// 32 bits; a larger sum is an error
    Int32,
    /// 64 bits
    Int64,
}

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// Everything of [`Error`], with what was being done.
pub fn main(arguments: &RunArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let Connection { mut link, design, .. } = arguments.link.connect(&arguments.design, cancel)?;
    prepare_files(arguments, &design)?;
    let (a, b) = operands(arguments, &design)?;
    run(arguments, link.as_mut(), &design, &a, &b, cancel)
}

/// Multiplies over a given link, reports and writes C; gives the exit code.
///
/// # Errors
/// As [`main`].
pub fn run(
    arguments: &RunArgs,
    link: &mut dyn Link,
    design: &Design,
    a: &Operands,
    b: &Operands,
    cancel: &AtomicBool,
) -> anyhow::Result<u8> {
    let mut bar = Bar::new();
    let result = product(link, design, a, b, &mut bar as &mut dyn Watcher, cancel);
    bar.finish();
    let product = result?;
    note_trouble(&product.counters);
    let out = match arguments.out_dtype {
        OutDtype::Int32 => OutType::Int32,
        OutDtype::Int64 => OutType::Int64,
    };
    let equal = product.comparison.equal();
    if equal {
        matrix::check_fits(&product.c, out).map_err(Error::from)?;
        if let Some(path) = &arguments.out {
            matrix::write(path, &product.c, out).map_err(Error::from)?;
        }
    }
    match arguments.format {
        Format::Json => print_json(&ProductReport::new("run", &product, design, None))?,
        Format::Text => print(&text(&product, design, arguments.out.as_deref()))?,
    }
    Ok(if equal { exit::OK } else { exit::DIFFERENT })
}

/// The files of the random matrices.
const INPUTS: [&str; 2] = ["A.npy", "B.npy"];

/// Makes the folder of the random matrices, and finds out whether C can be written without harm to A or B.
fn prepare_files(arguments: &RunArgs, design: &Design) -> anyhow::Result<()> {
    if let Some(Size { m, k, p }) = arguments.random {
        memory::check(m as u128, k as u128, p as u128, design, arguments.memory.bytes())?;
    }
    let mut inputs: Vec<PathBuf> = [&arguments.a, &arguments.b].into_iter().flatten().cloned().collect();
    if let Some(directory) = arguments.save_inputs.as_ref().filter(|_| arguments.random.is_some()) {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("{}: cannot be created to keep the inputs", shown(directory)))?;
        for input in INPUTS.map(|name| directory.join(name)) {
            matrix::check_writable(&input).map_err(Error::from)?;
            inputs.push(input);
        }
    }
    let Some(out) = &arguments.out else { return Ok(()) };
    if let Some(input) = inputs.iter().find(|input| is_same(out, input)) {
        return Err(Error::SameFile { out: shown(out), input: shown(input) }.into());
    }
    Ok(matrix::check_writable(out).map_err(Error::from)?)
}

fn operands(arguments: &RunArgs, design: &Design) -> anyhow::Result<(Operands, Operands)> {
    let (w, limit) = (design.parameters().w, arguments.memory.bytes());
    if let Some(Size { m, k, p }) = arguments.random {
        let (a, b) = random(m, k, p, w, arguments.seed.unwrap_or(0));
        if let Some(directory) = &arguments.save_inputs {
            save(directory, &a, &b, w)?;
        }
        return Ok((a, b));
    }
    // clap drops `requires` where the required argument conflicts with one that is given.
    if arguments.seed.is_some() || arguments.save_inputs.is_some() {
        let text = "--seed and --save-inputs are about random matrices: give --random MxKxP instead of files";
        return Err(Error::Arguments(text.to_owned()).into());
    }
    let read = |path: &Option<PathBuf>| {
        let path = path.as_deref().context("two files are needed: A.npy and B.npy")?;
        Ok::<_, anyhow::Error>(matrix::read(path, w, limit).map_err(Error::from)?)
    };
    let (a, b) = (read(&arguments.a)?, read(&arguments.b)?);
    memory::check(a.rows() as u128, a.columns() as u128, b.columns() as u128, design, limit)?;
    Ok((a, b))
}

fn save(directory: &Path, a: &Operands, b: &Operands, w: u32) -> anyhow::Result<()> {
    for (name, matrix) in INPUTS.into_iter().zip([a, b]) {
        matrix::write(&directory.join(name), matrix, OutType::of_operands(w)).map_err(Error::from)?;
    }
    Ok(())
}

/// The report for people.
fn text(product: &Product, design: &Design, out: Option<&Path>) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _infallible = write_text(&mut text, product, design, out);
    text
}

fn write_text(t: &mut String, product: &Product, design: &Design, out: Option<&Path>) -> std::fmt::Result {
    let (shape, c, counters) = (product.shape, &product.c, &product.counters);
    if c.rows() <= PRINTED && c.columns() <= PRINTED {
        write!(t, "C =\n{c}")?;
    }
    write_verdict(t, product)?;
    let p = design.parameters();
    writeln!(
        t,
        "product    {shape}, {} {1}×{1} job{2} on level {3}",
        count(product.jobs),
        p.n,
        if product.jobs == 1 { "" } else { "s" },
        product.level
    )?;
    if product.reruns > 0 {
        writeln!(t, "re-runs    {} jobs, their results were lost on the way", count(product.reruns))?;
    }
    writeln!(t, "steps      {}", count(product.steps))?;
    writeln!(t, "edges      {}", count(product.edges))?;
    writeln!(
        t,
        "bytes      {} to the board, {} from it; {} and {} escapes more",
        count(counters.bytes_to_board),
        count(counters.bytes_from_board),
        count(counters.escapes_to_board),
        count(counters.escapes_from_board)
    )?;
    let s = &product.seconds;
    writeln!(
        t,
        "time       plan {}, run {}, reference {}, compare {}, total {}",
        time(s.plan),
        time(s.run),
        time(s.reference),
        time(s.compare),
        time(s.total)
    )?;
    if let Some(path) = out.filter(|_| product.comparison.equal()) {
        writeln!(t, "written    {}", shown(path))?;
    }
    write_prediction(t, product, design)
}

fn write_verdict(t: &mut String, product: &Product) -> std::fmt::Result {
    let reference = product.reference.name();
    let Some(first) = product.comparison.first else {
        return writeln!(
            t,
            "equal      every value, status, step and edge agrees with the {reference} reference"
        );
    };
    writeln!(
        t,
        "DIFFERENT  {} mismatches against the {reference} reference",
        count(product.comparison.mismatches)
    )?;
    let job = first.job.map_or_else(String::new, |job| format!(", job {job}"));
    writeln!(
        t,
        "first      {} at row {}, column {} (block {}{job}): expected {}, got {}",
        first.what, first.row, first.column, first.block, first.expected, first.got
    )?;
    match product.comparison.pattern.text() {
        Some(pattern) => writeln!(t, "pattern    {pattern}"),
        None => Ok(()),
    }
}

/// Says that the time taken here is not that of a board, and what that would be at least: the wire alone at its full
/// rate, or the clock alone; waiting for each other comes on top.
fn write_prediction(t: &mut String, product: &Product, design: &Design) -> std::fmt::Result {
    let uncounted = match product.level {
        Level::RealBoard | Level::Unverified => return Ok(()),
        Level::Software => "the software backend counts no clock cycles",
        _ => "this board's clock cycles are not counted",
    };
    let p = design.parameters();
    let counters = &product.counters;
    let busier = (counters.bytes_to_board + counters.escapes_to_board)
        .max(counters.bytes_from_board + counters.escapes_from_board);
    // A board that computes longer than it sends is bound by its clock.
    let wire = busier as f64 * f64::from(UART_BITS) / f64::from(p.baud);
    let clock = product.cycles.unwrap_or(0) as f64 / f64::from(p.clock_hz);
    let predicted = time(wire.max(clock));
    let cycles = match product.cycles {
        Some(cycles) => format!("the simulation took {} clock cycles", count(cycles)),
        None => uncounted.to_owned(),
    };
    writeln!(
        t,
        "Simulated seconds are not board seconds: {cycles}; a board at {} MHz and {} Mbaud would take at \
         least about {predicted}.",
        f64::from(p.clock_hz) / 1e6,
        f64::from(p.baud) / 1e6
    )
}
