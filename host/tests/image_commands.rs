//! `build` with the real tools: what it writes and reports, and what it says of an image that does not fit or is too slow.
//!
//! Without the tools the tests show as ignored; where the level post-synthesis is required they fail.

mod board;
mod running;
mod tools;

use board::VirtualBoard;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;
use systole_firmware::cache::sha256;
use systole_firmware::toolchain::{Tool, Toolchain};
use tools::{System, faults, run};

type Test = fn(&System);

/// A design as small as they get, but for its side, the depth of bank B and the clock.
fn small<'a>(n: &'a str, b_depth: &'a str, clock: &'a str) -> Vec<&'a str> {
    let fixed = ["--k-max", "16", "--a-depth", "16", "--fifo", "256", "--no-injection", "--seed", "1"];
    [&["build", "--board", "icebreaker", "--n", n, "--b-depth", b_depth, "--clock", clock], &fixed[..]]
        .concat()
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each keeps a core busy.
    arguments.test_threads.get_or_insert(2);
    let list = std::env::var("SYSTOLE_REQUIRE").unwrap_or_default();
    let required = list.split(',').any(|level| level.trim() == "post-synthesis");
    let missing = missing();
    let tests: [(&str, Test); 5] = [
        ("an_image_is_written_and_reported", an_image),
        ("long_row_22_what_does_not_fit_is_told_with_the_largest_that_does", no_fit),
        ("long_row_21_a_clock_that_is_missed_gives_no_bitstream", too_slow),
        ("long_row_23_a_sweep_takes_the_fastest_seed_and_records_it", sweep),
        ("long_flash_builds_an_image_once_and_hands_it_to_the_programmer", flash),
    ];
    let trials = tests.map(|(name, test)| match &missing {
        Ok(toolchain) => {
            let system = System::real(toolchain.folder());
            // The long ones are run when asked for, with `--include-ignored`.
            let run = move || {
                test(&system);
                Ok(())
            };
            Trial::test(name, run).with_ignored_flag(name.starts_with("long_"))
        }
        Err(why) => {
            let why = Failed::from(why);
            Trial::test(name, move || Err(why)).with_ignored_flag(!required)
        }
    });
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

/// The user's toolchain, or what of it is missing for an image of an iCE40.
fn missing() -> Result<Toolchain, String> {
    let toolchain = Toolchain::of_user().map_err(|error| error.to_string())?;
    for tool in [Tool::Yosys, Tool::NextpnrIce40, Tool::Icepack] {
        toolchain.find(tool).map_err(|error| error.to_string())?;
    }
    Ok(toolchain)
}

