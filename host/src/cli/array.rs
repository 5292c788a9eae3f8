//! `systole array`: an array in software, tick by tick.

mod built;
mod feed;
mod report;
mod trace_file;

use super::Format;
use super::output::{Patient, print, print_json};
use crate::error::{Error, exit};
use crate::software::draw::{Drawing, Drawn, TextView};
use crate::software::trace::{Off, Waves};
use crate::software::{Array, Direction, Dispatch, Mac, Side, SoftwareError, Token, TokenPe};
use built::Built;
use clap::{Args, ValueEnum};
use feed::Lanes;
use report::{ArrayReport, PRINTED};
use serde::Serialize;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use systole_hdl::wire::ErrorKind;
use trace_file::{TraceFile, failed};

/// Accumulator of the token PEs here: the widest that a design can have.
const ACCUMULATOR_BITS: u32 = 48;

/// PE-ticks between two looks at whether Ctrl-C has been pressed.
const BETWEEN_LOOKS: usize = 1 << 20;

/// Shown below the help text of this subcommand.
const EXAMPLES: &str = "\
Examples:
  A product of two matrices; the wavefront is shown tick by tick:
    systole array --matmul '[1,2;3,4]' '[5,6;7,8]'
  The same operands without skew meet the wrong partners. Plain MACs do not notice, and end with
  19 8 / 20 50; tokens carry their k, and two PEs raise errors:
    systole array --matmul '[1,2;3,4]' '[5,6;7,8]' --no-skew --ticks 5
    systole array --matmul '[1,2;3,4]' '[5,6;7,8]' --no-skew --ticks 5 --pe token --svg wavefront.svg
  Streams of one's own, a lane a line of a file or between semicolons, an empty entry being no token:
    systole array --west '[1,2,;,3,4]' --north north.csv --trace trace.vcd";

/// Arguments of `systole array`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ArrayArgs {
    /// Multiply two matrices, A from the west and B from the north: .npy, .csv, or [1,2;3,4]
    #[arg(long, num_args = 2, value_names = ["A", "B"], required_unless_present_any = ["west", "north"])]
    matmul: Option<Vec<String>>,
    /// Feed the matrices without the skew that makes partners meet
    #[arg(long, requires = "matmul")]
    no_skew: bool,
    /// Streams from the west, a row of the array each: .npy, .csv, or [1,2;3,4]
    #[arg(long, value_name = "LANES", conflicts_with = "matmul")]
    west: Option<String>,
    /// Streams from the north, a column of the array each
    #[arg(long, value_name = "LANES", conflicts_with = "matmul")]
    north: Option<String>,
    /// Rows and columns of the array [default: what the streams need]
    #[arg(long, value_name = "RxC")]
    shape: Option<Pair>,
    /// What the array is made of
    #[arg(long, value_enum, default_value_t = Kind::Mac)]
    pe: Kind,
    /// Ticks to run [default: until everything has passed the last PE]
    #[arg(long)]
    ticks: Option<u64>,
    /// How to execute it
    #[arg(long, value_enum, default_value_t = Backend::Partitioned)]
    backend: Backend,
    /// Rows and columns of a tile [default: the whole array]
    #[arg(long, value_name = "RxC")]
    tile: Option<Pair>,
    /// How tiles get to threads: tasks or pool [default: tasks]
    #[arg(long)]
    dispatch: Option<Dispatch>,
    /// Threads [default: as many as the machine has, at most one a tile]
    #[arg(long)]
    threads: Option<usize>,
    /// Write every PE's every tick to a .jsonl or .vcd file
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw the wavefront, a grid a tick
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Most memory that array and streams may take, in GiB
    #[arg(long, default_value_t = 4, value_name = "GIB", value_parser = clap::value_parser!(u32).range(1..=65536))]
    memory_limit: u32,
    /// How to report; the wavefront is shown as text, up to 8×8
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Kinds of PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Plain multiply-accumulate: no tags, no checks
    Mac,
    /// The gateware's PE: tagged tokens, every check
    Token,
}

/// Ways to execute an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// One PE after another
    Interpreted,
    /// Tile by tile, on several threads
    Partitioned,
}

/// `RxC`: rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    rows: usize,
    columns: usize,
}

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<usize>, _> = text.split(['x', 'X', '×']).map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[rows, columns]) => Ok(Self { rows, columns }),
            _ => Err(format!("'{text}' is not rows and columns: write RxC, for example 4x8")),
        }
    }
}

/// What is to be run.
struct Job {
    shape: Pair,
    west: Option<Lanes>,
    north: Option<Lanes>,
    ticks: u64,
}

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// Arguments that do not go together, files that cannot be read or written, sizes beyond the memory limit.
pub fn main(arguments: &ArrayArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let tiled = arguments.tile.is_some() || arguments.dispatch.is_some() || arguments.threads.is_some();
    if arguments.backend == Backend::Interpreted && tiled {
        let text = "--tile, --dispatch and --threads are about tiles: leave out --backend interpreted";
        return Err(Error::Arguments(text.to_owned()).into());
    }
    // clap drops `requires` where the required argument conflicts with one that is given.
    if arguments.no_skew && arguments.matmul.is_none() {
        let text = "--no-skew is about --matmul: streams of one's own enter as they are";
        return Err(Error::Arguments(text.to_owned()).into());
    }
    let job = job(arguments)?;
    match arguments.pe {
        Kind::Mac => {
            let pe = Mac::<i32>::new();
            run(arguments, job, pe, |_, value| value, |&sum| (sum, None), cancel)
        }
        Kind::Token => {
            let lanes = || job.west.iter().chain(&job.north).flatten();
            let terms = lanes().map(|lane| lane.iter().flatten().count()).max().unwrap_or(0);
            if terms > 1 << 16 {
                let text = format!("a lane of {terms} tokens: their k has 16 bits, give at most 65536");
                return Err(Error::Arguments(text).into());
            }
            let pe = TokenPe { k_len: terms as u32, accumulator_bits: ACCUMULATOR_BITS };
            let token = |k, value| Token { value, job: 0, k: k as u16, valid: true };
            run(arguments, job, pe, token, |state| (state.acc, state.error), cancel)
        }
    }
}

