//! `systole flash` where no board is attached: what it says then, and what it makes of a programmer that lies.
//!
//! The programmer is a script in the place of openFPGALoader, the board a virtual one; the real openFPGALoader is held to in
//! the suite `boards_loader`, and a board that is written to natively in the USB tier.

#![cfg(unix)]

mod board;
mod running;

use board::{VirtualBoard, interrupt};
use running::{Ended, ended, systole};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use systole::virtual_board::usb_model::labelled;
use systole_firmware::image::ice40::Die;
use tempfile::TempDir;

const SCHEMA: &str = include_str!("../schema/flash.json");

/// IDCODEs of the boards' FPGAs.
const LFE5U_12F: [u8; 4] = [0x21, 0x11, 0x10, 0x43];
const LFE5UM5G_85F: [u8; 4] = [0x81, 0x11, 0x30, 0x43];

/// An image for an ECP5 that configures no frame of its memory, hence without a CRC.
fn ecp5(idcode: [u8; 4]) -> Vec<u8> {
    let head = b"\xFF\x00Part: any\x00\xFF\xFF\xFF\xBD\xB3\xFF\xFF\xFF\xFF\x3B\x00\x00\x00\xE2\x00\x00\x00";
    [head, &idcode[..], b"\x82\x00\x00\x00\x5E\x00\x00\x00\xFF\xFF\xFF\xFF"].concat()
}

/// A folder with an image and a programmer.
struct Bench {
    folder: TempDir,
    board: &'static str,
}

impl Bench {
    /// `script` is what the programmer does when it is to write; it may use the folder as `$here`.
    fn new(script: &str) -> Self {
        let bench = Self { folder: tempfile::tempdir().expect("a folder"), board: "ulx3s-12f" };
        fs::write(bench.path("image.bit"), ecp5(LFE5U_12F)).expect("written");
        let program = bench.path("bin/openFPGALoader");
        fs::create_dir(bench.path("bin")).expect("made");
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = -V ]; then echo 'openFPGALoader v9.9'; exit; fi\nhere='{}'\n\
             echo \"$@\" >\"$here/arguments\"\ncat \"$(eval echo \\${{$#}})\" >\"$here/written\"\n{script}\n",
            bench.folder.path().display()
        );
        fs::write(&program, text).expect("written");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("set");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let path = std::env::var("PATH").expect("is set");
        Command::new(env!("CARGO_BIN_EXE_systole"))
            .args(["flash", "--board", self.board, "--image"])
            .arg(self.path("image.bit"))
            .args(arguments)
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs")
    }

    /// Writes to the board at a link; gives the exit code and the report, which must be as the schema has it.
    fn flash(&self, link: &str, arguments: &[&str]) -> (i32, Value) {
        let arguments = [&["--link", link, "--format", "json"], arguments].concat();
        let Ended { code, out, err } = ended(self.start(&arguments));
        let report: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {code} {out} {err}"));
        let schema: Value = serde_json::from_str(SCHEMA).expect("a schema is JSON");
        let validator = jsonschema::validator_for(&schema).expect("a sound schema");
        let faults: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert_eq!(faults, Vec::<String>::new(), "{report}");
        (code, report)
    }
}

/// A virtual board with a grid of this side, and the design hash that it answers with.
fn virtual_board(n: &str) -> (VirtualBoard, String) {
    let board = VirtualBoard::start(&["--behavioural", "--n", n]);
    let info = systole(&["info", "--link", &board.link(), "--format", "json"]);
    let info: Value = serde_json::from_str(&info.out).expect("JSON");
    let hash = info["design_hash"].as_str().expect("a hash").to_owned();
    (board, hash)
}

#[test]
fn a_board_that_runs_the_image_is_left_alone_unless_forced() {
    let bench = Bench::new("exit 0");
    let (board, hash) = virtual_board("2");
    let (code, report) = bench.flash(&board.link(), &["--design-hash", &hash]);
    assert_eq!((code, &report["outcome"]), (0, &json!("already-running")));
    assert_eq!((&report["answer"]["design_hash"], &report["programmer"]), (&json!(hash), &json!("none")));
    assert_eq!(bench.text("arguments"), None, "nothing was written");
    let (code, report) = bench.flash(&board.link(), &["--design-hash", &hash, "--force"]);
    assert_eq!((code, &report["outcome"]), (0, &json!("confirmed")));
    assert_eq!(report["programmer"], json!("openFPGALoader v9.9"));
    assert_eq!(bench.text("arguments").as_deref(), Some("--board ulx3s --write-sram image.bit\n"));
    assert_eq!(fs::read(bench.path("written")).expect("the programmer had it"), ecp5(LFE5U_12F));
    // What runs in the FPGA tells nothing of the flash, before and after.
    let (code, report) = bench.flash(&board.link(), &["--design-hash", &hash, "--persist"]);
    assert_eq!((code, &report["outcome"], &report["memory"]), (3, &json!("unproven"), &json!("flash")));
    let detail = report["detail"].as_str().expect("a detail");
    assert!(
        detail.starts_with("it answered with this design hash before, too: switch it off and on"),
        "{detail}"
    );
    assert_eq!(bench.text("arguments").as_deref(), Some("--board ulx3s --write-flash --verify image.bit\n"));
}

