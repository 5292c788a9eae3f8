//! The core in rust-hdl's simulation.

use super::reach::{Seen, States};
use super::{Edge, Fault, RESET, WireBench, WireLevel, design_hash};
use crate::cycles;
use crate::level::Level;
use systole_hdl::core::Core;
use systole_hdl::parameters::Parameters;
use systole_hdl::sim;
use systole_hdl::wire::Origin;

/// The level `rust-hdl`.
pub struct RustHdl;

impl WireLevel for RustHdl {
    fn level(&self) -> Level {
        Level::RustHdl
    }

    fn bench(&self, parameters: &Parameters) -> Box<dyn WireBench> {
        let core = sim::power_up(Core::new(parameters, Origin::Simulated, design_hash(parameters)));
        Box::new(CoreBench { core, seen: Seen::default(), cycles: 0 })
    }
}

struct CoreBench {
    core: Core,
    seen: Seen,
    cycles: u64,
}

impl CoreBench {
    fn tick(&mut self) {
        sim::edge(&mut self.core);
        self.cycles += 1;
        let core = &self.core;
        self.seen.note(States {
            place: core.decoder.place.q.val(),
            step: core.decoder.step.q.val(),
            reading: core.executor.reader.reading.q.val(),
            doing: core.executor.doing.q.val(),
            part: core.encoder.part.q.val(),
            full: core.fifo.full.val(),
            empty: core.fifo.empty.val(),
        });
    }
}

impl WireBench for CoreBench {
    fn edge(&mut self, offered: Option<u8>, room: bool) -> Edge {
        self.core.rx_valid.next = offered.is_some();
        self.core.rx_data.next = usize::from(offered.unwrap_or(0xA5)).into();
        self.core.tx_ready.next = room;
        sim::settle(&mut self.core);
        let taken = offered.is_some() && self.core.rx_ready.val();
        let given = room && self.core.tx_valid.val();
        let byte = given.then(|| self.core.tx_data.val().get() as u8);
        self.tick();
        Edge { taken, byte }
    }

    fn fault(&mut self, fault: Fault) {
        self.core.rx_valid.next = false;
        self.core.tx_ready.next = false;
        self.core.rx_framing.next = fault == Fault::Framing;
        self.core.rx_overrun.next = fault == Fault::Overrun;
        self.tick();
        self.core.rx_framing.next = false;
        self.core.rx_overrun.next = false;
    }

    fn reset(&mut self) {
        self.core.rx_valid.next = false;
        self.core.tx_ready.next = false;
        self.core.reset.next = true;
        (0..RESET).for_each(|_| self.tick());
        self.core.reset.next = false;
    }

    fn idle(&self) -> bool {
        self.core.idle.val()
    }
}

impl Drop for CoreBench {
    fn drop(&mut self) {
        self.seen.keep();
        // A failing test has more to say than a count that cannot be written.
        if !std::thread::panicking() {
            cycles::report("wire", self.cycles);
        }
    }
}
