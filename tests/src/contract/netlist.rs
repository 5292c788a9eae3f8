//! The contract of whole jobs on the netlist of the wrapper.
//!
//! The array alone has no netlist worth the name: synthesis drops what leaves it unread, and what the contract's rules look
//! at inside a PE is no port.

use super::pins::{self, Pins};
use super::{Answer, Job, LevelError, Phase, Wrapper, ports};
use crate::level::Level;
use crate::netlist::faults::{self, FAULT, Place};
use crate::netlist::{Flow, NetlistError};
use crate::verilog::{Library, Model, Ports};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use systole_firmware::build;
use systole_hdl::parameters::Parameters;
use systole_hdl::{sim, wrapper};

/// Netlists of wrappers. Every design is synthesised once, whatever the number of runs.
#[derive(Debug)]
pub struct Netlist {
    flow: Flow,
    /// By their parameters; what cannot be made is not tried again.
    libraries: Mutex<HashMap<Parameters, Result<Arc<Library>, String>>>,
}

impl Netlist {
    /// Netlists of a flow.
    pub fn new(flow: Flow) -> Self {
        Self { flow, libraries: Mutex::default() }
    }
}

impl Wrapper for Netlist {
    fn level(&self) -> Level {
        Level::PostSynthesis
    }

    fn run(&self, parameters: &Parameters, jobs: &[Job]) -> Result<Vec<Answer>, LevelError> {
        parameters.check()?;
        // Never evaluated: it holds the values of the pins.
        let pins = sim::power_up(wrapper::Wrapper::new(parameters));
        let library = {
            // Held while making: two tests with the same parameters make one.
            let mut libraries = self.libraries.lock().unwrap_or_else(PoisonError::into_inner);
            let library = libraries.entry(parameters.clone()).or_insert_with(|| {
                let library = self.flow.library("wrapper", &pins, parameters);
                library.map_err(|error| error.to_string())
            });
            library.clone().map_err(LevelError::Broken)?
        };
        let model = library.start();
        pins::run(Simulated { pins, library, model }, parameters, jobs)
    }
}

/// One netlist in which any cell can be faulty.
#[derive(Debug)]
pub struct Faulty {
    parameters: Parameters,
    library: Arc<Library>,
    /// Where its faults can be.
    pub places: Vec<Place>,
    /// The number of the one that is faulty, from 1 on; 0 for none.
    pub chosen: AtomicU64,
}

impl Faulty {
    /// The wrapper of a design, as a flow makes it.
    ///
    /// # Errors
    /// See [`Flow::library`].
    pub fn new(flow: &Flow, parameters: &Parameters) -> Result<Self, NetlistError> {
        let block = sim::power_up(wrapper::Wrapper::new(parameters));
        let netlist = flow.netlist("wrapper", &block, parameters)?;
        let (netlist, places) = faults::seed(&netlist, build::TOP);
        let mut ports = Ports::of(&block);
        ports.inputs.push(faults::port());
        let library = flow.compile("wrapper with faults", ports, &(netlist + faults::MODELS))?;
        Ok(Self { parameters: parameters.clone(), library, places, chosen: AtomicU64::new(0) })
    }
}

impl Wrapper for Faulty {
    fn level(&self) -> Level {
        Level::PostSynthesis
    }

    fn run(&self, parameters: &Parameters, jobs: &[Job]) -> Result<Vec<Answer>, LevelError> {
        if *parameters != self.parameters {
            return Err(LevelError::Unsupported("another design than the one with faults".to_owned()));
        }
        let (library, mut model) = (Arc::clone(&self.library), self.library.start());
        model.drive(library.input(FAULT), self.chosen.load(Ordering::Relaxed));
        let pins = sim::power_up(wrapper::Wrapper::new(parameters));
        pins::run(Simulated { pins, library, model }, parameters, jobs)
    }
}

/// A wrapper's netlist.
struct Simulated {
    pins: wrapper::Wrapper,
    library: Arc<Library>,
    model: Model,
}

impl Simulated {
    /// Drives the inputs that the wrapper has; a fault stays as it was chosen.
    fn drive(&mut self) {
        for (input, bits) in self.library.ports.driven(&self.pins).into_iter().enumerate() {
            self.model.drive(input, bits);
        }
    }

    fn show(&mut self) -> Result<(), LevelError> {
        let outputs = &self.library.ports.outputs;
        let values = (0..outputs.len()).map(|output| Some(self.model.shown(output)));
        ports::show(&mut self.pins, outputs, values)
    }
}

impl Pins for Simulated {
    fn pins(&mut self) -> &mut wrapper::Wrapper {
        &mut self.pins
    }

    fn settle(&mut self) -> Result<(), LevelError> {
        self.drive();
        self.model.settle();
        self.show()
    }

    fn edge(&mut self) -> Result<(), LevelError> {
        self.drive();
        self.model.edge();
        self.show()
    }

    fn phase(&self) -> Option<Phase> {
        None
    }
}