#[test]
fn row_18_a_programmer_that_says_it_wrote_and_did_not_is_found_out() {
    let bench = Bench::new("echo 'all is well'");
    let (board, hash) = virtual_board("2");
    let (code, report) = bench.flash(&board.link(), &["--design-hash", "0123456789abcdef"]);
    assert_eq!((code, &report["outcome"]), (4, &json!("not-programmed")), "{report}");
    assert_eq!(report["answer"]["design_hash"], json!(hash));
    let detail = report["detail"].as_str().expect("a detail");
    assert!(
        detail.contains(&format!("its design hash is {hash}; the image's is 0123456789abcdef")),
        "{detail}"
    );
    assert!(detail.contains("openFPGALoader's last lines:\nall is well\nThe whole log: "), "{detail}");
    let log = detail.rsplit("The whole log: ").next().expect("a path");
    assert_eq!(fs::read_to_string(log).expect("the log is kept"), "all is well\n");
}

#[test]
fn row_18_an_answer_proves_nothing_of_an_image_without_a_hash() {
    let bench = Bench::new("echo 'all is well'");
    let (board, _) = virtual_board("2");
    let (code, report) = bench.flash(&board.link(), &[]);
    assert_eq!((code, &report["outcome"]), (3, &json!("unproven")), "{report}");
    let detail = report["detail"].as_str().expect("a detail");
    assert!(detail.starts_with("a file does not tell its design hash"), "{detail}");
}

#[test]
fn the_board_is_asked_after_writing() {
    let ((old, _), (new, hash)) = (virtual_board("2"), virtual_board("3"));
    // Writing makes another board of it.
    let bench = Bench::new("ln -sf \"$(cat \"$here/new\")\" \"$here/port\"");
    fs::write(bench.path("new"), new.path()).expect("written");
    symlink(old.path(), bench.path("port")).expect("linked");
    let link = format!("serial:{}", bench.path("port").display());
    let (code, report) = bench.flash(&link, &["--design-hash", &hash]);
    assert_eq!((code, &report["outcome"]), (0, &json!("confirmed")), "{report}");
    assert_eq!(
        (&report["answer"]["design_hash"], &report["answer"]["level"]),
        (&json!(hash), &json!("virtual-board"))
    );
}

#[test]
fn row_20_what_has_to_be_set_on_the_board_is_shown() {
    let bench = Bench { board: "ecp5-evn", ..Bench::new("exit 0") };
    fs::write(bench.path("image.bit"), ecp5(LFE5UM5G_85F)).expect("written");
    let (board, _) = virtual_board("2");
    let note = "As delivered, the UART is not connected: remove R22 and R23, bridge R34 and R35";
    let end = ended(bench.start(&["--link", &board.link()]));
    assert_eq!(end.code, 3, "{}", end.err);
    assert!(end.err.contains(&format!("note: {note}")), "before it writes: {}", end.err);
    let (_, report) = bench.flash(&board.link(), &[]);
    assert!(report["note"].as_str().is_some_and(|text| text.starts_with(note)), "{report}");
}

#[test]
fn a_silent_uart_is_not_taken_for_success() {
    let bench = Bench::new("echo 'all is well'");
    let (board, _) = virtual_board("2");
    // A board that is stopped has a port, and says nothing.
    let stopped = Command::new("kill").args(["-STOP", &board.pid().to_string()]).status().expect("kill runs");
    assert!(stopped.success());
    let begun = Instant::now();
    let (code, report) = bench.flash(&format!("{}@3000000", board.link()), &["--force"]);
    assert_eq!(
        (code, &report["outcome"], &report["answer"]),
        (3, &json!("unconfirmed"), &Value::Null),
        "{report}"
    );
    let detail = report["detail"].as_str().expect("a detail");
    assert!(detail.contains("On the UART: no answer to HELLO"), "{detail}");
    assert!(begun.elapsed() >= Duration::from_secs(10), "a board has ten seconds to come back");
}

