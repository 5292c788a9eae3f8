//! Too many bytes, and nobody who takes the answers.

use super::{Check, small, write};
use crate::wire::WireLevel;
use crate::wire::driver::{Driver, Job};
use systole_hdl::codec::{Command, Content, Multiply};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{BANK_A, BANK_B, HEADER, Nak};

pub const RULES: &[Check] = &[
    ("fifo_exactly_full", exactly_full),
    ("bad_frames_while_the_fifo_is_full", bad_while_full),
    ("output_held_up_for_thousands_of_cycles", held_up),
    ("a_slow_reader", slow_reader),
];

pub const OTHER_DESIGNS: &[Check] = &[("bytes_are_taken_and_given_without_pause", pace)];

/// Holds up the output until the executor is stuck behind a reply that cannot be opened, with the FIFO empty. Gives the
/// number of replies that wait.
fn stick(driver: &mut Driver) -> usize {
    driver.room = false;
    for _ in 0..2 {
        let bytes = driver.next(&Command::Status);
        driver.say(&bytes);
        driver.until("STATUS to be taken", |driver| driver.unsent() == 0);
        driver.run(50);
    }
    2
}

fn exactly_full(level: &dyn WireLevel) {
    let fifo = small().fifo as usize;
    // Fill with one byte less than fits, with all that fits, and with one byte more.
    for last in [fifo / 2 - 1, fifo / 2, fifo / 2 + 1] {
        let mut driver = Driver::open(level, &small());
        let waiting = stick(&mut driver);
        let sink = |bytes: usize| Command::Sink(vec![0x11; bytes - HEADER]);
        let first = driver.next(&sink(fifo / 2));
        driver.say(&first);
        // Of two halves, the second may itself not be longer than half.
        let bytes = driver.next(&sink(last.min(fifo / 2)));
        driver.say(&bytes);
        let fits = last <= fifo / 2;
        if last < fifo / 2 {
            // One byte is free, but no frame is that short.
            driver.say(&sink(HEADER).frame(driver.seq).to_wire());
        } else if !fits {
            driver.say(&sink(HEADER).frame(driver.seq).to_wire());
        }
        driver.until("frames to be taken", |driver| driver.unsent() == 0);
        driver.run(50);
        driver.room = true;
        let replies = driver.settle("what was queued");
        let naks = replies.iter().filter(|r| r.content == Content::Nak(Nak::Overflow)).count();
        assert_eq!(naks, usize::from(last != fifo / 2), "{last}: {replies:?}");
        let statuses = replies.iter().filter(|r| matches!(r.content, Content::Status(_))).count();
        assert_eq!(statuses, waiting, "{replies:?}");
        let end = replies.last().expect("a reply");
        assert_eq!((end.expected, end.retired), (driver.seq, driver.seq.wrapping_sub(1)), "{last}");
        // What was refused is taken when it is sent again.
        driver.acknowledged("the frame again", &sink(HEADER));
        driver.good_job(last as u64);
    }
}

fn bad_while_full(level: &dyn WireLevel) {
    let fifo = small().fifo as usize;
    let mut driver = Driver::open(level, &small());
    stick(&mut driver);
    let old = driver.seq;
    for _ in 0..2 {
        let bytes = driver.next(&Command::Sink(vec![0x22; fifo / 2 - HEADER]));
        driver.say(&bytes);
    }
    // A duplicate, a damaged frame and one out of turn, all with nowhere to put a byte.
    driver.say(&Command::Sink(vec![0x22; 9]).frame(old).to_wire());
    let mut damaged = write(BANK_A, 0, &[5, 6]).frame(driver.seq).to_wire();
    damaged[4] ^= 2;
    driver.say(&damaged);
    driver.say(&write(BANK_A, 0, &[5, 6]).frame(driver.seq.wrapping_add(9)).to_wire());
    driver.until("frames to be taken", |driver| driver.unsent() == 0);
    driver.room = true;
    let replies = driver.settle("what was queued");
    let naks: Vec<_> = replies.iter().filter(|r| matches!(r.content, Content::Nak(_))).collect();
    assert!(matches!(naks[..], [r] if r.content == Content::Nak(Nak::Crc)), "{replies:?}");
    let end = replies.last().expect("a reply");
    assert_eq!((end.expected, end.retired), (driver.seq, driver.seq.wrapping_sub(1)));
    let status = driver.command("STATUS", &Command::Status);
    let [Content::Status(status)] = status[..] else { panic!("{status:?}") };
    assert_eq!((status.crc, status.dropped), (1, 2));
    assert!(status.overrun > 0);
    let job = Job::random(&small(), 9);
    driver.job(&job);
}

