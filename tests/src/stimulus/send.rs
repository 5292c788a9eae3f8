//! The way out: the frame encoder.

use super::frames::byte;
use super::{bits, once_in, operand};
use crate::verilog::differential::Case;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use systole_hdl::frame_encoder::FrameEncoder;
use systole_hdl::frame_part::Part;
use systole_hdl::parameters::Parameters;
use systole_hdl::sim::{power_up, settle};
use systole_hdl::types::Word;
use systole_hdl::wire::{self, Nak};

/// A reply that the executor asks for.
struct Wanted {
    opcode: u8,
    length: u32,
}

fn wanted(p: &Parameters, random: &mut ChaCha8Rng, result_bytes: u32) -> Wanted {
    let (opcode, length) = match random.random_range(0..4) {
        0 => (wire::STATUS, (wire::STATUS_BODY - wire::REPLY_HEAD) as u32),
        1 => (wire::SOURCE, random.random_range(0..12)),
        2 => (wire::ECHO, random.random_range(0..12)),
        _ => {
            let jobs = random.random_range(1..4) * (1 + p.n * p.n * result_bytes);
            (wire::MULTIPLY, jobs + wire::RESULT_TRAILER as u32)
        }
    };
    Wanted { opcode, length }
}

/// The frame encoder of a design, with everything that can ask for a frame, and a line that stalls.
pub fn frame_encoder(p: &Parameters) -> Case<FrameEncoder> {
    let p = p.clone();
    let name = format!("frame_encoder of n={} aw={}", p.n, p.aw);
    let identity = (0..wire::IDENT_BODY - wire::REPLY_HEAD - 4).map(|i| 0xBC + i as u8).collect();
    let block = power_up(FrameEncoder::new(&p, identity));
    let mut stalled = false;
    let (mut opened, mut taken, mut read) = (false, false, false);
    let stimulus = move |encoder: &mut FrameEncoder, random: &mut ChaCha8Rng| {
        let any_byte = |random: &mut ChaCha8Rng| Word::from(usize::from(byte(random)));
        // What was taken at the last edge is followed by something else; until then it holds.
        encoder.open.next &= !opened;
        if taken {
            encoder.stream_data.next = any_byte(random);
        }
        if read {
            // A value that its bytes hold, mostly.
            let width = if once_in(random, 8) { p.aw } else { 7 };
            encoder.value.next = Word::of(operand(random, width));
            encoder.job_status.next = any_byte(random);
        }
        // States that do not last are reset and broken off as often as others.
        let brief = matches!(encoder.part.q.val(), Part::Open | Part::Close | Part::Crc | Part::Stream);
        encoder.reset.next = once_in(random, if brief { 100 } else { 400 });
        encoder.hello.next = once_in(random, if brief { 60 } else { 300 });
        if encoder.hello.next {
            encoder.nonce.next = Word::of(bits(random, 32) as i64);
        }
        if once_in(random, 20) {
            encoder.expected.next = any_byte(random);
            encoder.retired.next = any_byte(random);
            encoder.poison.next = once_in(random, 3);
        }
        if !encoder.open.next && once_in(random, 30) {
            let result_bytes = random.random_range(1..=p.accumulator_bytes());
            let Wanted { opcode, length } = wanted(&p, random, result_bytes);
            encoder.open.next = true;
            encoder.opcode.next = usize::from(opcode).into();
            encoder.seq.next = any_byte(random);
            encoder.length.next = (length as usize).into();
            encoder.result_bytes.next = (result_bytes as usize).into();
            encoder.steps.next = Word::of(bits(random, 32) as i64);
            encoder.edges.next = Word::of(bits(random, 32) as i64);
        }
        encoder.stream_valid.next = !once_in(random, 3);
        encoder.result_ready.next = !once_in(random, 5);
        encoder.news.next = once_in(random, 80);
        encoder.quiet.next = !once_in(random, 3);
        encoder.nak.next = once_in(random, 80);
        encoder.reason.next = usize::from(Nak::ALL[random.random_range(0..Nak::ALL.len())].code()).into();
        for status in &mut encoder.status_bytes {
            status.next = any_byte(random);
        }
        stalled = if stalled { !once_in(random, 40) } else { once_in(random, 200) };
        encoder.tx_ready.next = !stalled && !once_in(random, 4);
        settle(encoder);
        (opened, taken, read) = (encoder.opened.val(), encoder.stream_take.val(), encoder.result_next.val());
    };
    Case {
        name,
        block,
        stimulus: Box::new(stimulus),
        reach: vec![
            ("a reply opened", |encoder| encoder.opened.val()),
            ("a byte taken from the executor", |encoder| encoder.stream_take.val()),
            ("a value read", |encoder| encoder.result_next.val()),
            ("a value cut", |encoder| encoder.truncated.val()),
            ("a greeting that waits", |encoder| encoder.greeting.val() && encoder.busy.val()),
            ("a byte held by the line", |encoder| encoder.tx_valid.val() && !encoder.tx_ready.next),
            ("nothing to say", |encoder| !encoder.busy.val()),
            ("hello in a frame", |encoder| encoder.hello.next && encoder.busy.val()),
            ("an escape", |encoder| encoder.tx_data.val().get() == i64::from(wire::ESC)),
        ],
        transitions: Some(vec![(
            "part",
            vec![
                "Idle>Open",
                "Open>Head",
                "Head>Table",
                "Head>Stream",
                "Head>Jobs",
                "Head>Crc",
                "Jobs>Table",
                "Table>Crc",
                "Stream>Crc",
                "Crc>Close",
                "Close>Idle",
                // HELLO.
                "Open>Break",
                "Head>Break",
                "Table>Break",
                "Stream>Break",
                "Jobs>Break",
                "Crc>Break",
                "Close>Break",
                "Break>Idle",
                // Reset.
                "Open>Idle",
                "Head>Idle",
                "Table>Idle",
                "Stream>Idle",
                "Jobs>Idle",
                "Crc>Idle",
            ],
        )]),
    }
}
