//! Verilog of a block, with equal modules shared, for synthesis and simulators.
//!
//! rust-hdl writes one module for every instance, registers included: 64 processing elements become 400 modules. Here
//! they are compared from the leaves up, and instances of equal content refer to one module. Instance names stay, so
//! hierarchical references (`grid.pe$0.sum$q`) do too. No signal between blocks changes twice at a time, which is the only
//! difference in meaning. The text depends on the block alone: no time,
//! no path, no numbering by address.

mod settle;
mod words;

use rust_hdl::prelude::{Atom, Block, Probe, check_all, generate_verilog_unchecked};
use settle::settle;
use std::collections::{HashMap, HashSet};
use thiserror::Error;
pub use words::identifier;
use words::{WRITTEN, replace};

/// Name under which rust-hdl writes the block it is given.
const ROOT: &str = "top";

/// Why a block has no Verilog.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum VerilogError {
    /// A name that Verilog or the names made from it would not stand.
    #[error(
        "{name:?} cannot name a Verilog module: it must be letters, digits and underscores, and start with a letter"
    )]
    Name {
        /// The name asked for.
        name: String,
    },
    /// rust-hdl's checks found the description wrong.
    #[error("no Verilog for {block}: {complaint}: {}", .signals.join(", "))]
    Check {
        /// Name of the block.
        block: String,
        /// What is wrong.
        complaint: &'static str,
        /// The signals concerned, by path, sorted.
        signals: Vec<String>,
    },
    /// A field under a name that is a word of Verilog.
    #[error(
        "no Verilog for {block}: a field of it or of a block in it is named {word:?}; give it another name"
    )]
    Keyword {
        /// Name of the block.
        block: String,
        /// The word.
        word: &'static str,
    },
    /// Text that is not a sequence of modules, as from a block with foreign Verilog code in it.
    #[error("no Verilog for {block}: cannot split into modules at {line:?}")]
    Split {
        /// Name of the block.
        block: String,
        /// The line that is not understood.
        line: String,
    },
}

/// The Verilog of a connected block (`connect_all`, or [`crate::sim::power_up`]), its top module named `name`. The
/// modules below are named `NAME_BLOCK` after the field that holds the first of them, `NAME_reg_BITS` or
/// `NAME_ram_CELLSxBITS`, so that they collide neither with keywords nor with a user's own modules. Fields are named by
/// [`identifier`].
///
/// # Errors
/// A name that is none; an input that nobody drives, a value read before it is written, an input written from
/// inside; a field named as Verilog names something.
pub fn emit<B: Block>(block: &B, name: &str) -> Result<String, VerilogError> {
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !letters || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(VerilogError::Name { name: name.to_owned() });
    }
    check(block, name)?;
    check_fields(block, name)?;
    let text = generate_verilog_unchecked(block);
    let modules = split(&text).map_err(|line| VerilogError::Split { block: name.to_owned(), line })?;
    let mut sharing =
        Sharing { name, modules, shared: HashMap::new(), taken: HashSet::new(), text: String::new() };
    sharing.place(ROOT, name.to_owned());
    Ok(replace(&sharing.text, |word| Some(identifier(word)).filter(|new| new != word)))
}

/// rust-hdl's checks, with an error in place of its panic.
fn check(block: &dyn Block, name: &str) -> Result<(), VerilogError> {
    use rust_hdl::core::check_error::{CheckError, PathedName};
    let (complaint, signals): (_, Vec<PathedName>) = match check_all(block) {
        Ok(()) => return Ok(()),
        Err(CheckError::OpenSignal(open)) => ("driven by nobody", open.into_values().collect()),
        Err(CheckError::LogicLoops(loops)) => ("read before written", loops),
        Err(CheckError::WritesToInputs(inputs)) => ("an input written from inside", inputs),
    };
    let mut signals: Vec<String> = signals.into_iter().map(|s| format!("{}${}", s.path, s.name)).collect();
    signals.sort();
    Err(VerilogError::Check { block: name.to_owned(), complaint, signals })
}

/// Looks for fields whose names rust-hdl's text has for other things.
fn check_fields(block: &dyn Block, name: &str) -> Result<(), VerilogError> {
    #[derive(Default)]
    struct Fields {
        taken: Option<&'static str>,
    }
    impl Fields {
        fn note(&mut self, name: &str) {
            self.taken = self.taken.or(WRITTEN.iter().find(|word| **word == name).copied());
        }
    }
    impl Probe for Fields {
        fn visit_start_scope(&mut self, name: &str, _node: &dyn Block) {
            self.note(name);
        }
        fn visit_atom(&mut self, name: &str, _signal: &dyn Atom) {
            self.note(name);
        }
    }
    let mut fields = Fields::default();
    block.accept(ROOT, &mut fields);
    match fields.taken {
        Some(word) => Err(VerilogError::Keyword { block: name.to_owned(), word }),
        None => Ok(()),
    }
}

