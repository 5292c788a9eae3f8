//! Where the ports of an image are on the board, in each family's file format.

use crate::top::PORTS;
use std::fmt::Write;
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

#[cfg(test)]
mod tests {
    use super::*;

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
