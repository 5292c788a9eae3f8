//! Frames out of turn, frames too many, and every reason for a NAK.

use super::{Check, small, write};
use crate::wire::WireLevel;
use crate::wire::driver::{Driver, Job};
use systole_hdl::codec::{Command, Content, Frame, Multiply};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{self, BANK_A, BANK_B, Injection, Nak};

pub const RULES: &[Check] = &[
    ("wrong_and_duplicate_seq", every_seq),
    ("seq_wraps", wrap),
    ("every_nak_and_the_order_of_checks", naks),
    ("oversize_lengths", oversize),
    ("a_nak_is_repeated_for_every_bad_frame", nak_lost),
    ("a_fatal_reason_is_not_covered_up", fatal_first),
];

pub const OTHER_DESIGNS: &[Check] =
    &[("128_frames_outstanding", window), ("inject_where_there_are_no_faults", no_injection)];

fn every_seq(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    driver.acknowledged("B", &write(BANK_B, 0, &[1, 1]));
    driver.acknowledged("A", &write(BANK_A, 0, &[10, 20]));
    for distance in 1..=255u8 {
        let seq = driver.seq.wrapping_sub(distance);
        // Would spoil bank A if it were executed.
        let replies =
            driver.exchange("a frame out of turn", &write(BANK_A, 0, &[99, 99]).frame(seq).to_wire());
        let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
        let expected = if distance <= 128 { Content::Ack } else { Content::Nak(Nak::Seq) };
        assert_eq!(contents, [&expected], "{distance} back");
        assert_eq!((replies[0].expected, replies[0].retired), (driver.seq, driver.seq.wrapping_sub(1)));
    }
    let multiply =
        Multiply { a_address: 0, b_address: 0, b_stride: 0, k_len: 1, count: 1, job: 0, result_bytes: 2 };
    let result = driver.command("MULTIPLY", &Command::Multiply(multiply));
    let jobs = vec![0, 10, 0, 10, 0, 20, 0, 20, 0];
    assert_eq!(result, [Content::Result { jobs, steps: 3, edges: 3 }]);
    // A duplicate MULTIPLY is not answered by another RESULT.
    let seq = driver.seq.wrapping_sub(1);
    let replies = driver.exchange("a duplicate MULTIPLY", &Command::Multiply(multiply).frame(seq).to_wire());
    assert!(matches!(replies[..], [ref r] if r.content == Content::Ack), "{replies:?}");
    let status = driver.command("STATUS", &Command::Status);
    assert!(matches!(status[..], [Content::Status(s)] if s.dropped == 255), "{status:?}");
}

fn window(level: &dyn WireLevel) {
    // Frames of four bytes: 128 of them fit into this FIFO at once.
    let parameters = Parameters { fifo: 1024, ..small() };
    let mut driver = Driver::open(level, &parameters);
    driver.room = false;
    // Two replies that cannot leave hold up what comes behind them.
    let first = driver.seq;
    for command in [Command::Status, Command::Status] {
        let bytes = driver.next(&command);
        driver.say(&bytes);
    }
    for _ in 0..126 {
        let bytes = driver.next(&Command::Sink(vec![]));
        driver.say(&bytes);
    }
    driver.until("128 frames to be taken", |driver| driver.unsent() == 0);
    // The oldest of them again, all accepted and none finished but the first two.
    driver.say(&Command::Status.frame(first).to_wire());
    driver.until("a duplicate to be taken", |driver| driver.unsent() == 0);
    driver.room = true;
    let replies = driver.settle("128 frames to finish");
    let statuses = replies.iter().filter(|r| matches!(r.content, Content::Status(_))).count();
    assert_eq!(statuses, 2, "{replies:?}");
    assert!(!replies.iter().any(|r| matches!(r.content, Content::Nak(_))), "{replies:?}");
    let last = replies.last().expect("an ACK");
    assert_eq!((last.expected, last.retired), (first.wrapping_add(128), first.wrapping_add(127)));
    driver.good_job(1);
}

