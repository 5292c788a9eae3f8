//! The contract's traits on the gateware in rust-hdl's simulation.

use super::pins::{self, Pins};
use super::{Answer, Edge, Grid, Job, LevelError, PeState, Phase, Token, Wrapper, ports};
use crate::level::Level;
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::ErrorKind;
use systole_hdl::{grid, pe, sim, types, wrapper};

/// The gateware, simulated directly.
#[derive(Clone, Copy, Debug, Default)]
pub struct RustHdl;

fn from_wire(token: types::Token) -> Token {
    let types::Token { value, k, job, valid, .. } = token;
    Token { value: value.get(), valid, job: job.get() as u32, k: k.get() as u32 }
}

fn state(pe: &pe::Pe) -> PeState {
    PeState {
        acc: pe.acc.val().get(),
        count: pe.count.val().get() as u32,
        done: pe.done.val(),
        error: ErrorKind::from_code(pe.kind.val().get() as u8),
        a_out: from_wire(pe.a_out.val()),
        b_out: from_wire(pe.b_out.val()),
    }
}

impl Grid for RustHdl {
    fn level(&self) -> Level {
        Level::RustHdl
    }

    fn run(
        &self,
        parameters: &Parameters,
        rows: usize,
        columns: usize,
        edges: &[Edge],
    ) -> Result<Vec<Vec<PeState>>, LevelError> {
        ports::check(parameters, rows, columns)?;
        let mut grid = sim::power_up(grid::Grid::new(parameters));
        let after = |edge: &Edge| {
            ports::drive(&mut grid, edge);
            sim::edge(&mut grid);
            grid.pe.iter().map(state).collect()
        };
        Ok(edges.iter().map(after).collect())
    }
}

impl Wrapper for RustHdl {
    fn level(&self) -> Level {
        Level::RustHdl
    }

    fn run(&self, parameters: &Parameters, jobs: &[Job]) -> Result<Vec<Answer>, LevelError> {
        parameters.check()?;
        pins::run(Simulated(sim::power_up(wrapper::Wrapper::new(parameters))), parameters, jobs)
    }
}

/// A wrapper in the direct clock loop.
struct Simulated(wrapper::Wrapper);

impl Pins for Simulated {
    fn pins(&mut self) -> &mut wrapper::Wrapper {
        &mut self.0
    }

    fn settle(&mut self) -> Result<(), LevelError> {
        sim::settle(&mut self.0);
        Ok(())
    }

    fn edge(&mut self) -> Result<(), LevelError> {
        sim::edge(&mut self.0);
        Ok(())
    }

    fn phase(&self) -> Option<Phase> {
        Some(match self.0.phase() {
            wrapper::Phase::Idle => Phase::Idle,
            wrapper::Phase::Clear => Phase::Clear,
            wrapper::Phase::Stream => Phase::Stream,
            wrapper::Phase::Drain => Phase::Drain,
            wrapper::Phase::Collect => Phase::Collect,
        })
    }
}
