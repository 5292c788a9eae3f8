//! Baud rates of FTDI's chips: a divisor in eighths, coded into two words of a control request.

/// Codes of 0, 1/8 … 7/8.
const EIGHTHS: [u32; 8] = [0, 3, 2, 4, 1, 5, 6, 7];

/// Selects the undivided clock of a high-speed chip.
const UNDIVIDED: u32 = 1 << 17;

/// How a chip makes its rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// FT2232H, FT4232H, FT232H: 120 MHz, ten clocks a bit.
    HighSpeed,
    /// FT2232C/D, FT232R, FT230X, FT231X: 48 MHz, sixteen clocks a bit.
    FullSpeed,
}

impl Generation {
    /// Of a chip by its `bcdDevice`; `None` for what is too old, or no chip of FTDI's.
    pub fn of_release(release: u16) -> Option<Self> {
        match release {
            0x0700 | 0x0800 | 0x0900 => Some(Self::HighSpeed),
            0x0500 | 0x0600 | 0x1000 => Some(Self::FullSpeed),
            _ => None,
        }
    }

    /// Bits a second, times eight, at a divisor of one eighth.
    fn base(self) -> u64 {
        match self {
            Self::HighSpeed => 8 * 120_000_000 / 10,
            Self::FullSpeed => 8 * 48_000_000 / 16,
        }
    }
}

/// A divisor, as the chip takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    generation: Generation,
    code: u32,
}

impl Divisor {
    /// The divisor nearest to a rate in bits a second; `None` for a rate below the chip's range (183 or 1,200).
    pub fn nearest(generation: Generation, baud: u32) -> Option<Self> {
        let baud = u64::from(baud.max(1));
        let eighths = (generation.base() + baud / 2) / baud;
        let (whole, part) = (u32::try_from(eighths / 8).ok()?, (eighths % 8) as usize);
        if whole >= 1 << 14 {
            return None;
        }
        let code = match (whole, part) {
            // The two fastest rates have codes of their own.
            (0, _) | (1, 0) => 0,
            (1, 4) => 1,
            // Between them there is nothing: the nearer one.
            (1, 1 | 2) => 0,
            (1, _) => 1,
            _ => whole | EIGHTHS[part] << 14,
        };
        let clock = if generation == Generation::HighSpeed { UNDIVIDED } else { 0 };
        Some(Self { generation, code: code | clock })
    }

    /// The divisor that a chip was given, as value and high byte of the index of the request.
    pub fn from_words(generation: Generation, value: u16, high: u8) -> Self {
        Self { generation, code: u32::from(value) | u32::from(high) << 16 }
    }

    /// Value, and high byte of the index, of the request that sets it on a chip with several ports or newer than 2005.
    pub fn words(self) -> (u16, u8) {
        ((self.code & 0xFFFF) as u16, (self.code >> 16) as u8)
    }

    /// The rate that it gives, in bits a second, rounded.
    pub fn baud(self) -> u32 {
        let (whole, fraction) = (u64::from(self.code & 0x3FFF), self.code >> 14 & 7);
        let part = EIGHTHS.iter().position(|&code| code == fraction).unwrap_or(0) as u64;
        let eighths = match whole * 8 + part {
            0 => 8,
            8 => 12,
            eighths => eighths,
        };
        // Without the bit a high-speed chip counts as its ancestors did.
        let undivided = self.generation == Generation::HighSpeed && self.code & UNDIVIDED != 0;
        let base = if undivided { self.generation } else { Generation::FullSpeed }.base();
        u32::try_from((base + eighths / 2) / eighths).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from the kernel's `ftdi_2232h_baud_base_to_divisor` and `ftdi_232bm_baud_base_to_divisor`, worked by hand.
    #[test]
    fn divisors_are_the_kernels() {
        let fast = [
            (12_000_000, 0x0000, 0x02, 12_000_000),
            (8_000_000, 0x0001, 0x02, 8_000_000),
            (6_000_000, 0x0002, 0x02, 6_000_000),
            (3_000_000, 0x0004, 0x02, 3_000_000),
            (1_000_000, 0x000C, 0x02, 1_000_000),
            (921_600, 0x000D, 0x02, 923_077),
            (115_200, 0xC068, 0x02, 115_246),
            (9_600, 0x04E2, 0x02, 9_600),
        ];
        for (baud, value, high, actual) in fast {
            let divisor = Divisor::nearest(Generation::HighSpeed, baud).expect("in range");
            assert_eq!((divisor.words(), divisor.baud()), ((value, high), actual), "{baud}");
        }
        let slow = [
            (3_000_000, 0x0000, 0x00, 3_000_000),
            (2_000_000, 0x0001, 0x00, 2_000_000),
            (1_500_000, 0x0002, 0x00, 1_500_000),
            (115_200, 0x001A, 0x00, 115_385),
            (9_600, 0x4138, 0x00, 9_600),
        ];
        for (baud, value, high, actual) in slow {
            let divisor = Divisor::nearest(Generation::FullSpeed, baud).expect("in range");
            assert_eq!((divisor.words(), divisor.baud()), ((value, high), actual), "{baud}");
        }
    }

    #[test]
    fn a_rate_out_of_reach_is_the_nearest_or_none() {
        let baud = |baud| Divisor::nearest(Generation::HighSpeed, baud).map(Divisor::baud);
        assert_eq!(
            (baud(20_000_000), baud(10_500_000), baud(9_000_000)),
            (Some(12_000_000), Some(12_000_000), Some(8_000_000))
        );
        assert_eq!(baud(300), None);
    }

    #[test]
    fn the_divided_clock_of_a_high_speed_chip() {
        // 3 MHz / 26.
        assert_eq!(Divisor::from_words(Generation::HighSpeed, 26, 0).baud(), 115_385);
    }
}
