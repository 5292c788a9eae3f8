//! The contract's traits on the generated Verilog, under Icarus.

use super::pins::{self, Pins};
use super::{Answer, Edge, Grid, Job, LevelError, PeState, Phase, Token, Wrapper, ports};
use crate::level::Level;
use crate::verilog::{BenchError, Design, Edit, Engine, Port, Reading, Run, Tap};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use systole_hdl::parameters::Parameters;
use systole_hdl::pe::KIND_BITS;
use systole_hdl::types::{TokenShape, Value};
use systole_hdl::wire::ErrorKind;
use systole_hdl::{grid, sim, types, wrapper};

/// Generated Verilog in Icarus. Every design is compiled once, whatever the number of runs.
#[derive(Debug, Default)]
pub struct Verilog {
    edit: Option<Edit>,
    grids: Designs,
    wrappers: Designs,
    failure: Mutex<Option<BenchError>>,
}

/// Compiled designs by their parameters.
type Designs = Mutex<HashMap<Parameters, Arc<Design>>>;

impl From<BenchError> for LevelError {
    fn from(error: BenchError) -> Self {
        Self::Broken(error.to_string())
    }
}

impl Verilog {
    /// The Verilog as generated.
    ///
    /// # Errors
    /// Without Icarus.
    pub fn new() -> Result<Self, BenchError> {
        Engine::Icarus.available()?;
        Ok(Self::default())
    }

    /// The Verilog with a fault in it.
    pub fn edited(edit: Edit) -> Self {
        Self { edit: Some(edit), ..Self::default() }
    }

    /// Why the last design that could not be made could not be made. Says so once.
    pub fn take_failure(&self) -> Option<BenchError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The design of these parameters, made if it is not there yet.
    fn design(
        &self,
        designs: &Designs,
        parameters: &Parameters,
        make: impl FnOnce(Option<&Edit>) -> Result<Arc<Design>, BenchError>,
    ) -> Result<Arc<Design>, LevelError> {
        // Held while compiling: two tests with the same parameters compile once.
        let mut designs = designs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(design) = designs.get(parameters) {
            return Ok(Arc::clone(design));
        }
        let design = match make(self.edit.as_ref()) {
            Ok(design) => design,
            Err(error) => {
                let text = error.to_string();
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                return Err(LevelError::Broken(text));
            }
        };
        designs.insert(parameters.clone(), Arc::clone(&design));
        Ok(design)
    }
}

/// What a PE shows, in the order of its taps.
fn taps(p: &Parameters) -> Vec<Tap> {
    let token = types::Token::width(&TokenShape::new(p));
    let signals = [
        ("acc", p.aw as usize, true),
        ("count", p.count_bits() as usize, false),
        ("done", 1, false),
        ("kind", KIND_BITS as usize, false),
        ("a_out", token, false),
        ("b_out", token, false),
    ];
    let of = |pe: u32| {
        signals.map(|(name, bits, signed)| {
            let port = Port { name: name.to_owned(), bits, signed };
            Tap { path: format!("pe${pe}.{name}"), port }
        })
    };
    (0..p.n * p.n).flat_map(of).collect()
}

/// The fields of a token on a link.
fn unpack(p: &Parameters, bits: u64) -> Token {
    let mut rest = bits;
    let mut field = |width: u32| {
        let field = rest & ((1 << width) - 1);
        rest >>= width;
        field
    };
    let value = field(p.w);
    let unused = 64 - p.w;
    Token {
        value: (value << unused) as i64 >> unused,
        k: field(p.tag_bits()) as u32,
        job: field(p.job_bits) as u32,
        valid: field(1) == 1,
    }
}

