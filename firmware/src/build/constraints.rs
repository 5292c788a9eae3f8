//! Where the ports of an image are on the board, in each family's file format.

use crate::top::PORTS;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use systole_boards::{Board, Pin, Pull, TieLevel, device::Family};

/// Name of the file, for a family.
pub fn file(family: Family) -> &'static str {
    match family {
        Family::Ice40 => "pins.pcf",
        Family::Ecp5 => "pins.lpf",
        Family::Gowin => "pins.cst",
    }
}

/// Ports of [`Top`](crate::top::Top) and their pins.
fn ports(board: &Board) -> Vec<(String, &Pin)> {
    let pins = [
        &board.clock.pin,
        &board.uart.rx,
        &board.uart.tx,
        &board.leds.idle,
        &board.leds.busy,
        &board.leds.error,
    ];
    let named = PORTS.into_iter().map(str::to_owned).zip(pins);
    let tied = |level, name| {
        let ties = board.ties.iter().filter(move |tie| tie.level == level);
        ties.enumerate().map(move |(i, tie)| (format!("{name}${i}"), &tie.pin))
    };
    named.chain(tied(TieLevel::High, "tied_high")).chain(tied(TieLevel::Low, "tied_low")).collect()
}

/// The text of the constraints file.
pub fn text(board: &Board) -> String {
    let mut text = String::new();
    for (port, pin) in ports(board) {
        let standard = pin.standard.map_or("", |standard| standard.name());
        // Writing to a string does not fail.
        let _ = match board.fpga.family {
            // The only resistor that an iCE40 has is to the supply.
            Family::Ice40 => {
                let pull = if pin.pull == Some(Pull::Up) { " -pullup yes" } else { "" };
                writeln!(text, "set_io{pull} {port} {}", pin.at)
            }
            Family::Ecp5 => {
                let pull = match pin.pull {
                    Some(Pull::Up) => "UP",
                    Some(Pull::Down) => "DOWN",
                    None => "NONE",
                };
                writeln!(
                    text,
                    "LOCATE COMP \"{port}\" SITE \"{}\";\nIOBUF PORT \"{port}\" IO_TYPE={standard} PULLMODE={pull};",
                    pin.at
                )
            }
            Family::Gowin => {
                let pull = match pin.pull {
                    Some(Pull::Up) => "UP",
                    Some(Pull::Down) => "DOWN",
                    None => "NONE",
                };
                writeln!(
                    text,
                    "IO_LOC \"{port}\" {};\nIO_PORT \"{port}\" IO_TYPE={standard} PULL_MODE={pull};",
                    pin.at
                )
            }
        };
    }
    text
}

/// A netlist as yosys writes it, as far as it is read.
#[derive(Deserialize)]
struct Netlist {
    modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    ports: BTreeMap<String, IgnoredAny>,
}

/// Holds the pins against the ports of a netlist, whose text this is: what is on one side alone, if anything.
///
/// nextpnr cannot be left to find that. For an iCE40 it warns of a pin without a port, for Gowin it mentions it, and for
/// an ECP5 it says nothing (0.11, each tried with a pin too many).
///
/// # Errors
/// The netlist is none.
pub fn unmatched(board: &Board, netlist: &str, top: &str) -> Result<Option<Unmatched>, serde_json::Error> {
    let netlist: Netlist = serde_json::from_str(netlist)?;
    let found = netlist.modules.get(top).map(|module| module.ports.keys().map(String::as_str).collect());
    let found: BTreeSet<&str> = found.unwrap_or_default();
    let ports = ports(board);
    let named = ports.iter().map(|(port, _)| port.as_str()).collect();
    let list = |names: Vec<&&str>| names.into_iter().map(|name| (*name).to_owned()).collect();
    let unmatched = Unmatched {
        without_port: list(BTreeSet::difference(&named, &found).collect()),
        without_pin: list(BTreeSet::difference(&found, &named).collect()),
    };
    Ok(Some(unmatched).filter(|u| !u.without_port.is_empty() || !u.without_pin.is_empty()))
}

/// Pins and ports that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// Constrained, but not in the netlist.
    pub without_port: Vec<String>,
    /// In the netlist, but not constrained.
    pub without_pin: Vec<String>,
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        write!(
            f,
            "pins without a port: {}; ports without a pin: {}",
            list(&self.without_port),
            list(&self.without_pin)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_25_pins_and_ports_must_match() {
        let board = systole_boards::find("icebreaker").expect("known");
        let netlist = |ports: &[&str]| {
            let ports: Vec<String> =
                ports.iter().map(|port| format!(r#""{port}": {{"bits": [2]}}"#)).collect();
            format!(
                r#"{{"creator": "y", "modules": {{"top": {{"ports": {{{}}}, "cells": {{}}}}}}}}"#,
                ports.join(",")
            )
        };
        let unmatched = |ports: &[&str]| unmatched(board, &netlist(ports), "top").expect("a netlist");
        assert_eq!(unmatched(&PORTS), None);
        let told = unmatched(&["clock", "rx", "tx", "led_idle", "led_busy", "spare"]).expect("two of them");
        assert_eq!(told.to_string(), "pins without a port: led_error; ports without a pin: spare");
        assert!(super::unmatched(board, "{}", "top").is_err());
    }

    fn lines(board: &str) -> Vec<String> {
        text(systole_boards::find(board).expect("known")).lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_family_has_its_own_words() {
        assert_eq!(lines("icebreaker")[..3], ["set_io clock 35", "set_io -pullup yes rx 6", "set_io tx 9"]);
        let ulx3s = lines("ulx3s-25f");
        assert_eq!(ulx3s[2], "LOCATE COMP \"rx\" SITE \"M1\";");
        assert_eq!(ulx3s[3], "IOBUF PORT \"rx\" IO_TYPE=LVCMOS33 PULLMODE=UP;");
        assert_eq!(ulx3s[12], "LOCATE COMP \"tied_high$0\" SITE \"L2\";");
        let nano = lines("tang-nano-9k");
        assert_eq!(
            nano[6..8],
            ["IO_LOC \"led_idle\" 10;", "IO_PORT \"led_idle\" IO_TYPE=LVCMOS18 PULL_MODE=NONE;"]
        );
    }
}
