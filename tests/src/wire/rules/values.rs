//! Arguments and values at the ends of their ranges: right, or unmistakably wrong.

use super::{Check, small, write};
use crate::wire::WireLevel;
use crate::wire::driver::{Driver, Job};
use systole_hdl::codec::{Command, Content, Multiply, operands_to_bytes};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{self, BANK_A, BANK_B, Injection, STATUS_POISON};

pub const RULES: &[Check] = &[
    ("batches_step_through_bank_b_and_wrap_their_tag", batches),
    ("link_benches", link_benches),
    ("an_address_that_leaves_its_bank_poisons", addresses),
    ("a_value_cut_short_is_never_delivered", cut_short),
    ("faults_are_reported", faults),
    ("a_fault_that_never_comes", never),
];

pub const OTHER_DESIGNS: &[Check] =
    &[("every_shape_of_operand_and_result", shapes), ("an_operand_that_does_not_fit_poisons", operands)];

fn shapes(level: &dyn WireLevel) {
    let base = small;
    let designs = [
        Parameters { n: 1, k_max: 1, a_depth: 1, b_depth: 1, fifo: 64, ..base() },
        Parameters { n: 3, w: 4, aw: 11, k_max: 5, ..base() },
        Parameters { n: 2, w: 2, aw: 4, k_max: 3, job_bits: 1, ..base() },
        Parameters { n: 3, w: 16, aw: 48, k_max: 4, job_bits: 8, fifo: 256, ..base() },
        Parameters { n: 4, w: 9, aw: 24, k_max: 4, fifo: 256, ..base() },
    ];
    for (i, parameters) in designs.iter().enumerate() {
        let mut driver = Driver::open(level, parameters);
        for seed in 0..6 {
            let job = Job::random(parameters, 100 * i as u64 + seed);
            driver.job(&job);
        }
        // The ends of the range, all in one sum.
        let (k, low) = (parameters.k_limit().min(4) as usize, -(1 << (parameters.w - 1)));
        let lanes = vec![low; parameters.n as usize * k];
        driver.job(&Job { k, a: lanes.clone(), b: lanes });
    }
}

/// Fills bank B with 0, 1, 2, … in column 0 and 1, 2, 3, … in column 1, and A with 5 and −3 at address 0.
fn ramp(driver: &mut Driver) {
    driver.acknowledged("A", &write(BANK_A, 0, &[5, -3]));
    let b: Vec<i32> = (0..16).chain(1..17).collect();
    let operands = operands_to_bytes(&b, 1);
    driver.acknowledged("B", &Command::Write { bank: BANK_B, address: 0, k_len: 16, operands });
}

fn batch(b_address: u16, b_stride: u16, count: u8) -> Multiply {
    Multiply { a_address: 0, b_address, b_stride, k_len: 1, count, job: 3, result_bytes: 2 }
}

fn batches(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    ramp(&mut driver);
    for (address, stride, count) in [(0, 1, 16), (15, 0, 255), (1, 2, 8), (15, 60_000, 1), (3, 4, 4)] {
        let result = driver.command("MULTIPLY", &Command::Multiply(batch(address, stride, count)));
        let mut jobs = Vec::new();
        for i in 0..i32::from(count) {
            let x = i32::from(address) + i * i32::from(stride);
            jobs.push(0);
            jobs.extend(
                [5 * x, 5 * (x + 1), -3 * x, -3 * (x + 1)].iter().flat_map(|v| (*v as i16).to_le_bytes()),
            );
        }
        let steps = 3 * u32::from(count);
        assert_eq!(result, [Content::Result { jobs, steps, edges: steps }], "{address} {stride} {count}");
    }
    // The tag of the fourth job from tag 3 on, with two bits, is 2: the first error names it.
    let flip = Command::Inject { kind: Injection::FlipK, step: 0, length: 0 };
    driver.acknowledged("INJECT", &flip);
    driver.command("MULTIPLY", &Command::Multiply(Multiply { job: 6, ..batch(0, 1, 4) }));
    let status = driver.command("STATUS", &Command::Status);
    assert!(matches!(status[..], [Content::Status(s)] if s.job == 2 && s.kind.is_some()), "{status:?}");
}

