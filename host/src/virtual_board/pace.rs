//! Keeping bytes to the rate of a UART.

use std::time::{Duration, Instant};
use systole_hdl::parameters::UART_BITS;

/// Longest time whose bytes may be made up for at once, in seconds: a program does not get its turn for every byte.
const BURST: f64 = 0.01;

/// Fewest bytes that may come at once.
const LEAST: f64 = 16.0;

/// How many bytes may pass by now.
pub(super) struct Pace {
    /// Bytes a second; `None` for no limit.
    rate: Option<f64>,
    /// Bytes that may pass.
    credit: f64,
    /// When that was so.
    at: Instant,
    /// Whether nothing was waiting to pass then: a line that has been idle sends no faster for it.
    idle: bool,
}

impl Pace {
    /// A line of `baud` bits a second, or one without a limit.
    pub(super) fn new(baud: Option<u32>, now: Instant) -> Self {
        Self {
            rate: baud.map(|baud| f64::from(baud) / f64::from(UART_BITS)),
            credit: 0.0,
            at: now,
            idle: true,
        }
    }

    /// How many of `wanted` bytes may pass now.
    pub(super) fn allowed(&mut self, now: Instant, wanted: usize) -> usize {
        let Some(rate) = self.rate else { return wanted };
        if std::mem::replace(&mut self.idle, wanted == 0) {
            self.credit = 0.0;
        } else {
            let most = (rate * BURST).max(LEAST);
            self.credit = (self.credit + rate * now.duration_since(self.at).as_secs_f64()).min(most);
        }
        self.at = now;
        wanted.min(self.credit as usize)
    }

    /// Notes that bytes have passed.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.credit -= bytes as f64;
    }

    /// Lets as many of `wanted` bytes pass as may; gives their number.
    pub(super) fn take(&mut self, now: Instant, wanted: usize) -> usize {
        let taken = self.allowed(now, wanted);
        self.spend(taken);
        taken
    }

    /// Time of a byte on the line.
    pub(super) fn byte(&self) -> Duration {
        self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(1.0 / rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_pass_at_the_rate_of_the_line() {
        let begun = Instant::now();
        let mut pace = Pace::new(Some(1_000_000), begun);
        let at = |milliseconds: u64| begun + Duration::from_millis(milliseconds);
        assert_eq!(pace.take(begun, 5), 0);
        assert_eq!(pace.take(at(1), 1000), 100);
        assert_eq!(pace.take(at(1), 1000), 0);
        assert_eq!(pace.take(at(2), 30), 30);
        assert_eq!(pace.take(at(2), 1000), 70);
        // What waits while the program sleeps is made up for, up to the burst.
        assert_eq!(pace.take(at(1000), 5000), 1000);
        // Silence is not made up for.
        assert_eq!(pace.take(at(1001), 0), 0);
        assert_eq!((pace.take(at(2000), 1000), pace.take(at(2001), 1000)), (0, 100));
        assert_eq!(pace.byte(), Duration::from_micros(10));
        assert_eq!(Pace::new(None, begun).take(begun, 1 << 20), 1 << 20);
    }
}
