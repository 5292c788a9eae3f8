//! How much the suites simulated: `tests/run` adds up what they leave in the file that `SYSTOLE_CYCLES` names.

use std::fs::OpenOptions;
use std::io::Write;

/// Adds a line with a count of simulated clock cycles. Without `SYSTOLE_CYCLES` nobody asks, and nothing is written.
///
/// # Panics
/// When the file cannot be written: a count that is lost would make the sum wrong.
pub fn report(suite: &str, cycles: u64) {
    let Some(path) = std::env::var_os("SYSTOLE_CYCLES") else { return };
    let file = OpenOptions::new().append(true).create(true).open(&path);
    let written = file.and_then(|mut file| writeln!(file, "{suite} {cycles}"));
    written.unwrap_or_else(|error| panic!("SYSTOLE_CYCLES={}: {error}", path.display()));
}
