//! An image for an ECP5: comments, then commands for the configuration logic, with a CRC after every part.
//!
//! The commands are those of Lattice's FPGA-TN-02039, "ECP5 and ECP5-5G sysCONFIG", how they are used is Trellis'
//! `Bitstream.cpp`.

use super::Fault;
use super::reader::Reader;

/// Begins the commands, after a comment that FF ends.
const PREAMBLE: [u8; 4] = [0xFF, 0xFF, 0xBD, 0xB3];

/// CRC-16's polynomial.
const POLYNOMIAL: u16 = 0x8005;

/// Nothing, any number of times. The CRC leaves it out.
const DUMMY: u8 = 0xFF;

/// Commands; each has an operand of three bytes, the first of them flags.
mod command {
    /// Bytes that what is not compressed often has for zeros.
    pub const DICTIONARY: u8 = 0x02;
    /// The control register.
    pub const CONTROL: u8 = 0x22;
    /// The CRC starts anew.
    pub const RESET_CRC: u8 = 0x3B;
    /// The next frame is the first.
    pub const FIRST_FRAME: u8 = 0x46;
    /// The FPGA starts.
    pub const DONE: u8 = 0x5E;
    /// How the flash is read.
    pub const SPI_MODE: u8 = 0x79;
    /// Frames of the configuration memory follow.
    pub const FRAMES: u8 = 0x82;
    /// Contents of block RAMs follow, in rows of nine bytes.
    pub const BLOCK_RAM: u8 = 0xB2;
    /// The next frame.
    pub const FRAME: u8 = 0xB4;
    /// Frames follow, compressed.
    pub const COMPRESSED: u8 = 0xB8;
    /// A number for people.
    pub const USER_CODE: u8 = 0xC2;
    /// Nobody may read the configuration back.
    pub const SECURITY: u8 = 0xCE;
    /// The FPGA's IDCODE, without which it goes no further.
    pub const VERIFY_ID: u8 = 0xE2;
    /// The next block RAM.
    pub const BLOCK_RAM_ADDRESS: u8 = 0xF6;
}

/// Flags of an operand.
mod flag {
    /// A CRC follows.
    pub const CRC: u8 = 0x80;
    /// It follows the last frame alone, not each.
    pub const CRC_ONCE: u8 = 0x40;
    /// How many bytes of no meaning follow each frame.
    pub const FILL: u8 = 0x0F;
}

/// Bytes of a frame, by the part of the IDCODE that all FPGAs of a die share: `bits_per_frame` and what pads it, by Trellis'
/// `devices.json`.
fn frame(idcode: u32) -> Option<usize> {
    match idcode & 0x0FFF_FFFF {
        0x0111_1043 => Some(592 / 8),
        0x0111_2043 => Some(848 / 8),
        0x0111_3043 => Some(1136 / 8),
        _ => None,
    }
}

/// Where the commands begin, and the comment before them.
///
/// # Errors
/// It is no image for an ECP5.
pub(super) fn commands(bytes: &[u8]) -> Result<(usize, &[u8]), Fault> {
    let comment = bytes.strip_prefix(&[0xFF, 0x00]).ok_or(Fault::NoHeader)?;
    let end = comment.iter().position(|&byte| byte == DUMMY).unwrap_or(comment.len());
    let fill = comment[end..].iter().take_while(|&&byte| byte == DUMMY).count();
    let key = end + fill;
    let begin = key.saturating_sub(2);
    match comment[begin..].starts_with(&PREAMBLE) && fill >= 2 {
        true => Ok((2 + begin + PREAMBLE.len(), &comment[..end])),
        false => Err(Fault::NoPreamble("FF FF BD B3")),
    }
}