/// Reads what is to be run, and finds the shape and the ticks that it takes.
fn job(arguments: &ArrayArgs) -> anyhow::Result<Job> {
    let limit = memory_limit(arguments);
    let (west, north) = if let Some([a, b]) = arguments.matmul.as_deref() {
        let (a, b) = (feed::read(a, limit)?, feed::read(b, limit)?);
        let (west, north) = feed::product(a, &b, !arguments.no_skew, limit)?;
        (Some(west), Some(north))
    } else {
        let read = |name: &Option<String>| name.as_deref().map(|name| feed::read(name, limit)).transpose();
        let (west, north) = (read(&arguments.west)?, read(&arguments.north)?);
        if let (Some(west), Some(north)) = (&west, &north)
            && west[0].len() != north[0].len()
        {
            let text = format!(
                "streams from the west have {} entries and those from the north {}: give as many to both",
                west[0].len(),
                north[0].len()
            );
            return Err(Error::Arguments(text).into());
        }
        (west, north)
    };
    let count = |lanes: &Option<Lanes>| lanes.as_ref().map(Vec::len);
    let shape = match (arguments.shape, count(&west), count(&north)) {
        (Some(shape), ..) => shape,
        (None, Some(rows), Some(columns)) => Pair { rows, columns },
        _ => {
            let text = "streams of one side alone do not tell the shape: give --shape RxC";
            return Err(Error::Arguments(text.to_owned()).into());
        }
    };
    let Pair { rows, columns } = shape;
    if rows == 0 || columns == 0 {
        return Err(Error::Array(SoftwareError::Size { rows, columns }).into());
    }
    for (side, lanes, places) in [("west", count(&west), rows), ("north", count(&north), columns)] {
        if let Some(lanes) = lanes.filter(|&lanes| lanes != places) {
            let text = format!("{lanes} streams from the {side} for an array that takes {places} there");
            return Err(Error::Arguments(text).into());
        }
    }
    let passing = |lanes: &Option<Lanes>, hops: usize| {
        let entries = lanes.iter().flatten().map(Vec::len).max();
        entries.map_or(0, |entries| (entries as u64).saturating_add(hops as u64 - 1))
    };
    let needed = passing(&west, columns).max(passing(&north, rows));
    Ok(Job { shape, ticks: arguments.ticks.unwrap_or(needed), west, north })
}

fn memory_limit(arguments: &ArrayArgs) -> u64 {
    u64::from(arguments.memory_limit) << 30
}

/// Builds the array, runs it and reports; `token` makes the k-th token of a lane, `read` gives a state's sum and error.
fn run<P>(
    arguments: &ArrayArgs,
    job: Job,
    pe: P,
    token: impl Fn(usize, i32) -> P::Token,
    read: impl Fn(&P::State) -> (i64, Option<ErrorKind>),
    cancel: &AtomicBool,
) -> anyhow::Result<u8>
where
    P: Drawn + Waves,
    P::Token: Serialize,
    P::State: Serialize,
{
    let Job { shape: Pair { rows, columns }, west, north, ticks } = job;
    let mut array = Array::new(rows, columns).fill(pe).memory_limit(memory_limit(arguments));
    array = array.connect(Direction::WestToEast).connect(Direction::NorthToSouth);
    for (side, lanes) in [(Side::West, west), (Side::North, north)] {
        let lanes = lanes.into_iter().flatten().enumerate().map(|(at, lane)| {
            let mut k = 0;
            let mut tag = |value| {
                k += 1;
                token(k - 1, value)
            };
            (at, lane.into_iter().map(|entry| entry.map(&mut tag)).collect::<Vec<_>>())
        });
        array = array.input(side, lanes);
    }
    let machine = Built::new(array, arguments)?;
    let drawing = arguments.svg.as_ref().map(|_| Drawing::new(rows, columns, ticks)).transpose();
    let drawing = drawing.map_err(Error::Array)?;
    let trace = arguments.trace.as_deref().map(|path| TraceFile::create::<P>(path, rows, columns));
    let trace = trace.transpose()?;
    let view = arguments.format == Format::Text && rows <= PRINTED && columns <= PRINTED;
    let view = view.then(|| TextView::new(Patient(std::io::stdout()), rows, columns));
    let outcome = if view.is_none() && trace.is_none() && drawing.is_none() {
        machine.run(ticks, &mut Off, cancel)?
    } else {
        let mut sinks = (view, (trace, drawing));
        let outcome = machine.run(ticks, &mut sinks, cancel)?;
        let (_, (trace, drawing)) = sinks;
        trace.map_or(Ok(()), TraceFile::finish)?;
        if let (Some(drawing), Some(path)) = (drawing, &arguments.svg) {
            std::fs::write(path, drawing.finish()).map_err(|error| failed(path, &error))?;
        }
        outcome
    };
    let pe = match arguments.pe {
        Kind::Mac => "mac",
        Kind::Token => "token",
    };
    let backend = match arguments.backend {
        Backend::Interpreted => "interpreted",
        Backend::Partitioned => "partitioned",
    };
    let report = ArrayReport::new([pe, backend], &outcome, read);
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&report.to_string())?,
    }
    Ok(exit::OK)
}
