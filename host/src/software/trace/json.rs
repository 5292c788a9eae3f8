//! The trace as JSON lines, streamed: a long run fills no memory.

use super::{BLOCK, Event, Sink};
use crate::software::Pe;
use serde::Serialize;
use std::any::Any;
use std::io::{self, Write};
use std::ops::Range;
use systole_hdl::wire::ErrorKind;

/// Writes one JSON object a line:
///
/// ```json
/// {"tick":1,"row":0,"column":1,"west":[1,0,0,true],"north":[8,0,1,true],"east":[1,0,0,true],"south":[8,0,1,true],"raised":"k mismatch","before":[0,0,"unpaired operand"],"after":[0,0,"unpaired operand"]}
/// ```
///
/// Tokens and states are as their types serialise, `null` being no token: a plain MAC's are numbers, a token
/// PE's are `[value, job, k, valid]` and `[acc, count, error]`. A float that JSON has no number for is `"NaN"`, `"inf"` or
/// `"-inf"`; inside of a structure it is `null`, as `serde_json` has it. What leaves a PE, or stays in it, equal to
/// what came is written with the same digits, so that a float's −0 beside a 0 reads 0.
#[derive(Debug)]
pub struct JsonLines<W: Write> {
    to: W,
    lines: Vec<u8>,
    /// Tick and row that the beginning of a line was made for, and this beginning.
    row: Option<(u64, usize)>,
    beginning: Vec<u8>,
}

impl<W: Write> JsonLines<W> {
    /// A trace into a file, a pipe, or a vector of bytes. It needs no buffer of its own.
    pub fn new(to: W) -> Self {
        Self { to, lines: Vec::with_capacity(2 * BLOCK), row: None, beginning: Vec::new() }
    }

    /// Writes out what is left, and gives the writer back.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.write_all(&self.lines)?;
        self.to.flush()?;
        Ok(self.to)
    }

    /// Adds a field; gives where its value is.
    fn field(&mut self, name: &[u8], value: Option<&(impl Serialize + 'static)>) -> io::Result<Range<usize>> {
        self.lines.extend_from_slice(name);
        let start = self.lines.len();
        match value.and_then(|value| no_number(value)) {
            Some(float) => write!(self.lines, "\"{float}\"")?,
            None => serde_json::to_writer(&mut self.lines, &value)?,
        }
        Ok(start..self.lines.len())
    }

    /// Adds a field that is often the same as an earlier one, of which the digits are then copied.
    fn field_like<T: Serialize + PartialEq + 'static>(
        &mut self,
        name: &[u8],
        value: Option<&T>,
        (earlier, at): (Option<&T>, Range<usize>),
    ) -> io::Result<()> {
        if value == earlier {
            self.lines.extend_from_slice(name);
            self.lines.extend_from_within(at);
        } else {
            self.field(name, value)?;
        }
        Ok(())
    }
}

/// A float that JSON has no number for.
fn no_number(value: &dyn Any) -> Option<f64> {
    let single = value.downcast_ref::<f32>().map(|&single| f64::from(single));
    single.or_else(|| value.downcast_ref::<f64>().copied()).filter(|float| !float.is_finite())
}

impl<P: Pe, W: Write> Sink<P> for JsonLines<W>
where
    P::Token: Serialize,
    P::State: Serialize,
{
    fn record(&mut self, event: &Event<P>) -> io::Result<()> {
        let &Event { tick, row, column, ref inputs, ref outputs, ref before, ref after } = event;
        // The names hold nothing to escape, so that they are written as they are.
        if self.row != Some((tick, row)) {
            self.row = Some((tick, row));
            self.beginning.clear();
            write!(self.beginning, "{{\"tick\":{tick},\"row\":{row},\"column\":")?;
        }
        self.lines.extend_from_slice(&self.beginning);
        self.field(b"", Some(&column))?;
        let (west, north) = (inputs.west.as_ref(), inputs.north.as_ref());
        let west_at = self.field(b",\"west\":", west)?;
        let north_at = self.field(b",\"north\":", north)?;
        self.field_like(b",\"east\":", outputs.east.as_ref(), (west, west_at))?;
        self.field_like(b",\"south\":", outputs.south.as_ref(), (north, north_at))?;
        self.field(b",\"raised\":", outputs.raised.map(ErrorKind::name).as_ref())?;
        let at = self.field(b",\"before\":", Some(before))?;
        self.field_like(b",\"after\":", Some(after), (Some(before), at))?;
        self.lines.extend_from_slice(b"}\n");
        if self.lines.len() >= BLOCK {
            self.to.write_all(&self.lines)?;
            self.lines.clear();
        }
        Ok(())
    }
}
