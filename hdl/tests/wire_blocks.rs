//! The wire's blocks one by one, against golden frames that a Python script made.

use systole_hdl::command_fifo::CommandFifo;
use systole_hdl::executor::Executor;
use systole_hdl::frame_decoder::FrameDecoder;
use systole_hdl::frame_encoder::FrameEncoder;
use systole_hdl::parameters::Parameters;
use systole_hdl::result_reader::ResultReader;
use systole_hdl::sim;
use systole_hdl::types::Word;

const GOLDEN: &str = include_str!("../../tests/vectors/frames/frames.txt");

/// Edges that no exchange here takes.
const WATCHDOG: u32 = 2000;

fn golden(name: &str) -> Vec<u8> {
    let hex = GOLDEN.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).expect(name);
    let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16).expect("hex") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Header and body of a golden frame: what the FIFO holds of it.
fn decoded(name: &str) -> Vec<u8> {
    let wire = golden(name);
    let mut bytes = Vec::new();
    let mut rest = wire[1..wire.len() - 1].iter();
    while let Some(&byte) = rest.next() {
        let escaped = if byte == 0xDB { rest.next() } else { None };
        bytes.push(match escaped {
            Some(0xDC) => 0xC0,
            Some(_) => 0xDB,
            None => byte,
        });
    }
    bytes.truncate(bytes.len() - 4);
    bytes
}

/// The design of the golden frames.
fn design() -> Parameters {
    Parameters { n: 2, ..Parameters::default() }
}

fn word(x: impl Into<i64>) -> Word {
    Word::of(x.into())
}

/// What a decoder did with some bytes.
#[derive(Debug, Default, PartialEq)]
struct Decoded {
    stored: Vec<u8>,
    commits: u32,
    rollbacks: u32,
    hellos: Vec<i64>,
    naks: Vec<i64>,
    duplicates: u32,
}

fn decode(decoder: &mut FrameDecoder, bytes: &[u8]) -> Decoded {
    let (mut did, mut sent, mut rest) = (Decoded::default(), 0, 0);
    for _ in 0..WATCHDOG {
        decoder.rx_valid.next = sent < bytes.len();
        decoder.rx_data.next = word(bytes.get(sent).copied().unwrap_or(0));
        sim::settle(decoder);
        if decoder.write.val() {
            did.stored.push(decoder.data.val().get() as u8);
        }
        did.commits += u32::from(decoder.commit.val());
        did.rollbacks += u32::from(decoder.rollback.val());
        did.duplicates += u32::from(decoder.duplicate.val());
        did.naks.extend(decoder.nak.val().then(|| decoder.reason.val().get()));
        did.hellos.extend(decoder.hello.val().then(|| decoder.nonce.val().get()));
        sent += usize::from(decoder.rx_valid.next && decoder.rx_ready.val());
        rest += u32::from(sent == bytes.len());
        if rest > 6 {
            return did;
        }
        sim::edge(decoder);
    }
    panic!("the decoder took {sent} of {} bytes", bytes.len());
}

#[test]
fn decoder_takes_golden_frames_in_turn() {
    let mut decoder = sim::power_up(FrameDecoder::new(&design()));
    let did = decode(&mut decoder, &golden("hello"));
    assert_eq!((did.hellos, did.rollbacks, did.commits), (vec![0x1234_5678], 1, 0));
    assert_eq!(decoder.expected.val().get(), 0x11);
    for name in ["write-a", "write-b", "multiply"] {
        let did = decode(&mut decoder, &golden(name));
        assert_eq!(did, Decoded { stored: decoded(name), commits: 1, ..Decoded::default() }, "{name}");
    }
    // A wrong CRC, a duplicate, and a frame from ahead.
    let did = decode(&mut decoder, &golden("write-damaged"));
    assert_eq!((did.commits, did.rollbacks, did.naks), (0, 1, vec![0x01]));
    let did = decode(&mut decoder, &golden("write-b"));
    assert_eq!((did.commits, did.rollbacks, did.duplicates, did.naks), (0, 1, 1, vec![]));
    let did = decode(&mut decoder, &golden("status"));
    assert_eq!((did.commits, did.rollbacks, did.naks), (0, 1, vec![0x02]));
    let counters = [&decoder.crc_errors, &decoder.framing_errors, &decoder.overruns, &decoder.dropped];
    assert_eq!(counters.map(|counter| counter.val().get()), [1, 0, 0, 2]);
    assert_eq!(decoder.expected.val().get(), 0x14);
}

