//! An image for a Gowin FPGA: text, a line of zeros and ones for every command and for every frame of the configuration.
//!
//! The format is Gowin's `.fs`, as Apicula's `bslib.py` reads and writes it.

use super::Fault;
use super::reader::crc16;

/// Begins the commands.
const PREAMBLE: [u8; 2] = [0xA5, 0xC3];

/// CRC-16's polynomial; bits come the least significant first.
const POLYNOMIAL: u16 = 0x8005;

/// First bytes of lines.
mod command {
    /// The IDCODE.
    pub const IDCODE: u8 = 0x06;
    /// The FPGA starts.
    pub const DONE: u8 = 0x08;
    /// Frames follow, as many as its last two bytes say.
    pub const FRAMES: u8 = 0x3B;
    /// Where in a flash. The CRC leaves it out.
    pub const FLASH: u8 = 0xD2;
}

/// Flag of [`command::FRAMES`]: each frame has a CRC.
const CRC: u8 = 0x80;

/// Bytes that a frame ends with: its CRC, the least significant byte first, and six of ones that the next CRC begins with.
const TAIL: usize = 8;

/// The part of an IDCODE that tells devices apart. The rest is a version, which openFPGALoader does not compare either.
const PART: u32 = 0x0FFF_FFFF;

/// CRC of bytes.
fn crc<'a>(bytes: impl Iterator<Item = &'a u8>) -> u16 {
    bytes.fold(0, |crc, byte| crc16(POLYNOMIAL, crc, byte.reverse_bits())).reverse_bits()
}

/// Lines that are no comments, with their numbers from 1.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: usize,
    comments: Vec<String>,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, number: 0, comments: Vec::new() }
    }

    /// The bytes of the next line.
    fn next(&mut self) -> Result<Vec<u8>, Fault> {
        loop {
            let rest = &self.bytes[self.at..];
            let end = rest.iter().position(|&byte| byte == b'\n');
            let line = rest[..end.unwrap_or(rest.len())].trim_ascii_end();
            if let Some(comment) = line.strip_prefix(b"//").filter(|_| end.is_some()) {
                self.comments.push(String::from_utf8_lossy(comment.trim_ascii()).into_owned());
            } else {
                let bytes = from_bits(line).ok_or(Fault::Line(self.number + 1));
                // A line that its end is missing of is a part of one, unless it is none at all.
                let cut = line.iter().all(|digit| matches!(digit, b'0' | b'1'));
                if end.is_none() && cut {
                    return Err(Fault::Short(self.bytes.len()));
                }
                self.advance(end, rest.len());
                return bytes;
            }
            self.advance(end, rest.len());
        }
    }

    fn advance(&mut self, end: Option<usize>, rest: usize) {
        self.at += end.map_or(rest, |end| end + 1);
        self.number += 1;
    }
}

/// Bytes written as zeros and ones, at least one.
fn from_bits(line: &[u8]) -> Option<Vec<u8>> {
    let byte = |bits: &[u8]| {
        bits.iter().try_fold(0, |byte: u8, bit| match bit {
            b'0' | b'1' => Some(byte << 1 | (bit - b'0')),
            _ => None,
        })
    };
    let whole = !line.is_empty() && line.len().is_multiple_of(8);
    if whole { line.chunks(8).map(byte).collect() } else { None }
}

/// Whether a file begins as an image does.
pub(super) fn begins(bytes: &[u8]) -> bool {
    Lines::new(bytes).next().is_ok_and(|line| line.iter().all(|&byte| byte == 0xFF))
}

