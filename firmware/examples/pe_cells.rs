//! LUTs and flip-flops of a processing element: those of a grid alone, readout included, over the number of its PEs.
//!
//!     cargo run --release -p systole-firmware --example pe_cells [BOARD [N]]
//!
//! Needs the tools: `systole toolchain install`.

use std::collections::BTreeMap;
use std::error::Error;
use systole_firmware::build::{TOP, netlist};
use systole_firmware::design::Design;
use systole_firmware::toolchain::Toolchain;
use systole_hdl::grid::Grid;
use systole_hdl::parameters::Parameters;
use systole_hdl::{sim, verilog};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let board = systole_boards::find(&arguments.next().unwrap_or("hx8k-b-evn".into()))?;
    let n = arguments.next().map_or(Ok(4), |n| n.parse())?;
    let design = Design::new(Parameters { n, ..board.parameters.clone() })?;
    let grid = verilog::emit(&sim::power_up(Grid::new(design.parameters())), TOP)?;
    let netlist = netlist(&board.fpga, design.parameters(), &grid, &Toolchain::of_user()?)?;
    // Every cell begins a line of its own: `  TYPE NAME (`, or `  TYPE #(` with parameters.
    let mut cells: BTreeMap<&str, u64> = BTreeMap::new();
    for line in netlist.lines().filter(|line| line.ends_with('(') && !line.contains(')')) {
        *cells.entry(line.split_whitespace().next().unwrap_or_default()).or_default() += 1;
    }
    let count = |kinds: &[&str]| -> u64 {
        cells.iter().filter(|(cell, _)| kinds.iter().any(|kind| cell.starts_with(kind))).map(|(_, n)| n).sum()
    };
    // On iCE40 the LUTs of a carry chain are LUTs like others; on ECP5 two of them are a CCU2C, on Gowin each is an ALU.
    let luts = count(&["SB_LUT4", "LUT"]) + 2 * count(&["CCU2C"]) + count(&["ALU"]);
    let flip_flops = count(&["SB_DFF", "TRELLIS_FF", "DFF"]);
    let pes = f64::from(n * n);
    println!("{}, N = {n}: {luts} LUTs and {flip_flops} flip-flops in all", board.name);
    println!("a PE: {:.0} LUTs, {:.0} flip-flops", luts as f64 / pes, flip_flops as f64 / pes);
    println!("{cells:?}");
    Ok(())
}
