//! Placing, routing and packing a netlist.

use super::file::{incomplete, read, write};
use super::synthesis::{NETLIST, TOP};
use super::{BuildError, constraints};
use crate::toolchain::{Found, ToolchainError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use systole_boards::{Fpga, device::Family};

/// nextpnr's own report.
const REPORT: &str = "report.json";

/// What a netlist takes of a device, by nextpnr's names: used and available.
pub type Utilisation = BTreeMap<String, (u64, u64)>;

/// A placed and routed netlist.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The seed of the placer.
    pub seed: u32,
    /// What it takes.
    pub utilisation: Utilisation,
    /// Rate that the slowest clock reaches, in hertz.
    pub fmax_hz: u64,
    /// The same by icetime, where it was asked.
    pub icetime_hz: Option<u64>,
}

impl Placed {
    /// The rate that is reached by everybody's reckoning, in hertz.
    pub fn reached_hz(&self) -> u64 {
        self.fmax_hz.min(self.icetime_hz.unwrap_or(u64::MAX))
    }
}

/// nextpnr's report, as far as it is read.
#[derive(Deserialize)]
struct Report {
    fmax: BTreeMap<String, Fmax>,
}

#[derive(Deserialize)]
struct Fmax {
    /// In MHz.
    achieved: f64,
}

/// The tools of a family after synthesis.
#[derive(Clone, Debug)]
pub struct Backend<'a> {
    /// Place and route.
    pub nextpnr: &'a Found,
    /// Bitstream.
    pub packer: &'a Found,
    /// The device.
    pub fpga: &'a Fpga,
}

/// File name of a bitstream.
pub fn image_file(family: Family) -> String {
    format!("image.{}", family.ending())
}

/// What nextpnr writes for the packer.
fn placed_file(family: Family, seed: u32) -> String {
    let ending = match family {
        Family::Ice40 => "asc",
        Family::Ecp5 => "config",
        Family::Gowin => "json",
    };
    format!("placed-{seed}.{ending}")
}

/// What was placed on an iCE40, with a label.
const LABELLED: &str = "labelled.asc";

/// What nextpnr says while it places with a seed.
pub fn log_file(seed: u32) -> String {
    format!("place-{seed}.log")
}

/// Arguments of nextpnr that say which device and which files.
pub fn arguments(fpga: &Fpga, seed: u32) -> Vec<String> {
    let text = |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    let flag = format!("--{}", fpga.device);
    let (pins, placed) = (constraints::file(fpga.family), &placed_file(fpga.family, seed));
    let mut all = match fpga.family {
        Family::Ice40 => text(&[&flag, "--package", &fpga.package, "--pcf", pins, "--asc", placed]),
        // Its default router had 65,000 of the 81,000 connections of a 12×12 array still to do after a quarter of an hour.
        Family::Ecp5 => {
            let router = ["--router", "router2"];
            text(
                &[&[&flag, "--package", &fpga.package, "--lpf", pins, "--textcfg", placed], &router[..]]
                    .concat(),
            )
        }
        Family::Gowin => {
            let (family, cst) = (format!("family={}", chip(fpga)), format!("cst={pins}"));
            text(&["--device", &fpga.device, "--vopt", &family, "--vopt", &cst, "--write", placed])
        }
    };
    if fpga.wires_first {
        all.push("--no-tmdriv".into());
    }
    if let Some(speed) = &fpga.speed {
        all.extend(text(&["--speed", speed]));
    }
    all.extend(text(&["--json", NETLIST, "--top", TOP]));
    all
}

