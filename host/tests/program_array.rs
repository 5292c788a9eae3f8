//! `systole array` as a program: the worked example, its drawings and traces, and every misuse.

use assert_cmd::Command;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tempfile::tempdir;

const SCHEMA: &str = include_str!("../schema/array.json");
const EXAMPLE: [&str; 3] = ["--matmul", "[1,2;3,4]", "[5,6;7,8]"];
const A: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/a_3x5.npy");
const B: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/b_5x3.npy");

/// Runs `systole array`; gives its exit code, output and errors.
fn array(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_systole"));
    let output = command.arg("array").args(arguments).timeout(Duration::from_secs(60)).output();
    let output = output.expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A run that must end with this code and say nothing on standard error.
fn ends(code: i32, arguments: &[&str]) -> String {
    let (got, out, err) = array(arguments);
    assert_eq!((got, err.as_str()), (Some(code), ""), "{arguments:?}");
    out
}

/// A run that must succeed.
fn good(arguments: &[&str]) -> String {
    ends(0, arguments)
}

fn report(arguments: &[&str]) -> Value {
    report_of(0, arguments)
}

/// The report of a run that must end with this code.
fn report_of(code: i32, arguments: &[&str]) -> Value {
    let out = ends(code, &[arguments, &["--format", "json"]].concat());
    let report = serde_json::from_str(&out).expect("one JSON object and nothing else");
    let schema: Value = serde_json::from_str(SCHEMA).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a sound schema");
    let faults: Vec<_> = validator.iter_errors(&report).map(|fault| fault.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new(), "{report}");
    report
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn the_wavefront_of_a_product() {
    let expected = "\
tick 0
  1 5 = 5   . . = 0
  . . = 0   . . = 0
tick 1
  2 7 = 19   1 6 =  6
  3 5 = 15   . . =  0
tick 2
  . . = 19   2 8 = 22
  4 7 = 43   3 6 = 18
tick 3
  . . = 19   . . = 22
  . . = 43   4 8 = 50
result =
  19  22
  43  50
array      2×2 mac PEs, 4 ticks on the partitioned backend
equal      every sum agrees with the direct product
complete   every stream has ended and has passed
";
    assert_eq!(good(&EXAMPLE), expected);
}

#[test]
fn without_skew_tokens_notice_and_plain_macs_do_not() {
    let unskewed = [&EXAMPLE[..], &["--no-skew", "--ticks", "5"]].concat();
    let macs = report(&unskewed);
    assert_eq!((&macs["result"], &macs["errors"]), (&json!([[19, 8], [20, 50]]), &json!([])));
    let tokens = report_of(1, &[&unskewed[..], &["--pe", "token"]].concat());
    assert_eq!((&tokens["result"], &tokens["complete"]), (&json!([[19, 0], [0, 50]]), &json!(true)));
    let errors = json!([
        {"row": 0, "column": 1, "kind": "unpaired operand"}, {"row": 1, "column": 0, "kind": "unpaired operand"}
    ]);
    assert_eq!(tokens["errors"], errors);
    let out = ends(1, &[&unskewed[..], &["--pe", "token"]].concat());
    let second = "\
tick 1
  2k1j0 7k1j0 = 19   1k0j0 8k1j0 =  0!
  4k1j0 5k0j0 =  0!  3k0j0 6k0j0 = 18
  ! PE(0,1) k mismatch
  ! PE(1,0) k mismatch
tick 2
";
    assert!(out.contains(second), "{out}");
    assert_eq!(out.matches("\n  ! PE(").count(), 6, "two mismatches and four unpaired operands: {out}");
}

#[test]
fn too_few_ticks_are_told() {
    let streams = ["--west", "[1,2;3,4]", "--north", "[5,7;6,8]"];
    let r = report(&[&streams[..], &["--ticks", "1", "--backend", "interpreted"]].concat());
    assert_eq!((&r["complete"], &r["left"], &r["ticks"]), (&json!(false), &json!(4), &json!(1)));
    assert_eq!((&r["result"], &r["backend"]), (&json!([[5, 0], [0, 0]]), &json!("interpreted")));
    let r = report(&[&streams[..], &["--ticks", "2"]].concat());
    assert_eq!((&r["complete"], &r["left"]), (&json!(false), &json!(0)), "still under way");
    let r = report(&streams);
    assert_eq!((&r["complete"], &r["ticks"]), (&json!(true), &json!(3)));
    let out = good(&[&streams[..], &["--ticks", "1"]].concat());
    assert!(out.ends_with("INCOMPLETE 4 entries have not entered yet: run more --ticks\n"), "{out}");
}

#[test]
fn files_are_multiplied_on_every_backend_alike() {
    // The shipped example, computed by hand.
    let c = json!([[24, 48, -242], [-4, -10, 126], [203, -201, -618]]);
    let directory = tempdir().expect("a temporary directory");
    let product = ["--matmul", A, B];
    let mut traces = Vec::new();
    for (pe, options) in [
        ("mac", &["--backend", "interpreted"][..]),
        ("mac", &["--tile", "2x2", "--dispatch", "pool", "--threads", "2"]),
        ("mac", &["--tile", "1x3", "--superstep", "4"]),
        ("token", &["--backend", "interpreted"]),
        ("token", &["--tile", "2x2", "--threads", "2"]),
        ("token", &["--tile", "9x1", "--dispatch", "pool"]),
    ] {
        let path = directory.path().join("trace.jsonl");
        let r = report(&[&product, options, &["--pe", pe, "--trace", text(&path)]].concat());
        assert_eq!((&r["result"], &r["ticks"], &r["errors"]), (&c, &json!(9), &json!([])), "{options:?}");
        let trace = fs::read_to_string(&path).expect("a trace");
        assert_eq!(trace.lines().count(), 9 * 9);
        traces.push((pe, trace));
    }
    for (pe, trace) in &traces {
        let oracle = traces.iter().find(|(other, _)| other == pe).expect("the first of its kind");
        assert!(trace == &oracle.1, "{pe}");
    }
}

#[test]
fn floats_are_held_against_the_direct_product() {
    let product = ["--matmul", "[0.5,-2;1e3,4]", "[5,6;0.25,8]"];
    for pe in ["mac-f32", "mac-f64"] {
        let r = report(&[&product[..], &["--pe", pe]].concat());
        assert_eq!((&r["result"], &r["pe"]), (&json!([[2.0, -13.0], [5001.0, 6032.0]]), &json!(pe)));
        assert_eq!(r["reference"], json!({"equal": true, "overflows": 0, "first_difference": null}));
    }
    // 0.1 has no exact form: thirty of them add up to another number from the other end, within what rounding allows.
    let row = format!("[{}]", ["0.1"; 30].join(","));
    let column = format!("[{}]", ["0.7"; 30].join(";"));
    let r = report(&["--matmul", &row, &column, "--pe", "mac-f32"]);
    assert_eq!(r["reference"]["equal"], json!(true), "{r}");
    let sum = r["result"][0][0].as_f64().expect("a number");
    assert!((sum - 2.1).abs() < 1e-5, "{sum}");
    let r = report(&["--matmul", "[nan,1]", "[1;1]", "--pe", "mac-f64"]);
    assert_eq!((&r["result"], &r["reference"]["equal"]), (&json!([[null]]), &json!(true)));
    for (a, b) in [("[inf]", "[1]"), ("[1e200]", "[1e200]"), ("[-inf,1]", "[1;1]")] {
        let r = report(&["--matmul", a, b, "--pe", "mac-f64"]);
        assert_eq!(r["reference"], json!({"equal": true, "overflows": 0, "first_difference": null}), "{a}");
    }
    // Infinite from one end, 1e308 from the other.
    let overflow = ["--matmul", "[1e308,1e308,-1e308]", "[1;1;1]", "--pe", "mac-f64"];
    assert_eq!(report_of(1, &overflow)["reference"]["overflows"], json!(1));
    assert!(ends(1, &overflow).contains("\nUNKNOWN    1 sums overflow"));
    let out = good(&["--matmul", "[0.5]", "[0.5]", "--pe", "mac-f64"]);
    assert!(out.contains("\n  0.25\n") && out.contains("\nequal "), "{out}");
}

#[test]
fn no_number_is_traced_alike_on_every_backend() {
    let directory = tempdir().expect("a temporary directory");
    let streams = ["--west", "[nan,-0,1]", "--north", "[1,inf,nan;1,inf,nan;1,inf,nan;1,inf,nan;1,inf,nan]"];
    for pe in ["mac-f32", "mac-f64"] {
        for ending in ["vcd", "jsonl"] {
            let traces = [
                &["--backend", "interpreted"][..],
                &[],
                &["--tile", "1x1"],
                &["--tile", "1x3", "--dispatch", "pool", "--threads", "2"],
            ]
            .map(|options| {
                let path = directory.path().join("trace").with_extension(ending);
                good(&[&streams, options, &["--pe", pe, "--trace", text(&path)]].concat());
                fs::read_to_string(&path).expect("a trace")
            });
            assert!(traces.iter().all(|trace| *trace == traces[0]), "{pe} {ending}");
        }
    }
    let path = directory.path().join("trace.jsonl");
    good(&["--west", "[nan,,-inf]", "--north", "[1,1,1]", "--pe", "mac-f64", "--trace", text(&path)]);
    let trace = fs::read_to_string(&path).expect("a trace");
    let west: Vec<Value> = trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["west"].clone())
        .collect();
    assert_eq!(west, [json!("NaN"), Value::Null, json!("-inf")], "no number is not no token");
}

/// Starts `systole array` with its output in a pipe.
fn started(arguments: &[&str]) -> Child {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_systole"));
    command.arg("array").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program runs")
}

/// Waits for something, which must come soon.
fn wait_until(what: &str, mut seen: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !seen() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for the end, which must come soon; gives the exit code.
fn soon(mut child: Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        if begun.elapsed() > Duration::from_secs(10) {
            child.kill().expect("killed");
            panic!("still running");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn ctrl_c_is_answered_whatever_a_tick_costs_and_the_trace_is_whole() {
    let directory = tempdir().expect("a temporary directory");
    let trace = directory.path().join("trace.jsonl");
    let endless =
        ["--matmul", "[1,2;3,4]", "[5,6;7,8]", "--ticks", "18446744073709551615", "--format", "json"];
    for more in [&["--tile", "1x1", "--dispatch", "pool", "--threads", "4"][..], &["--trace", text(&trace)]] {
        let child = started(&[&endless, more].concat());
        wait_until("it watches for signals", || {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
            u64::from_str_radix(caught.trim(), 16).is_ok_and(|caught| caught & 2 != 0)
        });
        if more.contains(&"--trace") {
            wait_until("the trace grows", || fs::metadata(&trace).is_ok_and(|file| file.len() > 0));
        }
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        assert_eq!(soon(child), Some(130), "{more:?}");
    }
    let trace = fs::read_to_string(&trace).expect("a trace");
    let last = trace.lines().last().expect("lines");
    assert!(trace.ends_with("}\n") && serde_json::from_str::<Value>(last).is_ok(), "{last}");
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_run() {
    let mut child = started(&["--matmul", "[1,2;3,4]", "[5,6;7,8]", "--ticks", "18446744073709551615"]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert_eq!((line.as_str(), soon(child)), ("tick 0\n", Some(0)));
}

#[test]
fn memory_is_counted_with_tiles_and_traces() {
    let directory = tempdir().expect("a temporary directory");
    let dump = directory.path().join("big.vcd");
    let large =
        ["--west", "[1]", "--shape", "1x600000", "--ticks", "1", "--memory-limit", "1", "--format", "json"];
    ends(0, &large);
    for more in [&["--tile", "1x1"][..], &["--pe", "token", "--trace", text(&dump)]] {
        let (code, _, err) = array(&[&large, more].concat());
        assert!(code == Some(2) && err.contains("above the limit of 1.0 GiB"), "{more:?}: {err}");
    }
    assert!(!dump.exists());
}

#[test]
fn a_refused_run_leaves_the_file_as_it_is() {
    let directory = tempdir().expect("a temporary directory");
    let kept = directory.path().join("kept.vcd");
    fs::write(&kept, "kept").expect("written");
    for more in [&["--ticks", "0"][..], &["--threads", "0"], &["--tile", "0x1"]] {
        let (code, ..) = array(&[&EXAMPLE[..], &["--trace", text(&kept)], more].concat());
        assert_eq!(code, Some(2), "{more:?}");
        assert_eq!(fs::read_to_string(&kept).expect("still there"), "kept", "{more:?}");
    }
}

#[test]
fn sums_to_start_from() {
    for pe in ["mac", "token", "mac-f32"] {
        let r = report(&[&EXAMPLE[..], &["--pe", pe, "--initial", "[100,;,-1]"]].concat());
        let expected = [119.0, 22.0, 43.0, 49.0];
        let result: Vec<f64> =
            (0..4).map(|at| r["result"][at / 2][at % 2].as_f64().expect("a number")).collect();
        assert_eq!((&result[..], &r["reference"]["equal"]), (&expected[..], &json!(true)), "{pe}");
    }
}

#[test]
fn only_products_have_a_reference() {
    let r = report(&[&EXAMPLE[..], &["--no-skew"]].concat());
    assert_eq!(r["reference"], Value::Null, "it is not the product");
    let r = report_of(1, &[&EXAMPLE[..], &["--ticks", "3"]].concat());
    assert_eq!((&r["complete"], &r["reference"]), (&json!(false), &Value::Null));
    let r = report(&["--west", "[1]", "--north", "[1]"]);
    assert_eq!(r["reference"], Value::Null);
}

#[test]
fn missing_terms_are_told_once_nothing_can_come_any_more() {
    // PE(1,1) meets one pair of the two that others take.
    let streams = ["--west", "[1,2,;,3,]", "--north", "[5,7,;,6,]", "--pe", "token"];
    let r = report_of(1, &streams);
    let error = |row, column, kind| json!({"row": row, "column": column, "kind": kind});
    let unpaired = "unpaired operand";
    let errors = [error(0, 1, unpaired), error(1, 0, unpaired), error(1, 1, "missing terms")];
    assert_eq!((&r["errors"], &r["complete"]), (&json!(errors), &json!(true)), "{r}");
    let r = report(&[&streams[..], &["--ticks", "2"]].concat());
    assert_eq!((&r["complete"], &r["errors"]), (&json!(false), &json!([])), "{r}");
}

#[test]
fn no_file_is_harmed() {
    let directory = tempdir().expect("a temporary directory");
    let west = directory.path().join("west.csv");
    fs::write(&west, "1,2\n").expect("written");
    let link = directory.path().join("link.vcd");
    std::os::unix::fs::symlink(&west, &link).expect("a link");
    let drawing = directory.path().join("t.svg");
    let same = directory.path().join("./t.svg");
    let pipe = directory.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let streams = ["--west", text(&west), "--north", "[1,2]"];
    for (more, expected) in [
        (vec!["--trace", text(&link)], "link.vcd is the same file as "),
        (vec!["--svg", text(&west)], "west.csv is the same file as "),
        (vec!["--trace", text(&drawing), "--svg", text(&same)], "t.svg is the same file as "),
        (vec!["--trace", text(&pipe)], "pipe.csv: cannot be written: is not a regular file"),
        (vec!["--initial", text(&pipe)], "pipe.csv: is not a regular file"),
        (vec!["--initial", "[1,2]"], "--initial has 1×2 sums for an array of 1×1"),
        (vec!["--pe", "mac-f32", "--initial", "[x]"], "is 'x', not a number"),
    ] {
        let (code, _, err) = array(&[&streams[..], &more].concat());
        assert_eq!(code, Some(2), "{more:?}: {err}");
        assert!(err.contains(expected), "{more:?}: {err}");
    }
    assert_eq!(fs::read_to_string(&west).expect("still there"), "1,2\n");
    assert!(!drawing.exists());
}

#[test]
fn csv_lanes_with_holes() {
    let directory = tempdir().expect("a temporary directory");
    let west = directory.path().join("west.csv");
    fs::write(&west, "# one row of the array a line\n1, 2,\n, 3, 4\n").expect("written");
    let r = report(&["--west", text(&west), "--north", "[5,7,;,6,8]", "--pe", "token"]);
    assert_eq!((&r["result"], &r["errors"]), (&json!([[19, 22], [43, 50]]), &json!([])));
}

#[test]
fn a_drawing_shows_every_tick_and_error() {
    let directory = tempdir().expect("a temporary directory");
    let path = directory.path().join("wave.svg");
    let unskewed = ["--no-skew", "--pe", "token", "--ticks", "5", "--svg", text(&path)];
    ends(1, &[&EXAMPLE[..], &unskewed].concat());
    let svg = fs::read_to_string(&path).expect("a drawing");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
    let count = |text: &str| svg.matches(text).count();
    assert_eq!(count("<g class="), 4 * 5, "{svg}");
    assert_eq!((count("<g class=\"error\""), count("k mismatch")), (6, 4), "a title and a line each: {svg}");
    assert!(svg.contains("tick 1, PE(0,1): k mismatch") && svg.contains("1k0j0 8k1j0"), "{svg}");
}

#[test]
fn waveforms_hold_every_change() {
    let directory = tempdir().expect("a temporary directory");
    let path = directory.path().join("wave.vcd");
    good(&["--matmul", "[-3]", "[5]", "--trace", text(&path), "--ticks", "3"]);
    let expected = "\
$timescale 1 ns $end
$scope module array $end
$scope module pe_0_0 $end
$var wire 32 ! west $end
$var wire 32 \" north $end
$var wire 32 # east $end
$var wire 32 $ south $end
$var wire 64 % acc $end
$var wire 8 & raised $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
b11111111111111111111111111111101 !
b101 \"
b11111111111111111111111111111101 #
b101 $
b1111111111111111111111111111111111111111111111111111111111110001 %
b0 &
#1
bz !
bz \"
bz #
bz $
#2
#3
";
    assert_eq!(fs::read_to_string(&path).expect("a dump"), expected);
}

#[test]
fn misuse_is_explained_and_ends_with_2() {
    let one = ["--matmul", "[1]", "[1]"];
    let with = |more: &[&'static str]| [&one[..], more].concat();
    let cases: Vec<(Vec<&str>, &str)> = vec![
        (vec![], "required arguments were not provided"),
        (vec!["--west", "[1,2;3]", "--north", "[1;2]"], "lane 1 has 1 entries where lane 0 has 2"),
        (
            vec!["--west", "[1,2]", "--north", "[1]"],
            "from the west have 2 entries and those from the north 1",
        ),
        (vec!["--west", "[1;2]"], "give --shape RxC"),
        (vec!["--west", "[1]", "--shape", "2x2"], "1 streams from the west for an array that takes 2 there"),
        (
            vec!["--north", "[1]", "--shape", "2x2"],
            "1 streams from the north for an array that takes 2 there",
        ),
        (vec!["--west", "[1]", "--shape", "0x2"], "an array of 0×2 has no PE"),
        (vec!["--west", "[1]", "--shape", "1x2x3"], "write RxC"),
        (vec!["--west", "[1]", "--shape", "1x1", "--no-skew"], "--no-skew is about --matmul"),
        (vec!["--west", "[1]", "--shape", "1x4000000000"], "above the limit of 4.0 GiB"),
        (vec!["--west", "[1]", "--shape", "1x18446744073709551615"], "above the limit of 4.0 GiB"),
        (vec!["--matmul", "[1]", "[1;2]"], "A needs as many columns as B has rows"),
        (vec!["--matmul", "[1]", "[]"], "[]: has no entries"),
        (vec!["--matmul", "[1]", "/nonexistent.npy"], "/nonexistent.npy: cannot be opened"),
        (with(&["--tile", "0x1"]), "a tile of 0 rows has no PE"),
        (with(&["--tile", "1x0"]), "a tile of 0 columns has no PE"),
        (with(&["--dispatch", "pools"]), "no dispatch 'pools': use tasks or pool"),
        (with(&["--threads", "0"]), "0 threads compute nothing"),
        (with(&["--superstep", "0"]), "superstep"),
        (with(&["--ticks", "0"]), "invalid value '0' for '--ticks <TICKS>'"),
        (with(&["--threads", "1025"]), "1025 threads for an array: more than 1024 only wait for each other"),
        (
            with(&["--pe", "token", "--initial", "[140737488355328]"]),
            "row 0, column 0 is 140737488355328, beyond 48 bits",
        ),
        (with(&["--backend", "interpreted", "--tile", "1x1"]), "leave out --backend interpreted"),
        (with(&["--trace", "trace.txt"]), "trace.txt: no kind of trace: name it .jsonl or .vcd"),
        (with(&["--trace", "/nonexistent/t.vcd"]), "/nonexistent/t.vcd: cannot be written"),
        (with(&["--svg", "/nonexistent/t.svg"]), "/nonexistent/t.svg: cannot be written"),
        (with(&["--svg", "t.svg", "--ticks", "20001"]), "more than 20000 cells: draw fewer ticks"),
    ];
    for (arguments, expected) in cases {
        let (code, _, err) = array(&arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
        assert_eq!(
            err.matches("systole: ").count() + err.matches("error: ").count(),
            1,
            "{arguments:?}: {err}"
        );
    }
}

#[test]
fn the_help_names_the_worked_example() {
    let help = good(&["--help"]);
    assert!(help.contains("systole array --matmul '[1,2;3,4]' '[5,6;7,8]' --no-skew --ticks 5"), "{help}");
}
