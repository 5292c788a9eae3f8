//! Which of the USB chips that are attached is the board's, and which memory is written.

use crate::discover::{Machine, UsbDevice};
use systole_boards::{Board, Memory, device::Family};
use systole_firmware::image::{self, ImageError};
use thiserror::Error;

/// Bytes that are erased at a time.
pub const SECTOR: usize = 4 << 10;

/// Why there is nothing to write to.
#[derive(Debug, Error)]
pub enum TargetError {
    /// No such chip is attached.
    #[error(
        "no {board} is attached: there is no USB chip {wanted}; plug it in, or name its chip by --serial. {}",
        there(.attached)
    )]
    Absent {
        /// The board.
        board: String,
        /// What was looked for.
        wanted: String,
        /// What there is instead.
        attached: Vec<String>,
    },
    /// Several are.
    #[error("several chips may be the {board}'s; name one by its serial number:{}", list(.candidates))]
    Several {
        /// The board.
        board: String,
        /// Those that fit.
        candidates: Vec<String>,
    },
    /// A file that is no image for the board.
    #[error("{file}: {source}; nothing was written. `systole build --board {board}` makes one for it")]
    NoImage {
        /// The file.
        file: String,
        /// The board.
        board: String,
        /// What is wrong with it.
        source: ImageError,
    },
    /// The board has another memory only.
    #[error("an image for {board} cannot be kept in {memory}, only in {only}")]
    NoMemory {
        /// The board.
        board: String,
        /// What was asked for.
        memory: &'static str,
        /// What there is.
        only: String,
    },
}

