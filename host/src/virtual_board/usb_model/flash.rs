//! A W25Q128 flash: 16 MiB, with the commands and the typical times of its data sheet.

use std::time::{Duration, Instant};

/// Bytes that it holds.
const CAPACITY: usize = 16 << 20;

/// Bytes that one command writes.
const PAGE: usize = 256;

/// JEDEC's number of Winbond, and Winbond's of a W25Q128JV-M.
const ID: [u8; 3] = [0xEF, 0x70, 0x18];

/// The one byte of identity that waking gives.
const SHORT_ID: u8 = 0x17;

/// Bits of the status.
mod status {
    /// A command is being carried out.
    pub(super) const BUSY: u8 = 1 << 0;
    /// The next command may change something.
    pub(super) const WRITE_ENABLED: u8 = 1 << 1;
    /// Blocks are protected. Whichever are: here it is all.
    pub(super) const PROTECTED: u8 = 0b0001_1100;
}

/// Commands.
mod command {
    pub(super) const WRITE_STATUS: u8 = 0x01;
    pub(super) const PROGRAM: u8 = 0x02;
    pub(super) const READ: u8 = 0x03;
    pub(super) const WRITE_DISABLE: u8 = 0x04;
    pub(super) const READ_STATUS: u8 = 0x05;
    pub(super) const WRITE_ENABLE: u8 = 0x06;
    pub(super) const FAST_READ: u8 = 0x0B;
    pub(super) const ERASE_SECTOR: u8 = 0x20;
    pub(super) const ERASE_HALF_BLOCK: u8 = 0x52;
    pub(super) const ERASE_BLOCK: u8 = 0xD8;
    pub(super) const ERASE_ALL: [u8; 2] = [0x60, 0xC7];
    pub(super) const ID: u8 = 0x9F;
    pub(super) const WAKE: u8 = 0xAB;
    pub(super) const SLEEP: u8 = 0xB9;
}

/// Typical times of the data sheet.
mod takes {
    use std::time::Duration;
    pub(super) const PROGRAM: Duration = Duration::from_micros(400);
    pub(super) const ERASE_SECTOR: Duration = Duration::from_millis(45);
    pub(super) const ERASE_HALF_BLOCK: Duration = Duration::from_millis(120);
    pub(super) const ERASE_BLOCK: Duration = Duration::from_millis(150);
    pub(super) const ERASE_ALL: Duration = Duration::from_secs(40);
    pub(super) const WRITE_STATUS: Duration = Duration::from_millis(10);
}

/// A flash.
#[derive(Debug)]
pub struct Flash {
    memory: Vec<u8>,
    asleep: bool,
    status: u8,
    busy_until: Option<Instant>,
    /// Bytes received since it was selected.
    received: Vec<u8>,
    /// The byte that it shifts out while it receives the next one.
    next: u8,
    /// Bits of that byte that have gone, and what came in for them.
    bits: u8,
    shifted: u8,
}

impl Default for Flash {
    fn default() -> Self {
        Self::new()
    }
}

impl Flash {
    /// An erased flash.
    pub fn new() -> Self {
        Self {
            memory: vec![0xFF; CAPACITY],
            asleep: false,
            status: 0,
            busy_until: None,
            received: Vec::new(),
            next: 0xFF,
            bits: 0,
            shifted: 0,
        }
    }

    /// What it holds.
    pub fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// What it holds, to change it as nobody could from outside.
    pub fn memory_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// Protects everything, or nothing.
    pub fn protect(&mut self, protected: bool) {
        self.status = if protected { status::PROTECTED } else { 0 };
    }

    /// Puts it to sleep, or wakes it.
    pub(super) fn sleep(&mut self, asleep: bool) {
        self.asleep = asleep;
    }

    /// One clock of the bus while it is selected: takes a bit, gives one.
    pub(super) fn clock(&mut self, bit: bool) -> bool {
        let out = self.next << self.bits & 0x80 != 0;
        self.shifted = self.shifted << 1 | u8::from(bit);
        self.bits += 1;
        if self.bits == 8 {
            self.bits = 0;
            self.take(self.shifted);
        }
        out
    }

