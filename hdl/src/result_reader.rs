//! From the result buffer to the bytes of a RESULT.

use crate::block;
use crate::parameters::{Parameters, bits_for};
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use crate::wire::STATUS_POISON;
use rust_hdl::prelude::*;

block! {
    /// For each job its status byte, then its values cut to `result_bytes` bytes each, lowest first.
    pub struct ResultReader {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Begins a RESULT and takes note of `result_bytes`.
        pub clear: Wire<In, bool>,
        /// Bytes of a value.
        pub result_bytes: Wire<In, Word>,
        /// Results cannot be trusted.
        pub poison: Wire<In, bool>,
        /// A job is in the result buffer: status and value hold.
        pub result_ready: Wire<In, bool>,
        /// Its status byte without poison.
        pub job_status: Wire<In, Word>,
        /// Its value.
        pub value: Wire<In, Word>,
        /// Goes on to the next value, behind the last one to the next job.
        pub result_next: Wire<Out, bool>,
        /// Whether `data` is the next byte.
        pub valid: Wire<Out, bool>,
        /// The byte.
        pub data: Wire<Out, Word>,
        /// It is taken at the next edge.
        pub take: Wire<In, bool>,
        /// The value whose last byte is taken did not fit its bytes (one edge).
        pub misfit: Wire<Out, bool>,
        width: Reg<Word>,
        in_values: Reg<bool>,
        place: Reg<Word>,
        position: Reg<Word>,
        bits: Wire<Local, Word>,
        cut: Vec<Wire<Local, Word>>,
        fits: Wire<Local, bool>,
        final_byte: Wire<Local, bool>,
        poison_bit: Param,
        last_cell: Param,
        widths: usize,
    }
}

impl ResultReader {
    /// The reader of a design.
    pub fn new(p: &Parameters) -> Self {
        let bits = Width::unsigned;
        let widths = p.accumulator_bytes() as usize;
        let cells = u64::from(p.n * p.n);
        Self {
            clock: Wire::default(),
            clear: Wire::default(),
            result_bytes: Wire::new(bits(3)),
            poison: Wire::default(),
            result_ready: Wire::default(),
            job_status: Wire::new(bits(8)),
            value: Wire::new(Width::signed(p.aw)),
            result_next: Wire::default(),
            valid: Wire::default(),
            data: Wire::new(bits(8)),
            take: Wire::default(),
            misfit: Wire::default(),
            width: Reg::new(bits(3)),
            in_values: Reg::default(),
            place: Reg::new(bits(3)),
            position: Reg::new(bits(bits_for(cells))),
            bits: Wire::new(bits(8 * p.accumulator_bytes())),
            cut: (1..widths).map(|b| Wire::new(Width::signed(8 * b as u32))).collect(),
            fits: Wire::default(),
            final_byte: Wire::default(),
            poison_bit: Param::new(STATUS_POISON.into(), 8),
            last_cell: Param::new(cells - 1, 1),
            widths,
        }
    }
}

impl Logic for ResultReader {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, width, in_values, place, position);
        // Sign-extended to whole bytes. In all of its bytes a value always fits.
        self.bits.next = self.value.val();
        self.fits.next = true;
        for b in 1..self.widths {
            self.cut[b - 1].next = self.value.val();
            if self.width.q.val() == b {
                self.fits.next = self.cut[b - 1].val() == self.value.val();
            }
        }
        self.final_byte.next = (self.place.q.val() + 1) == self.width.q.val();
        self.data.next = self.bits.val();
        for b in 1..self.widths {
            if self.place.q.val() == b {
                self.data.next = self.bits.val() >> (8 * b);
            }
        }
        if !self.in_values.q.val() {
            self.data.next = self.job_status.val();
            if self.poison.val() {
                self.data.next = self.job_status.val() | self.poison_bit.val();
            }
        }
        self.result_next.next = false;
        self.misfit.next = false;
        if self.clear.val() {
            self.width.d.next = self.result_bytes.val();
            self.in_values.d.next = false;
            self.place.d.next = 0.into();
            self.position.d.next = 0.into();
        } else if self.take.val() {
            if !self.in_values.q.val() {
                self.in_values.d.next = true;
            } else if self.final_byte.val() {
                self.place.d.next = 0.into();
                self.position.d.next = self.position.q.val() + 1;
                self.result_next.next = true;
                self.misfit.next = !self.fits.val();
                if self.position.q.val() == self.last_cell.val() {
                    self.position.d.next = 0.into();
                    self.in_values.d.next = false;
                }
            } else {
                self.place.d.next = self.place.q.val() + 1;
            }
        }
        self.valid.next = self.result_ready.val();
    }
}
