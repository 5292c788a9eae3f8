//! Wires with run-time widths, and the macro that makes a block of them, registers, memories and other blocks.
//!
//! They implement rust-hdl's public `Atom`, `Logic` and `Block` traits, so `#[hdl_gen]`, Verilog generation, its checks,
//! `Simulation` and waveform dumps work on them as on rust-hdl's own. Evaluation differs in two ways. A block settles
//! completely before it returns to its parent, and is skipped while nothing it depends on has changed. And a direct loop
//! ([`crate::sim`]) takes an edge in two phases: every register and memory takes its input ([`Part::tick`]), then
//! what changed settles, from the innermost blocks out. rust-hdl's own order visits every block on each of about twelve
//! passes a clock.
//!
//! Where the clock is toggled as a signal, as rust-hdl's `Simulation` does, a register takes the value that its input
//! had *before* the settling that brought the edge: what changes together with the clock is seen by the next edge, at
//! every depth of the hierarchy. Both ways give the same results.

use crate::types::{Value, Width, Word};
use rust_hdl::core::{constraint::PinConstraint, signal::get_signal_id};
use rust_hdl::prelude::*;
use std::marker::PhantomData;

pub use crate::storage::{Ram, Reg};

/// What a block is made of. Plain numbers and tables may stand among the hardware: they take no part.
pub trait Part {
    /// Inputs take what their parent drives. True if that changed anything.
    fn latch(&mut self) -> bool {
        false
    }
    /// A child evaluates. True if an output changed.
    fn settle(&mut self) -> bool {
        false
    }
    /// State takes its input, as settled before, and nothing else moves yet. True if any state changed.
    fn tick(&mut self) -> bool {
        false
    }
    /// A child whose state has ticked evaluates with the inputs that it has, before its parent does.
    fn lead(&mut self) {}
    /// Outputs show their new value. True if that changed anything.
    fn publish(&mut self) -> bool {
        false
    }
    /// Marks what is driven, for rust-hdl's check of open signals.
    fn connect_part(&mut self) {}
    /// Shows the part to a visitor: Verilog generation, checks, waveforms.
    fn visit(&self, _name: &str, _probe: &mut dyn Probe) {}
}

impl Part for usize {}

impl<P: Part> Part for Vec<P> {
    #[inline(always)]
    fn latch(&mut self) -> bool {
        self.iter_mut().fold(false, |changed, part| part.latch() | changed)
    }
    #[inline(always)]
    fn settle(&mut self) -> bool {
        self.iter_mut().fold(false, |changed, part| part.settle() | changed)
    }
    #[inline(always)]
    fn tick(&mut self) -> bool {
        self.iter_mut().fold(false, |changed, part| part.tick() | changed)
    }
    #[inline(always)]
    fn lead(&mut self) {
        self.iter_mut().for_each(Part::lead);
    }
    #[inline(always)]
    fn publish(&mut self) -> bool {
        self.iter_mut().fold(false, |changed, part| part.publish() | changed)
    }
    fn connect_part(&mut self) {
        self.iter_mut().for_each(Part::connect_part);
    }
    fn visit(&self, name: &str, probe: &mut dyn Probe) {
        for (i, part) in self.iter().enumerate() {
            part.visit(&format!("{name}${i}"), probe);
        }
    }
}

/// The direction of a register's output: `Out` to its parent, but driven by the edge alone.
#[derive(Clone, Debug, Default)]
pub struct Held {}

impl Direction for Held {
    const KIND: AtomKind = AtomKind::OutputParameter;
}

/// A signal of direction `In`, `Out` or `Local`. `next` drives it, `val()` reads it.
#[derive(Clone, Debug)]
pub struct Wire<D: Direction, T: Value> {
    /// The value to drive the wire with.
    pub next: T,
    pub(crate) val: T,
    pub(crate) shape: T::Shape,
    fresh: bool,
    claimed: bool,
    id: usize,
    direction: PhantomData<D>,
}

