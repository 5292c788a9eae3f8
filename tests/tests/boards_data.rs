//! The board files: what they say, typed a second time from the sources, and what the loader says to bad ones.

use std::path::{Path, PathBuf};
use systole_boards::{
    Board, BoardError, Fact, FindError, Memory, Pll, Pull, Standard, TieLevel, all, find, read, udev,
};
use systole_hdl::parameters::ParameterError;

/// Name; device; clock pin, MHz, PLL; UART pins in and out; LED pins idle, busy, error; whether a low level lights idle.
type Row = (
    &'static str,
    &'static str,
    (&'static str, u32, Option<Pll>),
    [&'static str; 2],
    [&'static str; 3],
    bool,
);

const BOARDS: [Row; 9] = [
    ("alchitry-cu", "hx8k", ("P7", 100, Some(Pll::Pad)), ["P14", "M9"], ["J11", "K11", "K12"], false),
    ("ecp5-evn", "um5g-85k", ("A10", 12, Some(Pll::Core)), ["P2", "P3"], ["A13", "A12", "B19"], true),
    ("hx8k-b-evn", "hx8k", ("J3", 12, Some(Pll::Core)), ["B10", "B12"], ["C3", "B3", "C4"], false),
    ("icebreaker", "up5k", ("35", 12, Some(Pll::Pad)), ["6", "9"], ["37", "25", "11"], true),
    ("tang-nano-9k", "GW1NR-LV9QN88PC6/I5", ("52", 27, None), ["18", "17"], ["10", "11", "13"], true),
    ("ulx3s-12f", "12k", ("G2", 25, Some(Pll::Core)), ["M1", "L4"], ["B2", "C2", "C1"], false),
    ("ulx3s-25f", "25k", ("G2", 25, Some(Pll::Core)), ["M1", "L4"], ["B2", "C2", "C1"], false),
    ("ulx3s-45f", "45k", ("G2", 25, Some(Pll::Core)), ["M1", "L4"], ["B2", "C2", "C1"], false),
    ("ulx3s-85f", "85k", ("G2", 25, Some(Pll::Core)), ["M1", "L4"], ["B2", "C2", "C1"], false),
];

fn boards() -> &'static [Board] {
    all().expect("sound board files")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../boards")
}

#[test]
fn pins_clocks_and_devices_are_those_of_the_sources() {
    let said: Vec<Row> = boards()
        .iter()
        .map(|b| {
            let clock = (b.clock.pin.at.as_str(), b.clock.hz / 1_000_000, b.pll);
            let leds = [&b.leds.idle, &b.leds.busy, &b.leds.error].map(|pin| pin.at.as_str());
            let uart = [b.uart.rx.at.as_str(), b.uart.tx.at.as_str()];
            (b.name.as_str(), b.fpga.device.as_str(), clock, uart, leds, b.leds.idle.active_low)
        })
        .collect();
    assert_eq!(said, BOARDS);
    assert!(boards().iter().all(|b| b.clock.hz % 1_000_000 == 0));
}

#[test]
fn usb_ids_and_interfaces() {
    for board in boards() {
        let ulx3s = board.name.starts_with("ulx3s");
        let expected = if ulx3s { (0x0403, 0x6015, 0) } else { (0x0403, 0x6010, 1) };
        assert_eq!((board.usb.vid, board.usb.pid, board.usb.interface), expected, "{}", board.name);
        assert!(!board.usb.products.is_empty(), "{}", board.name);
    }
}

#[test]
fn what_ties_and_io_banks_need() {
    for board in boards() {
        let ties: Vec<_> =
            board.ties.iter().map(|tie| (tie.name.as_str(), tie.pin.at.as_str(), tie.level)).collect();
        let expected =
            if board.name.starts_with("ulx3s") { vec![("wifi_gpio0", "L2", TieLevel::High)] } else { vec![] };
        assert_eq!(ties, expected, "{}", board.name);
        let uart = (board.uart.rx.standard, board.leds.error.standard);
        let expected = match board.name.as_str() {
            "ecp5-evn" => (Some(Standard::Lvcmos33), Some(Standard::Lvcmos25)),
            "tang-nano-9k" => (Some(Standard::Lvcmos33), Some(Standard::Lvcmos18)),
            name if name.starts_with("ulx3s") => (Some(Standard::Lvcmos33), Some(Standard::Lvcmos33)),
            _ => (None, None),
        };
        assert_eq!(uart, expected, "{}", board.name);
        // A cable pulled out must look like an idle line.
        assert_eq!(board.uart.rx.pull, Some(Pull::Up), "{}", board.name);
    }
}

#[test]
fn every_default_design_makes_its_baud_rate_exactly() {
    for board in boards() {
        let p = &board.parameters;
        assert_eq!(p.clock_hz % p.baud, 0, "{}", board.name);
        assert!(p.clock_hz / p.baud >= 8, "{}: the receiver takes no majority", board.name);
    }
}

#[test]
fn boards_that_cannot_be_written_without_a_jumper_say_so() {
    let notes: Vec<_> = boards().iter().filter(|b| b.note.is_some()).map(|b| b.name.as_str()).collect();
    assert_eq!(notes, ["ecp5-evn", "hx8k-b-evn"]);
    let note = find("hx8k-b-evn").expect("known").note.as_deref().expect("a note");
    assert!(note.contains("J7") && note.contains("J6") && !note.contains('\n'), "{note}");
}

#[test]
fn every_file_is_part_of_the_program() {
    let mut names = vec![];
    for entry in std::fs::read_dir(folder().join("data")).expect("board files") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let text = std::fs::read_to_string(&path).expect("text");
        names.extend(read(name, &text).unwrap_or_else(|error| panic!("{error}")).into_iter().map(|b| b.name));
    }
    names.sort();
    assert_eq!(names, BOARDS.map(|row| row.0));
}

#[test]
fn the_udev_rule_is_made_of_the_boards() {
    assert_eq!(udev::RULES, udev::rules(boards()));
    for (id, names) in [("6010", 5), ("6015", 4)] {
        let product = format!("{{idProduct}}==\"{id}\"");
        let lines: Vec<_> = udev::RULES.lines().filter(|line| line.contains(&product)).collect();
        assert_eq!(lines.len(), 3, "{id}");
        assert!(lines.iter().all(|line| line.contains("{idVendor}==\"0403\"")), "{id}");
        for line in &lines[..2] {
            assert!(
                line.contains("TAG+=\"uaccess\"") && line.contains("ENV{ID_MM_DEVICE_IGNORE}=\"1\""),
                "{line}"
            );
        }
        let title = udev::RULES.lines().filter(|line| line.starts_with("# ")).find(|line| {
            line.split(", ").count() == names
                && line.contains(if id == "6015" { "ulx3s" } else { "icebreaker" })
        });
        assert!(title.is_some(), "{id}");
    }
    // Before systemd grants access by the tag, and before ModemManager looks.
    assert!(udev::FILE < "73-seat-late.rules" && udev::FILE < "77-mm-usb-device-blacklist.rules");
    assert!(folder().join(udev::FILE).is_file());
}

#[test]
fn names_are_found_in_any_case_and_slips_are_guessed() {
    assert_eq!(find("iCEBreaker").expect("known").name, "icebreaker");
    let near = |name| match find(name) {
        Err(FindError::Unknown { near, known, .. }) => {
            assert_eq!(known, BOARDS.map(|row| row.0));
            near
        }
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(near("icebraker").first(), Some(&"icebreaker"));
    assert_eq!(near("ulx3s"), ["ulx3s-12f", "ulx3s-25f", "ulx3s-45f", "ulx3s-85f"]);
    assert_eq!(near("tang-nano-20k").first(), Some(&"tang-nano-9k"));
    assert_eq!(near("zx81"), [""; 0]);
    assert_eq!(near(""), [""; 0]);
    let message = find("iCEstick").expect_err("no image fits it").to_string();
    assert!(message.starts_with("there is no image for icestick: "), "{message}");
    let message = find("icebraker").expect_err("unknown").to_string();
    assert!(message.starts_with("no board is called \"icebraker\"; did you mean icebreaker"), "{message}");
}

/// The error of a file with some text replaced.
fn spoilt(file: &str, from: &str, to: &str) -> BoardError {
    let text = std::fs::read_to_string(folder().join("data").join(file)).expect("a board file");
    assert!(text.contains(from), "{file} has no {from:?}");
    let error = read(file, &text.replace(from, to)).expect_err(to);
    assert!(error.to_string().starts_with(&format!("{file}: ")), "{error}");
    error
}

#[test]
fn keys_that_are_unknown_missing_or_of_the_wrong_kind_are_named() {
    let cases = [
        ("title = ", "tilte = ", "tilte"),
        ("interface = 1", "interfaces = 1", "interfaces"),
        ("rx = { at = \"6\", pull = \"up\" }", "rx = { at = \"6\", pulled = \"up\" }", "pulled"),
        ("hz = 12_000_000", "", "hz"),
        ("hz = 12_000_000", "hz = \"fast\"", "hz = \"fast\""),
        ("n = 4, clock", "m = 4, clock", "`m`"),
        ("memory = \"flash\"", "memory = \"ram\"", "memory = \"ram\""),
        ("vid = 0x0403", "vid = 0x10403", "vid = 0x10403"),
        ("family = \"ice40\"", "family = \"ice50\"", "family = \"ice50\""),
    ];
    for (from, to, named) in cases {
        let error = spoilt("icebreaker.toml", from, to);
        assert!(matches!(error, BoardError::Syntax { .. }), "{error:?}");
        assert!(error.to_string().contains(named), "{named} in {error}");
    }
}

#[test]
fn a_pin_twice_names_both_uses() {
    let error = spoilt("icebreaker.toml", "tx = { at = \"9\" }", "tx = { at = \"37\" }");
    assert_eq!(error.to_string(), "icebreaker.toml: pin 37 stands twice: uart.tx and leds.idle");
    let error = spoilt("ulx3s.toml", "pin = { at = \"L2\" }", "pin = { at = \"G2\" }");
    assert_eq!(error.to_string(), "ulx3s.toml: pin G2 stands twice: clock.pin and ties.wifi_gpio0");
}

#[test]
fn a_device_package_or_speed_that_the_toolchain_does_not_know() {
    let error = spoilt("icebreaker.toml", "device = \"up5k\"", "device = \"up6k\"");
    assert_eq!(
        error.to_string(),
        "icebreaker.toml: device: the toolchain knows no ice40 device \"up6k\", but hx1k, hx8k, up5k"
    );
    let error = spoilt("icebreaker.toml", "package = \"sg48\"", "package = \"ct256\"");
    assert!(matches!(error, BoardError::Unknown { key: "package", .. }), "{error}");
    let error = spoilt("ulx3s.toml", "speed = \"6\"", "");
    assert!(matches!(error, BoardError::Unknown { key: "speed", .. }), "{error}");
    let error = spoilt("ecp5-evn.toml", "speed = \"8\"", "speed = \"6\"");
    assert!(matches!(error, BoardError::Unknown { key: "speed", .. }), "{error}");
    let error = spoilt("icebreaker.toml", "package = \"sg48\"", "package = \"sg48\"\nspeed = \"1\"");
    assert!(matches!(error, BoardError::Unknown { key: "speed", .. }), "{error}");
}

#[test]
fn io_standards_stand_where_the_tools_ask_for_them() {
    let error = spoilt("ulx3s.toml", "standard = \"LVCMOS33\"", "");
    assert!(
        matches!(&error, BoardError::Standard { key, wanted: true, .. } if key == "clock.pin"),
        "{error}"
    );
    let error =
        spoilt("icebreaker.toml", "tx = { at = \"9\" }", "tx = { at = \"9\", standard = \"LVCMOS33\" }");
    assert!(matches!(&error, BoardError::Standard { key, wanted: false, .. } if key == "uart.tx"), "{error}");
}

#[test]
fn a_design_that_the_board_cannot_run() {
    let error = spoilt("icebreaker.toml", "baud = 3_000_000", "baud = 3_100_000");
    let baud = ParameterError::Baud { baud: 3_100_000, clock_hz: 24_000_000, divisor: 8, actual: 3_000_000 };
    assert!(
        matches!(&error, BoardError::Design { board, error, .. } if board == "icebreaker" && *error == baud)
    );
    let error = spoilt("icebreaker.toml", "n = 4, clock", "n = 40, clock");
    assert!(
        matches!(&error, BoardError::Design { error: ParameterError::Range { name: "n", .. }, .. }),
        "{error}"
    );
    let error =
        spoilt("ulx3s.toml", "clock = 45_000_000, baud = 3_000_000", "clock = 45_000_000, baud = 5_000_000");
    assert!(matches!(error, BoardError::BaudOfUsb { baud: 5_000_000, max: 3_000_000, .. }), "{error}");
    let error = spoilt("icebreaker.toml", "pll = \"pad\"", "");
    assert!(matches!(error, BoardError::NoPll { design: 24_000_000, oscillator: 12_000_000, .. }), "{error}");
    let error = spoilt("icebreaker.toml", "largest = { n = 4", "largest = { n = 3");
    assert!(matches!(error, BoardError::Largest { n: 4, largest: 3, .. }), "{error}");
}

#[test]
fn programming_that_cannot_be() {
    let error = spoilt("icebreaker.toml", "memory = \"flash\"", "memory = \"sram\"");
    assert!(matches!(error, BoardError::Memory { memory: Memory::Sram, .. }), "{error}");
    let error = spoilt("ulx3s.toml", "target = \"ulx3s\"", "");
    assert!(matches!(error, BoardError::Target { .. }), "{error}");
}

#[test]
fn names_that_do_not_go_with_the_file() {
    let error = spoilt("icebreaker.toml", "name = \"icebreaker\"", "name = \"icebreaker2\"");
    assert!(matches!(error, BoardError::Name { .. }), "{error}");
    let error = spoilt("ulx3s.toml", "name = \"ulx3s-25f\"", "name = \"ulx3s-12f\"");
    assert!(matches!(error, BoardError::NameTwice { .. }), "{error}");
    let text = std::fs::read_to_string(folder().join("data/icebreaker.toml")).expect("a board file");
    let (head, rest) = text.split_once("[[variant]]").expect("a variant");
    let (_, sources) = rest.split_once("[[sources]]").expect("sources");
    let error = read("icebreaker.toml", &format!("{head}[[sources]]{sources}")).expect_err("no variant");
    assert!(matches!(error, BoardError::NoVariant { .. }), "{error}");
}

#[test]
fn too_few_sources() {
    let all_of = ["clock", "uart", "leds", "usb"];
    for (key, fact) in all_of.iter().zip([Fact::Clock, Fact::Uart, Fact::Leds, Fact::Usb]) {
        let error = spoilt("icebreaker.toml", &format!("\"{key}\""), "\"program\"");
        assert!(matches!(error, BoardError::Sources { fact: f, found: 0, .. } if f == fact), "{error}");
    }
    let error = spoilt("ulx3s.toml", "\"leds\", \"ties\"]", "\"leds\"]");
    assert!(matches!(error, BoardError::Sources { fact: Fact::Ties, found: 1, needed: 2, .. }), "{error}");
    assert_eq!(error.to_string(), "ulx3s.toml: sources: 1 confirm ties, but it takes 2");
    // Two files of one repository do not confirm each other.
    let error = spoilt("alchitry-cu.toml", "FPGAwars/icestudio", "alchitry/Alchitry-Labs");
    assert!(matches!(error, BoardError::Sources { fact: Fact::Uart, found: 1, needed: 2, .. }), "{error}");
}

#[test]
fn sources_can_be_looked_up() {
    for board in boards() {
        for source in &board.sources {
            let parts: Vec<_> = source.repository.split('/').collect();
            assert!(parts.len() == 2 && parts.iter().all(|part| !part.is_empty()), "{}", source.repository);
            assert!(!source.path.is_empty() && !source.confirms.is_empty(), "{}", source.repository);
        }
    }
}
