//! The chip's command engine, with a flash and an iCE40 on its wires.

use super::channel::Channel;
use super::flash::Flash;
use super::ice40::{Ice40, Wiring};

/// Pins of the port.
mod pin {
    pub(super) const SELECT: u8 = 1 << 4;
    pub(super) const CDONE: u8 = 1 << 6;
    pub(super) const CRESET: u8 = 1 << 7;
}

/// The answer to what is no command: this, and the byte.
const BAD_COMMAND: u8 = 0xFA;

/// Bits of a shifting command.
mod shift {
    pub(super) const BITS: u8 = 0x02;
    pub(super) const LEAST_FIRST: u8 = 0x08;
    pub(super) const OUT: u8 = 0x10;
    pub(super) const IN: u8 = 0x20;
}

/// Where the engine is within a command: its bytes come in pieces of any size.
#[derive(Debug)]
enum State {
    /// Taking a command and its operands.
    Command(Vec<u8>),
    /// Shifting bytes that are still to come.
    Shifting { code: u8, left: usize },
}

/// The engine and its wires.
pub(super) struct Engine {
    state: State,
    /// What is driven on the low byte of pins, and which of them are.
    value: u8,
    direction: u8,
    loopback: bool,
    pub(super) flash: Flash,
    pub(super) fpga: Ice40,
}

impl Engine {
    pub(super) fn new(flash: Flash, fpga: Ice40) -> Self {
        Self { state: State::Command(Vec::new()), value: 0, direction: 0, loopback: false, flash, fpga }
    }

    /// The port's mode was set: the engine starts anew, and drives nothing.
    pub(super) fn reset(&mut self) {
        self.state = State::Command(Vec::new());
        self.loopback = false;
        self.set_pins(0, 0);
    }

    /// Carries out commands, as far as they are there; answers go to `answers`.
    pub(super) fn take(&mut self, bytes: &[u8], answers: &mut Channel) {
        for &byte in bytes {
            match &mut self.state {
                State::Command(command) => {
                    command.push(byte);
                    if command.len() == length(command[0]) {
                        let command = std::mem::take(command);
                        self.carry_out(&command, answers);
                    }
                }
                State::Shifting { code, left } => {
                    let code = *code;
                    *left -= 1;
                    if *left == 0 {
                        self.state = State::Command(Vec::new());
                    }
                    self.shift(code, byte, 8, answers);
                }
            }
        }
    }

    fn carry_out(&mut self, command: &[u8], answers: &mut Channel) {
        match *command {
            [code, low, high] if is_byte_shift(code) => {
                let count = usize::from(u16::from_le_bytes([low, high])) + 1;
                if code & shift::OUT != 0 {
                    self.state = State::Shifting { code, left: count };
                } else {
                    (0..count).for_each(|_| self.shift(code, 0, 8, answers));
                }
            }
            [code, count, ref data @ ..] if is_bit_shift(code) => {
                self.shift(code, data.first().copied().unwrap_or(0), (count & 7) + 1, answers);
            }
            [0x80, value, direction] => self.set_pins(value, direction),
            [0x81] => {
                let pins = self.pins();
                answers.push(&[pins]);
            }
            // The high byte of pins has no wires, and pulls.
            [0x83] => answers.push(&[0xFF]),
            [0x84] => self.loopback = true,
            [0x85] => self.loopback = false,
            [0x87] => answers.flush(),
            // Pins of the high byte, clock settings, clocks without data.
            [0x82 | 0x86 | 0x9E, _, _] | [0x8A..=0x8D | 0x96 | 0x97] => {}
            [code, ..] => answers.push(&[BAD_COMMAND, code]),
            [] => {}
        }
    }

    /// Shifts the first `bits` of a byte, most or least significant first.
    fn shift(&mut self, code: u8, byte: u8, bits: u8, answers: &mut Channel) {
        let least_first = code & shift::LEAST_FIRST != 0;
        let order = |byte: u8| if least_first { byte.reverse_bits() } else { byte };
        let out = order(byte);
        let came = (0..bits).fold(0, |came: u8, bit| {
            let bit = out << bit & 0x80 != 0;
            came << 1 | u8::from(self.clock(bit))
        });
        if bits == 8 && self.selected() {
            self.fpga.take(out);
        }
        if code & shift::IN != 0 {
            // Less than a byte arrives at the end of the register that it is shifted through.
            answers.push(&[if least_first { came.reverse_bits() } else { came }]);
        }
    }

    fn clock(&mut self, bit: bool) -> bool {
        let wired = self.selected() && self.fpga.wiring() == Wiring::Flash;
        let came = if wired { self.flash.clock(bit) } else { true };
        if self.loopback { bit } else { came }
    }

    fn selected(&self) -> bool {
        self.levels() & pin::SELECT == 0
    }

    /// Levels of the pins: driven, or pulled up.
    fn levels(&self) -> u8 {
        self.value & self.direction | !self.direction
    }

    fn pins(&mut self) -> u8 {
        let levels = self.levels();
        if self.fpga.running().is_some() { levels | pin::CDONE } else { levels & !pin::CDONE }
    }

    fn set_pins(&mut self, value: u8, direction: u8) {
        let before = self.levels();
        self.value = value;
        self.direction = direction;
        let now = self.levels();
        let (fell, rose) = (before & !now, now & !before);
        if rose & pin::SELECT != 0 && self.fpga.wiring() == Wiring::Flash {
            self.flash.deselect();
        }
        if fell & pin::CRESET != 0 {
            self.fpga.enter_reset();
        }
        if rose & pin::CRESET != 0 {
            self.fpga.leave_reset(now & pin::SELECT == 0, &mut self.flash);
        }
    }
}

fn is_byte_shift(code: u8) -> bool {
    matches!(code, 0x10..=0x3F) && code & shift::BITS == 0
}

fn is_bit_shift(code: u8) -> bool {
    matches!(code, 0x10..=0x3F) && code & shift::BITS != 0
}

/// Bytes of a command, its code included; of a shift of bytes, up to its count.
fn length(code: u8) -> usize {
    match code {
        code if is_byte_shift(code) => 3,
        code if is_bit_shift(code) => {
            if code & shift::OUT != 0 {
                3
            } else {
                2
            }
        }
        0x80 | 0x82 | 0x86 | 0x9E => 3,
        _ => 1,
    }
}
