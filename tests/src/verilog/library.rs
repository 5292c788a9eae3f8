//! A block's Verilog as a shared library that Verilator made: an edge costs a call, where [`super::Run`] pays a round
//! trip over a pipe.

// A function of a library that was found at run time can be called in no other way. The library is made here, from the
// text below, which is the other side of every signature.
#![allow(unsafe_code)]

use super::design::{self, TOP};
use super::ports::Ports;
use super::{BenchError, Engine, watchdog};
use rust_hdl::prelude::Block;
use std::ffi::c_void;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::ptr::NonNull;
use std::sync::Arc;
use systole_hdl::verilog::{self, identifier};
use tempfile::TempDir;

/// Makes a model after power-up.
type New = unsafe extern "C" fn() -> *mut c_void;
/// Settles a model with a level of the clock and all inputs, and gives all outputs.
type Eval = unsafe extern "C" fn(*mut c_void, bool, *const u64, *mut u64);
/// Ends a model.
type Free = unsafe extern "C" fn(*mut c_void);

/// Name of the class that Verilator makes.
const PREFIX: &str = "Vdut";

/// What a library is made of.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// Name of the top module.
    pub top: &'a str,
    /// The Verilog with that module.
    pub verilog: &'a str,
    /// Arguments of Verilator beside those that every design gets: more files, macros.
    pub arguments: &'a [String],
}

/// A compiled design.
#[derive(Debug)]
pub struct Library {
    /// What messages call it.
    pub name: String,
    /// Its ports.
    pub ports: Ports,
    new: New,
    eval: Eval,
    free: Free,
    // What the functions are in, closed before its file goes.
    _code: libloading::Library,
    _folder: TempDir,
}

impl Library {
    /// Emits, compiles and loads a connected block, the names of whose ports are words of C++.
    ///
    /// # Errors
    /// A block without Verilog, a Verilator that is missing or refuses it, a library that cannot be loaded.
    pub fn of<B: Block>(name: &str, block: &B) -> Result<Arc<Self>, BenchError> {
        let sources = Sources { top: TOP, verilog: &verilog::emit(block, TOP)?, arguments: &[] };
        Self::compile(name, Ports::of(block), &sources)
    }

    /// Compiles and loads any Verilog.
    ///
    /// # Errors
    /// A Verilator that is missing or refuses it, a library that cannot be loaded.
    pub fn compile(name: &str, ports: Ports, sources: &Sources) -> Result<Arc<Self>, BenchError> {
        let io = |path: PathBuf| move |error| BenchError::Io { design: name.to_owned(), path, error };
        let folder = tempfile::tempdir().map_err(io(std::env::temp_dir()))?;
        for (file, text) in [("dut.v", sources.verilog), ("model.cpp", &model(&ports))] {
            fs::write(folder.path().join(file), text).map_err(io(folder.path().join(file)))?;
        }
        let tool = Engine::Verilator.tool();
        let mut command = Command::new(tool);
        command.args(["--cc", "--exe", "--build"]).args(design::VERILATOR);
        command.args(["-CFLAGS", "-fPIC", "-LDFLAGS", "-shared", "--prefix", PREFIX, "-o", "model.so"]);
        command.args(["--top-module", sources.top, "dut.v", "model.cpp"]).args(sources.arguments);
        watchdog::finish(command, tool, name, folder.path(), design::COMPILE_LIMIT)?;
        let load = |error| BenchError::Load { design: name.to_owned(), error };
        // SAFETY: what it runs when it is loaded are the constructors of Verilator's own globals.
        let code =
            unsafe { libloading::Library::new(folder.path().join("obj_dir/model.so")) }.map_err(load)?;
        // SAFETY: `model` writes functions of these names and these types.
        let (new, eval, free) = unsafe {
            (
                *code.get::<New>("model_new").map_err(load)?,
                *code.get::<Eval>("model_eval").map_err(load)?,
                *code.get::<Free>("model_free").map_err(load)?,
            )
        };
        Ok(Arc::new(Self { name: name.to_owned(), ports, new, eval, free, _code: code, _folder: folder }))
    }

