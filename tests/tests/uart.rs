//! The UART against lines that no clock of ours made: wrong rates, jitter, glitches, breaks, noise.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use systole_hdl::sim;
use systole_hdl::uart_tx::UartTx;
use systole_tests::cycles;
use systole_tests::uart::{Heard, Line, Sender, listen, parameters, receiver};

/// Clocks a bit: the fewest, odd and even, either side of the majority, a slow one.
const CLOCKS: [u32; 6] = [4, 5, 8, 9, 12, 40];
/// Rate errors of the sender, the largest that the parameters' check admits in all.
const ERRORS: [f64; 3] = [-0.02, 0.0, 0.02];

fn steady(clocks: u32) -> Sender {
    Sender { bit: f64::from(clocks), jitter: 0.0 }
}

/// A sender of the given error whose edges move by 3 % of a bit.
fn unsteady(clocks: u32, error: f64) -> Sender {
    let bit = f64::from(clocks) * (1.0 + error);
    Sender { bit, jitter: 0.03 * f64::from(clocks) }
}

/// Every clocks a bit and error.
fn all() -> impl Iterator<Item = (u32, f64)> {
    CLOCKS.into_iter().flat_map(|clocks| ERRORS.map(|error| (clocks, error)))
}

/// A line that is high for a byte's time from a fraction of a clock on.
fn quiet(clocks: u32, rng: &mut ChaCha8Rng) -> Line {
    let mut line = Line::default();
    line.hold(true, 10.0 * f64::from(clocks) + rng.random::<f64>());
    line
}

/// Every byte value once, then random ones.
fn bytes(count: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    (0..=255).chain(std::iter::repeat_with(|| rng.random())).take(count).collect()
}

#[test]
fn thousands_of_bytes_without_a_gap_at_any_admitted_rate() {
    let mut simulated = 0;
    for (case, (clocks, error)) in (0..).zip(all()) {
        let mut rng = ChaCha8Rng::seed_from_u64(case);
        let sent = bytes(if clocks < 20 { 4000 } else { 1000 }, &mut rng);
        let mut line = quiet(clocks, &mut rng);
        sent.iter().for_each(|&byte| line.byte(byte, unsteady(clocks, error), &mut rng));
        let heard = listen(&mut receiver(clocks), &line);
        simulated += heard.cycles;
        assert!(heard.is_exactly(&sent), "{clocks} clocks a bit, error {error}");
    }
    cycles::report("uart", simulated);
}

#[test]
fn every_phase_of_the_start_edge_between_two_clocks() {
    for (clocks, error) in all() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for phase in 0..64 {
            let mut line = Line::default();
            line.hold(true, 20.0 + f64::from(phase) / 64.0);
            let sender = Sender { bit: f64::from(clocks) * (1.0 + error), jitter: 0.0 };
            let sent = [0x00, 0xFF, 0x55, 0xAA, 0x80, 0x01];
            sent.iter().for_each(|&byte| line.byte(byte, sender, &mut rng));
            let heard = listen(&mut receiver(clocks), &line);
            assert!(
                heard.is_exactly(&sent),
                "{clocks} clocks a bit, error {error}, phase {phase}/64: {heard:?}"
            );
        }
    }
}

#[test]
fn the_line_model_is_strict_enough_to_break_a_receiver() {
    for clocks in CLOCKS {
        for error in [-0.08, 0.08] {
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            let sent = bytes(256, &mut rng);
            let mut line = quiet(clocks, &mut rng);
            sent.iter().for_each(|&byte| line.byte(byte, unsteady(clocks, error), &mut rng));
            let heard = listen(&mut receiver(clocks), &line);
            assert!(!heard.is_exactly(&sent), "{clocks} clocks a bit, error {error}");
        }
    }
}

#[test]
fn a_glitch_below_half_a_bit_on_the_idle_line_is_nothing() {
    for (clocks, error) in all() {
        let bit = f64::from(clocks);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut line = quiet(clocks, &mut rng);
        let sent = bytes(500, &mut rng);
        for &byte in &sent {
            line.byte(byte, unsteady(clocks, error), &mut rng);
            line.hold(true, 2.0 * bit + rng.random::<f64>());
            line.hold(false, bit * rng.random_range(0.01..0.499));
            line.hold(true, 2.0 * bit + rng.random::<f64>());
        }
        let heard = listen(&mut receiver(clocks), &line);
        assert!(heard.is_exactly(&sent), "{clocks} clocks a bit, error {error}");
    }
}

