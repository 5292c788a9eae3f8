//! The programmer over USB: what is written, what starts, what answers afterwards.

use crate::Scenario;
use crate::bench::{
    LIMIT, SERIAL, board, design, device, flash, image, plug_and_wait, plugged, port, product, silent,
    software,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use systole::discover::{Machine, RETURN};
use systole::flash::ice40::{FlashError, Programmer, open};
use systole::virtual_board::usb_model::{Board, Flash, Wiring, labelled, plug};
use systole_firmware::design::Design;
use systole_firmware::image::ice40::Die;

pub const SCENARIOS: [Scenario; 6] = [
    ("flash_verify_start_and_run_another_design", flash_then_run),
    ("an_erased_board_does_not_start_and_says_nothing", erased),
    ("an_image_of_somebody_else_starts_and_says_nothing", somebody_elses),
    ("the_fpgas_own_memory_is_loaded", own_memory),
    ("unplugged_while_programming_is_an_error_and_no_hang", unplugged),
    ("row_17_a_board_that_leaves_and_returns_is_found_again", returns),
];

/// The programmer of the board.
pub fn programmer() -> Programmer {
    open(&device(SERIAL), 0, Arc::new(AtomicBool::new(false))).expect("a programmer")
}

/// Who answers.
fn answers(design: &Design) {
    let report = product("usb", "2x3x2").report();
    assert_eq!((&report["design"]["n"], &report["equal"]), (&design.parameters().n.into(), &true.into()));
}

fn flash_then_run() {
    let (two, three) = (design(2), design(3));
    let plugged = plugged(SERIAL, software(), &two);
    answers(&two);
    device(SERIAL);
    let mut programmer = programmer();
    let id = programmer.id().expect("a flash");
    assert_eq!((id.maker, id.device, id.capacity), (0xEF, 0x7018, 16 << 20));
    let before = programmer.read(0, 64, &mut |_| ()).expect("read");
    assert_eq!(before, image(&two)[..64]);
    programmer.program(0, &image(&three), &mut |_| ()).expect("programmed and verified");
    programmer.start().expect("CDONE");
    drop(programmer);
    answers(&three);
    let (_, flash) = plugged.unplug().expect("unplugged");
    let written = image(&three);
    assert!(flash.memory()[..written.len()] == written[..]);
    assert!(flash.memory()[8192..].iter().all(|&byte| byte == 0xFF));
}

fn erased() {
    let plugged = plugged(SERIAL, software(), &design(2));
    let mut programmer = programmer();
    programmer.erase(0, 8192, &mut |_| ()).expect("erased");
    let error = programmer.start().expect_err("nothing to start from");
    assert!(matches!(error, FlashError::NotConfigured { .. }), "{error}");
    drop(programmer);
    silent(1);
    plugged.unplug().expect("unplugged");
}

fn somebody_elses() {
    let plugged = plugged(SERIAL, software(), &design(2));
    let mut programmer = programmer();
    programmer.program(0, &labelled(Die::Ice384, &[]), &mut |_| ()).expect("programmed");
    programmer.start().expect("CDONE");
    drop(programmer);
    silent(1);
    plugged.unplug().expect("unplugged");
}

fn own_memory() {
    let three = design(3);
    let breakout = Board { wiring: Wiring::Sram, ..board(SERIAL, software()) };
    let plugged = plug_and_wait(breakout, Flash::new());
    let mut programmer = programmer();
    programmer.load(&image(&three), &mut |_| ()).expect("loaded");
    drop(programmer);
    answers(&three);
    let (_, flash) = plugged.unplug().expect("unplugged");
    assert!(flash.memory().iter().all(|&byte| byte == 0xFF));
}

fn unplugged() {
    // While identifying, erasing, writing, reading back.
    for bytes in [10, 200, 2000, 20_000] {
        let plugged = plugged(SERIAL, software(), &design(2));
        let found = device(SERIAL);
        plugged.handle().unplug_after(bytes);
        let begun = std::time::Instant::now();
        let programmed = open(&found, 0, Arc::new(AtomicBool::new(false)))
            .and_then(|mut programmer| programmer.program(0, &image(&design(3)), &mut |_| ()));
        let error = programmed.expect_err("unplugged").to_string();
        assert!(error.contains("the board is gone"), "after {bytes} bytes: {error}");
        assert!(begun.elapsed() < Duration::from_secs(15), "after {bytes} bytes: {:?}", begun.elapsed());
        let (_, _) = plugged.unplug().expect("ended");
    }
}

fn returns() {
    let first = plugged(SERIAL, software(), &design(2));
    let before = device(SERIAL);
    let (board, _) = first.unplug().expect("unplugged");
    // Meanwhile another board has come, and takes the numbers that were free.
    let other = plugged("SYS0009", software(), &design(2));
    let later = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        plug(board, flash(&design(3))).expect("plugged in again")
    });
    let cancel = AtomicBool::new(false);
    let path = Machine::default().wait_for_port(&before, 1, RETURN.max(LIMIT), &cancel).expect("it returns");
    assert_ne!(path.path, port(&before, 1), "another number");
    let report = product(&path.link(), "2x3x2").report();
    assert_eq!((&report["design"]["n"], &report["equal"]), (&3.into(), &true.into()));
    later.join().expect("plugged").unplug().expect("unplugged");
    other.unplug().expect("unplugged");
}
