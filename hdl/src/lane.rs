//! One lane of the feeder: where its operands stand, which term they are, and the tokens they make.

use crate::block;
use crate::signal::{Reg, Wire};
use crate::types::{Token, TokenShape, Width, Word};
use rust_hdl::prelude::*;

/// Widths of a [`Lane`].
#[derive(Clone, Copy, Debug)]
pub struct LaneWidths {
    /// Of the tokens.
    pub token: TokenShape,
    /// Of an operand.
    pub operand: Width,
    /// Of the term index kept, at least that of a token's k.
    pub k: Width,
    /// Of the address kept in bank A.
    pub a: Width,
    /// Of the address kept in bank B.
    pub b: Width,
}

block! {
    /// A lane: row l of A and column l of B, which stand at the same term. It keeps the addresses that the banks are
    /// showing, and tells them the ones to show after the next edge.
    pub struct Lane {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Leaves the lane without a token, above all else.
        pub clear: Wire<In, bool>,
        /// Lets the edge take what stands at the `next` inputs; without it everything holds.
        pub take: Wire<In, bool>,
        /// Whether there is a token next.
        pub valid_next: Wire<In, bool>,
        /// Its term.
        pub k_next: Wire<In, Word>,
        /// Its operand's address in bank A.
        pub a_next: Wire<In, Word>,
        /// Its operand's address in bank B.
        pub b_next: Wire<In, Word>,
        /// Tag of the job.
        pub job: Wire<In, Word>,
        /// Operand that bank A shows.
        pub a_data: Wire<In, Word>,
        /// Operand that bank B shows.
        pub b_data: Wire<In, Word>,
        /// Whether there is a token.
        pub valid: Wire<Out, bool>,
        /// Its term.
        pub k: Wire<Out, Word>,
        /// Its operand's address in bank A.
        pub a: Wire<Out, Word>,
        /// Its operand's address in bank B.
        pub b: Wire<Out, Word>,
        /// Address that bank A has to show after the next edge.
        pub a_read: Wire<Out, Word>,
        /// Address that bank B has to show after the next edge.
        pub b_read: Wire<Out, Word>,
        /// The token for row l.
        pub a_token: Wire<Out, Token>,
        /// The token for column l.
        pub b_token: Wire<Out, Token>,
        occupied: Reg<bool>,
        term: Reg<Word>,
        a_at: Reg<Word>,
        b_at: Reg<Word>,
    }
}

impl Lane {
    /// A lane of these widths.
    pub fn new(widths: LaneWidths) -> Self {
        let LaneWidths { token, operand, k, a, b } = widths;
        Self {
            clock: Wire::default(),
            clear: Wire::default(),
            take: Wire::default(),
            valid_next: Wire::default(),
            k_next: Wire::new(k),
            a_next: Wire::new(a),
            b_next: Wire::new(b),
            job: Wire::new(token.job()),
            a_data: Wire::new(operand),
            b_data: Wire::new(operand),
            valid: Wire::default(),
            k: Wire::new(k),
            a: Wire::new(a),
            b: Wire::new(b),
            a_read: Wire::new(a),
            b_read: Wire::new(b),
            a_token: Wire::new(token),
            b_token: Wire::new(token),
            occupied: Reg::default(),
            term: Reg::new(k),
            a_at: Reg::new(a),
            b_at: Reg::new(b),
        }
    }
}

impl Logic for Lane {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, occupied, term, a_at, b_at);
        self.a_read.next = self.a_at.q.val();
        self.b_read.next = self.b_at.q.val();
        if self.take.val() {
            self.occupied.d.next = self.valid_next.val();
            self.term.d.next = self.k_next.val();
            self.a_read.next = self.a_next.val();
            self.b_read.next = self.b_next.val();
        }
        if self.clear.val() {
            self.occupied.d.next = false;
        }
        self.a_at.d.next = self.a_read.val();
        self.b_at.d.next = self.b_read.val();

        self.valid.next = self.occupied.q.val();
        self.k.next = self.term.q.val();
        self.a.next = self.a_at.q.val();
        self.b.next = self.b_at.q.val();
        self.a_token.next.value = self.a_data.val();
        self.a_token.next.k = self.term.q.val();
        self.a_token.next.job = self.job.val();
        self.a_token.next.valid = self.occupied.q.val();
        self.b_token.next.value = self.b_data.val();
        self.b_token.next.k = self.term.q.val();
        self.b_token.next.job = self.job.val();
        self.b_token.next.valid = self.occupied.q.val();
    }
}