#[test]
fn decoder_without_room_or_session() {
    let mut decoder = sim::power_up(FrameDecoder::new(&design()));
    let did = decode(&mut decoder, &golden("write-a"));
    assert_eq!((did.commits, did.naks), (0, vec![0x14]));
    decode(&mut decoder, &golden("hello"));
    decoder.full.next = true;
    let did = decode(&mut decoder, &golden("write-a"));
    assert_eq!((did.stored, did.commits, did.naks), (vec![], 0, vec![0x03]));
    assert_eq!(decoder.overruns.val().get(), 13, "header and body");
    decoder.full.next = false;
    assert_eq!(decode(&mut decoder, &golden("write-a")).commits, 1);
    decoder.reset.next = true;
    sim::edge(&mut decoder);
    decoder.reset.next = false;
    assert_eq!(decode(&mut decoder, &golden("write-b")).naks, [0x14]);
}

/// What an executor did with a golden frame whose reply is opened and whose jobs finish at once.
#[derive(Debug, Default, PartialEq)]
struct Executed {
    /// Bank, lane, address, operand.
    writes: Vec<(bool, i64, i64, i64)>,
    /// Addresses in A and B, terms, tag.
    starts: Vec<(i64, i64, i64, i64)>,
    /// Kind, step, length, whether it never fires.
    injections: Vec<(i64, i64, i64, bool)>,
    /// Opcode, seq, length, bytes of a value.
    replies: Vec<(i64, i64, i64, i64)>,
    stream: Vec<u8>,
    poisons: u32,
    news: u32,
}

fn execute(executor: &mut Executor, bytes: &[u8]) -> Executed {
    let (mut did, mut taken) = (Executed::default(), 0);
    executor.opened.next = true;
    executor.stream_take.next = false;
    executor.ready.next = true;
    executor.job_steps.next = word(4);
    executor.job_edges.next = word(5);
    for _ in 0..WATCHDOG {
        executor.valid.next = taken < bytes.len();
        executor.data.next = word(bytes.get(taken).copied().unwrap_or(0));
        executor.stream_take.next = false;
        sim::settle(executor);
        if executor.stream_valid.val() {
            did.stream.push(executor.stream_data.val().get() as u8);
            executor.stream_take.next = true;
            sim::settle(executor);
        }
        let [a, b, k, job] = [&executor.a_address, &executor.b_address, &executor.k_len, &executor.job]
            .map(|port| port.val().get());
        did.starts.extend(executor.start.val().then_some((a, b, k, job)));
        let started = executor.start.val();
        let (bank, lane) = (executor.write_bank.val(), executor.write_lane.val().get());
        let (address, data) = (executor.write_address.val().get(), executor.write_data.val().get());
        did.writes.extend(executor.write_enable.val().then_some((bank, lane, address, data)));
        let [kind, step, length] = [&executor.inject_kind, &executor.inject_step, &executor.inject_length]
            .map(|port| port.val().get());
        let never = executor.inject_never.val();
        did.injections.extend(executor.inject_arm.val().then_some((kind, step, length, never)));
        let [opcode, seq, length, width] =
            [&executor.opcode, &executor.seq, &executor.length, &executor.result_bytes]
                .map(|port| port.val().get());
        did.replies.extend(executor.open.val().then_some((opcode, seq, length, width)));
        did.poisons += u32::from(executor.poison.val());
        did.news += u32::from(executor.news.val());
        taken += usize::from(executor.take.val());
        sim::edge(executor);
        // The wrapper's own time: a job is finished an edge after its start.
        executor.finished.next = started;
        if taken == bytes.len() && executor.idle.val() {
            return did;
        }
    }
    panic!("the executor took {taken} of {} bytes", bytes.len());
}

