//! The link to the chip itself: which device, which interface, what passes.

use crate::Scenario;
use crate::bench::{
    SERIAL, design, device, echo, forgotten, open, plugged, port, product, silent, software, systole,
    wait_for, with,
};
use std::collections::VecDeque;
use std::fs;
use std::time::{Duration, Instant};
use systole::ftdi::Chip;
use systole_hdl::parameters::Parameters;

pub const SCENARIOS: [Scenario; 8] = [
    ("list_shows_the_board_its_ports_and_its_serial_number", list),
    ("row_05_of_two_channels_the_uart_is_found", two_channels),
    ("row_06_the_interface_is_claimed_and_given_back", claimed),
    ("row_07_the_latency_timer_is_short_on_either_way", latency),
    ("row_08_a_rate_that_the_board_does_not_have_is_searched_for", rates),
    ("row_19_two_boards_are_told_apart_by_serial_number", two_boards),
    ("bytes_of_any_number_arrive_in_order", any_number),
    ("no_board_and_no_such_board_are_said_so", no_board),
];

fn list() {
    let board = plugged(SERIAL, software(), &design(2));
    let found = device(SERIAL);
    assert_eq!(
        (found.vid, found.pid, found.is_model, found.access.is_granted()),
        (0x0403, 0x6010, true, true)
    );
    assert!(found.boards.iter().any(|board| board.name == "icebreaker"));
    for (number, interface) in found.interfaces.iter().enumerate() {
        assert_eq!((usize::from(interface.number), interface.driver.as_deref()), (number, Some("ftdi_sio")));
        assert!(port(&found, number).exists());
    }
    let report = systole(&["list", "--format", "json"]).report();
    let listed = &report["usb_devices"][0];
    assert_eq!(
        (&listed["link"], &listed["accessible"]),
        (&format!("usb:0403:6010:{SERIAL}").into(), &true.into())
    );
    let link = format!("serial:{}", port(&found, 1).display());
    let ports = report["ports"].as_array().expect("ports");
    let uart = ports.iter().find(|port| port["link"] == link.as_str()).expect("the UART's port");
    assert_eq!((&uart["interface"], &uart["latency_timer_ms"]), (&1.into(), &16.into()));
    assert!(uart["boards"].as_array().expect("boards").contains(&"icebreaker".into()), "{uart}");
    board.unplug().expect("unplugged");
}

fn two_channels() {
    let board = plugged(SERIAL, software(), &design(2));
    // Nobody told it which of the two.
    let report = product("usb", "2x3x2").report();
    assert_eq!((&report["level"], &report["equal"]), (&"usb-stack".into(), &true.into()));
    // The other one leads to the flash, and is not taken for a board.
    silent(0);
    board.unplug().expect("unplugged");
}

fn driver(interface: u8) -> Option<String> {
    let devices = systole::discover::Machine::default().usb_devices();
    let found = devices.into_iter().find(|device| device.serial.as_deref() == Some(SERIAL))?;
    found.interfaces.into_iter().find(|one| one.number == interface)?.driver
}

fn claimed() {
    let board = plugged(SERIAL, software(), &design(2));
    assert_eq!(driver(1).as_deref(), Some("ftdi_sio"));
    let link = open("usb");
    assert_eq!((driver(0).as_deref(), driver(1).as_deref()), (Some("ftdi_sio"), Some("usbfs")));
    // A second one is told that the first is there.
    let second = product("usb", "2x3x2");
    assert!(second.complaint(3).contains("in use"), "{}", second.err);
    drop(link);
    wait_for("the driver to take its interface back", || driver(1).filter(|name| name == "ftdi_sio"));
    let found = device(SERIAL);
    let again = product(&format!("serial:{}", port(&found, 1).display()), "2x3x2");
    assert_eq!(again.report()["equal"], true);
    board.unplug().expect("unplugged");
}

/// The best of some round trips of a byte.
fn round_trip(link: &str) -> Duration {
    let mut link = open(link);
    let mut best = Duration::MAX;
    for byte in 0..20 {
        let (begun, mut arrived) = (Instant::now(), Vec::new());
        let mut to_send = VecDeque::from([byte]);
        while arrived.is_empty() {
            link.poll(&mut to_send, &mut arrived).expect("an open link");
            assert!(begun.elapsed() < Duration::from_secs(5), "byte {byte} does not come back");
        }
        assert_eq!(arrived, [byte]);
        best = best.min(begun.elapsed());
    }
    best
}