fn wrap(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let mut results = 0;
    for i in 0..600u32 {
        let command = if i % 97 == 0 { Command::Echo(vec![i as u8]) } else { Command::Sink(vec![1]) };
        let seq = driver.seq;
        let bytes = driver.next(&command);
        let replies = driver.exchange("a short command", &bytes);
        let [reply] = &replies[..] else { panic!("frame {i}: {replies:?}") };
        assert_eq!((reply.expected, reply.retired), (driver.seq, seq), "frame {i}");
        if i % 97 == 0 {
            assert_eq!((reply.seq, &reply.content), (seq, &Content::Echo(vec![i as u8])));
            results += 1;
        }
    }
    assert_eq!(results, 7);
    let job = Job::random(&small(), 2);
    driver.job(&job);
}

fn naks(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let frame = |opcode, body: &[u8], seq| Frame { opcode, seq, body: body.to_vec() };
    let multiply = |k_len: u32, count: u8, result_bytes: u8| {
        let m = Multiply { a_address: 0, b_address: 0, b_stride: 0, k_len, count, job: 0, result_bytes };
        Command::Multiply(m).frame(0).body
    };
    let panel = |bank, k_len: u16, operands: usize| {
        Command::Write { bank, address: 0, k_len, operands: vec![0; operands] }.frame(0).body
    };
    let inject = |kind: u8, step: u32| [vec![kind], step.to_le_bytes().to_vec(), vec![0; 4]].concat();
    let bad: Vec<(u8, Vec<u8>, Nak)> = vec![
        (0x00, vec![], Nak::Opcode),
        (0x09, vec![1, 2, 3], Nak::Opcode),
        (wire::RESULT, vec![], Nak::Opcode),
        (wire::HELLO, vec![0; 3], Nak::Length),
        (wire::HELLO, vec![0; 5], Nak::Length),
        (wire::WRITE, vec![0; 4], Nak::Length),
        (wire::WRITE, panel(BANK_A, 2, 3), Nak::Length),
        (wire::WRITE, panel(BANK_A, 2, 5), Nak::Length),
        (wire::WRITE, panel(2, 1, 2), Nak::Argument),
        (wire::WRITE, panel(BANK_A, 0, 0), Nak::Argument),
        (wire::MULTIPLY, vec![0; 12], Nak::Length),
        (wire::MULTIPLY, vec![0; 14], Nak::Length),
        (wire::MULTIPLY, multiply(0, 1, 3), Nak::Argument),
        (wire::MULTIPLY, multiply(5, 1, 3), Nak::Argument),
        (wire::MULTIPLY, multiply(0x0100_0001, 1, 3), Nak::Argument),
        (wire::MULTIPLY, multiply(1, 0, 3), Nak::Argument),
        (wire::MULTIPLY, multiply(1, 1, 0), Nak::Argument),
        (wire::MULTIPLY, multiply(1, 1, 5), Nak::Argument),
        (wire::INJECT, vec![1; 8], Nak::Length),
        (wire::INJECT, inject(0, 1), Nak::Argument),
        (wire::INJECT, inject(8, 1), Nak::Argument),
        (wire::INJECT, inject(Injection::RepeatK.code(), 0), Nak::Argument),
        (wire::STATUS, vec![0], Nak::Length),
        (wire::SOURCE, vec![0], Nak::Length),
        (wire::SOURCE, vec![0xFE, 0xFF], Nak::Argument),
        // Two things wrong: the earlier check names the reason.
        (0x77, vec![0; 100], Nak::Opcode),
        (wire::WRITE, panel(2, 2, 3), Nak::Length),
    ];
    for (opcode, body, reason) in &bad {
        let stage = format!("opcode {opcode:#04x} with {body:02x?}");
        driver.refused(&stage, &frame(*opcode, body, driver.seq).to_wire(), *reason);
        // Out of turn, seq comes first; damaged, the CRC.
        let ahead = driver.seq.wrapping_add(1);
        driver.refused(&stage, &frame(*opcode, body, ahead).to_wire(), Nak::Seq);
        let mut damaged = frame(*opcode, body, driver.seq).to_wire();
        damaged[1] ^= 0x10;
        driver.refused(&stage, &damaged, Nak::Crc);
    }
    let status = driver.command("STATUS", &Command::Status);
    let [Content::Status(status)] = status[..] else { panic!("{status:?}") };
    assert_eq!((status.dropped, status.crc), (2 * bad.len() as u8, bad.len() as u8));
    driver.good_job(3);
}

