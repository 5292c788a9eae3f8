//! The configuration logic of an iCE40: reset, an image from flash or from the programmer, CDONE.

use super::flash::Flash;
use std::time::{Duration, Instant};
use systole_firmware::image::ice40::{Die, Image};

/// Time that the FPGA clears its memory for after reset.
const CLEAR: Duration = Duration::from_micros(1200);

/// Bits a second that it reads an image with, at the slowest of its clocks.
const READ_RATE: u64 = 7_500_000;

/// What is at the other end of the programmer's SPI wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// The flash; the FPGA reads it when its reset ends.
    Flash,
    /// The FPGA itself: the jumpers of a breakout board at their other place.
    Sram,
}

/// What the configuration logic is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Held in reset.
    Reset,
    /// Reading an image from flash, with its outcome and when that will be.
    Reading { until: Instant, outcome: Option<Image> },
    /// Taking an image from the programmer.
    Taking { image: Vec<u8>, read: usize, outcome: Option<Image> },
}

/// The configuration logic.
pub(super) struct Ice40 {
    die: Die,
    wiring: Wiring,
    state: State,
    /// Number of the reset that this state follows.
    resets: u64,
}

impl Ice40 {
    /// At power-up, with what the flash holds.
    pub(super) fn new(die: Die, wiring: Wiring, flash: &mut Flash) -> Self {
        let mut fpga = Self { die, wiring, state: State::Reset, resets: 0 };
        fpga.leave_reset(false, flash);
        fpga
    }

    /// What is at the end of the wires.
    pub(super) fn wiring(&self) -> Wiring {
        self.wiring
    }

    /// CRESET goes low.
    pub(super) fn enter_reset(&mut self) {
        self.state = State::Reset;
        self.resets += 1;
    }

    /// CRESET goes high. Selected at that moment, the FPGA waits for an image; else it reads one from flash.
    pub(super) fn leave_reset(&mut self, selected: bool, flash: &mut Flash) {
        self.state = if selected {
            State::Taking { image: Vec::new(), read: 0, outcome: None }
        } else {
            self.read(flash)
        };
    }

    fn read(&self, flash: &mut Flash) -> State {
        // It wakes the flash first.
        flash.sleep(false);
        let outcome = Image::read(flash.memory()).ok().filter(|image| image.die == self.die);
        // Without an image in it, it looks through all of the flash.
        let bytes = outcome.as_ref().map_or(flash.memory().len(), |image| image.length) as u64;
        let reading = Duration::from_nanos(bytes * 8 * 1_000_000_000 / READ_RATE);
        if outcome.as_ref().is_some_and(|image| image.sleeps) {
            flash.sleep(true);
        }
        State::Reading { until: Instant::now() + CLEAR + reading, outcome }
    }

    /// Takes bits from the programmer, if those wires lead here.
    pub(super) fn take(&mut self, byte: u8) {
        if let (Wiring::Sram, State::Taking { image, .. }) = (self.wiring, &mut self.state) {
            image.push(byte);
        }
    }

    /// The image that runs; while there is one, CDONE is high.
    pub(super) fn running(&mut self) -> Option<&Image> {
        match &mut self.state {
            State::Reset => None,
            State::Reading { until, outcome } => outcome.as_ref().filter(|_| Instant::now() >= *until),
            State::Taking { image, read, outcome } => {
                if *read != image.len() && outcome.is_none() {
                    *read = image.len();
                    *outcome = Image::read(image).ok().filter(|image| image.die == self.die);
                }
                outcome.as_ref()
            }
        }
    }

    /// Number of the last reset: with it, a start is told from another.
    pub(super) fn resets(&self) -> u64 {
        self.resets
    }

    /// When reading will be over.
    pub(super) fn reading_until(&self) -> Option<Instant> {
        match &self.state {
            State::Reading { until, outcome: Some(_) } => Some(*until),
            _ => None,
        }
    }
}