fn link_benches(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let most = small().largest_frame() as usize - wire::HEADER;
    let bytes: Vec<u8> = (0..=255).collect();
    for n in [0u16, 1, 2, 255, 256, 257, 700] {
        let data: Vec<u8> = bytes.iter().copied().cycle().take(n.into()).collect();
        assert_eq!(driver.command("SOURCE", &Command::Source { n }), [Content::Data(data)]);
    }
    for piece in bytes.chunks(most).chain([&[][..]]) {
        assert_eq!(driver.command("ECHO", &Command::Echo(piece.to_vec())), [Content::Echo(piece.to_vec())]);
        driver.acknowledged("SINK", &Command::Sink(piece.to_vec()));
    }
    let job = Job::random(&small(), 8);
    driver.job(&job);
}

/// The status byte of the first job of the RESULT to a MULTIPLY.
fn status_of(driver: &mut Driver, multiply: Multiply) -> u8 {
    let result = driver.command("MULTIPLY", &Command::Multiply(multiply));
    let [Content::Result { jobs, .. }] = &result[..] else { panic!("{result:?}") };
    jobs[0]
}

/// Whether the session is poisoned; and a new session is not.
fn poisoned(driver: &mut Driver) -> bool {
    let status = status_of(driver, batch(0, 1, 1));
    assert_eq!(status & !STATUS_POISON, 0);
    driver.good_job(5);
    status == STATUS_POISON
}

fn addresses(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    let panel = |bank, address, k_len: u16| Command::Write {
        bank,
        address,
        k_len,
        operands: vec![1; 2 * usize::from(k_len)],
    };
    // Banks of 8 and 16 operands a lane: up to the last one is fine, one beyond is not.
    let writes = [
        (panel(BANK_A, 4, 4), false),
        (panel(BANK_A, 5, 4), true),
        (panel(BANK_A, 8, 1), true),
        (panel(BANK_A, 65_535, 1), true),
        (panel(BANK_B, 8, 8), false),
        (panel(BANK_B, 9, 8), true),
        (panel(BANK_B, 16, 1), true),
        (panel(BANK_B, 65_535, 2), true),
    ];
    for (command, expected) in writes {
        driver.acknowledged("WRITE", &command);
        assert_eq!(poisoned(&mut driver), expected, "{command:?}");
    }
    let base =
        Multiply { a_address: 0, b_address: 0, b_stride: 0, k_len: 4, count: 1, job: 0, result_bytes: 3 };
    let multiplies = [
        (Multiply { a_address: 4, b_address: 12, ..base }, false),
        (Multiply { a_address: 5, ..base }, true),
        (Multiply { a_address: 8, ..base }, true),
        (Multiply { a_address: 0x8000, ..base }, true),
        (Multiply { b_address: 13, ..base }, true),
        (Multiply { b_address: 16, ..base }, true),
        (Multiply { b_stride: 12, count: 2, ..base }, false),
        (Multiply { b_stride: 0xFFFF, b_address: 1, count: 2, ..base }, true),
        (Multiply { b_stride: 0xFFFF, b_address: 15, k_len: 1, count: 1, ..base }, false),
        (Multiply { b_stride: 13, count: 2, ..base }, true),
    ];
    for (multiply, expected) in multiplies {
        let result = driver.command("MULTIPLY", &Command::Multiply(multiply));
        let [Content::Result { jobs, .. }] = &result[..] else { panic!("{result:?}") };
        // The job that left the bank says so itself, as the last one of its batch.
        let last = jobs[jobs.len() - 1 - 4 * 3];
        assert_eq!(last, if expected { STATUS_POISON } else { 0 }, "{multiply:?}");
        assert_eq!(poisoned(&mut driver), expected, "{multiply:?}");
    }
}

fn operands(level: &dyn WireLevel) {
    // Four-bit operands travel in a byte, twelve-bit ones in two; sign-extended, or else.
    for (w, aw, good, bad) in
        [(4, 8, vec![0xF8, 0x07], vec![0x08, 0xF7]), (12, 24, vec![0, 0xF8, 0xFF, 7], vec![0, 8, 0, 0])]
    {
        let parameters = Parameters { w, aw, ..small() };
        let mut driver = Driver::open(level, &parameters);
        for (operands, expected) in [(good, 0), (bad, STATUS_POISON)] {
            driver.acknowledged("A", &Command::Write { bank: BANK_A, address: 0, k_len: 1, operands });
            let multiply = Multiply { result_bytes: parameters.accumulator_bytes() as u8, ..batch(0, 0, 1) };
            assert_eq!(status_of(&mut driver, multiply), expected, "w = {w}");
        }
        driver.good_job(6);
    }
}

