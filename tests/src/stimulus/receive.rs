//! The way in: CRC, decoder, FIFO, executor.

use super::frames::{Host, byte};
use super::{bits, once_in};
use crate::verilog::differential::{Case, Reach};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use systole_hdl::command_fifo::CommandFifo;
use systole_hdl::crc::Crc;
use systole_hdl::executor::{Executor, Task};
use systole_hdl::frame_decoder::{FrameDecoder, Place, Step};
use systole_hdl::parameters::Parameters;
use systole_hdl::sim::{power_up, settle};
use systole_hdl::types::Word;
use systole_hdl::wire::{self, Nak};

/// The CRC.
pub fn crc() -> Case<Crc> {
    let mut message = Vec::new();
    let mut rest: VecDeque<u8> = VecDeque::new();
    let stimulus = move |crc: &mut Crc, random: &mut ChaCha8Rng| {
        crc.clear.next = once_in(random, 40);
        if crc.clear.next {
            message.clear();
            rest.clear();
        }
        crc.enable.next = !crc.busy.val() && !once_in(random, 4);
        let byte = rest.pop_front().unwrap_or_else(|| byte(random));
        crc.data.next = usize::from(byte).into();
        if crc.enable.next && !crc.clear.next {
            message.push(byte);
            if rest.is_empty() && once_in(random, 6) {
                rest.extend(crc32fast::hash(&message).to_le_bytes());
            }
        } else if !crc.clear.next && message.last() != Some(&byte) {
            rest.push_front(byte);
        }
    };
    Case {
        name: "crc".to_owned(),
        block: power_up(Crc::new()),
        stimulus: Box::new(stimulus),
        reach: vec![
            ("a right CRC", |crc| crc.good.val()),
            ("cleared in mid-byte", |crc| crc.clear.next && !crc.enable.next),
        ],
        transitions: Some(vec![]),
    }
}

/// The command FIFO of a design.
pub fn command_fifo(p: &Parameters) -> Case<CommandFifo> {
    let mut cycle = 0u32;
    let stimulus = move |fifo: &mut CommandFifo, random: &mut ChaCha8Rng| {
        cycle += 1;
        // The writer is ahead, then the reader.
        let writer_ahead = (cycle / 400).is_multiple_of(2);
        fifo.reset.next = once_in(random, 1500);
        fifo.write.next = random.random_ratio(if writer_ahead { 7 } else { 2 }, 8);
        fifo.write_data.next = (bits(random, 8) as usize).into();
        let end = !fifo.write.next && once_in(random, 2);
        fifo.commit.next = end && !once_in(random, 3);
        fifo.rollback.next = end && !fifo.commit.next;
        fifo.take.next = fifo.valid.val() && random.random_ratio(if writer_ahead { 1 } else { 7 }, 8);
    };
    Case {
        name: format!("command_fifo of {} bytes", p.fifo),
        block: power_up(CommandFifo::new(p)),
        stimulus: Box::new(stimulus),
        reach: vec![
            ("full", |fifo| fifo.full.val()),
            ("a write into the full FIFO", |fifo| fifo.full.val() && fifo.write.next),
            ("empty", |fifo| fifo.empty.val()),
            ("emptied by a read", |fifo| fifo.empty.val() && fifo.take.next),
            ("written and read at once", |fifo| fifo.write.next && fifo.take.next),
            ("rolled back while full", |fifo| fifo.rollback.next && !fifo.empty.val()),
            ("reset with bytes in it", |fifo| fifo.reset.next && fifo.take.next),
        ],
        transitions: Some(vec![]),
    }
}

