//! Links that stand between a session and its board and disturb what passes: frame by frame, or byte by byte.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use systole::link::{Level, Link, LinkError};
use systole_hdl::codec::{Decoder, Frame, Reply};
use systole_hdl::wire::Origin;

/// The clock of a link that stands before another, `self.inner`: that one's.
macro_rules! clock_of_inner {
    () => {
        fn time(&self) -> systole::link::TimeBase {
            self.inner.time()
        }

        fn now(&self) -> u64 {
            self.inner.now()
        }

        fn cycles(&self) -> Option<u64> {
            self.inner.cycles()
        }
    };
}

pub(crate) use clock_of_inner;

/// What becomes of a frame: any number of frames in its place.
pub type Filter<'a> = Box<dyn FnMut(Frame) -> Vec<Frame> + 'a>;

/// Lets every frame pass.
pub fn pass<'a>() -> Filter<'a> {
    Box::new(|frame| vec![frame])
}

/// Changes replies and computes their CRC again: lies that no check of the wire can find.
pub fn tamper<'a>(mut change: impl FnMut(&mut Reply) + 'a) -> Filter<'a> {
    Box::new(move |frame| {
        let mut reply = Reply::parse(&frame).expect("the board sends replies");
        change(&mut reply);
        vec![reply.frame()]
    })
}

/// A link whose frames pass through filters.
pub struct Tap<'a, L> {
    /// The link to the board.
    pub inner: L,
    to_board: Filter<'a>,
    from_board: Filter<'a>,
    host: Decoder,
    board: Decoder,
    queue: VecDeque<u8>,
}

impl<'a, L> Tap<'a, L> {
    /// Puts filters in front of a link.
    pub fn new(inner: L, to_board: Filter<'a>, from_board: Filter<'a>) -> Self {
        Self {
            inner,
            to_board,
            from_board,
            host: Decoder::new(),
            board: Decoder::new(),
            queue: VecDeque::new(),
        }
    }
}

impl<L: Link> Link for Tap<'_, L> {
    fn level(&self, origin: Origin) -> Level {
        self.inner.level(origin)
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        let frames = to_board.drain(..).filter_map(|byte| self.host.push(byte)).flatten();
        for frame in frames.collect::<Vec<_>>() {
            self.queue.extend((self.to_board)(frame).iter().flat_map(Frame::to_wire));
        }
        let mut inbox = Vec::new();
        self.inner.poll(&mut self.queue, &mut inbox)?;
        for frame in self.board.push_all(&inbox).into_iter().flatten() {
            from_board.extend((self.from_board)(frame).iter().flat_map(Frame::to_wire));
        }
        Ok(())
    }

    clock_of_inner!();
}

/// A link that loses, flips and repeats bytes both ways, reproducibly.
pub struct Noise<L> {
    inner: L,
    rng: ChaCha8Rng,
    /// One byte in so many suffers.
    one_in: u32,
    queue: VecDeque<u8>,
}

impl<L> Noise<L> {
    /// Disturbs about one byte in `one_in`.
    pub fn new(inner: L, seed: u64, one_in: u32) -> Self {
        Self { inner, rng: ChaCha8Rng::seed_from_u64(seed), one_in, queue: VecDeque::new() }
    }

    fn disturb(&mut self, bytes: impl IntoIterator<Item = u8>) -> Vec<u8> {
        let mut out = Vec::new();
        for byte in bytes {
            if self.rng.random_range(0..self.one_in) != 0 {
                out.push(byte);
                continue;
            }
            match self.rng.random_range(0..3) {
                0 => {}
                1 => out.push(byte ^ 1 << self.rng.random_range(0..8)),
                _ => out.extend([byte, byte]),
            }
        }
        out
    }
}

impl<L: Link> Link for Noise<L> {
    fn level(&self, origin: Origin) -> Level {
        self.inner.level(origin)
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        let sent: Vec<u8> = to_board.drain(..).collect();
        let sent = self.disturb(sent);
        self.queue.extend(sent);
        let mut inbox = Vec::new();
        self.inner.poll(&mut self.queue, &mut inbox)?;
        from_board.extend(self.disturb(inbox));
        Ok(())
    }

    clock_of_inner!();
}

/// A link on which something happens to the board once, after a number of polls.
pub struct Mishap<L, F> {
    /// The link.
    pub inner: L,
    /// Polls still to go.
    pub polls: u32,
    /// What happens.
    pub happens: F,
}

impl<L: Link, F: FnMut(&mut L) -> Result<(), LinkError>> Link for Mishap<L, F> {
    fn level(&self, origin: Origin) -> Level {
        self.inner.level(origin)
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        if self.polls == 1 {
            (self.happens)(&mut self.inner)?;
        }
        self.polls = self.polls.saturating_sub(1);
        self.inner.poll(to_board, from_board)
    }

    clock_of_inner!();
}

/// A link that inverts the first byte to the board, as a line may on which the board has just come up.
pub struct Smashed<L> {
    inner: L,
    fresh: bool,
}

impl<L> Smashed<L> {
    /// A line that has just come up.
    pub fn new(inner: L) -> Self {
        Self { inner, fresh: true }
    }
}

impl<L: Link> Link for Smashed<L> {
    fn level(&self, origin: Origin) -> Level {
        self.inner.level(origin)
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        if let Some(first) = to_board.front_mut().filter(|_| self.fresh) {
            *first = !*first;
            self.fresh = false;
        }
        self.inner.poll(to_board, from_board)
    }

    clock_of_inner!();
}
