//! The core under Verilator: its Verilog, or a netlist of that.

use super::rules::small;
use super::{Edge, Fault, RESET, WireBench, WireLevel, design_hash};
use crate::cycles;
use crate::level::Level;
use crate::netlist::Flow;
use crate::verilog::{BenchError, Engine, Library, Model};
use std::sync::{Arc, OnceLock};
use systole_hdl::core::Core;
use systole_hdl::parameters::Parameters;
use systole_hdl::sim;
use systole_hdl::wire::Origin;

/// Compiles the core of the suite's one design.
type Make = dyn Fn(&Core, &Parameters) -> Result<Arc<Library>, String> + Send + Sync;

/// The suite's one design, compiled when the first rule asks for it.
pub struct Compiled {
    level: Level,
    make: Box<Make>,
    library: OnceLock<Result<Arc<Library>, String>>,
}

impl Compiled {
    /// The level `verilog`.
    ///
    /// # Errors
    /// Without Verilator.
    pub fn verilog() -> Result<Self, BenchError> {
        Engine::Verilator.available()?;
        let make = |core: &Core, _: &Parameters| Library::of("core", core).map_err(|error| error.to_string());
        Ok(Self { level: Level::Verilog, make: Box::new(make), library: OnceLock::new() })
    }

    /// The level `post-synthesis`, with the netlist of a flow.
    pub fn netlist(flow: Flow) -> Self {
        let make = move |core: &Core, parameters: &Parameters| {
            flow.library("core", core, parameters).map_err(|error| error.to_string())
        };
        Self { level: Level::PostSynthesis, make: Box::new(make), library: OnceLock::new() }
    }
}

impl WireLevel for Compiled {
    fn level(&self) -> Level {
        self.level
    }

    fn bench(&self, parameters: &Parameters) -> Box<dyn WireBench> {
        assert_eq!(*parameters, small(), "the level {} is built for one design", self.level());
        let library = self.library.get_or_init(|| {
            let core = sim::power_up(Core::new(parameters, Origin::Simulated, design_hash(parameters)));
            (self.make)(&core, parameters)
        });
        let library = library.as_ref().unwrap_or_else(|error| panic!("{error}"));
        Box::new(CoreBench { model: library.start(), pins: Pins::of(library), cycles: 0 })
    }
}

/// Where the core's ports are.
struct Pins {
    reset: usize,
    rx_data: usize,
    rx_valid: usize,
    rx_framing: usize,
    rx_overrun: usize,
    tx_ready: usize,
    rx_ready: usize,
    tx_data: usize,
    tx_valid: usize,
    idle: usize,
}

impl Pins {
    fn of(library: &Library) -> Self {
        Self {
            reset: library.input("reset"),
            rx_data: library.input("rx_data"),
            rx_valid: library.input("rx_valid"),
            rx_framing: library.input("rx_framing"),
            rx_overrun: library.input("rx_overrun"),
            tx_ready: library.input("tx_ready"),
            rx_ready: library.output("rx_ready"),
            tx_data: library.output("tx_data"),
            tx_valid: library.output("tx_valid"),
            idle: library.output("idle"),
        }
    }
}

struct CoreBench {
    model: Model,
    pins: Pins,
    cycles: u64,
}

impl CoreBench {
    fn tick(&mut self) {
        self.model.edge();
        self.cycles += 1;
    }

    /// No byte offered, and no room for one.
    fn silence(&mut self) {
        self.model.drive(self.pins.rx_valid, 0);
        self.model.drive(self.pins.tx_ready, 0);
    }
}

impl WireBench for CoreBench {
    fn edge(&mut self, offered: Option<u8>, room: bool) -> Edge {
        let (model, pins) = (&mut self.model, &self.pins);
        model.drive(pins.rx_valid, offered.is_some().into());
        model.drive(pins.rx_data, offered.unwrap_or(0xA5).into());
        model.drive(pins.tx_ready, room.into());
        model.settle();
        let taken = offered.is_some() && model.shown(pins.rx_ready) == 1;
        let given = room && model.shown(pins.tx_valid) == 1;
        let byte = given.then(|| model.shown(pins.tx_data) as u8);
        self.tick();
        Edge { taken, byte }
    }

    fn fault(&mut self, fault: Fault) {
        self.silence();
        let pin = match fault {
            Fault::Framing => self.pins.rx_framing,
            Fault::Overrun => self.pins.rx_overrun,
        };
        self.model.drive(pin, 1);
        self.tick();
        self.model.drive(pin, 0);
    }

    fn reset(&mut self) {
        self.silence();
        self.model.drive(self.pins.reset, 1);
        (0..RESET).for_each(|_| self.tick());
        self.model.drive(self.pins.reset, 0);
    }

    fn idle(&self) -> bool {
        self.model.shown(self.pins.idle) == 1
    }
}

impl Drop for CoreBench {
    fn drop(&mut self) {
        // A failing test has more to say than a count that cannot be written.
        if !std::thread::panicking() {
            cycles::report("wire", self.cycles);
        }
    }
}