fn cut_short(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    // 100·k and −100·k fit one byte up to 127 and −128, and two bytes up to 32767.
    for (b, fits) in [(1, true), (-1, true), (2, false), (-2, false)] {
        driver.acknowledged("A", &write(BANK_A, 0, &[64, 1]));
        driver.acknowledged("B", &write(BANK_B, 0, &[b, 0]));
        let multiply = Multiply { result_bytes: 1, ..batch(0, 0, 1) };
        // 64·2 = 128 is one too many, −64·2 = −128 is not.
        let fits = fits || b == -2;
        let result = driver.command("MULTIPLY", &Command::Multiply(multiply));
        let damaged = std::mem::take(&mut driver.damaged);
        if fits {
            let value = |x: i32| x as u8;
            let jobs = vec![0, value(64 * b), 0, value(b), 0];
            assert_eq!(result, [Content::Result { jobs, steps: 3, edges: 3 }], "{b}");
            assert_eq!(damaged, []);
        } else {
            assert_eq!(result, [], "no RESULT that looks good");
            assert_eq!(damaged.len(), 1);
            // It is lost as a damaged one is: `retired` has passed it, and it does not come again.
            let seq = driver.seq.wrapping_sub(1);
            let replies = driver.exchange("asking again", &Command::Multiply(multiply).frame(seq).to_wire());
            assert!(
                matches!(replies[..], [ref r] if r.content == Content::Ack && r.retired == seq),
                "{replies:?}"
            );
            assert!(poisoned(&mut driver));
        }
    }
}

fn faults(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    ramp(&mut driver);
    let multiply = Multiply { k_len: 4, result_bytes: 3, ..batch(0, 0, 1) };
    let fired = wire::STATUS_FIRED;
    let table = [
        (Injection::FlipK, 1, 3 | fired),
        (Injection::FlipJob, 1, 2 | fired),
        (Injection::DropValid, 1, 1 | fired),
        (Injection::RepeatK, 1, 4 | fired),
        (Injection::Truncate, 0, 5 | fired),
        (Injection::Pause, 1, fired),
        (Injection::Start, 1, fired | wire::STATUS_REFUSED),
    ];
    for (kind, step, expected) in table {
        driver.acknowledged("INJECT", &Command::Inject { kind, step, length: 7 });
        let result = driver.command("MULTIPLY", &Command::Multiply(multiply));
        let [Content::Result { jobs, steps, edges }] = &result[..] else { panic!("{result:?}") };
        assert_eq!(jobs[0], expected, "{kind}");
        let paused = if kind == Injection::Pause { 7 } else { 0 };
        assert_eq!(*edges, steps + paused, "{kind}");
        assert_eq!(status_of(&mut driver, multiply), 0, "the job after {kind}");
    }
    let status = driver.command("STATUS", &Command::Status);
    let [Content::Status(status)] = status[..] else { panic!("{status:?}") };
    assert_eq!(
        (status.kind, status.row, status.column, status.job),
        (Some(wire::ErrorKind::KMismatch), 0, 0, 3)
    );
    assert_eq!(status.refused, 1);
    driver.good_job(7);
}

fn never(level: &dyn WireLevel) {
    let mut driver = Driver::open(level, &small());
    ramp(&mut driver);
    // Beyond the last step; beyond what the board counts, in each byte; a pause longer than it counts.
    for (step, length) in
        [(3, 1), (255, 1), (256, 1), (0x1_0000, 1), (0x100_0000, 1), (u32::MAX, 1), (1, 256), (0, 1 << 24)]
    {
        driver.acknowledged("INJECT", &Command::Inject { kind: Injection::Pause, step, length });
        let result = driver.command("MULTIPLY", &Command::Multiply(batch(0, 0, 1)));
        let [Content::Result { jobs, steps, edges }] = &result[..] else { panic!("{result:?}") };
        assert_eq!((jobs[0], *steps, *edges), (wire::STATUS_NOT_FIRED, 3, 3), "step {step}, length {length}");
    }
}