fn there(chips: &[String]) -> String {
    if chips.is_empty() {
        "No USB device is attached".to_owned()
    } else {
        format!("Attached:{}", list(chips))
    }
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

/// The one USB chip that is the board's. Boards of other kinds have chips with the same ids, so that it must also say the
/// right name of itself, unless the user gave its serial number.
///
/// # Errors
/// None is, or several: with the candidates.
pub fn device(machine: &Machine, board: &Board, serial: Option<&str>) -> Result<UsbDevice, TargetError> {
    let ids = (board.usb.vid, board.usb.pid);
    let all = machine.usb_devices();
    let meant = |device: &&UsbDevice| match serial {
        Some(serial) => (device.vid, device.pid) == ids && device.serial.as_deref() == Some(serial),
        None => device.boards.iter().any(|known| known.name == board.name),
    };
    let fitting: Vec<&UsbDevice> = all.iter().filter(meant).collect();
    match fitting[..] {
        [device] => Ok(device.clone()),
        [] => Err(TargetError::Absent {
            board: board.name.clone(),
            wanted: serial.map_or_else(
                || format!("{:04x}:{:04x} named {}", ids.0, ids.1, board.usb.products.join(" or ")),
                |serial| format!("{:04x}:{:04x} with serial number {serial}", ids.0, ids.1),
            ),
            attached: all.iter().map(described).collect(),
        }),
        _ => Err(TargetError::Several {
            board: board.name.clone(),
            candidates: fitting.into_iter().map(described).collect(),
        }),
    }
}

/// A chip, for people.
fn described(device: &UsbDevice) -> String {
    let serial =
        device.serial.as_ref().map_or("no serial number".to_owned(), |serial| format!("--serial {serial}"));
    let product = device.product.as_deref().unwrap_or("no name");
    format!("{:04x}:{:04x}, {product}, {serial}, at {}", device.vid, device.pid, device.path.display())
}

/// Where the image goes: where the user says, else where the board file does.
///
/// # Errors
/// The board has no such memory.
pub fn memory(board: &Board, asked: Option<Memory>) -> Result<Memory, TargetError> {
    let memory = asked.unwrap_or(board.program.memory);
    if board.program.memories.contains(&memory) {
        return Ok(memory);
    }
    let only = board.program.memories.iter().map(|memory| memory.name()).collect::<Vec<_>>().join(", ");
    Err(TargetError::NoMemory { board: board.name.clone(), memory: memory.name(), only })
}

/// Looks whether a file is an image for the board, before anything is lost for it; gives its comments.
///
/// # Errors
/// It is empty, no image, was cut off or damaged, or is for another FPGA.
pub fn image(board: &Board, file: &str, bytes: &[u8]) -> Result<Vec<String>, TargetError> {
    image::check(&board.fpga, bytes).map_err(|source| TargetError::NoImage {
        file: file.to_owned(),
        board: board.name.clone(),
        source,
    })
}

/// What of a flash an image takes, in bytes from its beginning: whole sectors.
pub fn taken(image: usize) -> usize {
    image.next_multiple_of(SECTOR)
}

/// What happens to what is in the memories, for people.
pub fn overwritten(board: &Board, memory: Memory, image: usize) -> String {
    match memory {
        Memory::Sram => {
            "the FPGA's own memory is overwritten and forgets when the power goes; the flash keeps what it \
                         has and is started from at the next power-up"
                .to_owned()
        }
        Memory::Flash if board.fpga.family != Family::Ice40 => {
            "the flash is overwritten from its beginning; the board starts from it at every power-up"
                .to_owned()
        }
        Memory::Flash => format!(
            "the first {} bytes of the flash are overwritten ({} sectors of 4 KiB); the board starts from them at every \
             power-up",
            taken(image),
            taken(image) / SECTOR
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::made::Made;
    use systole_boards::find;

    fn icebreaker() -> &'static Board {
        find("icebreaker").expect("known")
    }

    #[test]
    fn the_board_is_told_from_others_with_its_ids() {
        let made = Made::new();
        let board = icebreaker();
        let none = device(&made.machine(), board, None).expect_err("nothing is attached").to_string();
        assert!(
            none.starts_with(
                "no icebreaker is attached: there is no USB chip 0403:6010 named iCEBreaker or "
            ),
            "{none}"
        );
        assert!(none.ends_with("No USB device is attached"), "{none}");
        made.usb("devices/pci0/usb1/1-1", 5, "0403:6010", "JTAG Debugger", "nano");
        let other = device(&made.machine(), board, None).expect_err("another board").to_string();
        assert!(other.contains("0403:6010, JTAG Debugger, --serial nano, at "), "{other}");
        assert_eq!(device(&made.machine(), board, Some("nano")).expect("as it was named").address, 5);
        made.usb("devices/pci0/usb1/1-2", 6, "0403:6010", "iCEBreaker V1.0e", "ib1");
        assert_eq!(device(&made.machine(), board, None).expect("the one").address, 6);
    }

    #[test]
    fn row_19_several_boards_are_an_error_with_all_of_them() {
        let made = Made::new();
        for (place, serial) in [(6, "ib1"), (7, "ib2")] {
            made.usb(&format!("devices/pci0/usb1/1-{place}"), place, "0403:6010", "iCEBreaker V1.0e", serial);
        }
        let error = device(&made.machine(), icebreaker(), None).expect_err("two").to_string();
        assert!(error.contains("--serial ib1, at ") && error.contains("--serial ib2, at "), "{error}");
        assert_eq!(device(&made.machine(), icebreaker(), Some("ib2")).expect("named").address, 7);
        assert!(device(&made.machine(), icebreaker(), Some("ib3")).is_err());
    }

    #[test]
    fn the_memory_is_the_boards_unless_asked_otherwise() {
        let name = |board, asked| memory(find(board).expect("known"), asked).map(Memory::name);
        assert_eq!(name("icebreaker", None).ok(), Some("flash"));
        assert_eq!(name("ulx3s-12f", None).ok(), Some("sram"));
        assert_eq!(name("ulx3s-12f", Some(Memory::Flash)).ok(), Some("flash"));
        let error = name("icebreaker", Some(Memory::Sram)).expect_err("it has none").to_string();
        assert_eq!(error, "an image for icebreaker cannot be kept in sram, only in flash");
    }

    #[test]
    fn what_is_overwritten_is_said_in_whole_sectors() {
        assert_eq!((taken(0), taken(1), taken(4096), taken(104_090)), (0, 4096, 4096, 106_496));
        let text = overwritten(icebreaker(), Memory::Flash, 104_090);
        assert!(
            text.starts_with("the first 106496 bytes of the flash are overwritten (26 sectors of 4 KiB)"),
            "{text}"
        );
        assert!(overwritten(icebreaker(), Memory::Sram, 1).contains("the flash keeps what it has"));
    }
}
