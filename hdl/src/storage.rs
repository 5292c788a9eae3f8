//! What holds a value from edge to edge: registers and block RAMs.

use crate::signal::{Held, Part, Wire};
use crate::types::{Value, Width, Word};
use crate::walk;
use rust_hdl::prelude::*;

/// A register: `q` takes `d` at the rising edge. It starts at zero.
#[derive(Clone, Debug)]
pub struct Reg<T: Value> {
    /// The clock.
    pub clock: Wire<In, Clock>,
    /// The value to take.
    pub d: Wire<In, T>,
    /// The value held.
    pub q: Wire<Held, T>,
}

impl<T: Value> Reg<T> {
    /// A register that holds zero.
    pub fn new(shape: T::Shape) -> Self {
        Self { clock: Wire::new(()), d: Wire::new(shape), q: Wire::new(shape) }
    }
}

impl<T: Value<Shape = ()>> Default for Reg<T> {
    fn default() -> Self {
        Self::new(())
    }
}

impl<T: Value> Logic for Reg<T> {
    fn update(&mut self) {}
    fn connect(&mut self) {
        self.q.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("initial q = 0;\nalways @(posedge clock) q <= d;\n".into())
    }
}

impl<T: Value> Part for Wire<Held, T> {
    fn visit(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}

impl<T: Value> Part for Reg<T> {
    #[inline(always)]
    fn settle(&mut self) -> bool {
        let changed = self.clock.rises() && self.tick();
        self.d.val = self.d.next.fit(&self.d.shape);
        changed
    }
    #[inline(always)]
    fn tick(&mut self) -> bool {
        let changed = self.q.val != self.d.val;
        self.q.val = self.d.val;
        self.q.next = self.d.val;
        changed
    }
    walk!();
}

walk!(Reg<T> [T: Value] { clock, d, q });

/// A block RAM: one write port, one read port with a registered output and no enable. Cells start at zero.
///
/// No block may depend on a read of the cell being written: block RAMs differ there, and to make them agree costs an iCE40
/// 28 flip-flops and 19 LUTs for every 512 bytes. In simulation such a read gives the complement of the old value, so that
/// every suite notices one that does. Nor may a block depend on the output before the first edge: it is zero in
/// simulation, and to force that on silicon costs a LUT a bit.
#[derive(Clone, Debug)]
pub struct Ram {
    /// The clock of both ports.
    pub clock: Wire<In, Clock>,
    /// Cell to read.
    pub read_address: Wire<In, Word>,
    /// What it held at the last edge.
    pub read_data: Wire<Out, Word>,
    /// Cell to write.
    pub write_address: Wire<In, Word>,
    /// Value to write.
    pub write_data: Wire<In, Word>,
    /// Whether to write at the next edge.
    pub write_enable: Wire<In, bool>,
    cells: Vec<Word>,
}

impl Ram {
    /// `2^address_bits` cells of the given width.
    pub fn new(address_bits: u32, data: Width) -> Self {
        let address = Width::unsigned(address_bits);
        Self {
            clock: Wire::new(()),
            read_address: Wire::new(address),
            read_data: Wire::new(data),
            write_address: Wire::new(address),
            write_data: Wire::new(data),
            write_enable: Wire::new(()),
            cells: vec![Word::default(); 1 << address_bits],
        }
    }
}

impl Logic for Ram {
    fn update(&mut self) {}
    fn connect(&mut self) {
        self.read_data.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* no_rw_check *) reg [{high}:0] cells [0:{last}];\n\
             integer i;\n\
             `ifndef SYNTHESIS\ninitial read_data = 0;\n`endif\n\
             initial begin\n  for (i = 0; i <= {last}; i = i + 1) cells[i] = 0;\nend\n\
             always @(posedge clock) begin\n  read_data <= cells[read_address];\n  \
             if (write_enable) cells[write_address] <= write_data;\n\
             `ifndef SYNTHESIS\n  if (write_enable && write_address == read_address) \
             read_data <= ~cells[read_address];\n`endif\nend\n",
            high = self.read_data.bits() - 1,
            last = self.cells.len() - 1,
        ))
    }
}

impl Part for Ram {
    fn settle(&mut self) -> bool {
        let changed = self.clock.rises() && self.tick();
        self.read_address.take();
        self.write_address.take();
        self.write_data.take();
        self.write_enable.take();
        changed
    }
    fn tick(&mut self) -> bool {
        let old = self.cells[self.read_address.val.index()];
        let collides = self.write_enable.val && self.write_address.val == self.read_address.val;
        self.read_data.next = if collides { Word::of(!old.get()).fit(&self.read_data.shape) } else { old };
        if self.write_enable.val {
            self.cells[self.write_address.val.index()] = self.write_data.val;
        }
        self.read_data.take()
    }
    walk!();
}

walk!(Ram { clock, read_address, read_data, write_address, write_data, write_enable });
