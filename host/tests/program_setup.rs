//! What a person needs once, before the first board: the udev rule, `doctor`, completions and man pages.

use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

fn systole(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_systole")).args(arguments).output().expect("the program runs")
}

/// What a run that must succeed prints.
fn good(arguments: &[&str]) -> String {
    let output = systole(arguments);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_udev_rule_is_printed_as_it_is_to_be_installed() {
    let rule = good(&["udev"]);
    assert_eq!(rule, include_str!("../../boards/60-systole.rules"));
    // The lines for an FT2232H: whoever sits at the computer, not ModemManager, and no wait of 16 ms.
    for part in ["TAG+=\"uaccess\"", "ENV{ID_MM_DEVICE_IGNORE}=\"1\"", "ATTR{latency_timer}=\"1\""] {
        assert!(rule.lines().any(|line| line.contains("\"6010\"") && line.contains(part)), "{part}");
    }
}

#[test]
fn every_command_is_completed_and_has_a_man_page() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let pages = folder.path().join("man1");
    let out = good(&["man", pages.to_str().expect("UTF-8")]);
    assert_eq!(out, "");
    let commands = ["run", "info", "selftest", "bench", "array", "build", "boards", "toolchain", "udev"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = good(&["completions", shell]);
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    for command in commands {
        let page = pages.join(format!("systole-{command}.1"));
        let page = fs::read_to_string(page).unwrap_or_else(|error| panic!("{command}: {error}"));
        assert!(
            page.contains(".SH OPTIONS") && page.contains("Exit codes: 0 all equal"),
            "{command}: {page}"
        );
    }
}

/// A shell is asked what it makes of the script, where there is one.
#[cfg(unix)]
#[test]
fn bash_completes_a_command_and_an_option() {
    let ask = |line: &str| {
        let script =
            "source <(\"$0\" completions bash); COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                      _systole systole \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"
                      echo \"${COMPREPLY[*]}\"";
        let output = Command::new("bash")
            .args(["--norc", "-c", script, env!("CARGO_BIN_EXE_systole"), line])
            .output()
            .expect("bash is there");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(ask("systole tool"), "toolchain");
    assert_eq!(ask("systole run --save"), "--save-inputs");
}

/// On this machine, whatever it is: the report is as the schema has it, and the exit code follows from it.
#[test]
fn doctor_looks_at_this_machine() {
    let output = systole(&["doctor", "--format", "json"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let schema: Value =
        serde_json::from_str(include_str!("../schema/doctor.json")).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a sound schema");
    let faults: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new(), "{report}");
    let checks = report["checks"].as_array().expect("a list");
    let findings = checks.iter().filter(|check| check["state"] == "finding").count();
    assert_eq!(report["findings"], findings);
    assert_eq!(output.status.code(), Some(if findings == 0 { 0 } else { 5 }));
    for kind in ["udev-rule", "modem-manager", "tool", "programmer"] {
        assert!(checks.iter().any(|check| check["kind"] == kind), "{kind}: {report}");
    }
    let help = String::from_utf8(systole(&["doctor", "--help"]).stdout).expect("UTF-8");
    // Lines are broken to fit a terminal.
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("would fail by what was found; notes do not count."), "{help}");
    let text = String::from_utf8(systole(&["doctor"]).stdout).expect("UTF-8");
    for check in checks {
        for part in ["text", "fix"].iter().filter_map(|part| check[*part].as_str()) {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn without_any_program_doctor_names_what_installs_them() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let output = Command::new(env!("CARGO_BIN_EXE_systole"))
        .arg("doctor")
        .env("PATH", folder.path())
        .env("SYSTOLE_TOOLCHAIN", folder.path())
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(5), "{text}");
    for fix in ["fix: systole toolchain install\n", "fix: sudo apt install openfpgaloader\n"] {
        assert!(text.contains(fix), "{fix}: {text}");
    }
}
