//! The boards that Systole's images are made for, as data: a TOML file a board, checked when it is read.
//!
//! The files are part of the program, so that it runs from anywhere. A new board is one file in `boards/data` and its
//! line in the list below.
//!
//! ```
//! let board = systole_boards::find("icebreaker")?;
//! assert_eq!((board.fpga.device.as_str(), board.clock.hz), ("up5k", 12_000_000));
//! assert_eq!((board.uart.rx.at.as_str(), board.uart.tx.at.as_str()), ("6", "9"));
//! # Ok::<(), systole_boards::FindError>(())
//! ```

mod board;
mod check;
pub mod device;
mod error;
mod file;
pub mod udev;

pub use board::{
    Board, Clock, Fact, Fpga, Largest, Leds, Level, Memory, Pin, Pll, Program, Programmer, Pull, Source,
    Standard, Tie, TieLevel, Uart, Usb,
};
pub use error::{BoardError, FindError};
pub use file::read;

use std::sync::LazyLock;

/// The board files, by name.
const FILES: &[(&str, &str)] = &[
    ("alchitry-cu.toml", include_str!("../data/alchitry-cu.toml")),
    ("ecp5-evn.toml", include_str!("../data/ecp5-evn.toml")),
    ("hx8k-b-evn.toml", include_str!("../data/hx8k-b-evn.toml")),
    ("icebreaker.toml", include_str!("../data/icebreaker.toml")),
    ("tang-nano-9k.toml", include_str!("../data/tang-nano-9k.toml")),
    ("ulx3s.toml", include_str!("../data/ulx3s.toml")),
];

/// Boards that no image fits, by name, and how that is known: by `systole build` for the same kind of cells,
/// `--board hx8k-b-evn --n 1 --w 2 --aw 4 --k-max 1 --job-bits 1 --a-depth 1 --b-depth 1 --fifo 64 --no-injection`.
const EXCLUDED: [(&str, &str); 1] =
    [("icestick", "the smallest, one PE of 2-bit operands, takes 1,950 logic cells, and it has 1,280")];

/// Every board, by name.
///
/// # Errors
/// The first thing that is wrong with the first file that has something wrong with it.
pub fn all() -> Result<&'static [Board], BoardError> {
    static BOARDS: LazyLock<Result<Vec<Board>, BoardError>> = LazyLock::new(|| {
        let files: Result<Vec<_>, _> = FILES.iter().map(|(name, text)| read(name, text)).collect();
        Ok(files?.concat())
    });
    BOARDS.as_deref().map_err(Clone::clone)
}

/// The board of that name, in whatever case.
///
/// # Errors
/// No board of that name: the likely ones, and all of them; a board that no image fits; or what [`all`] says.
pub fn find(name: &str) -> Result<&'static Board, FindError> {
    let boards = all()?;
    let lower = name.to_lowercase();
    if let Some(board) = boards.iter().find(|board| board.name == lower) {
        return Ok(board);
    }
    if let Some((name, reason)) = EXCLUDED.into_iter().find(|(name, _)| *name == lower) {
        return Err(FindError::Excluded { name, reason });
    }
    // Alike enough for a slip of the keyboard or two; the start of a name stands for all that begin so.
    let likeness =
        |known: &str| if known.starts_with(&lower) { 1.0 } else { strsim::jaro_winkler(known, &lower) };
    let mut near: Vec<_> = boards.iter().map(|board| (likeness(&board.name), board.name.as_str())).collect();
    near.retain(|(likeness, _)| *likeness > 0.8 && !lower.is_empty());
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    Err(FindError::Unknown {
        name: name.to_owned(),
        near: near.into_iter().map(|(_, name)| name).collect(),
        known: boards.iter().map(|board| board.name.as_str()).collect(),
    })
}