/// Reads an image as the configuration logic does, up to the start of the FPGA; gives its comments. The FPGA takes an
/// image for exactly its IDCODE, so that a 12F refuses one for the 25F, whose die it has.
///
/// # Errors
/// The first thing that keeps an FPGA with that IDCODE, or any ECP5, from starting.
pub fn read(bytes: &[u8], idcode: Option<u32>) -> Result<Vec<String>, Fault> {
    let (begin, comment) = commands(bytes)?;
    let mut reader = Reader::new(bytes, begin, POLYNOMIAL);
    let mut width = None;
    let mut configured = false;
    loop {
        if reader.next()? == DUMMY {
            reader.at += 1;
            continue;
        }
        let at = reader.at;
        let command = reader.byte()?;
        let operand = reader.number(3)?;
        let [_, flags, high, low] = operand.to_be_bytes();
        let count = u16::from_be_bytes([high, low]);
        match command {
            command::RESET_CRC => reader.crc = 0,
            command::VERIFY_ID => {
                let found = reader.number(4)?;
                width = frame(found).filter(|_| idcode.is_none_or(|idcode| idcode == found));
                width.ok_or(Fault::Idcode(found))?;
            }
            command::FRAMES | command::COMPRESSED => {
                let width = width.ok_or(Fault::NoIdcode)?;
                frames(&mut reader, command == command::COMPRESSED, width, flags, count)?;
                configured = true;
            }
            command::BLOCK_RAM => {
                reader.skip(9 * usize::from(count))?;
                check(&mut reader)?;
            }
            command::DICTIONARY | command::USER_CODE => {
                reader.skip(if command == command::DICTIONARY { 8 } else { 4 })?;
                if flags & flag::CRC != 0 {
                    check(&mut reader)?;
                }
            }
            command::CONTROL | command::FRAME | command::BLOCK_RAM_ADDRESS => reader.skip(4)?,
            command::FIRST_FRAME | command::SPI_MODE | command::SECURITY => {}
            command::DONE if configured => break,
            _ => return Err(Fault::Command { at, command, operand }),
        }
    }
    let lines = comment.split(|&byte| byte == 0).map(|line| String::from_utf8_lossy(line).into_owned());
    Ok(lines.filter(|line| !line.is_empty()).collect())
}

/// A CRC, which starts anew after it.
fn check(reader: &mut Reader) -> Result<(), Fault> {
    let at = reader.at;
    reader.number(2)?;
    // With the CRC itself taken in, what is left is nothing.
    if reader.crc == 0 { Ok(()) } else { Err(Fault::Crc(at)) }
}

/// Frames of so many bytes.
fn frames(reader: &mut Reader, compressed: bool, width: usize, flags: u8, count: u16) -> Result<(), Fault> {
    for left in (0..count).rev() {
        match compressed {
            true => compressed_frame(reader, width)?,
            false => reader.skip(width)?,
        }
        if flags & flag::CRC != 0 && (flags & flag::CRC_ONCE == 0 || left == 0) {
            check(reader)?;
        }
        reader.skip(usize::from(flags & flag::FILL))?;
    }
    Ok(())
}

