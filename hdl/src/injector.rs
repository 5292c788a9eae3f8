//! Faults on demand: strikes the next job once, to prove the array's checks on real silicon.

use crate::block;
use crate::parameters::Parameters;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use crate::wire::Injection;
use rust_hdl::prelude::*;

/// Bits of an [`Injection`] code.
pub const INJECTION_BITS: u32 = 3;

block! {
    /// The injector. `arm` keeps a fault; `job_begins` moves it into the job that begins, `job_ends` drops it with that job.
    pub struct Injector {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Forgets everything.
        pub reset: Wire<In, bool>,
        /// Keeps `kind`, `at`, `length` and `never` for the next job. Not while a job runs.
        pub arm: Wire<In, bool>,
        /// An [`Injection`] code.
        pub kind: Wire<In, Word>,
        /// Step to strike at.
        pub at: Wire<In, Word>,
        /// Edges of a pause.
        pub length: Wire<In, Word>,
        /// The step is too large for `at`: it never comes.
        pub never: Wire<In, bool>,
        /// A job begins.
        pub job_begins: Wire<In, bool>,
        /// The job's steps are being taken.
        pub running: Wire<In, bool>,
        /// The step that comes next.
        pub step: Wire<In, Word>,
        /// Whether lane 0 has a term at this step.
        pub feeding: Wire<In, bool>,
        /// Whether that term is the job's last.
        pub last: Wire<In, bool>,
        /// The job ends.
        pub job_ends: Wire<In, bool>,
        /// Inverts the lowest k bit on A lane 0.
        pub flip_k: Wire<Out, bool>,
        /// Inverts the lowest job bit on A lane 0.
        pub flip_job: Wire<Out, bool>,
        /// Makes the token on A lane 0 a bubble.
        pub drop_valid: Wire<Out, bool>,
        /// Presents the k of the step before on A lane 0 and B lane 0.
        pub repeat_k: Wire<Out, bool>,
        /// Makes the last token of every lane a bubble.
        pub truncate: Wire<Out, bool>,
        /// Keeps the array from advancing.
        pub hold: Wire<Out, bool>,
        /// Asks for a start that must be refused.
        pub start: Wire<Out, bool>,
        /// The fault took effect in this job.
        pub fired: Wire<Out, bool>,
        /// A fault is in this job and has not taken effect.
        pub pending: Wire<Out, bool>,
        armed: Reg<bool>,
        live: Reg<bool>,
        struck: Reg<bool>,
        fault: Reg<Word>,
        target: Reg<Word>,
        left: Reg<Word>,
        out_of_reach: Reg<bool>,
        here: Wire<Local, bool>,
        strike: Wire<Local, bool>,
        is_flip_k: Param,
        is_flip_job: Param,
        is_drop_valid: Param,
        is_repeat_k: Param,
        is_truncate: Param,
        is_pause: Param,
        is_start: Param,
    }
}

impl Injector {
    /// The injector of a design.
    pub fn new(p: &Parameters) -> Self {
        let step = Width::unsigned(p.step_bits());
        let kind = Width::unsigned(INJECTION_BITS);
        let code = |injection: Injection| Param::new(injection.code().into(), INJECTION_BITS);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            arm: Wire::default(),
            kind: Wire::new(kind),
            at: Wire::new(step),
            length: Wire::new(step),
            never: Wire::default(),
            job_begins: Wire::default(),
            running: Wire::default(),
            step: Wire::new(step),
            feeding: Wire::default(),
            last: Wire::default(),
            job_ends: Wire::default(),
            flip_k: Wire::default(),
            flip_job: Wire::default(),
            drop_valid: Wire::default(),
            repeat_k: Wire::default(),
            truncate: Wire::default(),
            hold: Wire::default(),
            start: Wire::default(),
            fired: Wire::default(),
            pending: Wire::default(),
            armed: Reg::default(),
            live: Reg::default(),
            struck: Reg::default(),
            fault: Reg::new(kind),
            target: Reg::new(step),
            left: Reg::new(step),
            out_of_reach: Reg::default(),
            here: Wire::default(),
            strike: Wire::default(),
            is_flip_k: code(Injection::FlipK),
            is_flip_job: code(Injection::FlipJob),
            is_drop_valid: code(Injection::DropValid),
            is_repeat_k: code(Injection::RepeatK),
            is_truncate: code(Injection::Truncate),
            is_pause: code(Injection::Pause),
            is_start: code(Injection::Start),
        }
    }
}

impl Logic for Injector {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, armed, live, struck, fault, target, left, out_of_reach);
        self.flip_k.next = false;
        self.flip_job.next = false;
        self.drop_valid.next = false;
        self.repeat_k.next = false;
        self.hold.next = false;
        self.start.next = false;
        self.truncate.next = self.live.q.val() & (self.fault.q.val() == self.is_truncate.val());
        self.strike.next = self.truncate.val() & self.last.val();
        self.here.next = self.live.q.val()
            & self.running.val()
            & (self.step.val() == self.target.q.val())
            & !self.out_of_reach.q.val();
        if self.here.val() {
            if self.fault.q.val() == self.is_pause.val() {
                self.strike.next = true;
                if self.left.q.val().any() {
                    self.hold.next = true;
                    self.left.d.next = self.left.q.val() - 1;
                }
            } else if self.fault.q.val() == self.is_start.val() {
                self.strike.next = true;
                self.start.next = true;
            } else if self.feeding.val() {
                if self.fault.q.val() == self.is_flip_k.val() {
                    self.strike.next = true;
                    self.flip_k.next = true;
                } else if self.fault.q.val() == self.is_flip_job.val() {
                    self.strike.next = true;
                    self.flip_job.next = true;
                } else if self.fault.q.val() == self.is_drop_valid.val() {
                    self.strike.next = true;
                    self.drop_valid.next = true;
                } else if (self.fault.q.val() == self.is_repeat_k.val()) & self.step.val().any() {
                    self.strike.next = true;
                    self.repeat_k.next = true;
                }
            }
        }

        self.struck.d.next = self.struck.q.val() | self.strike.val();
        if self.arm.val() {
            self.armed.d.next = true;
            self.fault.d.next = self.kind.val();
            self.target.d.next = self.at.val();
            self.left.d.next = self.length.val();
            self.out_of_reach.d.next = self.never.val();
        }
        if self.job_begins.val() {
            self.live.d.next = self.armed.q.val();
            self.armed.d.next = false;
            self.struck.d.next = false;
        }
        if self.job_ends.val() {
            self.live.d.next = false;
        }
        if self.reset.val() {
            self.armed.d.next = false;
            self.live.d.next = false;
            self.struck.d.next = false;
        }
        self.fired.next = self.struck.q.val();
        self.pending.next = self.live.q.val() & !self.struck.q.val();
    }
}
