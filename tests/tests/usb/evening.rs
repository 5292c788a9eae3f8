//! The first evening with a board, step by step as the README tells it, with an image that is there already and a small
//! product.

use crate::Scenario;
use crate::bench::{
    LIMIT, SERIAL, board, design, device, end, end_within, forgotten, plug_and_wait, port, product, run,
    software, start, systole,
};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use systole::virtual_board::usb_model::{Board, Flash, Wiring, labelled};
use systole_boards::find;
use systole_firmware::image::ice40::Die;
use systole_firmware::label;

pub const SCENARIOS: [Scenario; 6] = [
    ("first_evening_from_plug_in_to_equal", first_evening),
    ("flash_tells_an_fpga_that_does_not_start", another_fpga),
    ("flash_tells_a_silent_uart_from_a_board_that_was_not_programmed", silent_uart),
    ("flash_loads_the_fpgas_own_memory_and_runs", own_memory),
    ("flash_with_the_plug_pulled_is_an_error_and_no_hang", pulled),
    ("virtual_board_plugs_itself_in_and_out", virtual_board),
];

/// An image for the iCEbreaker, made by the real tools; the script `tests/usb` has put it there.
const MADE: &str = "/image.bin";

/// An iCEbreaker as it is sold: with somebody else's image.
fn new_board() -> (Board, Flash) {
    let mut flash = Flash::new();
    let image = labelled(Die::Ice5k, &[]);
    flash.memory_mut()[..image.len()].copy_from_slice(&image);
    (Board { die: Die::Ice5k, ..board(SERIAL, software()) }, flash)
}

/// Runs `flash` for it with more arguments.
fn flash(more: &[&str]) -> crate::bench::Ended {
    let all = [&["flash", "--board", "icebreaker", "--format", "json"], more].concat();
    end_within(start("systole", &all), 2 * LIMIT)
}