/// A module as rust-hdl writes it.
struct Module<'a> {
    ports: &'a str,
    lines: Vec<&'a str>,
}

/// The modules by name; or a line that belongs to none.
fn split(text: &str) -> Result<HashMap<&str, Module<'_>>, String> {
    let mut modules = HashMap::new();
    let mut current: Option<(&str, Module)> = None;
    for line in text.lines() {
        match &mut current {
            None if line.trim().is_empty() => {}
            None => {
                let head = line.strip_prefix("module ").and_then(|l| l.strip_suffix(");"));
                let (name, ports) = head.and_then(|head| head.split_once('(')).ok_or(line)?;
                current = Some((name, Module { ports, lines: Vec::new() }));
            }
            Some(_) if line.starts_with("endmodule") => modules.extend(current.take()),
            Some((_, module)) => module.lines.push(line),
        }
    }
    match current {
        Some((name, _)) => Err(format!("module {name}")),
        None => Ok(modules),
    }
}

/// Modules being shared, from the leaves up.
struct Sharing<'a> {
    name: &'a str,
    modules: HashMap<&'a str, Module<'a>>,
    /// Ports and body of a module already placed, and its name.
    shared: HashMap<String, String>,
    taken: HashSet<String>,
    text: String,
}

impl Sharing<'_> {
    /// Places a module below those it is made of. Returns the name it goes by, `wanted` if it is new and that is free.
    fn place(&mut self, module: &str, wanted: String) -> String {
        let Module { ports, lines } = &self.modules[module];
        let instances = lines.iter().filter_map(|line| self.instance(line));
        let clocked: Vec<&str> =
            instances.filter(|(kind, _)| self.modules[kind].is_clocked()).map(|(_, name)| name).collect();
        let lines = settle(lines, |signal| {
            let of =
                |instance: &&str| signal.strip_prefix(instance).is_some_and(|rest| rest.starts_with('$'));
            clocked.iter().any(of)
        });
        let mut content = format!("({ports});\n");
        for line in &lines {
            match self.instance(line) {
                Some((kind, instance)) => {
                    let wanted = format!("{}_{}", self.name, self.block_name(kind, instance));
                    let kind = self.place(kind, wanted);
                    content += &format!("    {kind} {instance}(\n");
                }
                None => content += &format!("{}\n", line.trim_end()),
            }
        }
        if let Some(name) = self.shared.get(&content) {
            return name.clone();
        }
        let mut name = wanted.clone();
        for number in 2.. {
            if self.taken.insert(name.clone()) {
                break;
            }
            name = format!("{wanted}_{number}");
        }
        self.text += &format!("module {name}{content}endmodule // {name}\n\n");
        self.shared.insert(content, name.clone());
        name
    }

    /// Module and name of the instance that a line starts.
    fn instance<'l>(&self, line: &'l str) -> Option<(&'l str, &'l str)> {
        let (kind, instance) = line.trim().strip_suffix('(')?.split_once(' ')?;
        self.modules.contains_key(kind).then_some((kind, instance))
    }

    /// What to call a module: after its content if it is a primitive, else after the field that holds it.
    fn block_name(&self, kind: &str, instance: &str) -> String {
        let module = &self.modules[kind];
        match module.ports {
            "clock,d,q" => format!("reg_{}", module.width("q")),
            "clock,read_address,read_data,write_address,write_data,write_enable" => {
                format!("ram_{}x{}", 1u64 << module.bits("read_address"), module.width("read_data"))
            }
            _ => {
                let field = instance.trim_end_matches(|c: char| c.is_ascii_digit());
                field.strip_suffix('$').unwrap_or(instance).replace('$', "_")
            }
        }
    }
}

