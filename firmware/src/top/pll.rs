//! The PLL between a board's oscillator and the design's clock.

use rust_hdl::prelude::*;
use std::fmt::Write;
use systole_boards::{Pll as Reach, device::Family};
use systole_hdl::signal::{Part, Wire};
use systole_hdl::walk;
use thiserror::Error;

/// Largest error of the PLL's rate, in parts of a million. The UART's divisor has its own error on top.
const TOLERANCE_PPM: u64 = 1000;

/// Why there is no PLL for a clock.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PllError {
    /// No dividers come close enough.
    #[error(
        "the PLL of {family} cannot make {wanted} Hz of {oscillator} Hz{}",
        .nearest.map_or(String::new(), |hz| format!("; the nearest is {hz} Hz"))
    )]
    Rate {
        /// The family.
        family: &'static str,
        /// Rate of the oscillator in hertz.
        oscillator: u32,
        /// Rate wanted in hertz.
        wanted: u32,
        /// Nearest rate that it can make; `None` if the oscillator's own rate is out of its range.
        nearest: Option<u32>,
    },
    /// The board is not known to have one in reach of the clock pin.
    #[error("the clock must be {oscillator} Hz, the oscillator's: {board} has no PLL in reach")]
    NoPll {
        /// The board.
        board: String,
        /// Rate of the oscillator in hertz.
        oscillator: u32,
    },
}

/// Dividers of a PLL.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Dividers {
    /// `SB_PLL40`: output = oscillator / (r + 1) · (f + 1) / 2^q.
    Ice40 { r: u32, f: u32, q: u32, filter: u32, pad: bool },
    /// `EHXPLLL`: its inner oscillator runs at oscillator / input · feedback, CLKOP is that by `feedback` and is fed back, and
    /// CLKOS, the clock, is that by `output`. With two outputs the phase detector need not run at what the rates of both
    /// oscillator and clock are multiples of.
    Ecp5 { input: u32, feedback: u32, output: u32, oscillator_hz: u32 },
    /// No PLL.
    Direct,
}

impl Dividers {
    fn ice40(oscillator: u32, wanted: u32, pad: bool) -> impl Iterator<Item = (u64, Self)> {
        // Ranges and filter steps are icepll's, in hertz.
        let phase_detector = 10_000_000..=133_000_000u64;
        let vco = 533_000_000..=1_066_000_000u64;
        let output = 16_000_000..=275_000_000u64;
        (0..16u32).flat_map(|r| (0..128u32).flat_map(move |f| (1..7u32).map(move |q| (r, f, q)))).filter_map(
            move |(r, f, q)| {
                let detector = u64::from(oscillator) / u64::from(r + 1);
                let inner = u64::from(oscillator) * u64::from(f + 1) / u64::from(r + 1);
                let rate = inner >> q;
                let possible =
                    phase_detector.contains(&detector) && vco.contains(&inner) && output.contains(&rate);
                let steps = [17_000_000, 26_000_000, 44_000_000, 66_000_000, 101_000_000];
                let filter = 1 + steps.iter().filter(|&&step| detector >= step).count() as u32;
                possible.then_some((rate.abs_diff(u64::from(wanted)), Self::Ice40 { r, f, q, filter, pad }))
            },
        )
    }

    fn ecp5(oscillator: u32, wanted: u32) -> impl Iterator<Item = (u64, Self)> {
        // Ranges are those of LiteX's ECP5PLL, in hertz; ecppll has the phase detector go down to 3.125 MHz.
        let phase_detector = 10_000_000..=400_000_000u64;
        let vco = 400_000_000..=800_000_000u64;
        let out = 3_125_000..=400_000_000u64;
        let (oscillator_hz, hz, wanted) = (oscillator, u64::from(oscillator), u64::from(wanted));
        (1..=128u32).flat_map(|input| (1..=128u32).map(move |feedback| (input, feedback))).filter_map(
            move |(input, feedback)| {
                let detector = hz / u64::from(input);
                let inner = hz * u64::from(feedback) / u64::from(input);
                // The nearest, for at least one.
                let output = (inner + wanted / 2).checked_div(wanted)?.clamp(1, 128);
                let rate = inner / output;
                let possible = phase_detector.contains(&detector)
                    && vco.contains(&inner)
                    && out.contains(&detector)
                    && out.contains(&rate);
                let dividers = Self::Ecp5 { input, feedback, output: output as u32, oscillator_hz };
                possible.then_some((rate.abs_diff(wanted), dividers))
            },
        )
    }