    /// Starts a simulation from power-up, all inputs 0.
    ///
    /// # Panics
    /// Never: `new` of C++ gives an object or ends the process.
    pub fn start(self: &Arc<Self>) -> Model {
        // SAFETY: it takes nothing, and what it gives is freed once, when the model is dropped.
        let state = NonNull::new(unsafe { (self.new)() }).expect("an object");
        let (inputs, outputs) = (vec![0; self.ports.inputs.len()], vec![0; self.ports.outputs.len()]);
        let mut model = Model { library: Arc::clone(self), state, inputs, outputs };
        model.settle();
        model
    }

    /// The place of an input among them.
    ///
    /// # Panics
    /// When there is none of this name: a mistake in the test.
    pub fn input(&self, name: &str) -> usize {
        let place = self.ports.inputs.iter().position(|port| port.name == name);
        place.unwrap_or_else(|| panic!("{} has no input {name}", self.name))
    }

    /// The place of an output among them.
    ///
    /// # Panics
    /// When there is none of this name: a mistake in the test.
    pub fn output(&self, name: &str) -> usize {
        let place = self.ports.outputs.iter().position(|port| port.name == name);
        place.unwrap_or_else(|| panic!("{} has no output {name}", self.name))
    }
}

/// A running simulation.
#[derive(Debug)]
pub struct Model {
    library: Arc<Library>,
    state: NonNull<c_void>,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
}

impl Model {
    /// Drives an input from now on, the one at [`Library::input`].
    pub fn drive(&mut self, input: usize, bits: u64) {
        self.inputs[input] = bits;
    }

    /// The bits on an output, the one at [`Library::output`], when the model last settled.
    pub fn shown(&self, output: usize) -> u64 {
        self.outputs[output]
    }

    /// Lets the inputs settle, the clock low.
    pub fn settle(&mut self) {
        self.eval(false);
    }

    /// Takes one rising edge with the inputs as driven, and settles: outputs are those just after the edge.
    pub fn edge(&mut self) {
        self.eval(false);
        self.eval(true);
    }

    fn eval(&mut self, clock: bool) {
        let (inputs, outputs) = (self.inputs.as_ptr(), self.outputs.as_mut_ptr());
        // SAFETY: the state is the library's own and alive, nobody else has it; there is a value for every port.
        unsafe { (self.library.eval)(self.state.as_ptr(), clock, inputs, outputs) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: the state is the library's own, and this is its end.
        unsafe { (self.library.free)(self.state.as_ptr()) }
    }
}

/// The C++ around the model. Every model has a context of its own, so that threads can have models of their own.
fn model(ports: &Ports) -> String {
    let lines = |ports: &[super::Port], line: &dyn Fn(usize, String) -> String| {
        let names = ports.iter().map(|port| identifier(&port.name));
        names.enumerate().map(|(place, name)| line(place, name)).collect::<String>()
    };
    let inputs = lines(&ports.inputs, &|place, name| format!("    top.{name} = inputs[{place}];\n"));
    let outputs = lines(&ports.outputs, &|place, name| format!("    outputs[{place}] = top.{name};\n"));
    format!(
        "#include <cstdint>
#include \"verilated.h\"
#include \"{PREFIX}.h\"

struct Model {{
    VerilatedContext context;
    {PREFIX} top{{&context, \"top\"}};
}};

extern \"C\" void* model_new() {{
    return new Model;
}}

extern \"C\" void model_eval(void* model, bool clock, const uint64_t* inputs, uint64_t* outputs) {{
    {PREFIX}& top = static_cast<Model*>(model)->top;
    top.clock = clock;
{inputs}    top.eval();
{outputs}}}

extern \"C\" void model_free(void* model) {{
    delete static_cast<Model*>(model);
}}
"
    )
}
