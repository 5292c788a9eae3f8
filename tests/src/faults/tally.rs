//! What was injected, noticed and made good.

use std::fmt;
use std::ops::AddAssign;
use systole::product::Product;

/// What came of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Faults injected.
    pub injected: u64,
    /// Signs that host or board noticed something: damaged frames, frames asked for again, deadlines, jobs run again,
    /// sessions opened again.
    pub detected: u64,
    /// Faults in products that came out right.
    pub recovered: u64,
    /// Products that came out right.
    pub right: u64,
    /// Products that ended in a named error.
    pub named: u64,
    /// Jobs of the right ones.
    pub jobs: u64,
    /// Bytes that crossed the link for those besides what a clean link takes.
    pub extra_bytes: u64,
    /// Clock cycles simulated, where the suite clocks the board.
    pub cycles: u64,
}

impl Tally {
    /// The first line of a table.
    pub const HEAD: &str =
        "faults                  injected detected recovered  right  named   jobs  bytes to recover";

    /// Adds a product, `None` when it ended in a named error, that takes `clean` bytes over a clean link.
    pub fn add(&mut self, injected: u64, product: Option<&Product>, clean: u64) {
        self.injected += injected;
        let Some(product) = product else {
            self.named += 1;
            return;
        };
        let c = &product.counters;
        self.detected += c.damaged + c.go_backs + c.timeouts + c.hello_retries + c.restarts + product.reruns;
        self.recovered += injected;
        self.right += 1;
        self.jobs += product.jobs;
        self.extra_bytes += bytes(product).saturating_sub(clean);
    }

    /// Bytes that a fault costs on average.
    pub fn bytes_to_recover(&self) -> u64 {
        self.extra_bytes / self.recovered.max(1)
    }

    /// A line of a table.
    pub fn row(&self, name: &str) -> String {
        format!("{name:<22}{self}")
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.injected += other.injected;
        self.detected += other.detected;
        self.recovered += other.recovered;
        self.right += other.right;
        self.named += other.named;
        self.jobs += other.jobs;
        self.extra_bytes += other.extra_bytes;
        self.cycles += other.cycles;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>10}{:>9}{:>10}{:>7}{:>7}{:>7}{:>18}",
            self.injected,
            self.detected,
            self.recovered,
            self.right,
            self.named,
            self.jobs,
            self.bytes_to_recover()
        )
    }
}

/// Bytes that crossed the link for a product, both ways, escapes included.
pub fn bytes(product: &Product) -> u64 {
    let c = &product.counters;
    c.bytes_to_board + c.bytes_from_board + c.escapes_to_board + c.escapes_from_board
}
