//! From Verilog to a netlist of a family's cells.
//!
//! What is particular to an array of multipliers is where its products go: into the device's multipliers as long as there
//! are any, the others into LUTs, in a form that is smaller than the synthesiser's own.

use std::fmt::Write;
use systole_boards::{Fpga, device::Family};
use systole_hdl::parameters::Parameters;

/// Name of the top module.
pub const TOP: &str = "systole";
/// The description.
pub const DESIGN: &str = "design.v";
/// The netlist for place and route.
pub const NETLIST: &str = "netlist.json";
/// The netlist for simulation.
pub const NETLIST_VERILOG: &str = "netlist.v";
/// The script.
pub const SCRIPT: &str = "synthesis.ys";

/// A product out of LUTs.
const MULTIPLY: (&str, &str) = ("multiply.v", include_str!("multiply.v"));
/// Products in the multipliers of the UP5K.
const MAC16: (&str, &str) = ("mac16.v", include_str!("mac16.v"));
/// Widest operands of which one SB_MAC16 multiplies two pairs.
const PAIR_WIDTH: u32 = 8;
/// The pattern of a pair of products.
const PAIR: &str = "mac16_pair.v";

/// Selects the products of all PEs.
const PRODUCTS: &str = "t:$mul n:*pe$* %i";

/// Selects every other multiplication, such as a length by the number of lanes.
const OTHERS: &str = "t:$mul n:*pe$* %d";

/// How a design is synthesised: the script and the files it reads beside the description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The yosys script.
    pub script: String,
    /// Names and contents of files that the script reads.
    pub files: Vec<(&'static str, String)>,
}

/// Products of `w`-bit operands that the multipliers of a device compute at once.
fn products(fpga: &Fpga, w: u32) -> u32 {
    let multipliers = fpga.family.device(&fpga.device).map_or(0, |device| device.multipliers);
    match fpga.family {
        Family::Ice40 if w <= PAIR_WIDTH => 2 * multipliers,
        // Two MULT9X9 make a MULT18X18.
        Family::Gowin if w > 9 => multipliers / 2,
        _ => multipliers,
    }
}

impl Recipe {
    /// The recipe for a design on a device.
    pub fn new(fpga: &Fpga, p: &Parameters) -> Self {
        let count = p.n * p.n;
        let hard = products(fpga, p.w).min(count);
        let mut files = Vec::new();
        // The products are found as cells of the flattened description, by the names of their PEs. Were one missing, the
        // script would stop.
        let mut script = format!(
            "read_verilog {DESIGN}\nhierarchy -top {TOP}\nproc\nflatten\nopt\nwreduce\n\
             select -assert-count {count} {PRODUCTS}\n"
        );
        // Writing to a string does not fail.
        if hard < count {
            files.push((MULTIPLY.0, MULTIPLY.1.to_owned()));
            // The PEs at the boundary get the multipliers first: their operands come late, straight from block RAM.
            let mut pes: Vec<u32> = (0..count).collect();
            pes.sort_by_key(|pe| (pe / p.n != 0 && pe % p.n != 0, *pe));
            for pe in &pes[hard as usize..] {
                let _ = writeln!(script, "setattr -set systole_fabric 1 t:$mul n:*pe${pe}.* %i");
            }
            let _ = writeln!(script, "select -assert-count {} t:$mul a:systole_fabric %i", count - hard);
            let _ = writeln!(script, "techmap -map {} t:$mul a:systole_fabric %i", MULTIPLY.0);
            // One that it did not take would go into a multiplier that is not there.
            let _ = writeln!(script, "select -assert-none t:$mul a:systole_fabric %i");
        }
        match fpga.family {
            Family::Ice40 => {
                if hard > 0 {
                    files.push((MAC16.0, MAC16.1.to_owned()));
                    // Where there is no pair to be found, `extract` of yosys 0.23 does not fail but aborts.
                    if p.w <= PAIR_WIDTH && hard > 1 {
                        files.push((PAIR, pair(p.w)));
                        let _ = writeln!(script, "extract -map {PAIR}");
                        let _ = writeln!(
                            script,
                            "techmap -D WIDTH={} -map {} t:systole_product_pair",
                            p.w, MAC16.0
                        );
                    }
                    let _ = writeln!(script, "techmap -D WIDTH={} -map {} t:$mul", p.w, MAC16.0);
                }
                let _ = writeln!(script, "synth_ice40 -top {TOP}");
            }
            // These two would put any multiplication into a multiplier, and those are for the PEs.
            Family::Ecp5 => {
                let _ = writeln!(script, "techmap {OTHERS}");
                let _ = writeln!(script, "synth_ecp5 -top {TOP}");
            }
            Family::Gowin => {
                let _ = writeln!(script, "techmap {OTHERS}");
                let _ = writeln!(script, "synth_gowin -top {TOP}");
            }
        }
        // Some versions leave cells that only describe the hierarchy, and nextpnr does not know them.
        let _ = write!(
            script,
            "delete t:$scopeinfo\ncheck -noinit -assert\nwrite_json {NETLIST}\nwrite_verilog -noattr {NETLIST_VERILOG}\n"
        );
        Self { script, files }
    }

