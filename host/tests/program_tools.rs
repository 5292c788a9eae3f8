//! Images by scripts in place of the tools: tools that fail, lie, run out of space, or disagree with each other. What the
//! real ones make is `image_commands`.
#![cfg(unix)]

mod tools;

use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use systole::virtual_board::usb_model::labelled;
use systole_firmware::image::ice40::Die;
use tools::{Ended, System, faults, run};

/// Writes a netlist with the ports of an image.
const YOSYS: &str = r#"[ "$1" = -V ] && echo 'Yosys 0.40' && exit
: >"$0.ran"
ports=
for port in clock rx tx led_idle led_busy led_error; do ports="$ports\"$port\":{\"direction\":\"input\",\"bits\":[1]},"; done
echo "{\"modules\":{\"systole\":{\"ports\":{${ports%,}}}}}" >netlist.json
echo 'module systole(); endmodule' >netlist.v"#;

/// Places anything, at 30 MHz.
const NEXTPNR: &str = r#"[ "$1" = --version ] && echo 'nextpnr-ice40 -- (Version nextpnr-0.8)' && exit
printf 'Info: Device utilisation:\nInfo: \t ICESTORM_LC: 2000/ 5280 38%%\n\n'
case "$*" in *--seed*) ;; *) exit ;; esac
while [ $# -gt 0 ]; do case $1 in --asc) asc=$2 ;; esac; shift; done
echo '{"fmax":{"clock":{"achieved":30.0}}}' >report.json
echo .comment >"$asc""#;

/// Packs the layout as the image that lies beside it, of an UP5K without any logic.
const ICEPACK: &str = r#"[ "$1" = -h ] || /bin/cp "$0.bin" "$2""#;

/// The tools, with other scripts in the place of some.
fn with(others: &[(&str, &str)]) -> System {
    let mut scripts = vec![("yosys", YOSYS), ("nextpnr-ice40", NEXTPNR), ("icepack", ICEPACK)];
    scripts.retain(|(name, _)| others.iter().all(|(other, _)| other != name));
    scripts.extend(others);
    let system = System::with(&scripts);
    fs::write(system.file("bin/icepack.bin"), labelled(Die::Ice5k, &[])).expect("written");
    system
}

fn build(system: &System, more: &[&str]) -> Ended {
    run(system, &[&["build", "--board", "icebreaker", "--format", "json", "--out", "image"], more].concat())
}

/// The image's figures.
fn image(ended: &Ended) -> Value {
    assert_eq!(ended.code, 0, "{}", ended.err);
    let mut report: Value = serde_json::from_str(&ended.out).expect("a JSON report");
    assert_eq!(faults(include_str!("../schema/build.json"), &report), Vec::<String>::new());
    report["image"].take()
}

#[test]
fn a_tool_that_fails_or_leaves_nothing_is_named_and_no_image_is_written() {
    let no_report = NEXTPNR.replace("achieved", "other");
    let no_table = NEXTPNR.replace("Device utilisation", "Nothing");
    let no_layout = NEXTPNR.replace("echo .comment >\"$asc\"", "");
    let crash = format!("{NEXTPNR}\nkill -SEGV $$");
    let noise = format!("{NEXTPNR}\nprintf '\\377\\376'; exit 1");
    let cut = YOSYS.replace("}}}}\"", "\"");
    let nothing = "[ \"$1\" = -V ] && echo 'Yosys 0.40'; exit 0";
    let empty = ICEPACK.replace("/bin/cp \"$0.bin\"", ": >");
    let short = ICEPACK.replace("/bin/cp \"$0.bin\"", "/usr/bin/head -c 45056 \"$0.bin\" >");
    let cases: [(&str, &str, &[&str]); 10] = [
        ("yosys", nothing, &["yosys ended without an error", "netlist.json is not what it should be"]),
        ("yosys", &cut, &["yosys ended without an error", "netlist.json is not what it should be"]),
        ("nextpnr-ice40", &no_table, &["nextpnr-ice40 ended without an error", "utilisation.log"]),
        ("nextpnr-ice40", &no_report, &["nextpnr-ice40 ended without an error", "it tells no clock"]),
        ("nextpnr-ice40", &no_layout, &["nextpnr-ice40 ended without an error", "placed-3.asc"]),
        // It had a report that meets the clock.
        ("nextpnr-ice40", &crash, &["nextpnr-ice40 failed (signal: 11", "place-3.log"]),
        ("nextpnr-ice40", &noise, &["nextpnr-ice40 failed (exit status: 1)"]),
        ("icepack", ":", &["icepack ended without an error", "image.bin"]),
        ("icepack", &empty, &["icepack ended without an error", "image.bin", "it is empty"]),
        ("icepack", &short, &["icepack ended without an error", "image.bin", "it ends at byte 45056"]),
    ];
    for (tool, script, parts) in cases {
        let system = with(&[(tool, script)]);
        let ended = build(&system, &["--allow-timing-failure"]);
        assert_eq!(ended.code, 4, "{tool}: {}", ended.err);
        for part in parts {
            assert!(ended.err.contains(part), "{part:?} in {}", ended.err);
        }
        assert!(!system.file("image").exists());
    }
}

#[test]
fn a_seed_meets_the_clock_if_icetime_says_so_too() {
    // It finds the first two seeds of the board too slow for 24 MHz.
    let icetime = r#"[ "$1" = -h ] && exit
case "$*" in *placed-5.asc) mhz=25.0 ;; *) mhz=20.0 ;; esac
echo "Total path delay: 40.00 ns ($mhz MHz)""#;
    let slow = with(&[("icetime", icetime)]);
    let figures = image(&build(&slow, &[]));
    assert_eq!(
        (&figures["seeds_tried"], &figures["icetime_hz"]),
        (&json!([3, 4, 5]), &json!(25_000_000)),
        "{figures}"
    );
    let refused = build(&slow, &["--seed", "3"]);
    assert_eq!(refused.code, 4);
    assert!(
        refused.err.contains("24.0 MHz asked, 30.0 MHz reached (20.0 MHz by icetime)"),
        "{}",
        refused.err
    );

    // Without it there is nothing but nextpnr's word, which does not count any more once it is there.
    let mut plain = with(&[]);
    plain.cache.clone_from(&slow.cache);
    let figures = image(&build(&plain, &["--seed", "4"]));
    assert_eq!((&figures["timing_met"], &figures["icetime_hz"]), (&json!(true), &Value::Null));
    assert_eq!(build(&slow, &["--seed", "4"]).code, 4);
}

