//! `systole list` and discovery on a made machine: an iCEbreaker, an unknown adapter, a hub, a modem, a model behind
//! vhci and a PC's ports.

mod anyone;
#[path = "../src/discover/made.rs"]
mod made;
mod running;

use anyone::{permit, systole_of_anyone};
use made::Made;
use running::systole;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use systole::discover::{Absent, Holder, Machine};
use systole::link::{LinkError, auto};

/// A path as it would be on a real machine, without the leading slash.
fn shown(made: &Made, path: &Path) -> String {
    path.strip_prefix(made.0.path()).expect("within").display().to_string()
}

/// Plugs in an iCEbreaker: an FT2232H whose two ports have these names.
fn icebreaker(made: &Made, directory: &str, address: u32, serial: &str, ports: [&str; 2]) {
    made.usb(directory, address, "0403:6010", "iCEBreaker V1.0e", serial);
    made.ftdi_port(directory, 0, ports[0]);
    made.ftdi_port(directory, 1, ports[1]);
}

static GO_ON: AtomicBool = AtomicBool::new(false);

#[test]
fn row_05_a_board_is_found_by_its_chip_and_its_port_by_the_interface() {
    let made = Made::new();
    icebreaker(&made, "devices/pci0/usb1/1-2", 7, "ib001", ["ttyUSB0", "ttyUSB1"]);
    made.usb("devices/pci0/usb1/1-1", 2, "1d6b:0002", "hub", "");
    let machine = made.machine();
    let devices = machine.usb_devices();
    assert_eq!(devices.len(), 1, "a hub is no device to talk to");
    let device = &devices[0];
    assert_eq!((device.place.as_str(), device.bus, device.address), ("1-2", 1, 7));
    assert_eq!((device.vid, device.pid, device.serial.as_deref()), (0x0403, 0x6010, Some("ib001")));
    assert_eq!((device.is_model, shown(&made, &device.path).as_str()), (false, "dev/bus/usb/001/007"));
    assert_eq!(device.boards.iter().map(|board| board.name.as_str()).collect::<Vec<_>>(), ["icebreaker"]);
    assert_eq!(device.link(), "usb:0403:6010:ib001");
    let drivers: Vec<_> = device.interfaces.iter().map(|x| (x.number, x.driver.as_deref())).collect();
    assert_eq!(drivers, [(0, Some("ftdi_sio")), (1, Some("ftdi_sio"))]);
    let ports = machine.ports();
    let found: Vec<_> = ports
        .iter()
        .map(|port| {
            let interface = port.usb.as_ref().map(|usb| usb.1);
            (shown(&made, &port.path), interface, port.latency_timer, port.boards.len())
        })
        .collect();
    // The other channel is the programmer's.
    assert_eq!(
        found,
        [("dev/ttyUSB0".to_owned(), Some(0), Some(16), 0), ("dev/ttyUSB1".to_owned(), Some(1), Some(16), 1)]
    );
    assert_eq!(ports[1].driver.as_deref(), Some("ftdi_sio"));
}

#[test]
fn ports_without_hardware_are_left_out_and_unknown_ones_are_not() {
    let made = Made::new();
    for (name, kind) in [("ttyS0", "4"), ("ttyS1", "0")] {
        made.write(&format!("sys/devices/pnp/{name}/resources"), "");
        made.link(&format!("sys/class/tty/{name}/device"), &format!("sys/devices/pnp/{name}"));
        made.write(&format!("sys/class/tty/{name}/type"), kind);
        made.write(&format!("dev/{name}"), "");
    }
    made.write("sys/class/tty/tty1/dev", "4:1");
    // A modem: the port's directory is within the interface's `tty`.
    made.usb("devices/pci0/usb1/1-3", 9, "2341:0043", "Arduino Uno", "");
    made.write("sys/devices/pci0/usb1/1-3/1-3:1.0/bInterfaceNumber", "00\n");
    made.write("sys/devices/pci0/usb1/1-3/1-3:1.0/tty/ttyACM0/dev", "166:0");
    made.link("sys/class/tty/ttyACM0/device", "sys/devices/pci0/usb1/1-3/1-3:1.0");
    made.write("dev/ttyACM0", "");
    let machine = made.machine();
    let paths: Vec<_> = machine.ports().iter().map(|port| shown(&made, &port.path)).collect();
    assert_eq!(paths, ["dev/ttyS0", "dev/ttyACM0"]);
    let port = machine.port(&made.0.path().join("dev/ttyACM0")).expect("listed");
    let (device, interface) = port.usb.expect("of a USB device");
    assert_eq!((device.product.as_deref(), interface), (Some("Arduino Uno"), 0));
    assert_eq!((port.boards.len(), port.latency_timer, device.serial), (0, None, None));
    assert_eq!(device.interfaces[0].port, Some(port.path));
    assert!(machine.port(Path::new("/dev/null")).is_none());
}