    /// How far from the middle of its range the inner oscillator of an ECP5's runs, in hertz: of equal rates the best.
    fn strain(&self) -> u64 {
        match *self {
            Self::Ecp5 { input, feedback, oscillator_hz, .. } => {
                (u64::from(oscillator_hz) * u64::from(feedback) / u64::from(input)).abs_diff(600_000_000)
            }
            Self::Ice40 { .. } | Self::Direct => 0,
        }
    }

    fn rate(&self, oscillator: u32) -> u64 {
        let oscillator = u64::from(oscillator);
        match *self {
            Self::Ice40 { r, f, q, .. } => (oscillator * u64::from(f + 1) / u64::from(r + 1)) >> q,
            Self::Ecp5 { input, feedback, output, .. } => {
                oscillator * u64::from(feedback) / u64::from(input) / u64::from(output)
            }
            Self::Direct => oscillator,
        }
    }

    fn verilog(&self) -> String {
        let mut text = String::from("wire made;\nwire lock;\n");
        // Writing to a string does not fail.
        let _ = match *self {
            Self::Ice40 { r, f, q, filter, pad } => {
                let (cell, pin) = if pad { ("PAD", "PACKAGEPIN") } else { ("CORE", "REFERENCECLK") };
                writeln!(
                    text,
                    "SB_PLL40_{cell} #(.FEEDBACK_PATH(\"SIMPLE\"), .DIVR(4'd{r}), .DIVF(7'd{f}), .DIVQ(3'd{q}), \
                     .FILTER_RANGE(3'd{filter})) cell_ (.{pin}(oscillator), .PLLOUTGLOBAL(made), .LOCK(lock), \
                     .RESETB(1'b1), .BYPASS(1'b0));"
                )
            }
            Self::Ecp5 { input, feedback, output, oscillator_hz } => {
                let mhz = |hz: u64| hz as f64 / 1e6;
                let (oscillator, made) = (u64::from(oscillator_hz), self.rate(oscillator_hz));
                // Neither phase matters.
                let phase = |divider: u32| (divider - 1) / 2;
                writeln!(
                    text,
                    "wire fed_back;\n\
                     (* FREQUENCY_PIN_CLKI=\"{}\" *) (* FREQUENCY_PIN_CLKOP=\"{}\" *) (* FREQUENCY_PIN_CLKOS=\"{}\" *)\n\
                     (* ICP_CURRENT=\"12\" *) (* LPF_RESISTOR=\"8\" *) (* MFG_ENABLE_FILTEROPAMP=\"1\" *) \
                     (* MFG_GMCREF_SEL=\"2\" *)\n\
                     EHXPLLL #(.PLLRST_ENA(\"DISABLED\"), .INTFB_WAKE(\"DISABLED\"), .STDBY_ENABLE(\"DISABLED\"), \
                     .DPHASE_SOURCE(\"DISABLED\"), .OUTDIVIDER_MUXA(\"DIVA\"), .OUTDIVIDER_MUXB(\"DIVB\"), \
                     .OUTDIVIDER_MUXC(\"DIVC\"), .OUTDIVIDER_MUXD(\"DIVD\"), .CLKI_DIV({input}), \
                     .CLKOP_ENABLE(\"ENABLED\"), .CLKOP_DIV({feedback}), .CLKOP_CPHASE({}), .CLKOP_FPHASE(0), \
                     .CLKOS_ENABLE(\"ENABLED\"), .CLKOS_DIV({output}), .CLKOS_CPHASE({}), .CLKOS_FPHASE(0), \
                     .FEEDBK_PATH(\"CLKOP\"), .CLKFB_DIV(1)) cell_ (.RST(1'b0), .STDBY(1'b0), \
                     .CLKI(oscillator), .CLKOP(fed_back), .CLKOS(made), .CLKFB(fed_back), .CLKINTFB(), .PHASESEL0(1'b0), \
                     .PHASESEL1(1'b0), .PHASEDIR(1'b1), .PHASESTEP(1'b1), .PHASELOADREG(1'b1), \
                     .PLLWAKESYNC(1'b0), .ENCLKOP(1'b0), .LOCK(lock));",
                    mhz(oscillator),
                    mhz(oscillator / u64::from(input)),
                    mhz(made),
                    phase(feedback),
                    phase(output)
                )
            }
            Self::Direct => writeln!(text, "assign made = oscillator;\nassign lock = 1'b1;"),
        };
        text + "always @(*) clock = made;\nalways @(*) locked = lock;\n"
    }
}

/// A PLL, or the wire that stands in for one. In simulation it is a wire: the design's clock is what is clocked, and it is
/// locked from the start.
#[derive(Clone, Debug)]
pub struct Pll {
    /// The oscillator's pin.
    pub oscillator: Wire<In, Clock>,
    /// The design's clock.
    pub clock: Wire<Out, Clock>,
    /// The clock is right. From no clock in particular.
    pub locked: Wire<Out, bool>,
    dividers: Dividers,
}

