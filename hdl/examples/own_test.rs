//! A test of one's own on the gateware, with rust-hdl's `Simulation`: a clock, a test bench in its own thread, a waveform.
//!
//! `cargo run --release -p systole-hdl --example own_test` multiplies `[[1, 2], [3, 4]]` by `[[5, 6], [7, 8]]` on a 2×2
//! wrapper, checks the product and the number of steps, and writes every signal to `target/own_test.vcd`, or to the file
//! named as its argument. To try something else, change [`stimulus`]. For long runs take the direct loop of
//! `systole_hdl::sim`, which is many times faster.

use rust_hdl::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use systole_hdl::parameters::Parameters;
use systole_hdl::types::Word;
use systole_hdl::wrapper::Wrapper;

/// Half a period of the clock, in rust-hdl's unit, the picosecond.
const HALF_PERIOD: u64 = 20_000;

/// When the test has failed for lack of an end: a thousand periods.
const DEADLINE: u64 = 1000 * 2 * HALF_PERIOD;

/// Rows of A, columns of B, and the product they must give, row-major.
const A: [[i64; 2]; 2] = [[1, 2], [3, 4]];
const B: [[i64; 2]; 2] = [[5, 7], [6, 8]];
const C: [i64; 4] = [19, 22, 43, 50];

/// Drives the wrapper as a user would: inputs change after a rising edge and are taken by the next one.
fn stimulus(mut sim: Sim<Wrapper>) -> rust_hdl::core::simulate::Result<()> {
    let mut x = sim.init()?;
    for (bank, lanes) in [(false, A), (true, B)] {
        for (lane, operands) in lanes.into_iter().enumerate() {
            for (k, operand) in operands.into_iter().enumerate() {
                wait_clock_true!(sim, clock, x);
                x.write_enable.next = true;
                x.write_bank.next = bank;
                x.write_lane.next = lane.into();
                x.write_address.next = k.into();
                x.write_data.next = Word::of(operand);
                wait_clock_false!(sim, clock, x);
            }
        }
    }
    wait_clock_true!(sim, clock, x);
    x.write_enable.next = false;
    x.start.next = true;
    x.k_len.next = 2.into();
    wait_clock_cycle!(sim, clock, x);
    x.start.next = false;

    x = sim.watch(|x| x.finished.val(), x)?;
    sim_assert_eq!(sim, (x.steps.val().get(), x.error.val().get()), (4, 0), x);
    x = sim.watch(|x| x.result_ready.val(), x)?;
    for expected in C {
        sim_assert_eq!(sim, x.result.val().get(), expected, x);
        x.result_next.next = true;
        wait_clock_cycle!(sim, clock, x);
    }
    sim.done(x)
}

/// Runs the stimulus and writes the waveform.
fn simulate(waveform: impl Write) -> rust_hdl::core::simulate::Result<()> {
    let wrapper = Wrapper::new(&Parameters { n: 2, ..Parameters::default() });
    let mut simulation = Simulation::new();
    simulation.add_clock(HALF_PERIOD, |x: &mut Box<Wrapper>| x.clock.next = !x.clock.val());
    simulation.add_testbench(stimulus);
    simulation.run_traced(Box::new(wrapper), DEADLINE, waveform)
}

fn main() -> Result<(), String> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/own_test.vcd"), PathBuf::from);
    let file = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    simulate(BufWriter::new(file)).map_err(|error| format!("the test failed: {error:?}"))?;
    println!("the product is right; waveform in {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stimulus_passes_and_the_waveform_shows_it() {
        let mut waveform = Vec::new();
        simulate(&mut waveform).expect("the stimulus passes");
        let text = String::from_utf8(waveform).expect("a VCD is text");
        let (header, changes) = text.split_once("$enddefinitions $end").expect("a VCD header");
        assert!(header.contains("$scope module pe$3 $end"), "the waveform reaches into the grid");
        // PE(1,1) ends at 50: its accumulator is 32 bits wide.
        assert!(changes.contains(&format!("b{:032b} ", 50)), "no accumulator ever holds 50");
    }
}
