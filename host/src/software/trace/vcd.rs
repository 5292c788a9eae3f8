//! The trace as waveforms, streamed: a value change dump that GTKWave and Surfer show.

use super::BLOCK;
use super::{Event, Sink};
use crate::software::{Mac, Pe, Token, TokenPe, TokenState, mac::Operand};
use ::vcd::{TimescaleUnit, Writer};
use std::io::{self, Write};

/// One wire of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, behind the name of its link or state; empty where there is only one.
    pub name: &'static str,
    /// Its width in bits, at most 64.
    pub width: u32,
}

const fn field(name: &'static str, width: u32) -> Field {
    Field { name, width }
}

/// A PE whose tokens and states can be shown as wires.
pub trait Waves: Pe {
    /// The wires of a link.
    const TOKEN: &'static [Field];
    /// The wires of a state.
    const STATE: &'static [Field];

    /// What a token puts on the wires of its link, in their order.
    fn token(token: &Self::Token) -> impl Iterator<Item = u64>;

    /// What a state puts on its wires, in their order.
    fn state(state: &Self::State) -> impl Iterator<Item = u64>;
}

impl Waves for TokenPe {
    const TOKEN: &'static [Field] = &[field("value", 32), field("job", 8), field("k", 16), field("valid", 1)];
    const STATE: &'static [Field] = &[field("acc", 64), field("count", 32), field("error", 8)];

    fn token(token: &Token) -> impl Iterator<Item = u64> {
        let &Token { value, job, k, valid } = token;
        [i64::from(value).cast_unsigned(), job.into(), k.into(), valid.into()].into_iter()
    }

    /// The error by its code on the wire of the board, 0 if there is none.
    fn state(state: &TokenState) -> impl Iterator<Item = u64> {
        let error = state.error.map_or(0, |kind| kind.code());
        [state.acc.cast_unsigned(), state.count.into(), error.into()].into_iter()
    }
}

/// A number as a wire carries it: an integer in two's complement, a float in its IEEE 754 form.
pub trait Bits: Copy {
    /// Width in bits.
    const WIDTH: u32;

    /// The bits, above which anything may stand.
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($number:ty: $value:ident => $bits:expr),*) => { $(
        impl Bits for $number {
            const WIDTH: u32 = 8 * size_of::<$number>() as u32;

            fn bits(self) -> u64 {
                let $value = self;
                $bits
            }
        }
    )* };
}

bits!(
    i8: x => x as u64, i16: x => x as u64, i32: x => x as u64, i64: x => x as u64,
    // Which bits a NaN comes with depends on how the compiler has put the sum together.
    f32: x => if x.is_nan() { Self::NAN } else { x }.to_bits().into(),
    f64: x => if x.is_nan() { Self::NAN } else { x }.to_bits()
);

impl<T: Operand<Sum: Bits> + Bits> Waves for Mac<T> {
    const TOKEN: &'static [Field] = &[field("", T::WIDTH)];
    const STATE: &'static [Field] = &[field("acc", T::Sum::WIDTH)];

    fn token(token: &T) -> impl Iterator<Item = u64> {
        std::iter::once(token.bits())
    }

    fn state(state: &T::Sum) -> impl Iterator<Item = u64> {
        std::iter::once(state.bits())
    }
}

/// What is on a wire; `None` is nothing at all, a `z` in the dump.
type Level = Option<u64>;

/// Writes one module a PE, with its links, its state and what it raised. At time `t` stands what tick `t` saw
/// and gave, and the state that it left; a link without a token is `z`. Leading zeros are left out, as the format
/// allows.
#[derive(Debug)]
pub struct Vcd<W: Write> {
    to: W,
    lines: Vec<u8>,
    columns: usize,
    /// PE by PE.
    wires: Vec<Wire>,
    /// Wires of one PE.
    per_pe: usize,
    /// Levels of the PE at hand.
    levels: Vec<Level>,
    /// The tick whose time has been written.
    tick: Option<u64>,
}

#[derive(Debug)]
struct Wire {
    /// Its identifier in the dump, and the end of the line.
    id: String,
    width: u32,
    last: Option<Level>,
}

/// What every PE's module holds besides its state.
const LINKS: [&str; 4] = ["west", "north", "east", "south"];

/// Bytes that a wire takes here, its line of the header included, about.
const WIRE: usize = 160;

/// Wires of a PE.
const fn wires<P: Waves>() -> usize {
    LINKS.len() * P::TOKEN.len() + P::STATE.len() + 1
}

