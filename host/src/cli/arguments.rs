//! Arguments that several subcommands share.

use super::output::say;
use crate::connect::{Connection, meet};
use crate::discover::Machine;
use crate::error::Error;
use crate::link::auto;
use crate::link::target::{self, LinkSpec};
use clap::{Args, ValueEnum};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use systole_firmware::design::Design;
use systole_hdl::parameters::{
    AW_MOST, BAUD_RANGE, CLOCK_RANGE, DEPTH_MOST, FIFO_MOST, JOB_BITS_RANGE, K_MAX_RANGE, MIN_CLOCKS_PER_BIT,
    N_RANGE, Parameters, W_RANGE,
};

/// What is taken for a parameter that is not given.
const DEFAULT: Parameters = Parameters::DEFAULT;

/// Above the design's parameters in the help.
pub const DESIGN_HEADING: &str = "Design";

/// Help of a parameter with its range and its default.
fn ranged(what: &str, low: impl Display, high: u32, default: u32) -> String {
    format!("{what}, {low} to {high} [default: {default}]")
}

fn fixed(what: &str, range: &RangeInclusive<u32>, default: u32) -> String {
    ranged(what, range.start(), *range.end(), default)
}

/// The design's parameters.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = DESIGN_HEADING)]
pub struct DesignArgs {
    #[arg(long, help = fixed("Grid side", &N_RANGE, DEFAULT.n))]
    n: Option<u32>,
    #[arg(long, help = fixed("Operand bits", &W_RANGE, DEFAULT.w))]
    w: Option<u32>,
    #[arg(long, help = ranged("Accumulator bits", "2·w", AW_MOST, DEFAULT.aw))]
    aw: Option<u32>,
    #[arg(long, help = fixed("Longest reduction of one job", &K_MAX_RANGE, DEFAULT.k_max))]
    k_max: Option<u32>,
    #[arg(long, help = fixed("Job tag bits", &JOB_BITS_RANGE, DEFAULT.job_bits))]
    job_bits: Option<u32>,
    #[arg(long, help = ranged("Operands a lane in bank A", "k-max", DEPTH_MOST, DEFAULT.a_depth))]
    a_depth: Option<u32>,
    #[arg(long, help = ranged("Operands a lane in bank B", "k-max", DEPTH_MOST, DEFAULT.b_depth))]
    b_depth: Option<u32>,
    #[arg(long, help = ranged(
        "Bytes of the command FIFO, a power of two",
        &format!("{} (more with large n·w)", Parameters { n: 1, ..DEFAULT }.smallest_fifo()),
        FIFO_MOST,
        DEFAULT.fifo,
    ))]
    fifo: Option<u32>,
    #[arg(long, help = fixed("Clock in hertz", &CLOCK_RANGE, DEFAULT.clock_hz))]
    clock: Option<u32>,
    #[arg(long, help = fixed(
        &format!("UART rate in bits a second, {MIN_CLOCKS_PER_BIT} or more clocks a bit"),
        &BAUD_RANGE,
        DEFAULT.baud,
    ))]
    baud: Option<u32>,
    /// Leave out the gateware that injects faults
    #[arg(long)]
    no_injection: bool,
}

impl DesignArgs {
    /// The design that these arguments and the defaults describe.
    ///
    /// # Errors
    /// The first parameter out of range.
    pub fn design(&self) -> Result<Design, Error> {
        self.over(&Parameters::default())
    }

    /// The design that these arguments and the parameters of another describe.
    ///
    /// # Errors
    /// The first parameter out of range.
    pub fn over(&self, d: &Parameters) -> Result<Design, Error> {
        Ok(Design::new(self.put_over(d))?)
    }

    /// The parameters of another design with those of these arguments in their places, in range or not.
    pub fn put_over(&self, d: &Parameters) -> Parameters {
        Parameters {
            n: self.n.unwrap_or(d.n),
            w: self.w.unwrap_or(d.w),
            aw: self.aw.unwrap_or(d.aw),
            k_max: self.k_max.unwrap_or(d.k_max),
            job_bits: self.job_bits.unwrap_or(d.job_bits),
            a_depth: self.a_depth.unwrap_or(d.a_depth),
            b_depth: self.b_depth.unwrap_or(d.b_depth),
            fifo: self.fifo.unwrap_or(d.fifo),
            clock_hz: self.clock.unwrap_or(d.clock_hz),
            baud: self.baud.unwrap_or(d.baud),
            injection: d.injection && !self.no_injection,
        }
    }
}

/// How much memory a product may take.
#[derive(Clone, Copy, Debug, Args)]
pub struct MemoryArgs {
    /// Most memory that matrices may take, in GiB
    #[arg(long, default_value_t = 4, value_name = "GIB", value_parser = clap::value_parser!(u32).range(1..=65536))]
    memory_limit: u32,
}

impl MemoryArgs {
    /// The limit in bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.memory_limit) << 30
    }
}