fn first_evening() {
    let (board, sold) = new_board();
    let before = sold.memory().to_vec();
    let plugged = plug_and_wait(board, sold);

    // 1. What the rule would have set, had udev been there: the program tells the command that does it.
    let timer = "/sys/bus/usb-serial/devices/ttyUSB1/latency_timer";
    let (finding, fix) = ("finding  latency-timer  /dev/ttyUSB1", format!("echo 1 | sudo tee {timer}"));
    let doctor = systole(&["doctor"]);
    let found = doctor.out.contains(finding) && doctor.out.contains(&fix);
    assert!(doctor.code == 5 && found, "{doctor:?}");
    assert_eq!(run("sh", &["-c", &fix.replace("sudo ", "")]).code, 0);
    let doctor = systole(&["doctor"]);
    assert!(!doctor.out.contains(finding), "{doctor:?}");
    // 2. The board.
    let list = systole(&["list"]).out;
    assert!(list.contains("icebreaker") && list.contains(&format!("usb:0403:6010:{SERIAL}")), "{list}");
    // 4. The image. What is in the way is saved.
    let saved = "/tmp/saved.bin";
    let report = flash(&["--image", MADE, "--read", saved]).report();
    let image = fs::read(MADE).expect("an image");
    let hash = &report["image"]["design_hash"];
    assert!(hash.is_string(), "the image has no label: {report}");
    assert_eq!((&report["outcome"], &report["answer"]["design_hash"]), (&"confirmed".into(), hash));
    assert_eq!((&report["programmer"], &report["memory"]), (&"systole".into(), &"flash".into()));
    let bytes = fs::read(saved).expect("what was there");
    assert!(bytes.len() >= image.len() && bytes == before[..bytes.len()]);
    // 5. Run.
    let info: Value = systole(&["info", "--link", "auto", "--format", "json"]).report();
    assert_eq!(&info["design_hash"], hash);
    let run = systole(&["run", "--link", "auto", "--random", "8x7x6", "--seed", "1"]);
    assert!(run.code == 0 && run.out.contains("equal  "), "{run:?}");

    // Again: nothing is to be done, and the flash holds this image and no other.
    assert_eq!(flash(&["--image", MADE]).report()["outcome"], "already-running");
    assert_eq!(flash(&["--image", MADE, "--verify"]).report()["outcome"], "verified");
    let other = "/tmp/other.bin";
    fs::write(other, [&image[..9000], &[!image[9000]], &image[9001..]].concat()).expect("written");
    let differs = flash(&["--image", other, "--verify"]);
    assert!(differs.code == 1 && differs.out.contains(r#""differs""#), "{differs:?}");
    let (_, left) = plugged.unplug().expect("unplugged");
    assert!(left.memory()[..image.len()] == image && left.memory()[bytes.len()..] == before[bytes.len()..]);
}

/// The command that erases everything; it takes most of a minute.
pub fn erase() {
    let (board, sold) = new_board();
    let plugged = plug_and_wait(board, sold);
    assert_eq!(flash(&["--erase"]).report()["outcome"], "erased");
    let (_, left) = plugged.unplug().expect("unplugged");
    assert!(left.memory().iter().all(|&byte| byte == 0xFF));
}

/// Writes an image without any logic into a file, labelled as that of a design or not at all.
fn made(name: &str, die: Die, label: &[String]) -> String {
    let name = format!("/tmp/{name}.bin");
    fs::write(&name, labelled(die, label)).expect("written");
    name
}

fn another_fpga() {
    // Not the FPGA that an iCEbreaker has: the image is one for the board, and not for this one.
    let plugged = plug_and_wait(Board { die: Die::Ice8k, ..board(SERIAL, software()) }, Flash::new());
    let ended = flash(&["--image", &made("other", Die::Ice5k, &[])]);
    let complaint = ended.complaint(3);
    assert!(complaint.contains("CDONE"), "{complaint}");
    plugged.unplug().expect("unplugged");
}

fn silent_uart() {
    let (board, sold) = new_board();
    let plugged = plug_and_wait(board, sold);
    let uart = format!("serial:{}@3000000", port(&device(SERIAL), 1).display());
    // Somebody else's image, which starts and says nothing.
    let image = made("silent", Die::Ice5k, &[]);
    let ended = flash(&["--image", &image, "--design-hash", "0123456789abcdef", "--link", &uart]);
    assert!(ended.code == 3 && ended.out.contains(r#""outcome": "silent""#), "{ended:?}");
    assert!(
        ended.out.contains("the flash was read back and is right, and the FPGA has started"),
        "{ended:?}"
    );
    plugged.unplug().expect("unplugged");
}

fn own_memory() {
    let breakout = Board {
        die: Die::Ice8k,
        wiring: Wiring::Sram,
        product: find("hx8k-b-evn").expect("known").usb.products[0].clone(),
        ..board(SERIAL, software())
    };
    let plugged = plug_and_wait(breakout, Flash::new());
    let three = design(3);
    let image = made("breakout", Die::Ice8k, &label::lines(&three, 0xABCD));
    let order = ["flash", "--board", "hx8k-b-evn", "--memory", "sram", "--image", &image, "--format", "json"];
    let report = end_within(start("systole", &order), 2 * LIMIT).report();
    assert_eq!((&report["outcome"], &report["memory"]), (&"confirmed".into(), &"sram".into()));
    assert_eq!(product("usb", "3x4x3").report()["design"]["n"], 3);
    let (_, left) = plugged.unplug().expect("unplugged");
    assert!(left.memory().iter().all(|&byte| byte == 0xFF));
}

fn pulled() {
    // While identifying, erasing and writing.
    for bytes in [30, 2000, 60_000] {
        let (board, sold) = new_board();
        let plugged = plug_and_wait(board, sold);
        plugged.handle().unplug_after(bytes);
        let ended = flash(&["--image", MADE, "--link", "serial:/dev/ttyUSB1@3000000"]);
        assert!(ended.complaint(3).contains("the board is gone"), "after {bytes} bytes: {}", ended.err);
        assert!(ended.seconds < 20.0, "after {bytes} bytes: {} s", ended.seconds);
        plugged.unplug().expect("pulled already");
    }
}

fn virtual_board() {
    let mut child =
        start("systole", &["virtual-board", "--usb-model", "--behavioural", "--n", "3", "--serial", "OWN"]);
    let mut told = String::new();
    let out = child.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut told).expect("a line");
    let link = told.trim();
    assert_eq!(link, "usb:0403:6010:OWN");
    device("OWN");
    let report = product(link, "4x4x4").report();
    assert_eq!((&report["equal"], &report["design"]["n"]), (&true.into(), &3.into()));
    assert_eq!(run("kill", &["-INT", &child.id().to_string()]).code, 0);
    end(child).complaint(130);
    forgotten("OWN");
}
