//! The contract's traits on the software array.

use super::{Answer, Edge, Grid, Job, LevelError, Outcome, PeState, Token, Wrapper};
use crate::level::Level;
use systole::software::job::{JobSpec, run_job};
use systole::software::trace::Off;
use systole::software::{self, Array, Direction, Machine, Side, Signals, SoftwareError, TokenPe};
use systole_hdl::parameters::Parameters;

/// The software array and its job runner.
#[derive(Clone, Copy, Debug, Default)]
pub struct Software;

impl From<SoftwareError> for LevelError {
    fn from(error: SoftwareError) -> Self {
        match error {
            SoftwareError::Parameters(error) => Self::Parameters(error),
            other => Self::Broken(other.to_string()),
        }
    }
}

fn to_array(token: &Token) -> software::Token {
    // Bits beyond the link's width are cut off, as they are by wires.
    let &Token { value, valid, job, k } = token;
    software::Token { value: value as i32, valid, job: job as u8, k: k as u16 }
}

fn from_array(token: Option<&software::Token>) -> Token {
    let software::Token { value, job, k, valid } = token.copied().unwrap_or_default();
    Token { value: value.into(), valid, job: job.into(), k: k.into() }
}

fn states(machine: &Machine<TokenPe>) -> Vec<PeState> {
    let (_, columns) = machine.shape();
    let state = |(i, state): (usize, &software::TokenState)| {
        let (east, south) = machine.forwarded(i / columns, i % columns);
        PeState {
            acc: state.acc,
            count: state.count,
            done: machine.pe().done(state),
            error: state.error,
            a_out: from_array(east),
            b_out: from_array(south),
        }
    };
    machine.states().iter().enumerate().map(state).collect()
}

impl Grid for Software {
    fn level(&self) -> Level {
        Level::Software
    }

    fn run(
        &self,
        parameters: &Parameters,
        rows: usize,
        columns: usize,
        edges: &[Edge],
    ) -> Result<Vec<Vec<PeState>>, LevelError> {
        parameters.check()?;
        let pe = TokenPe { k_len: 1, accumulator_bits: parameters.aw };
        let mut machine = Array::new(rows, columns)
            .fill(pe)
            .connect(Direction::WestToEast)
            .connect(Direction::NorthToSouth)
            .build()?;
        let mut after = Vec::with_capacity(edges.len());
        for edge in edges {
            machine.set_pe(TokenPe { k_len: edge.k_len, ..pe });
            // What the boundary presents is consumed by an edge with advance, and by no other.
            if edge.advance {
                for (side, tokens) in [(Side::West, &edge.a), (Side::North, &edge.b)] {
                    for (coordinate, token) in tokens.iter().enumerate() {
                        machine.feed(side, coordinate, [Some(to_array(token))])?;
                    }
                }
            }
            let &Edge { reset, clear, advance, .. } = edge;
            machine.edge(Signals { reset, clear, advance }, &mut Off)?;
            after.push(states(&machine));
        }
        Ok(after)
    }
}

impl Wrapper for Software {
    fn level(&self) -> Level {
        Level::Software
    }

    fn run(&self, parameters: &Parameters, jobs: &[Job]) -> Result<Vec<Answer>, LevelError> {
        let run = |job: &Job| {
            let Job { k_len, tag, ref a, ref b, fault } = *job;
            match run_job(parameters, &JobSpec { k_len, tag, a, b, fault }) {
                Err(SoftwareError::Length { .. }) => Ok(Answer::Refused),
                Err(error) => Err(error.into()),
                Ok(outcome) => Ok(Answer::Run(Outcome {
                    values: outcome.values,
                    error: outcome.error,
                    steps: outcome.steps,
                    edges: outcome.edges,
                    fired: outcome.fired,
                    refused: outcome.refused,
                    phases: None,
                })),
            }
        };
        jobs.iter().map(run).collect()
    }
}
