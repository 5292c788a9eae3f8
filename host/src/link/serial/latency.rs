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
