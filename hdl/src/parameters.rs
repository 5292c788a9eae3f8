//! The parameters of a design: what can be chosen, in which range, and what follows from a choice.
//!
//! Everything that depends on a parameter (widths, counts, limits) is derived here and nowhere else; the gateware is
//! generated from these numbers and the host plans with them.

use std::ops::RangeInclusive;
use thiserror::Error;

/// Pipeline stages inside a PE between operands and accumulator. 0 is the contract's baseline; a product register
/// would make it 1. It is a term of [`Parameters::steps`] and of nothing else.
pub const STAGES: u32 = 0;

/// Grid sides that can be built.
pub const N_RANGE: RangeInclusive<u32> = 1..=32;

/// Operand widths in bits.
pub const W_RANGE: RangeInclusive<u32> = 2..=16;

/// Widest accumulator in bits; the narrowest is twice the operand width.
pub const AW_MOST: u32 = 48;

/// Longest reductions of one job, in terms.
pub const K_MAX_RANGE: RangeInclusive<u32> = 1..=65536;

/// Widths of the job tag in bits.
pub const JOB_BITS_RANGE: RangeInclusive<u32> = 1..=8;

/// Deepest bank, in operands a lane; the shallowest holds `k_max`.
pub const DEPTH_MOST: u32 = 65536;

/// Largest command FIFO in bytes; [`Parameters::smallest_fifo`] is the smallest.
pub const FIFO_MOST: u32 = 65536;

/// Clocks in hertz.
pub const CLOCK_RANGE: RangeInclusive<u32> = 1_000_000..=500_000_000;

/// UART rates in bits a second, as far as [`MIN_CLOCKS_PER_BIT`] allows.
pub const BAUD_RANGE: RangeInclusive<u32> = 1200..=100_000_000;

/// Bits of a byte on the UART: start, eight, stop.
pub const UART_BITS: u32 = 10;

/// Largest total error between the requested baud rate and the one an integer divisor of the clock gives, in percent.
pub const BAUD_TOLERANCE_PERCENT: u32 = 2;

/// Fewest clocks a UART bit may take.
pub const MIN_CLOCKS_PER_BIT: u32 = 4;

/// Fewest clocks of a UART bit at which the receiver takes the majority of three samples; below, three samples would
/// reach too close to the bit's edges.
pub const MAJORITY_CLOCKS_PER_BIT: u32 = 8;

/// A complete set of design parameters. [`Parameters::check`] says whether it can be built.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// Grid side: `n × n` processing elements.
    pub n: u32,
    /// Operand width in bits; operands are two's-complement.
    pub w: u32,
    /// Accumulator width in bits.
    pub aw: u32,
    /// Longest reduction of one job, in terms.
    pub k_max: u32,
    /// Width of the job tag in bits.
    pub job_bits: u32,
    /// Operands a lane of bank A holds.
    pub a_depth: u32,
    /// Operands a lane of bank B holds.
    pub b_depth: u32,
    /// Bytes of the command FIFO.
    pub fifo: u32,
    /// Clock of the design in hertz.
    pub clock_hz: u32,
    /// UART rate in bits a second.
    pub baud: u32,
    /// Whether the gateware can inject faults into a job to prove its own checks.
    pub injection: bool,
}

impl Parameters {
    /// The design that is meant where nothing else is said.
    pub const DEFAULT: Self = Self {
        n: 4,
        w: 8,
        aw: 32,
        k_max: 256,
        job_bits: 2,
        a_depth: 512,
        b_depth: 1024,
        fifo: 4096,
        clock_hz: 24_000_000,
        baud: 3_000_000,
        injection: true,
    };
}

