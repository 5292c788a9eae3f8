//! How a port of the chip packs what it has for the host.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Bytes of a packet on a high-speed bus.
const PACKET: usize = 512;

/// Status bytes before the data of each packet.
const STATUS: usize = 2;

/// Modem lines: the bit that is always set.
const MODEM: u8 = 0x01;

/// Line: nothing waits to be sent.
const IDLE: u8 = 0x60;

/// Bytes that the chip holds for the host, and for the line.
pub(super) const BUFFER: usize = 4096;

/// What a port of the chip has for the host.
pub(super) struct Channel {
    /// What waits to go to the host.
    waiting: VecDeque<u8>,
    /// Time after which a packet that is not full is sent.
    latency: Duration,
    /// When the last packet was sent.
    sent: Instant,
    /// What waits is to be sent at once.
    flush: bool,
}

impl Channel {
    pub(super) fn new() -> Self {
        let latency = Duration::from_millis(16);
        Self { waiting: VecDeque::new(), latency, sent: Instant::now(), flush: false }
    }

    /// Forgets what waits.
    pub(super) fn purge(&mut self) {
        self.waiting.clear();
        self.flush = false;
    }

    /// Sets the latency timer, in milliseconds.
    pub(super) fn set_latency(&mut self, ms: u8) {
        self.latency = Duration::from_millis(u64::from(ms.max(1)));
    }

    /// The latency timer, in milliseconds.
    pub(super) fn latency(&self) -> u8 {
        self.latency.as_millis() as u8
    }

    /// Whether the buffer takes more.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < BUFFER
    }

    /// Puts bytes behind those that wait.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
    }

    /// What waits is not to wait for the latency timer.
    pub(super) fn flush(&mut self) {
        self.flush = true;
    }

    /// When a packet is due, however little is in it.
    pub(super) fn due_at(&self) -> Instant {
        self.sent + self.latency
    }

    /// Packets for a buffer of `most` bytes. A transfer ends when the buffer is full or with a packet that is not, and such
    /// a packet is only sent when it is asked for or due.
    pub(super) fn read(&mut self, most: usize, now: Instant) -> Option<Vec<u8>> {
        let last = (most % PACKET).saturating_sub(STATUS);
        let fills_all = self.waiting.len() >= most / PACKET * (PACKET - STATUS) + last;
        let flush = self.flush && !self.waiting.is_empty();
        if !fills_all && !flush && now < self.due_at() {
            return None;
        }
        let mut packets = Vec::with_capacity(most.min(self.waiting.len() + PACKET));
        loop {
            let room = PACKET.min(most - packets.len());
            if room < STATUS {
                break;
            }
            let data = self.waiting.len().min(room - STATUS);
            packets.extend([MODEM, IDLE]);
            packets.extend(self.waiting.drain(..data));
            if STATUS + data < PACKET {
                break;
            }
        }
        self.flush &= !self.waiting.is_empty();
        self.sent = now;
        Some(packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(waiting: usize) -> (Channel, Instant) {
        let mut channel = Channel::new();
        channel.push(&vec![0xAB; waiting]);
        let now = channel.sent;
        (channel, now)
    }

    #[test]
    fn a_short_packet_waits_for_the_timer() {
        let (mut channel, now) = channel(3);
        let later = |ms| now + Duration::from_millis(ms);
        assert_eq!(channel.read(512, later(15)), None);
        assert_eq!(channel.read(512, later(16)), Some(vec![0x01, 0x60, 0xAB, 0xAB, 0xAB]));
        // With nothing to say it still shows its status, once a period.
        assert_eq!(channel.read(512, later(31)), None);
        assert_eq!(channel.read(512, later(32)), Some(vec![0x01, 0x60]));
        channel.set_latency(1);
        assert_eq!(channel.read(512, later(33)), Some(vec![0x01, 0x60]));
    }

    #[test]
    fn a_flush_sends_at_once_and_only_once() {
        let (mut channel, now) = channel(1);
        channel.flush();
        assert_eq!(channel.read(512, now), Some(vec![0x01, 0x60, 0xAB]));
        channel.push(&[0xCD]);
        assert_eq!(channel.read(512, now), None);
    }

    #[test]
    fn every_packet_of_a_long_transfer_has_its_status() {
        let (mut channel, now) = channel(2 * 510 + 5);
        let both = channel.read(1024, now).expect("two full packets");
        assert_eq!(
            (both.len(), &both[..3], &both[512..515]),
            (1024, &[1, 0x60, 0xAB][..], &[1, 0x60, 0xAB][..])
        );
        // A transfer of any length ends with the packet that is not full.
        channel.push(&[0xAB; 510]);
        assert_eq!(channel.read(4096, now), None);
        let rest = channel.read(4096, channel.due_at()).expect("due");
        assert_eq!((rest.len(), &rest[512..515]), (512 + 2 + 5, &[1, 0x60, 0xAB][..]));
    }

    #[test]
    fn full_packets_alone_are_ended_by_an_empty_one() {
        let (mut channel, now) = channel(510);
        assert_eq!(channel.read(1024, now), None);
        let ended = channel.read(1024, channel.due_at()).expect("due");
        assert_eq!((ended.len(), &ended[512..]), (514, &[1, 0x60][..]));
    }
}
