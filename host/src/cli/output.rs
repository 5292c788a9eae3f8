//! Writing reports.

use crate::error::Error;
use crate::session::Counters;
use serde::Serialize;
use std::io::{ErrorKind, Write};

/// Writes to standard output. A reader that has seen enough and closed it is no error.
///
/// # Errors
/// [`Error::Report`] for anything else, such as a full disk.
pub(super) fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::Report(error)),
        _ => Ok(()),
    }
}

/// A writer whose reader may have seen enough: what comes after that is dropped, and is no error.
#[derive(Debug)]
pub(super) struct Patient<W: Write>(pub(super) W);

impl<W: Write> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Writes a line to standard error. Where that fails there is nobody left to tell, and the exit code still says it.
pub(super) fn say(line: &str) {
    let _closed = writeln!(std::io::stderr(), "{line}");
}

/// Writes one JSON object and a newline.
///
/// # Errors
/// As [`print`].
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::Report(error.into()))?;
    print(&(text + "\n"))
}

/// Says on standard error what was tried again: a link that needs it deserves a look even when all ends well.
pub(super) fn note_trouble(counters: &Counters) {
    let told = [
        (counters.hello_retries, "HELLOs were not answered and sent again"),
        (counters.restarts, "sessions were opened again because the board had forgotten the last"),
        (counters.timeouts, "deadlines passed and frames were sent again"),
        (counters.go_backs, "times the board asked for frames again, which had not arrived whole"),
        (counters.damaged, "frames from the board were damaged on the way"),
    ];
    for (count, what) in told.iter().filter(|(count, _)| *count > 0) {
        say(&format!("systole: note: {count} {what}"));
    }
}

/// A time for people, from seconds.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} µs", s * 1e6),
    }
}

/// A count for people: digits in groups of three.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!((count(0), count(999), count(1000)), ("0".into(), "999".into(), "1,000".into()));
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(
            (time(2.5), time(0.0125), time(2e-6)),
            ("2.50 s".into(), "12.50 ms".into(), "2.0 µs".into())
        );
    }
}
