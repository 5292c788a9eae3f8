//! The programmer against the model's command engine, without USB between them.

use super::channel::Channel;
use super::flash::Flash;
use super::ice40::{Ice40, Wiring};
use super::image::labelled;
use super::mpsse::Engine;
use crate::flash::ice40::{FlashError, Mpsse, MpsseError, Programmer, Progress, Stage};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use systole_firmware::design::Design;
use systole_firmware::image::ice40::Die;
use systole_firmware::label;

/// The engine and its port, shared with the test.
#[derive(Clone)]
struct Wires(Arc<Mutex<(Engine, Channel)>>);

impl Wires {
    fn new(die: Die, wiring: Wiring) -> Self {
        let mut flash = Flash::new();
        let fpga = Ice40::new(die, wiring, &mut flash);
        Self(Arc::new(Mutex::new((Engine::new(flash, fpga), Channel::new()))))
    }

    fn with<T>(&self, look: impl FnOnce(&mut Engine) -> T) -> T {
        look(&mut self.0.lock().expect("no test panics while it looks").0)
    }
}

impl Mpsse for Wires {
    fn command(&mut self, bytes: &[u8], answer: usize) -> Result<Vec<u8>, MpsseError> {
        let mut both = self.0.lock().expect("no test panics while it looks");
        let (engine, channel) = &mut *both;
        engine.take(bytes, channel);
        let data = answers(channel);
        assert_eq!(data.len(), answer, "bytes that the commands answer");
        Ok(data)
    }
}

/// All that waits for the host, without the status bytes.
fn answers(channel: &mut Channel) -> Vec<u8> {
    channel.flush();
    let packets = channel.read(1 << 16, Instant::now()).unwrap_or_default();
    packets.chunks(512).flat_map(|packet| &packet[2..]).copied().collect()
}

fn programmer(wires: &Wires) -> Programmer<Wires> {
    Programmer::new(wires.clone(), Arc::new(AtomicBool::new(false))).expect("in reset")
}

fn image(die: Die) -> Vec<u8> {
    let design = Design::new(Default::default()).expect("default");
    labelled(die, &label::lines(&design, design.hash()))
}

/// Bytes that differ from place to place.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 251) as u8).collect()
}

#[test]
fn an_image_is_programmed_verified_and_started() {
    let wires = Wires::new(Die::Ice384, Wiring::Flash);
    let image = image(Die::Ice384);
    let mut programmer = programmer(&wires);
    assert_eq!(programmer.id().expect("a flash").capacity, 16 << 20);
    let mut seen = Vec::new();
    programmer.program(0, &image, &mut |progress| seen.push(progress)).expect("programmed");
    assert!(wires.with(|engine| engine.flash.memory()[..image.len()] == image[..]));
    assert!(wires.with(|engine| engine.fpga.running().is_none()), "held in reset");
    programmer.start().expect("a good image");
    assert!(wires.with(|engine| engine.fpga.running().is_some()));
    for stage in [Stage::Erasing, Stage::Writing, Stage::Verifying] {
        let last = seen.iter().rev().find(|progress| progress.stage == stage).expect("told");
        let total = if stage == Stage::Erasing { 8192 } else { image.len() };
        assert_eq!(*last, Progress { stage, done: total, total });
    }
}

#[test]
fn nothing_outside_the_sectors_is_touched() {
    let wires = Wires::new(Die::Ice384, Wiring::Flash);
    wires.with(|engine| engine.flash.memory_mut()[..256 << 10].fill(0x5A));
    let mut programmer = programmer(&wires);
    // From within a page to within another, over a whole block.
    let data = pattern((64 << 10) + 5000);
    programmer.program((64 << 10) - 300, &data, &mut |_| ()).expect("programmed");
    let memory = wires.with(|engine| engine.flash.memory()[..256 << 10].to_vec());
    let (begin, end) = (60 << 10, (128 << 10) + 8192);
    assert!(memory[..begin].iter().chain(&memory[end..]).all(|&byte| byte == 0x5A));
    let mut expected = vec![0xFF; end - begin];
    expected[4096 - 300..][..data.len()].copy_from_slice(&data);
    assert!(memory[begin..end] == expected);
    let erased = programmer.erase(70_000, 1, &mut |_| ()).expect("erased");
    assert_eq!(erased, 69_632..73_728);
    let read = programmer.read(69_000, 5000, &mut |_| ()).expect("read");
    let memory = wires.with(|engine| engine.flash.memory()[69_000..74_000].to_vec());
    assert!(read == memory && memory[632..4728].iter().all(|&byte| byte == 0xFF));
}

