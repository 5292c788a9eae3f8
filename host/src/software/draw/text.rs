//! The wavefront as text, streamed.

use super::{Cell, Drawn};
use crate::software::trace::{Event, Sink};
use std::io::{self, Write};

/// Writes a grid a tick: in every PE what came from the west and from the north, and the sum after the tick.
/// `.` is no token, `o` a bubble, and `!` an error, which is named below its grid.
///
/// ```text
/// tick 1
///   2 7 = 19  1 8 =  8
///   4 5 = 20  3 6 = 18
/// ```
#[derive(Debug)]
pub struct TextView<W: Write> {
    to: W,
    rows: usize,
    columns: usize,
    cells: Vec<[String; 3]>,
    errors: Vec<String>,
}

impl<W: Write> TextView<W> {
    /// A view of an array of `rows × columns` PEs.
    pub fn new(to: W, rows: usize, columns: usize) -> Self {
        Self { to, rows, columns, cells: Vec::new(), errors: Vec::new() }
    }

    fn write_grid(&mut self, tick: u64) -> io::Result<()> {
        writeln!(self.to, "tick {tick}")?;
        let width = |at: usize| self.cells.iter().map(|cell| cell[at].chars().count()).max().unwrap_or(0);
        let [west, north, sum] = [width(0), width(1), width(2)];
        for row in self.cells.chunks(self.columns) {
            let cells = row.iter().map(|[w, n, s]| format!("  {w:>west$} {n:>north$} = {s:>sum$}"));
            writeln!(self.to, "{}", cells.collect::<String>().trim_end())?;
        }
        for error in self.errors.drain(..) {
            writeln!(self.to, "  {error}")?;
        }
        self.cells.clear();
        Ok(())
    }
}

impl<P: Drawn, W: Write> Sink<P> for TextView<W> {
    fn record(&mut self, event: &Event<P>) -> io::Result<()> {
        let Cell { met: [west, north], sum, raised, .. } = Cell::new(event);
        if let Some(name) = raised {
            self.errors.push(format!("! PE({},{}) {name}", event.row, event.column));
        }
        // A mark's place is kept free where there is none, so that sums stand below each other.
        let mark = if raised.is_some() { '!' } else { ' ' };
        self.cells.push([west, north, format!("{sum}{mark}")]);
        if self.cells.len() == self.rows * self.columns {
            self.write_grid(event.tick)?;
        }
        Ok(())
    }
}
