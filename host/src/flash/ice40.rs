//! Programs iCE40 boards without any other program: the SPI flash that they start from, or the FPGA's own memory.
//!
//! The boards have an FTDI chip whose first port shares the SPI bus with flash and FPGA. While the FPGA is held in reset the
//! bus is free; when it is let go it reads its image from the flash, and raises CDONE when it has one.
//!
//! ```no_run
//! use std::sync::{Arc, atomic::AtomicBool};
//! use systole::discover::Machine;
//! use systole::flash::ice40;
//!
//! let devices = Machine::default().usb_devices();
//! let board = devices.iter().find(|device| !device.boards.is_empty()).ok_or("no board")?;
//! let mut programmer = ice40::open(board, 0, Arc::new(AtomicBool::new(false)))?;
//! programmer.program(0, &std::fs::read("image.bin")?, &mut |_| ())?;
//! programmer.start()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod error;
mod mpsse;

pub use error::FlashError;
pub use mpsse::{Ftdi, Mpsse, MpsseError, open};

use access::Access;
use mpsse::Pins;
use spi_flash::Flash;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

/// What one flash command writes at most.
const PAGE: usize = 256;

/// The smallest piece that can be erased, with its command and the longest that it may take.
const SECTOR: Erase = Erase { bytes: 4 << 10, opcode: 0x20, longest: Duration::from_secs(3) };

/// A larger piece.
const BLOCK: Erase = Erase { bytes: 64 << 10, opcode: 0xD8, longest: Duration::from_secs(10) };

/// Bytes read by one command: with its header it fits the chip's buffers, whichever way is slower.
const READ: usize = 1 << 10;

/// Longest time of writing a page, and of a command that only moves bytes, USB included.
const SHORT: Duration = Duration::from_secs(2);

/// Time that CRESET is held low: 200 ns would do, and the flash wants up to 3 µs after waking.
const RESET: Duration = Duration::from_micros(100);

/// Time that the FPGA clears its memory for, before it takes an image through SPI: 1.2 ms at most.
const CLEARED: Duration = Duration::from_millis(2);

/// Time that the FPGA may take to read an image from flash: 135 KB at the slowest of its clocks take 0.2 s.
const STARTED: Duration = Duration::from_secs(1);

/// How to erase a piece.
struct Erase {
    bytes: usize,
    opcode: u8,
    longest: Duration,
}

/// What a programmer is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading the flash.
    Reading,
    /// Erasing it.
    Erasing,
    /// Writing it.
    Writing,
    /// Reading it back and comparing.
    Verifying,
    /// Writing the FPGA's own memory.
    Loading,
    /// Waiting for the FPGA to start.
    Starting,
}

impl Stage {
    /// The name, as in progress and errors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Erasing => "erasing",
            Self::Writing => "writing",
            Self::Verifying => "verifying",
            Self::Loading => "loading",
            Self::Starting => "starting",
        }
    }
}

/// How far a programmer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// Bytes done.
    pub done: usize,
    /// Bytes to do.
    pub total: usize,
}

/// Told how far a programmer is.
pub type Watch<'a> = &'a mut dyn FnMut(Progress);

/// The flash, by what it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashId {
    /// JEDEC's number of the maker.
    pub maker: u8,
    /// The maker's number of the device.
    pub device: u16,
    /// Bytes it holds.
    pub capacity: usize,
}

/// A board whose FPGA is held in reset while its flash is worked on.
///
/// Dropped, it lets go of all pins, and the FPGA starts from whatever the flash holds.
pub struct Programmer<M: Mpsse = Ftdi> {
    access: Access<M>,
    /// The flash, once it was asked.
    id: Option<FlashId>,
}

impl<M: Mpsse> Programmer<M> {
    /// Holds the FPGA in reset. `cancel` becoming true ends whatever runs.
    ///
    /// # Errors
    /// The chip is gone.
    pub fn new(mpsse: M, cancel: Arc<AtomicBool>) -> Result<Self, FlashError> {
        let mut access = Access::new(mpsse, cancel);
        access.set(Pins { select: false, reset: true })?;
        sleep(RESET);
        Ok(Self { access, id: None })
    }

    /// Wakes the flash, and asks who it is.
    ///
    /// # Errors
    /// No flash answers, or one of unknown size; the chip is gone.
    pub fn id(&mut self) -> Result<FlashId, FlashError> {
        match self.id {
            Some(id) => Ok(id),
            None => Ok(*self.id.insert(identify(&mut self.access)?)),
        }
    }

    /// Reads the flash from `address`.
    ///
    /// # Errors
    /// The range leaves the flash; the chip fails; interrupted.
    pub fn read(&mut self, address: usize, length: usize, watch: Watch) -> Result<Vec<u8>, FlashError> {
        self.pieces(Stage::Reading, address, length, watch)
    }

    /// Erases whole sectors of 4,096 bytes, all that hold some of `length` bytes at `address`; gives what was erased.
    ///
    /// # Errors
    /// The range leaves the flash; the flash stays busy; the chip fails; interrupted.
    pub fn erase(&mut self, address: usize, length: usize, watch: Watch) -> Result<Range<usize>, FlashError> {
        self.check(address, length)?;
        if length == 0 {
            return Ok(address..address);
        }
        let begin = address / SECTOR.bytes * SECTOR.bytes;
        let end = (address + length).next_multiple_of(SECTOR.bytes);
        let mut at = begin;
        while at < end {
            let whole_block = at.is_multiple_of(BLOCK.bytes) && end - at >= BLOCK.bytes;
            let piece = if whole_block { BLOCK } else { SECTOR };
            self.access.begin(Stage::Erasing, at, piece.longest);
            self.flash(|flash| {
                flash.set_erase_size(piece.bytes);
                flash.set_erase_opcode(piece.opcode);
                flash.erase_sectors(at as u32, piece.bytes)
            })?;
            at += piece.bytes;
            watch(Progress { stage: Stage::Erasing, done: at - begin, total: end - begin });
        }
        Ok(begin..end)
    }