/// The states of all PEs in the taps of a reading.
fn states(p: &Parameters, design: &Design, reading: &Reading) -> Result<Vec<PeState>, LevelError> {
    let taps = &reading.after[design.ports.outputs.len()..];
    let mut known = Vec::with_capacity(taps.len());
    for (tap, value) in design.taps.iter().zip(taps) {
        let unknown = || LevelError::Broken(format!("{}: {} has an unknown bit", design.name, tap.path));
        known.push(value.ok_or_else(unknown)?);
    }
    let state = |(pe, taps): (&[u64], &[Tap])| {
        let &[acc, count, done, kind, a_out, b_out] = pe else { unreachable!("six taps a PE") };
        PeState {
            acc: taps[0].port.number(acc),
            count: count as u32,
            done: done == 1,
            error: ErrorKind::from_code(kind as u8),
            a_out: unpack(p, a_out),
            b_out: unpack(p, b_out),
        }
    };
    Ok(known.chunks(6).zip(design.taps.chunks(6)).map(state).collect())
}

impl Grid for Verilog {
    fn level(&self) -> Level {
        Level::Verilog
    }

    fn run(
        &self,
        parameters: &Parameters,
        rows: usize,
        columns: usize,
        edges: &[Edge],
    ) -> Result<Vec<Vec<PeState>>, LevelError> {
        ports::check(parameters, rows, columns)?;
        // Never evaluated: it holds the values of the pins.
        let mut pins = sim::power_up(grid::Grid::new(parameters));
        let design = self.design(&self.grids, parameters, |edit| {
            Design::of("grid", &pins, Engine::Icarus, taps(parameters), edit)
        })?;
        let mut run = design.start()?;
        let mut after = Vec::with_capacity(edges.len());
        for edge in edges {
            ports::drive(&mut pins, edge);
            let reading = run.edge(&design.ports.driven(&pins))?;
            after.push(states(parameters, &design, &reading)?);
        }
        Ok(after)
    }
}

impl Wrapper for Verilog {
    fn level(&self) -> Level {
        Level::Verilog
    }

    fn run(&self, parameters: &Parameters, jobs: &[Job]) -> Result<Vec<Answer>, LevelError> {
        parameters.check()?;
        // Never evaluated: it holds the values of the pins.
        let pins = sim::power_up(wrapper::Wrapper::new(parameters));
        let phase = Port { name: "phase".to_owned(), bits: PHASE_BITS, signed: false };
        let taps = vec![Tap { path: "phase.q".to_owned(), port: phase }];
        let design = self.design(&self.wrappers, parameters, |edit| {
            Design::of("wrapper", &pins, Engine::Icarus, taps, edit)
        })?;
        let run = design.start()?;
        pins::run(Piped { pins, design, run, phase: Phase::Idle }, parameters, jobs)
    }
}

/// Width of the wrapper's state register.
const PHASE_BITS: usize = 3;

/// The wrapper's states, in the order of their codes.
const PHASES: [Phase; 5] = [Phase::Idle, Phase::Clear, Phase::Stream, Phase::Drain, Phase::Collect];

/// A wrapper in a simulator's process.
struct Piped {
    pins: wrapper::Wrapper,
    design: Arc<Design>,
    run: Run,
    phase: Phase,
}

impl Piped {
    /// Lets the pins show what was read, the tap behind the outputs.
    fn show(&mut self, values: &[Option<u64>]) -> Result<(), LevelError> {
        let code = values.last().copied().flatten();
        let phase = code.and_then(|code| PHASES.get(code as usize)).copied();
        self.phase = phase.ok_or_else(|| LevelError::Broken(format!("{code:?} is no phase")))?;
        ports::show(&mut self.pins, &self.design.ports.outputs, values.iter().copied())
    }
}

impl Pins for Piped {
    fn pins(&mut self) -> &mut wrapper::Wrapper {
        &mut self.pins
    }

    fn settle(&mut self) -> Result<(), LevelError> {
        let values = self.run.settle(&self.design.ports.driven(&self.pins))?;
        self.show(&values)
    }

    fn edge(&mut self) -> Result<(), LevelError> {
        let reading = self.run.edge(&self.design.ports.driven(&self.pins))?;
        self.show(&reading.after)
    }

    fn phase(&self) -> Option<Phase> {
        Some(self.phase)
    }
}
