//! How long an FTDI chip keeps bytes back: 16 ms unless told otherwise, which is 60 answers a second.

use crate::discover::{Machine, Port};
use std::fs;

/// The shortest the chip can do, in milliseconds.
const SHORTEST: u32 = 1;

/// Makes the latency timer of a port as short as it can be; gives what it is then, in milliseconds, and what the user
/// should know if that is not the shortest. `None` for a port that has none.
pub(super) fn shorten(machine: &Machine, port: &Port) -> Option<(u32, Option<String>)> {
    let before = port.latency_timer?;
    if before <= SHORTEST {
        return Some((before, None));
    }
    let file = port.latency_file(machine);
    // Whether that worked is what reading it back says.
    let _refused = fs::write(&file, SHORTEST.to_string());
    let now = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(before);
    let note = (now > SHORTEST).then(|| {
        format!(
            "the USB chip keeps answers back for {now} ms; install the rule that `systole udev` prints, or: \
             echo {SHORTEST} | sudo tee {}",
            file.display()
        )
    });
    Some((now, note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::Access;

    /// A machine with one port, whose timer is this.
    fn with_timer(timer: &str) -> (tempfile::TempDir, Machine, Port) {
        let root = tempfile::tempdir().expect("a directory");
        let device = root.path().join("sys/class/tty/ttyUSB0/device");
        fs::create_dir_all(&device).expect("made");
        fs::write(device.join("latency_timer"), timer).expect("written");
        let port = Port {
            path: "/dev/ttyUSB0".into(),
            driver: None,
            usb: None,
            access: Access::Granted,
            holders: Vec::new(),
            latency_timer: timer.trim().parse().ok(),
            boards: Vec::new(),
        };
        let machine = Machine::at(root.path());
        (root, machine, port)
    }

    #[test]
    fn row_07_the_latency_timer_is_made_short_or_the_user_is_told() {
        let (_root, machine, port) = with_timer("16\n");
        assert_eq!(shorten(&machine, &port), Some((1, None)));
        assert_eq!(fs::read_to_string(port.latency_file(&machine)).expect("there"), "1");
        let (_root, machine, port) = with_timer("1\n");
        assert_eq!(shorten(&machine, &port), Some((1, None)));
        assert_eq!(shorten(&machine, &Port { latency_timer: None, ..port }), None);
        // A timer that cannot be written: here because it is a directory, there because it belongs to root.
        let (_root, machine, port) = with_timer("16\n");
        let file = port.latency_file(&machine);
        fs::remove_file(&file).expect("there");
        fs::create_dir(&file).expect("made");
        let (now, note) = shorten(&machine, &port).expect("a timer");
        let note = note.expect("not the shortest");
        assert_eq!(now, 16);
        assert!(note.starts_with("the USB chip keeps answers back for 16 ms; install the rule"), "{note}");
        assert!(note.ends_with("device/latency_timer"), "{note}");
    }
}