/// A frame, filled up with zeros to whole words of eight bytes. A byte of zero is 0, one with one bit set 100 and three
/// bits, one of the dictionary 101 and three bits, any other 11 and itself; what is left of the last byte has no meaning.
fn compressed_frame(reader: &mut Reader, width: usize) -> Result<(), Fault> {
    let (mut byte, mut left) = (0u8, 0);
    let mut bit = || -> Result<bool, Fault> {
        if left == 0 {
            (byte, left) = (reader.byte()?, 8);
        }
        left -= 1;
        Ok(byte >> left & 1 == 1)
    };
    for _ in 0..width.next_multiple_of(8) {
        if bit()? {
            let more = if bit()? { 8 } else { 4 };
            (0..more).try_for_each(|_| bit().map(|_| ()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::reader::crc16;
    use super::*;

    /// The beginning of an image that ecppack made for a ULX3S 12F, with `--compress`: as far as its second frame.
    const CUT: [&[u8]; 6] = [
        b"\xFF\x00Part: LFE5U-12F-6CABGA381\x00\xFF\xFF\xFF\xBD\xB3\xFF\xFF\xFF\xFF",
        b"\x3B\x00\x00\x00\xE2\x00\x00\x00\x21\x11\x10\x43\x22\x00\x00\x00\x40\x00\x00\x00\x46\x00\x00\x00",
        b"\x02\x00\x00\x00\x50\x0A\x14\x44\x22\x42\x60\x06\xB8\x91\x1D\x8A",
        b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x9B\x9F\xFF",
        b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xCC\xE8\xFF",
        b"\x00",
    ];

    /// An image of one frame that is not compressed, its block RAM not touched.
    pub fn image(idcode: u32) -> Vec<u8> {
        let mut bytes = b"\xFF\x00Part: any\x00\xFF\xFF\xFF\xBD\xB3\xFF\xFF\x3B\x00\x00\x00".to_vec();
        let guarded = bytes.len();
        bytes.extend([&[0xE2, 0, 0, 0][..], &idcode.to_be_bytes(), &[0x82, 0x91, 0, 1]].concat());
        bytes.resize(bytes.len() + frame(idcode).unwrap_or(1), 0x5A);
        let crc = bytes[guarded..].iter().fold(0, |crc, &byte| crc16(POLYNOMIAL, crc, byte));
        bytes.extend(crc.to_be_bytes());
        bytes.extend(b"\xFF\x5E\x00\x00\x00\xFF\xFF\xFF\xFF");
        bytes
    }

    #[test]
    fn the_crc_is_the_published_one() {
        // The check value of CRC-16/UMTS, also known as BUYPASS.
        assert_eq!(b"123456789".iter().fold(0, |crc, &byte| crc16(POLYNOMIAL, crc, byte)), 0xFEE8);
    }

    #[test]
    fn frames_of_the_real_packer_are_read() {
        let bytes = CUT.concat();
        let read = |bytes: &[u8], idcode| read(bytes, idcode).expect_err("it is cut");
        // Both frames and their CRCs were right, or it would not have come to the end.
        assert_eq!(read(&bytes, Some(0x2111_1043)), Fault::Short(bytes.len()));
        assert_eq!(read(&bytes, None), Fault::Short(bytes.len()));
        assert_eq!(read(&bytes, Some(0x4111_1043)), Fault::Idcode(0x2111_1043), "the same die");
        let first = CUT[..3].concat().len();
        // The last of the dictionary, and the CRCs themselves.
        for (at, crc) in [(first - 5, first + 10), (first + 11, first + 10), (first + 24, first + 23)] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(read(&damaged, None), Fault::Crc(crc), "{at}");
        }
    }

    #[test]
    fn an_image_is_read_as_the_fpga_does() {
        let whole = image(0x8111_3043);
        assert_eq!(read(&whole, Some(0x8111_3043)).as_deref(), Ok(&["Part: any".to_owned()][..]));
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut changed = whole.clone();
            change(&mut changed);
            read(&changed, None).expect_err("bad")
        };
        let done = whole.len() - 8;
        assert_eq!(with(&|b| b.truncate(done)), Fault::Short(done));
        assert_eq!(with(&|b| b.truncate(60)), Fault::Short(60));
        assert_eq!(with(&|b| b[60] ^= 4), Fault::Crc(done - 3));
        assert_eq!(with(&|b| b[done] = 0x5F), Fault::Command { at: done, command: 0x5F, operand: 0 });
        assert_eq!(with(&|b| drop(b.drain(22..30))), Fault::NoIdcode);
        assert_eq!(with(&|b| b[15] = 0xBF), Fault::NoPreamble("FF FF BD B3"));
        assert_eq!(with(&|b| b.truncate(2)), Fault::NoPreamble("FF FF BD B3"));
        assert_eq!(with(&|b| b[1] = 0xFF), Fault::NoHeader);
    }
}