#[test]
fn executor_carries_out_golden_commands() {
    let mut executor = sim::power_up(Executor::new(&design()));
    let none = Executed::default;
    let did = execute(&mut executor, &decoded("write-a"));
    let writes = vec![(false, 0, 0, 1), (false, 0, 1, 2), (false, 1, 0, 3), (false, 1, 1, 4)];
    assert_eq!(did, Executed { writes, news: 1, ..none() });
    let did = execute(&mut executor, &decoded("multiply"));
    assert_eq!(did, Executed { starts: vec![(0, 0, 2, 0)], replies: vec![(3, 0x13, 21, 3)], ..none() });
    assert_eq!((executor.steps.val().get(), executor.edges.val().get()), (4, 5));
    assert_eq!(executor.retired.val().get(), 0x13);
    let did = execute(&mut executor, &decoded("inject"));
    // 1000 is more than the nine bits of a pause hold.
    assert_eq!(did, Executed { injections: vec![(6, 3, 1000 & 511, true)], news: 1, ..none() });
    let did = execute(&mut executor, &decoded("status"));
    assert_eq!(did.replies.iter().map(|reply| (reply.0, reply.2)).collect::<Vec<_>>(), [(5, 9)]);
    let did = execute(&mut executor, &decoded("source"));
    assert_eq!((did.replies[0].2, did.stream, did.news), (5, vec![0, 1, 2, 3, 4], 0));
    let did = execute(&mut executor, &decoded("sink"));
    assert_eq!(did, Executed { news: 1, ..none() });
    let did = execute(&mut executor, &decoded("echo"));
    assert_eq!((did.replies[0].2, did.stream, did.news), (2, vec![0xDB, 0xC0], 0));
    assert_eq!(executor.retired.val().get(), 0x25);
}

#[test]
fn executor_writes_negative_operands_of_four_lanes() {
    let mut executor = sim::power_up(Executor::new(&Parameters::default()));
    let did = execute(&mut executor, &decoded("write-negative"));
    let writes = [-64, -37, -128, 127].iter().enumerate().map(|(lane, x)| (true, lane as i64, 0xDB, *x));
    assert_eq!(did, Executed { writes: writes.collect(), news: 1, ..Executed::default() });
}

#[test]
fn executor_steps_through_a_batch_and_finds_addresses_that_leave() {
    let mut executor = sim::power_up(Executor::new(&design()));
    // a 511, b 1000, stride 12, k 1, count 3, job 3, result_bytes 2.
    let body = [0xFF, 0x01, 0xE8, 0x03, 12, 0, 1, 0, 0, 0, 3, 3, 2];
    let did = execute(&mut executor, &[&[3, 7, 13, 0], &body[..]].concat());
    assert_eq!(did.starts, [(511, 1000, 1, 3), (511, 1012, 1, 0), (511, 0, 1, 1)]);
    // Three jobs of a status byte and four values of two bytes, and the sums. The third begins at 1024.
    assert_eq!((did.replies, did.poisons), (vec![(3, 7, 3 * 9 + 8, 2)], 1));
    assert_eq!((executor.steps.val().get(), executor.edges.val().get()), (12, 15));
}