/// Reads an image up to the start of the FPGA; gives its comments.
///
/// # Errors
/// The first thing that keeps an FPGA with that IDCODE, or any, from starting.
pub fn read(bytes: &[u8], idcode: Option<u32>) -> Result<Vec<String>, Fault> {
    let mut lines = Lines::new(bytes);
    loop {
        match lines.next()? {
            line if line == PREAMBLE => break,
            line if line.iter().all(|&byte| byte == 0xFF) => {}
            _ => return Err(Fault::NoPreamble("A5 C3")),
        }
    }
    let mut identified = false;
    // What the next CRC is of.
    let mut guarded = Vec::new();
    let (flags, count) = loop {
        let line = lines.next()?;
        match line[..] {
            [command::IDCODE, .., a, b, c, d] => {
                let found = u32::from_be_bytes([a, b, c, d]);
                if idcode.is_some_and(|idcode| idcode & PART != found & PART) {
                    return Err(Fault::Idcode(found));
                }
                identified = true;
            }
            [command::FRAMES, flags, high, low] => {
                guarded.extend(line);
                break (flags, u16::from_be_bytes([high, low]));
            }
            _ => {}
        }
        if line[0] != command::FLASH {
            guarded.extend(line);
        }
    };
    if !identified {
        return Err(Fault::NoIdcode);
    }
    for _ in 0..count {
        let line = lines.next()?;
        let Some((frame, &[low, high, ref rest @ ..])) = line.split_last_chunk::<TAIL>() else {
            return Err(Fault::Line(lines.number));
        };
        if flags & CRC != 0 && crc(guarded.iter().chain(frame)) != u16::from_le_bytes([low, high]) {
            return Err(Fault::LineCrc(lines.number));
        }
        guarded = rest.to_vec();
    }
    while lines.next()?[0] != command::DONE {}
    Ok(lines.comments)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An image of two frames of twelve bits as Apicula's `write_bitstream` writes it, ahead of it a comment.
    pub const IMAGE: &str = "\
//Tool: by hand
1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111
1111111111111111
1010010111000011
0000011000000000000000000000000000010001000000000100100000011011
0001000000000000000000000000000000000000000010101010111000000000
0101000100000000111111111111111111111111111111111111111111111111
00001011000000000000000000000000
1101001000000000111111111111111100000000000000000000000000000000
00010010000000000000000000000000
00111011100000000000000000000010
11110100110001010101111010100100111111111111111111111111111111111111111111111111
11111110100011101000000000110000111111111111111111111111111111111111111111111111
1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111110011010001110011
0000101000000000000000000000000000000000000000000000111100001111
1111111111111111111111111111111111111111111111111111111111111111
00001000000000000000000000000000
1111111111111111111111111111111111111111111111111111111111111111
1111111111111111
";

    #[test]
    fn the_crc_is_the_published_one() {
        // The check value of CRC-16/ARC.
        assert_eq!(crc(b"123456789".iter()), 0xBB3D);
    }

    #[test]
    fn an_image_of_the_real_packer_is_read() {
        let comments = ["Tool: by hand".to_owned()];
        for idcode in [None, Some(0x1100_481B), Some(0x0100_481B)] {
            assert_eq!(read(IMAGE.as_bytes(), idcode).as_deref(), Ok(&comments[..]));
        }
        let windows = IMAGE.replace('\n', "\r\n");
        assert_eq!(read(windows.as_bytes(), None).as_deref(), Ok(&comments[..]));
        assert_eq!(read(IMAGE.as_bytes(), Some(0x0900_281B)), Err(Fault::Idcode(0x1100_481B)));
    }

    #[test]
    fn what_keeps_the_fpga_from_starting_is_told() {
        let with = |from: &str, to: &str| {
            assert!(IMAGE.contains(from), "{from}");
            read(IMAGE.replacen(from, to, 1).as_bytes(), None).expect_err("bad")
        };
        assert_eq!(with("\n11110100", "\n11110101"), Fault::LineCrc(12));
        assert_eq!(with("\n11111110", "\n11111111"), Fault::LineCrc(13));
        assert_eq!(with("\n0001001", "\n0001000"), Fault::LineCrc(12), "a command before them");
        assert_eq!(with("1010010111000011", "1010010111000010"), Fault::NoPreamble("A5 C3"));
        assert_eq!(with("\n00000110", "\n00000111"), Fault::NoIdcode);
        assert_eq!(with("\n00001011", "\n0000101"), Fault::Line(8));
        assert_eq!(with("\n00001011", "\n0000101x"), Fault::Line(8));
        assert_eq!(with("\n00001011", "\n\n00001011"), Fault::Line(8));
        let done = IMAGE.find("\n00001000").expect("there") + 1;
        for length in [IMAGE.find("\n11111110").expect("there") + 5, done, done + 8, 20, 16] {
            assert_eq!(read(&IMAGE.as_bytes()[..length], None), Err(Fault::Short(length)));
        }
    }
}
