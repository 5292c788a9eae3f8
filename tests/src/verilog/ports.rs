//! A block's ports as Verilog sees them: found by a probe, so that no test lists them.

use rust_hdl::prelude::{Atom, AtomKind, Block, Probe, TypeKind};

/// The port that a test bench drives by itself.
const CLOCK: &str = "clock";

/// A port of the top module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name in Verilog: an element of a vector is `name$index`.
    pub name: String,
    /// Its width.
    pub bits: usize,
    /// Whether its bits are a two's-complement number.
    pub signed: bool,
}

impl Port {
    /// Hexadecimal digits that hold it.
    pub fn digits(&self) -> usize {
        self.bits.div_ceil(4)
    }

    /// The number that its bits stand for.
    pub fn number(&self, bits: u64) -> i64 {
        let unused = 64 - self.bits as u32;
        if self.signed { (bits << unused) as i64 >> unused } else { bits as i64 }
    }
}

/// All ports of a block but its clock, in the order of its declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// What drives the block.
    pub inputs: Vec<Port>,
    /// What it drives.
    pub outputs: Vec<Port>,
}

impl Ports {
    /// The ports of a block.
    pub fn of(block: &dyn Block) -> Self {
        let mut ports = Self::default();
        let note = |list: &mut Vec<Port>, name: &str, atom: &dyn Atom| {
            let signed = matches!(atom.descriptor().kind, TypeKind::Signed(_));
            list.push(Port { name: name.to_owned(), bits: atom.bits(), signed });
        };
        visit_ports(block, &mut |name, atom| match atom.kind() {
            AtomKind::InputParameter => note(&mut ports.inputs, name, atom),
            _ => note(&mut ports.outputs, name, atom),
        });
        ports
    }

    /// The bits that drive the inputs, in their order.
    pub fn driven(&self, block: &dyn Block) -> Vec<u64> {
        let mut driven = Vec::with_capacity(self.inputs.len());
        visit_ports(block, &mut |_, atom| {
            if atom.kind() == AtomKind::InputParameter {
                driven.push(bits_of(atom));
            }
        });
        driven
    }

    /// The bits on the outputs in the rust-hdl simulation, in their order.
    pub fn shown(&self, block: &dyn Block) -> Vec<u64> {
        let mut shown = Vec::with_capacity(self.outputs.len());
        visit_ports(block, &mut |_, atom| {
            if atom.kind() != AtomKind::InputParameter {
                shown.push(bits_of(atom));
            }
        });
        shown
    }
}

/// The bits of a value, from the literal that Verilog would get. The widest port of a design has 64 bits.
fn bits_of(atom: &dyn Atom) -> u64 {
    let literal = atom.verilog().to_string();
    let digits = literal.split_once('\'').map_or("", |(_, digits)| digits);
    let value = match digits.split_at_checked(1) {
        Some(("b", binary)) => u64::from_str_radix(binary, 2),
        Some((_, hexadecimal)) => u64::from_str_radix(hexadecimal, 16),
        None => panic!("{literal} is no Verilog literal"),
    };
    value.unwrap_or_else(|error| panic!("{literal}: {error}"))
}

/// Calls a function for every port of a block but the clock.
fn visit_ports(block: &dyn Block, each: &mut dyn FnMut(&str, &dyn Atom)) {
    struct Visitor<'a> {
        depth: usize,
        each: &'a mut dyn FnMut(&str, &dyn Atom),
    }
    impl Probe for Visitor<'_> {
        fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
            self.depth += 1;
        }
        fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
            self.depth -= 1;
        }
        fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
            if self.depth == 1 && signal.kind().is_parameter() && name != CLOCK {
                (self.each)(name, signal);
            }
        }
    }
    block.accept("top", &mut Visitor { depth: 0, each });
}

#[cfg(test)]
mod tests {
    use super::*;
    use systole_hdl::{parameters::Parameters, pe::Pe, sim, types::Token};

    #[test]
    fn ports_of_a_pe() {
        let p = Parameters { w: 4, aw: 12, k_max: 5, job_bits: 3, ..Parameters::default() };
        let mut pe = sim::power_up(Pe::new(&p));
        let ports = Ports::of(&pe);
        let list = |ports: &[Port]| {
            ports
                .iter()
                .map(|p| format!("{}:{}{}", p.name, p.bits, if p.signed { "s" } else { "" }))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(list(&ports.inputs), "reset:1 clear:1 advance:1 k_len:3 a_in:11 b_in:11");
        assert_eq!(list(&ports.outputs), "a_out:11 b_out:11 acc:12s count:3 done:1 kind:3");

        pe.advance.next = true;
        pe.k_len.next = 2usize.into();
        pe.a_in.next = Token::new(-3, true, 5, 0);
        pe.b_in.next = Token::new(2, true, 5, 0);
        sim::edge(&mut pe);
        // valid, job 5, k 0, then the value.
        let (a, b) = (0b110_1000_1101, 0b110_1000_0010);
        assert_eq!(ports.driven(&pe), [0, 0, 1, 2, a, b]);
        assert_eq!(ports.shown(&pe), [a, b, 0xffa, 1, 0, 0]);
        assert_eq!(ports.outputs[2].number(0xffa), -6);
    }
}