#[test]
fn ctrl_c_stops_the_programmer_and_ends_with_130() {
    let bench = Bench::new("echo $$ >\"$here/pid\"; exec sleep 60");
    let child = bench.start(&["--link", "serial:/dev/null", "--force"]);
    let begun = Instant::now();
    let pid = loop {
        match bench.text("pid").filter(|text| text.ends_with('\n')) {
            Some(text) => break text.trim().to_owned(),
            None => assert!(begun.elapsed() < Duration::from_secs(20), "the programmer was not started"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    interrupt(child.id());
    let end = ended(child);
    assert_eq!(end.code, 130, "{}", end.err);
    assert!(end.err.contains("the board may have half an image, program it again"), "{}", end.err);
    assert!(!Path::new("/proc").join(pid).exists(), "the programmer still runs");
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is() {
    let bench = Bench::new("exit 0");
    let image = bench.path("image.bit").display().to_string();
    let flash =
        |board: &str, arguments: &[&str]| systole(&[&["flash", "--board", board], arguments].concat());
    let [empty, other, good, text, cut] =
        ["empty", "other.bin", "good.bin", "top.v", "cut.bit"].map(|name| bench.path(name));
    fs::write(&text, "module top; endmodule\n").expect("written");
    fs::write(&cut, &ecp5(LFE5U_12F)[..40]).expect("written");
    fs::write(&empty, "").expect("written");
    fs::write(&other, labelled(Die::Ice8k, &[])).expect("written");
    fs::write(&good, labelled(Die::Ice5k, &[])).expect("written");
    let [empty, other, good, text, cut] =
        [empty, other, good, text, cut].map(|path| path.display().to_string());
    let cases: [(&str, &[&str], i32, &str); 21] = [
        ("icebreaker", &["--verify", "--image", &empty], 2, "empty: is empty"),
        ("icebreaker", &["--image", &text], 2, "top.v: is no iCE40 image: it has no preamble"),
        ("icebreaker", &["--image", &image], 2, "is an image for another FPGA: ECP5, not iCE40 up5k"),
        ("ulx3s-12f", &["--image", &good], 2, "is an image for another FPGA: iCE40, not ECP5 12k"),
        (
            "ulx3s-12f",
            &["--image", &cut],
            2,
            "cut.bit: is no ECP5 image: it ends at byte 40, before the FPGA",
        ),
        (
            "ulx3s-25f",
            &["--image", &image],
            2,
            "ECP5 12k (IDCODE 21111043), not ECP5 25k (IDCODE 41111043); nothing was written. `systole build --board ulx3s",
        ),
        ("tang-nano-9k", &["--image", &text], 2, "top.v: is no Gowin image: line 1 is not"),
        ("tang-nano-9k", &["--image", &image], 2, "is an image for another FPGA: ECP5, not Gowin GW1NR"),
        ("icebreaker", &["--image", "/dev/zero"], 2, "cannot read /dev/zero: is not a regular file"),
        ("icebreaker", &["--image", &empty], 2, "empty: is empty"),
        ("ulx3s-12f", &["--image", &empty], 2, "empty: is empty"),
        (
            "icebreaker",
            &["--image", &other],
            2,
            "other.bin: is an image for another FPGA: iCE40 8k, not iCE40 5k; nothing was written",
        ),
        ("icebreaker", &["--no-write"], 2, "--read <FILE>"),
        ("icebraker", &[], 2, "icebreaker"),
        (
            "icebreaker",
            &["--memory", "sram"],
            2,
            "an image for icebreaker cannot be kept in sram, only in flash",
        ),
        (
            "ulx3s-12f",
            &["--erase"],
            2,
            "--read, --erase and --verify are for boards with an iCE40; for ulx3s-12f there",
        ),
        (
            "hx8k-b-evn",
            &["--memory", "sram", "--verify"],
            2,
            "are about the flash, not the FPGA's own memory",
        ),
        ("icebreaker", &["--image", &image, "--n", "2"], 2, "cannot be used with"),
        (
            "icebreaker",
            &["--image", &image, "--read", &image],
            2,
            "image.bit is the image itself; give it another",
        ),
        ("icebreaker", &["--image", &good, "--design-hash", "12"], 2, "have 16 hexadecimal digits"),
        (
            "icebreaker",
            &["--image", &good, "--serial", "no-such"],
            3,
            "no icebreaker is attached: there is no USB chip 0403:6010 with serial number no-such",
        ),
    ];
    for (board, arguments, code, expected) in cases {
        let ended = flash(board, arguments);
        assert_eq!((ended.code, ended.out.as_str()), (code, ""), "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(expected), "{arguments:?}: {}", ended.err);
    }
}

#[test]
fn a_pipe_or_an_endless_file_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let [pipe, large] = ["pipe", "large.bin"].map(|name| folder.path().join(name));
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    fs::File::create(&large).and_then(|file| file.set_len(1 << 40)).expect("a file of holes");
    for (file, expected) in
        [(pipe, "is not a regular file"), (large, "has 1099511627776 bytes; what is meant here")]
    {
        let ended = systole(&["flash", "--board", "icebreaker", "--image", &file.display().to_string()]);
        assert_eq!(ended.code, 2, "{}", ended.err);
        assert!(ended.err.contains(expected), "{}", ended.err);
    }
}

#[test]
fn a_missing_programmer_is_named_with_what_installs_it() {
    let bench = Bench::new("exit 0");
    fs::remove_file(bench.path("bin/openFPGALoader")).expect("removed");
    let output = Command::new(env!("CARGO_BIN_EXE_systole"))
        .args(["flash", "--board", "ulx3s-12f", "--link", "serial:/dev/null", "--force", "--image"])
        .arg(bench.path("image.bit"))
        .env("PATH", bench.path("bin"))
        .output()
        .expect("the program runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{err}");
    assert!(
        err.contains("openFPGALoader is missing") && err.contains("sudo apt install openfpgaloader"),
        "{err}"
    );
}