#[test]
fn a_port_is_known_by_whatever_link_it_is_reached() {
    let made = Made::new();
    icebreaker(&made, "devices/pci0/usb1/1-2", 7, "ib001", ["ttyUSB0", "ttyUSB1"]);
    made.link("dev/serial/by-id/usb-board-if01", "dev/ttyUSB1");
    let port = made.machine().port(&made.0.path().join("dev/serial/by-id/usb-board-if01")).expect("known");
    assert_eq!(shown(&made, &port.path), "dev/ttyUSB1");
}

#[test]
fn a_model_is_told_from_hardware() {
    let made = Made::new();
    icebreaker(&made, "devices/platform/vhci_hcd.0/usb3/3-1", 4, "model", ["ttyUSB0", "ttyUSB1"]);
    assert!(made.machine().usb_devices()[0].is_model);
    let (device, _) = made.machine().ports()[1].usb.clone().expect("of a USB device");
    assert!(device.is_model);
}

#[test]
fn who_holds_a_port_is_named() {
    let made = Made::new();
    icebreaker(&made, "devices/pci0/usb1/1-2", 7, "ib001", ["ttyUSB0", "ttyUSB1"]);
    made.write("proc/321/comm", "picocom\n");
    made.link("proc/321/fd/5", "dev/ttyUSB1");
    made.write("proc/322/comm", "other\n");
    made.link("proc/322/fd/5", "dev/ttyUSB0");
    made.write("proc/meminfo", "");
    let holders = made.machine().ports()[1].holders.clone();
    assert_eq!(holders, [Holder { pid: 321, name: "picocom".to_owned() }]);
    let error = LinkError::Busy { port: "/dev/ttyUSB1".to_owned(), holders };
    assert_eq!(error.to_string(), "/dev/ttyUSB1: is in use by picocom (process 321); end that first");
}

#[test]
fn row_19_several_boards_are_an_error_that_lists_them() {
    let made = Made::new();
    assert!(matches!(auto::the_one(&made.machine()), Err(LinkError::NoBoard)));
    icebreaker(&made, "devices/pci0/usb1/1-2", 7, "ib001", ["ttyUSB0", "ttyUSB1"]);
    let port = auto::the_one(&made.machine()).expect("the only one");
    assert_eq!(shown(&made, &port.path), "dev/ttyUSB1");
    icebreaker(&made, "devices/pci0/usb1/1-3", 8, "ib002", ["ttyUSB2", "ttyUSB3"]);
    let error = auto::the_one(&made.machine()).expect_err("two").to_string();
    for (port, serial) in [("ttyUSB1", "ib001"), ("ttyUSB3", "ib002")] {
        let line = format!(
            "--link serial:{}/dev/{port}  icebreaker (serial number {serial})",
            made.0.path().display()
        );
        assert!(error.contains(&line), "{error}");
    }
}

#[test]
fn row_17_a_board_is_found_again_by_its_serial_number() {
    let made = Made::new();
    icebreaker(&made, "devices/pci0/usb1/1-2", 7, "ib001", ["ttyUSB0", "ttyUSB1"]);
    let machine = made.machine();
    let before = machine.usb_devices().remove(0);
    let root = made.0.path();
    fs::remove_dir_all(root.join("sys/devices/pci0/usb1/1-2")).expect("unplugged");
    let absent = machine.wait_for_port(&before, 1, Duration::ZERO, &GO_ON).expect_err("unplugged");
    assert_eq!(absent, Absent::Device);
    let stop = AtomicBool::new(true);
    let absent = machine.wait_for_device(&before, Duration::from_secs(600), &stop).expect_err("stopped");
    assert_eq!(absent, Absent::Interrupted);
    // It comes back elsewhere, under other numbers, and a while later; another of its kind is there all along.
    icebreaker(&made, "devices/pci0/usb1/1-3", 8, "ib002", ["ttyUSB2", "ttyUSB3"]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(120));
            icebreaker(&made, "devices/pci0/usb1/1-4", 9, "ib001", ["ttyUSB4", "ttyUSB5"]);
        });
        let port = machine.wait_for_port(&before, 1, Duration::from_secs(10), &GO_ON).expect("it is back");
        assert_eq!(shown(&made, &port.path), "dev/ttyUSB5");
    });
    let device = machine.wait_for_device(&before, Duration::ZERO, &GO_ON).expect("it is back");
    assert_eq!((device.place.as_str(), device.address), ("1-4", 9));
}

const LIST: &str = include_str!("../schema/list.json");