    /// The end of a command: it is carried out if all of it was there.
    pub(super) fn deselect(&mut self) {
        let received = std::mem::take(&mut self.received);
        self.next = 0xFF;
        // A command that ends within a byte is none.
        let whole = std::mem::take(&mut self.bits) == 0;
        if let (true, Some(&code)) = (whole, received.first()) {
            self.carry_out(code, &received[1..]);
        }
    }

    /// Takes a whole byte, and finds what to say during the next.
    fn take(&mut self, byte: u8) {
        self.received.push(byte);
        self.next = 0xFF;
        let count = self.received.len();
        let code = self.received[0];
        if self.asleep && code != command::WAKE {
            return;
        }
        self.next = match code {
            command::READ_STATUS => self.status_now(),
            // Busy, it listens to nothing else.
            _ if self.is_busy() => 0xFF,
            command::ID => ID.get(count - 1).copied().unwrap_or(0),
            command::WAKE if count >= 4 => SHORT_ID,
            command::READ if count >= 4 => self.cell(count - 4),
            command::FAST_READ if count >= 5 => self.cell(count - 5),
            _ => 0xFF,
        };
    }

    fn carry_out(&mut self, code: u8, operands: &[u8]) {
        if self.asleep {
            self.asleep = code != command::WAKE;
            return;
        }
        if self.is_busy() {
            return;
        }
        match code {
            command::SLEEP => self.asleep = true,
            command::WRITE_ENABLE => self.status |= status::WRITE_ENABLED,
            command::WRITE_DISABLE => self.status &= !status::WRITE_ENABLED,
            _ if self.status & status::WRITE_ENABLED == 0 => {}
            command::WRITE_STATUS => {
                self.status = operands.first().map_or(self.status, |bits| bits & status::PROTECTED);
                self.busy(takes::WRITE_STATUS);
            }
            // What is protected is left alone, and takes no time.
            _ if self.status & status::PROTECTED != 0 => self.status &= !status::WRITE_ENABLED,
            command::PROGRAM => self.program(operands),
            command::ERASE_SECTOR => self.erase(operands, 4 << 10, takes::ERASE_SECTOR),
            command::ERASE_HALF_BLOCK => self.erase(operands, 32 << 10, takes::ERASE_HALF_BLOCK),
            command::ERASE_BLOCK => self.erase(operands, 64 << 10, takes::ERASE_BLOCK),
            code if command::ERASE_ALL.contains(&code) => self.erase(&[0; 3], CAPACITY, takes::ERASE_ALL),
            _ => {}
        }
    }

    /// Bits can only be cleared, and past the end of a page it goes on at its beginning.
    fn program(&mut self, operands: &[u8]) {
        let Some((address, data)) = operands.split_at_checked(3) else { return };
        let address = number(address);
        for (at, byte) in data.iter().enumerate() {
            let cell = address / PAGE * PAGE + (address + at) % PAGE;
            self.memory[cell % CAPACITY] &= byte;
        }
        self.busy(takes::PROGRAM);
    }

    fn erase(&mut self, operands: &[u8], bytes: usize, time: Duration) {
        if operands.len() == 3 {
            let begin = number(operands) / bytes * bytes;
            self.memory[begin..begin + bytes].fill(0xFF);
            self.busy(time);
        }
    }

    fn cell(&self, offset: usize) -> u8 {
        self.memory[(number(&self.received[1..4]) + offset) % CAPACITY]
    }

    fn busy(&mut self, time: Duration) {
        self.status &= !status::WRITE_ENABLED;
        self.busy_until = Some(Instant::now() + time);
    }

    fn is_busy(&self) -> bool {
        self.busy_until.is_some_and(|end| Instant::now() < end)
    }

    fn status_now(&self) -> u8 {
        self.status | if self.is_busy() { status::BUSY } else { 0 }
    }
}

