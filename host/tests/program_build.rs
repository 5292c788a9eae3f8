//! `build`, `boards` and `toolchain` as far as they need no tools: what stops them, how they say so, and their reports.

mod tools;

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tools::{Ended, System, faults, run};

const BUILD: &str = include_str!("../schema/build.json");
const BOARDS: &str = include_str!("../schema/boards.json");
const TOOLCHAIN: &str = include_str!("../schema/toolchain.json");

/// Runs the program where there is not a single tool.
fn bare(arguments: &[&str]) -> Ended {
    run(&System::bare(), arguments)
}

/// A report that must follow its schema.
fn report(schema: &str, ended: &Ended) -> Value {
    let report = serde_json::from_str(&ended.out).expect("one JSON object and nothing else");
    assert_eq!(faults(schema, &report), Vec::<String>::new());
    report
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn what_cannot_be_built_is_said_before_anything_is() {
    let folder = tempfile::tempdir().expect("makes");
    let nowhere = folder.path().join("no/such.v");
    let verilog = ["build", "--board", "icebreaker", "--emit", "verilog"];
    let cases: &[(u8, &[&str], &[&str])] = &[
        (2, &["build", "--board", "nope"], &["no board is called \"nope\"; the boards are ", "icebreaker"]),
        (2, &["build", "--board", "icebreker"], &["no board is called \"icebreker\"", "icebreaker"]),
        (2, &["build"], &["--board <BOARD>"]),
        (2, &["build", "--board", "icebreaker", "--n", "33"], &["n is 33, but must be 1..=32"]),
        (
            2,
            &["build", "--board", "icebreaker", "--seed", "1", "--seed-sweep", "2"],
            &["cannot be used with"],
        ),
        (2, &["build", "--board", "icebreaker", "--seed-sweep", "0"], &["0 is not in 1.."]),
        (2, &["build", "--board", "icebreaker", "--emit", "layout"], &["invalid value 'layout'"]),
        (
            2,
            &[&verilog[..], &["--clock", "300000000"]].concat(),
            &["the PLL of ice40 cannot make 300000000 Hz of 12000000 Hz; the nearest is 270000000 Hz"],
        ),
        (
            2,
            &["build", "--board", "tang-nano-9k", "--emit", "verilog", "--clock", "30000000"],
            &["the clock must be 27000000 Hz, the oscillator's: tang-nano-9k has no PLL in reach"],
        ),
        (2, &[&verilog[..], &["--out", text(&nowhere)]].concat(), &["cannot write", "such.v"]),
        (
            5,
            &["build", "--board", "icebreaker"],
            &["yosys is missing. Looked in", "has no yosys", "Install it: systole toolchain install"],
        ),
        (
            5,
            &["toolchain", "install"],
            &["no Python 3.10 or newer was found", "apt install python3 python3-venv"],
        ),
        (
            2,
            &["build", "--board", "tang-nano-9k", "--baud", "6750000", "--emit", "verilog"],
            &["6750000 baud is more than the USB chip of tang-nano-9k does: 3000000"],
        ),
        (2, &["boards", "--format", "yaml"], &["invalid value 'yaml'"]),
        (2, &["toolchain", "remove"], &["unrecognized subcommand 'remove'"]),
    ];
    for (code, arguments, parts) in cases {
        let ended = bare(arguments);
        assert_eq!(ended.code, i32::from(*code), "{arguments:?}: {}", ended.err);
        for part in *parts {
            assert!(ended.err.contains(part), "{arguments:?}: {part:?} in {}", ended.err);
        }
        assert_eq!(ended.out, "", "{arguments:?}: nothing on standard output");
    }
}

#[cfg(unix)]
#[test]
fn a_tool_that_fails_tells_its_last_lines_and_its_log() {
    let system = System::with(&[
        ("yosys", "case $1 in -V) echo 'Yosys 0.40';; *) echo one; echo ERROR: broken >&2; exit 3;; esac"),
        ("nextpnr-ice40", "echo 'nextpnr-ice40 -- Next Generation Place and Route (Version nextpnr-0.9)'"),
        ("icepack", ":"),
    ]);
    let ended = run(&system, &["build", "--board", "icebreaker", "--no-cache"]);
    assert_eq!(ended.code, 4, "{}", ended.err);
    let parts =
        ["yosys failed (exit status: 3). Its last lines:", "one\n", "ERROR: broken", "The whole log: "];
    for part in parts {
        assert!(ended.err.contains(part), "{part:?} in {}", ended.err);
    }
    let log = ended.err.lines().find_map(|line| line.strip_prefix("The whole log: ")).expect("named");
    assert_eq!(fs::read_to_string(log).expect("kept"), "one\nERROR: broken\n");
    fs::remove_dir_all(Path::new(log).parent().expect("in a folder")).expect("removed");
}

#[cfg(unix)]
#[test]
fn a_tool_that_is_too_old_is_missing() {
    let system = System::with(&[("yosys", "echo 'Yosys 0.22 (git sha1 abc)'")]);
    let ended = run(&system, &["build", "--board", "icebreaker"]);
    assert_eq!(ended.code, 5, "{}", ended.err);
    assert!(
        ended.err.contains("is version 0.22, but the oldest that is known to work is 0.23"),
        "{}",
        ended.err
    );
}

#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_written_is_found_out_before_a_tool_runs() {
    let mut system = System::with(&[
        ("yosys", "case $1 in -V) echo 'Yosys 0.40';; *) exit 3;; esac"),
        ("nextpnr-ice40", "echo 'nextpnr-ice40 -- Next Generation Place and Route (Version nextpnr-0.9)'"),
        ("icepack", ":"),
    ]);
    system.cache = "/dev/null/cache".into();
    let ended = run(&system, &["build", "--board", "icebreaker"]);
    assert_eq!(ended.code, 2, "{}", ended.err);
    assert!(ended.err.contains("/dev/null/cache") && ended.err.contains("--no-cache"), "{}", ended.err);
}