#[test]
fn row_23_a_sweep_takes_the_fastest_seed_and_of_equal_ones_the_first() {
    let reaches = r#"case "$*" in *'--seed 2 '*|*'--seed 3 '*) mhz=31.0 ;; *) mhz=30.0 ;; esac
"#;
    let nextpnr = format!("{reaches}{}", NEXTPNR.replace(":30.0}", ":'$mhz'}"));
    let system = with(&[("nextpnr-ice40", &nextpnr)]);
    let figures = image(&build(&system, &["--seed-sweep", "4"]));
    assert_eq!(figures["seeds_tried"], json!([1, 2, 3, 4]));
    assert_eq!((&figures["seed"], &figures["fmax_hz"]), (&json!(2), &json!(31_000_000)));
}

#[test]
fn row_21_a_clock_that_is_missed_gives_no_bitstream() {
    let system = with(&[("nextpnr-ice40", &NEXTPNR.replace(":30.0}", ":20.0}"))]);
    let ended = build(&system, &[]);
    assert_eq!(ended.code, 4, "{}", ended.err);
    assert!(ended.err.contains("24.0 MHz asked, 20.0 MHz reached with seed 3 of [3, 4, 5]"), "{}", ended.err);
    assert!(!system.file("image").exists());
    assert_eq!(image(&build(&system, &["--allow-timing-failure"]))["timing_met"], json!(false));
}

#[test]
fn row_22_what_does_not_fit_is_told_with_the_largest_that_does() {
    // The second grid that is tried, a smaller one, fits.
    let again = "cells=6000; [ -e \"$0.again\" ] && cells=2000; : >\"$0.again\"\n";
    let (version, rest) = NEXTPNR.split_once('\n').expect("lines");
    let nextpnr = format!(
        "{version}\n{again}{}",
        rest.replace("2000/ 5280 38%%\\n\\n'", "%s/ 5280 38%%\\n\\n' $cells")
    );
    let system = with(&[("nextpnr-ice40", &nextpnr)]);
    let ended = build(&system, &["--n", "2"]);
    assert_eq!(ended.code, 4, "{}", ended.err);
    for part in
        ["N = 2 does not fit icebreaker", "6000       5280  too few", "the largest that does is N = 1"]
    {
        assert!(ended.err.contains(part), "{part:?} in {}", ended.err);
    }
    assert!(!system.file("image").exists());
}

#[test]
fn icetime_that_fails_is_told_and_costs_no_image() {
    let system = with(&[(
        "icetime",
        "[ \"$1\" = -h ] || [ -e \"$0.works\" ] && echo 'Total path delay: 50.00 ns (20.00 MHz)'",
    )]);
    let ended = build(&system, &["--seed", "1"]);
    assert_eq!(image(&ended)["icetime_hz"], Value::Null);
    assert!(ended.err.contains("icetime failed (exit status: 1) and is left out"), "{}", ended.err);
    // An image without its word is not what the next build is given.
    fs::write(system.file("bin/icetime.works"), "").expect("written");
    assert_eq!(build(&system, &["--seed", "1"]).code, 4);
}

#[test]
fn where_to_write_is_looked_at_before_a_tool_runs() {
    let system = with(&[]);
    let ended = run(&system, &["build", "--board", "icebreaker", "--out", "no/such/image"]);
    assert_eq!(ended.code, 2, "{}", ended.err);
    assert!(ended.err.contains("cannot write no/such/image"), "{}", ended.err);
    assert!(!system.file("bin/yosys.ran").exists());
}

#[test]
fn any_name_is_one_to_write_to_and_any_path_one_to_look_in() {
    let mut system = with(&[]);
    // Tools run in folders of their own, where this one leads nowhere.
    system.path = "bin".into();
    let name = OsStr::from_bytes(b"image-\xFF");
    let ended = run(&system, &[OsStr::new("build"), "--board=icebreaker".as_ref(), "--out".as_ref(), name]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(system.file("").join(name).is_file());
}

#[test]
fn another_packer_makes_another_image() {
    let mut system = with(&[]);
    assert_eq!(image(&build(&system, &[]))["timing_met"], json!(true));
    let cache = system.cache.clone();
    let other = format!("{ICEPACK} # another");
    system = with(&[("icepack", &other)]);
    fs::write(system.file("bin/icepack.bin"), labelled(Die::Ice5k, &["another".to_owned()]))
        .expect("written");
    system.cache = cache;
    let ended = build(&system, &[]);
    let report: Value = serde_json::from_str(&ended.out).expect("a JSON report");
    assert_eq!(report["from_cache"], json!(false));
    let image = fs::read(system.file("image")).expect("written");
    assert!(image.windows(7).any(|bytes| bytes == b"another"));
}
