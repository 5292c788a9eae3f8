//! The real program: what it prints, what it writes, and how it ends.

use assert_cmd::Command;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::Duration;
use tempfile::{TempDir, tempdir};

const A: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/a_3x5.npy");
const B: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/b_5x3.npy");

/// How long any one run may take before it counts as hanging.
const WATCHDOG: Duration = Duration::from_secs(60);

struct Ended {
    code: i32,
    out: String,
    err: String,
}

fn systole(arguments: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_systole")).args(arguments).timeout(WATCHDOG).output();
    let output = output.expect("the program runs");
    let code = output.status.code().unwrap_or_else(|| panic!("{arguments:?} was killed, it hung"));
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ended { code, out: text(output.stdout), err: text(output.stderr) }
}

/// A run that must succeed and say nothing on standard error.
fn good(arguments: &[&str]) -> String {
    let ended = systole(arguments);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{arguments:?}: {}", ended.out);
    ended.out
}

fn directory() -> TempDir {
    tempdir().expect("a temporary directory")
}

fn path(directory: &TempDir, name: &str) -> PathBuf {
    directory.path().join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A .npy file of two dimensions, as numpy writes it.
fn npy(path: &Path, descr: &str, (rows, columns): (usize, usize), data: &[u8]) {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let header = format!("{header:<117}\n");
    let length = u16::try_from(header.len()).expect("short").to_le_bytes();
    fs::write(path, [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()).expect("written");
}

#[test]
fn the_shipped_example_on_both_links() {
    // Computed by hand: row 0 is 1·1 + 3·3 − 4·4 + 5·6, and so on.
    let c = "C =\n    24    48  -242\n    -4   -10   126\n   203  -201  -618\n";
    for link in ["sim", "software"] {
        let out = good(&["run", A, B, "--link", link]);
        assert!(out.starts_with(c), "{out}");
        let last = out.lines().last().expect("a last line");
        assert!(last.starts_with("Simulated seconds are not board seconds:"), "{last}");
        assert!(last.contains("24 MHz and 3 Mbaud"), "{last}");
        assert!(out.contains("\nsteps      11\nedges      11\n"), "5 terms on a 4×4 grid: {out}");
    }
    assert!(good(&["run", A, B]).contains("on level rust-hdl"), "simulation is the default");
}

#[test]
fn a_large_product_is_not_printed() {
    let out = good(&["run", "--random", "9x2x2", "--seed", "3"]);
    assert!(!out.contains("C ="), "{out}");
    assert!(out.starts_with("equal "), "{out}");
}

#[test]
fn out_holds_c_as_int32() {
    let directory = directory();
    let c = path(&directory, "c.npy");
    good(&["run", A, B, "--out", text(&c)]);
    let bytes = fs::read(&c).expect("written");
    let values: Vec<i32> = bytes[bytes.len() - 36..]
        .chunks(4)
        .map(|x| i32::from_le_bytes(x.try_into().expect("four bytes")))
        .collect();
    assert_eq!(values, [24, 48, -242, -4, -10, 126, 203, -201, -618]);
    assert!(String::from_utf8_lossy(&bytes[..128]).contains("'<i4'"));
}

#[test]
fn random_inputs_can_be_kept_and_used_again() {
    let directory = directory();
    let [kept, first, second] = ["kept", "1.npy", "2.npy"].map(|name| path(&directory, name));
    let random =
        ["run", "--random", "7x5x6", "--seed", "9", "--save-inputs", text(&kept), "--out", text(&first)];
    good(&random);
    let (a, b) = (kept.join("A.npy"), kept.join("B.npy"));
    good(&["run", text(&a), text(&b), "--out", text(&second)]);
    let read = |path: &Path| fs::read(path).expect("written");
    assert_eq!(read(&first), read(&second));
    let a = read(&a);
    assert_eq!(a.len(), 128 + 35);
    good(&["run", "--random", "7x5x6", "--seed", "10", "--link", "software", "--out", text(&second)]);
    assert_ne!(read(&first), read(&second), "another seed, another product");
}

#[test]
fn sums_beyond_int32_need_int64() {
    let directory = directory();
    let [a, b, c] = ["a.npy", "b.npy", "c.npy"].map(|name| path(&directory, name));
    // (−2¹⁵)² · 2 = 2³¹, one more than int32 holds.
    npy(&a, "<i2", (1, 2), &[0x00, 0x80, 0x00, 0x80]);
    npy(&b, ">i2", (2, 1), &[0x80, 0x00, 0x80, 0x00]);
    let wide = ["run", text(&a), text(&b), "--w", "16", "--aw", "40", "--out", text(&c)];
    let ended = systole(&wide);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("row 0, column 0 is 2147483648, beyond int32; ask for --out-dtype int64"));
    assert!(!c.exists());
    good(&[&wide[..], &["--out-dtype", "int64"]].concat());
    let bytes = fs::read(&c).expect("written");
    assert_eq!(bytes[bytes.len() - 8..], [0, 0, 0, 0x80, 0, 0, 0, 0]);
}

#[test]
fn bad_input_is_one_clear_error_and_exit_code_2() {
    let directory = directory();
    let [float, short, flat, words, wide] =
        ["float.npy", "short.npy", "empty.npy", "words.npy", "wide.npy"].map(|name| path(&directory, name));
    npy(&float, "<f8", (1, 1), &[0; 8]);
    npy(&short, "|i1", (3, 3), &[0; 8]);
    npy(&flat, "|i1", (0, 3), &[]);
    npy(&wide, "|i1", (5, 1), &[0, 0, 8, 0, 0]);
    fs::write(&words, "not a matrix").expect("written");
    let missing = path(&directory, "missing.npy");
    let nowhere = path(&directory, "no/such/c.npy");
    let cases: &[(&[&str], &str)] = &[
        (&["run", A, A], "A is 3×5 and B is 3×5: A needs as many columns as B has rows"),
        (&["run", text(&float), B], "float.npy: has dtype <f8, but operands of 8 bits are int8"),
        (&["run", text(&short), B], "short.npy: is truncated"),
        (&["run", text(&flat), B], "empty.npy: has shape 0×3, but both sides must be at least 1"),
        (&["run", text(&words), B], "words.npy: is not a .npy file"),
        (&["run", A, text(&missing)], "missing.npy: cannot be opened"),
        (&["run", A, text(&wide), "--w", "4"], "a_3x5.npy: row 2, column 0 is 127, outside -8..=7"),
        (&["run", A, B, "--out", text(&nowhere)], "c.npy: cannot be written"),
        (&["run", A, B, "--out", text(directory.path())], "cannot be written: is a directory"),
        (&["run", "--random", "0x3x3"], "every side must be at least 1"),
        (&["run", "--random", "3x3"], "write MxKxP"),
        (&["run", "--random", "900000x900000x900000"], "of memory, above the limit of 4.0 GiB"),
        (&["run", "--random", "2x2x2", A, B], "cannot be used with"),
        (&["run", A], "required"),
        (&["run", A, B, "--seed", "1"], "--seed and --save-inputs are about random matrices"),
        (&["run", A, B, "--save-inputs", "."], "--seed and --save-inputs are about random matrices"),
        (&["run", A, B, "--n", "33"], "n is 33, but must be 1..=32"),
        (&["run", A, B, "--w", "1"], "w is 1, but must be 2..=16"),
        (&["run", A, B, "--aw", "15"], "aw is 15, but must be 16..=48"),
        (&["run", A, B, "--k-max", "0"], "k-max is 0, but must be 1..=65536"),
        (&["run", A, B, "--job-bits", "9"], "job-bits is 9, but must be 1..=8"),
        (&["run", A, B, "--a-depth", "255"], "a-depth is 255, but must be 256..=65536"),
        (&["run", A, B, "--b-depth", "70000"], "b-depth is 70000, but must be 256..=65536"),
        (&["run", A, B, "--fifo", "3000"], "fifo is 3000, but must be a power of two"),
        (&["run", A, B, "--fifo", "2"], "fifo is 2, but must be 64..=65536"),
        (
            &["run", A, B, "--baud", "7000000"],
            "4 clocks a bit: at most 6000000 baud at a clock of 24000000 Hz",
        ),
        (
            &["run", A, B, "--baud", "3200000"],
            "baud is 3200000, but a clock of 24000000 Hz divided by 8 gives",
        ),
        (&["bench", "wire", "--pace", "100001"], "100001 is not in 1..=100000"),
        (&["run", A, B, "--link", "carrier-pigeon"], "there is no link 'carrier-pigeon'"),
        (&["selftest", "--no-injection"], "leaves fault injection out"),
        (&["bench", "wire", "--product", "1x1"], "write MxKxP"),
        (&["fly"], "unrecognized subcommand"),
    ];
    for (arguments, expected) in cases {
        let ended = systole(arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(expected), "{arguments:?}: {}", ended.err);
        assert_eq!(ended.out, "", "{arguments:?}: nothing on standard output");
        let errors =
            ended.err.lines().filter(|line| line.starts_with("systole: ") || line.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{arguments:?}: {}", ended.err);
    }
}

#[test]
fn help_and_version() {
    let help = good(&["--help"]);
    for word in ["run", "info", "selftest", "bench", "130", "interrupted"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    for (command, option) in
        [("run", "--save-inputs"), ("info", "--k-max"), ("selftest", "--link"), ("bench", "wire")]
    {
        let help = good(&[command, "--help"]);
        assert!(help.contains(option), "{command} {option}: {help}");
    }
    assert_eq!(good(&["--version"]), concat!("systole ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn every_help_has_the_exit_codes_and_every_design_option_its_range() {
    for command in [&["--help"][..], &["run", "--help"], &["bench", "wire", "--help"], &["build", "--help"]] {
        let help = good(command);
        let codes: Vec<&str> =
            help.split("Exit codes:").nth(1).expect("a footer").split_whitespace().collect();
        for code in ["0", "1", "2", "3", "4", "5", "130"] {
            assert!(codes.contains(&code), "{command:?} {code}: {help}");
        }
    }
    let help = good(&["run", "--help"]);
    let help: String = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for range in [
        "Grid side, 1 to 32 [default: 4]",
        "Accumulator bits, 2·w to 48 [default: 32]",
        "to 65536 [default: 4096]",
        "Clock in hertz, 1000000 to 500000000 [default: 24000000]",
        "4 or more clocks a bit, 1200 to 100000000 [default: 3000000]",
    ] {
        assert!(help.contains(range), "{range}: {help}");
    }
}

#[test]
fn a_reader_that_closes_is_no_failure() {
    let mut child = Process::new(env!("CARGO_BIN_EXE_systole"))
        .args(["run", A, B, "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut err).expect("UTF-8");
    assert_eq!((child.wait().expect("ends").code(), err.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = Process::new(env!("CARGO_BIN_EXE_systole")).arg("info").stdout(full).output().expect("runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.starts_with("systole: cannot write the report: "), "{err}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_130_and_leaves_the_output_as_it_was() {
    let directory = directory();
    let out = path(&directory, "c.npy");
    fs::write(&out, "before").expect("written");
    // Minutes of simulation, so that it is still at work when it is stopped.
    let mut child = Process::new(env!("CARGO_BIN_EXE_systole"))
        .args(["run", "--random", "600x600x600", "--out", text(&out)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    std::thread::sleep(Duration::from_millis(800));
    let killed = Process::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success(), "the program had ended by itself");
    let mut err = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut err).expect("UTF-8");
    assert_eq!((child.wait().expect("ends").code(), err.as_str()), (Some(130), "systole: interrupted\n"));
    assert_eq!(fs::read(&out).expect("still there"), b"before");
    assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 1, "no temporary file is left");
}

/// A program that cannot get on: its standard output is a pipe that is full. Gives also what empties the pipe.
#[cfg(target_os = "linux")]
fn stuck(command: &mut Process) -> (std::process::Child, std::io::PipeReader) {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    // What a pipe of Linux holds.
    writer.write_all(&[b' '; 65_536]).expect("written");
    let child = command.stdout(writer).spawn().expect("the program runs");
    std::thread::sleep(Duration::from_millis(500));
    (child, reader)
}

/// Sends Ctrl-C, and gives the program time to end of it.
#[cfg(target_os = "linux")]
fn interrupt(child: &std::process::Child) {
    let killed = Process::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success(), "the program had ended");
    std::thread::sleep(Duration::from_millis(300));
}

#[cfg(target_os = "linux")]
#[test]
fn the_second_ctrl_c_ends_what_the_first_cannot() {
    let (mut child, _reader) = stuck(Process::new(env!("CARGO_BIN_EXE_systole")).arg("udev"));
    interrupt(&child);
    assert_eq!(child.try_wait().expect("asked"), None, "the first lets it end in order");
    interrupt(&child);
    let ended = child.try_wait().expect("asked").map(|status| status.code());
    let _gone = child.kill();
    assert_eq!(ended, Some(Some(130)));
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_is_ignored_where_the_parent_has_it_so() {
    let background = ["-c", "trap '' INT; exec \"$0\" udev", env!("CARGO_BIN_EXE_systole")];
    let (mut child, mut reader) = stuck(Process::new("sh").args(background));
    interrupt(&child);
    interrupt(&child);
    let ended = child.try_wait().expect("asked");
    let mut out = vec![0; 65_536];
    reader.read_exact(&mut out).expect("read");
    assert_eq!((ended, child.wait().expect("ends").code()), (None, Some(0)));
}
