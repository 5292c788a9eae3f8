//! Faults in a netlist, one at a time, chosen while it runs: a netlist with any of hundreds is compiled once.

use crate::verilog::Port;

/// Port of a netlist with faults that chooses one: places count from 1, and 0 is none.
pub const FAULT: &str = "fault";

/// Width of that port.
const BITS: usize = 16;

/// The cells that can be faulty.
pub const MODELS: &str = include_str!("../../cells/faulty.v");

/// A cell that can be faulty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its kind.
    pub cell: &'static str,
    /// Its name in the netlist.
    pub name: String,
}

/// Kinds of cells, and their faulty counterparts in [`MODELS`].
const CELLS: [(&str, &str); 2] = [("SB_LUT4", "faulty_lut4"), ("SB_MAC16", "faulty_mac16")];

/// The port to choose with.
pub fn port() -> Port {
    Port { name: FAULT.to_owned(), bits: BITS, signed: false }
}

/// A netlist in which every LUT and every multiplier can be faulty, and these in the order of their numbers.
///
/// # Panics
/// When the text is not as yosys writes it.
pub fn seed(netlist: &str, top: &str) -> (String, Vec<Place>) {
    let head = format!("module {top}(");
    let (mut text, mut places) = (String::new(), Vec::new());
    let declaration = format!("  input [{}:0] {FAULT};\n", BITS - 1);
    let mut in_head = false;
    let mut open: Option<&'static str> = None;
    for line in netlist.lines() {
        let kind = line.strip_suffix(" #(").map(str::trim);
        if let Some((cell, faulty)) = CELLS.into_iter().find(|(cell, _)| kind == Some(*cell)) {
            open = Some(cell);
            text += &format!("  {faulty} #(\n    .PLACE({}),\n", places.len() + 1);
            continue;
        }
        match line.strip_prefix(&head) {
            // The list of ports may take several lines.
            Some(rest) => {
                text += &format!("{head}{FAULT}, {rest}\n");
                in_head = true;
            }
            None => text += &format!("{line}\n"),
        }
        if in_head && line.ends_with(");") {
            text += &declaration;
            in_head = false;
        }
        let name = line.strip_prefix("  ) ").and_then(|rest| rest.strip_suffix('('));
        if let (Some(cell), Some(name)) = (open, name) {
            text += &format!("    .{FAULT}({FAULT}),\n");
            places.push(Place { cell, name: name.trim().to_owned() });
            open = None;
        }
    }
    assert!(open.is_none() && text.contains(&declaration), "no netlist of {top}");
    (text, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lut_and_multiplier_is_a_place() {
        let netlist = "module top(a,\nb);\n  input a;\n  SB_LUT4 #(\n    .LUT_INIT(16'h1)\n  ) \\x.y  (\n    .I0(a)\n  );\n\
                       \x20 SB_DFF z (\n    .D(a)\n  );\n  SB_MAC16 #(\n    .P(1)\n  ) m (\n    .A(a)\n  );\nendmodule\n";
        let (text, places) = seed(netlist, "top");
        let expected = "module top(fault, a,\nb);\n  input [15:0] fault;\n  input a;\n  faulty_lut4 #(\n    .PLACE(1),\n\
                        \x20   .LUT_INIT(16'h1)\n  ) \\x.y  (\n    .fault(fault),\n    .I0(a)\n  );\n  SB_DFF z (\n    .D(a)\n  );\n\
                        \x20 faulty_mac16 #(\n    .PLACE(2),\n    .P(1)\n  ) m (\n    .fault(fault),\n    .A(a)\n  );\nendmodule\n";
        assert_eq!(text, expected);
        let named = |cell, name: &str| Place { cell, name: name.to_owned() };
        assert_eq!(places, [named("SB_LUT4", "\\x.y"), named("SB_MAC16", "m")]);
    }
}
