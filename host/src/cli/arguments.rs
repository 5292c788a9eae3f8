//! Arguments that several subcommands share.

use crate::error::Error;
use crate::link::Link;
use crate::link::sim::SimLink;
use crate::link::software::SoftwareLink;
use clap::{Args, ValueEnum};
use std::str::FromStr;
use systole_firmware::design::Design;
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::Origin;

/// The design's parameters.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Design")]
pub struct DesignArgs {
    /// Grid side, 1 to 32 [default: 4]
    #[arg(long)]
    n: Option<u32>,
    /// Operand bits, 2 to 16 [default: 8]
    #[arg(long)]
    w: Option<u32>,
    /// Accumulator bits, 2·w to 48 [default: 32]
    #[arg(long)]
    aw: Option<u32>,
    /// Longest reduction of one job, 1 to 65536 [default: 256]
    #[arg(long)]
    k_max: Option<u32>,
    /// Job tag bits, 1 to 8 [default: 2]
    #[arg(long)]
    job_bits: Option<u32>,
    /// Operands a lane in bank A, k-max to 65536 [default: 512]
    #[arg(long)]
    a_depth: Option<u32>,
    /// Operands a lane in bank B, k-max to 65536 [default: 1024]
    #[arg(long)]
    b_depth: Option<u32>,
    /// Bytes of the command FIFO, a power of two [default: 4096]
    #[arg(long)]
    fifo: Option<u32>,
    /// Clock in hertz [default: 24000000]
    #[arg(long)]
    clock: Option<u32>,
    /// UART rate in bits a second [default: 3000000]
    #[arg(long)]
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
        Ok(Design::new(Parameters {
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
        })?)
    }
}

/// What to talk to.
#[derive(Clone, Debug, Args)]
pub struct LinkArgs {
    /// What to talk to
    #[arg(long, value_enum, default_value_t = LinkKind::Sim)]
    link: LinkKind,
}

/// The links there are.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LinkKind {
    /// The gateware, simulated in rust-hdl
    Sim,
    /// The software backend alone
    Software,
}

impl LinkArgs {
    /// Opens the link to a board of this design.
    pub fn open(&self, design: &Design) -> Box<dyn Link> {
        let identity = design.identity(Origin::Simulated);
        match self.link {
            LinkKind::Sim => Box::new(SimLink::new(&identity, None)),
            LinkKind::Software => Box::new(SoftwareLink::new(identity)),
        }
    }
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
}