impl Default for Parameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why a set of parameters cannot be built: names the parameter, its value and its range.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ParameterError {
    /// A value outside its range.
    #[error("{name} is {value}, but must be {low}..={high}{because}")]
    Range {
        /// The parameter's name on the command line.
        name: &'static str,
        /// The value asked for.
        value: u32,
        /// Smallest value allowed.
        low: u32,
        /// Largest value allowed.
        high: u32,
        /// What the range depends on, empty when it is fixed.
        because: String,
    },
    /// A FIFO size that is not a power of two.
    #[error("fifo is {value}, but must be a power of two")]
    NotPowerOfTwo {
        /// The value asked for.
        value: u32,
    },
    /// A rate whose bits are too short for the clock.
    #[error(
        "baud is {baud}, but a UART needs at least {MIN_CLOCKS_PER_BIT} clocks a bit: at most {most} baud at a \
         clock of {clock_hz} Hz"
    )]
    BaudTooFast {
        /// Rate asked for.
        baud: u32,
        /// Clock of the design.
        clock_hz: u32,
        /// Largest rate at this clock.
        most: u32,
    },
    /// A clock that no integer divides into the baud rate.
    #[error(
        "baud is {baud}, but a clock of {clock_hz} Hz divided by {divisor} gives {actual}: it must be within \
         {BAUD_TOLERANCE_PERCENT} %"
    )]
    Baud {
        /// Rate asked for.
        baud: u32,
        /// Clock of the design.
        clock_hz: u32,
        /// Nearest integer divisor.
        divisor: u32,
        /// Rate that this divisor gives.
        actual: u32,
    },
}

/// Bits needed to tell `values` values apart, at least one.
pub(crate) fn bits_for(values: u64) -> u32 {
    (64 - values.saturating_sub(1).leading_zeros()).max(1)
}