fn an_image(system: &System) {
    let small = small("1", "16", "12000000");
    let build = |more: &[&str]| {
        let ended = run(system, &[&small[..], &["--format", "json", "--out", "out"], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.err);
        let report: Value = serde_json::from_str(&ended.out).expect("one JSON object and nothing else");
        assert_eq!(faults(include_str!("../schema/build.json"), &report), Vec::<String>::new());
        let out = fs::read(system.file("out")).expect("written");
        (report, out)
    };
    let (first, bitstream) = build(&[]);
    let image = &first["image"];
    assert_eq!((&first["emit"], &first["from_cache"]), (&json!("bitstream"), &json!(false)));
    assert_eq!((&image["seeds_tried"], &image["timing_met"]), (&json!([1]), &json!(true)));
    let rows = image["resources"].as_array().expect("an array");
    let of = |name: &str| rows.iter().find(|row| row["name"] == name).expect(name);
    // An UP5K has 5280 logic cells, 8 DSPs and 30 block RAMs; the one product takes a DSP.
    assert_eq!(of("logic cells")["available"], json!(5280));
    assert_eq!(of("DSPs"), &json!({ "name": "DSPs", "needed": 1, "available": 8 }));
    assert_eq!(of("block RAMs")["available"], json!(30));
    // The preamble of an iCE40's image, and the label before it.
    let preamble =
        bitstream.windows(4).position(|bytes| bytes == [0x7E, 0xAA, 0x99, 0x7E]).expect("a preamble");
    let label = String::from_utf8_lossy(&bitstream[..preamble]);
    let hash = format!("design-hash={}\0", image["design_hash"].as_str().expect("a hash"));
    assert!(label.contains("\0n=1\0") && label.contains(&hash), "{label:?}");

    let (second, netlist) = build(&["--emit", "netlist"]);
    assert_eq!((&second["emit"], &second["image"]), (&json!("netlist"), &Value::Null));
    for key in ["resources", "design_hash"] {
        assert_eq!(second[key], image[key]);
    }
    let netlist = String::from_utf8(netlist).expect("Verilog");
    assert!(netlist.contains("module systole(") && netlist.matches("SB_MAC16 #(").count() == 1);
}

fn no_fit(system: &System) {
    // A lane of 8192 operands takes 16 of the 30 block RAMs.
    let ended = run(system, &[&small("2", "8192", "24000000")[..], &["--out", "out"]].concat());
    assert_eq!(ended.code, 4, "{}", ended.err);
    for part in ["N = 2 does not fit icebreaker", "block RAMs", "the largest that does is N = 1"] {
        assert!(ended.err.contains(part), "{part:?} in {}", ended.err);
    }
    assert!(!system.file("out").exists());
}

fn sweep(system: &System) {
    let small = small("1", "16", "12000000");
    let unseeded = small.strip_suffix(&["--seed", "1"]).expect("its seed comes last");
    let image = |more: &[&str]| {
        let ended = run(system, &[unseeded, &["--format", "json", "--out", "out"], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.err);
        let report: Value = serde_json::from_str(&ended.out).expect("a JSON report");
        report["image"].clone()
    };
    let best = image(&["--seed-sweep", "2"]);
    assert_eq!(best["seeds_tried"], json!([1, 2]));
    let reached = |image: &Value| image["fmax_hz"].as_u64().expect("a rate");
    let each = [1, 2].map(|seed| image(&["--seed", &seed.to_string()]));
    assert_eq!(reached(&best), each.iter().map(reached).max().expect("two"));
    let taken = &each[best["seed"].as_u64().expect("a seed") as usize - 1];
    assert_eq!((&best["image_sha256"], &best["seed"]), (&taken["image_sha256"], &taken["seed"]));
}

fn flash(system: &System) {
    // In the place of openFPGALoader a script that keeps what it is given.
    let folder = system.file("bin");
    fs::create_dir(&folder).expect("made");
    let kept = system.file("kept");
    let keeps =
        format!("#!/bin/sh\n[ \"$1\" = -V ] && echo v9.9 || eval cp \\${{$#}} '{}'\n", kept.display());
    fs::write(folder.join("openFPGALoader"), keeps).expect("written");
    fs::set_permissions(folder.join("openFPGALoader"), fs::Permissions::from_mode(0o755)).expect("set");
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&system.path)))
        .expect("a path");
    let mut with_programmer = System::real(Path::new(&system.toolchain));
    with_programmer.path = path;
    let system = &with_programmer;
    let board = VirtualBoard::start(&["--behavioural", "--n", "1"]);
    let mut order = small("1", "16", "45000000");
    order.splice(..3, ["flash", "--board", "ulx3s-12f"]);
    order.truncate(order.len() - 2);
    let link = board.link();
    order.extend(["--link", &link, "--format", "json"]);
    let mut images = Vec::new();
    for from in ["built", "cache"] {
        let ended = run(system, &order);
        // What answers is another board: that is found out, too.
        assert_eq!(ended.code, 4, "{}{}", ended.out, ended.err);
        let report: Value = serde_json::from_str(&ended.out).expect("a JSON report");
        assert_eq!((&report["image"]["from"], &report["outcome"]), (&json!(from), &json!("not-programmed")));
        let given = fs::read(&kept).expect("what the programmer was given");
        assert_eq!(report["image"]["sha256"], json!(sha256(&given)));
        images.push(given);
    }
    assert!(images[0] == images[1]);
}

fn too_slow(system: &System) {
    let fast = small("1", "16", "96000000");
    let ended = run(system, &[&fast[..], &["--out", "out"]].concat());
    assert_eq!(ended.code, 4, "{}", ended.err);
    for part in ["icebreaker misses its clock: 96.0 MHz asked", "--seed-sweep", "--allow-timing-failure"] {
        assert!(ended.err.contains(part), "{part:?} in {}", ended.err);
    }
    assert!(!system.file("out").exists(), "a bitstream that is too slow");
    let ended = run(system, &[&fast[..], &["--out", "out", "--allow-timing-failure"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(system.file("out").exists());
}