#[test]
fn verilog_needs_no_tool() {
    let folder = tempfile::tempdir().expect("makes");
    let out = folder.path().join("top.v");
    let ended = bare(&[
        "build",
        "--board",
        "icebreaker",
        "--n",
        "2",
        "--emit",
        "verilog",
        "--out",
        text(&out),
        "--format",
        "json",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    let report = report(BUILD, &ended);
    assert_eq!((&report["emit"], &report["image"]), (&json!("verilog"), &Value::Null));
    // The board's clock and baud, and the N asked for.
    let design = &report["design"];
    assert_eq!(
        (&design["n"], &design["clock"], &design["baud"]),
        (&json!(2), &json!(24_000_000), &json!(3_000_000))
    );
    let verilog = fs::read_to_string(out).expect("written");
    assert!(verilog.contains("module systole(clock,rx,tx,led_idle,led_busy,led_error);"));
}

#[test]
fn boards_are_listed() {
    let report = report(BOARDS, &bare(&["boards", "--format", "json"]));
    let boards = report["boards"].as_array().expect("an array");
    let names: Vec<_> = boards.iter().filter_map(|board| board["name"].as_str()).collect();
    let known = [
        "alchitry-cu",
        "ecp5-evn",
        "hx8k-b-evn",
        "icebreaker",
        "tang-nano-9k",
        "ulx3s-12f",
        "ulx3s-25f",
        "ulx3s-45f",
        "ulx3s-85f",
    ];
    assert_eq!(names, known);
    let ended = bare(&["boards"]);
    for name in known {
        assert!(ended.out.lines().any(|line| line.starts_with(name)), "{name} in {}", ended.out);
    }
    let note = "\necp5-evn: As delivered, the UART is not connected: remove R22 and R23";
    assert!(ended.out.contains(note), "what has to be set, without a board: {}", ended.out);
}

#[test]
fn a_toolchain_that_is_not_there_is_shown_with_every_place() {
    let ended = bare(&["toolchain", "--format", "json"]);
    assert_eq!((ended.code, ended.err.as_str()), (5, ""));
    let report = report(TOOLCHAIN, &ended);
    assert_eq!(report["complete"], json!(false));
    for tool in report["tools"].as_array().expect("an array") {
        assert_eq!((&tool["found"], &tool["program"]), (&json!(false), &Value::Null));
        assert_eq!(tool["looked"].as_array().map(Vec::len), Some(2), "{tool}");
    }
    let ended = bare(&["toolchain"]);
    assert_eq!(ended.code, 5);
    assert!(ended.out.ends_with("Install what is missing: systole toolchain install\n"), "{}", ended.out);
}

#[cfg(unix)]
#[test]
fn an_interrupted_build_takes_its_tools_along_and_leaves_nothing() {
    // What it starts writes when it is through, unless it is ended too.
    let yosys = "[ \"$1\" = -V ] && echo 'Yosys 0.40' && exit\n\
                 echo \"$TMPDIR\" >\"$0.started\"; (sleep 3; touch \"$0.late\") & sleep 60";
    let told =
        |version| format!("echo 'nextpnr-ice40 -- Next Generation Place and Route (Version {version})'");
    let system =
        System::with(&[("yosys", yosys), ("nextpnr-ice40", &told("nextpnr-0.7")), ("icepack", "true")]);
    let path = std::env::join_paths([system.file("bin"), "/usr/bin".into(), "/bin".into()]).expect("a path");
    let mut build = Command::new(env!("CARGO_BIN_EXE_systole"))
        .args(["build", "--board", "icebreaker", "--no-cache", "--out", "image"])
        .current_dir(system.file(""))
        .env("SYSTOLE_TOOLCHAIN", &system.toolchain)
        .env("PATH", path)
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let (begun, started) = (Instant::now(), system.file("bin/yosys.started"));
    let folder = loop {
        match fs::read_to_string(&started) {
            Ok(folder) if folder.ends_with('\n') => break folder,
            _ => assert!(begun.elapsed() < Duration::from_secs(60), "synthesis does not begin"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(Path::new(folder.trim()).is_dir(), "{folder}");
    // To the program alone, as `kill` and service managers do.
    let id = build.id().to_string();
    Command::new("kill").args(["-TERM", &id]).status().expect("kill runs");
    let (begun, status) = (Instant::now(), build.wait().expect("a child"));
    assert!(begun.elapsed() < Duration::from_secs(20), "it waited for the tool: {:?}", begun.elapsed());
    assert_eq!(status.code(), Some(130));
    assert!(!Path::new(folder.trim()).exists(), "{folder} is left");
    std::thread::sleep(Duration::from_secs(4));
    assert!(!system.file("bin/yosys.late").exists(), "what the tool had started went on");
}
