//! The devices that the toolchain knows, in the toolchain's words.

use serde::Deserialize;

/// Devices that share their tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Lattice iCE40: nextpnr-ice40, icepack.
    Ice40,
    /// Lattice ECP5: nextpnr-ecp5, ecppack.
    Ecp5,
    /// Gowin LittleBee: nextpnr-himbaechel, gowin_pack.
    Gowin,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 3] = [Self::Ice40, Self::Ecp5, Self::Gowin];

    /// The word for it in board files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ice40 => "ice40",
            Self::Ecp5 => "ecp5",
            Self::Gowin => "gowin",
        }
    }

    /// The ending of its images' names, by which openFPGALoader knows them.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Ice40 => "bin",
            Self::Ecp5 => "bit",
            Self::Gowin => "fs",
        }
    }

    /// The maker's name for it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ice40 => "iCE40",
            Self::Ecp5 => "ECP5",
            Self::Gowin => "Gowin",
        }
    }

    /// Whether the tools ask for an I/O standard at every pin.
    pub fn has_standards(self) -> bool {
        self != Self::Ice40
    }

    /// The devices of this family.
    pub fn devices(self) -> impl Iterator<Item = &'static Device> {
        DEVICES.iter().filter(move |device| device.family == self)
    }

    /// The device of that name.
    pub fn device(self, name: &str) -> Option<&'static Device> {
        self.devices().find(|device| device.name == name)
    }
}

/// A device.
#[derive(Debug)]
pub struct Device {
    /// Its family.
    pub family: Family,
    /// What nextpnr calls it: `--NAME` on iCE40 and ECP5, `--device NAME` on Gowin.
    pub name: &'static str,
    /// The packages that nextpnr knows of it.
    pub packages: &'static [&'static str],
    /// The speed grades to choose from; none where nextpnr does not ask.
    pub speeds: &'static [&'static str],
    /// What gowin_pack calls its chip; the device's own name elsewhere.
    pub chip: &'static str,
    /// How many multipliers it has, by its data sheet: SB_MAC16 on iCE40, MULT18X18D on ECP5, MULT9X9 on Gowin.
    pub multipliers: u32,
    /// What it answers with on JTAG, by which an image says which device it is for: by the packers' data (Trellis'
    /// `devices.json`, Apicula's `bslib.py`); openFPGALoader's `part.hpp` has the same, of Gowin's less the version in the
    /// highest four bits. An iCE40 has no JTAG.
    pub idcode: Option<u32>,
}

const ECP5_PACKAGES: &[&str] = &["CABGA256", "CSFBGA285", "CABGA381", "CABGA554", "CABGA756"];
const ECP5_SPEEDS: &[&str] = &["6", "7", "8"];

const fn ice40(name: &'static str, packages: &'static [&'static str], multipliers: u32) -> Device {
    Device { family: Family::Ice40, name, packages, speeds: &[], chip: name, multipliers, idcode: None }
}

/// Which packages go with which die of the ECP5 is left to nextpnr.
const fn ecp5(name: &'static str, speeds: &'static [&'static str], multipliers: u32, idcode: u32) -> Device {
    let idcode = Some(idcode);
    Device { family: Family::Ecp5, name, packages: ECP5_PACKAGES, speeds, chip: name, multipliers, idcode }
}

const DEVICES: &[Device] = &[
    ice40("hx1k", &["cb132", "tq144", "vq100"], 0),
    ice40("hx8k", &["bg121", "cb132", "cm225", "ct256"], 0),
    ice40("up5k", &["sg48", "uwg30"], 8),
    ecp5("12k", ECP5_SPEEDS, 28, 0x2111_1043),
    ecp5("25k", ECP5_SPEEDS, 28, 0x4111_1043),
    ecp5("45k", ECP5_SPEEDS, 72, 0x4111_2043),
    ecp5("85k", ECP5_SPEEDS, 156, 0x4111_3043),
    ecp5("um5g-85k", &["8"], 156, 0x8111_3043),
    Device {
        family: Family::Gowin,
        name: "GW1NR-LV9QN88PC6/I5",
        packages: &["QN88P"],
        speeds: &[],
        chip: "GW1N-9C",
        multipliers: 40,
        idcode: Some(0x1100_481B),
    },
];
