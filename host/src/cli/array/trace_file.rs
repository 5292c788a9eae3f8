//! The trace in a file whose name says its format.

use crate::error::Error;
use crate::software::Pe;
use crate::software::trace::{Behind, Event, JsonLines, Sink, Vcd, Waves};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A trace that is being written. It grows as the array runs, so that what happened before a Ctrl-C is there.
pub(super) struct TraceFile {
    path: PathBuf,
    to: Format,
}

enum Format {
    Lines(JsonLines<Behind<File>>),
    Waves(Vcd<Behind<File>>),
}

impl TraceFile {
    /// Begins a `.jsonl` or `.vcd` file.
    ///
    /// # Errors
    /// Another kind of file, or one that cannot be written.
    pub(super) fn create<P: Waves>(path: &Path, rows: usize, columns: usize) -> Result<Self, Error> {
        let file = || File::create(path).and_then(Behind::new).map_err(|error| failed(path, &error));
        let to = match path.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => Format::Lines(JsonLines::new(file()?)),
            Some("vcd") => {
                let waves = Vcd::new::<P>(file()?, rows, columns);
                Format::Waves(waves.map_err(|error| failed(path, &error))?)
            }
            _ => {
                let text = format!("{}: no kind of trace: name it .jsonl or .vcd", path.display());
                return Err(Error::Arguments(text));
            }
        };
        Ok(Self { path: path.to_owned(), to })
    }

    /// Writes out what is left.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Self { path, to } = self;
        let finished = match to {
            Format::Lines(lines) => lines.finish(),
            Format::Waves(waves) => waves.finish(),
        };
        finished.and_then(Behind::finish).map(drop).map_err(|error| failed(&path, &error))
    }
}

/// An output file that cannot be written.
fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Arguments(format!("{}: cannot be written: {error}", path.display()))
}

impl<P: Waves> Sink<P> for TraceFile
where
    P: Pe<Token: Serialize, State: Serialize>,
{
    fn record(&mut self, event: &Event<P>) -> io::Result<()> {
        match &mut self.to {
            Format::Lines(lines) => lines.record(event),
            Format::Waves(waves) => waves.record(event),
        }
    }
}