/// What `systole list` says of a machine, as JSON and for people.
fn list(made: &Made) -> (Value, String) {
    let root = made.0.path().to_str().expect("UTF-8");
    let [json, text] = ["json", "text"].map(|format| systole(&["list", "--root", root, "--format", format]));
    assert_eq!((json.code, json.err.as_str(), text.code, text.err.as_str()), (0, "", 0, ""));
    let report: Value = serde_json::from_str(&json.out).expect("JSON");
    let schema: Value = serde_json::from_str(LIST).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a sound schema");
    let faults: Vec<_> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new(), "{report}");
    (report, text.out.replace(root, ""))
}

#[test]
fn an_empty_machine_is_listed_as_such() {
    let (report, text) = list(&Made::new());
    assert_eq!((&report["ports"], &report["usb_devices"]), (&json!([]), &json!([])));
    assert_eq!(text, "no serial port and no known board is attached\n");
}

#[test]
fn row_03_what_cannot_be_opened_is_marked_and_explained() {
    let made = Made::new();
    icebreaker(&made, "devices/pci0/usb1/1-2", 7, "ib001", ["ttyUSB0", "ttyUSB1"]);
    made.write("proc/321/comm", "picocom\n");
    made.link("proc/321/fd/5", "dev/ttyUSB0");
    fs::remove_file(made.0.path().join("dev/ttyUSB1")).expect("removed");
    let (report, text) = list(&made);
    let [programmer, uart] = [0, 1].map(|i| &report["ports"][i]);
    assert_eq!((&programmer["accessible"], &programmer["why"]), (&json!(true), &Value::Null));
    assert_eq!(programmer["holders"], json!([{ "pid": 321, "name": "picocom" }]));
    assert_eq!((&uart["accessible"], &uart["interface"]), (&json!(false), &json!(1)));
    assert!(uart["why"].as_str().is_some_and(|why| why.starts_with("there is no such file")), "{uart}");
    assert_eq!((&uart["boards"], &uart["driver"]), (&json!(["icebreaker"]), &json!("ftdi_sio")));
    assert_eq!((&uart["usb"]["vid"], &uart["usb"]["serial"]), (&json!("0403"), &json!("ib001")));
    assert_eq!(report["usb_devices"][0]["link"], json!("usb:0403:6010:ib001"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "serial:/dev/ttyUSB0  0403:6010 iCEBreaker V1.0e, serial number ib001, interface 0",
            "  in use by picocom (process 321)",
            "serial:/dev/ttyUSB1  0403:6010 iCEBreaker V1.0e, serial number ib001, interface 1: icebreaker \
             (inaccessible)",
            "  there is no such file; plug the board in, or look at `systole list`",
            "usb:0403:6010:ib001  0403:6010 iCEBreaker V1.0e, serial number ib001: icebreaker",
        ]
    );
}

#[test]
fn row_03_what_the_system_refuses_is_marked_for_those_whom_it_refuses() {
    let made = Made::new();
    icebreaker(&made, "devices/pci0/usb1/1-2", 7, "ib001", ["ttyUSB0", "ttyUSB1"]);
    permit(made.0.path(), 0o755);
    permit(made.0.path().join("dev/ttyUSB0"), 0o666);
    permit(made.0.path().join("dev/ttyUSB1"), 0o000);
    let root = made.0.path().to_str().expect("UTF-8");
    let list = systole_of_anyone(&["list", "--root", root, "--format", "json"]);
    assert_eq!((list.code, list.err.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&list.out).expect("JSON");
    let [programmer, uart] = [0, 1].map(|i| &report["ports"][i]);
    assert_eq!((&programmer["accessible"], &programmer["why"]), (&json!(true), &Value::Null));
    assert_eq!(uart["accessible"], json!(false));
    let why = uart["why"].as_str().expect("a reason");
    assert!(why.starts_with("you may not read and write it (----------, group "), "{why}");
}

#[test]
fn who_serves_a_terminal_does_not_hold_it() {
    let made = Made::new();
    made.write("dev/pts/5", "");
    for (pid, name) in [(40, "board"), (41, "picocom"), (42, "sshd")] {
        made.write(&format!("proc/{pid}/comm"), name);
        made.link(&format!("proc/{pid}/fd/7"), "dev/pts/5");
        made.write(&format!("proc/{pid}/fdinfo/7"), "pos:\t0\nflags:\t02\n");
    }
    // The other end of this terminal, and of another.
    made.write("proc/40/fdinfo/9", "pos:\t0\nflags:\t02\ntty-index:\t5\n");
    made.write("proc/42/fdinfo/9", "tty-index:\t15\n");
    let holders = made.machine().holders(&made.0.path().join("dev/pts/5"));
    let names: Vec<&str> = holders.iter().map(|holder| holder.name.as_str()).collect();
    assert_eq!(names, ["picocom", "sshd"]);
}
