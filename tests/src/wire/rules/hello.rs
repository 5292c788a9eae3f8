//! HELLO and reset at any moment: what was before leaves nothing behind.

use super::{Check, small, write};
use crate::wire::WireLevel;
use crate::wire::driver::{Driver, Job};
use systole_hdl::codec::{Command, Content, Multiply};
use systole_hdl::wire::{BANK_A, HEADER, Injection, Nak};

pub const RULES: &[Check] = &[
    ("hello_in_the_middle_of_a_job", in_a_job),
    ("hello_in_the_middle_of_every_reply", in_a_reply),
    ("hello_with_the_fifo_full", fifo_full),
    ("hello_disarms_faults_and_forgets_errors", disarms),
    ("hello_twice_in_a_row", twice),
    ("reset_in_the_middle_and_the_host_goes_on", reset),
];

/// Three jobs of four terms, queued behind their WRITEs.
fn busy(driver: &mut Driver, job: &Job) -> Vec<u8> {
    let p = driver.parameters().clone();
    let multiply = Multiply { count: 3, ..job.multiply(&p) };
    let [a, b] = job.writes(&p);
    [a, b, Command::Multiply(multiply)].iter().flat_map(|command| driver.next(command)).collect()
}

/// HELLO now: whatever comes before its IDENT is of no account, and behind it comes nothing old.
fn greet(driver: &mut Driver) {
    driver.hello();
    let before = driver.damaged.len();
    driver.run(300);
    assert_eq!(driver.replies(), []);
    assert_eq!(driver.damaged.len(), before);
}

fn in_a_job(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    // From the middle of the first WRITE to the end of the last job.
    for wait in (0..260).step_by(3) {
        let job = Job::random(&small(), wait);
        let bytes = busy(&mut driver, &job);
        driver.say(&bytes);
        driver.run(wait);
        // What waits is never sent: the host gave up in the middle of a frame.
        driver.forget();
        greet(&mut driver);
        driver.job(&job);
    }
}

fn in_a_reply(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let job = Job::random(&small(), 77);
    // Stopped in front of every byte of: ACK, RESULT, DATA, STATUS, NAK, ECHO.
    let mut length = 0;
    loop {
        let start = driver.heard.len();
        let mut bytes = busy(&mut driver, &job);
        bytes.extend(driver.next(&Command::Source { n: 3 }));
        bytes.extend(driver.next(&Command::Status));
        bytes.extend(write(9, 0, &[1, 1]).frame(driver.seq).to_wire());
        bytes.extend(driver.next(&Command::Echo(vec![0xC0, 0xDB, 1])));
        driver.say(&bytes);
        driver.until("bytes of replies", |driver| {
            driver.heard.len() == start + length || (driver.unsent() == 0 && driver.is_idle())
        });
        let all = driver.heard.len() < start + length;
        driver.room = false;
        driver.until("input to be taken", |driver| driver.unsent() == 0);
        driver.run(200);
        let (hello, nonce) = driver.hello_bytes();
        driver.say(&hello);
        driver.until("HELLO to be taken", |driver| driver.unsent() == 0);
        driver.run(20);
        driver.room = true;
        let replies = driver.settle("IDENT");
        let last = replies.last().map(|reply| &reply.content);
        assert!(
            matches!(last, Some(Content::Ident { nonce: n, .. }) if *n == nonce),
            "{length}: {replies:?}"
        );
        if all {
            break;
        }
        if length % 8 == 0 {
            driver.job(&job);
        }
        length += 1;
    }
    assert!(length > 120, "{length} bytes of replies");
    driver.job(&job);
}

fn fifo_full(level: &dyn WireLevel) {
    let fifo = small().fifo as usize;
    for more in [0, 1] {
        let mut driver = Driver::open(level, &small());
        driver.room = false;
        for _ in 0..2 {
            let bytes = driver.next(&Command::Status);
            driver.say(&bytes);
        }
        driver.until("STATUS to be taken", |driver| driver.unsent() == 0);
        driver.run(50);
        for _ in 0..2 + more {
            let bytes = driver.next(&Command::Sink(vec![0; fifo / 2 - HEADER]));
            driver.say(&bytes);
        }
        driver.until("frames to be taken", |driver| driver.unsent() == 0);
        let (hello, nonce) = driver.hello_bytes();
        driver.say(&hello);
        driver.until("HELLO to be taken", |driver| driver.unsent() == 0);
        driver.run(20);
        driver.room = true;
        let replies = driver.settle("IDENT");
        let [reply] = &replies[..] else { panic!("{replies:?}") };
        assert!(matches!(&reply.content, Content::Ident { nonce: n, .. } if *n == nonce));
        let job = Job::random(&small(), 78);
        driver.job(&job);
    }
}

fn disarms(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let job = Job::random(&small(), 79);
    let flip = Command::Inject { kind: Injection::FlipK, step: 0, length: 0 };
    driver.acknowledged("INJECT", &flip);
    driver.good_job(79);
    driver.acknowledged("INJECT", &flip);
    for command in job.writes(&small()) {
        driver.acknowledged("WRITE", &command);
    }
    let result = driver.command("MULTIPLY", &Command::Multiply(job.multiply(&small())));
    let [Content::Result { jobs, .. }] = &result[..] else { panic!("{result:?}") };
    assert_ne!(jobs[0], 0, "the fault is reported");
    let status = driver.command("STATUS", &Command::Status);
    assert!(matches!(status[..], [Content::Status(s)] if s.kind.is_some()), "{status:?}");
    driver.good_job(80);
    let status = driver.command("STATUS", &Command::Status);
    assert_eq!(status, [Content::Status(Default::default())]);
}

fn twice(level: &dyn WireLevel) {
    let mut driver = Driver::new(level, &small());
    for wait in 0..80 {
        let (first, _) = driver.hello_bytes();
        let (second, nonce) = driver.hello_bytes();
        driver.say(&first);
        driver.until("HELLO to be taken", |driver| driver.unsent() == 0);
        driver.run(wait);
        let replies = driver.exchange("the second HELLO", &second);
        let last = replies.last().map(|reply| (reply.expected, &reply.content));
        let Some((expected, Content::Ident { nonce: answered, .. })) = last else { panic!("{replies:?}") };
        assert_eq!((expected, *answered), (driver.seq, nonce), "HELLO again after {wait} edges");
    }
    driver.acknowledged("WRITE", &write(BANK_A, 0, &[1, 2]));
}

fn reset(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    for wait in (0..260).step_by(5) {
        let job = Job::random(&small(), wait);
        let bytes = busy(&mut driver, &job);
        driver.say(&bytes);
        driver.run(wait);
        driver.reset();
        // The host does not know: the rest of its bytes go on, then further frames.
        let sink = driver.next(&Command::Sink(vec![1, 2, 3]));
        driver.say(&sink);
        let replies = driver.settle("frames after reset");
        // A frame that was whole before the reset was answered before it; no other has an effect.
        let last = replies.last().map(|reply| &reply.content);
        assert_eq!(last, Some(&Content::Nak(Nak::NoSession)), "reset after {wait} edges: {replies:?}");
        let results = replies.iter().filter(|r| matches!(r.content, Content::Result { .. })).count();
        assert!(results <= 1);
        driver.hello();
        driver.job(&job);
    }
}
