//! The skewed boundary scheduler: takes operands from both banks and presents tokens to the grid (R4, R6, R15).
//!
//! The token of term k stands at lane l before the edge of step `k + l`. The skew is made by delaying the address and
//! the term index from lane to lane, so that a lane's operand comes straight out of its block RAM. A block RAM shows a
//! cell one edge after it was asked for: the read address is therefore the address that the lane has *after* the edge,
//! which is the present one as long as the array does not advance.

use crate::block;
use crate::lane::{Lane, LaneWidths};
use crate::parameters::Parameters;
use crate::signal::{Param, Wire};
use crate::types::{Token, TokenShape, Width, Word};
use rust_hdl::prelude::*;

block! {
    /// The feeder. `load` takes the addresses of a job; its first operands are at the banks' outputs one edge later, and
    /// from then on every advancing edge moves all lanes by one term. Faults strike what lane 0 presents.
    pub struct Feeder {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Leaves no lane with a token.
        pub reset: Wire<In, bool>,
        /// Starts over at the first term.
        pub load: Wire<In, bool>,
        /// Lets the edge count; without it everything holds.
        pub advance: Wire<In, bool>,
        /// Where the job's panel begins in bank A, taken by `load`.
        pub a_address: Wire<In, Word>,
        /// Where the job's panel begins in bank B, taken by `load`.
        pub b_address: Wire<In, Word>,
        /// Terms of the job, from the edge after `load` on.
        pub k_len: Wire<In, Word>,
        /// Tag of the job, from the edge after `load` on.
        pub job: Wire<In, Word>,
        /// Fault: inverts the lowest k bit on A lane 0.
        pub flip_k: Wire<In, bool>,
        /// Fault: inverts the lowest job bit on A lane 0.
        pub flip_job: Wire<In, bool>,
        /// Fault: makes the token on A lane 0 a bubble.
        pub drop_valid: Wire<In, bool>,
        /// Fault: presents the k of the step before on A lane 0 and B lane 0.
        pub repeat_k: Wire<In, bool>,
        /// Fault: makes the last token of every lane a bubble; held for the whole job.
        pub truncate: Wire<In, bool>,
        /// Operands that bank A shows, one a row.
        pub a_data: Vec<Wire<In, Word>>,
        /// Operands that bank B shows, one a column.
        pub b_data: Vec<Wire<In, Word>>,
        /// Cells of bank A to show after the next edge, one a row.
        pub a_read: Vec<Wire<Out, Word>>,
        /// Cells of bank B to show after the next edge, one a column.
        pub b_read: Vec<Wire<Out, Word>>,
        /// Tokens for column 0 of the grid, one a row.
        pub a_out: Vec<Wire<Out, Token>>,
        /// Tokens for row 0 of the grid, one a column.
        pub b_out: Vec<Wire<Out, Token>>,
        /// Advancing edges since `load`: the step that comes next.
        pub step: Wire<Out, Word>,
        /// Whether lane 0 has a term at this step.
        pub feeding: Wire<Out, bool>,
        /// Whether that term is the job's last.
        pub last: Wire<Out, bool>,
        /// Whether that term lies beyond the end of its bank.
        pub overrun: Wire<Out, bool>,
        lane: Vec<Lane>,
        next_step: Wire<Local, Word>,
        previous_k: Wire<Local, Word>,
        present: Vec<Wire<Local, bool>>,
        a_end: Param,
        b_end: Param,
        n: usize,
    }
}