impl Module<'_> {
    /// Whether its outputs change at the clock only.
    fn is_clocked(&self) -> bool {
        let starts = |text| self.lines.iter().any(|line| line.trim_start().starts_with(text));
        starts("always @(posedge clock)") && !starts("always @(*)") && !starts("assign")
    }

    /// Declaration of a port, between its direction and its name.
    fn declaration(&self, port: &str) -> &str {
        let end = format!(" {port};");
        self.lines.iter().find_map(|line| line.strip_suffix(&end)).unwrap_or_default()
    }

    /// Bits of a port.
    fn bits(&self, port: &str) -> u32 {
        let range = self.declaration(port).split_once('[').and_then(|(_, range)| range.split_once(':'));
        range.and_then(|(high, _)| high.parse().ok()).map_or(1, |high: u32| high + 1)
    }

    /// Bits of a port, with an `s` if it is signed.
    fn width(&self, port: &str) -> String {
        let signed = if self.declaration(port).contains("signed") { "s" } else { "" };
        format!("{}{signed}", self.bits(port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::parameters::Parameters;
    use crate::pe::Pe;
    use crate::sim::power_up;

    fn grid(n: u32) -> Grid {
        power_up(Grid::new(&Parameters { n, ..Parameters::default() }))
    }

    fn modules(text: &str) -> Vec<&str> {
        text.lines().filter_map(|line| line.strip_prefix("module ")?.split('(').next()).collect()
    }

    #[test]
    fn equal_modules_are_shared_and_every_instance_stays() {
        let text = emit(&grid(8), "array").expect("sound");
        let names = ["array_reg_19", "array_reg_32s", "array_reg_9", "array_reg_3", "array_pe", "array"];
        assert_eq!(modules(&text), names);
        let instances: Vec<_> =
            text.lines().filter(|line| line.trim_start().starts_with("array_pe ")).collect();
        assert_eq!(instances.len(), 64);
        assert_eq!(instances[63].trim(), "array_pe pe$63(");
    }

    #[test]
    fn equal_parameters_give_equal_bytes_and_the_name_is_the_only_difference_of_another_name() {
        let text = emit(&grid(3), "array").expect("sound");
        assert_eq!(emit(&grid(3), "array").as_ref(), Ok(&text));
        assert_eq!(emit(&grid(3), "other").expect("sound").replace("other", "array"), text);
    }

    #[test]
    fn modules_of_equal_name_and_unequal_content_are_told_apart() {
        crate::block! {
            /// Two processing elements of unequal widths under one field name.
            pub struct Pair {
                clock: crate::signal::Wire<rust_hdl::prelude::In, rust_hdl::prelude::Clock>,
                pe: Vec<Pe>,
            }
        }
        impl rust_hdl::prelude::Logic for Pair {
            fn update(&mut self) {}
            fn connect(&mut self) {
                for pe in &mut self.pe {
                    pe.clock.connect();
                    pe.reset.connect();
                    pe.clear.connect();
                    pe.advance.connect();
                    pe.k_len.connect();
                    pe.a_in.connect();
                    pe.b_in.connect();
                }
            }
        }
        let pe = |w| Pe::new(&Parameters { w, ..Parameters::default() });
        let pair = power_up(Pair { clock: Default::default(), pe: vec![pe(8), pe(4), pe(8)] });
        let text = emit(&pair, "pair").expect("sound");
        assert_eq!(
            modules(&text).iter().filter(|m| m.starts_with("pair_pe")).collect::<Vec<_>>(),
            [&"pair_pe", &"pair_pe_2"]
        );
        for line in ["pair_pe pe$0(", "pair_pe_2 pe$1(", "pair_pe pe$2("] {
            assert!(text.lines().any(|l| l.trim() == line), "{line}");
        }
    }

    #[test]
    fn reserved_words_get_an_underscore_and_written_ones_are_refused() {
        mod fields {
            use rust_hdl::prelude::*;
            crate::block! {
                /// A field that SystemVerilog has a word for.
                pub struct Reserved {
                    clock: crate::signal::Wire<In, Clock>,
                    byte: crate::signal::Wire<In, bool>,
                    copy: crate::signal::Wire<Out, bool>,
                }
            }
            impl Logic for Reserved {
                #[hdl_gen]
                fn update(&mut self) {
                    self.copy.next = self.byte.val();
                }
            }
            crate::block! {
                /// A field that every module has a word for.
                pub struct Written {
                    clock: crate::signal::Wire<In, Clock>,
                    begin: crate::signal::Wire<In, bool>,
                }
            }
            impl Logic for Written {
                fn update(&mut self) {}
            }
            pub fn reserved() -> Reserved {
                Reserved { clock: Default::default(), byte: Default::default(), copy: Default::default() }
            }
            pub fn written() -> Written {
                Written { clock: Default::default(), begin: Default::default() }
            }
        }
        let text = emit(&power_up(fields::reserved()), "fields").expect("sound");
        assert!(text.starts_with("module fields(clock,byte_,copy);"), "{text}");
        assert!(text.contains("copy = byte_;"), "{text}");
        let error = emit(&power_up(fields::written()), "fields").expect_err("a word of Verilog");
        assert_eq!(error, VerilogError::Keyword { block: "fields".to_owned(), word: "begin" });
    }

    #[test]
    fn an_open_input_is_an_error_that_names_it() {
        let error = emit(&Grid::new(&Parameters::default()), "array").expect_err("never connected");
        let VerilogError::Check { complaint, signals, .. } = &error else { panic!("{error}") };
        assert_eq!(*complaint, "driven by nobody");
        assert!(signals.contains(&"uut$pe$0$advance".to_owned()), "{error}");
    }

    #[test]
    fn a_name_that_is_none_is_refused() {
        for name in ["", "4x4", "a b", "x$y", "_"] {
            assert_eq!(emit(&grid(1), name), Err(VerilogError::Name { name: name.to_owned() }));
        }
    }
}
