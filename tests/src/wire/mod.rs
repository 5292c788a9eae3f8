//! The wire, byte by byte: one suite for every engine that runs a core.
//!
//! The rules say what a core does with any stream of bytes: a frame that is right is executed once and answered, any
//! other has no effect and is answered by a reason, and the next good job works. None of them looks inside; what the
//! rust-hdl simulation reached inside is checked in [`reach`].

pub mod compiled;
pub mod core;
pub mod driver;
pub mod reach;
pub mod rules;

use crate::level::Level;
use systole_firmware::design::Design;
use systole_hdl::parameters::Parameters;

/// Edges that reset is held.
const RESET: usize = 3;

/// What a core does at one clock edge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edge {
    /// The byte offered was taken.
    pub taken: bool,
    /// The byte that came out.
    pub byte: Option<u8>,
}

/// What a UART reports besides bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A byte was lost to a wrong stop bit.
    Framing,
    /// A byte was lost because nobody took it.
    Overrun,
}

/// A core under test.
pub trait WireBench {
    /// One clock edge with a byte offered or not, and with room for a byte or not.
    fn edge(&mut self, offered: Option<u8>, room: bool) -> Edge;
    /// One clock edge at which the UART reports a fault.
    fn fault(&mut self, fault: Fault);
    /// Holds reset for some edges.
    fn reset(&mut self);
    /// The core's own word that nothing is queued, running or on its way out.
    fn idle(&self) -> bool;
}

/// An engine that runs cores.
pub trait WireLevel: Send + Sync {
    /// Which one.
    fn level(&self) -> Level;
    /// A core after power-up. IDENT says that it is simulated, and has the [`design_hash`].
    fn bench(&self, parameters: &Parameters) -> Box<dyn WireBench>;
}

/// The design hash of a core under test.
///
/// # Panics
/// With parameters out of range: a mistake in the rule.
pub fn design_hash(parameters: &Parameters) -> u64 {
    Design::new(parameters.clone()).unwrap_or_else(|error| panic!("{error}")).hash()
}
