use super::ports::may_open;
use super::*;
use crate::discover::Access;
use crate::discover::made::Made;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use systole_boards::udev::RULES;

/// A machine with one board at 1-2.
struct Patient(Made);

impl Patient {
    /// Everything is as it should be, but for programs: there are none.
    fn good(ids: &str, product: &str) -> Self {
        let made = Made::new();
        made.usb("devices/pci0/usb1/1-2", 4, ids, product, "ib000042");
        made.ftdi_port("devices/pci0/usb1/1-2", 1, "ttyUSB1");
        made.write(LATENCY, "1\n");
        made.write("etc/group", "root:x:0:\ndialout:x:20:ada,grace\n");
        made.write("run/udev/control", "");
        made.write(RULE, RULES);
        let patient = Self(made);
        patient.process(1, "systemd", None);
        patient
    }

    fn icebreaker() -> Self {
        Self::good("0403:6010", "iCEBreaker V1.0e")
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.0.path().canonicalize().expect("is there").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        self.0.write(path, text);
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).expect("removed");
    }

    fn process(&self, pid: u32, name: &str, open: Option<&str>) {
        self.write(&format!("proc/{pid}/comm"), &format!("{name}\n"));
        fs::create_dir_all(self.path(&format!("proc/{pid}/fd"))).expect("made");
        open.into_iter().for_each(|open| {
            symlink(self.path(open), self.path(&format!("proc/{pid}/fd/5"))).expect("linked");
        });
    }

    fn checks(&self) -> Vec<Check> {
        let person = Person {
            name: Some("ada".to_owned()),
            toolchain: Toolchain::at(self.path("toolchain"), self.path("bin").into()),
            search_path: self.path("bin").into(),
        };
        examine(&Machine::at(self.path("")), &person)
    }

    /// The one check of a kind.
    fn check(&self, kind: Kind) -> Check {
        let mut checks: Vec<_> = self.checks().into_iter().filter(|check| check.kind == kind).collect();
        assert_eq!(checks.len(), 1, "{checks:?}");
        checks.remove(0)
    }

    /// The one check of a kind, which must be a finding: what it says, and its fix.
    fn finding(&self, kind: Kind) -> (String, String) {
        let check = self.check(kind);
        assert_eq!(check.state, State::Finding, "{check:?}");
        (check.text, check.fix.expect("every finding has one"))
    }
}

const RULE: &str = "etc/udev/rules.d/60-systole.rules";
const LATENCY: &str = "sys/devices/pci0/usb1/1-2/1-2:1.1/ttyUSB1/latency_timer";
const INSTALL: &str = "systole udev | sudo tee /etc/udev/rules.d/60-systole.rules >/dev/null && sudo udevadm control \
                       --reload && sudo udevadm trigger";

#[test]
fn a_machine_that_is_well_has_no_findings_but_missing_tools() {
    let checks = Patient::icebreaker().checks();
    let states: Vec<_> = checks.iter().map(|check| (check.kind.name(), check.state.name())).collect();
    let expected = [
        ("udev-rule", "good"),
        ("modem-manager", "good"),
        ("usb-device", "good"),
        ("port", "good"),
        ("latency-timer", "good"),
        ("tool", "note"),
        ("tool", "finding"),
        ("programmer", "note"),
    ];
    assert_eq!(states, expected, "{checks:?}");
    assert!(checks[3].text.ends_with("dev/ttyUSB1 (icebreaker) can be opened"), "{}", checks[3].text);
}

#[test]
fn row_04_the_rule_is_missing_old_masked_or_without_effect() {
    let made = Patient::icebreaker();
    made.remove(RULE);
    let missing = made.finding(Kind::UdevRule);
    assert!(missing.0.starts_with("60-systole.rules is not installed"), "{missing:?}");
    assert_eq!(missing.1, INSTALL);
    made.write("usr/lib/udev/rules.d/60-systole.rules", RULES);
    assert_eq!(made.check(Kind::UdevRule).state, State::Good, "a package may have brought it");
    made.write(RULE, &RULES.replace("0660", "0666"));
    assert!(made.finding(Kind::UdevRule).0.contains("is not what `systole udev` prints"));
    made.remove(RULE);
    symlink("/dev/null", made.path(RULE)).expect("linked");
    assert_eq!(made.finding(Kind::UdevRule).1, INSTALL, "a link to nothing switches the package's off");
    made.remove("run/udev/control");
    assert_eq!(made.check(Kind::UdevRule).state, State::Note);
}

