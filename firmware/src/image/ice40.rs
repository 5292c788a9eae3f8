//! An image for an iCE40: comments, then commands for the configuration logic, guarded by a CRC.

use super::Fault;
use super::reader::{self, Reader};

/// Begins the commands. What stands before is for people.
pub const PREAMBLE: [u8; 4] = [0x7E, 0xAA, 0x99, 0x7E];

/// Commands, in the upper half of a byte; the lower one is the number of bytes that follow.
pub mod command {
    /// What [`action`](super::action) says.
    pub const ACT: u8 = 0x00;
    /// Which quarter of the memory.
    pub const BANK: u8 = 0x10;
    /// Ends what the CRC covers.
    pub const CRC: u8 = 0x20;
    /// The clock for reading the image.
    pub const CLOCK: u8 = 0x50;
    /// Width of what follows, less one, in bits.
    pub const WIDTH: u8 = 0x60;
    /// Its height.
    pub const HEIGHT: u8 = 0x70;
    /// Where it begins.
    pub const OFFSET: u8 = 0x80;
    /// Whether it can be started again from elsewhere, and whether the flash stays awake.
    pub const OPTIONS: u8 = 0x90;
}

/// Operands of [`command::ACT`].
pub mod action {
    /// Configuration bits follow.
    pub const CONFIGURATION: u8 = 1;
    /// Contents of block RAMs follow.
    pub const BLOCK_RAM: u8 = 3;
    /// The CRC starts anew.
    pub const RESET_CRC: u8 = 5;
    /// The FPGA starts.
    pub const START: u8 = 6;
}

/// Bit of [`command::OPTIONS`]: the flash is not put to sleep.
const STAY_AWAKE: u32 = 1;

/// Sizes of iCE40, by the dimensions of their configuration memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Die {
    /// LP384.
    Ice384,
    /// LP1K, HX1K.
    Ice1k,
    /// UP5K.
    Ice5k,
    /// LP8K, HX8K and the 4K that are the same die.
    Ice8k,
}

impl Die {
    /// Every die.
    pub const ALL: [Self; 4] = [Self::Ice384, Self::Ice1k, Self::Ice5k, Self::Ice8k];

    /// Name as in `nextpnr-ice40`'s options, less the letters of the power grade.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ice384 => "384",
            Self::Ice1k => "1k",
            Self::Ice5k => "5k",
            Self::Ice8k => "8k",
        }
    }

    /// The die of a device as `nextpnr-ice40` calls it: `up5k`, `hx8k`, `lp1k` …
    pub fn of_device(device: &str) -> Option<Self> {
        let size = device.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        match size {
            // The smaller 4K parts are an 8K die with half of it hidden.
            "4k" if !device.starts_with('u') => Some(Self::Ice8k),
            _ => Self::ALL.into_iter().find(|die| die.name() == size),
        }
    }

    /// Columns and rows of a quarter's configuration memory, in bits.
    pub const fn memory(self) -> (usize, usize) {
        match self {
            Self::Ice384 => (182, 80),
            Self::Ice1k => (332, 144),
            Self::Ice5k => (692, 336),
            Self::Ice8k => (872, 272),
        }
    }
}

/// An image that an FPGA accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// What is written before the preamble, a line each.
    pub comments: Vec<String>,
    /// The die that it is for.
    pub die: Die,
    /// Whether the FPGA puts the flash to sleep once it has started.
    pub sleeps: bool,
    /// Bytes up to the start of the FPGA.
    pub length: usize,
}

/// CRC-16's polynomial, CCITT's.
const POLYNOMIAL: u16 = 0x1021;

/// CRC-16 as the configuration logic computes it: most significant bit first.
#[must_use]
pub fn crc16(crc: u16, byte: u8) -> u16 {
    reader::crc16(POLYNOMIAL, crc, byte)
}

/// Where the commands begin: after the preamble.
///
/// # Errors
/// It is no image for an iCE40.
pub(super) fn commands(bytes: &[u8]) -> Result<usize, Fault> {
    let begin = bytes.windows(PREAMBLE.len()).position(|bytes| bytes == PREAMBLE);
    begin.map(|begin| begin + PREAMBLE.len()).ok_or(Fault::NoPreamble("7E AA 99 7E"))
}

/// Whether a file begins as what icepack writes.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(&[0xFF, 0x00]);
    let rest = text.and_then(|text| text.iter().position(|&byte| byte == 0xFF).map(|end| &text[end + 1..]));
    rest.unwrap_or(bytes).starts_with(&PREAMBLE)
}

