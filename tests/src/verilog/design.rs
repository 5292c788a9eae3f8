//! A block's Verilog with its test bench, compiled for a simulator.

use super::bench::{Tap, bench};
use super::ports::Ports;
use super::run::Run;
use super::{BenchError, Edit, watchdog};
use rust_hdl::prelude::Block;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use systole_hdl::verilog;
use tempfile::TempDir;

/// Name of a design's top module.
pub(super) const TOP: &str = "dut_top";

/// Longest time that a compilation may take. The longest takes half a minute where nothing else runs.
pub(super) const COMPILE_LIMIT: Duration = Duration::from_secs(900);

/// How every design is compiled with Verilator. Width warnings are rust-hdl's style: unsized literals, and sums assigned
/// to narrower wires.
pub(super) const VERILATOR: [&str; 7] = ["-j", "2", "-O3", "-CFLAGS", "-O1", "-Wno-WIDTH", "-Wno-fatal"];

/// A Verilog simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Icarus: compiles at once, slow to run. For blocks.
    Icarus,
    /// Verilator: seconds to compile, fast to run. For the core.
    Verilator,
}

impl Engine {
    /// Its program.
    pub const fn tool(self) -> &'static str {
        match self {
            Self::Icarus => "iverilog",
            Self::Verilator => "verilator",
        }
    }

    /// Whether it is on this machine.
    ///
    /// # Errors
    /// Says which program is missing.
    pub fn available(self) -> Result<(), BenchError> {
        let tool = self.tool();
        let mut command = Command::new(tool);
        command.arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().map(drop).map_err(|error| BenchError::Missing { tool, error })
    }
}

/// A compiled design.
#[derive(Debug)]
pub struct Design {
    /// What messages call it.
    pub name: String,
    /// Its ports.
    pub ports: Ports,
    /// What else is read.
    pub taps: Vec<Tap>,
    engine: Engine,
    folder: TempDir,
}

impl Design {
    /// Emits and compiles a connected block, with a fault if there is one.
    ///
    /// # Errors
    /// A block without Verilog, a fault without a place, a simulator that is missing or refuses it.
    pub fn of<B: Block>(
        name: &str,
        block: &B,
        engine: Engine,
        taps: Vec<Tap>,
        edit: Option<&Edit>,
    ) -> Result<Arc<Self>, BenchError> {
        let mut verilog = verilog::emit(block, TOP)?;
        if let Some(edit) = edit {
            verilog = edit.apply(name, TOP, &verilog)?;
        }
        Self::compile(name, &verilog, Ports::of(block), engine, taps)
    }

    /// Compiles Verilog whose top module is [`TOP`].
    fn compile(
        name: &str,
        verilog: &str,
        ports: Ports,
        engine: Engine,
        taps: Vec<Tap>,
    ) -> Result<Arc<Self>, BenchError> {
        let io = |path: PathBuf| move |error| BenchError::Io { design: name.to_owned(), path, error };
        let folder = tempfile::tempdir().map_err(io(std::env::temp_dir()))?;
        for (file, text) in [("dut.v", verilog), ("bench.v", &bench(TOP, &ports, &taps))] {
            fs::write(folder.path().join(file), text).map_err(io(folder.path().join(file)))?;
        }
        let mut command = Command::new(engine.tool());
        match engine {
            Engine::Icarus => command.args(["-g2012", "-s", "bench", "-o", "bench.vvp"]),
            Engine::Verilator => {
                command.arg("--binary").args(VERILATOR).args(["--top-module", "bench", "-o", "bench"])
            }
        };
        command.args(["dut.v", "bench.v"]);
        watchdog::finish(command, engine.tool(), name, folder.path(), COMPILE_LIMIT)?;
        Ok(Arc::new(Self { name: name.to_owned(), ports, taps, engine, folder }))
    }

    /// Starts a simulation from power-up.
    ///
    /// # Errors
    /// A simulator that does not start.
    pub fn start(self: &Arc<Self>) -> Result<Run, BenchError> {
        let mut command = match self.engine {
            Engine::Icarus => {
                let mut command = Command::new("vvp");
                command.arg("-n").arg("bench.vvp");
                command
            }
            Engine::Verilator => Command::new(self.folder.path().join("obj_dir/bench")),
        };
        command.current_dir(self.folder.path());
        Run::start(self, command)
    }
}
