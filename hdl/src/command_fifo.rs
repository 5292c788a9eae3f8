//! The bytes of commands between the decoder that takes them and the executor that reads them.

use crate::block;
use crate::parameters::Parameters;
use crate::signal::{Param, Ram, Reg, Wire};
use crate::types::{Width, Word};
use rust_hdl::prelude::*;

block! {
    /// A FIFO whose input side can take back what it wrote: bytes become visible to the reader when they are committed,
    /// and vanish when they are rolled back. It holds exactly as many bytes as the design says.
    pub struct CommandFifo {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Empties it, above all else.
        pub reset: Wire<In, bool>,
        /// Adds `write_data` behind what is there; ignored when full.
        pub write: Wire<In, bool>,
        /// The byte to add.
        pub write_data: Wire<In, Word>,
        /// Gives all that was written to the reader. Not together with `write`.
        pub commit: Wire<In, bool>,
        /// Throws away what was written since the last commit. Not together with `write`.
        pub rollback: Wire<In, bool>,
        /// There is no room for another byte.
        pub full: Wire<Out, bool>,
        /// Whether `read_data` is the next committed byte.
        pub valid: Wire<Out, bool>,
        /// The byte that is read.
        pub read_data: Wire<Out, Word>,
        /// Goes on to the next byte; only when `valid`.
        pub take: Wire<In, bool>,
        /// Nothing committed is left.
        pub empty: Wire<Out, bool>,
        ram: Ram,
        head: Reg<Word>,
        committed: Reg<Word>,
        tail: Reg<Word>,
        shown: Reg<bool>,
        next_tail: Wire<Local, Word>,
        no_room: Wire<Local, bool>,
        size: Param,
    }
}

impl CommandFifo {
    /// The FIFO of a design.
    pub fn new(p: &Parameters) -> Self {
        let (byte, address_bits) = (Width::unsigned(8), p.fifo.ilog2());
        // One bit more than an address tells full from empty.
        let pointer = Width::unsigned(address_bits + 1);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            write: Wire::default(),
            write_data: Wire::new(byte),
            commit: Wire::default(),
            rollback: Wire::default(),
            full: Wire::default(),
            valid: Wire::default(),
            read_data: Wire::new(byte),
            take: Wire::default(),
            empty: Wire::default(),
            ram: Ram::new(address_bits, byte),
            head: Reg::new(pointer),
            committed: Reg::new(pointer),
            tail: Reg::new(pointer),
            shown: Reg::default(),
            next_tail: Wire::new(pointer),
            no_room: Wire::default(),
            size: Param::new(p.fifo.into(), address_bits + 1),
        }
    }
}

