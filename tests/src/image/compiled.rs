//! An image under Verilator: its Verilog, or a netlist of that.

use super::rust_hdl::top;
use super::{ImageLevel, Pins, Shown, Subject};
use crate::level::Level;
use crate::netlist::{Flow, cells, routed};
use crate::verilog::{Engine, Library, Model, Ports, Sources};
use std::sync::{Arc, OnceLock};
use systole_firmware::build;
use systole_firmware::top::Top;
use systole_hdl::verilog;

/// Compiles the top of an image.
type Make = dyn Fn(&Top) -> Result<Arc<Library>, String> + Send + Sync;

/// An image, compiled when the first rule asks for it.
pub struct Compiled {
    level: Level,
    subject: Subject,
    make: Box<Make>,
    library: OnceLock<Result<Arc<Library>, String>>,
}

impl Compiled {
    /// The level `verilog`.
    ///
    /// # Errors
    /// Says what is missing: Verilator, or models of the family's cells.
    pub fn verilog(subject: Subject) -> Result<Self, String> {
        Engine::Verilator.available().map_err(|error| error.to_string())?;
        let cells = cells::own(subject.board.fpga.family)?;
        Ok(Self::new(Level::Verilog, subject, move |top| {
            let text = verilog::emit(top, build::TOP).map_err(|error| error.to_string())?;
            let sources = Sources { top: build::TOP, verilog: &(text + cells), arguments: &[] };
            Library::compile("image", Ports::of(top), &sources).map_err(|error| error.to_string())
        }))
    }

    /// The level `post-synthesis`.
    pub fn netlist(flow: Flow, subject: Subject) -> Self {
        let parameters = subject.design.parameters().clone();
        Self::new(Level::PostSynthesis, subject, move |top| {
            flow.library("image", top, &parameters).map_err(|error| error.to_string())
        })
    }

    /// The level `post-synthesis`, with what is in the bitstream after placement, routing and packing.
    ///
    /// # Errors
    /// A tool is missing.
    pub fn routed(flow: Flow, subject: Subject) -> Result<Self, String> {
        let subject = routed::subject(&flow, subject)?;
        let image = subject.clone();
        Ok(Self::new(Level::PostSynthesis, subject, move |top| routed::library(&flow, &image, top)))
    }

    fn new(
        level: Level,
        subject: Subject,
        make: impl Fn(&Top) -> Result<Arc<Library>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { level, subject, make: Box::new(make), library: OnceLock::new() }
    }
}

impl ImageLevel for Compiled {
    fn level(&self) -> Level {
        self.level
    }

    fn subject(&self) -> &Subject {
        &self.subject
    }

    fn power_up(&self) -> Box<dyn Pins> {
        let library = self.library.get_or_init(|| (self.make)(&top(&self.subject)));
        let library = library.as_ref().unwrap_or_else(|error| panic!("{error}"));
        let places = ["tx", "led_idle", "led_busy", "led_error"].map(|name| library.output(name));
        Box::new(Running { model: library.start(), rx: library.input("rx"), places })
    }
}

struct Running {
    model: Model,
    rx: usize,
    places: [usize; 4],
}

impl Pins for Running {
    fn shown(&self) -> Shown {
        let [tx, idle, busy, error] = self.places.map(|place| self.model.shown(place) == 1);
        Shown { tx, idle, busy, error }
    }

    fn edge(&mut self, rx: bool) {
        self.model.drive(self.rx, rx.into());
        self.model.edge();
    }
}
