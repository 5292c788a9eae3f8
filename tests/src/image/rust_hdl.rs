//! An image in rust-hdl's simulation. Its PLL is a wire there, locked from the start.

use super::{ImageLevel, Pins, Shown, Subject};
use crate::level::Level;
use systole_firmware::top::Top;
use systole_hdl::sim;

/// The level `rust-hdl`.
pub struct RustHdl {
    subject: Subject,
}

impl RustHdl {
    /// An image.
    pub fn new(subject: Subject) -> Self {
        Self { subject }
    }
}

/// The top of an image.
///
/// # Panics
/// When its PLL cannot make its clock: a mistake in the test.
pub(super) fn top(subject: &Subject) -> Top {
    let top = Top::new(subject.board, &subject.design, subject.hash);
    sim::power_up(top.unwrap_or_else(|error| panic!("{error}")))
}

impl ImageLevel for RustHdl {
    fn level(&self) -> Level {
        Level::RustHdl
    }

    fn subject(&self) -> &Subject {
        &self.subject
    }

    fn power_up(&self) -> Box<dyn Pins> {
        Box::new(Simulated(top(&self.subject)))
    }
}

struct Simulated(Top);

impl Pins for Simulated {
    fn shown(&self) -> Shown {
        let top = &self.0;
        Shown {
            tx: top.tx.val(),
            idle: top.led_idle.val(),
            busy: top.led_busy.val(),
            error: top.led_error.val(),
        }
    }

    fn edge(&mut self, rx: bool) {
        self.0.rx.next = rx;
        sim::edge(&mut self.0);
    }
}
