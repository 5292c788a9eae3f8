//! The program over a serial port: a pseudo-terminal with a virtual board behind it, and ports that are none.

mod board;
mod running;

use board::VirtualBoard;
use running::{ended, spawn, systole};
use serde_json::{Value, json};
use std::fs::File;
use std::time::{Duration, Instant};

#[test]
fn row_11_a_pseudo_terminal_is_a_port_like_any_other() {
    for arguments in [&["--n", "2"][..], &["--behavioural"]] {
        let board = VirtualBoard::start(arguments);
        let run = systole(&[
            "run",
            "--random",
            "5x6x7",
            "--seed",
            "3",
            "--link",
            &board.link(),
            "--format",
            "json",
        ]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
        let report: Value = serde_json::from_str(&run.out).expect("JSON");
        assert_eq!((&report["level"], &report["equal"]), (&json!("virtual-board"), &json!(true)));
        assert_eq!(report["cycles"], Value::Null);
        let selftest = systole(&["selftest", "--link", &board.link()]);
        assert_eq!((selftest.code, selftest.err.as_str()), (0, ""), "{}", selftest.out);
        assert!(selftest.out.contains("(level virtual-board)"), "{}", selftest.out);
    }
}

#[test]
fn row_27_every_parameter_is_the_boards_and_given_ones_are_held_against_it() {
    let board = VirtualBoard::start(&[
        "--behavioural",
        "--n",
        "3",
        "--w",
        "9",
        "--k-max",
        "2000",
        "--a-depth",
        "2000",
        "--b-depth",
        "2000",
    ]);
    let info = systole(&["info", "--link", &board.link(), "--format", "json"]);
    let report: Value = serde_json::from_str(&info.out).expect("JSON");
    let d = &report["design"];
    assert_eq!(
        (&d["n"], &d["w"], &d["k_max"], &d["fifo"]),
        (&json!(3), &json!(9), &json!(2000), &json!(4096))
    );
    // The same by name, and another parameter of a design that defaults would make impossible.
    let same = systole(&["info", "--link", &board.link(), "--n", "3", "--k-max", "2000"]);
    assert_eq!((same.code, same.err.as_str()), (0, ""));
    let other = systole(&["run", "--random", "2x2x2", "--link", &board.link(), "--n", "4"]);
    assert_eq!((other.code, other.out.as_str()), (3, ""));
    assert!(
        other.err.contains(&format!(
            "systole: {}: the board's design has n=3, but n=4 was asked for",
            board.link()
        )),
        "{}",
        other.err
    );
    let other = systole(&["info", "--link", &board.link(), "--k-max", "1999"]);
    assert!(other.err.contains("has k-max=2000, but k-max=1999 was asked for"), "{}", other.err);
}

#[test]
fn a_port_that_cannot_be_opened_says_why() {
    let cases = [
        ("serial:/dev/no-such-port", "/dev/no-such-port: there is no such port"),
        ("serial:/dev/null", "/dev/null: is no serial port"),
        ("serial:/tmp", "/tmp: is no serial port"),
        ("auto", "no board is attached that this program knows"),
    ];
    for (link, expected) in cases {
        let info = systole(&["info", "--link", link]);
        assert_eq!((info.code, info.out.as_str()), (3, ""), "{link}: {}", info.err);
        assert!(info.err.starts_with(&format!("systole: {expected}")), "{link}: {}", info.err);
    }
}

#[test]
fn row_02_a_port_in_use_names_who_has_it() {
    let board = VirtualBoard::start(&["--behavioural"]);
    let _held = serialport::new(board.path(), 115_200).open_native().expect("free");
    let info = systole(&["info", "--link", &board.link()]);
    assert_eq!(info.code, 3);
    let me = format!("(process {}); end that first\n", std::process::id());
    assert!(info.err.contains("is in use by") && info.err.ends_with(&me), "{}", info.err);
}

#[test]
fn row_09_a_board_that_goes_away_is_one_clear_error() {
    // Much to compute, so that it is still at it when the board goes.
    let mut board = VirtualBoard::start(&["--n", "2"]);
    let run = spawn(&["run", "--random", "400x400x400", "--link", &board.link()]);
    std::thread::sleep(Duration::from_millis(500));
    board.kill();
    let begun = Instant::now();
    let run = ended(run);
    assert!(begun.elapsed() < Duration::from_secs(5), "it noticed after {:?}", begun.elapsed());
    assert_eq!((run.code, run.out.as_str()), (3, ""));
    assert!(run.err.contains(": the board is gone: the link was closed by the other end"), "{}", run.err);
}

#[test]
fn ctrl_c_leaves_the_port_and_the_board_as_they_were() {
    let board = VirtualBoard::start(&["--n", "2"]);
    let run = spawn(&["run", "--random", "400x400x400", "--link", &board.link()]);
    std::thread::sleep(Duration::from_millis(500));
    board::interrupt(run.id());
    let run = ended(run);
    assert_eq!((run.code, run.err.as_str()), (130, "systole: interrupted\n"));
    let next = systole(&["run", "--random", "3x3x3", "--link", &board.link()]);
    assert_eq!((next.code, next.err.as_str()), (0, ""), "{}", next.out);
}

#[test]
fn row_13_what_others_left_on_the_line_is_no_answer() {
    use std::io::Write;
    let board = VirtualBoard::start(&["--behavioural"]);
    // A host that asked and left: its answers are on the line, and half a frame is in the board.
    let mut left = File::options().write(true).open(board.path()).expect("a port");
    let hello = systole_hdl::codec::Command::Hello { nonce: 1 }.frame(255).to_wire();
    left.write_all(&[&b"AT\r\nAT+CGMI\r\n"[..], &hello[..], &hello[..], &hello[..7]].concat())
        .expect("written");
    drop(left);
    let info = systole(&["info", "--link", &board.link()]);
    assert_eq!((info.code, info.err.as_str()), (0, ""), "{}", info.out);
}

const LINK: &str = include_str!("../schema/link.json");

#[test]
fn bench_link_measures_what_the_pace_allows() {
    // 1 Mbaud is 100,000 bytes a second; payload is most of a frame, and one byte in 128 is escaped.
    let board = VirtualBoard::start(&["--behavioural", "--pace", "1000000"]);
    let bench = systole(&["bench", "link", "--link", &board.link(), "--format", "json"]);
    assert_eq!((bench.code, bench.err.as_str()), (0, ""), "{}", bench.out);
    let report: Value = serde_json::from_str(&bench.out).expect("JSON");
    let schema: Value = serde_json::from_str(LINK).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a sound schema");
    let faults: Vec<_> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new(), "{report}");
    for way in ["source", "sink", "loopback"] {
        let speed = report[way].as_f64().expect("a number");
        assert!((10_000.0..100_000.0).contains(&speed), "{way}: {speed} bytes a second");
    }
    // Frames of 11 and 13 bytes.
    let round_trip = report["round_trip_p50"].as_f64().expect("a number");
    assert!(round_trip > 0.000_2, "{round_trip} s is faster than the line");
    assert_eq!((&report["level"], &report["lost"]), (&json!("virtual-board"), &json!(0)));
    let over_sim = systole(&["bench", "link", "--n", "2", "--link", "sim"]);
    assert_eq!(over_sim.code, 0, "{}", over_sim.err);
    assert!(over_sim.out.starts_with("level       rust-hdl\nrate        none\n"), "{}", over_sim.out);
}