impl Pll {
    /// What makes `wanted` hertz of the oscillator's: a wire if they are equal.
    ///
    /// # Errors
    /// No PLL, or none that comes within 0.1 %.
    pub fn new(board: &systole_boards::Board, wanted: u32) -> Result<Self, PllError> {
        let (oscillator, family) = (board.clock.hz, board.fpga.family);
        let dividers = if wanted == oscillator {
            Dividers::Direct
        } else {
            let no_pll = || PllError::NoPll { board: board.name.clone(), oscillator };
            let reach = board.pll.ok_or_else(no_pll)?;
            // Of equally near and good ones the first: the fewest divisions before the phase detector.
            let best = match family {
                Family::Ice40 => Dividers::ice40(oscillator, wanted, reach == Reach::Pad).min_by_key(|x| x.0),
                Family::Ecp5 => Dividers::ecp5(oscillator, wanted).min_by_key(|x| (x.0, x.1.strain())),
                Family::Gowin => return Err(no_pll()),
            };
            let nearest = best.as_ref().map(|(_, dividers)| dividers.rate(oscillator) as u32);
            let close = |error: u64| error * 1_000_000 <= TOLERANCE_PPM * u64::from(wanted);
            match best {
                Some((error, dividers)) if close(error) => dividers,
                _ => return Err(PllError::Rate { family: family.name(), oscillator, wanted, nearest }),
            }
        };
        Ok(Self { oscillator: Wire::default(), clock: Wire::default(), locked: Wire::default(), dividers })
    }
}

impl Logic for Pll {
    fn update(&mut self) {
        self.clock.next = self.oscillator.val();
        self.locked.next = true;
    }
    fn connect(&mut self) {
        self.clock.connect();
        self.locked.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(self.dividers.verilog())
    }
}

impl Part for Pll {
    fn settle(&mut self) -> bool {
        if self.oscillator.latch() {
            self.update();
        }
        self.clock.publish() | self.locked.publish()
    }
    walk!();
}

walk!(Pll { oscillator, clock, locked });

#[cfg(test)]
mod tests {
    use super::*;

    fn dividers(board: &str, wanted: u32) -> Result<Dividers, PllError> {
        Pll::new(systole_boards::find(board).expect("known"), wanted).map(|pll| pll.dividers)
    }

    #[test]
    fn ice40_settings_are_those_of_icepll() {
        // icepll -i 12 -o 24, -o 36, -o 48
        let of = |f, q| Dividers::Ice40 { r: 0, f, q, filter: 1, pad: true };
        assert_eq!(dividers("icebreaker", 24_000_000), Ok(of(63, 5)));
        assert_eq!(dividers("icebreaker", 36_000_000), Ok(of(47, 4)));
        assert_eq!(dividers("icebreaker", 48_000_000), Ok(of(63, 4)));
    }

    #[test]
    fn ecp5_rates_are_exact_and_within_the_ranges() {
        for (board, oscillator, wanted) in [
            ("ulx3s-25f", 25_000_000, 30_000_000),
            ("ulx3s-25f", 25_000_000, 45_000_000),
            ("ulx3s-25f", 25_000_000, 60_000_000),
            ("ulx3s-25f", 25_000_000, 80_000_000),
            ("ecp5-evn", 12_000_000, 36_000_000),
        ] {
            let Ok(Dividers::Ecp5 { input, feedback, output, oscillator_hz }) = dividers(board, wanted)
            else {
                panic!("no dividers for {wanted} Hz");
            };
            assert!(oscillator_hz == oscillator && oscillator / input >= 10_000_000, "{wanted}: {input}");
            assert!((400_000_000..=800_000_000).contains(&(wanted * output)), "{wanted}: {output}");
            assert_eq!(oscillator / input * feedback, wanted * output);
        }
    }

    #[test]
    fn an_ecp5_gives_no_more_than_400_mhz() {
        assert!(dividers("ulx3s-25f", 400_000_000).is_ok());
        let error = dividers("ulx3s-25f", 500_000_000).expect_err("too fast").to_string();
        assert!(error.ends_with("the nearest is 400000000 Hz"), "{error}");
    }

    #[test]
    fn a_clock_that_the_oscillator_gives_takes_no_pll() {
        assert_eq!(dividers("icebreaker", 12_000_000), Ok(Dividers::Direct));
    }

    #[test]
    fn a_clock_out_of_reach_is_refused_with_the_nearest() {
        let error = dividers("icebreaker", 300_000_000).expect_err("too fast").to_string();
        assert_eq!(
            error,
            "the PLL of ice40 cannot make 300000000 Hz of 12000000 Hz; the nearest is 270000000 Hz"
        );
    }
}