impl Feeder {
    /// The feeder of a design.
    pub fn new(p: &Parameters) -> Self {
        let n = p.n as usize;
        let operand = Width::signed(p.w);
        let token = TokenShape::new(p);
        let (a_bits, b_bits) = (p.a_address_bits(), p.b_address_bits());
        let (a_address, b_address) = (Width::unsigned(a_bits), Width::unsigned(b_bits));
        let step = Width::unsigned(p.step_bits());
        let tag = Width::unsigned(p.tag_bits());
        // Lane 0 keeps the counters that the other lanes repeat. Its k goes on counting steps when the terms are at an
        // end, and its addresses have one bit more than the bank: the carry.
        let first = LaneWidths {
            token,
            operand,
            k: step,
            a: Width::unsigned(a_bits + 1),
            b: Width::unsigned(b_bits + 1),
        };
        let other = LaneWidths { token, operand, k: tag, a: a_address, b: b_address };
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            load: Wire::default(),
            advance: Wire::default(),
            a_address: Wire::new(a_address),
            b_address: Wire::new(b_address),
            k_len: Wire::new(Width::unsigned(p.count_bits())),
            job: Wire::new(Width::unsigned(p.job_bits)),
            flip_k: Wire::default(),
            flip_job: Wire::default(),
            drop_valid: Wire::default(),
            repeat_k: Wire::default(),
            truncate: Wire::default(),
            a_data: (0..n).map(|_| Wire::new(operand)).collect(),
            b_data: (0..n).map(|_| Wire::new(operand)).collect(),
            a_read: (0..n).map(|_| Wire::new(a_address)).collect(),
            b_read: (0..n).map(|_| Wire::new(b_address)).collect(),
            a_out: (0..n).map(|_| Wire::new(token)).collect(),
            b_out: (0..n).map(|_| Wire::new(token)).collect(),
            step: Wire::new(step),
            feeding: Wire::default(),
            last: Wire::default(),
            overrun: Wire::default(),
            lane: (0..n).map(|l| Lane::new(if l == 0 { first } else { other })).collect(),
            next_step: Wire::new(step),
            previous_k: Wire::new(tag),
            present: (0..n).map(|_| Wire::default()).collect(),
            a_end: Param::new(1 << a_bits, a_bits + 1),
            b_end: Param::new(1 << b_bits, b_bits + 1),
            n,
        }
    }
}