impl Logic for CommandFifo {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, head, committed, tail, shown);
        self.ram.clock.next = self.clock.val();
        self.no_room.next = (self.head.q.val() ^ self.tail.q.val()) == self.size.val();
        self.next_tail.next = self.tail.q.val();
        if self.take.val() {
            self.next_tail.next = self.tail.q.val() + 1;
        }
        self.ram.read_address.next = self.next_tail.val();
        self.ram.write_address.next = self.head.q.val();
        self.ram.write_data.next = self.write_data.val();
        self.ram.write_enable.next = self.write.val() & !self.no_room.val();
        if self.write.val() & !self.no_room.val() {
            self.head.d.next = self.head.q.val() + 1;
        }
        if self.commit.val() {
            self.committed.d.next = self.head.q.val();
        } else if self.rollback.val() {
            self.head.d.next = self.committed.q.val();
        }
        self.tail.d.next = self.next_tail.val();
        // The byte read at this edge is there unless the reader has caught up with what was committed before it.
        self.shown.d.next = self.next_tail.val() != self.committed.q.val();
        if self.reset.val() {
            self.head.d.next = 0.into();
            self.committed.d.next = 0.into();
            self.tail.d.next = 0.into();
            self.shown.d.next = false;
        }
        self.full.next = self.no_room.val();
        self.valid.next = self.shown.q.val();
        self.read_data.next = self.ram.read_data.val();
        self.empty.next = self.committed.q.val() == self.tail.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;
    use std::collections::VecDeque;

    fn small() -> CommandFifo {
        sim::power_up(CommandFifo::new(&Parameters { n: 1, fifo: 64, ..Parameters::default() }))
    }

    fn pulse(fifo: &mut CommandFifo, set: impl Fn(&mut CommandFifo, bool)) {
        set(fifo, true);
        sim::edge(fifo);
        set(fifo, false);
    }

    fn write(fifo: &mut CommandFifo, byte: u8) {
        fifo.write_data.next = usize::from(byte).into();
        pulse(fifo, |f, on| f.write.next = on);
    }

    #[test]
    fn nothing_is_read_before_commit_and_a_roll_back_leaves_nothing() {
        let mut fifo = small();
        (1..=3).for_each(|byte| write(&mut fifo, byte));
        sim::edge(&mut fifo);
        assert!(!fifo.valid.val() && fifo.empty.val());
        pulse(&mut fifo, |f, on| f.rollback.next = on);
        (7..=8).for_each(|byte| write(&mut fifo, byte));
        pulse(&mut fifo, |f, on| f.commit.next = on);
        sim::edge(&mut fifo);
        assert!(!fifo.empty.val());
        for byte in 7..=8 {
            assert!(fifo.valid.val());
            assert_eq!(fifo.read_data.val().get(), byte);
            pulse(&mut fifo, |f, on| f.take.next = on);
        }
        assert!(!fifo.valid.val() && fifo.empty.val());
    }

    #[test]
    fn it_holds_exactly_its_size_and_ignores_the_next_byte() {
        let mut fifo = small();
        for byte in 0..64 {
            assert!(!fifo.full.val());
            write(&mut fifo, byte);
        }
        assert!(fifo.full.val());
        write(&mut fifo, 99);
        pulse(&mut fifo, |f, on| f.commit.next = on);
        sim::edge(&mut fifo);
        for byte in 0..64 {
            assert_eq!((fifo.valid.val(), fifo.read_data.val().get()), (true, byte));
            pulse(&mut fifo, |f, on| f.take.next = on);
            assert!(!fifo.full.val());
        }
        assert!(!fifo.valid.val());
    }

    #[test]
    fn reset_empties_it() {
        let mut fifo = small();
        write(&mut fifo, 1);
        pulse(&mut fifo, |f, on| f.commit.next = on);
        sim::edge(&mut fifo);
        write(&mut fifo, 2);
        pulse(&mut fifo, |f, on| f.reset.next = on);
        assert!(!fifo.valid.val() && fifo.empty.val() && !fifo.full.val());
        pulse(&mut fifo, |f, on| f.commit.next = on);
        sim::edge(&mut fifo);
        assert!(!fifo.valid.val());
    }

    #[test]
    fn random_traffic_matches_a_queue() {
        let mut fifo = small();
        let (mut queue, mut tentative) = (VecDeque::new(), Vec::new());
        let (mut seed, mut filled, mut drained) = (1u64, 0, 0);
        for cycle in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let dice = seed >> 40;
            // Phases that favour the writer and the reader in turn reach both ends.
            let writing = dice % 8 < if cycle / 500 % 2 == 0 { 7 } else { 3 };
            let taking = fifo.valid.val() && dice / 8 % 8 < if cycle / 500 % 2 == 0 { 2 } else { 6 };
            let full = queue.len() + tentative.len() == 64;
            assert_eq!(fifo.full.val(), full, "cycle {cycle}");
            assert_eq!(fifo.empty.val(), queue.is_empty(), "cycle {cycle}");
            filled += u32::from(full);
            drained += u32::from(queue.is_empty());
            fifo.write_data.next = ((dice >> 8 & 0xFF) as usize).into();
            fifo.write.next = writing;
            fifo.commit.next = !writing && dice / 64 % 4 < 2;
            fifo.rollback.next = !writing && dice / 64 % 4 == 2;
            fifo.take.next = taking;
            let byte = fifo.read_data.val().get();
            sim::edge(&mut fifo);
            if taking {
                assert_eq!(queue.pop_front(), Some(byte), "cycle {cycle}");
            }
            if writing && !full {
                tentative.push((dice >> 8 & 0xFF) as i64);
            } else if fifo.commit.next {
                queue.extend(tentative.drain(..));
            } else if fifo.rollback.next {
                tentative.clear();
            }
        }
        assert!(filled > 100 && drained > 100, "full {filled}, empty {drained}");
    }
}
