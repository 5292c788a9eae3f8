//! What runs a job around the array: banks, feeder, collector, result buffer, injector.

use super::{bits, once_in, operand};
use crate::verilog::differential::{Case, Reach};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use systole_hdl::collector::Collector;
use systole_hdl::feeder::Feeder;
use systole_hdl::injector::{INJECTION_BITS, Injector};
use systole_hdl::operand_memory::OperandMemory;
use systole_hdl::parameters::Parameters;
use systole_hdl::pe::KIND_BITS;
use systole_hdl::result_buffer::{ResultBuffer, STATUS_BITS};
use systole_hdl::sim::power_up;
use systole_hdl::types::Word;
use systole_hdl::wire::ErrorKind;

/// A random unsigned number.
fn word(random: &mut ChaCha8Rng, width: u32) -> Word {
    (bits(random, width) as usize).into()
}

/// A bank of `2^address_bits` operands a lane.
pub fn operand_memory(p: &Parameters, address_bits: u32) -> Case<OperandMemory> {
    let p = p.clone();
    let block = power_up(OperandMemory::new(&p, address_bits));
    let stimulus = move |bank: &mut OperandMemory, random: &mut ChaCha8Rng| {
        bank.write_enable.next = !once_in(random, 3);
        bank.write_lane.next = word(random, p.lane_bits());
        bank.write_address.next = word(random, address_bits);
        bank.write_data.next = Word::of(operand(random, p.w));
        for address in &mut bank.read_address {
            address.next =
                if once_in(random, 4) { bank.write_address.next } else { word(random, address_bits) };
        }
    };
    Case {
        name: format!("operand_memory of {address_bits} address bits"),
        block,
        stimulus: Box::new(stimulus),
        reach: vec![
            ("a negative operand read", |bank| bank.read_data.iter().any(|data| data.val().get() < 0)),
            ("the cell being written read", |bank| {
                bank.write_enable.next && bank.read_address[0].next == bank.write_address.next
            }),
        ],
        transitions: Some(vec![]),
    }
}

/// The feeder of a design, with any data behind it.
pub fn feeder(p: &Parameters) -> Case<Feeder> {
    let p = p.clone();
    let block = power_up(Feeder::new(&p));
    let name = format!("feeder of n={} k_max={} a_depth={} b_depth={}", p.n, p.k_max, p.a_depth, p.b_depth);
    let mut left = 0u32;
    let n = p.n;
    let stimulus = move |feeder: &mut Feeder, random: &mut ChaCha8Rng| {
        // A new job when the last one is through, or in its midst.
        feeder.load.next = left == 0 || once_in(random, 100);
        feeder.reset.next = once_in(random, 200);
        feeder.advance.next = !feeder.load.next && !once_in(random, 6);
        if feeder.load.next {
            feeder.a_address.next = word(random, p.a_address_bits());
            feeder.b_address.next = word(random, p.b_address_bits());
            let k_len = random.random_range(1..=p.k_max);
            feeder.k_len.next = (k_len as usize).into();
            feeder.job.next = word(random, p.job_bits);
            feeder.truncate.next = once_in(random, 8);
            left = p.steps(k_len);
        }
        left -= u32::from(feeder.advance.next && left > 0);
        feeder.flip_k.next = once_in(random, 30);
        feeder.flip_job.next = once_in(random, 30);
        feeder.drop_valid.next = once_in(random, 30);
        feeder.repeat_k.next = once_in(random, 30);
        for data in feeder.a_data.iter_mut().chain(&mut feeder.b_data) {
            data.next = Word::of(operand(random, p.w));
        }
    };
    let mut reach: Vec<Reach<Feeder>> = vec![
        ("a token on the last lane", |feeder| feeder.a_out.last().is_some_and(|token| token.val().valid)),
        ("the last term", |feeder| feeder.last.val()),
        ("the last term, truncated", |feeder| feeder.last.val() && feeder.truncate.next),
        ("beyond the end of a bank", |feeder| feeder.overrun.val()),
        ("flip k of a token", |feeder| feeder.flip_k.next && feeder.a_out[0].val().valid),
        ("flip job of a token", |feeder| feeder.flip_job.next && feeder.a_out[0].val().valid),
        ("drop a token", |feeder| feeder.drop_valid.next && feeder.b_out[0].val().valid),
        ("repeat k of a token", |feeder| feeder.repeat_k.next && feeder.a_out[0].val().valid),
        ("a pause", |feeder| !feeder.advance.next && feeder.feeding.val()),
        ("reset in a job", |feeder| feeder.reset.next && !feeder.load.next),
    ];
    if n > 1 {
        reach.push(("lane 0 at an end, another not", |feeder| {
            !feeder.feeding.val() && feeder.b_out.iter().any(|token| token.val().valid)
        }));
    }
    Case { name, block, stimulus: Box::new(stimulus), reach, transitions: Some(vec![]) }
}

