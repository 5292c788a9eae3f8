//! `systole array`: an array in software, tick by tick.

mod built;
mod feed;
mod job;
mod report;
mod trace_file;

use super::Format;
use super::output::{Patient, print, print_json};
use crate::error::{Error, exit};
use crate::file;
use crate::matrix::MatrixError;
use crate::software::direct::{Comparable, Verdict, compare};
use crate::software::draw::{Drawing, Drawn, TextView};
use crate::software::mac::Operand;
use crate::software::trace::{Event, Off, Waves, bytes_a_pe};
use crate::software::{
    Array, Direction, Dispatch, Mac, Outcome, Pe, Side, SoftwareError, Token, TokenPe, TokenState,
};
use built::Built;
use clap::{Args, ValueEnum};
use feed::Entry;
use job::Job;
use report::{ArrayReport, PRINTED};
use serde::Serialize;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use systole_hdl::wire;
use trace_file::TraceFile;

/// Accumulator of the token PEs here: the widest that a design can have.
const ACCUMULATOR_BITS: u32 = 48;

/// Shown below the help text of this subcommand.
const EXAMPLES: &str = "\
Examples:
  A product of two matrices; the wavefront is shown tick by tick:
    systole array --matmul '[1,2;3,4]' '[5,6;7,8]'
  The same operands without skew meet the wrong partners. Plain MACs do not notice, and end with
  19 8 / 20 50; tokens carry their k, and two PEs raise errors:
    systole array --matmul '[1,2;3,4]' '[5,6;7,8]' --no-skew --ticks 5
    systole array --matmul '[1,2;3,4]' '[5,6;7,8]' --no-skew --ticks 5 --pe token --svg wavefront.svg
  Floats, from what the PEs hold already:
    systole array --matmul '[0.1,2;3,4]' '[5,6;7,8]' --pe mac-f64 --initial '[1,;,1]'
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
    /// Sums to start from, a row of the array each; an empty entry is 0
    #[arg(long, value_name = "SUMS")]
    initial: Option<String>,
    /// What the array is made of
    #[arg(long, value_enum, default_value_t = Kind::Mac)]
    pe: Kind,
    /// Ticks to run [default: until everything has passed the last PE]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
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
    /// Ticks that tiles execute between two barriers; with a trace, a drawing or the wavefront it is one [default: one]
    #[arg(long, value_name = "TICKS")]
    superstep: Option<usize>,
    /// Write every PE's every tick to a .jsonl or .vcd file
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw the wavefront, a grid a tick
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Most memory that array, streams and trace may take, in GiB
    #[arg(long, default_value_t = 4, value_name = "GIB", value_parser = clap::value_parser!(u32).range(1..=65536))]
    memory_limit: u32,
    /// How to report; the wavefront is shown as text, up to 8×8
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Kinds of PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Plain multiply-accumulate of whole numbers: no tags, no checks
    Mac,
    /// The same of floats of 32 bits
    MacF32,
    /// The same of floats of 64 bits
    MacF64,
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

impl Kind {
    /// The name, as on the command line.
    const fn name(self) -> &'static str {
        match self {
            Self::Mac => "mac",
            Self::MacF32 => "mac-f32",
            Self::MacF64 => "mac-f64",
            Self::Token => "token",
        }
    }
}

impl Backend {
    /// The name, as on the command line.
    const fn name(self) -> &'static str {
        match self {
            Self::Interpreted => "interpreted",
            Self::Partitioned => "partitioned",
        }
    }
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

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// Arguments that do not go together, files that cannot be read or written, sizes beyond the memory limit.
pub fn main(arguments: &ArrayArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let ArrayArgs { tile, dispatch, threads, superstep, .. } = arguments;
    let tiled = tile.is_some() || dispatch.is_some() || threads.is_some() || superstep.is_some();
    if arguments.backend == Backend::Interpreted && tiled {
        let text =
            "--tile, --dispatch, --threads and --superstep are about tiles: leave out --backend interpreted";
        return Err(Error::Arguments(text.to_owned()).into());
    }
    // clap drops `requires` where the required argument conflicts with one that is given.
    if arguments.no_skew && arguments.matmul.is_none() {
        let text = "--no-skew is about --matmul: streams of one's own enter as they are";
        return Err(Error::Arguments(text.to_owned()).into());
    }
    job::check_outputs(arguments)?;
    match arguments.pe {
        Kind::Mac => mac::<i32>(arguments, cancel),
        Kind::MacF32 => mac::<f32>(arguments, cancel),
        Kind::MacF64 => mac::<f64>(arguments, cancel),
        Kind::Token => tokens(arguments, cancel),
    }
}