#[test]
fn bench_link_takes_the_time_asked_for_at_any_rate() {
    // 1200 baud is 120 bytes a second; at 115200 nothing keeps a board from promising half a megabyte.
    for (rate, most) in [("1200", 120.0), ("115200", 11_520.0)] {
        let board = VirtualBoard::start(&["--behavioural", "--pace", rate]);
        let link = format!("{}@{rate}", board.link());
        let begun = Instant::now();
        let bench = systole(&["bench", "link", "--link", &link, "--seconds", "1", "--format", "json"]);
        let took = begun.elapsed();
        assert_eq!(bench.code, 0, "{}", bench.err);
        assert!(took < Duration::from_secs(15), "four seconds were asked for, and it took {took:?}");
        let report: Value = serde_json::from_str(&bench.out).expect("JSON");
        for way in ["source", "sink", "loopback"] {
            let speed = report[way].as_f64().expect("a number");
            assert!((most / 10.0..most).contains(&speed), "{rate} baud, {way}: {speed} bytes a second");
        }
        if rate == "1200" {
            assert_eq!(report["round_trip_p99"], Value::Null, "{report}");
            assert!(bench.err.contains("round trips are too few to tell"), "{}", bench.err);
        }
    }
}

#[test]
fn a_virtual_board_stops_when_told() {
    let mut board = VirtualBoard::start(&["--behavioural", "--pace", "12000000"]);
    let run = systole(&["run", "--random", "64x64x64", "--link", &board.link()]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
    assert_eq!(board.stop(), 130);
}
