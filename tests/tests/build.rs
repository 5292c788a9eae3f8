//! Images made by the real tools: equal inputs give equal bytes, the cache gives what was built, what cannot be built is
//! explained, and the products are right whatever they are made of.
//!
//! Without the toolchain the tests are reported as ignored; where the level post-synthesis is required they fail.

use libtest_mimic::{Arguments, Failed, Trial};
use rust_hdl::core::block::Block;
use std::fs;
use systole_boards::device::Family;
use systole_boards::find;
use systole_firmware::build::{BuildError, Image, Request, Seeds, build};
use systole_firmware::cache::Cache;
use systole_firmware::design::Design;
use systole_firmware::toolchain::{Tool, Toolchain};
use systole_firmware::top::Pll;
use systole_hdl::parameters::Parameters;
use systole_hdl::verilog;
use systole_tests::level::Level;

type Test = fn(&Toolchain);

const MULTIPLY: &str = include_str!("../../firmware/src/build/multiply.v");
const MAC16: &str = include_str!("../../firmware/src/build/mac16.v");

fn main() -> std::process::ExitCode {
    let mut arguments = Arguments::from_args();
    // Each test keeps a core busy, and the tools are not small.
    arguments.test_threads.get_or_insert(2);
    let toolchain = Toolchain::of_user();
    let missing: Vec<String> = match &toolchain {
        Ok(toolchain) => {
            let required = Tool::ALL.into_iter().filter(|tool| tool.is_required());
            required.filter_map(|tool| toolchain.find(tool).err()).map(|error| error.to_string()).collect()
        }
        Err(error) => vec![error.to_string()],
    };
    let required = Level::PostSynthesis.is_required();
    if !missing.is_empty() {
        eprintln!("{}", missing.join("\n"));
    }
    let tests: [(&str, Test); 8] = [
        ("products_out_of_luts_are_products", |tools| out_of_luts(tools, &[2, 3, 4, 5])),
        ("products_in_multipliers_are_products", |tools| in_multipliers(tools, &[3, 5])),
        ("row_24_equal_inputs_give_equal_bytes_and_the_cache_gives_them_too", equal_inputs_give_equal_bytes),
        ("plls_make_their_clocks_by_the_placers_reckoning", plls),
        ("an_ecp5_image_is_built", |tools| drop(ecp5_image(tools))),
        ("long_products_of_8_bits_out_of_luts_are_products", |tools| out_of_luts(tools, &[8])),
        ("long_products_of_8_bits_in_multipliers_are_products", |tools| in_multipliers(tools, &[8])),
        ("long_an_ecp5_image_is_built_to_equal_bytes", |tools| {
            assert_eq!(ecp5_image(tools).report.image_sha256, ecp5_image(tools).report.image_sha256);
        }),
    ];
    let trials = tests.map(|(name, test)| {
        let (toolchain, missing) = (toolchain.as_ref().ok().cloned(), missing.join("\n"));
        // The long ones are run when asked for, with `--include-ignored`.
        let ignored = name.starts_with("long_") || !missing.is_empty() && !required;
        let run = move || match toolchain {
            Some(toolchain) if missing.is_empty() => {
                test(&toolchain);
                Ok(())
            }
            _ => Err(Failed::from(missing)),
        };
        Trial::test(name, run).with_ignored_flag(ignored)
    });
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

/// As small as an image gets.
fn small(clock_hz: u32) -> Parameters {
    Parameters {
        n: 1,
        k_max: 16,
        a_depth: 16,
        b_depth: 16,
        fifo: 256,
        clock_hz,
        injection: false,
        ..Parameters::default()
    }
}

fn image(
    toolchain: &Toolchain,
    board: &str,
    parameters: Parameters,
    cache: Option<&Cache>,
) -> Result<Image, BuildError> {
    let design = Design::new(parameters).expect("in range");
    let board = find(board).expect("known");
    let request = Request { board, design: &design, seeds: Seeds::One(1), allow_timing_failure: false };
    build(&request, toolchain, cache, &mut |_| ())
}

fn equal_inputs_give_equal_bytes(toolchain: &Toolchain) {
    let folder = tempfile::tempdir().expect("makes");
    let cache = Cache::at(folder.path().into());
    let build = |cache| image(toolchain, "icebreaker", small(12_000_000), cache).expect("builds");
    let (first, second, kept) = (build(Some(&cache)), build(None), build(Some(&cache)));
    assert!(!first.from_cache && !second.from_cache && kept.from_cache);
    assert_eq!(first.report.image_sha256, second.report.image_sha256);
    assert_eq!(kept, Image { from_cache: true, ..first });
    // The preamble of an iCE40's image.
    assert!(kept.bitstream.windows(4).any(|bytes| bytes == [0x7E, 0xAA, 0x99, 0x7E]));
}

fn ecp5_image(toolchain: &Toolchain) -> Image {
    // Three lanes: the decoder multiplies a length by three, and that must not take a multiplier.
    let parameters = Parameters { n: 3, ..small(45_000_000) };
    let image = image(toolchain, "ulx3s-12f", parameters, None).expect("builds");
    let used = |name: &str| image.report.resources.iter().find(|r| r.name == name).map(|r| r.needed);
    assert_eq!(used("DSPs"), Some(9));
    assert!(image.report.timing_met && !image.bitstream.is_empty());
    image
}

/// Bits of an operand that a solver takes as they come. Above that it gets a case for every value of the others, each easy:
/// all 16 bits of two operands at once take it minutes.
const FREE_BITS: u32 = 4;

/// Has yosys prove that mapped products of `w`-bit operands are products, with the mapping and all that it needs in the
/// script: each output with one of its operands, whatever all other inputs are.
fn prove(
    toolchain: &Toolchain,
    w: u32,
    products: &str,
    mapping: &str,
    files: &[(&str, &str)],
    outputs: &[[&str; 2]],
) {
    let folder = tempfile::tempdir().expect("makes");
    for (name, text) in files.iter().chain(&[("products.v", products)]) {
        fs::write(folder.path().join(name), text).expect("writes");
    }
    let mut script = format!(
        "read_verilog products.v\nhierarchy -top products\nproc\nopt_clean\ndesign -save start\n{mapping}\n\
         design -stash mapped\ndesign -copy-from start -as gold products\ndesign -copy-from mapped -as gate products\n\
         miter -equiv -flatten -make_outputs gold gate miter\nhierarchy -top miter\ntechmap\n"
    );
    let split = w.saturating_sub(FREE_BITS);
    for [output, operand] in outputs {
        let goal = format!("sat -verify -prove gold_{output} gate_{output}");
        for case in 0..1 << split {
            let high = format!(" -set in_{operand}[{}:{}] {case}", w - 1, w.saturating_sub(split));
            script += &format!("{goal}{}\n", if split > 0 { &high } else { "" });
        }
    }
    fs::write(folder.path().join("prove.ys"), script).expect("writes");
    let yosys = toolchain.find(Tool::Yosys).expect("is there");
    let run = yosys.run(folder.path(), yosys.script_arguments("prove.ys"), "prove.log");
    run.unwrap_or_else(|error| panic!("{error}"));
    let log = fs::read_to_string(folder.path().join("prove.log")).expect("reads");
    let proofs = log.matches("no model found: SUCCESS").count();
    assert_eq!(proofs, outputs.len() << split, "{w} bits\n{log}");
}

fn out_of_luts(toolchain: &Toolchain, widths: &[u32]) {
    for &w in widths {
        let (high, double) = (w - 1, 2 * w - 1);
        let products = format!(
            "module products(input signed [{high}:0] a, b, output signed [{double}:0] y); assign y = a * b; endmodule"
        );
        let mapping = "techmap -map multiply.v t:$mul\nselect -assert-none t:$mul";
        prove(toolchain, w, &products, mapping, &[("multiply.v", MULTIPLY)], &[["y", "b"]]);
    }
}

fn in_multipliers(toolchain: &Toolchain, widths: &[u32]) {
    for &w in widths {
        let (high, double) = (w - 1, 2 * w - 1);
        let ports = format!("input signed [{high}:0] a0, b0, a1, b1, output signed [{double}:0] y0, y1");
        let pair = "assign y0 = a0 * b0; assign y1 = a1 * b1; endmodule";
        let products = format!("module products({ports}); {pair}");
        let pattern = format!("module systole_product_pair({ports}); {pair}");
        let mapping = format!(
            "extract -map pattern.v\nselect -assert-count 1 t:systole_product_pair\n\
             techmap -D WIDTH={w} -map mac16.v t:systole_product_pair\nselect -assert-count 1 t:SB_MAC16\n\
             read_verilog -defer -D NO_ICE40_DEFAULT_ASSIGNMENTS +/ice40/cells_sim.v\nhierarchy -top products\nproc\n\
             flatten\nopt_clean"
        );
        let files = [("mac16.v", MAC16), ("pattern.v", &pattern)];
        prove(toolchain, w, &products, &mapping, &files, &[["y0", "b0"], ["y1", "b1"]]);
    }
}

/// Has nextpnr tell what a PLL makes of the oscillator, which it knows from the dividers.
fn plls(toolchain: &Toolchain) {
    let cases = [
        ("icebreaker", 24_000_000),
        ("alchitry-cu", 45_000_000),
        ("hx8k-b-evn", 48_000_000),
        ("ulx3s-12f", 30_000_000),
        ("ulx3s-25f", 45_000_000),
        ("ecp5-evn", 36_000_000),
    ];
    for (name, clock_hz) in cases {
        let board = find(name).expect("known");
        let folder = tempfile::tempdir().expect("makes");
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).expect("writes");
        let mut pll = Pll::new(board, clock_hz).expect("in reach");
        pll.connect_all();
        write("pll.v", &verilog::emit(&pll, "pll").expect("sound"));
        let mhz = f64::from(board.clock.hz) / 1e6;
        let (family, constraints, unconstrained, pins, tool) = match board.fpga.family {
            Family::Ice40 => {
                let pins =
                    format!("set_io oscillator {}\nset_frequency oscillator {mhz}\n", board.clock.pin.at);
                ("ice40", "--pcf", "--pcf-allow-unconstrained", pins, Tool::NextpnrIce40)
            }
            Family::Ecp5 => {
                let pins = format!("FREQUENCY PORT \"oscillator\" {mhz} MHZ;\n");
                ("ecp5", "--lpf", "--lpf-allow-unconstrained", pins, Tool::NextpnrEcp5)
            }
            Family::Gowin => panic!("{name} has no PLL in reach"),
        };
        // A register behind it: nobody asks for the rate of a clock that clocks nothing.
        let top = "module top(input oscillator, output reg q, output locked); wire clock; always @(posedge clock) q <= ~q; \
                   pll pll(.oscillator(oscillator), .clock(clock), .locked(locked)); endmodule";
        write("top.v", top);
        let script = format!("read_verilog pll.v top.v\nsynth_{family} -top top -json netlist.json\n");
        write("pll.ys", &script);
        write("pins", &pins);
        let yosys = toolchain.find(Tool::Yosys).expect("is there");
        yosys.run(folder.path(), yosys.script_arguments("pll.ys"), "yosys.log").expect("synthesis");
        let device = format!("--{}", board.fpga.device);
        let mut all = vec![&*device, "--package", &board.fpga.package, constraints, "pins"];
        all.extend(["--json", "netlist.json", "--pack-only"]);
        all.extend(board.fpga.speed.iter().flat_map(|speed| ["--speed", speed]));
        all.push(unconstrained);
        let nextpnr = toolchain.find(tool).expect("is there");
        nextpnr.run(folder.path(), all, "nextpnr.log").unwrap_or_else(|error| panic!("{name}: {error}"));
        let log = fs::read_to_string(folder.path().join("nextpnr.log")).expect("reads");
        let made = format!("constraint of {:.1} MHz for net", f64::from(clock_hz) / 1e6);
        assert!(log.contains(&made), "{name}, {made:?} in {log}");
    }
}
