//! Models of the cells that netlists are made of.
//!
//! Those of logic, flip-flops, carry chains and the iCE40's memories and multipliers come with yosys. The few that it leaves
//! as black boxes are in `tests/cells`.

use std::path::{Path, PathBuf};
use systole_boards::device::Family;
use systole_firmware::toolchain::{Found, Source};

/// Our own models.
const OWN: [(Family, &str); 2] = [
    (Family::Ice40, include_str!("../../cells/ice40.v")),
    (Family::Ecp5, include_str!("../../cells/ecp5.v")),
];

/// Verilog of our own models for a family.
///
/// # Errors
/// Says which family has none.
pub fn own(family: Family) -> Result<&'static str, String> {
    let own = OWN.into_iter().find(|(of, _)| *of == family).map(|(_, own)| own);
    own.ok_or_else(|| format!("there are no models of {}'s cells", family.name()))
}

/// The models for a family's netlists.
#[derive(Clone, Debug)]
pub struct Cells {
    /// Verilog of those that are our own.
    pub own: &'static str,
    /// Verilog of yosys', without those that are our own.
    pub yosys: String,
    /// Where files that it includes are.
    pub folder: PathBuf,
}

impl Cells {
    /// The models for a family that come with this yosys.
    ///
    /// # Errors
    /// Says where they were looked for, or which family has none.
    pub fn find(family: Family, yosys: &Found) -> Result<Self, String> {
        let own = own(family)?;
        // yosys' names of families are ours.
        let folder = share(yosys)?.join(family.name());
        let path = folder.join("cells_sim.v");
        let text = std::fs::read_to_string(&path).map_err(|error| {
            format!("yosys' models of cells cannot be read from {}: {error}", path.display())
        })?;
        Ok(Self { own, yosys: without(&text, own), folder })
    }
}

/// Where yosys keeps its data.
fn share(yosys: &Found) -> Result<PathBuf, String> {
    let program = yosys.program.display();
    let installed = yosys.program.parent().and_then(Path::parent);
    let installed = installed.ok_or_else(|| format!("{program} is in no folder with yosys' data"))?;
    match yosys.source {
        Source::System => Ok(installed.join("share/yosys")),
        // A Python environment has one folder for its one Python.
        Source::Managed => {
            let versions = installed.join("lib");
            let entries =
                std::fs::read_dir(&versions).map_err(|error| format!("{}: {error}", versions.display()))?;
            let folders =
                entries.filter_map(|entry| Some(entry.ok()?.path().join("site-packages/pyosys/share")));
            let found = folders.into_iter().find(|folder| folder.is_dir());
            found.ok_or_else(|| format!("{} has no pyosys with its data", versions.display()))
        }
    }
}

/// Verilog without the modules that another text has.
fn without(text: &str, other: &str) -> String {
    let name = |line: &str| -> Option<String> {
        let rest = line.strip_prefix("module ")?;
        Some(rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
    };
    let others: Vec<String> = other.lines().filter_map(name).collect();
    let mut kept = String::new();
    let mut skipping = false;
    for line in text.lines() {
        skipping |= name(line).is_some_and(|name| others.contains(&name));
        if !skipping {
            kept += line;
            kept.push('\n');
        }
        skipping &= line.trim() != "endmodule";
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modules_of_the_same_name_are_left_out() {
        let text =
            "`define X\nmodule A (x);\nendmodule\nmodule AB(y);\n  z;\nendmodule\nmodule C (x);\nendmodule\n";
        let kept = "`define X\nmodule AB(y);\n  z;\nendmodule\n";
        assert_eq!(
            without(text, "module A (q);\nendmodule\nmodule C #(parameter P = 0) (q);\nendmodule\n"),
            kept
        );
    }
}
