//! Reads the results of a job out of the grid, one PE an edge, and finds the error to report (R24b).
//!
//! The grid shows one row, chosen by a one-hot select; the row is kept in a register and one of its columns is chosen
//! from there. The row select already points to the row that is needed after the next edge, so that the N² values come
//! without a gap.

use crate::block;
use crate::parameters::Parameters;
use crate::pe::KIND_BITS;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use crate::wire::ErrorKind;
use rust_hdl::prelude::*;

/// Where the collector is.
#[derive(LogicState, Clone, Copy, Debug, PartialEq)]
pub enum Collecting {
    /// Nothing to do.
    Idle,
    /// The first row is on its way into the register.
    Fetch,
    /// One value an edge.
    Copy,
    /// All values are copied; the error is known.
    Close,
}

block! {
    /// The collector. `go` starts it; it shows the N² values in row-major order on `write`, one an edge from the second
    /// edge on, then `close` for one edge with the error.
    pub struct Collector {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Stops collecting.
        pub reset: Wire<In, bool>,
        /// Collects, from the next edge on.
        pub go: Wire<In, bool>,
        /// Accumulators of the row read, one a column.
        pub acc: Vec<Wire<In, Word>>,
        /// First errors of the row read, one a column.
        pub kind: Vec<Wire<In, Word>>,
        /// Whether the PEs of the row read are done, one a column.
        pub done: Vec<Wire<In, bool>>,
        /// One bit a row: which row is read.
        pub row: Vec<Wire<Out, bool>>,
        /// Whether `value` is the next result.
        pub write: Wire<Out, bool>,
        /// The result.
        pub value: Wire<Out, Word>,
        /// All results are out, `error`, `error_row` and `error_column` are those of the job.
        pub close: Wire<Out, bool>,
        /// Kind of the erring PE that is lowest in row-major order, 0 if none; held until `go`.
        pub error: Wire<Out, Word>,
        /// Row of that PE.
        pub error_row: Wire<Out, Word>,
        /// Column of that PE.
        pub error_column: Wire<Out, Word>,
        state: Reg<Collecting>,
        row_at: Reg<Word>,
        column_at: Reg<Word>,
        first: Reg<Word>,
        first_row: Reg<Word>,
        first_column: Reg<Word>,
        acc_kept: Vec<Reg<Word>>,
        kind_kept: Vec<Reg<Word>>,
        done_kept: Vec<Reg<bool>>,
        reading: Wire<Local, bool>,
        row_next: Wire<Local, Word>,
        chosen: Wire<Local, Word>,
        fault: Wire<Local, Word>,
        complete: Wire<Local, bool>,
        final_lane: Param,
        missing_terms: Param,
        n: usize,
    }
}

impl Collector {
    /// The collector of a design.
    pub fn new(p: &Parameters) -> Self {
        let acc = Width::signed(p.aw);
        let kind = Width::unsigned(KIND_BITS);
        let lane = Width::unsigned(p.lane_bits());
        let columns = || 0..p.n;
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            go: Wire::default(),
            acc: columns().map(|_| Wire::new(acc)).collect(),
            kind: columns().map(|_| Wire::new(kind)).collect(),
            done: columns().map(|_| Wire::default()).collect(),
            row: columns().map(|_| Wire::default()).collect(),
            write: Wire::default(),
            value: Wire::new(acc),
            close: Wire::default(),
            error: Wire::new(kind),
            error_row: Wire::new(lane),
            error_column: Wire::new(lane),
            state: Reg::default(),
            row_at: Reg::new(lane),
            column_at: Reg::new(lane),
            first: Reg::new(kind),
            first_row: Reg::new(lane),
            first_column: Reg::new(lane),
            acc_kept: columns().map(|_| Reg::new(acc)).collect(),
            kind_kept: columns().map(|_| Reg::new(kind)).collect(),
            done_kept: columns().map(|_| Reg::default()).collect(),
            reading: Wire::default(),
            row_next: Wire::new(lane),
            chosen: Wire::new(acc),
            fault: Wire::new(kind),
            complete: Wire::default(),
            final_lane: Param::new(u64::from(p.n - 1), p.lane_bits()),
            missing_terms: Param::new(ErrorKind::MissingTerms.code().into(), KIND_BITS),
            n: p.n as usize,
        }
    }
}

