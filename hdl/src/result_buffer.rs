//! Keeps finished jobs until they are read: the array works on while results wait for the wire.
//!
//! A ring of slots in block RAM, a slot a job: its N² values, then its status. A job is shown only when all of it is
//! there, status first.

use crate::block;
use crate::parameters::{Parameters, bits_for};
use crate::signal::{Param, Ram, Reg, Wire};
use crate::types::{Width, Word};
use rust_hdl::prelude::*;

/// Bits of a job's status.
pub const STATUS_BITS: u32 = 8;

/// Address bits of the smallest memory worth making: one block RAM of an iCE40 has 256 cells.
const BLOCK_BITS: u32 = 8;

/// Most slots, as a power of two. More would only widen counters.
const MOST_SLOT_BITS: u32 = 3;

/// What the reading side does.
#[derive(LogicState, Clone, Copy, Debug, PartialEq)]
pub enum Showing {
    /// Nothing is shown; the memory looks up the next status.
    Nothing,
    /// The status comes out of the memory.
    Status,
    /// A job is shown.
    Job,
}

block! {
    /// The result buffer.
    pub struct ResultBuffer {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Forgets all jobs.
        pub reset: Wire<In, bool>,
        /// Takes `value` as the next one of the job being written.
        pub write: Wire<In, bool>,
        /// A result.
        pub value: Wire<In, Word>,
        /// Takes `status` after the last value; the job is complete.
        pub close: Wire<In, bool>,
        /// The job's status.
        pub status: Wire<In, Word>,
        /// Goes on to the next value of the job shown, or after its last one frees it. Only while `ready`.
        pub advance: Wire<In, bool>,
        /// One more whole job can be written.
        pub room: Wire<Out, bool>,
        /// A job is shown: `shown_status` and `shown` hold.
        pub ready: Wire<Out, bool>,
        /// Status of the job shown.
        pub shown_status: Wire<Out, Word>,
        /// The value shown.
        pub shown: Wire<Out, Word>,
        ram: Ram,
        state: Reg<Showing>,
        write_slot: Reg<Word>,
        read_slot: Reg<Word>,
        filled: Reg<Word>,
        write_offset: Reg<Word>,
        read_offset: Reg<Word>,
        kept_status: Reg<Word>,
        read_next: Wire<Local, Word>,
        free: Wire<Local, bool>,
        write_address: Wire<Local, Word>,
        read_address: Wire<Local, Word>,
        slots: Param,
        offset_bits: Param,
        status_offset: Param,
        final_offset: Param,
    }
}

impl ResultBuffer {
    /// The result buffer of a design.
    pub fn new(p: &Parameters) -> Self {
        let values = u64::from(p.n * p.n);
        let offset_bits = bits_for(values + 1);
        let slot_bits = BLOCK_BITS.saturating_sub(offset_bits).clamp(1, MOST_SLOT_BITS);
        let value = Width::signed(p.aw);
        let status = Width::unsigned(STATUS_BITS);
        let slot = Width::unsigned(slot_bits);
        let offset = Width::unsigned(offset_bits);
        let address = Width::unsigned(slot_bits + offset_bits);
        let offset_param = |at: u64| Param::new(at, offset_bits);
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            write: Wire::default(),
            value: Wire::new(value),
            close: Wire::default(),
            status: Wire::new(status),
            advance: Wire::default(),
            room: Wire::default(),
            ready: Wire::default(),
            shown_status: Wire::new(status),
            shown: Wire::new(value),
            ram: Ram::new(slot_bits + offset_bits, Width::signed(p.aw.max(STATUS_BITS))),
            state: Reg::default(),
            write_slot: Reg::new(slot),
            read_slot: Reg::new(slot),
            filled: Reg::new(Width::unsigned(slot_bits + 1)),
            write_offset: Reg::new(offset),
            read_offset: Reg::new(offset),
            kept_status: Reg::new(status),
            read_next: Wire::new(offset),
            free: Wire::default(),
            write_address: Wire::new(address),
            read_address: Wire::new(address),
            slots: Param::new(1 << slot_bits, slot_bits + 1),
            offset_bits: Param::new(offset_bits.into(), 1),
            status_offset: offset_param(values),
            final_offset: offset_param(values - 1),
        }
    }

    /// Jobs that fit.
    pub fn slots(&self) -> usize {
        self.slots.val().index()
    }
}

