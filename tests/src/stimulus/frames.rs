//! What a host might send: commands in order, and every way of getting one wrong.

use super::{bits, once_in, operand};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use systole_hdl::codec::{Command, Frame, Multiply, operands_to_bytes, slip};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{self, BANK_B, Injection};

/// A host of a design.
pub struct Host {
    p: Parameters,
    armed: bool,
}

impl Host {
    pub fn new(p: &Parameters) -> Self {
        Self { p: p.clone(), armed: false }
    }

    /// A command with legal arguments, no HELLO. Its body fits the largest frame.
    pub fn command(&mut self, random: &mut ChaCha8Rng) -> Command {
        // A fault is followed by a job that is long enough for it.
        if std::mem::take(&mut self.armed) {
            return Command::Multiply(Multiply { k_len: self.p.k_limit(), ..self.multiply(random) });
        }
        let room = self.p.largest_frame() as usize - wire::HEADER;
        match random.random_range(0..13) {
            0..=2 => self.write(random),
            3..=5 => Command::Multiply(self.multiply(random)),
            6..=8 => {
                self.armed = true;
                Command::Inject {
                    // Those on tokens have to hit one.
                    kind: Injection::ALL
                        [random.random_range(0..Injection::ALL.len() + 4) % Injection::ALL.len()],
                    // Now and then a step or length beyond what is counted.
                    step: if once_in(random, 8) { random.random() } else { random.random_range(0..4) },
                    length: if once_in(random, 8) { random.random() } else { random.random_range(0..6) },
                }
            }
            9 => Command::Status,
            10 => Command::Source { n: random.random_range(0..40) },
            11 => Command::Sink(bytes(random, room)),
            _ => Command::Echo(bytes(random, room)),
        }
    }

    fn write(&self, random: &mut ChaCha8Rng) -> Command {
        let p = &self.p;
        let k_len = random.random_range(1..=p.write_terms().min(p.k_max)) as u16;
        let bank = u8::from(once_in(random, 2));
        // Most panels lie where jobs look for them; some leave their bank.
        let depth = 1 << if bank == BANK_B { p.b_address_bits() } else { p.a_address_bits() };
        let address = if once_in(random, 2) { 0 } else { random.random_range(0..depth) };
        let values: Vec<i32> = (0..p.n * u32::from(k_len)).map(|_| operand(random, p.w) as i32).collect();
        let mut operands = operands_to_bytes(&values, p.operand_bytes());
        if once_in(random, 20) {
            operands[0] ^= 1 << (p.w - 1).min(7);
        }
        Command::Write { bank, address, k_len, operands }
    }

    fn multiply(&self, random: &mut ChaCha8Rng) -> Multiply {
        let p = &self.p;
        let k_len = random.random_range(1..=p.k_limit());
        let exact = p.result_bytes(k_len).min(p.accumulator_bytes()) as u8;
        let result_bytes = if once_in(random, 6) { 1 } else { exact };
        // A RESULT must not be too long for its length field.
        let job_bytes = 1 + p.n * p.n * u32::from(result_bytes);
        let jobs = (u32::from(u16::MAX) - (wire::REPLY_HEAD + wire::RESULT_TRAILER) as u32) / job_bytes;
        let most = if once_in(random, 8) { jobs.min(255) } else { 2 };
        Multiply {
            a_address: if once_in(random, 6) { bits(random, p.a_address_bits()) as u16 } else { 0 },
            b_address: if once_in(random, 6) { bits(random, p.b_address_bits()) as u16 } else { 0 },
            b_stride: random.random_range(0..4),
            k_len,
            count: random.random_range(1..=most) as u8,
            job: bits(random, p.job_bits) as u8,
            result_bytes,
        }
    }

    /// The bytes of one frame, one in three with something wrong.
    pub fn frame(&mut self, random: &mut ChaCha8Rng, expected: u8) -> Vec<u8> {
        let frame = self.command(random).frame(expected);
        if once_in(random, 3) { self.spoilt(random, frame) } else { frame.to_wire() }
    }

    /// A HELLO.
    pub fn hello(&self, random: &mut ChaCha8Rng) -> Vec<u8> {
        Command::Hello { nonce: random.random() }.frame(random.random()).to_wire()
    }

    fn spoilt(&self, random: &mut ChaCha8Rng, frame: Frame) -> Vec<u8> {
        let mut wire = frame.to_wire();
        let anywhere = random.random_range(0..wire.len());
        let expected = frame.seq;
        match random.random_range(0..17) {
            // On the way: a bit flipped, an end lost, an end too early, a byte lost or doubled, a broken escape.
            0 => wire[anywhere] ^= 1 << random.random_range(0..8),
            1 => drop(wire.pop()),
            2 => wire.insert(anywhere, wire::END),
            3 => drop(wire.remove(anywhere)),
            4 => wire.insert(anywhere, wire[anywhere]),
            5 => wire.insert(anywhere, wire::ESC),
            6 => wire.splice(0..0, bytes(random, 20)).for_each(drop),
            // By the sender: a frame sent again, one left out, no such opcode, wrong lengths, wrong arguments.
            7 => wire = Frame { seq: expected.wrapping_sub(random.random_range(1..=128)), ..frame }.to_wire(),
            8 => wire = Frame { seq: expected.wrapping_add(random.random_range(1..128)), ..frame }.to_wire(),
            9 => wire = Frame { opcode: random.random_range(9..=255), ..frame }.to_wire(),
            10 => wire = Frame { body: bytes(random, 20), ..frame }.to_wire(),
            11 => {
                let body = vec![0x5A; self.p.largest_frame() as usize];
                wire = Frame { opcode: wire::SINK, seq: expected, body }.to_wire();
            }
            12..16 => {
                let mut body = frame.body.clone();
                if let Some(last) = body.len().checked_sub(1) {
                    body[random.random_range(0..=last.min(12))] =
                        [0, random.random(), 0xFF][random.random_range(0..3)];
                }
                wire = Frame { body, ..frame }.to_wire();
            }
            _ => wire = slip(&bytes(random, 9)),
        }
        wire
    }
}

/// At most `most` bytes, those that must be escaped more often than by chance.
pub fn bytes(random: &mut ChaCha8Rng, most: usize) -> Vec<u8> {
    let count = random.random_range(0..=most);
    (0..count).map(|_| byte(random)).collect()
}

/// A byte, one that must be escaped more often than by chance.
pub fn byte(random: &mut ChaCha8Rng) -> u8 {
    match random.random_range(0..8) {
        0 => wire::END,
        1 => wire::ESC,
        _ => random.random(),
    }
}