/// The bytes that an encoder sends until it is no longer busy, with jobs from a list of status and values.
fn encode(encoder: &mut FrameEncoder, jobs: &[(u8, [i64; 4])], stream: &[u8]) -> Vec<u8> {
    let (mut sent, mut value, mut streamed, mut quiet) = (Vec::new(), 0, 0, 0);
    encoder.tx_ready.next = true;
    for _ in 0..WATCHDOG {
        let job = jobs.get(value / 4);
        encoder.result_ready.next = job.is_some();
        encoder.job_status.next = word(job.map_or(0, |job| job.0));
        encoder.value.next = word(job.map_or(0, |job| job.1[value % 4]));
        encoder.stream_valid.next = streamed < stream.len();
        encoder.stream_data.next = word(stream.get(streamed).copied().unwrap_or(0));
        sim::settle(encoder);
        sent.extend(encoder.tx_valid.val().then(|| encoder.tx_data.val().get() as u8));
        value += usize::from(encoder.result_next.val());
        streamed += usize::from(encoder.stream_take.val());
        let opened = encoder.opened.val();
        quiet = if encoder.busy.val() || encoder.open.next { 0 } else { quiet + 1 };
        if quiet > 3 {
            return sent;
        }
        sim::edge(encoder);
        encoder.open.next &= !opened;
        encoder.hello.next = false;
        encoder.news.next = false;
        encoder.nak.next = false;
    }
    panic!("the encoder is still busy after {sent:02x?}");
}

/// An encoder whose IDENT is the golden one.
fn encoder() -> FrameEncoder {
    let identity = decoded("ident")[4 + 6..].to_vec();
    let mut encoder = sim::power_up(FrameEncoder::new(&design(), identity));
    encoder.quiet.next = true;
    encoder
}

fn ask(encoder: &mut FrameEncoder, opcode: u8, seq: u8, length: u16, result_bytes: u8) {
    encoder.open.next = true;
    encoder.opcode.next = word(opcode);
    encoder.seq.next = word(seq);
    encoder.length.next = word(length);
    encoder.result_bytes.next = word(result_bytes);
    encoder.expected.next = word(seq + 1);
    encoder.retired.next = word(seq - 1);
}

#[test]
fn encoder_sends_the_golden_replies() {
    let mut encoder = encoder();
    encoder.hello.next = true;
    encoder.nonce.next = word(0x1234_5678);
    (encoder.expected.next, encoder.retired.next) = (word(0x11), word(0x10));
    assert_eq!(encode(&mut encoder, &[], &[]), golden("ident"));
    encoder.news.next = true;
    (encoder.expected.next, encoder.retired.next) = (word(0x12), word(0x11));
    assert_eq!(encode(&mut encoder, &[], &[]), golden("ack-a"));
    ask(&mut encoder, 0x03, 0x13, 21, 3);
    (encoder.steps.next, encoder.edges.next) = (word(4), word(4));
    assert_eq!(encode(&mut encoder, &[(0, [19, 22, 43, 50])], &[]), golden("result"));
    encoder.nak.next = true;
    encoder.reason.next = word(0x01);
    (encoder.expected.next, encoder.retired.next) = (word(0x14), word(0x13));
    assert_eq!(encode(&mut encoder, &[], &[]), golden("nak-crc"));
    ask(&mut encoder, 0x05, 0x22, 9, 0);
    for (port, byte) in encoder.status_bytes.iter_mut().zip([3u8, 0, 1, 2, 9, 8, 7, 6, 5]) {
        port.next = word(byte);
    }
    assert_eq!(encode(&mut encoder, &[], &[]), golden("status-reply"));
    ask(&mut encoder, 0x06, 0x23, 5, 0);
    assert_eq!(encode(&mut encoder, &[], &[0, 1, 2, 3, 4]), golden("data"));
    ask(&mut encoder, 0x08, 0x25, 2, 0);
    assert_eq!(encode(&mut encoder, &[], &[0xDB, 0xC0]), golden("echo-reply"));
}

#[test]
fn encoder_order_and_patience() {
    // An ACK waits while commands are queued; then IDENT, the reply, NAK and ACK come in this order.
    let mut encoder = encoder();
    encoder.quiet.next = false;
    encoder.news.next = true;
    encoder.tx_ready.next = true;
    for _ in 0..50 {
        sim::edge(&mut encoder);
        assert!(!encoder.tx_valid.val());
    }
    ask(&mut encoder, 0x08, 0x25, 1, 0);
    encoder.nak.next = true;
    encoder.reason.next = word(0x02);
    encoder.hello.next = true;
    sim::edge(&mut encoder);
    encoder.hello.next = false;
    sim::edge(&mut encoder);
    encoder.nak.next = false;
    let sent = encode(&mut encoder, &[], &[9]);
    let opcodes: Vec<u8> = sent.windows(2).filter(|pair| pair[0] == 0xC0).map(|pair| pair[1]).collect();
    assert_eq!(opcodes, [0x81, 0xC0, 0x88, 0xC0, 0x84]);
}