impl ArrayArgs {
    /// Most memory in bytes that array and streams may take.
    fn memory_limit(&self) -> u64 {
        u64::from(self.memory_limit) << 30
    }

    /// Bytes that reports and traces take for each PE.
    fn beside<P: Waves, S>(&self) -> usize {
        // The sums as they are reported, and as they are compared.
        let sums = 3 * size_of::<S>();
        let events = if self.trace.is_some() || self.svg.is_some() { size_of::<Event<P>>() } else { 0 };
        let dump = self.trace.as_ref().is_some_and(|path| path.extension().is_some_and(|is| is == "vcd"));
        sums + events + if dump { bytes_a_pe::<P>() } else { 0 }
    }
}

/// What the program has to know of a kind of PE.
struct Filling<P: Pe, T: Operand + Entry> {
    pe: P,
    /// Makes the k-th token of a lane.
    token: fn(usize, T) -> P::Token,
    /// Makes the state of a PE that starts from a sum; `None` for one that it cannot hold.
    start: fn(T::Start) -> Option<P::State>,
    /// A state's sum.
    sum: fn(&P::State) -> T::Sum,
    /// A state's error, which the end of the job may bring about.
    error: fn(&P, &P::State, ended: bool) -> Option<wire::ErrorKind>,
}

fn mac<T>(arguments: &ArrayArgs, cancel: &AtomicBool) -> anyhow::Result<u8>
where
    T: Entry<Start = <T as Operand>::Sum> + Comparable<Sum: Display + Serialize>,
    Mac<T>: Pe<Token = T, State = T::Sum> + Drawn + Waves,
    T: Serialize,
{
    let filling = Filling {
        pe: Mac::<T>::new(),
        token: |_, value| value,
        start: Some,
        sum: |&sum| sum,
        error: |_, _, _| None,
    };
    run(arguments, Job::read(arguments)?, filling, cancel)
}

fn tokens(arguments: &ArrayArgs, cancel: &AtomicBool) -> anyhow::Result<u8> {
    let job = Job::<i32>::read(arguments)?;
    let lanes = || job.west.iter().chain(&job.north).flatten();
    let terms = lanes().map(|lane| lane.iter().flatten().count()).max().unwrap_or(0);
    if terms > 1 << 16 {
        let text = format!("a lane of {terms} tokens: their k has 16 bits, give at most 65536");
        return Err(Error::Arguments(text).into());
    }
    let filling = Filling {
        pe: TokenPe { k_len: terms as u32, accumulator_bits: ACCUMULATOR_BITS },
        token: |k, value| Token { value, job: 0, k: k as u16, valid: true },
        start: |acc| {
            let unused = 64 - ACCUMULATOR_BITS;
            (acc << unused >> unused == acc).then_some(TokenState { acc, ..TokenState::default() })
        },
        sum: |state| state.acc,
        error: |pe, state, ended| {
            let missing = ended && !pe.done(state);
            state.error.or(missing.then_some(wire::ErrorKind::MissingTerms))
        },
    };
    run(arguments, job, filling, cancel)
}

/// Builds the array, runs it and reports.
fn run<P, T>(
    arguments: &ArrayArgs,
    job: Job<T>,
    filling: Filling<P, T>,
    cancel: &AtomicBool,
) -> anyhow::Result<u8>
where
    P: Drawn + Waves<Token: Serialize, State: Serialize>,
    T: Entry<Start = <T as Operand>::Sum> + Comparable<Sum: Display + Serialize>,
{
    let Pair { rows, columns } = job.shape;
    let direct = Direct::new(arguments, &job);
    let Job { west, north, initial, ticks, .. } = job;
    let Filling { pe, token, start, sum, error } = filling;
    let mut array = Array::new(rows, columns).fill(pe.clone()).memory_limit(arguments.memory_limit());
    array = array.beside(arguments.beside::<P, T::Sum>());
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
    let states = initial.into_iter().map(|((row, column), sum)| {
        let wide =
            || format!("--initial: row {row}, column {column} is {sum}, beyond {ACCUMULATOR_BITS} bits");
        start(sum).map(|state| ((row, column), state)).ok_or_else(|| Error::Arguments(wide()))
    });
    array = array.initial(states.collect::<Result<Vec<_>, _>>()?);
    let machine = Built::new(array, arguments)?;
    let Some(outcome) = watch(arguments, machine, ticks, cancel)? else { return Ok(exit::OK) };
    let sums: Vec<T::Sum> = outcome.states.iter().map(sum).collect();
    let reference = direct.filter(|_| outcome.complete).map(|direct| direct.compare(&sums));
    let ended = outcome.complete;
    let report = ArrayReport::new(arguments, &outcome, sums, reference, |state| error(&pe, state, ended));
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&report.to_string())?,
    }
    // Streams of one's own may be cut off; a product that was asked for is there or is not.
    let whole = arguments.matmul.is_none() || outcome.complete;
    Ok(if whole && report.is_right() { exit::OK } else { exit::DIFFERENT })
}

