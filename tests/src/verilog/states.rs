//! What the state machines of a block do while it runs.

use rust_hdl::prelude::{Atom, Block, Probe, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Transitions of state machines, by the path of the state register: each `A>B`, staying where it is left out.
pub type Transitions = Vec<(&'static str, Vec<&'static str>)>;

/// The state registers of a block, and what they have done.
#[derive(Debug)]
pub struct States {
    machines: Vec<Machine>,
}

#[derive(Debug)]
struct Machine {
    path: String,
    labels: Vec<String>,
    /// Its place in the order in which a probe visits all atoms.
    place: usize,
    now: usize,
    done: BTreeSet<(usize, usize)>,
}

impl States {
    /// All registers of a block that hold an enumeration.
    pub fn of(block: &dyn Block) -> Self {
        let mut machines = Vec::new();
        visit_registers(block, &mut |place, path, atom| {
            if let TypeKind::Enum(labels) = atom.descriptor().kind {
                let labels = labels.iter().map(|label| label.rsplit("::").next().unwrap_or(label).to_owned());
                let path = path.join(".");
                let now = atom.verilog().as_usize();
                machines.push(Machine { path, labels: labels.collect(), place, now, done: BTreeSet::new() });
            }
        });
        Self { machines }
    }

    /// Notes the states after an edge.
    pub fn note(&mut self, block: &dyn Block) {
        let mut machines = self.machines.iter_mut().peekable();
        if machines.peek().is_none() {
            return;
        }
        visit_registers(block, &mut |place, _, atom| {
            if let Some(machine) = machines.next_if(|machine| machine.place == place) {
                let next = atom.verilog().as_usize();
                if next != machine.now {
                    machine.done.insert((machine.now, next));
                    machine.now = next;
                }
            }
        });
    }

    /// What differs from the transitions wanted.
    pub fn complaints(&self, wanted: &Transitions) -> Vec<String> {
        let mut wanted: BTreeMap<&str, BTreeSet<String>> =
            wanted.iter().map(|(path, list)| (*path, list.iter().map(|&t| t.to_owned()).collect())).collect();
        let mut complaints = Vec::new();
        for machine in &self.machines {
            let label = |state: usize| machine.labels.get(state).map_or("?", String::as_str);
            let done: BTreeSet<_> =
                machine.done.iter().map(|&(a, b)| format!("{}>{}", label(a), label(b))).collect();
            let known = wanted.remove(machine.path.as_str()).unwrap_or_default();
            let path = &machine.path;
            complaints.extend(known.difference(&done).map(|t| format!("{path} never went {t}")));
            complaints.extend(
                done.difference(&known).map(|t| format!("{path} went {t}, which the case does not list")),
            );
        }
        complaints.extend(wanted.keys().map(|path| format!("there is no state register {path}")));
        complaints
    }
}

/// What is done with a register: its place among them, its path below the top, its `q`.
type Each<'a> = dyn FnMut(usize, &[String], &dyn Atom) + 'a;

/// Calls a function for the `q` of every register, with its place among them and its path below the top.
fn visit_registers(block: &dyn Block, each: &mut Each) {
    struct Visitor<'a, 'e> {
        path: Vec<String>,
        place: usize,
        each: &'a mut Each<'e>,
    }
    impl Probe for Visitor<'_, '_> {
        fn visit_start_scope(&mut self, name: &str, _node: &dyn Block) {
            self.path.push(name.to_owned());
        }
        fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
            self.path.pop();
        }
        fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
            if name == "q" {
                (self.each)(self.place, &self.path[1..], signal);
                self.place += 1;
            }
        }
    }
    block.accept("top", &mut Visitor { path: Vec::new(), place: 0, each });
}