fn held_up(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let job = Job::random(&small(), 11);
    for command in job.writes(&small()) {
        driver.acknowledged("WRITE", &command);
    }
    // Held up in front of every byte of the RESULT in turn, and at the input another job behind it.
    let multiply = Command::Multiply(job.multiply(&small()));
    for length in 0..30 {
        let start = driver.heard.len();
        let bytes = driver.next(&multiply);
        driver.say(&bytes);
        let behind = driver.next(&multiply);
        driver.say(&behind);
        driver.until("bytes of RESULT", |driver| driver.heard.len() >= start + length);
        driver.room = false;
        driver.until("input to be taken", |driver| driver.unsent() == 0);
        driver.run(3000);
        driver.room = true;
        let replies = driver.settle("RESULT");
        let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
        assert_eq!(contents, [&job.result(&small()); 2], "held up after {length} bytes");
    }
    assert_eq!(driver.damaged, []);
}

/// A batch of as many jobs as one RESULT may hold here, over all of bank B.
fn batch(driver: &mut Driver, count: u8) -> (Command, Content) {
    let p = driver.parameters().clone();
    let depth = p.b_depth as i32;
    driver.acknowledged("A", &write(BANK_A, 0, &[3, -2]));
    let column = |c: i32| (0..depth).map(move |i| 7 * i + c);
    let b: Vec<i32> = (0..2).flat_map(column).collect();
    let operands = systole_hdl::codec::operands_to_bytes(&b, 1);
    driver.acknowledged("B", &Command::Write { bank: BANK_B, address: 0, k_len: depth as u16, operands });
    let multiply =
        Multiply { a_address: 0, b_address: 0, b_stride: 1, k_len: 1, count, job: 0, result_bytes: 2 };
    let mut jobs = Vec::new();
    for i in 0..i32::from(count) {
        jobs.push(0);
        for value in [3 * 7 * i, 3 * (7 * i + 1), -2 * 7 * i, -2 * (7 * i + 1)] {
            jobs.extend((value as i16).to_le_bytes());
        }
    }
    let steps = 3 * u32::from(count);
    (Command::Multiply(multiply), Content::Result { jobs, steps, edges: steps })
}

fn slow_reader(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let (command, result) = batch(&mut driver, 16);
    for pause in [1, 7, 100, 900] {
        let bytes = driver.next(&command);
        driver.say(&bytes);
        let mut replies = Vec::new();
        for _ in 0..2000 {
            driver.room = false;
            driver.run(pause);
            driver.room = true;
            driver.edge();
            replies.extend(driver.replies());
            if !replies.is_empty() {
                break;
            }
        }
        let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
        assert_eq!(contents, [&result], "a byte every {pause} edges");
    }
}

fn pace(level: &dyn WireLevel) {
    let parameters = Parameters { b_depth: 256, fifo: 2048, ..small() };
    let mut driver = Driver::open(level, &parameters);
    // In: frames back to back, long and short, with escapes.
    let mut bytes = Vec::new();
    for i in 0..40 {
        bytes.extend(driver.next(&Command::Sink(vec![0xC0; i])));
        bytes.extend(driver.next(&Command::Write {
            bank: BANK_B,
            address: 0,
            k_len: 30,
            operands: vec![1; 60],
        }));
    }
    let (length, start) = (bytes.len() as u64, driver.edges);
    driver.say(&bytes);
    driver.until("bytes to be taken", |driver| driver.unsent() == 0);
    let taken = driver.edges - start;
    assert!(taken <= 4 * length, "{length} bytes took {taken} edges");
    let replies = driver.settle("ACK");
    assert!(replies.iter().all(|r| r.content == Content::Ack), "{replies:?}");
    // Out: a RESULT of many jobs and one of many bytes.
    for command in [batch(&mut driver, 200).0, Command::Source { n: 2000 }] {
        let bytes = driver.next(&command);
        driver.say(&bytes);
        let begun = driver.heard.len();
        driver.until("the first byte", |driver| driver.heard.len() > begun);
        let start = driver.edges;
        driver.settle("RESULT");
        let (given, edges) = ((driver.heard.len() - begun) as u64, driver.edges - start);
        assert!(given > 1800 && edges <= 12 * given, "{given} bytes took {edges} edges");
    }
}
