//! What an image takes of its device, and how fast it is.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use systole_boards::device::Family;

/// How much of something an image needs, and how much there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// What it is.
    pub name: String,
    /// How many the image needs.
    pub needed: u64,
    /// How many the device has.
    pub available: u64,
}

impl Resource {
    /// Whether there are too few.
    pub fn is_short(&self) -> bool {
        self.needed > self.available
    }
}

/// A stage of a build and how long it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// What was done.
    pub stage: String,
    /// For how long, in seconds.
    pub seconds: f64,
}

/// A finished image in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The board's name.
    pub board: String,
    /// The FPGA: device and package.
    pub device: String,
    /// Grid side.
    pub n: u32,
    /// Clock asked for, in hertz.
    pub clock_hz: u32,
    /// Rate that the slowest clock reaches, in hertz.
    pub fmax_hz: u64,
    /// Whether the clock asked for is reached.
    pub timing_met: bool,
    /// What icetime makes of it, in hertz; `None` where it did not tell. nextpnr times the multipliers of an iCE40 as if
    /// they had registers.
    pub icetime_hz: Option<u64>,
    /// UART rate, in bits a second.
    pub baud: u32,
    /// Seed of the placer.
    pub seed: u32,
    /// Seeds that were tried.
    pub seeds_tried: Vec<u32>,
    /// Multiplications and additions a second, in billions: N² a clock.
    pub gmacs: f64,
    /// Needed and available.
    pub resources: Vec<Resource>,
    /// Hash over all that shapes the gateware, as the board answers it.
    pub design_hash: String,
    /// SHA-256 of the bitstream.
    pub image_sha256: String,
    /// File name of the bitstream.
    pub image: String,
    /// Tools and their versions.
    pub tools: Vec<String>,
    /// Time spent when it was built.
    pub seconds: Vec<Timed>,
}

impl Report {
    fn is_ice40(&self) -> bool {
        systole_boards::find(&self.board).is_ok_and(|board| board.fpga.family == Family::Ice40)
    }
}

/// The table of what is needed and what there is, in a family's words.
pub fn resources(
    family: Family,
    cells: &BTreeMap<String, u64>,
    utilisation: &BTreeMap<String, (u64, u64)>,
) -> Vec<Resource> {
    let named = |name: &str, cell: &str| {
        utilisation.get(cell).map(|&(needed, available)| Resource {
            name: name.to_owned(),
            needed,
            available,
        })
    };
    let counted = |name: &str, prefix: &str, cell: &str| {
        let needed = cells.iter().filter(|(cell, _)| cell.starts_with(prefix)).map(|(_, count)| count).sum();
        let available = utilisation.get(cell)?.1;
        Some(Resource { name: name.to_owned(), needed, available })
    };
    let rows = match family {
        // A logic cell holds a LUT and a flip-flop, but not any LUT with any flip-flop.
        Family::Ice40 => vec![
            named("logic cells", "ICESTORM_LC"),
            counted("LUTs", "SB_LUT4", "ICESTORM_LC"),
            counted("flip-flops", "SB_DFF", "ICESTORM_LC"),
            named("DSPs", "ICESTORM_DSP"),
            named("block RAMs", "ICESTORM_RAM"),
            named("pins", "SB_IO"),
        ],
        Family::Ecp5 => vec![
            named("LUTs", "TRELLIS_COMB"),
            named("flip-flops", "TRELLIS_FF"),
            named("DSPs", "MULT18X18D"),
            named("block RAMs", "DP16KD"),
            named("pins", "TRELLIS_IO"),
        ],
        Family::Gowin => vec![
            named("LUTs", "LUT4"),
            named("adders", "ALU"),
            named("flip-flops", "DFF"),
            named("DSPs", "MULT9X9"),
            named("DSPs (18 bits)", "MULT18X18"),
            named("block RAMs", "BSRAM"),
            named("pins", "IOB"),
        ],
    };
    rows.into_iter().flatten().collect()
}

/// The table as text, a row a line.
pub fn table(resources: &[Resource]) -> String {
    let mut text = format!("{:<16}{:>8}{:>11}", "", "needed", "available");
    for resource in resources {
        let Resource { name, needed, available } = resource;
        let note = if resource.is_short() { "  too few" } else { "" };
        text += &format!("\n{name:<16}{needed:>8}{available:>11}{note}");
    }
    text
}

/// A rate in MHz.
pub fn mhz(hz: u64) -> String {
    format!("{:.1} MHz", hz as f64 / 1e6)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}, N = {}, {} baud", self.board, self.device, self.n, self.baud)?;
        writeln!(f, "{}", table(&self.resources))?;
        let verdict = if self.timing_met { "met" } else { "MISSED" };
        write!(f, "clock           {} asked, {} reached", mhz(self.clock_hz.into()), mhz(self.fmax_hz))?;
        match self.icetime_hz {
            Some(hz) => write!(f, " (icetime: {})", mhz(hz))?,
            // Its word is worth most where there are multipliers.
            None if self.is_ice40() => write!(f, " (by nextpnr alone, without icetime)")?,
            None => {}
        }
        writeln!(f, ", {verdict} with seed {} of {:?}", self.seed, self.seeds_tried)?;
        writeln!(f, "throughput      {:.3} GMAC/s (N² a clock)", self.gmacs)?;
        writeln!(f, "design hash     {}", self.design_hash)?;
        write!(f, "image           {} (SHA-256 {})", self.image, self.image_sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_resources_are_marked() {
        let cells =
            [("SB_LUT4", 5000), ("SB_DFFE", 100), ("SB_DFFESR", 20)].map(|(k, v)| (k.to_owned(), v)).into();
        let utilisation =
            [("ICESTORM_LC".to_owned(), (6000, 5280)), ("ICESTORM_RAM".to_owned(), (14, 30))].into();
        let resources = resources(Family::Ice40, &cells, &utilisation);
        let text = table(&resources);
        assert_eq!(text.lines().nth(1), Some("logic cells         6000       5280  too few"));
        assert_eq!(text.lines().nth(3), Some("flip-flops           120       5280"));
        assert_eq!(text.lines().nth(4), Some("block RAMs            14         30"));
    }
}