#[test]
fn row_04_modem_manager_needs_the_rule() {
    let made = Patient::icebreaker();
    made.process(733, "ModemManager", None);
    let good = made.check(Kind::ModemManager);
    assert_eq!(good.state, State::Good);
    assert!(good.text.contains("(process 733) runs, and the udev rule keeps it off"), "{}", good.text);
    made.remove(RULE);
    assert_eq!(made.finding(Kind::ModemManager).1, INSTALL);
    made.remove("run/udev/control");
    assert_eq!(made.finding(Kind::ModemManager).1, "sudo kill 733");
}

#[test]
fn row_02_who_holds_a_port_or_a_chip_is_named() {
    let made = Patient::icebreaker();
    made.process(4242, "minicom", Some("dev/ttyUSB1"));
    let (text, fix) = made.finding(Kind::Holder);
    assert!(text.contains("dev/ttyUSB1 (icebreaker) is in use by minicom (process 4242)"), "{text}");
    assert_eq!(fix, "kill 4242");
    let made = Patient::icebreaker();
    made.process(77, "openFPGALoader", Some("dev/bus/usb/001/004"));
    let (text, fix) = made.finding(Kind::Holder);
    assert!(text.contains("dev/bus/usb/001/004 (icebreaker) is in use by openFPGALoader"), "{text}");
    assert_eq!(fix, "kill 77");
}

#[test]
fn row_07_a_slow_latency_timer_is_a_finding_at_a_board_only() {
    let made = Patient::icebreaker();
    made.write(LATENCY, "16");
    let (text, fix) = made.finding(Kind::LatencyTimer);
    assert!(text.contains("dev/ttyUSB1 (icebreaker) keeps bytes back for 16 ms"), "{text}");
    assert_eq!(fix, "echo 1 | sudo tee /sys/bus/usb-serial/devices/ttyUSB1/latency_timer");
    let other = Patient::good("0403:6001", "FT232R USB UART");
    other.write(LATENCY, "16");
    let check = other.check(Kind::LatencyTimer);
    assert_eq!(check.state, State::Note, "{check:?}");
    assert!(check.text.contains("(no known board)"), "{check:?}");
    assert_eq!(other.check(Kind::Boards).state, State::Note);
}

#[test]
fn row_01_a_refused_port_has_the_fix_that_helps() {
    let path = Path::new("/dev/ttyUSB1");
    let denied = |group: &str, group_may| Access::Denied {
        mode: "crw-rw----".into(),
        group: group.into(),
        group_may,
        usb: group != "uart",
    };
    let fix = |access: &Access, rule: &Rule, member: bool| {
        let check = may_open(Kind::Port, "/dev/ttyUSB1 (icebreaker)", path, access, rule, |_| member);
        assert_eq!(check.state, State::Finding);
        (check.text, check.fix.expect("every finding has one"))
    };
    let (text, join) = fix(&denied("dialout", true), &Rule::Missing, false);
    assert!(
        text.contains("/dev/ttyUSB1 (icebreaker): permission denied (crw-rw----, group dialout)"),
        "{text}"
    );
    assert_eq!(join, "sudo usermod -aG dialout \"$USER\"");
    assert_eq!(fix(&denied("dialout", true), &Rule::Missing, true).1, "newgrp dialout");
    assert_eq!(fix(&denied("root", false), &Rule::Missing, false).1, INSTALL);
    let (text, take) = fix(&denied("uart", false), &Rule::Missing, false);
    assert_eq!(take, "sudo chown \"$USER\" /dev/ttyUSB1", "a port that is not of USB: no rule helps");
    assert!(text.ends_with("take it until the next start"), "{text}");
    assert_eq!(fix(&Access::Hidden, &Rule::Missing, false).1, "namei -l /dev/ttyUSB1");
    let current = Rule::Current(PathBuf::new());
    assert_eq!(fix(&denied("root", false), &current, false).1, "sudo chown \"$USER\" /dev/ttyUSB1");
    assert_eq!(fix(&Access::Missing, &current, false).1, "docker run --device /dev/ttyUSB1");
}