impl Logic for Feeder {
    #[hdl_gen]
    fn update(&mut self) {
        for l in 0..self.n {
            self.lane[l].clock.next = self.clock.val();
            self.lane[l].job.next = self.job.val();
            self.lane[l].a_data.next = self.a_data[l].val();
            self.lane[l].b_data.next = self.b_data[l].val();
            self.a_read[l].next = self.lane[l].a_read.val();
            self.b_read[l].next = self.lane[l].b_read.val();
            self.a_out[l].next = self.lane[l].a_token.val();
            self.b_out[l].next = self.lane[l].b_token.val();
            self.present[l].next = self.lane[l].valid.val();
        }
        self.next_step.next = self.lane[0].k.val() + 1;
        self.previous_k.next = self.lane[0].k.val() - 1;
        self.last.next = self.lane[0].valid.val() & (self.next_step.val() == self.k_len.val());
        if self.truncate.val() & self.last.val() {
            self.present[0].next = false;
            self.a_out[0].next.valid = false;
            self.b_out[0].next.valid = false;
        }

        self.lane[0].clear.next = self.reset.val();
        self.lane[0].take.next = self.load.val() | self.advance.val();
        if self.load.val() {
            self.lane[0].valid_next.next = true;
            self.lane[0].k_next.next = 0.into();
            self.lane[0].a_next.next = self.a_address.val();
            self.lane[0].b_next.next = self.b_address.val();
        } else {
            self.lane[0].valid_next.next = self.lane[0].valid.val() & !self.last.val();
            self.lane[0].k_next.next = self.next_step.val();
            self.lane[0].a_next.next = self.lane[0].a.val() + 1;
            self.lane[0].b_next.next = self.lane[0].b.val() + 1;
        }
        for l in 1..self.n {
            self.lane[l].clear.next = self.reset.val() | self.load.val();
            self.lane[l].take.next = self.advance.val();
            self.lane[l].valid_next.next = self.present[l - 1].val();
            self.lane[l].k_next.next = self.lane[l - 1].k.val();
            self.lane[l].a_next.next = self.lane[l - 1].a.val();
            self.lane[l].b_next.next = self.lane[l - 1].b.val();
        }

        if self.flip_k.val() {
            self.a_out[0].next.k = self.lane[0].k.val() ^ 1;
        }
        if self.flip_job.val() {
            self.a_out[0].next.job = self.job.val() ^ 1;
        }
        if self.drop_valid.val() {
            self.a_out[0].next.valid = false;
        }
        if self.repeat_k.val() {
            self.a_out[0].next.k = self.previous_k.val();
            self.b_out[0].next.k = self.previous_k.val();
        }

        self.step.next = self.lane[0].k.val();
        self.feeding.next = self.lane[0].valid.val();
        self.overrun.next = self.lane[0].valid.val()
            & ((self.lane[0].a.val() >= self.a_end.val()) | (self.lane[0].b.val() >= self.b_end.val()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    /// What a lane presents: (value, k) of its token, if there is one.
    type Lane = Option<(i64, i64)>;

    /// A feeder with both banks behind it: bank A holds 10·lane + address, bank B its negative.
    struct Fed {
        feeder: Feeder,
        longest: usize,
    }

    impl Fed {
        fn load(p: &Parameters, a_address: usize, b_address: usize, k_len: usize) -> Self {
            let mut fed = Self { feeder: sim::power_up(Feeder::new(p)), longest: 100 };
            fed.feeder.a_address.next = a_address.into();
            fed.feeder.b_address.next = b_address.into();
            fed.feeder.load.next = true;
            fed.edge();
            fed.feeder.load.next = false;
            fed.feeder.k_len.next = k_len.into();
            fed.feeder.job.next = 1.into();
            fed.edge();
            fed
        }

        fn edge(&mut self) {
            self.longest = self.longest.checked_sub(1).expect("the feeder takes too many edges");
            sim::settle(&mut self.feeder);
            let read =
                |wires: &[Wire<Out, Word>]| wires.iter().map(|wire| wire.val().get()).collect::<Vec<_>>();
            let (a, b) = (read(&self.feeder.a_read), read(&self.feeder.b_read));
            sim::edge(&mut self.feeder);
            for (l, (a, b)) in a.into_iter().zip(b).enumerate() {
                self.feeder.a_data[l].next = Word::of(10 * l as i64 + a);
                self.feeder.b_data[l].next = Word::of(-10 * l as i64 - b);
            }
            sim::settle(&mut self.feeder);
        }

        fn step(&mut self) {
            self.feeder.advance.next = true;
            self.edge();
            self.feeder.advance.next = false;
        }

        fn lanes(&mut self) -> (Vec<Lane>, Vec<Lane>) {
            sim::settle(&mut self.feeder);
            let lanes = |wires: &[Wire<Out, Token>]| {
                let lane = |wire: &Wire<Out, Token>| {
                    let token = wire.val();
                    token.valid.then(|| (token.value.get(), token.k.get()))
                };
                wires.iter().map(lane).collect()
            };
            (lanes(&self.feeder.a_out), lanes(&self.feeder.b_out))
        }
    }

    fn three() -> Parameters {
        Parameters { n: 3, k_max: 4, a_depth: 8, b_depth: 16, ..Parameters::default() }
    }

    #[test]
    fn r04_tokens_enter_skewed() {
        let mut fed = Fed::load(&three(), 3, 0, 2);
        let table = [
            ([Some((3, 0)), None, None], [Some((0, 0)), None, None]),
            ([Some((4, 1)), Some((13, 0)), None], [Some((-1, 1)), Some((-10, 0)), None]),
            ([None, Some((14, 1)), Some((23, 0))], [None, Some((-11, 1)), Some((-20, 0))]),
            ([None, None, Some((24, 1))], [None, None, Some((-21, 1))]),
            ([None; 3], [None; 3]),
        ];
        for (step, (a, b)) in table.into_iter().enumerate() {
            assert_eq!(fed.lanes(), (a.to_vec(), b.to_vec()), "before E{step}");
            assert_eq!(fed.feeder.step.val().get(), step as i64);
            assert_eq!((fed.feeder.feeding.val(), fed.feeder.last.val()), (step < 2, step == 1));
            fed.step();
        }
    }

    #[test]
    fn r15_a_pause_holds_every_lane() {
        let mut fed = Fed::load(&three(), 0, 0, 4);
        fed.step();
        let before = fed.lanes();
        assert_eq!(before.0, [Some((1, 1)), Some((10, 0)), None]);
        fed.edge();
        fed.edge();
        assert_eq!(fed.lanes(), before);
        fed.step();
        assert_eq!(fed.lanes().0, [Some((2, 2)), Some((11, 1)), Some((20, 0))]);
    }

    #[test]
    fn load_and_reset_leave_no_old_token() {
        let mut fed = Fed::load(&three(), 0, 0, 4);
        fed.step();
        fed.step();
        fed.feeder.load.next = true;
        fed.edge();
        fed.feeder.load.next = false;
        assert_eq!(fed.lanes().0, [Some((0, 0)), None, None]);
        fed.step();
        fed.feeder.reset.next = true;
        fed.edge();
        assert_eq!(fed.lanes(), (vec![None; 3], vec![None; 3]));
    }

    #[test]
    fn faults_strike_what_lane_0_presents() {
        let mut fed = Fed::load(&three(), 0, 0, 3);
        fed.step();
        fed.feeder.flip_k.next = true;
        assert_eq!(
            fed.lanes(),
            (vec![Some((1, 0)), Some((10, 0)), None], vec![Some((-1, 1)), Some((-10, 0)), None])
        );
        fed.feeder.flip_k.next = false;
        fed.feeder.repeat_k.next = true;
        assert_eq!(
            fed.lanes(),
            (vec![Some((1, 0)), Some((10, 0)), None], vec![Some((-1, 0)), Some((-10, 0)), None])
        );
        fed.feeder.repeat_k.next = false;
        fed.feeder.flip_job.next = true;
        sim::settle(&mut fed.feeder);
        let job = |wire: &Wire<Out, Token>| wire.val().job.get();
        assert_eq!(
            (job(&fed.feeder.a_out[0]), job(&fed.feeder.a_out[1]), job(&fed.feeder.b_out[0])),
            (0, 1, 1)
        );
        fed.feeder.flip_job.next = false;
        fed.feeder.drop_valid.next = true;
        assert_eq!(fed.lanes().0, [None, Some((10, 0)), None]);
        fed.step();
        fed.feeder.drop_valid.next = false;
        assert_eq!(
            fed.lanes().0,
            [Some((2, 2)), Some((11, 1)), Some((20, 0))],
            "lane 1 does not repeat the fault"
        );
    }

    #[test]
    fn truncate_takes_the_last_term_of_every_lane() {
        let mut fed = Fed::load(&three(), 0, 0, 2);
        fed.feeder.truncate.next = true;
        assert_eq!(fed.lanes().0, [Some((0, 0)), None, None]);
        fed.step();
        assert_eq!(fed.lanes().0, [None, Some((10, 0)), None]);
        fed.step();
        assert_eq!(fed.lanes().1, [None, None, Some((-20, 0))]);
        fed.step();
        assert_eq!(fed.lanes().0, [None; 3]);
    }

    #[test]
    fn a_term_beyond_its_bank_is_an_overrun() {
        let overruns = |a_address, b_address, k_len| {
            let mut fed = Fed::load(&three(), a_address, b_address, k_len);
            let mut seen = Vec::new();
            for _ in 0..6 {
                seen.push(fed.feeder.overrun.val());
                fed.step();
            }
            seen
        };
        assert_eq!(overruns(6, 14, 2), [false; 6]);
        assert_eq!(overruns(6, 0, 4), [false, false, true, true, false, false]);
        assert_eq!(overruns(0, 13, 4), [false, false, false, true, false, false]);
    }
}
