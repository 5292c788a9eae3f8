//! The udev rule that lets a person use the boards without being root.
//!
//! The checked-in `boards/60-systole.rules` is what [`rules`] gives. Its number puts it before systemd's own
//! `73-seat-late.rules`, which grants access by the tag `uaccess`, and before ModemManager's.

use crate::board::Board;
use std::collections::BTreeMap;
use std::fmt::Write;

/// File name of the rule.
pub const FILE: &str = "60-systole.rules";

/// The checked-in rule.
pub const RULES: &str = include_str!("../60-systole.rules");

const HEAD: &str = "\
# USB chips of the boards that Systole knows: whoever sits at the computer may open them, ModemManager leaves their
# ports alone, and FTDI's buffer waits 1 ms instead of 16. The ids are the chips': other devices may have the same.
#
#   sudo cp 60-systole.rules /etc/udev/rules.d/
#   sudo udevadm control --reload && sudo udevadm trigger
";

/// The rule for some boards: three lines a USB id, in the order of the ids.
pub fn rules(boards: &[Board]) -> String {
    let mut ids: BTreeMap<(u16, u16), Vec<&str>> = BTreeMap::new();
    for board in boards {
        ids.entry((board.usb.vid, board.usb.pid)).or_default().push(&board.name);
    }
    ids.into_iter().fold(HEAD.to_owned(), |mut text, ((vid, pid), names)| {
        let id = |attribute| format!("{attribute}{{idVendor}}==\"{vid:04x}\", {attribute}{{idProduct}}==\"{pid:04x}\"");
        let grant = "MODE=\"0660\", TAG+=\"uaccess\", ENV{ID_MM_DEVICE_IGNORE}=\"1\"";
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n# {}", names.join(", "));
        let _ = writeln!(text, "SUBSYSTEM==\"usb\", {}, {grant}", id("ATTR"));
        let _ = writeln!(text, "SUBSYSTEM==\"tty\", {}, {grant}", id("ATTRS"));
        let _ = writeln!(
            text,
            "ACTION!=\"remove\", SUBSYSTEM==\"usb-serial\", DRIVER==\"ftdi_sio\", {}, ATTR{{latency_timer}}=\"1\"",
            id("ATTRS")
        );
        text
    })
}
