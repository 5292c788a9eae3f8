//! Keeps a block's intermediate values inside it.
//!
//! rust-hdl writes `x = 0; if (c) x = y;` straight to a port. A simulator that follows events lets the block below see
//! that x went to 0 and back, and evaluates it; if that one does the same to a signal that comes back, the two wake each
//! other up for ever. So whatever a block assigns more than once gets a variable `x$next`, and x follows it when the
//! block is through.

use super::words::{is_name, replace};
use std::collections::BTreeMap;

/// Where rust-hdl's combinational code starts and ends in a module.
const START: &str = "    always @(*) begin";
const END: &str = "    end";

/// Comment after which it declares what nobody else sees.
const LOCALS: &str = "// Local signals";

/// The lines of a module in which no signal that another block sees changes twice. `inside` tells the signals that
/// nobody sees but registers, at the clock.
pub fn settle(lines: &[&str], inside: impl Fn(&str) -> bool) -> Vec<String> {
    let unchanged = || lines.iter().map(|line| (*line).to_owned()).collect();
    let Some(start) = lines.iter().position(|line| *line == START) else { return unchanged() };
    let Some(length) = lines[start..].iter().position(|line| *line == END) else { return unchanged() };
    let (head, rest) = lines.split_at(start);
    let (code, tail) = rest.split_at(length + 1);

    let mut assignments: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in code.iter().filter_map(|line| assigned(line)) {
        *assignments.entry(name).or_default() += 1;
    }
    let seen = head.iter().take_while(|line| line.trim() != LOCALS);
    let declared: BTreeMap<&str, &str> = seen.filter_map(|line| declaration(line)).collect();
    let hidden: BTreeMap<&str, &str> = declared
        .into_iter()
        .filter(|(name, _)| assignments.get(name).is_some_and(|count| *count > 1) && !inside(name))
        .collect();
    if hidden.is_empty() {
        return unchanged();
    }

    let mut settled: Vec<String> = head.iter().map(|line| (*line).to_owned()).collect();
    settled.extend(hidden.iter().map(|(name, kind)| format!("    {kind} {name}$next;")));
    let inner = |name: &str| hidden.contains_key(name).then(|| format!("{name}$next"));
    settled.extend(code.iter().map(|line| replace(line, inner)));
    settled.push(START.to_owned());
    settled.extend(hidden.keys().map(|name| format!("        {name} = {name}$next;")));
    settled.push(END.to_owned());
    settled.extend(tail.iter().map(|line| (*line).to_owned()));
    settled
}

/// Name and type of a variable that a line declares.
fn declaration(line: &str) -> Option<(&str, &str)> {
    let variable = line.trim().strip_suffix(';')?;
    let variable = variable.strip_prefix("output ").unwrap_or(variable);
    let (kind, name) = variable.rsplit_once(' ')?;
    kind.starts_with("reg").then_some((name, kind))
}

/// The variable that a line assigns, and the rest of the line.
fn assigned(line: &str) -> Option<(&str, &str)> {
    let (target, value) = line.trim().split_once(" = ")?;
    let name = target.split('[').next()?;
    name.chars().all(is_name).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "
    input wire  go;
    output reg signed [3:0] x;
    output reg  once;
    reg  r$d;
    reg  [7:0] child$in;
    // Local signals
    reg  own;
    r_reg r(
        .d(r$d)
    );
    always @(*) begin
        r$d = 0;
        x = 4'hf;
        own = 0;
        own = once;
        once = child$out;
        child$in[(0)+:(4)] = 1;
        child$in[(4)+:(4)] = x;
        if (go) begin
            x = x + 1;
            r$d = 1;
        end
    end
";

    #[test]
    fn what_is_assigned_twice_is_assigned_inside_first() {
        let lines: Vec<&str> = MODULE.lines().collect();
        let settled = settle(&lines, |name| name.starts_with("r$")).join("\n");
        let expected = "
    input wire  go;
    output reg signed [3:0] x;
    output reg  once;
    reg  r$d;
    reg  [7:0] child$in;
    // Local signals
    reg  own;
    r_reg r(
        .d(r$d)
    );
    reg  [7:0] child$in$next;
    reg signed [3:0] x$next;
    always @(*) begin
        r$d = 0;
        x$next = 4'hf;
        own = 0;
        own = once;
        once = child$out;
        child$in$next[(0)+:(4)] = 1;
        child$in$next[(4)+:(4)] = x$next;
        if (go) begin
            x$next = x$next + 1;
            r$d = 1;
        end
    end
    always @(*) begin
        child$in = child$in$next;
        x = x$next;
    end";
        assert_eq!(settled, expected);
    }

    #[test]
    fn a_module_without_such_a_signal_stays_as_it_is() {
        let lines = ["    output reg  x;", "    always @(*) begin", "        x = y;", "    end"];
        assert_eq!(settle(&lines, |_| false), lines);
    }
}
