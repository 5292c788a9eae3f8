//! A place in an image of bytes, and the CRC of what was read.

use super::Fault;

/// CRC of 16 bits, most significant bit first, with one more byte taken in.
pub fn crc16(polynomial: u16, crc: u16, byte: u8) -> u16 {
    (0..8).fold(
        crc ^ u16::from(byte) << 8,
        |crc, _| {
            if crc >> 15 == 1 { crc << 1 ^ polynomial } else { crc << 1 }
        },
    )
}

/// Where in an image.
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// The next byte.
    pub at: usize,
    /// CRC of the bytes since it was set.
    pub crc: u16,
    polynomial: u16,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], at: usize, polynomial: u16) -> Self {
        Self { bytes, at, crc: 0, polynomial }
    }

    /// The next byte, which is not taken.
    pub fn next(&self) -> Result<u8, Fault> {
        self.bytes.get(self.at).copied().ok_or(Fault::Short(self.at))
    }

    pub fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self.next()?;
        self.at += 1;
        self.crc = crc16(self.polynomial, self.crc, byte);
        Ok(byte)
    }

    /// A number, its most significant byte first.
    pub fn number(&mut self, bytes: u8) -> Result<u32, Fault> {
        (0..bytes).try_fold(0, |number: u32, _| Ok(number << 8 | u32::from(self.byte()?)))
    }

    pub fn skip(&mut self, bytes: usize) -> Result<(), Fault> {
        (0..bytes).try_for_each(|_| self.byte().map(|_| ()))
    }
}
