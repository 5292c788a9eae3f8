//! The progress bar.

use crate::product::Watcher;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error, when that is a terminal; nothing otherwise.
pub(super) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(super) fn new() -> Self {
        Self::with("{msg:9} {bar:40} {pos}/{len} jobs, {eta} left")
    }

    /// One whose counts are bytes.
    pub(super) fn of_bytes() -> Self {
        Self::with("{msg:9} {bar:40} {bytes}/{total_bytes}, {eta} left")
    }

    fn with(template: &str) -> Self {
        let bar = ProgressBar::new(0);
        // The templates are constants; were one wrong, the library's own would do.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Bar {
    fn progress(&mut self, stage: &'static str, done: u64, total: u64) {
        // The message draws the bar, so length and position come first: a bar without a length looks full.
        self.bar.set_length(total);
        self.bar.set_position(done);
        if self.bar.message() != stage {
            self.bar.set_message(stage);
            self.bar.reset_eta();
        }
    }
}
