//! How much the suites simulated: `tests/run` adds up what they leave in the file that `SYSTOLE_CYCLES` names.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// Adds a line with a count of simulated clock cycles. Without `SYSTOLE_CYCLES` nobody asks, and nothing is written.
///
/// # Panics
/// When the file cannot be written: a count that is lost would make the sum wrong.
pub fn report(suite: &str, cycles: u64) {
    let Some(path) = std::env::var_os("SYSTOLE_CYCLES") else { return };
    let path = Path::new(&path);
    add(path, suite, cycles).unwrap_or_else(|error| panic!("SYSTOLE_CYCLES={}: {error}", path.display()));
}

/// Adds a line in one write: tests run side by side, and would write into each other's lines otherwise.
fn add(path: &Path, suite: &str, cycles: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{suite} {cycles}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_from_many_threads_stay_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cycles");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..2000).for_each(|_| add(&path, "suite", 1951).expect("a line")));
            }
        });
        let text = std::fs::read_to_string(&path).expect("lines");
        assert_eq!(text.lines().filter(|line| *line == "suite 1951").count(), 8000);
        assert_eq!(text.lines().count(), 8000);
    }
}
