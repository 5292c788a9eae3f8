//! Which register of the command reader an argument byte belongs to, and where in it.

use crate::block;
use crate::signal::{Param, Wire};
use crate::types::{Width, Word};
use crate::wire;
use rust_hdl::prelude::*;

block! {
    /// The argument tables of [`crate::wire`] as logic without state. A command's arguments share registers: which one
    /// means what stands beside the registers in the reader.
    pub struct ArgumentMap {
        /// The clock; nothing here depends on it.
        pub clock: Wire<In, Clock>,
        /// Opcode of the command.
        pub opcode: Wire<In, Word>,
        /// Which byte of its body.
        pub index: Wire<In, Word>,
        /// The byte.
        pub data: Wire<In, Word>,
        /// The byte, moved to its place in the register.
        pub placed: Wire<Out, Word>,
        /// It belongs to `first`.
        pub to_first: Wire<Out, bool>,
        /// It belongs to `second`.
        pub to_second: Wire<Out, bool>,
        /// It belongs to `third`.
        pub to_third: Wire<Out, bool>,
        /// It belongs to `terms`.
        pub to_terms: Wire<Out, bool>,
        /// It is `choice`.
        pub to_choice: Wire<Out, bool>,
        /// It is `count`.
        pub to_count: Wire<Out, bool>,
        /// It is `tag`.
        pub to_tag: Wire<Out, bool>,
        /// No argument follows.
        pub last: Wire<Out, bool>,
        place: Wire<Local, Word>,
        write_code: Param,
        multiply_code: Param,
        inject_code: Param,
        write_head: Param,
        multiply_body: Param,
        inject_body: Param,
        source_body: Param,
        body: Wire<Local, Word>,
    }
}

impl ArgumentMap {
    /// The map; it is the same for every design.
    pub fn new() -> Self {
        let byte = |value: u8| Param::new(value.into(), 8);
        Self {
            clock: Wire::default(),
            opcode: Wire::new(Width::unsigned(8)),
            index: Wire::new(Width::unsigned(8)),
            data: Wire::new(Width::unsigned(8)),
            placed: Wire::new(Width::unsigned(32)),
            to_first: Wire::default(),
            to_second: Wire::default(),
            to_third: Wire::default(),
            to_terms: Wire::default(),
            to_choice: Wire::default(),
            to_count: Wire::default(),
            to_tag: Wire::default(),
            last: Wire::default(),
            place: Wire::new(Width::unsigned(2)),
            write_code: byte(wire::WRITE),
            multiply_code: byte(wire::MULTIPLY),
            inject_code: byte(wire::INJECT),
            write_head: byte(wire::WRITE_HEAD as u8),
            multiply_body: byte(wire::MULTIPLY_BODY as u8),
            inject_body: byte(wire::INJECT_BODY as u8),
            source_body: byte(wire::SOURCE_BODY as u8),
            body: Wire::new(Width::unsigned(8)),
        }
    }
}

impl Default for ArgumentMap {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for ArgumentMap {
    #[hdl_gen]
    fn update(&mut self) {
        self.to_first.next = false;
        self.to_second.next = false;
        self.to_third.next = false;
        self.to_terms.next = false;
        self.to_choice.next = false;
        self.to_count.next = false;
        self.to_tag.next = false;
        self.place.next = self.index.val();
        if self.opcode.val() == self.write_code.val() {
            // bank u8, address u16, k_len u16
            self.place.next = (self.index.val() + 1) & 1;
            self.to_choice.next = self.index.val() == 0;
            self.to_first.next = (self.index.val() == 1) | (self.index.val() == 2);
            self.to_terms.next = (self.index.val() == 3) | (self.index.val() == 4);
            self.body.next = self.write_head.val();
        } else if self.opcode.val() == self.multiply_code.val() {
            // a_address u16, b_address u16, b_stride u16, k_len u32, count u8, job u8, result_bytes u8
            self.place.next = self.index.val() & 1;
            self.to_first.next = (self.index.val() >> 1) == 0;
            self.to_second.next = (self.index.val() >> 1) == 1;
            self.to_third.next = (self.index.val() >> 1) == 2;
            for i in 6..10 {
                if self.index.val() == i {
                    self.to_terms.next = true;
                    self.place.next = self.index.val() + 2;
                }
            }
            self.to_count.next = self.index.val() == 10;
            self.to_tag.next = self.index.val() == 11;
            self.to_choice.next = self.index.val() == 12;
            self.body.next = self.multiply_body.val();
        } else if self.opcode.val() == self.inject_code.val() {
            // kind u8, step u32, length u32
            self.place.next = self.index.val() + 3;
            self.to_choice.next = self.index.val() == 0;
            for i in 1..5 {
                if self.index.val() == i {
                    self.to_first.next = true;
                }
            }
            for i in 5..9 {
                if self.index.val() == i {
                    self.to_second.next = true;
                }
            }
            self.body.next = self.inject_body.val();
        } else {
            // n u16
            self.to_first.next = true;
            self.body.next = self.source_body.val();
        }
        self.last.next = (self.index.val() + 1) == self.body.val();
        self.placed.next = self.data.val();
        for i in 1..4 {
            if self.place.val() == i {
                self.placed.next = self.data.val() << (8 * i);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    /// For each byte of a body: the register's first letter (`c` count, `j` job tag) and the byte's place in it.
    fn table(opcode: u8, length: usize) -> Vec<String> {
        let mut map = sim::power_up(ArgumentMap::new());
        map.opcode.next = usize::from(opcode).into();
        map.data.next = 0xA5usize.into();
        let mut rows = Vec::new();
        for index in 0..length {
            map.index.next = index.into();
            sim::settle(&mut map);
            let flags = [
                ("first", map.to_first.val()),
                ("second", map.to_second.val()),
                ("third", map.to_third.val()),
                ("terms", map.to_terms.val()),
                ("choice", map.to_choice.val()),
                ("count", map.to_count.val()),
                ("tag", map.to_tag.val()),
            ];
            let to: Vec<_> = flags.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
            let place = map.placed.val().get().trailing_zeros() / 8;
            assert_eq!(map.placed.val().get(), 0xA5 << (8 * place));
            assert_eq!(map.last.val(), index + 1 == length, "{opcode} {index}");
            rows.push(format!("{}{place}", to.join("+")));
        }
        rows
    }

    #[test]
    fn every_argument_goes_where_the_tables_of_the_wire_say() {
        assert_eq!(
            table(wire::WRITE, 5),
            ["choice1", "first0", "first1", "terms0", "terms1"].map(String::from)
        );
        let multiply =
            "first0 first1 second0 second1 third0 third1 terms0 terms1 terms2 terms3 count0 tag1 choice0";
        assert_eq!(table(wire::MULTIPLY, 13).join(" "), multiply);
        let inject = "choice3 first0 first1 first2 first3 second0 second1 second2 second3";
        assert_eq!(table(wire::INJECT, 9).join(" "), inject);
        assert_eq!(table(wire::SOURCE, 2).join(" "), "first0 first1");
    }
}