impl Logic for ResultBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, write_slot, read_slot, filled, write_offset, read_offset, kept_status);
        self.ram.clock.next = self.clock.val();

        self.write_address.next =
            (self.write_slot.q.val() << self.offset_bits.val()) | self.write_offset.q.val();
        self.ram.write_address.next = self.write_address.val();
        self.ram.write_enable.next = self.write.val() | self.close.val();
        self.ram.write_data.next = self.value.val();
        if self.close.val() {
            self.ram.write_data.next = self.status.val();
            self.write_offset.d.next = 0.into();
            self.write_slot.d.next = self.write_slot.q.val() + 1;
        } else if self.write.val() {
            self.write_offset.d.next = self.write_offset.q.val() + 1;
        }

        // The offset that the memory shows after the next edge.
        self.read_next.next = self.read_offset.q.val();
        self.free.next = false;
        self.ready.next = false;
        match self.state.q.val() {
            Showing::Nothing => {
                self.read_next.next = self.status_offset.val();
                if self.filled.q.val().any() {
                    self.state.d.next = Showing::Status;
                }
            }
            Showing::Status => {
                self.kept_status.d.next = self.ram.read_data.val();
                self.read_next.next = 0.into();
                self.state.d.next = Showing::Job;
            }
            Showing::Job => {
                self.ready.next = true;
                if self.advance.val() {
                    self.read_next.next = self.read_offset.q.val() + 1;
                    if self.read_offset.q.val() == self.final_offset.val() {
                        self.free.next = true;
                        self.read_slot.d.next = self.read_slot.q.val() + 1;
                        self.state.d.next = Showing::Nothing;
                    }
                }
            }
        }
        self.read_offset.d.next = self.read_next.val();
        self.read_address.next = (self.read_slot.q.val() << self.offset_bits.val()) | self.read_next.val();
        self.ram.read_address.next = self.read_address.val();

        if self.close.val() & !self.free.val() {
            self.filled.d.next = self.filled.q.val() + 1;
        } else if self.free.val() & !self.close.val() {
            self.filled.d.next = self.filled.q.val() - 1;
        }
        if self.reset.val() {
            self.state.d.next = Showing::Nothing;
            self.filled.d.next = 0.into();
            self.write_offset.d.next = 0.into();
            self.write_slot.d.next = 0.into();
            self.read_slot.d.next = 0.into();
        }

        self.room.next = self.filled.q.val() != self.slots.val();
        self.shown_status.next = self.kept_status.q.val();
        self.shown.next = self.ram.read_data.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    fn two_by_two() -> ResultBuffer {
        sim::power_up(ResultBuffer::new(&Parameters { n: 2, ..Parameters::default() }))
    }

    fn write_job(buffer: &mut ResultBuffer, values: [i64; 4], status: usize) {
        buffer.write.next = true;
        for value in values {
            buffer.value.next = Word::of(value);
            sim::edge(buffer);
        }
        buffer.write.next = false;
        buffer.close.next = true;
        buffer.status.next = status.into();
        sim::edge(buffer);
        buffer.close.next = false;
        sim::settle(buffer);
    }

    /// Reads a job, waiting `gap` edges before each value.
    fn read_job(buffer: &mut ResultBuffer, gap: usize) -> (i64, Vec<i64>) {
        for _ in 0..2 {
            if !buffer.ready.val() {
                sim::edge(buffer);
            }
        }
        let mut values = Vec::new();
        for _ in 0..4 {
            for _ in 0..gap {
                sim::edge(buffer);
            }
            assert!(buffer.ready.val());
            values.push(buffer.shown.val().get());
            buffer.advance.next = true;
            sim::edge(buffer);
            buffer.advance.next = false;
        }
        sim::settle(buffer);
        (buffer.shown_status.val().get(), values)
    }

    #[test]
    fn a_job_is_shown_whole_at_the_readers_pace() {
        let mut buffer = two_by_two();
        buffer.write.next = true;
        for _ in 0..4 {
            sim::edge(&mut buffer);
            assert!(!buffer.ready.val(), "half a job is not shown");
        }
        buffer.reset.next = true;
        buffer.write.next = false;
        sim::edge(&mut buffer);
        buffer.reset.next = false;
        for gap in [0, 1, 3] {
            write_job(&mut buffer, [1, -2, 3, i64::from(i32::MIN)], 0x2B);
            assert_eq!(read_job(&mut buffer, gap), (0x2B, vec![1, -2, 3, i64::from(i32::MIN)]));
        }
        for _ in 0..4 {
            sim::edge(&mut buffer);
            assert!(!buffer.ready.val());
        }
    }

    #[test]
    fn the_ring_fills_and_empties_in_order() {
        let mut buffer = two_by_two();
        assert_eq!(buffer.slots(), 8);
        for lap in 0..3i64 {
            for job in 0..8i64 {
                assert!(buffer.room.val(), "{job} jobs leave room");
                write_job(&mut buffer, [lap, job, -lap, -job], job as usize);
            }
            assert!(!buffer.room.val());
            for job in 0..8i64 {
                let (status, values) = read_job(&mut buffer, 0);
                assert_eq!((status, values), (job, vec![lap, job, -lap, -job]));
                assert!(buffer.room.val());
            }
        }
    }

    #[test]
    fn every_side_has_two_slots_or_more() {
        let slots = [1, 2, 4, 7, 8, 16, 32].map(|n| {
            let p = Parameters { n, ..Parameters::default() };
            ResultBuffer::new(&p).slots()
        });
        assert_eq!(slots, [8, 8, 8, 4, 2, 2, 2]);
    }
}