impl Logic for Collector {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, row_at, column_at, first, first_row, first_column);
        // The PE that the registers stand at.
        self.chosen.next = 0.into();
        self.fault.next = 0.into();
        self.complete.next = false;
        for j in 0..self.n {
            self.acc_kept[j].clock.next = self.clock.val();
            self.kind_kept[j].clock.next = self.clock.val();
            self.done_kept[j].clock.next = self.clock.val();
            self.acc_kept[j].d.next = self.acc[j].val();
            self.kind_kept[j].d.next = self.kind[j].val();
            self.done_kept[j].d.next = self.done[j].val();
            if self.column_at.q.val() == j {
                self.chosen.next = self.chosen.val() | self.acc_kept[j].q.val();
                self.fault.next = self.fault.val() | self.kind_kept[j].q.val();
                self.complete.next = self.complete.val() | self.done_kept[j].q.val();
            }
        }
        if (self.fault.val() == 0) & !self.complete.val() {
            self.fault.next = self.missing_terms.val();
        }

        self.reading.next = false;
        self.write.next = false;
        self.close.next = false;
        self.row_next.next = self.row_at.q.val();
        match self.state.q.val() {
            Collecting::Idle => {
                self.row_next.next = 0.into();
                self.column_at.d.next = 0.into();
                if self.go.val() {
                    self.first.d.next = 0.into();
                    self.state.d.next = Collecting::Fetch;
                }
            }
            Collecting::Fetch => {
                self.reading.next = true;
                self.state.d.next = Collecting::Copy;
            }
            Collecting::Copy => {
                self.reading.next = true;
                self.write.next = true;
                if self.first.q.val() == 0 {
                    self.first.d.next = self.fault.val();
                    self.first_row.d.next = self.row_at.q.val();
                    self.first_column.d.next = self.column_at.q.val();
                }
                self.column_at.d.next = self.column_at.q.val() + 1;
                if self.column_at.q.val() == self.final_lane.val() {
                    self.column_at.d.next = 0.into();
                    self.row_next.next = self.row_at.q.val() + 1;
                    if self.row_at.q.val() == self.final_lane.val() {
                        self.state.d.next = Collecting::Close;
                    }
                }
            }
            Collecting::Close => {
                self.close.next = true;
                self.state.d.next = Collecting::Idle;
            }
        }
        self.row_at.d.next = self.row_next.val();
        for i in 0..self.n {
            self.row[i].next = self.reading.val() & (self.row_next.val() == i);
        }
        if self.reset.val() {
            self.state.d.next = Collecting::Idle;
        }
        self.value.next = self.chosen.val();
        self.error.next = self.first.q.val();
        self.error_row.next = self.first_row.q.val();
        self.error_column.next = self.first_column.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    /// Collects from a 2×2 grid that holds these accumulators, kinds and done bits: the values written, with the error.
    fn collect(acc: [i64; 4], kind: [usize; 4], done: [bool; 4]) -> (Vec<i64>, (i64, i64, i64), usize) {
        let p = Parameters { n: 2, ..Parameters::default() };
        let mut collector = sim::power_up(Collector::new(&p));
        collector.go.next = true;
        let mut values = Vec::new();
        for edges in 0..20 {
            sim::settle(&mut collector);
            for j in 0..2 {
                let of = |i: usize| 2 * i + j;
                let shown = (0..2).find(|&i| collector.row[i].val());
                collector.acc[j].next = Word::of(shown.map_or(0, |i| acc[of(i)]));
                collector.kind[j].next = shown.map_or(0, |i| kind[of(i)]).into();
                collector.done[j].next = shown.is_some_and(|i| done[of(i)]);
            }
            if collector.write.val() {
                values.push(collector.value.val().get());
            }
            if collector.close.val() {
                let at = [&collector.error, &collector.error_row, &collector.error_column];
                let [kind, row, column] = at.map(|wire| wire.val().get());
                return (values, (kind, row, column), edges);
            }
            sim::edge(&mut collector);
            collector.go.next = false;
        }
        panic!("the collector does not close within 20 edges");
    }

    #[test]
    fn values_come_row_major_one_an_edge() {
        let (values, error, edges) = collect([1, -2, 3, -4], [0; 4], [true; 4]);
        assert_eq!((values, error.0), (vec![1, -2, 3, -4], 0));
        // The edge that takes `go`, one to fetch the first row, four to copy.
        assert_eq!(edges, 6);
    }

    #[test]
    fn r24b_the_lowest_erring_pe_is_reported() {
        let all = [true; 4];
        assert_eq!(collect([0; 4], [0, 4, 1, 2], all).1, (4, 0, 1));
        assert_eq!(collect([0; 4], [0, 0, 3, 1], all).1, (3, 1, 0));
        assert_eq!(collect([0; 4], [0, 0, 0, 1], [true, true, true, false]).1, (1, 1, 1));
        assert_eq!(collect([0; 4], [0, 0, 1, 0], [true, false, true, true]).1, (5, 0, 1));
    }
}