#[test]
fn from_8_clocks_a_bit_on_a_glitch_below_a_clock_is_nothing_anywhere() {
    for (clocks, error) in all().filter(|&(clocks, _)| clocks >= 8) {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut line = quiet(clocks, &mut rng);
        let sent = bytes(500, &mut rng);
        let sender = Sender { bit: f64::from(clocks) * (1.0 + error), jitter: 0.0 };
        let start = line.end();
        sent.iter().for_each(|&byte| line.byte(byte, sender, &mut rng));
        let mut at = start;
        while at < line.end() - 2.0 {
            line.glitch(at, rng.random_range(0.01..0.999));
            at += sender.bit * rng.random_range(1.0..4.0);
        }
        let heard = listen(&mut receiver(clocks), &line);
        assert!(heard.is_exactly(&sent), "{clocks} clocks a bit, error {error}");
    }
}

#[test]
fn a_break_is_one_framing_error_and_no_byte_and_the_receiver_resumes() {
    for clocks in CLOCKS {
        let bit = f64::from(clocks);
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for length in [10.0, 10.5, 11.0, 20.0, 40.25, 1000.0] {
            let mut line = quiet(clocks, &mut rng);
            line.byte(0x53, steady(clocks), &mut rng);
            line.hold(false, length * bit + 1.0);
            line.hold(true, bit);
            line.byte(0xA5, steady(clocks), &mut rng);
            line.byte(0x00, steady(clocks), &mut rng);
            let Heard { bytes, framing, overrun, .. } = listen(&mut receiver(clocks), &line);
            assert_eq!(
                (bytes, framing, overrun),
                (vec![0x53, 0xA5, 0x00], 1, 0),
                "{clocks} clocks, {length} bits"
            );
        }
    }
}

#[test]
fn a_break_within_a_byte_drops_that_byte_alone() {
    for clocks in CLOCKS {
        let bit = f64::from(clocks);
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        for after in 1..9 {
            let mut line = quiet(clocks, &mut rng);
            line.byte(0x53, steady(clocks), &mut rng);
            line.hold(false, bit);
            line.hold(true, f64::from(after) * bit);
            line.hold(false, 30.0 * bit);
            line.hold(true, bit);
            line.byte(0xA5, steady(clocks), &mut rng);
            let Heard { bytes, framing, overrun, .. } = listen(&mut receiver(clocks), &line);
            assert_eq!(
                (bytes, framing, overrun),
                (vec![0x53, 0xA5], 1, 0),
                "{clocks} clocks, after {after} bits"
            );
        }
    }
}

#[test]
fn after_noise_a_quiet_byte_time_brings_the_receiver_back() {
    for clocks in CLOCKS {
        let bit = f64::from(clocks);
        let (mut noisy_bytes, mut noisy_framing) = (0, 0);
        for seed in 0..50 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut line = Line::default();
            for _ in 0..200 {
                line.hold(rng.random(), bit * rng.random_range(0.05..3.0));
            }
            line.hold(true, 10.5 * bit);
            let mut rx = receiver(clocks);
            let noise = listen(&mut rx, &line);
            noisy_bytes += noise.bytes.len();
            noisy_framing += noise.framing;
            let sent = bytes(20, &mut rng);
            let mut line = Line::default();
            sent.iter().for_each(|&byte| line.byte(byte, unsteady(clocks, 0.02), &mut rng));
            let heard = listen(&mut rx, &line);
            assert!(heard.is_exactly(&sent), "{clocks} clocks a bit, seed {seed}: {heard:?}");
        }
        assert!(noisy_bytes > 50 && noisy_framing > 50, "the noise was none: {noisy_bytes}, {noisy_framing}");
    }
}

