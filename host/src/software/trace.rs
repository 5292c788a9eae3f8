//! What happened, PE by PE: events sorted by tick, then row, then column, handed to a sink as they arise.

mod behind;
mod json;
mod vcd;

pub use behind::Behind;
pub use json::JsonLines;
pub use vcd::{Vcd, Waves, bytes_a_pe};

use super::pe::{Inputs, Outputs, Pe};
use std::{fmt, io};

/// Bytes that a file's sink gathers before it writes them out.
const BLOCK: usize = 1 << 19;

/// One PE on one advancing edge.
#[derive(Clone)]
pub struct Event<P: Pe> {
    /// Advancing edges before this one since the machine was built.
    pub tick: u64,
    /// Row of the PE.
    pub row: usize,
    /// Column of the PE.
    pub column: usize,
    /// What it saw.
    pub inputs: Inputs<P::Token>,
    /// What it gave, and the error it raised on this edge.
    pub outputs: Outputs<P::Token>,
    /// Its state before the edge.
    pub before: P::State,
    /// Its state after the edge.
    pub after: P::State,
}

// Derived, these would ask for `P: PartialEq` and `P: Debug`, which no field needs.
impl<P: Pe> PartialEq for Event<P> {
    fn eq(&self, other: &Self) -> bool {
        (self.tick, self.row, self.column) == (other.tick, other.row, other.column)
            && (&self.inputs, &self.outputs) == (&other.inputs, &other.outputs)
            && (&self.before, &self.after) == (&other.before, &other.after)
    }
}

impl<P: Pe> fmt::Debug for Event<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tick, row, column, inputs, outputs, before, after } = self;
        write!(f, "tick {tick} PE({row},{column}) {inputs:?} {outputs:?} {before:?} -> {after:?}")
    }
}

/// Takes events in their order (R32).
pub trait Sink<P: Pe> {
    /// False when the sink wants nothing; then no event is made at all.
    const ENABLED: bool = true;

    /// Takes one event.
    ///
    /// # Errors
    /// Whatever keeps the event from being stored; it ends the run.
    fn record(&mut self, event: &Event<P>) -> io::Result<()>;
}

/// No trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Off;

impl<P: Pe> Sink<P> for Off {
    const ENABLED: bool = false;

    fn record(&mut self, _event: &Event<P>) -> io::Result<()> {
        Ok(())
    }
}

/// A sink, or none.
impl<P: Pe, S: Sink<P>> Sink<P> for Option<S> {
    const ENABLED: bool = S::ENABLED;

    fn record(&mut self, event: &Event<P>) -> io::Result<()> {
        self.as_mut().map_or(Ok(()), |sink| sink.record(event))
    }
}

/// Two sinks, each of which gets every event.
impl<P: Pe, S: Sink<P>, T: Sink<P>> Sink<P> for (S, T) {
    const ENABLED: bool = S::ENABLED || T::ENABLED;

    fn record(&mut self, event: &Event<P>) -> io::Result<()> {
        self.0.record(event)?;
        self.1.record(event)
    }
}

/// The trace in memory.
impl<P: Pe> Sink<P> for Vec<Event<P>> {
    fn record(&mut self, event: &Event<P>) -> io::Result<()> {
        self.push(event.clone());
        Ok(())
    }
}
