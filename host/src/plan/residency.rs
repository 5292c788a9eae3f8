//! What a bank holds, as the host models it.
//!
//! The board executes commands in order, so the host knows the contents of both banks at any point of the command
//! stream: what the last HELLO left (nothing that can be relied on), then what each WRITE put where.

use super::{Load, Side};
use std::collections::BTreeMap;

/// A panel that a bank holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    chunk: usize,
    index: usize,
    /// Addresses it takes.
    k_len: u32,
}

/// The contents of one bank after every command issued so far.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    panels: BTreeMap<u32, Held>,
}

impl Bank {
    /// Whether the whole panel is at its address.
    pub fn holds(&self, load: &Load) -> bool {
        let Load { chunk, index, .. } = *load;
        self.panels.get(&load.address).is_some_and(|held| (held.chunk, held.index) == (chunk, index))
    }

    /// Notes that a panel of `k_len` terms was written; whatever it overwrites, even in part, is gone.
    pub fn wrote(&mut self, load: &Load, k_len: u32) {
        let end = load.address + k_len;
        let touched = |(&start, held): (&u32, &Held)| (start + held.k_len > load.address).then_some(start);
        // Panels do not overlap one another: those that reach into the range are the last that start before its end.
        let gone: Vec<u32> = self.panels.range(..end).rev().map_while(touched).collect();
        for start in gone {
            self.panels.remove(&start);
        }
        self.panels.insert(load.address, Held { chunk: load.chunk, index: load.index, k_len });
    }
}

/// Both banks.
#[derive(Clone, Debug, Default)]
pub struct Banks {
    a: Bank,
    b: Bank,
}

impl Banks {
    /// The bank of an operand.
    pub fn of(&mut self, side: Side) -> &mut Bank {
        match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(chunk: usize, index: usize, address: u32) -> Load {
        Load { side: Side::A, chunk, index, address }
    }

    #[test]
    fn a_write_takes_the_place_of_all_it_touches() {
        let mut bank = Bank::default();
        bank.wrote(&load(0, 0, 0), 4);
        bank.wrote(&load(0, 1, 4), 4);
        bank.wrote(&load(0, 2, 8), 4);
        assert!(bank.holds(&load(0, 1, 4)));
        assert!(!bank.holds(&load(1, 1, 4)) && !bank.holds(&load(0, 1, 8)));
        bank.wrote(&load(1, 0, 3), 6);
        assert!(!bank.holds(&load(0, 0, 0)) && !bank.holds(&load(0, 1, 4)) && !bank.holds(&load(0, 2, 8)));
        assert!(bank.holds(&load(1, 0, 3)));
        bank.wrote(&load(1, 1, 9), 3);
        assert!(bank.holds(&load(1, 0, 3)), "touching ends do not overlap");
    }
}
