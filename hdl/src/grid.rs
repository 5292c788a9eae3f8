//! The N×N grid of processing elements and the links between them (R12).

use crate::block;
use crate::parameters::Parameters;
use crate::pe::{KIND_BITS, Pe};
use crate::signal::Wire;
use crate::types::{Token, TokenShape, Width, Word};
use rust_hdl::prelude::*;

block! {
    /// The grid. Tokens enter column 0 from `a_in` and row 0 from `b_in`, move one PE an advancing edge, and leave
    /// unread at the far side. Results are read a column at a time by a one-hot row, so that no port or path grows with
    /// the square of N.
    pub struct Grid {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Empties every PE, above all else.
        pub reset: Wire<In, bool>,
        /// Empties every PE before a job.
        pub clear: Wire<In, bool>,
        /// Lets the edge count.
        pub advance: Wire<In, bool>,
        /// Terms of the job.
        pub k_len: Wire<In, Word>,
        /// Tokens for column 0, one a row.
        pub a_in: Vec<Wire<In, Token>>,
        /// Tokens for row 0, one a column.
        pub b_in: Vec<Wire<In, Token>>,
        /// One bit a row: which row is read. At most one is set.
        pub row: Vec<Wire<In, bool>>,
        /// Accumulators of the row read, one a column.
        pub acc: Vec<Wire<Out, Word>>,
        /// First errors of the row read, one a column.
        pub kind: Vec<Wire<Out, Word>>,
        /// Whether the PEs of the row read are done, one a column.
        pub done: Vec<Wire<Out, bool>>,
        /// The processing elements, row-major.
        pub pe: Vec<Pe>,
        acc_gate: Vec<Wire<Local, Word>>,
        n: usize,
    }
}

impl Grid {
    /// The grid of a design.
    pub fn new(p: &Parameters) -> Self {
        let n = p.n as usize;
        let token = TokenShape::new(p);
        let acc = Width::signed(p.aw);
        let lanes = || 0..n;
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            clear: Wire::default(),
            advance: Wire::default(),
            k_len: Wire::new(Width::unsigned(p.count_bits())),
            a_in: lanes().map(|_| Wire::new(token)).collect(),
            b_in: lanes().map(|_| Wire::new(token)).collect(),
            row: lanes().map(|_| Wire::default()).collect(),
            acc: lanes().map(|_| Wire::new(acc)).collect(),
            kind: lanes().map(|_| Wire::new(Width::unsigned(KIND_BITS))).collect(),
            done: lanes().map(|_| Wire::default()).collect(),
            pe: (0..n * n).map(|_| Pe::new(p)).collect(),
            acc_gate: lanes().map(|_| Wire::new(acc)).collect(),
            n,
        }
    }
}

impl Logic for Grid {
    #[hdl_gen]
    fn update(&mut self) {
        for p in 0..(self.n * self.n) {
            self.pe[p].clock.next = self.clock.val();
            self.pe[p].reset.next = self.reset.val();
            self.pe[p].clear.next = self.clear.val();
            self.pe[p].advance.next = self.advance.val();
            self.pe[p].k_len.next = self.k_len.val();
        }
        // An index expression may hold loop variables only, so n is bound by a loop of one trip.
        for n in self.n..(self.n + 1) {
            for i in 0..self.n {
                self.pe[i * n].a_in.next = self.a_in[i].val();
                self.pe[i].b_in.next = self.b_in[i].val();
                for j in 1..self.n {
                    self.pe[i * n + j].a_in.next = self.pe[i * n + j - 1].a_out.val();
                    self.pe[j * n + i].b_in.next = self.pe[j * n + i - n].b_out.val();
                }
            }
            for j in 0..self.n {
                self.acc_gate[j].next = 0.into();
                self.kind[j].next = 0.into();
                self.done[j].next = false;
                for i in 0..self.n {
                    if self.row[i].val() {
                        self.acc_gate[j].next = self.acc_gate[j].val() | self.pe[i * n + j].acc.val();
                        self.kind[j].next = self.kind[j].val() | self.pe[i * n + j].kind.val();
                        self.done[j].next = self.done[j].val() | self.pe[i * n + j].done.val();
                    }
                }
                self.acc[j].next = self.acc_gate[j].val();
            }
        }
    }
}
