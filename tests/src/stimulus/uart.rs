//! The UART's two halves.

use super::{bits, once_in};
use crate::verilog::differential::Case;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use systole_hdl::parameters::Parameters;
use systole_hdl::sim::power_up;
use systole_hdl::uart_rx::UartRx;
use systole_hdl::uart_tx::UartTx;

/// Levels of a line, one a clock, from here on: frames, now and then damaged, with pauses between.
fn next_levels(random: &mut ChaCha8Rng, clocks: usize) -> VecDeque<bool> {
    let mut levels = VecDeque::new();
    let mut hold = |level, clocks| levels.extend(std::iter::repeat_n(level, clocks));
    match random.random_range(0..12) {
        // Nothing.
        0 => hold(true, random.random_range(1..40)),
        // A glitch.
        1 => {
            hold(false, random.random_range(1..=clocks / 2));
            hold(true, 2 * clocks);
        }
        // A break.
        2 => {
            hold(false, 12 * clocks);
            hold(true, clocks);
        }
        // A byte, its stop bit missing once in five.
        _ => {
            let byte = bits(random, 8);
            hold(false, clocks);
            (0..8).for_each(|bit| hold(byte >> bit & 1 == 1, clocks));
            hold(!once_in(random, 5), clocks);
        }
    }
    levels
}

/// The receiver of a design.
pub fn uart_rx(p: &Parameters) -> Case<UartRx> {
    let clocks = p.clocks_per_bit() as usize;
    let mut levels = VecDeque::new();
    let stimulus = move |rx: &mut UartRx, random: &mut ChaCha8Rng| {
        while levels.is_empty() {
            levels = next_levels(random, clocks);
        }
        rx.line.next = levels.pop_front().unwrap_or(true);
        rx.reset.next = once_in(random, 400);
        rx.ready.next = once_in(random, 60);
    };
    Case {
        name: format!("uart_rx at {clocks} clocks a bit"),
        block: power_up(UartRx::new(p)),
        stimulus: Box::new(stimulus),
        reach: vec![
            ("a byte taken", |rx| rx.valid.val() && rx.ready.next),
            ("framing error", |rx| rx.framing.val()),
            ("overrun", |rx| rx.overrun.val()),
        ],
        transitions: Some(vec![(
            "state",
            vec![
                "Deaf>Idle",
                "Idle>Start",
                "Start>Idle",
                "Start>Data",
                "Data>Stop",
                "Stop>Idle",
                "Stop>Deaf",
                // Reset.
                "Idle>Deaf",
                "Start>Deaf",
                "Data>Deaf",
            ],
        )]),
    }
}

/// The sender of a design.
pub fn uart_tx(p: &Parameters) -> Case<UartTx> {
    let stimulus = |tx: &mut UartTx, random: &mut ChaCha8Rng| {
        tx.reset.next = once_in(random, 400);
        tx.valid.next = !once_in(random, 3);
        tx.data.next = (bits(random, 8) as usize).into();
    };
    Case {
        name: format!("uart_tx at {} clocks a bit", p.clocks_per_bit()),
        block: power_up(UartTx::new(p)),
        stimulus: Box::new(stimulus),
        reach: vec![
            ("ready and nothing to send", |tx| tx.ready.val() && !tx.valid.next),
            ("a byte held back", |tx| !tx.ready.val() && tx.valid.next),
            ("a low line", |tx| !tx.line.val()),
            ("reset while sending", |tx| tx.reset.next && tx.ready.val()),
        ],
        transitions: Some(vec![]),
    }
}
