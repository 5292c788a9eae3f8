//! The model of the board against the gateware: whatever one says, the other says.
//!
//! Commands go to both one at a time, good ones and every kind of bad one; each waits until the board is quiet. What
//! comes back must be the same, `expected` and `retired` included, to the byte.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeSet, VecDeque};
use systole::link::Link;
use systole::link::sim::SimLink;
use systole::link::software::SoftwareLink;
use systole_firmware::design::Design;
use systole_hdl::codec::{Command, Content, Decoder, Frame, Multiply, Reply, slip};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{self, Injection, Origin};

/// Silence after which a board is through with a command, in the link's cycles: longer than any command here takes.
const QUIET: u64 = 3000;

/// Polls before a board that never falls silent counts as hanging.
const WATCHDOG: u32 = 100_000;

/// Sends bytes and waits for silence; gives what came back.
fn exchange(link: &mut dyn Link, bytes: &[u8]) -> Vec<u8> {
    let (mut to_board, mut from_board) = (VecDeque::from(bytes.to_vec()), Vec::new());
    let mut heard = link.now();
    for _ in 0..WATCHDOG {
        let before = from_board.len();
        link.poll(&mut to_board, &mut from_board).expect("a simulated link");
        if from_board.len() > before || !to_board.is_empty() {
            heard = link.now();
        }
        if link.now() - heard > QUIET {
            return from_board;
        }
    }
    panic!("the {} board is still talking after {WATCHDOG} polls", link.level(Origin::Simulated));
}

/// The replies that arrive intact.
fn replies(bytes: &[u8]) -> Vec<Reply> {
    let frames = Decoder::new().push_all(bytes);
    frames.into_iter().flatten().map(|frame| Reply::parse(&frame).expect("a reply")).collect()
}

/// A frame that a board may take or must refuse.
fn frame(rng: &mut ChaCha8Rng, p: &Parameters, seq: u8) -> Vec<u8> {
    let command = match rng.random_range(0..9) {
        0..=2 => {
            let k_len = *[0, 1, 2, 3, 4].choose(rng).expect("not empty");
            let address = rng.random_range(0..=p.a_depth + 1) as u16;
            let operands =
                u32::from(k_len) * p.n * p.operand_bytes() + u32::from(rng.random_range(0..12) == 0);
            let operands = (0..operands).map(|_| rng.random()).collect();
            Command::Write {
                bank: *[0, 0, 1, 1, 2].choose(rng).expect("not empty"),
                address,
                k_len,
                operands,
            }
        }
        3..=5 => Command::Multiply(Multiply {
            a_address: rng.random_range(0..=p.a_depth) as u16,
            b_address: rng.random_range(0..=p.b_depth) as u16,
            b_stride: rng.random_range(0..4),
            k_len: rng.random_range(0..=p.k_max + 1),
            count: rng.random_range(0..4),
            job: rng.random(),
            result_bytes: rng.random_range(0..=p.accumulator_bytes() + 1) as u8,
        }),
        6 => Command::Inject {
            kind: *Injection::ALL.choose(rng).expect("not empty"),
            step: rng.random_range(0..8),
            length: rng.random_range(0..20),
        },
        7 => Command::Status,
        _ => match rng.random_range(0..3) {
            0 => Command::Source { n: rng.random_range(0..20) },
            1 => Command::Sink((0..rng.random_range(0..20)).map(|_| rng.random()).collect()),
            _ => Command::Echo((0..rng.random_range(0..20)).map(|_| rng.random()).collect()),
        },
    };
    let mut frame = command.frame(seq);
    match rng.random_range(0..24) {
        0 => frame.opcode = rng.random_range(9..=255),
        1 => frame.seq = rng.random(),
        2 => frame.body.push(0),
        3 => {
            let mut bytes = frame.bytes();
            let at = rng.random_range(0..bytes.len());
            bytes[at] ^= 1 << rng.random_range(0..8);
            return slip(&bytes);
        }
        4 => frame.body = vec![0; p.largest_frame() as usize],
        _ => {}
    }
    if frame.opcode == wire::HELLO { Frame { opcode: wire::STATUS, ..frame } } else { frame }.to_wire()
}

#[test]
fn they_say_the_same() {
    let base = Parameters { n: 2, k_max: 4, a_depth: 8, b_depth: 11, fifo: 128, ..Parameters::default() };
    let designs = [
        base.clone(),
        Parameters { n: 1, k_max: 3, w: 12, aw: 28, job_bits: 1, ..base.clone() },
        Parameters { injection: false, aw: 17, ..base },
    ];
    let mut seen = BTreeSet::new();
    let mut cycles = 0;
    for (number, parameters) in designs.into_iter().enumerate() {
        let design = Design::new(parameters).expect("in range");
        let identity = design.identity(Origin::Simulated);
        let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
        let mut gateware = SimLink::new(&identity, None);
        let mut model = SoftwareLink::new(identity);
        let mut expected = 0;
        for turn in 0..400 {
            let bytes = match turn % 40 {
                0 => frame(&mut rng, design.parameters(), expected),
                1 => Command::Hello { nonce: rng.random() }.frame(rng.random()).to_wire(),
                _ => frame(&mut rng, design.parameters(), expected),
            };
            let got = exchange(&mut gateware, &bytes);
            let want = exchange(&mut model, &bytes);
            let said = (replies(&got), replies(&want));
            assert_eq!(said.0, said.1, "design {number}, turn {turn}: {bytes:02x?}");
            // A reply that must not be trusted is sent damaged, by both.
            assert_eq!(got, want, "design {number}, turn {turn}: {bytes:02x?}");
            if said.0.is_empty() && !got.is_empty() {
                seen.insert("damaged on purpose");
            }
            for reply in said.0 {
                expected = reply.expected;
                seen.insert(match reply.content {
                    Content::Nak(reason) => reason.name(),
                    Content::Result { jobs, .. } if jobs[0] & wire::STATUS_POISON != 0 => "poisoned result",
                    Content::Result { jobs, .. } if jobs[0] != 0 => "flagged result",
                    Content::Result { .. } => "good result",
                    _ => "other",
                });
            }
        }
        cycles += gateware.now();
    }
    systole_tests::cycles::report("program_board", cycles);
    // A NAK for an overflow needs a host that ignores its credits while jobs run; the suite of the wire has it.
    let all = [
        "argument",
        "crc",
        "flagged result",
        "good result",
        "length",
        "no session",
        "opcode",
        "other",
        "poisoned result",
        "seq",
    ];
    assert!(all.iter().all(|kind| seen.contains(kind)), "only {seen:?} were reached");
}
