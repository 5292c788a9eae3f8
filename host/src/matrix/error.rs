//! What can be wrong with a matrix and its file.

use crate::file::{FileError, quoted, shown};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What can be wrong with a matrix file.
#[derive(Debug, Error)]
pub enum MatrixError {
    /// The file cannot be opened.
    #[error("{}: cannot be opened: {source}; check the path", shown(path))]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A pipe, a device or a socket.
    #[error("{}: is not a regular file; give the path of one", shown(path))]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// The file ends before its data begin.
    #[error("{}: is truncated: it ends within its header", shown(path))]
    TruncatedHeader {
        /// The file.
        path: PathBuf,
    },
    /// The file has no npy header.
    #[error("{}: is not a .npy file ({}); write one with numpy.save", shown(path), quoted(reason))]
    NotNpy {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        reason: String,
    },
    /// The array is not two-dimensional.
    #[error("{}: has shape {}, but a matrix has two dimensions; reshape it", shown(path), quoted(&format!("{shape:?}")))]
    Dimensions {
        /// The file.
        path: PathBuf,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// A dimension of length 0.
    #[error("{}: has shape {rows}×{columns}, but both sides must be at least 1", shown(path))]
    Empty {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: u64,
        /// Its columns.
        columns: u64,
    },
    /// An element type that is not taken.
    #[error(
        "{}: has dtype {}, but {elements} are {wanted}; convert it with astype",
        shown(path),
        quoted(dtype)
    )]
    Dtype {
        /// The file.
        path: PathBuf,
        /// Its dtype.
        dtype: String,
        /// What they are.
        elements: String,
        /// The types that would do.
        wanted: &'static str,
    },
    /// More elements than memory may hold.
    #[error(
        "{}: a {rows}×{columns} matrix would take {} of memory, above the limit of {}; raise --memory-limit",
        shown(path), size(*bytes), size(u128::from(*limit))
    )]
    Memory {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: u64,
        /// Its columns.
        columns: u64,
        /// Bytes needed.
        bytes: u128,
        /// Bytes allowed.
        limit: u64,
    },
    /// More elements than there is memory for.
    #[error(
        "{}: a {rows}×{columns} matrix would take {} of memory, more than is free on this machine",
        shown(path), size(*bytes)
    )]
    NoMemory {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: u64,
        /// Its columns.
        columns: u64,
        /// Bytes needed.
        bytes: u128,
    },
    /// The data end early.
    #[error("{}: is truncated: a {rows}×{columns} matrix needs more data than it has", shown(path))]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: u64,
        /// Its columns.
        columns: u64,
    },
    /// The data cannot be read.
    #[error("{}: cannot be read: {source}", shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A value that the operand width cannot hold.
    #[error(
        "{}: row {row}, column {column} is {value}, outside {low}..={high} of {w}-bit operands; choose a larger --w",
        shown(path)
    )]
    Value {
        /// The file.
        path: PathBuf,
        /// Row of the value.
        row: usize,
        /// Column of the value.
        column: usize,
        /// The value.
        value: i32,
        /// Smallest operand.
        low: i32,
        /// Largest operand.
        high: i32,
        /// Operand width of the design.
        w: u32,
    },
    /// A sum that the output type cannot hold.
    #[error("the value at row {row}, column {column} is {value}, beyond {out}; ask for --out-dtype int64")]
    Overflow {
        /// Row of the sum.
        row: usize,
        /// Column of the sum.
        column: usize,
        /// The sum.
        value: i64,
        /// The type that cannot hold it.
        out: &'static str,
    },
    /// The file cannot be written.
    #[error("{}: cannot be written: {source}", shown(path))]
    Write {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: FileError,
    },
}

/// A number of bytes for people.
pub(crate) fn size(bytes: u128) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", units[unit]) }
}