impl<D: Direction, T: Value> Wire<D, T> {
    /// A wire that holds zero.
    pub fn new(shape: T::Shape) -> Self {
        let zero = T::zero(&shape);
        let direction = PhantomData;
        Self { next: zero, val: zero, shape, fresh: true, claimed: false, id: get_signal_id(), direction }
    }

    /// The widths of the wire.
    pub fn shape(&self) -> &T::Shape {
        &self.shape
    }

    /// Makes the block that owns this input evaluate when it settles next.
    pub fn refresh(&mut self) {
        self.fresh = true;
    }

    /// Whether the block that owns this input was told to evaluate.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    #[inline(always)]
    pub(crate) fn take(&mut self) -> bool {
        let new = self.next.fit(&self.shape);
        let changed = self.fresh | (self.val != new);
        self.val = new;
        self.fresh = false;
        changed
    }
}

impl<D: Direction, T: Value<Shape = ()>> Default for Wire<D, T> {
    fn default() -> Self {
        Self::new(())
    }
}

impl<T: Value> Wire<In, T> {
    /// The value that the parent drove when the block last evaluated.
    #[inline(always)]
    pub fn val(&self) -> T {
        self.val
    }
}
impl Wire<In, Clock> {
    /// Takes the level that the parent drives. True if that is a rising edge.
    #[inline(always)]
    pub(crate) fn rises(&mut self) -> bool {
        let before = self.val.clk;
        self.val = self.next;
        self.val.clk && !before
    }
}
impl<T: Value> Wire<Held, T> {
    /// The value held, which always fits.
    #[inline(always)]
    pub fn val(&self) -> T {
        self.val
    }
}
impl<T: Value> Wire<Out, T> {
    /// The value driven.
    #[inline(always)]
    pub fn val(&self) -> T {
        self.next.fit(&self.shape)
    }
}
impl<T: Value> Wire<Local, T> {
    /// The value driven; written before it is read, as in Verilog's `always @(*)`.
    #[inline(always)]
    pub fn val(&self) -> T {
        self.next.fit(&self.shape)
    }
}

impl<D: Direction, T: Value> Logic for Wire<D, T> {
    fn update(&mut self) {}
    fn connect(&mut self) {
        self.claimed = true;
    }
}

impl<D: Direction, T: Value> Atom for Wire<D, T> {
    fn bits(&self) -> usize {
        T::width(&self.shape)
    }
    fn connected(&self) -> bool {
        self.claimed
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        D::KIND
    }
    fn descriptor(&self) -> TypeDescriptor {
        T::descriptor(&self.shape)
    }
    fn vcd(&self) -> VCDValue {
        self.next.fit(&self.shape).vcd(&self.shape)
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        self.next.fit(&self.shape).verilog(&self.shape)
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        vec![]
    }
}

impl<D: Direction, T: Value> Block for Wire<D, T> {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {
        self.take();
    }
    fn has_changed(&self) -> bool {
        false
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}

impl<T: Value> Part for Wire<In, T> {
    #[inline(always)]
    fn latch(&mut self) -> bool {
        self.take()
    }
    fn visit(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}
impl<T: Value> Part for Wire<Out, T> {
    #[inline(always)]
    fn publish(&mut self) -> bool {
        self.take()
    }
    fn visit(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}
impl<T: Value> Part for Wire<Local, T> {
    fn visit(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}

/// A number fixed when the design is generated; a `localparam` in Verilog.
#[derive(Clone, Debug)]
pub struct Param {
    value: u64,
    shape: Width,
    id: usize,
}

impl Param {
    /// The number, as wide as it needs to be but at least `bits`.
    pub fn new(value: u64, bits: u32) -> Self {
        Self { value, shape: Width::unsigned(bits.max(64 - value.leading_zeros())), id: get_signal_id() }
    }