impl Backend<'_> {
    /// What the netlist in `folder` takes of the device, without placing it.
    ///
    /// # Errors
    /// nextpnr cannot be run, or does not tell.
    pub fn utilisation(&self, folder: &Path) -> Result<Utilisation, BuildError> {
        const LOG: &str = "utilisation.log";
        let mut all = arguments(self.fpga, 0);
        all.push("--pack-only".into());
        match self.nextpnr.run(folder, &all, LOG) {
            Ok(()) => self.told(&folder.join(LOG)),
            // What does not fit may end as a failure, but only after the table.
            Err(failed @ ToolchainError::Failed { .. }) => {
                self.told(&folder.join(LOG)).map_err(|_| failed.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The table of what is used, in a log.
    fn told(&self, log: &Path) -> Result<Utilisation, BuildError> {
        let tool = self.nextpnr.tool;
        let utilisation = utilisation(&read(tool, log)?);
        if utilisation.is_empty() {
            return Err(incomplete(tool, log, "it does not tell what is used of the device"));
        }
        Ok(utilisation)
    }

    /// Places and routes the netlist in `folder` for a clock.
    ///
    /// # Errors
    /// nextpnr fails for another reason than the clock.
    pub fn place(&self, folder: &Path, clock_hz: u32, seed: u32) -> Result<Placed, BuildError> {
        let mut all = arguments(self.fpga, seed);
        let (mhz, seed_text) = (format!("{}", f64::from(clock_hz) / 1e6), seed.to_string());
        all.extend(["--freq", &mhz, "--seed", &seed_text, "--report", REPORT].map(str::to_owned));
        // What misses the clock is judged by its report, and a failure is then one of the tool.
        all.push("--timing-allow-fail".to_owned());
        // What another seed left must not be taken for this one's.
        let report = folder.join(REPORT);
        std::fs::write(&report, "").map_err(|source| BuildError::Io { path: report.clone(), source })?;
        let log = log_file(seed);
        self.nextpnr.run(folder, &all, &log)?;
        let utilisation = self.told(&folder.join(log))?;
        match slowest_clock(&read(self.nextpnr.tool, &report)?) {
            Some(fmax_hz) => Ok(Placed { seed, utilisation, fmax_hz, icetime_hz: None }),
            None => Err(incomplete(self.nextpnr.tool, &report, "it tells no clock")),
        }
    }

    /// Makes the bitstream of what was placed with a seed, with a label where its form has a place for one.
    ///
    /// # Errors
    /// The packer fails, a file cannot be read or written.
    pub fn pack(&self, folder: &Path, seed: u32, label: &[String]) -> Result<(), BuildError> {
        let (placed, image) = (&*placed_file(self.fpga.family, seed), image_file(self.fpga.family));
        let all: Vec<&str> = match self.fpga.family {
            Family::Ice40 => {
                // Of several comments icepack keeps the last, and nextpnr begins with one.
                let text = read(self.nextpnr.tool, &folder.join(placed))?;
                write(&folder.join(LABELLED), &format!("{text}.comment\n{}\n", label.join("\n")))?;
                vec![LABELLED, &image]
            }
            Family::Ecp5 => vec!["--compress", "--input", placed, "--bit", &image],
            Family::Gowin => vec!["-d", chip(self.fpga), "-o", &image, placed],
        };
        Ok(self.packer.run(folder, all, "pack.log")?)
    }
}

/// Arguments of icetime for what was placed with a seed.
pub fn icetime_arguments(fpga: &Fpga, seed: u32) -> Vec<String> {
    let pins = constraints::file(fpga.family);
    let placed = placed_file(fpga.family, seed);
    ["-d", &fpga.device, "-P", &fpga.package, "-p", pins, "-t", &placed].map(str::to_owned).into()
}

/// The rate that icetime tells, in hertz.
pub fn icetime_clock(log: &str) -> Option<u64> {
    let line = log.lines().find(|line| line.starts_with("Total path delay"))?;
    let mhz: f64 = line.split_once('(')?.1.split_whitespace().next()?.parse().ok()?;
    Some((mhz * 1e6) as u64)
}

/// What gowin_pack and himbaechel call the chip.
fn chip(fpga: &Fpga) -> &str {
    fpga.family.device(&fpga.device).map_or(&fpga.device, |device| device.chip)
}

/// Rate of the slowest clock in nextpnr's report, in hertz.
fn slowest_clock(report: &str) -> Option<u64> {
    let report: Report = serde_json::from_str(report).ok()?;
    let slowest = report.fmax.values().map(|clock| clock.achieved).min_by(f64::total_cmp)?;
    Some((slowest * 1e6) as u64)
}

/// The table of what is used, in nextpnr's log. It comes before placement, hence also when something does not fit.
fn utilisation(log: &str) -> Utilisation {
    let table = log.lines().skip_while(|line| !line.contains("Device utilisation")).skip(1);
    table
        .map_while(|line| {
            let (name, counts) = line.trim_start_matches("Info:").trim().split_once(':')?;
            let (used, rest) = counts.split_once('/')?;
            let available = rest.split_whitespace().next()?;
            Some((name.to_owned(), (used.trim().parse().ok()?, available.parse().ok()?)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_log_is_read() {
        let log = "Info: Packing constants..\nInfo: Device utilisation:\n\
                   Info: \t         ICESTORM_LC:    2732/   5280    51%\n\
                   Info: \t               SB_IO:     153/     39   392%\n\n\
                   Info: Placed 4 cells based on constraints.\n";
        let expected = [("ICESTORM_LC".to_owned(), (2732, 5280)), ("SB_IO".to_owned(), (153, 39))];
        assert_eq!(utilisation(log), expected.into());
        assert!(utilisation("ERROR: no such device\n").is_empty());
    }

    #[test]
    fn icetime_tells_a_delay_and_a_rate() {
        let log = "Total number of logic levels: 12\nTotal path delay: 37.37 ns (26.76 MHz)\n\n";
        assert_eq!(icetime_clock(log), Some(26_760_000));
        assert_eq!(icetime_clock("Can't find chipdb file for device 5k\n"), None);
    }

    #[test]
    fn the_slowest_clock_counts() {
        let report =
            r#"{"fmax": {"a": {"achieved": 44.5, "constraint": 24}, "b": {"achieved": 30.25}}, "x": []}"#;
        assert_eq!(slowest_clock(report), Some(30_250_000));
        assert_eq!(slowest_clock(r#"{"fmax": {}}"#), None);
        assert_eq!(slowest_clock(""), None);
    }
}
