//! Products over the board's USB chip, by either way, with whatever computes behind it.

use crate::Scenario;
use crate::bench::{
    SERIAL, board, design, device, end, flash, gateware, plug_and_wait, plugged, port, product, software,
    start, systole, wait_for,
};
use std::fs;
use std::process::Command;
use std::time::Duration;
use systole::virtual_board::usb_model::Plugged;

pub const SCENARIOS: [Scenario; 6] = [
    ("a_product_is_the_same_by_usb_and_by_the_serial_port", by_either_way),
    ("the_gateware_itself_computes_behind_the_chip", the_gateware),
    ("selftest_detects_every_fault_through_the_chip", selftest),
    ("ctrl_c_leaves_the_port_as_it_was", interrupted),
    ("a_board_whose_host_was_killed_is_found_and_used_again", killed),
    ("halted_endpoints_are_cleared_and_the_product_is_right", halted),
];

fn unplug(board: Plugged) {
    board.unplug().expect("unplugged");
}

fn by_either_way() {
    let board = plugged(SERIAL, software(), &design(2));
    let serial = format!("serial:{}", port(&device(SERIAL), 1).display());
    let mut products = Vec::new();
    for (link, level) in [("usb", "usb-stack"), (&*serial, "usb-stack"), ("software", "software")] {
        let file = format!("/tmp/{level}-{}.npy", link.len());
        let run =
            ["run", "--random", "8x8x8", "--seed", "5", "--link", link, "--out", &file, "--format", "json"];
        let report = systole(&run).report();
        assert_eq!((&report["equal"], &report["level"]), (&true.into(), &level.into()), "{link}");
        products.push(fs::read(file).expect("C"));
        device(SERIAL);
    }
    assert!(products[0] == products[1] && products[0] == products[2]);
    unplug(board);
}

fn the_gateware() {
    let board = plugged(SERIAL, gateware(), &design(2));
    let report = product("usb", "4x5x4").report();
    assert_eq!(
        (&report["equal"], &report["level"], &report["jobs"]),
        (&true.into(), &"usb-stack".into(), &4.into())
    );
    unplug(board);
}

fn selftest() {
    let board = plugged(SERIAL, software(), &design(2));
    let run = systole(&["selftest", "--link", "usb", "--format", "json"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    unplug(board);
}

fn interrupted() {
    let board = plugged(SERIAL, software(), &design(2));
    let large = ["run", "--random", "96x96x96", "--seed", "1", "--link", "usb", "--format", "json"];
    let child = start("systole", &large);
    let id = child.id().to_string();
    wait_for("the product to begin", || (board.handle().moved() > 1000).then_some(()));
    let sent = Command::new("kill").args(["-INT", &id]).status().expect("kill");
    assert!(sent.success());
    let ended = end(child);
    assert!(ended.seconds < 10.0, "{} s", ended.seconds);
    ended.complaint(130);
    // The driver has its port again, and what was under way is nobody's answer.
    let serial = format!("serial:{}", port(&device(SERIAL), 1).display());
    assert_eq!(product(&serial, "2x3x2").report()["equal"], true);
    assert_eq!(product("usb", "2x3x2").report()["equal"], true);
    unplug(board);
}

fn killed() {
    let board = plugged(SERIAL, software(), &design(2));
    let large = ["run", "--random", "96x96x96", "--seed", "1", "--link", "usb", "--format", "json"];
    let mut child = start("systole", &large);
    wait_for("the product to begin", || (board.handle().moved() > 1000).then_some(()));
    child.kill().expect("killed");
    end(child);
    // Nobody gave the kernel's driver its interface back, so that there is no port.
    let found = systole::discover::Machine::default().usb_devices();
    let chip = found.iter().find(|device| device.serial.as_deref() == Some(SERIAL)).expect("plugged in");
    assert_eq!(chip.interfaces[1].port, None);
    let auto = product("auto", "2x3x2");
    assert_eq!(auto.report()["equal"], true);
    assert!(auto.err.contains("the board's chip has no serial port"), "{}", auto.err);
    // That run has given it back.
    device(SERIAL);
    unplug(board);
}

fn halted() {
    let board = plug_and_wait(board(SERIAL, software()), flash(&design(2)));
    for endpoint in [3, 4] {
        let child = start(
            "systole",
            &["run", "--random", "24x24x24", "--seed", "2", "--link", "usb", "--format", "json"],
        );
        let begun = board.handle().moved();
        wait_for("the product to begin", || (board.handle().moved() > begun + 500).then_some(()));
        board.handle().halt(endpoint);
        assert_eq!(end(child).report()["equal"], true, "endpoint {endpoint}");
        assert!(!board.handle().is_halted(endpoint), "endpoint {endpoint} was not used after its halt");
        device(SERIAL);
        std::thread::sleep(Duration::from_millis(50));
    }
    unplug(board);
}
