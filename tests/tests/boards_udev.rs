//! The udev rule as udev itself reads it: nothing in it is unknown, misspelt or without effect.
//!
//! `udevadm verify` reads a rule where it is new enough (systemd 254). Before that `udevadm test` does, which takes rules
//! from the system's folders only: it gets a `/run` of its own, for which this must be root. Where neither is to be had the
//! test shows as ignored, with the reason; with `SYSTOLE_REQUIRE_UDEV` set it fails.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use systole_boards::udev;

/// Oldest version that has `verify`.
const VERIFY: u32 = 254;

/// Has udevadm read the rules of the folder $0, and whatever rules the system has, for a device that it changes nothing of.
const TEST: &str = "mount -t tmpfs none /run && mkdir -p /run/udev/rules.d && cp \"$0\"/*.rules /run/udev/rules.d && \
                    SYSTEMD_LOG_LEVEL=debug udevadm test /sys/class/net/lo";

/// How this machine can have a rule read.
#[derive(Clone, Copy)]
enum Reader {
    Verify,
    Test,
}

fn main() -> std::process::ExitCode {
    let reader = reader();
    let required = std::env::var_os("SYSTOLE_REQUIRE_UDEV").is_some();
    let ignored = reader.is_err() && !required;
    let kind = reader.as_ref().err().cloned().unwrap_or_default();
    let trial = Trial::test("udev_reads_the_rule_without_complaint", move || {
        check(reader.map_err(Failed::from)?);
        Ok(())
    });
    let trial = if ignored { trial.with_kind(&kind) } else { trial };
    libtest_mimic::run(&Arguments::from_args(), vec![trial.with_ignored_flag(ignored)]).exit_code()
}

fn reader() -> Result<Reader, String> {
    let version =
        Command::new("udevadm").arg("--version").output().map_err(|_| "there is no udevadm".to_owned())?;
    let version = String::from_utf8_lossy(&version.stdout).trim().parse::<u32>();
    if version.as_ref().is_ok_and(|version| *version >= VERIFY) {
        return Ok(Reader::Verify);
    }
    let own_run = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "none", "/run"]).output();
    match own_run {
        Ok(output) if output.status.success() => Ok(Reader::Test),
        _ => Err("udevadm has no `verify`, and `udevadm test` needs root".to_owned()),
    }
}

fn read(reader: Reader, folder: &Path) -> Output {
    let mut command = match reader {
        Reader::Verify => {
            let mut command = Command::new("udevadm");
            command.args(["verify", "--resolve-names=never"]).arg(folder.join(udev::FILE));
            command
        }
        Reader::Test => {
            let mut command = Command::new("unshare");
            command.args(["-m", "sh", "-ec", TEST]).arg(folder);
            command
        }
    };
    command.output().expect("was there a moment ago")
}

/// What udev says about the lines of a rule.
fn complaints(reader: Reader, rules: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(udev::FILE), rules).expect("written");
    let output = read(reader, folder.path());
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains(udev::FILE), "it was not read: {text}");
    // About a line it says FILE:LINE and what is wrong with it.
    let about = format!("{}:", udev::FILE);
    text.lines().filter(|line| line.contains(&about)).map(str::to_owned).collect()
}

fn check(reader: Reader) {
    assert_eq!(complaints(reader, udev::RULES), Vec::<String>::new());
    // One fault in each of the three kinds of line, so that silence above means something.
    for (right, wrong) in [
        ("MODE=\"0660\"", "MOOD=\"0660\""),
        ("SUBSYSTEM==\"tty\"", "SUBSYSTEM+=\"tty\""),
        ("DRIVER==\"ftdi_sio\"", "DRIVER=\"ftdi_sio\""),
    ] {
        let faulty = udev::RULES.replace(right, wrong);
        assert_ne!(faulty, udev::RULES);
        assert!(!complaints(reader, &faulty).is_empty(), "{wrong} went unnoticed");
    }
}
