//! The wavefront as a drawing: a grid a tick.

use super::{Cell, Drawn};
use crate::software::SoftwareError;
use crate::software::trace::{Event, Sink};
use ::svg::Document;
use ::svg::node::Node;
use ::svg::node::element::{Group, Rectangle, Style, Text, Title};
use std::io;

/// Most PEs, over all ticks, that a drawing shows: viewers stop being of use long before.
const MOST_CELLS: u128 = 20_000;

/// Width and height of a PE, and the space between grids.
const CELL: (usize, usize) = (110, 46);
const GAP: usize = 36;

/// Grids beside each other fill about this width.
const PAGE: usize = 1400;

const STYLE: &str = "\
    text { font: 11px monospace; fill: #222 } .tick { font-weight: bold } .sum { font-size: 13px } \
    rect { stroke: #555; fill: #fff } .one { fill: #fff3c4 } .two { fill: #cfe8ff } .bubble { fill: #e4e4e4 } \
    .error { fill: #ff9d94; stroke: #b00020; stroke-width: 2 }";

/// Draws what came from the west and the north, with tags, the sum after the tick, and errors. A PE is white
/// when nothing came, grey for bubbles alone, yellow for one token, blue for two, and red when it raised an
/// error.
#[derive(Debug)]
pub struct Drawing {
    document: Document,
    rows: usize,
    columns: usize,
    first_tick: Option<u64>,
    grid: Group,
    cells: usize,
}

impl Drawing {
    /// A drawing of some ticks of an array of `rows × columns` PEs.
    ///
    /// # Errors
    /// More than anyone could look at.
    pub fn new(rows: usize, columns: usize, ticks: u64) -> Result<Self, SoftwareError> {
        let cells = (rows as u128).saturating_mul(columns as u128).saturating_mul(ticks.into());
        if cells > MOST_CELLS {
            return Err(SoftwareError::Drawing { rows, columns, ticks, most: MOST_CELLS });
        }
        let ticks = ticks as usize;
        let (width, height) = grid_size(rows, columns);
        let beside = grids_beside(columns).min(ticks);
        let size = (GAP + beside * width, GAP + ticks.div_ceil(beside.max(1)) * height);
        let document = Document::new()
            .set("viewBox", (0, 0, size.0, size.1))
            .set("width", size.0)
            .set("height", size.1)
            .add(Style::new(STYLE))
            .add(Rectangle::new().set("width", "100%").set("height", "100%").set("style", "stroke: none"));
        Ok(Self { document, rows, columns, first_tick: None, grid: Group::new(), cells: 0 })
    }

    /// The drawing as an SVG file.
    pub fn finish(self) -> String {
        self.document.to_string()
    }

    /// Where the grid of a tick is.
    fn origin(&self, tick: u64) -> (usize, usize) {
        let ordinal = (tick - self.first_tick.unwrap_or(tick)) as usize;
        let beside = grids_beside(self.columns);
        let (width, height) = grid_size(self.rows, self.columns);
        (GAP + ordinal % beside * width, GAP + ordinal / beside * height)
    }
}

/// What a grid takes, the space after it included.
fn grid_size(rows: usize, columns: usize) -> (usize, usize) {
    (columns * CELL.0 + GAP, rows * CELL.1 + GAP)
}

fn grids_beside(columns: usize) -> usize {
    (PAGE / grid_size(0, columns).0).max(1)
}

impl<P: Drawn> Sink<P> for Drawing {
    fn record(&mut self, event: &Event<P>) -> io::Result<()> {
        self.first_tick.get_or_insert(event.tick);
        let (left, top) = self.origin(event.tick);
        let (x, y) = (left + event.column * CELL.0, top + event.row * CELL.1);
        let Cell { met: [west, north], tokens, sum, raised } = Cell::new(event);
        let class = match tokens {
            _ if raised.is_some() => "error",
            2 => "two",
            1 => "one",
            _ if west == "o" || north == "o" => "bubble",
            _ => "none",
        };
        let rectangle = Rectangle::new().set("x", x).set("y", y).set("width", CELL.0).set("height", CELL.1);
        let line = |text: String, down: usize, class| {
            Text::new(text).set("x", x + 5).set("y", y + down).set("class", class)
        };
        let mut cell = Group::new().set("class", class);
        let place = format!("tick {}, PE({},{})", event.tick, event.row, event.column);
        let told = raised.map_or_else(|| place.clone(), |name| format!("{place}: {name}"));
        cell = cell.add(Title::new(told)).add(rectangle.set("class", class));
        cell = cell.add(line(format!("{west} {north}"), 14, "met")).add(line(sum, 28, "sum"));
        if let Some(name) = raised {
            cell = cell.add(line(name.to_owned(), 41, "kind"));
        }
        self.grid.append(cell);
        self.cells += 1;
        if self.cells == self.rows * self.columns {
            let title = Text::new(format!("tick {}", event.tick)).set("class", "tick");
            self.grid.append(title.set("x", left).set("y", top - 8));
            self.document.append(std::mem::replace(&mut self.grid, Group::new()));
            self.cells = 0;
        }
        Ok(())
    }
}
