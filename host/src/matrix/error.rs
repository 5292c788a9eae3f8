//! What can be wrong with a matrix and its file.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What can be wrong with a matrix file.
#[derive(Debug, Error)]
pub enum MatrixError {
    /// The file cannot be opened.
    #[error("{}: cannot be opened: {source}; check the path", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file has no npy header.
    #[error("{}: is not a .npy file ({source}); write one with numpy.save", path.display())]
    NotNpy {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        source: io::Error,
    },
    /// The array is not two-dimensional.
    #[error("{}: has shape {shape:?}, but a matrix has two dimensions; reshape it", path.display())]
    Dimensions {
        /// The file.
        path: PathBuf,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// A dimension of length 0.
    #[error("{}: has shape {rows}×{columns}, but both sides must be at least 1", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: u64,
        /// Its columns.
        columns: u64,
    },
    /// An element type that operands cannot have.
    #[error(
        "{}: has dtype {dtype}, but operands of {w} bits are {wanted}; convert it with astype", path.display()
    )]
    Dtype {
        /// The file.
        path: PathBuf,
        /// Its dtype.
        dtype: String,
        /// Operand width of the design.
        w: u32,
        /// The types that would do.
        wanted: &'static str,
    },
    /// More elements than memory may hold.
    #[error(
        "{}: a {rows}×{columns} matrix would take {} of memory, above the limit of {}; raise --memory-limit",
        path.display(), size(*bytes), size(u128::from(*limit))
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
    /// The data end early.
    #[error("{}: is truncated: a {rows}×{columns} matrix needs more data than it has", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: u64,
        /// Its columns.
        columns: u64,
    },
    /// The data cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A value that the operand width cannot hold.
    #[error(
        "{}: row {row}, column {column} is {value}, outside {low}..={high} of {w}-bit operands; choose a larger --w",
        path.display()
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
    #[error("{}: cannot be written: {source}; check the directory and its permissions", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
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
