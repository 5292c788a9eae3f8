//! Bytes that come late, early, wrong, twice or not at all.

use super::{Check, small};
use crate::wire::driver::{Driver, Job};
use crate::wire::{Fault, WireLevel};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use systole_hdl::codec::{Command, Content, slip};
use systole_hdl::wire::{END, ESC, ESC_ESC, Nak};

pub const RULES: &[Check] = &[
    ("split_and_merged_bytes", split_and_merged),
    ("garbage_before_the_first_frame", garbage_before),
    ("garbage_between_frames", garbage_between),
    ("a_byte_more_less_or_changed_anywhere", byte_errors),
    ("truncated_frames", truncated),
    ("end_after_esc", end_after_esc),
    ("an_unknown_escape_breaks_the_frame", unknown_escape),
    ("what_the_uart_lost", uart_faults),
    ("counters_saturate_and_start_over_with_hello", counters),
    ("no_session", no_session),
];

/// The frames of a job, in the session that is open.
fn frames(driver: &mut Driver, job: &Job) -> Vec<Vec<u8>> {
    let p = driver.parameters().clone();
    let [a, b] = job.writes(&p);
    [a, b, Command::Multiply(job.multiply(&p))].iter().map(|command| driver.next(command)).collect()
}

fn split_and_merged(level: &dyn WireLevel) {
    let mut driver = Driver::new(level, &small());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for pause in [0, 1, 3, 50] {
        driver.hello();
        let job = Job::random(&small(), pause);
        let bytes = frames(&mut driver, &job).concat();
        for byte in bytes {
            driver.say(&[byte]);
            driver.until("a byte to be taken", |driver| driver.unsent() == 0);
            driver.run(rng.random_range(0..=pause));
        }
        let replies = driver.settle("RESULT");
        assert_eq!(replies.last().map(|r| &r.content), Some(&job.result(&small())), "pause {pause}");
    }
    // One END between two frames both ends and starts; many do no more.
    for ends in [1, 2, 7] {
        driver.hello();
        let job = Job::random(&small(), ends);
        let inner: Vec<_> =
            frames(&mut driver, &job).iter().map(|frame| frame[1..frame.len() - 1].to_vec()).collect();
        let mut bytes = inner.join(&vec![END; ends as usize][..]);
        bytes.push(END);
        let replies = driver.exchange("RESULT", &bytes);
        assert_eq!(replies.last().map(|r| &r.content), Some(&job.result(&small())), "{ends} ENDs");
    }
}

fn garbage_before(level: &dyn WireLevel) {
    for seed in 0..20 {
        let mut driver = Driver::new(level, &small());
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let garbage: Vec<u8> = (0..40).map(|_| rng.random()).filter(|byte| *byte != END).collect();
        assert_eq!(driver.exchange("garbage", &garbage), []);
        driver.good_job(seed);
        assert_eq!(driver.damaged, []);
    }
}

fn garbage_between(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let job = Job::random(&small(), 3);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for frame in frames(&mut driver, &job) {
        for length in [1, 2, 7, 8, 9, 30] {
            let mut garbage: Vec<u8> = (0..length).map(|_| rng.random_range(0..0xC0)).collect();
            garbage.push(END);
            let replies = driver.exchange("garbage", &garbage);
            let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
            assert_eq!(contents, [&Content::Nak(Nak::Crc)], "{garbage:02x?}");
        }
        let replies = driver.exchange("a good frame", &frame);
        assert!(matches!(replies[..], [ref r] if !matches!(r.content, Content::Nak(_))), "{replies:?}");
        if let Content::Result { .. } = replies[0].content {
            assert_eq!(replies[0].content, job.result(&small()));
        }
    }
}

fn byte_errors(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let job = Job::random(&small(), 4);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for frame in frames(&mut driver, &job) {
        // Between the ENDs, so that no good frame is left.
        for at in 1..frame.len() - 1 {
            let (before, after) = frame.split_at(at);
            let other = [rng.random_range(0..END)];
            for damaged in [[before, &after[1..]].concat(), [before, &other, after].concat()] {
                let replies = driver.exchange("a damaged frame", &damaged);
                let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
                assert_eq!(contents, [&Content::Nak(Nak::Crc)], "{damaged:02x?}");
            }
        }
        let replies = driver.exchange("the good frame", &frame);
        if let Content::Result { .. } = replies[0].content {
            assert_eq!(replies[0].content, job.result(&small()));
            return;
        }
        assert_eq!(replies.len(), 1);
        assert_eq!(replies[0].content, Content::Ack);
    }
    panic!("no RESULT");
}

fn truncated(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let job = Job::random(&small(), 5);
    for frame in frames(&mut driver, &job) {
        for length in 1..frame.len() - 1 {
            let mut cut = frame[..length].to_vec();
            cut.push(END);
            let replies = driver.exchange("a cut frame", &cut);
            let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
            // Nothing between two ENDs is no frame at all.
            let expected = if length == 1 { vec![] } else { vec![&Content::Nak(Nak::Crc)] };
            assert_eq!(contents, expected, "{cut:02x?}");
        }
        let replies = driver.exchange("the whole frame", &frame);
        assert_eq!(replies.len(), 1);
        if let Content::Result { .. } = replies[0].content {
            assert_eq!(replies[0].content, job.result(&small()));
            return;
        }
    }
    panic!("no RESULT");
}

