//! The computer at the other end of the UART: says frames, hears frames, sees the lamps, and never waits without end.

use super::{ImageLevel, Pins, Shown};
use crate::cycles;
use std::collections::VecDeque;
use systole_hdl::codec::{Command, Content, Decoder, Reply};

/// Edges without a sign of life after which a wait has failed. PLL and reset take 600, a byte takes 80.
const LIMIT: u64 = 5_000;

/// Edges of a line at rest after which an image has nothing more to say.
const QUIET: u64 = 400;

/// A computer at an image's pins.
pub struct Host {
    pins: Box<dyn Pins>,
    active_low: Shown,
    /// Edges a bit, of the image and of the computer's own clock.
    image_bit: u64,
    own_bit: f64,
    to_say: VecDeque<u8>,
    /// The frame of bits being said, and the edge at which it began.
    saying: Option<(u32, f64)>,
    /// Edge of the start bit that is being heard, and the bits since.
    hearing: Option<(u64, u32)>,
    decoder: Decoder,
    replies: Vec<Reply>,
    seq: u8,
    edges: u64,
    last_sign: u64,
    /// Edges at which the lamps were lit since they were last asked for.
    lit: Lit,
}

/// For how many edges each lamp was lit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lit {
    /// Nothing to do.
    pub idle: u64,
    /// A job runs.
    pub busy: u64,
    /// An error.
    pub error: u64,
    /// All edges.
    pub of: u64,
}

impl Host {
    /// At an image after power-up, its clock `deviation` faster than the image's.
    pub fn new(level: &dyn ImageLevel, deviation: f64) -> Self {
        let (leds, p) = (&level.subject().board.leds, level.subject().design.parameters());
        let image_bit = u64::from(p.clocks_per_bit());
        Self {
            pins: level.power_up(),
            active_low: Shown {
                tx: false,
                idle: leds.idle.active_low,
                busy: leds.busy.active_low,
                error: leds.error.active_low,
            },
            image_bit,
            own_bit: image_bit as f64 / (1.0 + deviation),
            to_say: VecDeque::new(),
            saying: None,
            hearing: None,
            decoder: Decoder::new(),
            replies: Vec::new(),
            seq: 0,
            edges: 0,
            last_sign: 0,
            lit: Lit::default(),
        }
    }

    /// The level on the image's tx.
    pub fn tx(&self) -> bool {
        self.pins.shown().tx
    }

    /// For how many edges each lamp was lit since this was last asked.
    pub fn lit(&mut self) -> Lit {
        std::mem::take(&mut self.lit)
    }

    /// Holds the line at a level for some edges, whatever is to be said.
    pub fn hold(&mut self, level: bool, edges: u64) {
        (0..edges).for_each(|_| self.edge(level));
    }

    /// Puts bytes behind those to be said.
    pub fn say(&mut self, bytes: &[u8]) {
        self.to_say.extend(bytes);
    }

    /// Puts the next command behind what is to be said; gives its seq.
    pub fn command(&mut self, command: &Command) -> u8 {
        let seq = self.seq;
        self.say(&command.frame(seq).to_wire());
        self.seq = seq.wrapping_add(1);
        seq
    }

    /// Says what there is to say, and gives the replies when the line has been at rest for a while.
    pub fn settle(&mut self, stage: &str) -> Vec<Reply> {
        self.last_sign = self.edges;
        let mut rest = 0;
        while rest < QUIET {
            let rx = self.next_level();
            self.edge(rx);
            let busy = self.saying.is_some() || self.hearing.is_some() || !self.to_say.is_empty();
            rest = if busy { 0 } else { rest + 1 };
            assert!(
                self.edges - self.last_sign < LIMIT,
                "{stage}: no byte in either direction for {LIMIT} edges"
            );
        }
        std::mem::take(&mut self.replies)
    }

    /// Says one command and gives the contents of the replies.
    pub fn exchange(&mut self, stage: &str, command: &Command) -> Vec<Content> {
        self.command(command);
        self.settle(stage).into_iter().map(|reply| reply.content).collect()
    }

    /// The level to drive at the next edge.
    fn next_level(&mut self) -> bool {
        let now = self.edges as f64;
        if let Some((_, began)) = self.saying
            && now - began >= 10.0 * self.own_bit
        {
            self.saying = None;
        }
        if self.saying.is_none()
            && let Some(byte) = self.to_say.pop_front()
        {
            // Start bit, eight bits from the lowest on, stop bit.
            self.saying = Some((1 << 9 | u32::from(byte) << 1, now));
            self.last_sign = self.edges;
        }
        self.saying.is_none_or(|(bits, began)| bits >> ((now - began) / self.own_bit) as u32 & 1 == 1)
    }

    fn edge(&mut self, rx: bool) {
        self.pins.edge(rx);
        self.edges += 1;
        let shown = self.pins.shown();
        self.lit.of += 1;
        self.lit.idle += u64::from(shown.idle != self.active_low.idle);
        self.lit.busy += u64::from(shown.busy != self.active_low.busy);
        self.lit.error += u64::from(shown.error != self.active_low.error);
        self.hear(shown.tx);
    }

    /// Samples every bit in its middle.
    fn hear(&mut self, tx: bool) {
        match &mut self.hearing {
            None if !tx => self.hearing = Some((self.edges, 0)),
            None => {}
            Some((began, bits)) => {
                let since = self.edges - *began;
                if since % self.image_bit != self.image_bit / 2 {
                    return;
                }
                let place = (since / self.image_bit) as u32;
                *bits |= u32::from(tx) << place;
                if place < 9 {
                    return;
                }
                assert_eq!(*bits & 0x201, 0x200, "start and stop bit of {:#012b}", *bits);
                let byte = (*bits >> 1) as u8;
                self.hearing = None;
                self.last_sign = self.edges;
                if let Some(frame) = self.decoder.push(byte) {
                    let frame = frame.unwrap_or_else(|error| panic!("a damaged frame: {error}"));
                    self.replies
                        .push(Reply::parse(&frame).unwrap_or_else(|error| panic!("{error}: {frame:?}")));
                }
            }
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // A failing test has more to say than a count that cannot be written.
        if !std::thread::panicking() {
            cycles::report("image", self.edges);
        }
    }
}
