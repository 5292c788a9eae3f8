//! Random stimulus on the rust-hdl simulation of a block and on its Verilog, compared after every edge.
//!
//! A [`Case`] also says what its stimulus must reach, so that a stimulus that has gone dull fails instead of passing.

use super::states::{States, Transitions};
use super::{BenchError, Design, Edit, Engine, Port, Run};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use systole_hdl::signal::Clocked;
use systole_hdl::sim;
use thiserror::Error;

/// Seed of every case: a failure repeats.
const SEED: u64 = 0x5957_0134;

/// Drives the inputs of a block for one edge.
pub type Stimulus<B> = Box<dyn FnMut(&mut B, &mut ChaCha8Rng)>;

/// A situation that a stimulus must bring about: its name, and whether it is there just after an edge.
pub type Reach<B> = (&'static str, fn(&B) -> bool);

/// A block and how to try it.
pub struct Case<B> {
    /// What messages call it.
    pub name: String,
    /// The block, powered up.
    pub block: B,
    /// What drives it.
    pub stimulus: Stimulus<B>,
    /// What that must reach.
    pub reach: Vec<Reach<B>>,
    /// What each of its state machines, by path, must do and nothing else; `None` to watch none.
    pub transitions: Option<Transitions>,
}

/// What a comparison did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Clock cycles compared.
    pub cycles: u64,
    /// How often each situation was seen.
    pub reached: Vec<(&'static str, u64)>,
}

/// The first difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Cycle, from 0.
    pub cycle: u64,
    /// Before or after its edge.
    pub when: &'static str,
    /// The output.
    pub port: Port,
    /// What the rust-hdl simulation gives.
    pub expected: u64,
    /// What the Verilog gives, `None` with an unknown bit.
    pub got: Option<u64>,
    /// All inputs of that cycle, by name.
    pub inputs: Vec<(String, u64)>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cycle, when, port, expected, got, inputs } = self;
        let got = got.map_or("an unknown bit".to_owned(), |got| format!("{got:#x}"));
        let port = &port.name;
        write!(f, "cycle {cycle}, {when} the edge, port {port}: expected {expected:#x}, got {got}; inputs")?;
        inputs.iter().try_for_each(|(name, value)| write!(f, " {name}={value:#x}"))
    }
}

/// Why a case fails.
#[derive(Debug, Error)]
pub enum Failure {
    /// No comparison.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The Verilog does something else.
    #[error("{case}: {mismatch}")]
    Mismatch {
        /// Name of the case.
        case: String,
        /// The first difference.
        mismatch: Box<Mismatch>,
    },
    /// The stimulus leaves something out, or brings about what the case does not know.
    #[error("{case} in {cycles} cycles: {}", .complaints.join("; "))]
    Reach {
        /// Name of the case.
        case: String,
        /// Cycles run.
        cycles: u64,
        /// What is wrong.
        complaints: Vec<String>,
    },
}

impl<B: Clocked> Case<B> {
    /// Emits and compiles the block, with a fault if there is one.
    ///
    /// # Errors
    /// See [`Design::of`].
    pub fn design(&self, engine: Engine, edit: Option<&Edit>) -> Result<Arc<Design>, BenchError> {
        Design::of(&self.name, &self.block, engine, Vec::new(), edit)
    }

    /// Runs the block in rust-hdl and a design of it in Verilog for so many cycles, and compares all outputs
    /// before and after every edge.
    ///
    /// # Errors
    /// The first difference; else whatever was not reached.
    pub fn hold(mut self, design: &Arc<Design>, cycles: u64) -> Result<Report, Failure> {
        let mut run = design.start()?;
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut reached: Vec<_> = self.reach.iter().map(|(name, _)| (*name, 0)).collect();
        let mut states = States::of(&self.block);
        let mut expected = VecDeque::new();
        for cycle in 0..cycles {
            (self.stimulus)(&mut self.block, &mut random);
            sim::settle(&mut self.block);
            let (inputs, before) = (design.ports.driven(&self.block), design.ports.shown(&self.block));
            sim::edge(&mut self.block);
            for ((_, seen), (_, is)) in reached.iter_mut().zip(&self.reach) {
                *seen += u64::from(is(&self.block));
            }
            states.note(&self.block);
            run.send(&inputs)?;
            expected.push_back(Cycle {
                number: cycle,
                inputs,
                before,
                after: design.ports.shown(&self.block),
            });
            // A full window, emptied by half, keeps both simulations busy.
            if run.unanswered() == run.window() {
                while run.unanswered() > run.window() / 2 {
                    self.compare(&mut run, design, &mut expected)?;
                }
            }
        }
        while run.unanswered() > 0 {
            self.compare(&mut run, design, &mut expected)?;
        }
        let never =
            reached.iter().filter(|(_, seen)| *seen == 0).map(|(name, _)| format!("never reached: {name}"));
        let machines = self.transitions.iter().flat_map(|wanted| states.complaints(wanted));
        let complaints: Vec<_> = never.chain(machines).collect();
        if complaints.is_empty() {
            Ok(Report { cycles, reached })
        } else {
            Err(Failure::Reach { case: self.name, cycles, complaints })
        }
    }

    fn compare(&self, run: &mut Run, design: &Design, expected: &mut VecDeque<Cycle>) -> Result<(), Failure> {
        let reading = run.receive()?;
        let Some(cycle) = expected.pop_front() else { return Ok(()) };
        let sides = [("before", &cycle.before, &reading.before), ("after", &cycle.after, &reading.after)];
        // A block RAM shows nothing in particular before its first edge.
        let known = usize::from(cycle.number == 0);
        for &(when, expected, got) in &sides[known..] {
            for ((port, &expected), &got) in design.ports.outputs.iter().zip(expected).zip(got) {
                if got != Some(expected) {
                    let names = design.ports.inputs.iter().map(|port| port.name.clone());
                    let mismatch = Mismatch {
                        cycle: cycle.number,
                        when,
                        port: port.clone(),
                        expected,
                        got,
                        inputs: names.zip(cycle.inputs).collect(),
                    };
                    return Err(Failure::Mismatch { case: self.name.clone(), mismatch: Box::new(mismatch) });
                }
            }
        }
        Ok(())
    }
}

/// One cycle in the rust-hdl simulation.
struct Cycle {
    number: u64,
    inputs: Vec<u64>,
    before: Vec<u64>,
    after: Vec<u64>,
}