/// Bytes of memory that a dump takes for each PE, about.
pub const fn bytes_a_pe<P: Waves>() -> usize {
    wires::<P>() * WIRE
}

impl<W: Write> Vcd<W> {
    /// A dump of an array of `rows × columns` PEs into a file, a pipe, or a vector of bytes; it needs no buffer of its
    /// own.
    ///
    /// # Errors
    /// What the writer says of the header.
    pub fn new<P: Waves>(to: W, rows: usize, columns: usize) -> io::Result<Self> {
        let mut header = Writer::new(Vec::with_capacity(2 * BLOCK));
        let mut wires = Vec::new();
        header.timescale(1, TimescaleUnit::NS)?;
        header.add_module("array")?;
        for at in 0..rows * columns {
            header.add_module(&format!("pe_{}_{}", at / columns, at % columns))?;
            let mut add = |width, name: &str| {
                let id = header.add_wire(width, name)?;
                wires.push(Wire { id: format!("{id}\n"), width, last: None });
                io::Result::Ok(())
            };
            for link in LINKS {
                for &Field { name, width } in P::TOKEN {
                    add(width, &if name.is_empty() { link.to_owned() } else { format!("{link}_{name}") })?;
                }
            }
            for &Field { name, width } in P::STATE.iter().chain(&[field("raised", 8)]) {
                add(width, name)?;
            }
            header.upscope()?;
        }
        header.upscope()?;
        header.enddefinitions()?;
        let lines = std::mem::take(header.writer());
        let per_pe = self::wires::<P>();
        Ok(Self { to, lines, columns, wires, per_pe, levels: Vec::with_capacity(per_pe), tick: None })
    }

    /// Writes out what is left, and the time at which the last tick ends, and gives the writer back.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(tick) = self.tick {
            writeln!(self.lines, "#{}", tick + 1)?;
        }
        self.to.write_all(&self.lines)?;
        self.to.flush()?;
        Ok(self.to)
    }
}

/// Every byte in binary digits.
const DIGITS: [[u8; 8]; 256] = {
    let mut digits = [[b'0'; 8]; 256];
    let mut at = 0;
    while at < 256 * 8 {
        digits[at / 8][at % 8] += ((at / 8) >> (7 - at % 8) & 1) as u8;
        at += 1;
    }
    digits
};

/// Writes the level of a vector, down to one digit.
fn write_vector(bits: u64, lines: &mut Vec<u8>) {
    let mut digits = [0; 64];
    for (digits, byte) in digits.chunks_exact_mut(8).zip(bits.to_be_bytes()) {
        digits.copy_from_slice(&DIGITS[usize::from(byte)]);
    }
    lines.push(b'b');
    lines.extend_from_slice(&digits[(bits | 1).leading_zeros() as usize..]);
    lines.push(b' ');
}

impl<P: Waves, W: Write> Sink<P> for Vcd<W> {
    fn record(&mut self, event: &Event<P>) -> io::Result<()> {
        let Self { to, lines, columns, wires, per_pe, levels, tick } = self;
        if *tick != Some(event.tick) {
            writeln!(lines, "#{}", event.tick)?;
            *tick = Some(event.tick);
        }
        levels.clear();
        let links = [&event.inputs.west, &event.inputs.north, &event.outputs.east, &event.outputs.south];
        for link in links {
            match link {
                Some(token) => levels.extend(P::token(token).map(Some)),
                None => levels.extend(P::TOKEN.iter().map(|_| None)),
            }
        }
        levels.extend(P::state(&event.after).map(Some));
        levels.push(Some(event.outputs.raised.map_or(0, |kind| kind.code().into())));
        let first = (event.row * *columns + event.column) * *per_pe;
        for (Wire { id, width, last }, &level) in wires[first..][..*per_pe].iter_mut().zip(&*levels) {
            if *last == Some(level) {
                continue;
            }
            *last = Some(level);
            match level {
                None if *width == 1 => lines.push(b'z'),
                None => lines.extend_from_slice(b"bz "),
                Some(bits) if *width == 1 => lines.push(b'0' + (bits & 1) as u8),
                Some(bits) => write_vector(bits & u64::MAX >> (64 - *width), lines),
            }
            lines.extend_from_slice(id.as_bytes());
        }
        if lines.len() >= BLOCK {
            to.write_all(lines)?;
            lines.clear();
        }
        Ok(())
    }
}
