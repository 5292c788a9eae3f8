//! What is known of a board.

use crate::device::Family;
use serde::Deserialize;
use systole_hdl::parameters::Parameters;

/// A board with one of the devices that it is sold with.
#[derive(Clone, Debug)]
pub struct Board {
    /// Its name on the command line.
    pub name: String,
    /// Its name in the shop.
    pub title: String,
    /// The FPGA.
    pub fpga: Fpga,
    /// The oscillator.
    pub clock: Clock,
    /// How the oscillator reaches a PLL; `None` where the design runs on the oscillator itself.
    pub pll: Option<Pll>,
    /// The UART between FPGA and USB chip.
    pub uart: Uart,
    /// The lamps.
    pub leds: Leds,
    /// Pins that must be held at a level for the board to work.
    pub ties: Vec<Tie>,
    /// The USB chip, as the computer sees it.
    pub usb: Usb,
    /// How an image gets in.
    pub program: Program,
    /// What a person has to set on the board: jumpers, bridges.
    pub note: Option<String>,
    /// The design built when nothing else is asked for.
    pub parameters: Parameters,
    /// The placer's seed that is tried first: the one by which that design was placed.
    pub seed: u32,
    /// What that design was verified to.
    pub level: Level,
    /// The largest array known to fit.
    pub largest: Largest,
    /// Where the facts are from.
    pub sources: Vec<Source>,
}

/// The FPGA, in the words of the toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fpga {
    /// Which tools make its images.
    pub family: Family,
    /// The device, as nextpnr calls it.
    pub device: String,
    /// The package, as nextpnr calls it.
    pub package: String,
    /// The speed grade, where nextpnr asks for one.
    pub speed: Option<String>,
    /// Whether the placer minds the length of wires alone and not the clock, as designs need that would not route else.
    pub wires_first: bool,
}

/// A clock input.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Clock {
    /// Where it enters.
    pub pin: Pin,
    /// Its rate in hertz.
    pub hz: u32,
}

/// How the clock pin reaches a PLL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pll {
    /// The pin is the PLL's own: on iCE40 an `SB_PLL40_PAD`.
    Pad,
    /// Through the fabric: on iCE40 an `SB_PLL40_CORE`, on ECP5 an `EHXPLLL`.
    Core,
}

/// The UART, seen from the FPGA.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Uart {
    /// Into the FPGA.
    pub rx: Pin,
    /// Out of the FPGA.
    pub tx: Pin,
}

/// Three lamps.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Leds {
    /// Nothing to do.
    pub idle: Pin,
    /// A job is running.
    pub busy: Pin,
    /// Something went wrong since HELLO.
    pub error: Pin,
}

/// A pin held at a level.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tie {
    /// What the board calls it.
    pub name: String,
    /// Where it is.
    pub pin: Pin,
    /// The level.
    pub level: TieLevel,
    /// What happens otherwise.
    pub reason: String,
}

/// A level to hold a pin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieLevel {
    /// 1.
    High,
    /// 0.
    Low,
}

/// A pin of the package, and how it is driven.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pin {
    /// Its name in the package.
    pub at: String,
    /// The I/O standard; `None` on iCE40, whose tools ask for none.
    pub standard: Option<Standard>,
    /// A resistor within the FPGA.
    pub pull: Option<Pull>,
    /// What is on the board is on when the pin is low.
    #[serde(default)]
    pub active_low: bool,
}

/// An I/O standard: the voltage of the pin's bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Standard {
    /// 1.8 V.
    Lvcmos18,
    /// 2.5 V.
    Lvcmos25,
    /// 3.3 V.
    Lvcmos33,
}

impl Standard {
    /// As the tools of ECP5 and Gowin write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lvcmos18 => "LVCMOS18",
            Self::Lvcmos25 => "LVCMOS25",
            Self::Lvcmos33 => "LVCMOS33",
        }
    }
}

/// A resistor at a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pull {
    /// To the supply.
    Up,
    /// To ground.
    Down,
}

/// The USB chip.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Usb {
    /// The chip.
    pub chip: String,
    /// Vendor.
    pub vid: u16,
    /// Product.
    pub pid: u16,
    /// The interface of the UART, from 0.
    pub interface: u8,
    /// What the chip says its product is, or part of that; boards of equal ids are told apart by it. Any of these.
    pub products: Vec<String>,
    /// Fastest UART rate of the chip, in bits a second.
    pub max_baud: u32,
}

/// How an image gets in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Program {
    /// The program that writes it.
    pub tool: Programmer,
    /// What that program calls the board, where it asks.
    pub target: Option<String>,
    /// The USB interface it writes through, from 0.
    pub interface: u8,
    /// Where it is written when nothing else is asked for.
    pub memory: Memory,
    /// Where it can be written.
    pub memories: Vec<Memory>,
}

/// A program that writes images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Programmer {
    /// Of Project IceStorm.
    #[serde(rename = "iceprog")]
    Iceprog,
    /// For most others.
    #[serde(rename = "openFPGALoader")]
    OpenFpgaLoader,
}

impl Programmer {
    /// The program's file name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iceprog => "iceprog",
            Self::OpenFpgaLoader => "openFPGALoader",
        }
    }
}

/// Where an image is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// In the FPGA, until the power goes.
    Sram,
    /// Beside or in the FPGA, which loads it at power-up.
    Flash,
}

impl Memory {
    /// The word for it in board files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sram => "sram",
            Self::Flash => "flash",
        }
    }
}

/// How real a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Added up from parts.
    Estimated,
    /// Placed and routed, with timing met.
    Placed,
    /// The synthesized netlist passed the suites too.
    PostSynthesis,
    /// Run on the board.
    RealBoard,
}

impl Level {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Estimated => "estimated",
            Self::Placed => "placed",
            Self::PostSynthesis => "post-synthesis",
            Self::RealBoard => "real-board",
        }
    }
}

/// The largest array known to fit a device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Largest {
    /// Grid side.
    pub n: u32,
    /// How that is known.
    pub level: Level,
    /// What the next larger one lacked when it was tried.
    pub beyond: Option<String>,
}

/// A public place that states facts of the board.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Source {
    /// The repository, `owner/name` on GitHub.
    pub repository: String,
    /// The file in it, or `issues/NUMBER`.
    pub path: String,
    /// What it states just as this file does.
    pub confirms: Vec<Fact>,
    /// Where it differs, and why it is not followed there.
    pub differs: Option<String>,
}

/// A group of facts that sources state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// Pin and rate of the oscillator.
    Clock,
    /// Pins of the UART, and their directions.
    Uart,
    /// Pins of the lamps.
    Leds,
    /// Pins tied off, and their levels.
    Ties,
    /// Ids of the USB chip.
    Usb,
    /// How images are written, and the jumpers for it.
    Program,
}

impl Fact {
    /// The key that holds it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Uart => "uart",
            Self::Leds => "leds",
            Self::Ties => "ties",
            Self::Usb => "usb",
            Self::Program => "program",
        }
    }
}
