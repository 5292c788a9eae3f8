//! Figures, under emulation: they compare one way with another, and say nothing of a real computer.

use crate::bench::{
    SERIAL, board, design, device, echo, end_within, open, plug_and_wait, plugged, port, product, software,
    start, systole,
};
use crate::flashing::programmer;
use std::collections::VecDeque;
use std::fs;
use std::time::{Duration, Instant};
use systole::link::Link;
use systole::virtual_board::usb_model::{Board, Flash, labelled};
use systole_firmware::image::ice40::Die;
use systole_firmware::label;

/// Round trips that are measured.
const TRIPS: usize = 200;

/// Bytes sent there and back.
const BYTES: usize = 1 << 18;

/// Bytes of an HX8K's image.
const FULL: usize = 135_100;

/// What both links do by themselves, what the protocol makes of them, and a product of 64×64×64 on 4×4 PEs in software.
pub fn links() {
    let board = plugged(SERIAL, software(), &design(4));
    let serial = format!("serial:{}@3000000", port(&device(SERIAL), 1).display());
    for link in ["usb", &*serial] {
        let bench = systole(&["bench", "link", "--link", link, "--format", "json"]).report();
        let rate = |name: &str| bench[name].as_f64().expect("a rate") / 1e6;
        let (source, sink, loopback) = (rate("source"), rate("sink"), rate("loopback"));
        println!("figure: {link}: source {source:.2} MB/s, sink {sink:.2}, loopback {loopback:.2} each way");
        device(SERIAL);
        let run = product(link, "64x64x64");
        assert_eq!(run.report()["equal"], true);
        println!("figure: {link}: 64x64x64 in {:.2} s", run.seconds);
        device(SERIAL);
    }
    board.unplug().expect("unplugged");

    let board = plugged(SERIAL, echo(), &design(2));
    let serial = format!("serial:{}@3000000", port(&device(SERIAL), 1).display());
    for (name, link) in [("usb", "usb"), ("serial", &*serial)] {
        let mut link = open(link);
        let trips = round_trips(link.as_mut());
        let rate = loopback(link.as_mut());
        println!("figure: {name}: round trip p50 {:?}, p99 {:?}; loopback {rate:.2} MB/s", trips.0, trips.1);
        drop(link);
        device(SERIAL);
    }
    board.unplug().expect("unplugged");
}

fn round_trips(link: &mut dyn Link) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..TRIPS).map(|trip| exchange(link, &[trip as u8])).collect();
    times.sort_unstable();
    (times[TRIPS / 2], times[TRIPS * 99 / 100])
}

/// Payload each way, in millions of bytes a second.
fn loopback(link: &mut dyn Link) -> f64 {
    let bytes: Vec<u8> = (0..BYTES).map(|at| (at * 7 + at / 509) as u8).collect();
    BYTES as f64 / exchange(link, &bytes).as_secs_f64() / 1e6
}

fn exchange(link: &mut dyn Link, bytes: &[u8]) -> Duration {
    let (begun, mut to_send, mut arrived) = (Instant::now(), VecDeque::from(bytes.to_vec()), Vec::new());
    while arrived.len() < bytes.len() {
        link.poll(&mut to_send, &mut arrived).expect("an open link");
        assert!(begun.elapsed() < Duration::from_secs(60), "{} of {} bytes came", arrived.len(), bytes.len());
    }
    assert!(arrived == bytes, "what came is what was sent");
    begun.elapsed()
}

/// An image of an HX8K's size, by this program and by iceprog, on the same model.
pub fn full_image() {
    let hx8k = Board { die: Die::Ice8k, ..board(SERIAL, software()) };
    let two = design(2);
    let mut image = labelled(Die::Ice8k, &label::lines(&two, two.hash()));
    image.resize(FULL, 0);
    let plugged = plug_and_wait(hx8k, Flash::new());
    let begun = Instant::now();
    let mut ours = programmer();
    ours.program(0, &image, &mut |_| ()).expect("programmed");
    ours.start().expect("CDONE");
    drop(ours);
    println!("figure: {FULL} bytes natively: {:.2} s", begun.elapsed().as_secs_f64());
    let (board, flash) = plugged.unplug().expect("unplugged");
    assert!(flash.memory()[..FULL] == image[..]);
    let plugged = plug_and_wait(board, Flash::new());
    fs::write("/tmp/full.bin", &image).expect("a file");
    // It sends its commands a byte at a time, which under emulation takes minutes.
    let theirs = end_within(start("iceprog", &["/tmp/full.bin"]), Duration::from_secs(300));
    assert!(theirs.code == 0 && theirs.err.contains("cdone: high"), "{}", theirs.err);
    println!("figure: {FULL} bytes by iceprog: {:.2} s", theirs.seconds);
    let (_, flash) = plugged.unplug().expect("unplugged");
    assert!(flash.memory()[..FULL] == image[..]);
}
