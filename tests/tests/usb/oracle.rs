//! Debian's own programmers against the same model, so that the model is not merely our opinion, nor is our programmer.

use crate::Scenario;
use crate::bench::{
    SERIAL, board, design, device, image, plug_and_wait, plugged, product, run, silent, software,
};
use crate::flashing::programmer;
use std::fs;
use systole::virtual_board::usb_model::{Board, Flash, Wiring, labelled};
use systole_firmware::image::ice40::Die;

pub const SCENARIOS: [Scenario; 4] = [
    ("iceprog_writes_what_the_programmer_verifies_and_the_other_way_round", iceprog),
    ("iceprog_sees_an_image_that_does_not_start", damaged),
    ("iceprog_loads_the_fpgas_own_memory", own_memory),
    ("openfpgaloader_writes_an_image_that_answers", openfpgaloader),
];

/// An image in a file.
fn file(bytes: &[u8]) -> String {
    let path = "/tmp/image.bin";
    fs::write(path, bytes).expect("a file");
    path.to_owned()
}

fn iceprog() {
    let (two, three) = (design(2), design(3));
    let plugged = plugged(SERIAL, software(), &two);
    let path = file(&image(&three));
    let written = run("iceprog", &[&path]);
    assert!(written.code == 0 && written.err.contains("cdone: high"), "{}", written.err);
    assert_eq!(product("usb", "2x3x2").report()["design"]["n"], 3);
    let mut ours = programmer_of_either_driver();
    ours.verify(0, &image(&three), &mut |_| ()).expect("what iceprog wrote");
    ours.program(0, &image(&two), &mut |_| ()).expect("programmed");
    ours.start().expect("CDONE");
    drop(ours);
    let checked = run("iceprog", &["-c", &file(&image(&two))]);
    assert_eq!(checked.code, 0, "{}", checked.err);
    // It can fail: another image is none of what is there.
    let other = run("iceprog", &["-c", &file(&image(&three))]);
    assert_eq!(other.code, 3, "{}", other.err);
    let read = run("iceprog", &["-R", "8k", "/tmp/read.bin"]);
    assert_eq!(read.code, 0, "{}", read.err);
    let read = fs::read("/tmp/read.bin").expect("what was read");
    assert!(read[..image(&two).len()] == image(&two)[..]);
    plugged.unplug().expect("unplugged");
}

/// The programmer of a board whose first port iceprog has left without a driver.
fn programmer_of_either_driver() -> systole::flash::ice40::Programmer {
    let devices = systole::discover::Machine::default().usb_devices();
    let found =
        devices.into_iter().find(|device| device.serial.as_deref() == Some(SERIAL)).expect("plugged in");
    let cancel = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    systole::flash::ice40::open(&found, 0, cancel).expect("a programmer")
}

fn damaged() {
    let plugged = plugged(SERIAL, software(), &design(2));
    let mut bad = image(&design(3));
    bad[4000] ^= 0x20;
    let written = run("iceprog", &[&file(&bad)]);
    assert!(written.code == 0 && written.err.contains("cdone: low"), "{}", written.err);
    silent(1);
    plugged.unplug().expect("unplugged");
}

fn own_memory() {
    let breakout = Board { wiring: Wiring::Sram, ..board(SERIAL, software()) };
    let plugged = plug_and_wait(breakout, Flash::new());
    let loaded = run("iceprog", &["-S", &file(&image(&design(3)))]);
    assert!(loaded.code == 0 && loaded.err.contains("cdone: high"), "{}", loaded.err);
    assert_eq!(product("usb", "2x3x2").report()["design"]["n"], 3);
    plugged.unplug().expect("unplugged");
}

fn openfpgaloader() {
    let plugged = plugged(SERIAL, software(), &design(2));
    device(SERIAL);
    let mut ours = programmer();
    ours.program(0, &labelled(Die::Ice384, &[]), &mut |_| ()).expect("programmed");
    drop(ours);
    let written = run("openFPGALoader", &["-b", "ice40_generic", "-f", &file(&image(&design(3)))]);
    assert_eq!(written.code, 0, "{}{}", written.out, written.err);
    assert_eq!(product("usb", "2x3x2").report()["design"]["n"], 3);
    let (_, flash) = plugged.unplug().expect("unplugged");
    let image = image(&design(3));
    assert!(flash.memory()[..image.len()] == image[..]);
}