#[test]
fn membership_is_read_from_the_file_of_groups() {
    let groups = "root:x:0:\ndialout:x:20:ada,grace\nada:x:1000:\n";
    let is_member = |group, user| ports::is_member(groups, group, user);
    assert!(is_member("dialout", "ada") && is_member("dialout", "grace"));
    assert!(!is_member("dialout", "ad") && !is_member("root", "ada") && !is_member("plugdev", "ada"));
}

#[test]
fn missing_programs_are_one_finding_and_the_loader_only_where_needed() {
    let made = Patient::icebreaker();
    let tools: Vec<_> = made.checks().into_iter().filter(|check| check.kind == Kind::Tool).collect();
    assert!(tools[0].text.starts_with("icetime is missing; images can be made without it"), "{tools:?}");
    for tool in
        ["yosys", "nextpnr-ice40", "icepack", "nextpnr-ecp5", "ecppack", "nextpnr-himbaechel", "gowin_pack"]
    {
        assert!(tools[1].text.contains(tool), "{tool}: {tools:?}");
    }
    assert_eq!(tools[1].fix.as_deref(), Some("systole toolchain install"));
    let note = made.check(Kind::Programmer);
    assert_eq!((note.state, note.fix.as_deref()), (State::Note, Some("sudo apt install openfpgaloader")));
    let nano = Patient::good("0403:6010", "JTAG Debugger");
    let (text, fix) = nano.finding(Kind::Programmer);
    assert!(text.contains("openFPGALoader is missing; the board at "), "{text}");
    assert_eq!(fix, "sudo apt install openfpgaloader");
}

#[test]
fn tools_that_no_attached_board_needs_are_a_note() {
    let with_ice40_tools = |patient: Patient| {
        for (name, says) in
            [("yosys", "Yosys 0.23"), ("nextpnr-ice40", "nextpnr-ice40 (Version 0.4)"), ("icepack", "")]
        {
            // Another process writes it, so that no child of another thread's has it open when it is to be run.
            let script = "mkdir -p \"${0%/*}\" && printf '#!/bin/sh\\necho \"%s\"\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
            let program = patient.path(&format!("bin/{name}"));
            let shell = Command::new("sh").args(["-c", script]).arg(program).arg(says).status();
            assert!(shell.expect("there is a shell").success());
        }
        let checks = patient.checks();
        let missing = |check: &&Check| check.kind == Kind::Tool && check.text.contains("missing or too old");
        let found: Vec<Check> = checks.iter().filter(missing).cloned().collect();
        assert_eq!(found.len(), 1, "{checks:?}");
        assert!(checks.iter().any(|check| check.text == "nextpnr-ice40 system nextpnr-ice40 (Version 0.4)"));
        (found[0].state, found[0].text.clone())
    };
    let (state, text) = with_ice40_tools(Patient::icebreaker());
    assert_eq!(state, State::Note, "an iCE40 board is all that is attached: {text}");
    assert_eq!(
        text,
        "no image can be made for ecp5, gowin: nextpnr-ecp5, ecppack, nextpnr-himbaechel, gowin_pack missing or too old"
    );
    let (state, text) = with_ice40_tools(Patient::good("0403:6015", "ULX3S FPGA 85K v3.0.8"));
    assert_eq!(state, State::Finding, "{text}");
    assert!(text.starts_with("no image can be made for ecp5, gowin (the board at "), "{text}");
}

#[test]
fn without_devices_nothing_is_wrong_with_any() {
    let folder = tempfile::tempdir().expect("a folder");
    let person = Person {
        name: None,
        toolchain: Toolchain::at(folder.path().join("none"), "".into()),
        search_path: "".into(),
    };
    let checks = examine(&Machine::at(folder.path()), &person);
    let findings: Vec<_> = checks.iter().filter(|check| check.state == State::Finding).collect();
    assert_eq!(findings.len(), 1, "the tools alone: {checks:?}");
    assert!(checks.iter().any(|check| check.kind == Kind::Boards && check.state == State::Note));
}
