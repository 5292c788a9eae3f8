//! Board files: what stands in them, and how a board is made of it.

use crate::board::{
    Board, Clock, Fpga, Largest, Leds, Level, Pin, Pll, Program, Source, Standard, Tie, Uart, Usb,
};
use crate::check;
use crate::device::Family;
use crate::error::BoardError;
use serde::Deserialize;
use systole_hdl::parameters::Parameters;

/// A file: what its boards have in common, and a variant for each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    title: String,
    note: Option<String>,
    fpga: Fabric,
    clock: Clock,
    pll: Option<Pll>,
    uart: Uart,
    leds: Leds,
    #[serde(default)]
    ties: Vec<Tie>,
    usb: Usb,
    program: Program,
    #[serde(default)]
    variant: Vec<Variant>,
    #[serde(default)]
    sources: Vec<Source>,
}

/// What the variants' FPGAs have in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Fabric {
    family: Family,
    package: String,
    speed: Option<String>,
    /// Of every pin that names none.
    standard: Option<Standard>,
}

/// A board with one device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Variant {
    name: String,
    device: String,
    level: Level,
    #[serde(default = "first_seed")]
    seed: u32,
    #[serde(default)]
    wires_first: bool,
    largest: Largest,
    design: Design,
}

fn first_seed() -> u32 {
    1
}

/// Design parameters by their names on the command line. What is left out has its default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Design {
    n: u32,
    clock: u32,
    baud: u32,
    w: Option<u32>,
    aw: Option<u32>,
    k_max: Option<u32>,
    job_bits: Option<u32>,
    a_depth: Option<u32>,
    b_depth: Option<u32>,
    fifo: Option<u32>,
}

impl Design {
    fn parameters(&self) -> Parameters {
        let default = Parameters::default();
        Parameters {
            n: self.n,
            w: self.w.unwrap_or(default.w),
            aw: self.aw.unwrap_or(default.aw),
            k_max: self.k_max.unwrap_or(default.k_max),
            job_bits: self.job_bits.unwrap_or(default.job_bits),
            a_depth: self.a_depth.unwrap_or(default.a_depth),
            b_depth: self.b_depth.unwrap_or(default.b_depth),
            fifo: self.fifo.unwrap_or(default.fifo),
            clock_hz: self.clock,
            baud: self.baud,
            injection: default.injection,
        }
    }
}

/// Reads the text of a board file, and checks all of it. `name` is the file's, `NAME.toml`.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(name: &str, text: &str) -> Result<Vec<Board>, BoardError> {
    let syntax = |error| BoardError::Syntax { file: name.to_owned(), error: Box::new(error) };
    let mut file: File = toml::from_str(text).map_err(syntax)?;
    if let Some(standard) = file.fpga.standard {
        for pin in file.pins() {
            pin.standard.get_or_insert(standard);
        }
    }
    let boards: Vec<Board> = file.variant.iter().map(|variant| file.board(variant)).collect();
    check::names(name, &boards)?;
    boards.iter().try_for_each(|board| check::board(name, board))?;
    Ok(boards)
}

impl File {
    fn pins(&mut self) -> impl Iterator<Item = &mut Pin> {
        let Leds { idle, busy, error } = &mut self.leds;
        let Uart { rx, tx } = &mut self.uart;
        [&mut self.clock.pin, rx, tx, idle, busy, error]
            .into_iter()
            .chain(self.ties.iter_mut().map(|t| &mut t.pin))
    }

    fn board(&self, variant: &Variant) -> Board {
        Board {
            name: variant.name.clone(),
            title: self.title.clone(),
            fpga: Fpga {
                family: self.fpga.family,
                device: variant.device.clone(),
                package: self.fpga.package.clone(),
                speed: self.fpga.speed.clone(),
                wires_first: variant.wires_first,
            },
            clock: self.clock.clone(),
            pll: self.pll,
            uart: self.uart.clone(),
            leds: self.leds.clone(),
            ties: self.ties.clone(),
            usb: self.usb.clone(),
            program: self.program.clone(),
            note: self.note.clone(),
            parameters: variant.design.parameters(),
            seed: variant.seed,
            level: variant.level,
            largest: variant.largest.clone(),
            sources: self.sources.clone(),
        }
    }
}