/// An address of three bytes.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)) % CAPACITY
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a command; gives what came back for each byte.
    fn send(flash: &mut Flash, bytes: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        for byte in bytes {
            let bits = (0..8).map(|bit| flash.clock(byte << bit & 0x80 != 0));
            answer.push(bits.fold(0, |byte, bit| byte << 1 | u8::from(bit)));
        }
        flash.deselect();
        answer
    }

    fn wait(flash: &mut Flash) {
        let begun = Instant::now();
        while send(flash, &[0x05, 0])[1] & 1 != 0 {
            assert!(begun.elapsed() < Duration::from_secs(1), "busy for too long");
        }
    }

    #[test]
    fn it_says_who_it_is() {
        let mut flash = Flash::new();
        assert_eq!(send(&mut flash, &[0x9F, 0, 0, 0, 0]), [0xFF, 0xEF, 0x70, 0x18, 0]);
        assert_eq!(send(&mut flash, &[0xAB, 0, 0, 0, 0]), [0xFF, 0xFF, 0xFF, 0xFF, 0x17]);
    }

    #[test]
    fn asleep_it_only_hears_the_command_to_wake() {
        let mut flash = Flash::new();
        send(&mut flash, &[0xB9]);
        assert_eq!(send(&mut flash, &[0x9F, 0, 0, 0]), [0xFF; 4]);
        send(&mut flash, &[0xAB]);
        assert_eq!(send(&mut flash, &[0x9F, 0, 0, 0]), [0xFF, 0xEF, 0x70, 0x18]);
    }

    #[test]
    fn writing_needs_its_enable_clears_bits_and_stays_in_the_page() {
        let mut flash = Flash::new();
        send(&mut flash, &[0x02, 0, 1, 0xFE, 1, 2, 3]);
        assert_eq!(flash.memory()[0x100..0x200], [0xFF; 256]);
        send(&mut flash, &[0x06]);
        send(&mut flash, &[0x02, 0, 1, 0xFE, 1, 2, 3]);
        assert_eq!(send(&mut flash, &[0x05, 0])[1], 1, "busy, and no longer enabled");
        wait(&mut flash);
        assert_eq!((flash.memory()[0x1FE], flash.memory()[0x1FF], flash.memory()[0x100]), (1, 2, 3));
        assert_eq!(flash.memory()[0x200], 0xFF);
        send(&mut flash, &[0x06]);
        send(&mut flash, &[0x02, 0, 1, 0xFE, 2]);
        wait(&mut flash);
        assert_eq!(flash.memory()[0x1FE], 0);
        assert_eq!(send(&mut flash, &[0x03, 0, 1, 0xFE, 0, 0])[4..], [0, 2]);
        assert_eq!(send(&mut flash, &[0x0B, 0, 1, 0xFE, 0, 0, 0])[5..], [0, 2]);
    }

    #[test]
    fn erasing_takes_its_sector_and_nothing_more() {
        let mut flash = Flash::new();
        flash.memory_mut()[..3 * 4096].fill(0);
        send(&mut flash, &[0x06]);
        send(&mut flash, &[0x20, 0, 0x1F, 0xFF]);
        assert_eq!(send(&mut flash, &[0x9F, 0]), [0xFF, 0xFF], "busy");
        wait(&mut flash);
        let zeros = flash.memory()[..3 * 4096].iter().position(|&byte| byte != 0);
        assert_eq!(zeros, Some(4096));
        assert!(flash.memory()[4096..8192].iter().all(|&byte| byte == 0xFF));
        assert!(flash.memory()[8192..12288].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn protected_it_keeps_what_it_has() {
        let mut flash = Flash::new();
        flash.protect(true);
        send(&mut flash, &[0x06]);
        send(&mut flash, &[0x02, 0, 0, 0, 0]);
        assert_eq!(flash.memory()[0], 0xFF);
        send(&mut flash, &[0x06]);
        send(&mut flash, &[0x01, 0]);
        wait(&mut flash);
        send(&mut flash, &[0x06]);
        send(&mut flash, &[0x02, 0, 0, 0, 0]);
        assert_eq!(flash.memory()[0], 0);
    }

    #[test]
    fn a_command_cut_short_within_a_byte_is_none() {
        let mut flash = Flash::new();
        for bit in 0..7 {
            flash.clock(0x06u8 << bit & 0x80 != 0);
        }
        flash.deselect();
        assert_eq!(send(&mut flash, &[0x05, 0])[1], 0);
    }
}