/// The frame decoder of a design.
pub fn frame_decoder(p: &Parameters) -> Case<FrameDecoder> {
    let mut host = Host::new(p);
    let mut queue: VecDeque<u8> = VecDeque::new();
    let (mut full, mut in_session) = (false, false);
    let stimulus = move |decoder: &mut FrameDecoder, random: &mut ChaCha8Rng| {
        in_session = (in_session || decoder.hello.val()) && !decoder.reset.next;
        // States that do not last are reset as often as others.
        let brief = decoder.step.q.val() == Step::Measure
            || matches!(
                decoder.place.q.val(),
                Place::Opcode | Place::Seq | Place::LengthLow | Place::LengthHigh
            );
        decoder.reset.next = once_in(random, if brief { 150 } else { 1500 });
        let early = decoder.place.q.val() == Place::Opcode;
        decoder.rx_framing.next = once_in(random, if early { 40 } else { 400 });
        decoder.rx_overrun.next = once_in(random, 400);
        full = if full { !once_in(random, 30) } else { once_in(random, 400) };
        decoder.full.next = full;
        // The last frame has been judged, and what is expected stands.
        if queue.is_empty() && decoder.rx_ready.val() {
            let expected = decoder.expected.val().get() as u8;
            let hello = once_in(random, if in_session { 40 } else { 3 });
            queue.extend(if hello { host.hello(random) } else { host.frame(random, expected) });
        }
        decoder.rx_valid.next = !queue.is_empty() && !once_in(random, 4);
        let offered = if decoder.rx_valid.next { queue[0] } else { random.random() };
        decoder.rx_data.next = usize::from(offered).into();
        if decoder.rx_valid.next && decoder.rx_ready.val() {
            queue.pop_front();
        }
    };
    Case {
        name: format!("frame_decoder of n={} w={} fifo={}", p.n, p.w, p.fifo),
        block: power_up(FrameDecoder::new(p)),
        stimulus: Box::new(stimulus),
        reach: decoder_reach(),
        transitions: Some(vec![
            (
                "place",
                vec![
                    "Outside>Opcode",
                    "Opcode>Seq",
                    "Seq>LengthLow",
                    "LengthLow>LengthHigh",
                    "LengthHigh>Body",
                    // The end of a frame.
                    "Seq>Opcode",
                    "LengthLow>Opcode",
                    "LengthHigh>Opcode",
                    "Body>Opcode",
                    "Broken>Opcode",
                    "Opcode>Broken",
                    "Seq>Broken",
                    "LengthLow>Broken",
                    "LengthHigh>Broken",
                    "Body>Broken",
                    // Reset.
                    "Opcode>Outside",
                    "Seq>Outside",
                    "LengthLow>Outside",
                    "LengthHigh>Outside",
                    "Body>Outside",
                    "Broken>Outside",
                ],
            ),
            (
                "step",
                vec![
                    "Take>Rest",
                    "Rest>Take",
                    "Take>Measure",
                    "Measure>Judge",
                    "Judge>Take",
                    "Judge>Greet",
                    "Greet>Take",
                    // Reset.
                    "Measure>Take",
                ],
            ),
        ]),
    }
}

fn decoder_reach() -> Vec<Reach<FrameDecoder>> {
    fn refuses(decoder: &FrameDecoder, reason: Nak) -> bool {
        decoder.nak.val() && decoder.reason.val().get() == i64::from(reason.code())
    }
    vec![
        ("a good frame", |decoder| decoder.commit.val()),
        ("hello", |decoder| decoder.hello.val()),
        ("duplicate", |decoder| decoder.duplicate.val()),
        ("nak crc", |decoder| refuses(decoder, Nak::Crc)),
        ("nak seq", |decoder| refuses(decoder, Nak::Seq)),
        ("nak overflow", |decoder| refuses(decoder, Nak::Overflow)),
        ("nak opcode", |decoder| refuses(decoder, Nak::Opcode)),
        ("nak length", |decoder| refuses(decoder, Nak::Length)),
        ("nak argument", |decoder| refuses(decoder, Nak::Argument)),
        ("nak no session", |decoder| refuses(decoder, Nak::NoSession)),
        ("a wrong CRC counted", |decoder| decoder.crc_errors.val().any()),
        ("a framing error counted", |decoder| decoder.framing_errors.val().any()),
        ("a lost byte counted", |decoder| decoder.overruns.val().any()),
        ("a dropped frame counted", |decoder| decoder.dropped.val().any()),
        ("a byte lost to the full FIFO", |decoder| decoder.full.next && !decoder.write.val()),
    ]
}

