//! A saturating event counter of one byte, as STATUS_REPLY carries them.

use crate::block;
use crate::signal::{Param, Reg, Wire};
use crate::types::{Width, Word};
use rust_hdl::prelude::*;

block! {
    /// Counts the edges with `happens` up to 255 and stays there.
    pub struct Counter {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Back to zero.
        pub reset: Wire<In, bool>,
        /// What is counted.
        pub happens: Wire<In, bool>,
        /// Events so far.
        pub value: Wire<Out, Word>,
        count: Reg<Word>,
        most: Param,
    }
}

impl Counter {
    /// A counter at zero.
    pub fn new() -> Self {
        let byte = Width::unsigned(8);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            happens: Wire::default(),
            value: Wire::new(byte),
            count: Reg::new(byte),
            most: Param::new(u8::MAX.into(), 8),
        }
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for Counter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count);
        if self.reset.val() {
            self.count.d.next = 0.into();
        } else if self.happens.val() & (self.count.q.val() != self.most.val()) {
            self.count.d.next = self.count.q.val() + 1;
        }
        self.value.next = self.count.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    #[test]
    fn it_counts_to_255_and_stays() {
        let mut counter = sim::power_up(Counter::new());
        sim::edge(&mut counter);
        assert_eq!(counter.value.val().get(), 0);
        counter.happens.next = true;
        for i in 1..300 {
            sim::edge(&mut counter);
            assert_eq!(counter.value.val().get(), i.min(255));
        }
        counter.reset.next = true;
        sim::edge(&mut counter);
        assert_eq!(counter.value.val().get(), 0);
    }
}