impl Image {
    /// Reads an image as the configuration logic does: what follows the start of the FPGA is not looked at.
    ///
    /// # Errors
    /// The first thing that keeps the FPGA from starting.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let begin = commands(bytes)?;
        let mut reader = Reader::new(bytes, begin, POLYNOMIAL);
        let (mut width, mut height, mut offset) = (0usize, 0usize, 0usize);
        let (mut columns, mut rows) = (0, 0);
        let (mut sleeps, mut checked) = (true, false);
        loop {
            let at = reader.at;
            let byte = reader.byte()?;
            let operand = reader.number(byte & 0x0F)?;
            let unknown = Fault::Command { at, command: byte, operand };
            match (byte & 0xF0, u8::try_from(operand)) {
                (command::ACT, Ok(what @ (action::CONFIGURATION | action::BLOCK_RAM))) => {
                    if what == action::CONFIGURATION {
                        columns = columns.max(width);
                        rows = rows.max(offset.saturating_add(height));
                    }
                    reader.skip(width.saturating_mul(height) / 8)?;
                    if reader.number(2)? != 0 {
                        return Err(unknown);
                    }
                }
                (command::ACT, Ok(action::RESET_CRC)) => reader.crc = 0xFFFF,
                (command::ACT, Ok(action::START)) if checked => break,
                (command::ACT, Ok(action::START)) => return Err(Fault::NoCrc),
                // With the CRC itself taken in, what is left is nothing.
                (command::CRC, _) if reader.crc == 0 => checked = true,
                (command::CRC, _) => return Err(Fault::Crc(at)),
                (command::WIDTH, _) => width = (operand as usize).saturating_add(1),
                (command::HEIGHT, _) => height = operand as usize,
                (command::OFFSET, _) => offset = operand as usize,
                (command::OPTIONS, _) => sleeps = operand & STAY_AWAKE == 0,
                (command::BANK | command::CLOCK, _) => {}
                _ => return Err(unknown),
            }
        }
        let die = Die::ALL.into_iter().find(|die| die.memory() == (columns, rows));
        let die = die.ok_or(Fault::Die { columns, rows })?;
        Ok(Self { comments: comments(&bytes[..begin - PREAMBLE.len()]), die, sleeps, length: reader.at })
    }
}

/// Text between FF 00 and 00 FF, its lines ended by zeros.
fn comments(bytes: &[u8]) -> Vec<String> {
    let Some(text) = bytes.strip_prefix(&[0xFF, 0x00]) else { return Vec::new() };
    let text = text.strip_suffix(&[0x00, 0xFF]).unwrap_or(text);
    let lines = text.split(|&byte| byte == 0).map(|line| String::from_utf8_lossy(line).into_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An LP384's image of nothing, put together by hand.
    pub fn image() -> Vec<u8> {
        let mut bytes = b"\xFF\x00one\x00two\x00\x00\xFF".to_vec();
        bytes.extend([0x7E, 0xAA, 0x99, 0x7E, 0x51, 0x00, 0x01, 0x05]);
        let guarded = bytes.len();
        bytes.extend([0x92, 0x00, 0x01, 0x62, 0x00, 181, 0x72, 0x00, 80, 0x82, 0x00, 0x00]);
        for bank in 0..4 {
            bytes.extend([0x11, bank, 0x01, 0x01]);
            bytes.resize(bytes.len() + 182 * 80 / 8 + 2, 0);
        }
        bytes.push(0x22);
        let crc = bytes[guarded..].iter().fold(0xFFFF, |crc, &byte| crc16(crc, byte));
        bytes.extend([(crc >> 8) as u8, crc as u8, 0x01, 0x06, 0x00]);
        bytes
    }

    #[test]
    fn the_crc_is_the_published_one() {
        // The check value of CRC-16/IBM-3740, also known as CCITT-FALSE.
        assert_eq!(b"123456789".iter().fold(0xFFFF, |crc, &byte| crc16(crc, byte)), 0x29B1);
    }

    #[test]
    fn an_image_is_read_as_the_fpga_does() {
        let bytes = image();
        let read = Image::read(&bytes).expect("a good image");
        assert_eq!((read.die, read.sleeps, read.length), (Die::Ice384, false, bytes.len() - 1));
        assert_eq!(read.comments, ["one", "two"]);
    }

    #[test]
    fn what_keeps_the_fpga_from_starting_is_told() {
        let bytes = image();
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut changed = bytes.clone();
            change(&mut changed);
            Image::read(&changed).expect_err("bad")
        };
        let last = bytes.len() - 1;
        assert_eq!(with(&|b| b.truncate(12)), Fault::NoPreamble("7E AA 99 7E"));
        assert_eq!(with(&|b| b.truncate(last - 1)), Fault::Short(last - 1));
        assert_eq!(with(&|b| b[1000] ^= 0x10), Fault::Crc(last - 5));
        assert_eq!(
            with(&|b| b[last - 5] = 0xF2),
            Fault::Command {
                at: last - 5,
                command: 0xF2,
                operand: u32::from(bytes[last - 4]) << 8 | u32::from(bytes[last - 3]),
            }
        );
        assert_eq!(with(&|b| b.truncate(0)), Fault::NoPreamble("7E AA 99 7E"));
        assert_eq!(with(&|b| drop(b.drain(last - 5..last - 2))), Fault::NoCrc);
        assert!(matches!(Image::read(&[0xFF; 4096]), Err(Fault::NoPreamble("7E AA 99 7E"))));
    }

    #[test]
    fn dies_by_the_names_of_devices() {
        let dies = ["up5k", "hx8k", "lp1k", "hx4k", "lp384", "u4k", "25k"].map(Die::of_device);
        let expected =
            [Some(Die::Ice5k), Some(Die::Ice8k), Some(Die::Ice1k), Some(Die::Ice8k), Some(Die::Ice384)];
        assert_eq!((&dies[..5], &dies[5..]), (&expected[..], &[None, None][..]));
    }
}
