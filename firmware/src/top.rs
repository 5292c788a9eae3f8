//! The whole image: the core with a UART, a reset, the clock and the pins of a board.

mod pll;

use rust_hdl::prelude::*;
use systole_boards::{Board, TieLevel};
use systole_hdl::block;
use systole_hdl::core::Core;
use systole_hdl::signal::{Param, Reg, Wire};
use systole_hdl::types::{Width, Word};
use systole_hdl::uart_rx::UartRx;
use systole_hdl::uart_tx::UartTx;
use systole_hdl::wire::Origin;

use crate::design::Design;
pub use pll::{Pll, PllError};

/// Edges for which reset is held after the clock is right: the block RAMs of an iCE40 cannot be read for some
/// microseconds after configuration, and this is 5 µs at 100 MHz.
const RESET_EDGES: u32 = 512;

/// The ports that every board has, in the order of [`Board`]'s clock, UART and lamps.
pub const PORTS: [&str; 6] = ["clock", "rx", "tx", "led_idle", "led_busy", "led_error"];

block! {
    /// An image. Its ports are the pins of a board.
    pub struct Top {
        /// The oscillator.
        pub clock: Wire<In, Clock>,
        /// UART from the computer.
        pub rx: Wire<In, bool>,
        /// UART to the computer.
        pub tx: Wire<Out, bool>,
        /// The lamp for nothing to do.
        pub led_idle: Wire<Out, bool>,
        /// The lamp for a job that runs.
        pub led_busy: Wire<Out, bool>,
        /// The lamp for an error.
        pub led_error: Wire<Out, bool>,
        /// Pins held high.
        pub tied_high: Vec<Wire<Out, bool>>,
        /// Pins held low.
        pub tied_low: Vec<Wire<Out, bool>>,
        pll: Pll,
        /// Whether the PLL is locked, on the way into the clock's domain.
        lock_seen: Reg<bool>,
        lock: Reg<bool>,
        /// Edges since lock.
        held: Reg<Word>,
        running: Reg<bool>,
        receiver: UartRx,
        sender: UartTx,
        /// Everything behind the UART.
        pub core: Core,
        reset_edges: Param,
        idle_low: Param,
        busy_low: Param,
        error_low: Param,
        highs: usize,
        lows: usize,
    }
}

impl Top {
    /// The image of a design for a board.
    ///
    /// # Errors
    /// The board's PLL cannot make the design's clock.
    pub fn new(board: &Board, design: &Design, design_hash: u64) -> Result<Self, PllError> {
        let p = design.parameters();
        let tied = |level| board.ties.iter().filter(|tie| tie.level == level).count();
        let (highs, lows) = (tied(TieLevel::High), tied(TieLevel::Low));
        let wires = |count| (0..count).map(|_| Wire::default()).collect();
        let flag = |on: bool| Param::new(u64::from(on), 1);
        let held_bits = u32::BITS - RESET_EDGES.leading_zeros();
        Ok(Self {
            clock: Wire::default(),
            rx: Wire::default(),
            tx: Wire::default(),
            led_idle: Wire::default(),
            led_busy: Wire::default(),
            led_error: Wire::default(),
            tied_high: wires(highs),
            tied_low: wires(lows),
            pll: Pll::new(board, p.clock_hz)?,
            lock_seen: Reg::default(),
            lock: Reg::default(),
            held: Reg::new(Width::unsigned(held_bits)),
            running: Reg::default(),
            receiver: UartRx::new(p),
            sender: UartTx::new(p),
            core: Core::new(p, Origin::Image, design_hash),
            reset_edges: Param::new(u64::from(RESET_EDGES), held_bits),
            idle_low: flag(board.leds.idle.active_low),
            busy_low: flag(board.leds.busy.active_low),
            error_low: flag(board.leds.error.active_low),
            highs,
            lows,
        })
    }
}

impl Logic for Top {
    #[hdl_gen]
    fn update(&mut self) {
        self.pll.oscillator.next = self.clock.val();
        self.lock_seen.clock.next = self.pll.clock.val();
        self.lock.clock.next = self.pll.clock.val();
        self.held.clock.next = self.pll.clock.val();
        self.running.clock.next = self.pll.clock.val();
        self.receiver.clock.next = self.pll.clock.val();
        self.sender.clock.next = self.pll.clock.val();
        self.core.clock.next = self.pll.clock.val();

        self.lock_seen.d.next = self.pll.locked.val();
        self.lock.d.next = self.lock_seen.q.val();
        self.held.d.next = self.held.q.val();
        if !self.lock.q.val() {
            self.held.d.next = 0.into();
        } else if self.held.q.val() != self.reset_edges.val() {
            self.held.d.next = self.held.q.val() + 1;
        }
        self.running.d.next = self.held.q.val() == self.reset_edges.val();
        self.receiver.reset.next = !self.running.q.val();
        self.sender.reset.next = !self.running.q.val();
        self.core.reset.next = !self.running.q.val();

        self.receiver.line.next = self.rx.val();
        self.core.rx_data.next = self.receiver.data.val();
        self.core.rx_valid.next = self.receiver.valid.val();
        self.core.rx_framing.next = self.receiver.framing.val();
        self.core.rx_overrun.next = self.receiver.overrun.val();
        self.receiver.ready.next = self.core.rx_ready.val();
        self.sender.data.next = self.core.tx_data.val();
        self.sender.valid.next = self.core.tx_valid.val();
        self.core.tx_ready.next = self.sender.ready.val();
        self.tx.next = self.sender.line.val();

        self.led_idle.next = self.core.idle.val() ^ (self.idle_low.val() == 1);
        self.led_busy.next = self.core.busy.val() ^ (self.busy_low.val() == 1);
        self.led_error.next = self.core.error.val() ^ (self.error_low.val() == 1);
        for i in 0..self.highs {
            self.tied_high[i].next = true;
        }
        for i in 0..self.lows {
            self.tied_low[i].next = false;
        }
    }
}
