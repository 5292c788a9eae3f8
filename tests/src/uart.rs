//! The line of a UART in continuous time, and what a receiver makes of it.
//!
//! Levels change at instants that know nothing of the receiver's clock: the sender's bits may be up to 2 % longer or
//! shorter, and every edge may come early or late. The receiver sees only a sample at each of its own edges.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use systole_hdl::parameters::Parameters;
use systole_hdl::sim;
use systole_hdl::uart_rx::UartRx;

/// Design parameters that give a number of clocks a bit.
pub fn parameters(clocks_per_bit: u32) -> Parameters {
    let baud = 1_000_000;
    Parameters { clock_hz: baud * clocks_per_bit, baud, ..Parameters::default() }
}

/// How a sender departs from a perfect one.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// Length of a bit in clocks of the receiver.
    pub bit: f64,
    /// Largest displacement of an edge, early or late, in clocks of the receiver.
    pub jitter: f64,
}

/// A line that is high until its first change. Instants are in clocks of the receiver.
#[derive(Clone, Debug, Default)]
pub struct Line {
    changes: Vec<(f64, bool)>,
    end: f64,
}

impl Line {
    /// Appends a level for some clocks.
    pub fn hold(&mut self, high: bool, clocks: f64) {
        self.changes.push((self.end, high));
        self.end += clocks;
    }

    /// Appends a byte: start bit, eight data bits, lowest first, stop bit. Jitter moves edges, but does not add up.
    pub fn byte(&mut self, byte: u8, sender: Sender, rng: &mut ChaCha8Rng) {
        let frame = 1 << 9 | u32::from(byte) << 1;
        for i in 0..10 {
            let shift =
                if sender.jitter > 0.0 { rng.random_range(-sender.jitter..sender.jitter) } else { 0.0 };
            self.changes.push(((self.end + f64::from(i) * sender.bit + shift).max(0.0), frame >> i & 1 == 1));
        }
        self.end += 10.0 * sender.bit;
    }

    /// Inverts the line from an instant on, for some clocks.
    pub fn glitch(&mut self, at: f64, clocks: f64) {
        let (before, during) = (self.level(at), at..at + clocks);
        let after = self.level(during.end);
        let inside: Vec<_> =
            self.changes.iter().filter(|c| during.contains(&c.0)).map(|&(t, l)| (t, !l)).collect();
        self.changes.retain(|c| !during.contains(&c.0));
        let place = self.changes.partition_point(|c| c.0 < at);
        let glitch = [vec![(at, !before)], inside, vec![(during.end, after)]].concat();
        self.changes.splice(place..place, glitch);
    }

    /// The instant at which the next level will be appended.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// The level at an instant.
    fn level(&self, at: f64) -> bool {
        self.changes[..self.changes.partition_point(|c| c.0 <= at)].last().is_none_or(|c| c.1)
    }

    /// The level at each edge of the receiver.
    pub fn samples(&self) -> impl Iterator<Item = bool> {
        let mut changes = self.changes.iter().peekable();
        let mut level = true;
        (0..self.end as u64).map(move |clock| {
            while let Some(change) = changes.next_if(|c| c.0 <= clock as f64) {
                level = change.1;
            }
            level
        })
    }
}

/// What a receiver made of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The bytes, in order.
    pub bytes: Vec<u8>,
    /// Framing errors.
    pub framing: u64,
    /// Bytes lost because nobody took the one before.
    pub overrun: u64,
    /// Clocks simulated.
    pub cycles: u64,
}

impl Heard {
    /// Nothing but these bytes, without any error.
    pub fn is_exactly(&self, bytes: &[u8]) -> bool {
        self.bytes == bytes && self.framing == 0 && self.overrun == 0
    }
}

/// A receiver that has been in reset for as long as the images hold it.
pub fn receiver(clocks_per_bit: u32) -> UartRx {
    let mut rx = sim::power_up(UartRx::new(&parameters(clocks_per_bit)));
    rx.ready.next = true;
    rx.line.next = true;
    rx.reset.next = true;
    (0..16).for_each(|_| sim::edge(&mut rx));
    rx.reset.next = false;
    rx
}

/// Lets a receiver listen to a line, and a while longer, until what is under way has ended.
pub fn listen(rx: &mut UartRx, line: &Line) -> Heard {
    let mut heard = Heard::default();
    for level in line.samples().chain(std::iter::repeat_n(true, 8)) {
        rx.line.next = level;
        sim::edge(rx);
        if rx.valid.val() && rx.ready.next {
            heard.bytes.push(rx.data.val().get() as u8);
        }
        heard.framing += u64::from(rx.framing.val());
        heard.overrun += u64::from(rx.overrun.val());
        heard.cycles += 1;
    }
    heard
}