    /// The number.
    #[inline(always)]
    pub fn val(&self) -> Word {
        Word::of(self.value as i64)
    }
}

impl Atom for Param {
    fn bits(&self) -> usize {
        Word::width(&self.shape)
    }
    fn connected(&self) -> bool {
        true
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        AtomKind::Constant
    }
    fn descriptor(&self) -> TypeDescriptor {
        Word::descriptor(&self.shape)
    }
    fn vcd(&self) -> VCDValue {
        self.val().vcd(&self.shape)
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        self.value.into()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        vec![]
    }
}

impl Part for Param {
    fn visit(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}

/// A block with a clock input: every block of this design.
pub trait Clocked: Block + Part {
    /// The clock input, to drive.
    fn clock(&mut self) -> &mut Wire<In, Clock>;
}

/// Most evaluations that a block may need to settle; more means a combinational loop.
pub const SETTLE_LIMIT: usize = 64;

/// Declares a block: its struct, and how rust-hdl and the simulation walk through its fields.
///
/// Fields are [`Wire`]s, [`Reg`]s, memories, [`Param`]s, other blocks, vectors of these, and `usize` numbers for loop
/// bounds. One of them is `clock`.
#[macro_export]
macro_rules! block {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name { $($(#[$field_meta])* $field_vis $field: $type),* }

        impl $crate::signal::Part for $name {
            fn settle(&mut self) -> bool {
                let ticked = self.clock.is_fresh();
                let mut changed = false;
                $(changed |= $crate::signal::Part::latch(&mut self.$field);)*
                if !changed {
                    return false;
                }
                if ticked {
                    $($crate::signal::Part::lead(&mut self.$field);)*
                }
                let mut evaluations = 0;
                loop {
                    ::rust_hdl::prelude::Logic::update(self);
                    let mut again = false;
                    $(again |= $crate::signal::Part::settle(&mut self.$field);)*
                    if !again {
                        break;
                    }
                    evaluations += 1;
                    assert!(evaluations < $crate::signal::SETTLE_LIMIT, "combinational loop in {}", stringify!($name));
                }
                let mut shown = false;
                $(shown |= $crate::signal::Part::publish(&mut self.$field);)*
                shown
            }
            fn tick(&mut self) -> bool {
                let mut changed = false;
                $(changed |= $crate::signal::Part::tick(&mut self.$field);)*
                if changed {
                    self.clock.refresh();
                }
                changed
            }
            fn lead(&mut self) {
                $crate::signal::Part::settle(self);
            }
            $crate::walk!();
        }

        $crate::walk!($name { $($field),* });

        impl $crate::signal::Clocked for $name {
            fn clock(&mut self) -> &mut $crate::signal::Wire<::rust_hdl::prelude::In, ::rust_hdl::prelude::Clock> {
                &mut self.clock
            }
        }
    };
}

/// How rust-hdl and the simulation walk through a block: `walk!(Name { field, … })`, with `[T: Bound]` after the name of a
/// generic one, is its `Block`, and `walk!()` within its `Part` the two methods that lead there.
#[macro_export]
macro_rules! walk {
    () => {
        fn connect_part(&mut self) {
            ::rust_hdl::prelude::Block::connect_all(self);
        }
        fn visit(&self, name: &str, probe: &mut dyn ::rust_hdl::prelude::Probe) {
            ::rust_hdl::prelude::Block::accept(self, name, probe);
        }
    };
    ($name:ty $([$($generics:tt)*])? { $($field:ident),* $(,)? }) => {
        impl $(<$($generics)*>)? ::rust_hdl::prelude::Block for $name {
            fn connect_all(&mut self) {
                ::rust_hdl::prelude::Logic::connect(self);
                $($crate::signal::Part::connect_part(&mut self.$field);)*
            }
            fn update_all(&mut self) {
                $crate::signal::Part::settle(self);
            }
            fn has_changed(&self) -> bool {
                false
            }
            fn accept(&self, name: &str, probe: &mut dyn ::rust_hdl::prelude::Probe) {
                probe.visit_start_scope(name, self);
                $($crate::signal::Part::visit(&self.$field, stringify!($field), probe);)*
                probe.visit_end_scope(name, self);
            }
        }
    };
}