impl Parameters {
    /// Checks every range.
    ///
    /// # Errors
    /// The first parameter that is out of range, by name, with its value and its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let range = |name, value, low, high, because: &str| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(ParameterError::Range { name, value, low, high, because: because.to_owned() })
            }
        };
        let fixed = |name, value, allowed: RangeInclusive<u32>, unit| {
            range(name, value, *allowed.start(), *allowed.end(), unit)
        };
        fixed("n", self.n, N_RANGE, "")?;
        fixed("w", self.w, W_RANGE, "")?;
        range("aw", self.aw, 2 * self.w, AW_MOST, " (at least twice the operand width w)")?;
        fixed("k-max", self.k_max, K_MAX_RANGE, "")?;
        fixed("job-bits", self.job_bits, JOB_BITS_RANGE, "")?;
        range("a-depth", self.a_depth, self.k_max, DEPTH_MOST, " (at least k-max)")?;
        range("b-depth", self.b_depth, self.k_max, DEPTH_MOST, " (at least k-max)")?;
        let because = " (a power of two that holds two of the smallest useful frames)";
        range("fifo", self.fifo, self.smallest_fifo(), FIFO_MOST, because)?;
        if !self.fifo.is_power_of_two() {
            return Err(ParameterError::NotPowerOfTwo { value: self.fifo });
        }
        fixed("clock", self.clock_hz, CLOCK_RANGE, " Hz")?;
        fixed("baud", self.baud, BAUD_RANGE, "")?;
        let (baud, clock_hz, divisor) = (self.baud, self.clock_hz, self.clocks_per_bit());
        if divisor < MIN_CLOCKS_PER_BIT {
            return Err(ParameterError::BaudTooFast { baud, clock_hz, most: clock_hz / MIN_CLOCKS_PER_BIT });
        }
        let actual = clock_hz / divisor;
        let error = u64::from(actual.abs_diff(baud)) * 100;
        if error > u64::from(BAUD_TOLERANCE_PERCENT) * u64::from(baud) {
            return Err(ParameterError::Baud { baud, clock_hz, divisor, actual });
        }
        Ok(())
    }

    /// Bytes of the smallest command FIFO: a power of two that holds two of the smallest useful frames.
    pub fn smallest_fifo(&self) -> u32 {
        (2 * (crate::wire::HEADER + self.smallest_body()) as u32).next_power_of_two()
    }

    /// Body of the largest frame that no design can do without: one step of a panel, or a MULTIPLY.
    fn smallest_body(&self) -> usize {
        let write = crate::wire::WRITE_HEAD + (self.n * self.operand_bytes()) as usize;
        write.max(crate::wire::MULTIPLY_BODY)
    }

    /// Clocks a UART bit takes: the nearest integer.
    pub fn clocks_per_bit(&self) -> u32 {
        (self.clock_hz + self.baud / 2) / self.baud.max(1)
    }

    /// Width of a counter of the clocks within a UART bit.
    pub fn bit_phase_bits(&self) -> u32 {
        bits_for(u64::from(self.clocks_per_bit()))
    }

    /// Width of a counter that holds `0..=k_max` (R3).
    pub fn count_bits(&self) -> u32 {
        bits_for(u64::from(self.k_max) + 1)
    }

    /// Width of a tag that holds `0..=k_max−1` (R3).
    pub fn tag_bits(&self) -> u32 {
        bits_for(u64::from(self.k_max))
    }

    /// Width of a row or column index.
    pub fn lane_bits(&self) -> u32 {
        bits_for(u64::from(self.n))
    }

    /// Address bits of a lane of bank A; the memory has `2^bits` cells.
    pub fn a_address_bits(&self) -> u32 {
        bits_for(u64::from(self.a_depth))
    }

    /// Address bits of a lane of bank B; the memory has `2^bits` cells.
    pub fn b_address_bits(&self) -> u32 {
        bits_for(u64::from(self.b_depth))
    }

    /// Longest reduction whose sum is exact for any operands: the largest k with `k·2^(2w−2) ≤ 2^(aw−1)−1` (R24a).
    pub fn exact_limit(&self) -> u64 {
        ((1u64 << (self.aw - 1)) - 1) >> (2 * self.w - 2)
    }

    /// Longest reduction that a job may ask for: `min(k_max, exact_limit)`.
    pub fn k_limit(&self) -> u32 {
        u64::from(self.k_max).min(self.exact_limit()) as u32
    }

    /// Bytes of an operand on the wire.
    pub fn operand_bytes(&self) -> u32 {
        self.w.div_ceil(8)
    }

    /// Bytes that hold any accumulator.
    pub fn accumulator_bytes(&self) -> u32 {
        self.aw.div_ceil(8)
    }

    /// Fewest bytes that hold any result of a `k_len`-term job: the least b with `k_len·2^(2w−2) ≤ 2^(8b−1)−1`.
    pub fn result_bytes(&self, k_len: u32) -> u32 {
        let largest = u128::from(k_len) << (2 * self.w - 2);
        (1..16).find(|b| largest < 1u128 << (8 * b - 1)).unwrap_or(16)
    }

    /// Advancing edges of a job of `k_len` terms, counting E0 (R5).
    pub fn steps(&self, k_len: u32) -> u32 {
        k_len + 2 * self.n - 2 + STAGES
    }

    /// Width of a counter of a job's steps, of an injection's step and of an injected pause: at least a byte, so that
    /// every design can pause for up to 255 edges.
    pub fn step_bits(&self) -> u32 {
        bits_for(u64::from(self.steps(self.k_max)) + 1).max(8)
    }

    /// Width of a counter of a job's edges: its steps and one injected pause.
    pub fn edge_bits(&self) -> u32 {
        self.step_bits() + 1
    }

    /// Largest frame that the board takes, in decoded bytes of header and body: half the FIFO, so that one can be
    /// received while the other executes.
    pub fn largest_frame(&self) -> u32 {
        self.fifo / 2
    }

    /// Longest piece of a panel that one WRITE carries, in terms.
    pub fn write_terms(&self) -> u32 {
        let body = self.largest_frame() - (crate::wire::HEADER + crate::wire::WRITE_HEAD) as u32;
        body / (self.n * self.operand_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r03_counter_and_tag_widths_differ_at_powers_of_two() {
        let table = [(1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 3, 2), (5, 3, 3), (7, 3, 3), (8, 4, 3), (16, 5, 4)];
        for (k_max, count, tag) in table {
            let p = Parameters { k_max, ..Parameters::default() };
            assert_eq!((p.count_bits(), p.tag_bits()), (count, tag), "K = {k_max}");
        }
    }

    #[test]
    fn r24a_exact_limit() {
        assert_eq!(Parameters::default().exact_limit(), 131_071);
        let narrow = Parameters { w: 8, aw: 16, ..Parameters::default() };
        assert_eq!(narrow.exact_limit(), 1);
    }

    #[test]
    fn step_counters_hold_every_step_and_a_pause_of_a_byte() {
        let tiny = Parameters { n: 1, k_max: 1, ..Parameters::default() };
        assert_eq!((tiny.step_bits(), tiny.edge_bits()), (8, 9));
        assert_eq!(Parameters::default().step_bits(), 9);
        let exact = Parameters { n: 2, k_max: 510, ..Parameters::default() };
        assert_eq!((exact.steps(510), exact.step_bits()), (512, 10));
    }

    #[test]
    fn result_bytes_of_the_design_page() {
        let p = Parameters::default();
        assert_eq!((p.result_bytes(2), p.result_bytes(512)), (3, 4));
        assert_eq!((p.result_bytes(1), p.result_bytes(511)), (2, 3));
    }

    #[test]
    fn every_range_is_named() {
        let d = Parameters::default;
        let bad = [
            (Parameters { n: 0, ..d() }, "n is 0"),
            (Parameters { n: 33, ..d() }, "n is 33"),
            (Parameters { w: 1, ..d() }, "w is 1"),
            (Parameters { aw: 15, ..d() }, "aw is 15"),
            (Parameters { aw: 49, ..d() }, "aw is 49"),
            (Parameters { k_max: 0, ..d() }, "k-max is 0"),
            (Parameters { job_bits: 9, ..d() }, "job-bits is 9"),
            (Parameters { a_depth: 255, ..d() }, "a-depth is 255"),
            (Parameters { b_depth: 65537, ..d() }, "b-depth is 65537"),
            (Parameters { fifo: 16, ..d() }, "fifo is 16"),
            (Parameters { fifo: 5000, ..d() }, "fifo is 5000"),
            (Parameters { baud: 7_000_000, ..d() }, "baud is 7000000"),
        ];
        for (p, text) in bad {
            let error = p.check().expect_err(text).to_string();
            assert!(error.starts_with(text), "{error}");
        }
        assert_eq!(d().check(), Ok(()));
    }

    #[test]
    fn the_smallest_fifo_named_is_one_that_works() {
        for n in [1, 4, 32] {
            let small = Parameters { n, fifo: 2, ..Parameters::default() };
            let ParameterError::Range { name: "fifo", low, .. } = small.check().expect_err("too small")
            else {
                panic!("another error");
            };
            assert_eq!(Parameters { fifo: low, ..small.clone() }.check(), Ok(()), "n = {n}");
            let half = Parameters { fifo: low / 2, ..small };
            assert!(half.check().is_err_and(|error| error.to_string().contains(&format!("{low}..=65536"))));
        }
    }

    #[test]
    fn a_rate_is_too_fast_or_does_not_divide() {
        let at =
            |baud| Parameters { baud, ..Parameters::default() }.check().map_err(|error| error.to_string());
        for baud in [7_000_000, 100_000_000] {
            let text = format!(
                "baud is {baud}, but a UART needs at least 4 clocks a bit: at most 6000000 baud at a clock of \
                 24000000 Hz"
            );
            assert_eq!(at(baud), Err(text));
        }
        assert_eq!(at(6_000_000), Ok(()));
        let text =
            "baud is 3200000, but a clock of 24000000 Hz divided by 8 gives 3000000: it must be within 2 %";
        assert_eq!(at(3_200_000), Err(text.to_owned()));
    }
}
