//! The post-synthesis level: the netlist that the flow of the images makes of a block, its cells simulated by Verilator
//! without delays.

pub mod cells;
pub mod faults;
pub mod routed;

use crate::verilog::{BenchError, Engine, Library, Ports, Sources};
use cells::Cells;
use rust_hdl::prelude::Block;
use std::sync::Arc;
use systole_boards::{Board, find};
use systole_firmware::build::{self, BuildError};
use systole_firmware::toolchain::{Tool, Toolchain};
use systole_hdl::parameters::Parameters;
use systole_hdl::verilog;
use thiserror::Error;

/// Why there is no simulation of a netlist.
#[derive(Debug, Error)]
pub enum NetlistError {
    /// Synthesis failed.
    #[error("{design}: {error}")]
    Synthesis {
        /// Name of the design.
        design: String,
        /// Why.
        error: BuildError,
    },
    /// The netlist cannot be simulated.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

/// The flow that makes the images of a board.
#[derive(Clone, Debug)]
pub struct Flow {
    toolchain: Toolchain,
    board: &'static Board,
    cells: Cells,
}

impl Flow {
    /// The flow of a board.
    ///
    /// # Errors
    /// Says what is missing: Verilator, yosys, the models of its cells.
    ///
    /// # Panics
    /// When there is no such board: a mistake in the test.
    pub fn of(board: &str) -> Result<Self, String> {
        Engine::Verilator.available().map_err(|error| error.to_string())?;
        let toolchain = Toolchain::of_user().map_err(|error| error.to_string())?;
        let yosys = toolchain.find(Tool::Yosys).map_err(|error| error.to_string())?;
        let board = find(board).unwrap_or_else(|error| panic!("{error}"));
        let cells = Cells::find(board.fpga.family, &yosys)?;
        Ok(Self { toolchain, board, cells })
    }

    /// The netlist of a connected block of a design, as Verilog.
    ///
    /// # Errors
    /// A block without Verilog, a synthesis that fails.
    pub fn netlist<B: Block>(
        &self,
        name: &str,
        block: &B,
        parameters: &Parameters,
    ) -> Result<String, NetlistError> {
        let text = verilog::emit(block, build::TOP).map_err(BenchError::from)?;
        let netlist = build::netlist(&self.board.fpga, parameters, &text, &self.toolchain);
        netlist.map_err(|error| NetlistError::Synthesis { design: name.to_owned(), error })
    }

    /// Compiles a netlist.
    ///
    /// # Errors
    /// A netlist that Verilator refuses, such as one with a cell that has no model.
    pub fn compile(&self, name: &str, ports: Ports, netlist: &str) -> Result<Arc<Library>, NetlistError> {
        // The cells' own ports have defaults, which Verilator does not know; yosys connects every one of them.
        let include = format!("+incdir+{}", self.cells.folder.display());
        // What the compiler saves in optimising tens of thousands of lines is more than a suite takes longer.
        let quick = ["-CFLAGS".to_owned(), "-O0".to_owned()];
        let arguments = [&["-DNO_ICE40_DEFAULT_ASSIGNMENTS".to_owned(), include], &quick[..]].concat();
        let text = [netlist, self.cells.own, &self.cells.yosys].join("\n");
        let sources = Sources { top: build::TOP, verilog: &text, arguments: &arguments };
        Ok(Library::compile(name, ports, &sources)?)
    }

    /// Synthesises and compiles a connected block of a design.
    ///
    /// # Errors
    /// See [`Flow::netlist`] and [`Flow::compile`].
    pub fn library<B: Block>(
        &self,
        name: &str,
        block: &B,
        parameters: &Parameters,
    ) -> Result<Arc<Library>, NetlistError> {
        let name = format!("{name} of {}", self.board.name);
        self.compile(&name, Ports::of(block), &self.netlist(&name, block, parameters)?)
    }
}
