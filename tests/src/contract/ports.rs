//! The contract's terms on the gateware's own ports, for every level at which these are what is driven and read.

use super::{Edge, LevelError, Token};
use crate::verilog::Port;
use systole_hdl::parameters::Parameters;
use systole_hdl::types::{self, Word};
use systole_hdl::{grid, wrapper};

/// Checks parameters, and that a grid of them has this shape.
///
/// # Errors
/// A parameter out of range, or a shape that is not square.
pub fn check(parameters: &Parameters, rows: usize, columns: usize) -> Result<(), LevelError> {
    parameters.check()?;
    let side = parameters.n as usize;
    if (rows, columns) != (side, side) {
        let shape = format!("a {rows}x{columns} grid with n = {side}: the gateware's grids are square");
        return Err(LevelError::Unsupported(shape));
    }
    Ok(())
}

/// Drives the inputs of a grid as they are before an edge.
pub fn drive(grid: &mut grid::Grid, edge: &Edge) {
    let to_wire = |token: &Token| types::Token::new(token.value, token.valid, token.job, token.k);
    grid.reset.next = edge.reset;
    grid.clear.next = edge.clear;
    grid.advance.next = edge.advance;
    grid.k_len.next = (edge.k_len as usize).into();
    for (wire, token) in grid.a_in.iter_mut().zip(&edge.a) {
        wire.next = to_wire(token);
    }
    for (wire, token) in grid.b_in.iter_mut().zip(&edge.b) {
        wire.next = to_wire(token);
    }
}

/// Lets the outputs of a wrapper that is never evaluated show what a simulator says of its ports, in their order.
///
/// # Errors
/// A bit that is neither 0 nor 1 (`None`).
pub fn show(
    pins: &mut wrapper::Wrapper,
    outputs: &[Port],
    values: impl Iterator<Item = Option<u64>>,
) -> Result<(), LevelError> {
    for (port, value) in outputs.iter().zip(values) {
        let unknown = || LevelError::Broken(format!("wrapper: {} has an unknown bit", port.name));
        let bits = value.ok_or_else(unknown)?;
        let (flag, word) = (bits == 1, Word::of(port.number(bits)));
        match port.name.as_str() {
            "ready" => pins.ready.next = flag,
            "busy" => pins.busy.next = flag,
            "refused" => pins.refused.next = flag,
            "overrun" => pins.overrun.next = flag,
            "finished" => pins.finished.next = flag,
            "finished_job" => pins.finished_job.next = word,
            "steps" => pins.steps.next = word,
            "edges" => pins.edges.next = word,
            "error" => pins.error.next = word,
            "error_row" => pins.error_row.next = word,
            "error_column" => pins.error_column.next = word,
            "result_ready" => pins.result_ready.next = flag,
            "result_status" => pins.result_status.next = word,
            "result" => pins.result.next = word,
            other => return Err(LevelError::Broken(format!("the wrapper has an output {other}"))),
        }
    }
    Ok(())
}