fn no_injection(level: &dyn WireLevel) {
    let parameters = Parameters { injection: false, ..small() };
    let mut driver = Driver::open(level, &parameters);
    let inject = Command::Inject { kind: Injection::FlipK, step: 1, length: 0 };
    driver.refused("no faults here", &inject.frame(driver.seq).to_wire(), Nak::Argument);
    driver.good_job(3);
}

fn oversize(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    // Header and body may have half of the FIFO.
    let most = small().largest_frame() as usize - wire::HEADER;
    assert_eq!(
        driver.command("the largest frame", &Command::Echo(vec![3; most])),
        [Content::Echo(vec![3; most])]
    );
    driver.refused(
        "a byte too many",
        &Command::Echo(vec![3; most + 1]).frame(driver.seq).to_wire(),
        Nak::Length,
    );
    driver.refused("far too many", &Command::Sink(vec![0; 5000]).frame(driver.seq).to_wire(), Nak::Length);
    // A length field that lies, with a right CRC.
    let lie = |announced: u16, body: usize, seq: u8| {
        let mut bytes = vec![wire::SINK, seq];
        bytes.extend(announced.to_le_bytes());
        bytes.extend(vec![9; body]);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        systole_hdl::codec::slip(&bytes)
    };
    for (announced, body) in [(1, 0), (0, 1), (65_535, 3), (7, 60)] {
        driver.refused("a length that lies", &lie(announced, body, driver.seq), Nak::Length);
    }
    // A frame without an end does not come round to a length that fits.
    let endless = [vec![wire::END], vec![0; 140_000], vec![wire::END]].concat();
    driver.refused("an endless frame", &endless, Nak::Crc);
    driver.good_job(4);
}

fn nak_lost(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    // The host that missed the first NAK sends on, and is told again each time.
    for _ in 0..5 {
        driver.refused("a gap", &Command::Sink(vec![]).frame(driver.seq.wrapping_add(3)).to_wire(), Nak::Seq);
    }
    // Several bad frames while the output is held up come to one NAK.
    driver.room = false;
    for _ in 0..5 {
        driver.say(&Command::Sink(vec![]).frame(driver.seq.wrapping_add(3)).to_wire());
    }
    driver.until("bad frames to be taken", |driver| driver.unsent() == 0);
    driver.room = true;
    let replies = driver.settle("NAK");
    assert!((1..=2).contains(&replies.len()), "{replies:?}");
    assert!(replies.iter().all(|r| r.content == Content::Nak(Nak::Seq)), "{replies:?}");
    driver.acknowledged("what was missing", &Command::Sink(vec![]));
}

fn fatal_first(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    driver.room = false;
    let status = driver.next(&Command::Status);
    driver.say(&status);
    driver.until("STATUS to be taken", |driver| driver.unsent() == 0);
    driver.run(50);
    // A gap, then the frame that was missing with an argument out of range, then another gap.
    let bad = write(7, 0, &[1, 2]).frame(driver.seq).to_wire();
    let ahead = Command::Sink(vec![]).frame(driver.seq.wrapping_add(1)).to_wire();
    driver.say(&[&ahead[..], &bad, &ahead].concat());
    driver.until("bad frames to be taken", |driver| driver.unsent() == 0);
    driver.room = true;
    let replies = driver.settle("STATUS and NAK");
    let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
    assert!(matches!(contents[..], [Content::Status(_), Content::Nak(Nak::Argument)]), "{contents:?}");
}