/// What to talk to.
#[derive(Clone, Debug, Args)]
pub struct LinkArgs {
    #[arg(long, value_name = "LINK", help = format!("What to talk to [default: sim]{}", target::help()))]
    link: Option<LinkSpec>,
}

impl LinkArgs {
    /// Opens the link and asks who is there; design parameters that are given are held against the answer. What the
    /// user should know goes to standard error.
    ///
    /// # Errors
    /// Why the link cannot be opened; as [`meet`].
    pub fn connect(&self, design: &DesignArgs, cancel: &AtomicBool) -> Result<Connection, Error> {
        let default = "sim".parse().map_err(Error::Arguments);
        let spec = self.link.clone().map_or(default, Ok)?;
        let boards = self.link.is_none().then(|| note_of_boards(&Machine::default())).flatten();
        let tell = |note: &String| say(&format!("systole: note: {note}"));
        boards.iter().for_each(tell);
        let asked = |parameters: &Parameters| design.put_over(parameters);
        let mut opened = spec.target().open(&asked)?;
        // Where nobody answers these tell where that was.
        opened.notes.drain(..).for_each(|note| tell(&note));
        let connection = meet(opened, &asked, cancel)?;
        connection.notes.iter().for_each(tell);
        Ok(connection)
    }

    /// The link as it was given, if one was.
    pub fn text(&self) -> Option<String> {
        self.link.as_ref().map(ToString::to_string)
    }
}

/// What to say when a board is there and nobody asked for one, so that no simulation is taken for it.
fn note_of_boards(machine: &Machine) -> Option<String> {
    let boards = auto::candidates(machine);
    let port = boards.first()?;
    let link = if boards.len() == 1 { "auto".to_owned() } else { port.link() };
    let board = auto::describe(port);
    Some(format!(
        "this is a simulation; to talk to the board at {}, {board}, use --link {link}",
        port.path.display()
    ))
}

/// How to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// Sizes of a product: `MxKxP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows of A.
    pub m: usize,
    /// Columns of A.
    pub k: usize,
    /// Columns of B.
    pub p: usize,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a size: write MxKxP, for example 64x48x80");
        let numbers: Result<Vec<usize>, _> = text.split(['x', 'X', '×']).map(str::parse).collect();
        match numbers.map_err(|_| wrong())?[..] {
            [m, k, p] if m > 0 && k > 0 && p > 0 => Ok(Self { m, k, p }),
            [_, _, _] => Err("every side must be at least 1".to_owned()),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::made::Made;

    #[test]
    fn sizes_are_read_or_explained() {
        assert_eq!("64x48x80".parse(), Ok(Size { m: 64, k: 48, p: 80 }));
        assert!("64x48".parse::<Size>().is_err_and(|text| text.contains("write MxKxP")));
        assert!("64x48xq".parse::<Size>().is_err_and(|text| text.contains("write MxKxP")));
        assert_eq!("0x1x1".parse::<Size>(), Err("every side must be at least 1".to_owned()));
    }

    #[test]
    fn arguments_become_parameters_by_name() {
        let arguments = DesignArgs {
            n: Some(3),
            w: Some(9),
            aw: Some(33),
            k_max: Some(7),
            job_bits: Some(3),
            a_depth: Some(11),
            b_depth: Some(13),
            fifo: Some(512),
            clock: Some(48_000_000),
            baud: Some(1_000_000),
            no_injection: true,
        };
        let expected = Parameters {
            n: 3,
            w: 9,
            aw: 33,
            k_max: 7,
            job_bits: 3,
            a_depth: 11,
            b_depth: 13,
            fifo: 512,
            clock_hz: 48_000_000,
            baud: 1_000_000,
            injection: false,
        };
        assert_eq!(arguments.design().expect("in range").parameters(), &expected);
        assert_eq!(DesignArgs::default().design().expect("in range").parameters(), &Parameters::default());
    }

    #[test]
    fn a_board_that_is_there_is_no_simulation() {
        let made = Made::new();
        assert_eq!(note_of_boards(&made.machine()), None);
        made.usb("devices/pci0/usb1/1-2", 4, "0403:6010", "iCEBreaker V1.0e", "ib1");
        made.ftdi_port("devices/pci0/usb1/1-2", 1, "ttyUSB1");
        let note = note_of_boards(&made.machine()).expect("a board");
        let port = format!("{}/dev/ttyUSB1", made.0.path().display());
        let text = "icebreaker (serial number ib1), use --link";
        assert_eq!(note, format!("this is a simulation; to talk to the board at {port}, {text} auto"));
        made.usb("devices/pci0/usb1/1-3", 5, "0403:6010", "iCEBreaker V1.0e", "ib2");
        made.ftdi_port("devices/pci0/usb1/1-3", 1, "ttyUSB3");
        let note = note_of_boards(&made.machine()).expect("two");
        assert!(note.ends_with(&format!("{text} serial:{port}")), "{note}");
    }
}