/// The collector of a design, before a grid that shows anything.
pub fn collector(p: &Parameters) -> Case<Collector> {
    let p = p.clone();
    let block = power_up(Collector::new(&p));
    let name = format!("collector of n={} aw={}", p.n, p.aw);
    let stimulus = move |collector: &mut Collector, random: &mut ChaCha8Rng| {
        collector.reset.next = once_in(random, 150);
        collector.go.next = once_in(random, 8);
        // Whole jobs without an error are as frequent as jobs with one.
        let healthy = 4 * p.n * p.n;
        for column in 0..p.n as usize {
            collector.acc[column].next = Word::of(operand(random, p.aw));
            let erring = once_in(random, healthy);
            collector.kind[column].next = if erring { word(random, KIND_BITS) } else { 0usize.into() };
            collector.done[column].next = !once_in(random, healthy);
        }
    };
    fn closes_with(collector: &Collector, kind: u8) -> bool {
        collector.close.val() && collector.error.val().get() == i64::from(kind)
    }
    Case {
        name,
        block,
        stimulus: Box::new(stimulus),
        reach: vec![
            ("a good job", |collector| closes_with(collector, 0)),
            ("unpaired operand", |collector| closes_with(collector, ErrorKind::Unpaired.code())),
            ("job mismatch", |collector| closes_with(collector, ErrorKind::JobMismatch.code())),
            ("k mismatch", |collector| closes_with(collector, ErrorKind::KMismatch.code())),
            ("out of order", |collector| closes_with(collector, ErrorKind::OutOfOrder.code())),
            ("missing terms", |collector| closes_with(collector, ErrorKind::MissingTerms.code())),
            ("an error in the last row and column", |collector| {
                let last = collector.row.len() as i64 - 1;
                let place = (collector.error_row.val().get(), collector.error_column.val().get());
                collector.close.val() && collector.error.val().any() && place == (last, last)
            }),
        ],
        transitions: Some(vec![(
            "state",
            vec!["Idle>Fetch", "Fetch>Copy", "Copy>Close", "Close>Idle", "Fetch>Idle", "Copy>Idle"],
        )]),
    }
}

/// The result buffer of a design.
pub fn result_buffer(p: &Parameters) -> Case<ResultBuffer> {
    let p = p.clone();
    let block = power_up(ResultBuffer::new(&p));
    let name = format!("result_buffer of n={} aw={}", p.n, p.aw);
    let values = p.n * p.n;
    let (mut written, mut cycle) = (0, 0u32);
    let stimulus = move |buffer: &mut ResultBuffer, random: &mut ChaCha8Rng| {
        cycle += 1;
        // The writer is ahead, then the reader: the buffer fills and empties.
        let writer_ahead = (cycle / 400).is_multiple_of(2);
        buffer.reset.next = once_in(random, 60);
        let may_write = (buffer.room.val() || written > 0) && (writer_ahead || once_in(random, 8));
        buffer.close.next = may_write && written == values;
        buffer.write.next = may_write && written < values;
        written =
            if buffer.reset.next || buffer.close.next { 0 } else { written + u32::from(buffer.write.next) };
        buffer.value.next = Word::of(operand(random, p.aw));
        buffer.status.next = word(random, STATUS_BITS);
        buffer.advance.next = buffer.ready.val() && (!writer_ahead || once_in(random, 8));
    };
    Case {
        name,
        block,
        stimulus: Box::new(stimulus),
        reach: vec![
            ("full", |buffer| !buffer.room.val()),
            ("empty", |buffer| !buffer.ready.val() && buffer.room.val()),
            ("written and read at once", |buffer| buffer.write.next && buffer.advance.next),
            ("a job closed while another is read", |buffer| buffer.close.next && buffer.advance.next),
            ("a negative result", |buffer| buffer.ready.val() && buffer.shown.val().get() < 0),
            ("reset while a job is shown", |buffer| buffer.reset.next && buffer.advance.next),
        ],
        transitions: Some(vec![(
            "state",
            vec!["Nothing>Status", "Status>Job", "Job>Nothing", "Status>Nothing"],
        )]),
    }
}

/// The injector of a design, beside a wrapper that runs jobs of a few steps.
pub fn injector(p: &Parameters) -> Case<Injector> {
    let p = p.clone();
    let block = power_up(Injector::new(&p));
    let mut step = 0usize;
    let stimulus = move |injector: &mut Injector, random: &mut ChaCha8Rng| {
        let terms = 5;
        injector.reset.next = once_in(random, 300);
        injector.job_ends.next = step > terms + 2;
        if injector.job_ends.next || injector.reset.next {
            step = 0;
        }
        let idle = step == 0;
        injector.arm.next = idle && once_in(random, 4);
        injector.job_begins.next = idle && !injector.arm.next && once_in(random, 4);
        injector.running.next = !idle;
        injector.kind.next = word(random, INJECTION_BITS);
        injector.at.next = random.random_range(0..=terms + 1).into();
        injector.length.next = random.random_range(0..=3usize).into();
        injector.never.next = once_in(random, 8);
        injector.step.next = step.saturating_sub(1).into();
        injector.feeding.next = (1..=terms).contains(&step);
        injector.last.next = step == terms;
        step += usize::from(injector.job_begins.next || (!idle && !injector.hold.val()));
    };
    Case {
        name: "injector".to_owned(),
        block,
        stimulus: Box::new(stimulus),
        reach: vec![
            ("flip k", |injector| injector.flip_k.val()),
            ("flip job", |injector| injector.flip_job.val()),
            ("drop valid", |injector| injector.drop_valid.val()),
            ("repeat k", |injector| injector.repeat_k.val()),
            ("truncate", |injector| injector.truncate.val() && injector.last.next),
            ("pause", |injector| injector.hold.val()),
            ("start", |injector| injector.start.val()),
            ("a job ends with its fault fired", |injector| injector.job_ends.next && injector.fired.val()),
            ("a fault that never comes", |injector| injector.never.next && injector.arm.next),
            ("pending", |injector| injector.pending.val()),
        ],
        transitions: Some(vec![]),
    }
}