#[test]
fn noise_in_reset_and_a_line_that_starts_low_leave_no_trace() {
    for clocks in CLOCKS {
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut rx = receiver(clocks);
            rx.reset.next = true;
            for _ in 0..300 {
                rx.line.next = rng.random();
                sim::edge(&mut rx);
                assert!(!rx.valid.val() && !rx.framing.val() && !rx.overrun.val(), "{clocks} clocks a bit");
            }
            rx.line.next = false;
            (0..8).for_each(|_| sim::edge(&mut rx));
            rx.reset.next = false;
            let mut line = Line::default();
            line.hold(false, rng.random_range(1.0..3000.0));
            line.hold(true, f64::from(clocks));
            line.byte(0xC0, steady(clocks), &mut rng);
            let heard = listen(&mut rx, &line);
            assert!(heard.is_exactly(&[0xC0]), "{clocks} clocks a bit, seed {seed}: {heard:?}");
        }
    }
}

#[test]
fn a_byte_may_wait_for_the_whole_next_byte() {
    for clocks in CLOCKS {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut line = quiet(clocks, &mut rng);
        let sent = bytes(256, &mut rng);
        sent.iter().for_each(|&byte| line.byte(byte, steady(clocks), &mut rng));
        let mut rx = receiver(clocks);
        let (mut taken, mut waited) = (vec![], 0);
        for level in line.samples().chain(std::iter::repeat_n(true, 20 * clocks as usize)) {
            rx.line.next = level;
            sim::settle(&mut rx);
            waited = if rx.valid.val() { waited + 1 } else { 0 };
            rx.ready.next = waited == 10 * clocks;
            if rx.ready.next {
                taken.push(rx.data.val().get() as u8);
                waited = 0;
            }
            sim::edge(&mut rx);
            assert!(!rx.overrun.val(), "{clocks} clocks a bit, after {} bytes", taken.len());
        }
        assert_eq!(taken, sent, "{clocks} clocks a bit");
    }
}

/// Sends bytes with random pauses before some of them; calls back with the line after every edge.
fn send(clocks: u32, sent: &[u8], pause: f64, rng: &mut ChaCha8Rng, mut line: impl FnMut(bool)) {
    let mut tx = sim::power_up(UartTx::new(&parameters(clocks)));
    let limit = sent.len() * 40 * clocks as usize + 1000;
    let mut left = sent.iter().peekable();
    for _ in 0..limit {
        tx.valid.next = left.peek().is_some() && (tx.valid.next || !rng.random_bool(pause));
        tx.data.next = usize::from(left.peek().map_or(0, |&&byte| byte)).into();
        sim::settle(&mut tx);
        let taken = tx.valid.next && tx.ready.val();
        if left.peek().is_none() && tx.ready.val() {
            return;
        }
        sim::edge(&mut tx);
        line(tx.line.val());
        if taken {
            left.next();
            tx.valid.next = false;
        }
    }
    panic!(
        "{clocks} clocks a bit: the sender took {} of {} bytes in {limit} clocks",
        sent.len() - left.len(),
        sent.len()
    );
}

#[test]
fn the_sender_keeps_every_level_for_whole_bits_and_leaves_no_gap() {
    for clocks in CLOCKS {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let sent = bytes(300, &mut rng);
        let mut levels = vec![];
        send(clocks, &sent, 0.0, &mut rng, |level| levels.push(level));
        let expected: Vec<bool> = sent
            .iter()
            .flat_map(|&byte| (0..10).map(move |bit| (1 << 9 | u32::from(byte) << 1) >> bit & 1 == 1))
            .flat_map(|level| std::iter::repeat_n(level, clocks as usize))
            .collect();
        let differ = levels.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!((levels.len(), differ), (expected.len(), None), "{clocks} clocks a bit");
    }
}

#[test]
fn what_the_sender_sends_the_receiver_hears() {
    for clocks in CLOCKS {
        for pause in [0.0, 0.5, 0.95] {
            let mut rng = ChaCha8Rng::seed_from_u64(9);
            let sent = bytes(400, &mut rng);
            let mut rx = receiver(clocks);
            let mut line = Line::default();
            send(clocks, &sent, pause, &mut rng, |level| line.hold(level, 1.0));
            line.hold(true, f64::from(clocks));
            let heard = listen(&mut rx, &line);
            assert!(heard.is_exactly(&sent), "{clocks} clocks a bit, pauses {pause}");
        }
    }
}