fn latency() {
    let board = plugged(SERIAL, echo(), &design(2));
    let chip = Chip::of(&device(SERIAL)).expect("there");
    let claimed = chip.claim(1).expect("free");
    // As the driver left it.
    assert_eq!(claimed.latency().expect("an answer"), 16);
    drop(claimed);
    let found = device(SERIAL);
    let path = port(&found, 1);
    assert!(round_trip("usb") < Duration::from_millis(12));
    device(SERIAL);
    assert!(round_trip(&format!("serial:{}", path.display())) < Duration::from_millis(12));
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let timer = fs::read_to_string(format!("/sys/bus/usb-serial/devices/{name}/latency_timer"));
    assert_eq!(timer.expect("a timer").trim(), "1");
    board.unplug().expect("unplugged");
}

fn rates() {
    // Neither the board's usual rate nor the default: the next that is tried. Each before takes three seconds.
    let fast = with(Parameters { n: 2, baud: 12_000_000, clock_hz: 48_000_000, ..Parameters::default() });
    let board = plugged(SERIAL, software(), &fast);
    let path = port(&device(SERIAL), 1);
    let report = product("usb", "2x3x2").report();
    assert_eq!((&report["equal"], &report["design"]["baud"]), (&true.into(), &12_000_000.into()));
    device(SERIAL);
    let report = product(&format!("serial:{}", path.display()), "2x3x2").report();
    assert_eq!(report["design"]["baud"], 12_000_000);
    // At one rate alone, and another than the board's, nothing is understood.
    let wrong = product(&format!("serial:{}@3000000", path.display()), "2x3x2");
    assert!(wrong.complaint(3).contains("HELLO"), "{}", wrong.err);
    // The kernel's driver falls back to 9,600 when a chip cannot do a rate, and says nothing.
    let refused = product(&format!("serial:{}@20000000", path.display()), "2x3x2");
    assert!(refused.complaint(3).contains("20000000") && refused.err.contains("9600"), "{}", refused.err);
    board.unplug().expect("unplugged");
}

fn two_boards() {
    let (two, three) = (design(2), design(3));
    let first = plugged("SYS0002", software(), &two);
    let second = plugged("SYS0003", software(), &three);
    let either = product("usb", "2x3x2");
    let complaint = either.complaint(3);
    assert!(
        complaint.contains("usb:0403:6010:SYS0002") && complaint.contains("usb:0403:6010:SYS0003"),
        "{complaint}"
    );
    let ids_only = product("usb:0403:6010", "2x3x2");
    assert!(ids_only.complaint(3).contains("several"), "{}", ids_only.err);
    for (serial, n) in [("SYS0002", 2), ("SYS0003", 3)] {
        let report = product(&format!("usb:0403:6010:{serial}"), "2x3x2").report();
        assert_eq!((&report["design"]["n"], &report["equal"]), (&n.into(), &true.into()));
    }
    first.unplug().expect("unplugged");
    second.unplug().expect("unplugged");
}

fn any_number() {
    let board = plugged(SERIAL, echo(), &design(2));
    let mut link = open("usb");
    // Around one packet, two, a transfer, and the chip's buffer.
    let numbers = [1, 2, 509, 510, 511, 512, 513, 1019, 1020, 1021, 4079, 4080, 4081, 4096, 20_000];
    for number in numbers {
        let sent: Vec<u8> = (0..number).map(|at| (at * 31 + at / 256) as u8).collect();
        let (mut to_send, mut arrived) = (VecDeque::from(sent.clone()), Vec::new());
        let begun = Instant::now();
        while arrived.len() < sent.len() {
            link.poll(&mut to_send, &mut arrived).expect("an open link");
            assert!(begun.elapsed() < Duration::from_secs(20), "{} of {number} bytes came", arrived.len());
        }
        assert!(arrived == sent, "{number} bytes");
    }
    // Nothing comes that was not sent: the chip's empty packets have no data.
    let (quiet, mut arrived) = (Instant::now(), Vec::new());
    while quiet.elapsed() < Duration::from_millis(50) {
        link.poll(&mut VecDeque::new(), &mut arrived).expect("an open link");
    }
    assert!(arrived.is_empty());
    drop(link);
    board.unplug().expect("unplugged");
}

fn no_board() {
    forgotten(SERIAL);
    let none = product("usb", "2x3x2");
    assert!(none.complaint(3).contains("no board is attached"), "{}", none.err);
    let such = product("usb:0403:6014", "2x3x2");
    assert!(such.complaint(3).contains("usb:0403:6014"), "{}", such.err);
}