fn end_after_esc(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let echo = Command::Echo(vec![END, ESC, 1]);
    let frame = driver.next(&echo);
    let escape = frame.iter().position(|&byte| byte == ESC).expect("an escape");
    // The frame ends behind ESC, and what follows is a frame of its own.
    let cut = [&frame[..=escape], &[END], &frame[..]].concat();
    let contents: Vec<_> = driver.exchange("cut behind ESC", &cut).into_iter().map(|r| r.content).collect();
    assert_eq!(contents, [Content::Nak(Nak::Crc), Content::Echo(vec![END, ESC, 1])]);
    // ESC between the CRC and END adds nothing to the frame.
    let frame = driver.next(&echo);
    let (all, end) = frame.split_at(frame.len() - 1);
    let replies = driver.exchange("ESC before END", &[all, &[ESC], end].concat());
    assert_eq!(replies.last().map(|r| &r.content), Some(&Content::Echo(vec![END, ESC, 1])));
}

fn unknown_escape(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let good = driver.next(&Command::Echo(vec![1, 2, 3]));
    for byte in [0x00, ESC, 0xDE, 0xFF] {
        for at in 1..good.len() {
            let (before, after) = good.split_at(at);
            let broken = [before, &[ESC, byte], after].concat();
            let replies = driver.exchange("an unknown escape", &broken);
            let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
            assert_eq!(contents, [&Content::Nak(Nak::Crc)], "{broken:02x?}");
        }
    }
    let replies = driver.exchange("the good frame", &good);
    assert_eq!(replies[0].content, Content::Echo(vec![1, 2, 3]));
    // ESC ESC_ESC is no unknown escape: the same frame with an escape it need not have.
    let echo = Command::Echo(vec![ESC]).frame(driver.seq);
    driver.seq = driver.seq.wrapping_add(1);
    assert!(slip(&echo.bytes()).windows(2).any(|pair| pair == [ESC, ESC_ESC]));
    let replies = driver.exchange("an escape", &echo.to_wire());
    assert_eq!(replies[0].content, Content::Echo(vec![ESC]));
}

fn uart_faults(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let frame = driver.next(&Command::Echo(vec![7; 9]));
    for at in 1..frame.len() {
        driver.say(&frame[..at]);
        driver.until("a byte to be taken", |driver| driver.unsent() == 0);
        driver.run(4);
        driver.fault(Fault::Framing);
        let replies = driver.exchange("a frame that lost a byte", &frame[at..]);
        assert!(matches!(replies[..], [ref r] if r.content == Content::Nak(Nak::Crc)), "{at}: {replies:?}");
    }
    driver.fault(Fault::Overrun);
    driver.fault(Fault::Overrun);
    let replies = driver.exchange("the whole frame", &frame);
    assert_eq!(replies[0].content, Content::Echo(vec![7; 9]));
    let status = driver.command("STATUS", &Command::Status);
    let [Content::Status(status)] = status[..] else { panic!("{status:?}") };
    assert_eq!((status.framing, status.overrun, status.crc), (frame.len() as u8 - 1, 2, 0));
}

fn counters(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    for _ in 0..300 {
        driver.say(&[END, 1, 2, 3, 4, 5, 6, 7, 8, 9, END, 1, END]);
        let duplicate = Command::Status.frame(driver.seq.wrapping_sub(1)).to_wire();
        driver.exchange("bad frames", &duplicate);
    }
    (0..300).for_each(|_| driver.fault(Fault::Overrun));
    let status = driver.command("STATUS", &Command::Status);
    let [Content::Status(status)] = status[..] else { panic!("{status:?}") };
    assert_eq!((status.crc, status.framing, status.overrun, status.dropped), (255, 255, 255, 255));
    driver.hello();
    let status = driver.command("STATUS", &Command::Status);
    assert_eq!(status, [Content::Status(Default::default())]);
}

fn no_session(level: &dyn WireLevel) {
    let mut driver = Driver::new(level, &small());
    let job = Job::random(&small(), 6);
    let mut all = frames(&mut driver, &job);
    all.push(Command::Status.frame(0).to_wire());
    // HELLO with a body that is none opens nothing.
    let hello = systole_hdl::codec::Frame { opcode: systole_hdl::wire::HELLO, seq: 0, body: vec![1, 2, 3] };
    all.push(hello.to_wire());
    for frame in all {
        let replies = driver.exchange("a frame without HELLO", &frame);
        let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
        assert_eq!(contents, [&Content::Nak(Nak::NoSession)]);
        let mut damaged = frame.clone();
        damaged[1] ^= 1;
        assert_eq!(driver.exchange("a damaged frame without HELLO", &damaged), []);
    }
    assert_eq!(driver.exchange("a damaged frame without HELLO", &[END, 1, 2, END]), []);
    driver.good_job(6);
}