    /// Erases, writes and reads back. Nothing outside the sectors of [`Programmer::erase`] is touched.
    ///
    /// # Errors
    /// As [`Programmer::erase`] and [`Programmer::verify`].
    pub fn program(&mut self, address: usize, data: &[u8], watch: Watch) -> Result<(), FlashError> {
        self.erase(address, data.len(), watch)?;
        // Pages begin at multiples of their size, whatever `address` is.
        let mut done = 0;
        while done < data.len() {
            let at = address + done;
            let end = data.len().min(done + PAGE - at % PAGE);
            self.access.begin(Stage::Writing, at, SHORT);
            self.flash(|flash| flash.page_program(at as u32, &data[done..end]))?;
            done = end;
            watch(Progress { stage: Stage::Writing, done, total: data.len() });
        }
        self.verify(address, data, watch)
    }

    /// Compares the flash with what should be in it.
    ///
    /// # Errors
    /// [`FlashError::Differs`] at the first byte that differs; as [`Programmer::read`].
    pub fn verify(&mut self, address: usize, data: &[u8], watch: Watch) -> Result<(), FlashError> {
        let read = self.pieces(Stage::Verifying, address, data.len(), watch)?;
        match data.iter().zip(&read).position(|(wrote, read)| wrote != read) {
            None => Ok(()),
            Some(at) => Err(FlashError::Differs { address: address + at, wrote: data[at], read: read[at] }),
        }
    }

    /// Loads an image into the FPGA's own memory and starts it; the flash keeps what it has. The board must have its FPGA
    /// and not its flash at the end of the programmer's wires.
    ///
    /// # Errors
    /// [`FlashError::NotConfigured`] when CDONE stays low; the chip fails; interrupted.
    pub fn load(&mut self, image: &[u8], watch: Watch) -> Result<(), FlashError> {
        // Selected when its reset ends, the FPGA waits for an image instead of reading one.
        self.access.set(Pins { select: true, reset: true })?;
        sleep(RESET);
        self.access.set(Pins { select: true, reset: false })?;
        sleep(CLEARED);
        let mut done = 0;
        for piece in image.chunks(READ) {
            self.access.begin(Stage::Loading, done, SHORT);
            self.access.shift_out(piece)?;
            done += piece.len();
            watch(Progress { stage: Stage::Loading, done, total: image.len() });
        }
        // It wants 49 clocks more before its pins are the design's.
        self.access.shift_out(&[0; 7])?;
        self.access.set(Pins::RELEASED)?;
        self.wait_for_start(Stage::Loading)
    }

    /// Lets the FPGA go, and waits until it has its image from flash.
    ///
    /// # Errors
    /// [`FlashError::NotConfigured`] when CDONE stays low; the chip fails; interrupted.
    pub fn start(&mut self) -> Result<(), FlashError> {
        self.access.set(Pins { select: false, reset: true })?;
        sleep(RESET);
        self.access.set(Pins::RELEASED)?;
        self.wait_for_start(Stage::Starting)
    }

    fn wait_for_start(&mut self, stage: Stage) -> Result<(), FlashError> {
        self.access.begin(stage, 0, STARTED);
        while !self.access.configured()? {
            if self.access.is_over() {
                return Err(FlashError::NotConfigured { waited: STARTED });
            }
            sleep(CLEARED);
        }
        Ok(())
    }

    fn pieces(
        &mut self,
        stage: Stage,
        from: usize,
        length: usize,
        watch: Watch,
    ) -> Result<Vec<u8>, FlashError> {
        self.check(from, length)?;
        let mut data = Vec::with_capacity(length);
        while data.len() < length {
            let (at, piece) = (from + data.len(), READ.min(length - data.len()));
            self.access.begin(stage, at, SHORT);
            data.extend(self.flash(|flash| flash.legacy_read(at as u32, piece))?);
            watch(Progress { stage, done: data.len(), total: length });
        }
        Ok(data)
    }

    /// Runs commands of the flash; of what fails, the reason is the wires'.
    fn flash<T>(
        &mut self,
        run: impl FnOnce(&mut Flash<Access<M>>) -> spi_flash::Result<T>,
    ) -> Result<T, FlashError> {
        let capacity = self.id()?.capacity;
        let mut flash = Flash::new(&mut self.access);
        flash.set_capacity(capacity);
        flash.set_page_size(PAGE);
        let done = run(&mut flash);
        done.map_err(|error| self.access.reason(error))
    }

    fn check(&mut self, address: usize, length: usize) -> Result<(), FlashError> {
        let capacity = self.id()?.capacity;
        if address <= capacity && length <= capacity - address {
            return Ok(());
        }
        Err(FlashError::Range { address, length, capacity })
    }
}

/// Wakes the flash and asks who it is.
fn identify<M: Mpsse>(access: &mut Access<M>) -> Result<FlashId, FlashError> {
    access.begin(Stage::Reading, 0, SHORT);
    let mut flash = Flash::new(access);
    let answer = flash.release_power_down().and_then(|_| flash.read_jedec_id());
    let (_, maker, device) = answer.map_err(|error| access.reason(error))?;
    if maker == 0 || maker == 0xFF {
        return Err(FlashError::NoFlash);
    }
    // The last byte is the logarithm of the size, and three bytes of address reach 16 MiB.
    match device & 0xFF {
        log @ 16..=24 => Ok(FlashId { maker, device, capacity: 1 << log }),
        _ => Err(FlashError::UnknownFlash { maker, device }),
    }
}