/// What the executor's state machine does.
const TASKS: &[&str] = &[
    "Wait>Write",
    "Write>Retire",
    "Wait>Drain",
    "Drain>Retire",
    "Wait>Arm",
    "Arm>Retire",
    "Retire>Wait",
    "Wait>Measure",
    "Measure>Open",
    "Wait>Open",
    "Open>Start",
    "Start>Run",
    "Run>Start",
    "Run>Answered",
    "Open>Echo",
    "Echo>Answered",
    "Open>Count",
    "Count>Answered",
    "Open>Answered",
    "Answered>Wait",
    // Reset.
    "Write>Wait",
    "Drain>Wait",
    "Arm>Wait",
    "Measure>Wait",
    "Open>Wait",
    "Start>Wait",
    "Run>Wait",
    "Echo>Wait",
    "Count>Wait",
];

/// The executor of a design, between a FIFO of good commands, a wrapper and an encoder that take their time.
pub fn executor(p: &Parameters) -> Case<Executor> {
    let mut host = Host::new(p);
    let p = p.clone();
    let name = format!("executor of n={} w={} aw={}", p.n, p.w, p.aw);
    let block = power_up(Executor::new(&p));
    let mut queue: VecDeque<u8> = VecDeque::new();
    let mut job_left: Option<u32> = None;
    let stimulus = move |executor: &mut Executor, random: &mut ChaCha8Rng| {
        // States that do not last are reset as often as others.
        let one_in = match executor.doing.q.val() {
            Task::Arm => 6,
            Task::Measure | Task::Open | Task::Start => 30,
            _ => 120,
        };
        executor.reset.next = once_in(random, one_in);
        executor.reset_seq.next = (bits(random, 8) as usize).into();
        executor.hold.next = once_in(random, 12);
        if queue.is_empty() {
            let frame = host.command(random).frame(random.random()).bytes();
            queue.extend(&frame[..frame.len() - wire::CRC]);
        }
        executor.valid.next = !once_in(random, 8);
        executor.data.next = usize::from(queue[0]).into();

        executor.ready.next = job_left.is_none() && !once_in(random, 3);
        executor.finished.next = job_left == Some(0);
        job_left = job_left.and_then(|left| left.checked_sub(1));
        executor.job_steps.next = Word::of(bits(random, p.step_bits()) as i64);
        executor.job_edges.next = Word::of(bits(random, p.edge_bits()) as i64);

        executor.opened.next = executor.open.val() && once_in(random, 3);
        executor.stream_take.next = false;
        settle(executor);
        executor.stream_take.next = executor.stream_valid.val() && !once_in(random, 3);
        settle(executor);
        if executor.start.val() {
            job_left = Some(random.random_range(0..12));
        }
        if executor.take.val() {
            queue.pop_front();
        }
        if executor.reset.next {
            queue.clear();
            job_left = None;
        }
    };
    Case {
        name,
        block,
        stimulus: Box::new(stimulus),
        reach: vec![
            ("an operand to bank A", |executor| executor.write_enable.val() && !executor.write_bank.val()),
            ("an operand to bank B", |executor| executor.write_enable.val() && executor.write_bank.val()),
            ("the last lane", |executor| executor.write_enable.val() && executor.write_lane.val().get() > 0),
            ("a job", |executor| executor.start.val()),
            ("steps summed", |executor| executor.steps.val().any()),
            ("a fault armed", |executor| executor.inject_arm.val()),
            ("a fault that never fires", |executor| executor.inject_arm.val() && executor.inject_never.val()),
            ("a reply asked for", |executor| executor.open.val()),
            ("a byte for the encoder", |executor| executor.stream_valid.val()),
            ("a command without a reply", |executor| executor.news.val()),
            ("poison", |executor| executor.poison.val()),
            ("idle and held", |executor| executor.idle.val() && executor.hold.next),
        ],
        transitions: Some(vec![
            ("doing", TASKS.to_vec()),
            (
                "reader.reading",
                vec![
                    "Opcode>Seq",
                    "Seq>LengthLow",
                    "LengthLow>LengthHigh",
                    "LengthHigh>Arguments",
                    "LengthHigh>Loaded",
                    "Arguments>Loaded",
                    "Loaded>Opcode",
                    // Reset.
                    "Seq>Opcode",
                    "LengthLow>Opcode",
                    "LengthHigh>Opcode",
                    "Arguments>Opcode",
                ],
            ),
        ]),
    }
}
