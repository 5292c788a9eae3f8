//! The files the program reads and writes, and what it says when they are not what they should be.

#![cfg(unix)]

use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::Duration;
use tempfile::{TempDir, tempdir};

const A: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/a_3x5.npy");
const B: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/b_5x3.npy");

/// Runs the program, which must not hang; gives its exit code and its standard error.
fn systole(arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_systole"));
    let output = command.args(arguments).timeout(Duration::from_secs(60)).output().expect("the program runs");
    let code = output.status.code().unwrap_or_else(|| panic!("{arguments:?} was killed, it hung"));
    (code, String::from_utf8(output.stderr).expect("UTF-8"))
}

/// A run that must end with exit code 2 and this one line.
fn refused(arguments: &[&str], expected: &str) {
    let (code, err) = systole(arguments);
    assert_eq!(code, 2, "{arguments:?}: {err}");
    assert!(err.contains(expected), "{arguments:?}: {err}");
    assert_eq!(err.lines().count(), 1, "{arguments:?}: {err}");
}

fn directory() -> TempDir {
    tempdir().expect("a temporary directory")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn pipe(directory: &TempDir) -> PathBuf {
    let path = directory.path().join("pipe");
    assert!(Process::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    path
}

#[test]
fn an_error_that_cannot_be_told_keeps_its_exit_code() {
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").expect("Linux has it"));
    let mut command = Process::new(env!("CARGO_BIN_EXE_systole"));
    let status = command.args(["run", "nope", B]).stderr(full()).status().expect("runs");
    assert_eq!(status.code(), Some(2));
    let mut child = Process::new(env!("CARGO_BIN_EXE_systole"));
    let mut child = child.args(["run", "nope", B]).stderr(Stdio::piped()).spawn().expect("runs");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("ends").code(), Some(2));
}

#[test]
fn what_is_no_regular_file_is_neither_read_nor_written() {
    let directory = directory();
    let pipe = pipe(&directory);
    refused(&["run", text(&pipe), B], "pipe: is not a regular file");
    refused(&["run", A, "/dev/null"], "/dev/null: is not a regular file");
    refused(&["run", A, B, "--out", text(&pipe)], "pipe: cannot be written: is not a regular file");
    refused(&["run", A, B, "--out", "/dev/null"], "/dev/null: cannot be written: is not a regular file");
    let dangling = directory.path().join("dangling");
    symlink("nowhere", &dangling).expect("linked");
    refused(&["run", A, B, "--out", text(&dangling)], "is a symbolic link to nowhere, which does not exist");
    let build = ["build", "--board", "icebreaker", "--emit", "verilog", "--out"];
    refused(&[&build[..], &["/dev/null"]].concat(), "cannot write /dev/null: is not a regular file");
}

#[test]
fn c_never_replaces_an_input() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    let [a, b, hard, soft, dotted] = ["a.npy", "b.npy", "hard.npy", "soft.npy", "./a.npy"].map(at);
    fs::copy(A, &a).expect("copied");
    fs::copy(B, &b).expect("copied");
    fs::hard_link(&a, &hard).expect("linked");
    symlink(&b, &soft).expect("linked");
    for (out, input) in [(&a, &a), (&dotted, &a), (&b, &b), (&hard, &a), (&soft, &b)] {
        let expected = format!("--out {} is the same file as the input {}", out.display(), input.display());
        refused(&["run", text(&a), text(&b), "--out", text(out)], &expected);
    }
    assert_eq!(fs::read(&a).expect("still there"), fs::read(A).expect("there"));
    let kept = at("kept");
    for name in ["A.npy", "B.npy"] {
        let out = kept.join(name);
        let random = ["run", "--random", "1x1x1", "--save-inputs", text(&kept), "--out", text(&out)];
        refused(&random, "is the same file as the input");
    }
}

#[test]
fn c_may_go_into_the_folder_made_for_the_inputs() {
    let directory = directory();
    let kept = directory.path().join("made/for/them");
    let out = kept.join("C.npy");
    let random = ["run", "--random", "1x1x1", "--save-inputs", text(&kept), "--out", text(&out)];
    assert_eq!(systole(&random), (0, String::new()));
    assert!(["A.npy", "B.npy", "C.npy"].iter().all(|name| kept.join(name).is_file()));
}

#[test]
fn content_and_names_are_quoted_on_one_short_line() {
    let directory = directory();
    let odd = directory.path().join("o\ndd\u{1b}.npy");
    let header = format!("{{'descr': '\u{1b}[31m{}', 'fortran_order': False", "x\n".repeat(9000));
    let length = u16::try_from(header.len()).expect("short").to_le_bytes();
    fs::write(&odd, [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()].concat()).expect("written");
    refused(&["run", text(&odd), B], "/o\\ndd\\u{1b}.npy: is not a .npy file (");
    let (_, err) = systole(&["run", text(&odd), B]);
    assert!(err.len() < 400 && !err.contains('\u{1b}'), "{err}");
}

#[test]
fn a_file_that_ends_within_its_header_is_truncated() {
    let directory = directory();
    let cut = directory.path().join("cut.npy");
    let whole = fs::read(A).expect("there");
    for length in [0, 3, 6, 9, 10, 60, 127] {
        fs::write(&cut, &whole[..length]).expect("written");
        refused(&["run", text(&cut), B], "cut.npy: is truncated: it ends within its header");
    }
    fs::write(&cut, &whole[..130]).expect("written");
    refused(&["run", text(&cut), B], "cut.npy: is truncated: a 3×5 matrix needs more data than it has");
}

#[test]
fn a_product_beyond_this_machine_is_refused_before_it_begins() {
    let huge = ["run", "--random", "1000000x4000000x1", "--memory-limit", "65536"];
    refused(&huge, "of memory, more than is free on this machine");
    let bench = ["bench", "wire", "--product", "90000x90000x1"];
    refused(&bench, "above the limit of 4.0 GiB; raise --memory-limit");
    refused(
        &[&bench[..], &["--memory-limit", "1"]].concat(),
        "above the limit of 1.0 GiB; raise --memory-limit",
    );
}