#[test]
fn encoder_spoils_a_frame_whose_value_was_cut() {
    let mut encoder = encoder();
    ask(&mut encoder, 0x03, 0x13, 13, 1);
    let sent = encode(&mut encoder, &[(0, [127, -128, 128, 0])], &[]);
    let body = &sent[1..sent.len() - 5];
    assert_eq!(body[6..11], [0, 0x7F, 0x80, 0x80, 0]);
    let inverted = !crc32fast::hash(body);
    assert_eq!(sent[sent.len() - 5..sent.len() - 1], inverted.to_le_bytes());
    // The next one is sound again, and says that it is not to be trusted.
    encoder.poison.next = true;
    ask(&mut encoder, 0x03, 0x14, 13, 1);
    let sent = encode(&mut encoder, &[(1, [1, 2, 3, -4])], &[]);
    let body = &sent[1..sent.len() - 5];
    assert_eq!(body[6..11], [0x81, 1, 2, 3, 0xFC]);
    assert_eq!(sent[sent.len() - 5..sent.len() - 1], crc32fast::hash(body).to_le_bytes());
}

#[test]
fn result_reader_knows_what_fits() {
    let mut reader = sim::power_up(ResultReader::new(&Parameters { n: 1, aw: 20, ..design() }));
    let mut fits = |value: i64, width: u8| -> bool {
        reader.clear.next = true;
        reader.result_bytes.next = word(width);
        sim::edge(&mut reader);
        reader.clear.next = false;
        reader.result_ready.next = true;
        reader.value.next = word(value);
        reader.take.next = true;
        let (mut bytes, mut misfit) = (Vec::new(), false);
        for _ in 0..=width {
            sim::settle(&mut reader);
            bytes.push(reader.data.val().get() as u8);
            misfit |= reader.misfit.val();
            sim::edge(&mut reader);
        }
        assert_eq!(bytes[1..], value.to_le_bytes()[..width.into()]);
        !misfit
    };
    for (value, widths) in [
        (0, [true, true, true]),
        (127, [true, true, true]),
        (-128, [true, true, true]),
        (128, [false, true, true]),
        (-129, [false, true, true]),
        (32_767, [false, true, true]),
        (-32_768, [false, true, true]),
        (32_768, [false, false, true]),
        (-32_769, [false, false, true]),
        (524_287, [false, false, true]),
        (-524_288, [false, false, true]),
    ] {
        assert_eq!([1, 2, 3].map(|width| fits(value, width)), widths, "{value}");
    }
}

#[test]
fn fifo_gives_a_golden_frame_to_the_executor() {
    let mut fifo = sim::power_up(CommandFifo::new(&design()));
    let bytes = decoded("write-negative");
    for &byte in &bytes {
        fifo.write.next = true;
        fifo.write_data.next = word(byte);
        sim::edge(&mut fifo);
    }
    fifo.write.next = false;
    assert!(!fifo.valid.val() && fifo.empty.val());
    fifo.commit.next = true;
    sim::edge(&mut fifo);
    fifo.commit.next = false;
    let mut read = Vec::new();
    for _ in 0..WATCHDOG {
        fifo.take.next = fifo.valid.val();
        read.extend(fifo.valid.val().then(|| fifo.read_data.val().get() as u8));
        sim::edge(&mut fifo);
        if read.len() == bytes.len() {
            break;
        }
    }
    assert_eq!(read, bytes);
    assert!(!fifo.valid.val() && fifo.empty.val());
}