/// Runs an array while everything that was asked for looks on; `None` when nobody does any more.
fn watch<P>(
    arguments: &ArrayArgs,
    machine: Built<P>,
    ticks: u64,
    cancel: &AtomicBool,
) -> Result<Option<Outcome<P::State>>, Error>
where
    P: Drawn + Waves<Token: Serialize, State: Serialize>,
{
    let (rows, columns) = machine.shape();
    let drawing = arguments.svg.as_ref().map(|_| Drawing::new(rows, columns, ticks)).transpose();
    let drawing = drawing.map_err(Error::Array)?;
    let trace = arguments.trace.as_deref().map(|path| TraceFile::create::<P>(path, rows, columns));
    let trace = trace.transpose()?;
    let view = arguments.format == Format::Text && rows <= PRINTED && columns <= PRINTED;
    if !view && trace.is_none() && drawing.is_none() {
        return machine.run(ticks, &mut Off, cancel).map(Some);
    }
    // Who has seen enough of the view ends the run, unless a file is to have all of it.
    let alone = trace.is_none() && drawing.is_none();
    let out: Box<dyn Write + Send> =
        if alone { Box::new(std::io::stdout()) } else { Box::new(Patient(std::io::stdout())) };
    let view = view.then(|| TextView::new(out, rows, columns));
    let mut sinks = (view, (trace, drawing));
    let outcome = machine.run(ticks, &mut sinks, cancel);
    let (_, (trace, drawing)) = sinks;
    // What happened before an error or a Ctrl-C is kept, whole lines of it. The error comes first.
    let finished = trace.map_or(Ok(()), TraceFile::finish);
    let outcome = match outcome {
        Err(Error::Array(SoftwareError::Trace { source, .. }))
            if alone && source.kind() == ErrorKind::BrokenPipe =>
        {
            return Ok(None);
        }
        outcome => outcome?,
    };
    finished?;
    if let (Some(drawing), Some(path)) = (drawing, &arguments.svg) {
        let written = file::replace(path, |file| file.write_all(drawing.finish().as_bytes()));
        written.map_err(|source| MatrixError::Write { path: path.clone(), source })?;
    }
    Ok(Some(outcome))
}

/// What a product is compared with.
struct Direct<T: Operand> {
    sizes: [usize; 3],
    a: Vec<T>,
    b: Vec<T>,
    initial: Vec<((usize, usize), T::Sum)>,
}

impl<T: Entry<Start = <T as Operand>::Sum> + Comparable> Direct<T> {
    /// The operands of a product that enters as it must; `None` for anything else.
    fn new(arguments: &ArrayArgs, job: &Job<T>) -> Option<Self> {
        let product = arguments.matmul.is_some() && !arguments.no_skew;
        let (west, north) = (job.west.as_ref().filter(|_| product)?, job.north.as_ref()?);
        let Pair { rows: m, columns: p } = job.shape;
        let lane = |lane: &[Option<T>]| lane.iter().copied().flatten().collect::<Vec<T>>();
        let (west, north): (Vec<_>, Vec<_>) =
            (west.iter().map(|l| lane(l)).collect(), north.iter().map(|l| lane(l)).collect());
        let k = west[0].len();
        let b = (0..k).flat_map(|k| north.iter().map(move |column| column[k])).collect();
        Some(Self { sizes: [m, k, p], a: west.concat(), b, initial: job.initial.clone() })
    }

    fn compare(&self, sums: &[T::Sum]) -> Verdict<T::Sum> {
        let mut start = vec![T::Sum::default(); sums.len()];
        let columns = self.sizes[2];
        self.initial.iter().for_each(|&((row, column), sum)| start[row * columns + column] = sum);
        compare(sums, &start, self.sizes, &self.a, &self.b)
    }
}
