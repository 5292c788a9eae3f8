//! One processing element: multiplies the tokens that meet in it, checks them, and passes them on.

use crate::block;
use crate::parameters::Parameters;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Token, TokenShape, Width, Word};
use crate::wire::ErrorKind;
use rust_hdl::prelude::*;

/// Bits of an [`ErrorKind`] code, 0 for none.
pub const KIND_BITS: u32 = 3;

block! {
    /// A processing element (R9–R24b): `acc` and `count` take matched pairs in order, anything else becomes its first
    /// error. Priority: reset, clear, advance.
    pub struct Pe {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Empties the PE, above all else.
        pub reset: Wire<In, bool>,
        /// Empties the PE before a job; beats `advance`.
        pub clear: Wire<In, bool>,
        /// Lets the edge count; without it everything holds.
        pub advance: Wire<In, bool>,
        /// Terms of the job.
        pub k_len: Wire<In, Word>,
        /// Token from the left.
        pub a_in: Wire<In, Token>,
        /// Token from above.
        pub b_in: Wire<In, Token>,
        /// The token taken from the left at the last advancing edge.
        pub a_out: Wire<Out, Token>,
        /// The token taken from above at the last advancing edge.
        pub b_out: Wire<Out, Token>,
        /// Sum of the products taken.
        pub acc: Wire<Out, Word>,
        /// Terms taken.
        pub count: Wire<Out, Word>,
        /// All `k_len` terms are taken.
        pub done: Wire<Out, bool>,
        /// First error since clear, as an [`ErrorKind`] code; 0 for none.
        pub kind: Wire<Out, Word>,
        a: Reg<Token>,
        b: Reg<Token>,
        sum: Reg<Word>,
        taken: Reg<Word>,
        first: Reg<Word>,
        product: Wire<Local, Word>,
        both: Wire<Local, bool>,
        fault: Wire<Local, Word>,
        unpaired: Param,
        job_mismatch: Param,
        k_mismatch: Param,
        out_of_order: Param,
    }
}

impl Pe {
    /// The PE of a design.
    pub fn new(p: &Parameters) -> Self {
        let token = TokenShape::new(p);
        let acc = Width::signed(p.aw);
        let count = Width::unsigned(p.count_bits());
        let kind = Width::unsigned(KIND_BITS);
        let code = |kind: ErrorKind| Param::new(kind.code().into(), KIND_BITS);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            clear: Wire::default(),
            advance: Wire::default(),
            k_len: Wire::new(count),
            a_in: Wire::new(token),
            b_in: Wire::new(token),
            a_out: Wire::new(token),
            b_out: Wire::new(token),
            acc: Wire::new(acc),
            count: Wire::new(count),
            done: Wire::default(),
            kind: Wire::new(kind),
            a: Reg::new(token),
            b: Reg::new(token),
            sum: Reg::new(acc),
            taken: Reg::new(count),
            first: Reg::new(kind),
            product: Wire::new(Width::signed(2 * p.w)),
            both: Wire::default(),
            fault: Wire::new(kind),
            unpaired: code(ErrorKind::Unpaired),
            job_mismatch: code(ErrorKind::JobMismatch),
            k_mismatch: code(ErrorKind::KMismatch),
            out_of_order: code(ErrorKind::OutOfOrder),
        }
    }
}

impl Logic for Pe {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, a, b, sum, taken, first);
        self.done.next = self.taken.q.val() == self.k_len.val();
        self.both.next = self.a_in.val().valid & self.b_in.val().valid;
        self.product.next = self.a_in.val().value.to_signed_bits() * self.b_in.val().value.to_signed_bits();
        self.fault.next = 0.into();
        if self.both.val() {
            if self.a_in.val().job != self.b_in.val().job {
                self.fault.next = self.job_mismatch.val();
            } else if self.a_in.val().k != self.b_in.val().k {
                self.fault.next = self.k_mismatch.val();
            } else if (self.a_in.val().k != self.taken.q.val()) | self.done.val() {
                self.fault.next = self.out_of_order.val();
            }
        } else if self.a_in.val().valid | self.b_in.val().valid {
            self.fault.next = self.unpaired.val();
        }
        if self.reset.val() | self.clear.val() {
            self.a.d.next.valid = false;
            self.b.d.next.valid = false;
            self.sum.d.next = 0.into();
            self.taken.d.next = 0.into();
            self.first.d.next = 0.into();
        } else if self.advance.val() {
            self.a.d.next = self.a_in.val();
            self.b.d.next = self.b_in.val();
            if self.first.q.val() == 0 {
                self.first.d.next = self.fault.val();
            }
            if self.both.val() & (self.fault.val() == 0) {
                self.sum.d.next = self.sum.q.val() + self.product.val();
                self.taken.d.next = self.taken.q.val() + 1;
            }
        }
        self.a_out.next = self.a.q.val();
        self.b_out.next = self.b.q.val();
        self.acc.next = self.sum.q.val();
        self.count.next = self.taken.q.val();
        self.kind.next = self.first.q.val();
    }
}
