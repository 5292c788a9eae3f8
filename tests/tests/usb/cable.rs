//! The plug pulled at every moment, and put in again.

use crate::Scenario;
use crate::bench::{SERIAL, design, device, plug_and_wait, plugged, port, product, software};
use systole::virtual_board::usb_model::{Board, Flash};

pub const SCENARIOS: [Scenario; 2] = [
    ("row_09_pulled_at_any_moment_it_is_gone_by_usb", pulled_by_usb),
    ("row_09_pulled_at_any_moment_it_is_gone_by_the_serial_port", pulled_by_serial),
];

/// A product of 64 jobs, in which a few thousand bytes pass.
const SIZE: &str = "16x8x16";

/// Bytes after which the plug is pulled: in HELLO, IDENT, the first WRITE, among WRITEs and RESULTs.
const MOMENTS: [u64; 5] = [3, 40, 90, 400, 1500];

fn pulled_by_usb() {
    pulled(|_| "usb".to_owned());
}

fn pulled_by_serial() {
    pulled(|path| format!("serial:{path}@3000000"));
}

fn pulled(link: impl Fn(&str) -> String) {
    let first = plugged(SERIAL, software(), &design(2));
    let (mut board, mut flash): (Board, Flash) = first.unplug().expect("unplugged");
    for bytes in MOMENTS {
        let plugged = plug_and_wait(board, flash);
        let path = port(&device(SERIAL), 1).display().to_string();
        plugged.handle().unplug_after(bytes);
        let run = product(&link(&path), SIZE);
        let complaint = run.complaint(3);
        assert!(complaint.contains("the board is gone"), "after {bytes} bytes: {complaint}");
        assert!(run.seconds < 10.0, "after {bytes} bytes: {} s", run.seconds);
        (board, flash) = plugged.unplug().expect("pulled already");
    }
    // In again, it is the board that it was.
    let plugged = plug_and_wait(board, flash);
    let path = port(&device(SERIAL), 1).display().to_string();
    assert_eq!(product(&link(&path), SIZE).report()["equal"], true);
    plugged.unplug().expect("unplugged");
}