#[test]
fn what_differs_is_told_with_its_place() {
    let wires = Wires::new(Die::Ice384, Wiring::Flash);
    wires.with(|engine| engine.flash.protect(true));
    let error = programmer(&wires).program(4096, &[0xAB; 300], &mut |_| ()).expect_err("protected");
    assert!(matches!(error, FlashError::Differs { address: 4096, wrote: 0xAB, read: 0xFF }), "{error}");
    let error = programmer(&wires).read((16 << 20) - 1, 2, &mut |_| ()).expect_err("beyond");
    assert!(matches!(error, FlashError::Range { capacity: 16_777_216, .. }), "{error}");
}

#[test]
fn an_image_that_does_not_start_the_fpga_is_told() {
    let wires = Wires::new(Die::Ice384, Wiring::Flash);
    let mut programmer = programmer(&wires);
    let mut damaged = image(Die::Ice384);
    damaged[3000] ^= 1;
    for image in [damaged, image(Die::Ice1k)] {
        programmer.program(0, &image, &mut |_| ()).expect("programmed");
        let error = programmer.start().expect_err("no image for this FPGA");
        assert!(matches!(error, FlashError::NotConfigured { .. }), "{error}");
    }
}

#[test]
fn the_fpgas_own_memory_is_loaded_where_the_wires_lead_there() {
    let image = image(Die::Ice384);
    let wires = Wires::new(Die::Ice384, Wiring::Sram);
    let mut board = programmer(&wires);
    board.load(&image, &mut |_| ()).expect("loaded");
    assert!(wires.with(|engine| engine.fpga.running().is_some() && engine.flash.memory()[0] == 0xFF));
    let error = board.id().expect_err("the flash is not at the end of the wires");
    assert!(matches!(error, FlashError::NoFlash), "{error}");
    let wires = Wires::new(Die::Ice384, Wiring::Flash);
    let error = programmer(&wires).load(&image, &mut |_| ()).expect_err("the wires lead to the flash");
    assert!(matches!(error, FlashError::NotConfigured { .. }), "{error}");
}

#[test]
fn dropped_it_lets_the_fpga_start_and_interrupted_it_says_so() {
    let wires = Wires::new(Die::Ice384, Wiring::Flash);
    let image = image(Die::Ice384);
    let cancel = Arc::new(AtomicBool::new(false));
    let mut programmer = Programmer::new(wires.clone(), Arc::clone(&cancel)).expect("in reset");
    programmer.program(0, &image, &mut |_| ()).expect("programmed");
    cancel.store(true, Ordering::Relaxed);
    let error = programmer.erase(0, 1, &mut |_| ()).expect_err("interrupted");
    assert!(matches!(error, FlashError::Interrupted { stage: "erasing" }), "{error}");
    drop(programmer);
    let begun = Instant::now();
    while wires.with(|engine| engine.fpga.running().is_none()) {
        assert!(begun.elapsed() < Duration::from_secs(2), "the FPGA has not started");
    }
}

#[test]
fn the_engine_takes_commands_in_pieces_and_names_what_is_none() {
    let wires = Wires::new(Die::Ice384, Wiring::Flash);
    // Select, ask for the identity with bytes and then bits, let go.
    let commands = [0x80, 0, 0x93, 0x31, 1, 0, 0x9F, 0, 0x33, 7, 0, 0x20, 0, 0, 0x80, 0, 0x83, 0x87, 0xAA];
    let expected = [0xFF, 0xEF, 0x70, 0x18, 0xFA, 0xAA];
    let mut both = wires.0.lock().expect("alone");
    let (engine, channel) = &mut *both;
    for byte in commands {
        engine.take(&[byte], channel);
    }
    assert_eq!(answers(channel), expected);
    engine.take(&commands, channel);
    assert_eq!(answers(channel), expected);
}