    /// Everything of it as one text.
    pub fn text(&self) -> String {
        self.files.iter().fold(self.script.clone(), |text, (_, content)| text + content)
    }
}

/// Two products of `w`-bit operands that have nothing in common.
fn pair(w: u32) -> String {
    let (high, double) = (w - 1, 2 * w - 1);
    format!(
        "module systole_product_pair (a0, b0, a1, b1, y0, y1);\ninput signed [{high}:0] a0, b0, a1, b1;\n\
         output signed [{double}:0] y0, y1;\nassign y0 = a0 * b0;\nassign y1 = a1 * b1;\nendmodule\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(board: &str, n: u32, w: u32) -> Recipe {
        let board = systole_boards::find(board).expect("known");
        Recipe::new(&board.fpga, &Parameters { n, w, ..Parameters::default() })
    }

    fn fabric(recipe: &Recipe) -> usize {
        recipe.script.matches("setattr -set systole_fabric").count()
    }

    #[test]
    fn products_go_into_multipliers_while_there_are_any() {
        // Multipliers of each device, from the vendors' data sheets: 8 (each twice), 0, 28, 72, 156, 40.
        let table = [
            ("icebreaker", 4, 0),
            ("icebreaker", 5, 9),
            ("hx8k-b-evn", 2, 4),
            ("ulx3s-25f", 8, 36),
            ("ulx3s-45f", 8, 0),
            ("ulx3s-85f", 13, 13),
            ("tang-nano-9k", 6, 0),
            ("tang-nano-9k", 7, 9),
        ];
        for (board, n, expected) in table {
            assert_eq!(fabric(&recipe(board, n, 8)), expected, "{board}, N = {n}");
        }
        assert_eq!(fabric(&recipe("icebreaker", 4, 9)), 8);
    }

    #[test]
    fn the_boundary_has_the_multipliers() {
        let script = recipe("ulx3s-25f", 8, 8).script;
        let fabric = |pe: u32| script.contains(&format!("n:*pe${pe}.* %i"));
        // 15 PEs are at the boundary; 13 multipliers are left for the inside, in order.
        assert!(!fabric(7) && !fabric(56) && !fabric(9) && !fabric(22) && fabric(23) && fabric(63));
    }

    #[test]
    fn two_narrow_products_share_a_cell() {
        assert!(recipe("icebreaker", 4, 8).script.contains("extract"));
        assert!(!recipe("icebreaker", 4, 9).script.contains("extract"));
        // Its inference can lose a multiplication.
        assert!(!recipe("icebreaker", 4, 9).script.contains("-dsp"));
    }
}
