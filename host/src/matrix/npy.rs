//! Matrices in numpy's `.npy` files.
//!
//! Either byte order and either array order is read without loss.

use super::{Matrix, MatrixError, Operands, operand_range};
use crate::file::{self, FileError};
use crate::memory;
use npyz::{Deserialize, NpyFile, NpyHeader, Order, WriterBuilder};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;

/// The first bytes of every `.npy` file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Bytes before the header's text: the magic, two of version and two or four of length.
const BEFORE_TEXT: u64 = 10;

/// Reads operands of `w` bits: int8, and int16 where `w` is above 8.
///
/// # Errors
/// Everything that can be wrong with the file, by its name; `limit` is the most memory in bytes it may take.
pub fn read(path: &Path, w: u32, limit: u64) -> Result<Operands, MatrixError> {
    let file = Opened::new(path, size_of::<i32>(), limit)?;
    let matrix = match file.dtype.as_str() {
        "|i1" | "<i1" | ">i1" => file.read::<i8, _>()?,
        "<i2" | ">i2" if w > 8 => file.read::<i16, _>()?,
        _ => {
            let wanted = if w > 8 { "int8 or int16" } else { "int8" };
            return Err(file.wrong_type(format!("operands of {w} bits"), wanted));
        }
    };
    check_values(path, matrix, w)
}

/// Reads whole numbers of up to 64 bits.
///
/// # Errors
/// See [`read`].
pub fn read_whole(path: &Path, limit: u64) -> Result<Matrix<i64>, MatrixError> {
    let file = Opened::new(path, size_of::<i64>(), limit)?;
    match file.dtype.as_str() {
        "|i1" | "<i1" | ">i1" => file.read::<i8, _>(),
        "<i2" | ">i2" => file.read::<i16, _>(),
        "<i4" | ">i4" => file.read::<i32, _>(),
        "<i8" | ">i8" => file.read::<i64, _>(),
        _ => Err(file.wrong_type("sums".to_owned(), "int64, int32, int16 or int8")),
    }
}

/// Reads floats, 4 or 8 bytes wide: as they are, or from types of which they hold every number.
///
/// # Errors
/// See [`read`]. No float64 is read where float32 are wanted.
pub fn read_floats<T>(path: &Path, limit: u64) -> Result<Matrix<T>, MatrixError>
where
    T: Deserialize + From<f32> + From<i16> + From<i8> + Copy + Default,
{
    let file = Opened::new(path, size_of::<T>(), limit)?;
    let double = size_of::<T>() == size_of::<f64>();
    match file.dtype.as_str() {
        "<f8" | ">f8" if double => file.read::<T, T>(),
        "<f4" | ">f4" => file.read::<f32, T>(),
        "|i1" | "<i1" | ">i1" => file.read::<i8, T>(),
        "<i2" | ">i2" => file.read::<i16, T>(),
        _ => {
            let wanted = if double { "float64, float32, int16 or int8" } else { "float32, int16 or int8" };
            Err(file.wrong_type(format!("floats of {} bits", 8 * size_of::<T>()), wanted))
        }
    }
}

/// A file whose header has been read.
struct Opened<'a> {
    path: &'a Path,
    rows: u64,
    columns: u64,
    order: Order,
    dtype: String,
    /// Bytes of the whole file.
    length: u64,
    npy: NpyFile<BufReader<File>>,
}

impl<'a> Opened<'a> {
    /// Opens a file of which every element is going to take so many bytes.
    fn new(path: &'a Path, element: usize, limit: u64) -> Result<Self, MatrixError> {
        let owned = || path.to_owned();
        let open = |source| MatrixError::Open { path: owned(), source };
        let metadata = file::regular(path).map_err(|error| match error {
            FileError::System(source) => open(source),
            _ => MatrixError::NotRegular { path: owned() },
        })?;
        let mut reader = BufReader::new(File::open(path).map_err(open)?);
        let begun = reader.fill_buf().map_err(open)?.iter().zip(MAGIC).all(|(byte, magic)| byte == magic);
        let header = NpyHeader::from_reader(&mut reader).map_err(|source| {
            let ended = source.kind() == ErrorKind::UnexpectedEof || metadata.len() < BEFORE_TEXT;
            match begun && ended {
                true => MatrixError::TruncatedHeader { path: owned() },
                // The parser goes on to draw the place, on lines of its own.
                false => {
                    let reason = source.to_string().lines().next().unwrap_or_default().to_owned();
                    MatrixError::NotNpy { path: owned(), reason }
                }
            }
        })?;
        let &[rows, columns] = header.shape() else {
            return Err(MatrixError::Dimensions { path: owned(), shape: header.shape().to_vec() });
        };
        if rows == 0 || columns == 0 {
            return Err(MatrixError::Empty { path: owned(), rows, columns });
        }
        let bytes = u128::from(rows) * u128::from(columns) * element as u128;
        if bytes > u128::from(limit) {
            return Err(MatrixError::Memory { path: owned(), rows, columns, bytes, limit });
        }
        Ok(Self {
            path,
            rows,
            columns,
            order: header.order(),
            dtype: header.dtype().descr().trim_matches('\'').to_owned(),
            length: metadata.len(),
            npy: NpyFile::with_header(header, reader),
        })
    }

    fn wrong_type(&self, elements: String, wanted: &'static str) -> MatrixError {
        MatrixError::Dtype { path: self.path.to_owned(), dtype: self.dtype.clone(), elements, wanted }
    }

    /// Reads elements of type `T` as elements of type `E`.
    fn read<T: Deserialize + Into<E>, E: Copy + Default>(self) -> Result<Matrix<E>, MatrixError> {
        let (path, rows, columns) = (self.path.to_owned(), self.rows, self.columns);
        let count = u128::from(rows) * u128::from(columns);
        if u128::from(self.length) < count * size_of::<T>() as u128 {
            return Err(MatrixError::Truncated { path, rows, columns });
        }
        // As they are read, and as they are kept.
        let bytes = count * (size_of::<T>() + size_of::<E>()) as u128;
        if !memory::is_there(bytes) {
            return Err(MatrixError::NoMemory { path, rows, columns, bytes });
        }
        let values: io::Result<Vec<T>> = self.npy.into_vec();
        let values: Vec<E> = match values {
            Ok(values) => values.into_iter().map(Into::into).collect(),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err(MatrixError::Truncated { path, rows, columns });
            }
            Err(source) => return Err(MatrixError::Read { path, source }),
        };
        Ok(match self.order {
            Order::C => Matrix::new(rows as usize, columns as usize, values),
            Order::Fortran => transposed(&Matrix::new(columns as usize, rows as usize, values)),
        })
    }
}

fn transposed<T: Copy + Default>(matrix: &Matrix<T>) -> Matrix<T> {
    let columns = (0..matrix.columns()).flat_map(|column| (0..matrix.rows()).map(move |row| (row, column)));
    let values = columns.map(|(row, column)| matrix.row(row)[column]).collect();
    Matrix::new(matrix.columns(), matrix.rows(), values)
}

fn check_values(path: &Path, matrix: Operands, w: u32) -> Result<Operands, MatrixError> {
    let (low, high) = operand_range(w);
    match matrix.values().iter().position(|value| !(low..=high).contains(value)) {
        None => Ok(matrix),
        Some(i) => {
            let (row, column, value) = (i / matrix.columns(), i % matrix.columns(), matrix.values()[i]);
            Err(MatrixError::Value { path: path.to_owned(), row, column, value, low, high, w })
        }
    }
}

/// Element type of a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutType {
    /// One byte: operands of up to 8 bits.
    Int8,
    /// Two bytes: operands of up to 16 bits.
    Int16,
    /// Four bytes: results.
    Int32,
    /// Eight bytes: results beyond int32.
    Int64,
}

impl OutType {
    /// numpy's name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
        }
    }

    fn holds(self, value: i64) -> bool {
        match self {
            Self::Int8 => i8::try_from(value).is_ok(),
            Self::Int16 => i16::try_from(value).is_ok(),
            Self::Int32 => i32::try_from(value).is_ok(),
            Self::Int64 => true,
        }
    }

    /// The narrowest type that holds operands of `w` bits.
    pub const fn of_operands(w: u32) -> Self {
        if w > 8 { Self::Int16 } else { Self::Int8 }
    }
}

/// Checks that a type holds every value of a matrix.
///
/// # Errors
/// [`MatrixError::Overflow`], naming the first cell that it cannot hold.
pub fn check_fits<T>(matrix: &Matrix<T>, out: OutType) -> Result<(), MatrixError>
where
    T: Copy + Default + Into<i64>,
{
    match matrix.values().iter().position(|&value| !out.holds(value.into())) {
        None => Ok(()),
        Some(i) => {
            let (row, column) = (i / matrix.columns(), i % matrix.columns());
            Err(MatrixError::Overflow { row, column, value: matrix.values()[i].into(), out: out.name() })
        }
    }
}

/// Writes a matrix in C order and the machine's byte order.
///
/// # Errors
/// [`MatrixError::Overflow`] when a value does not fit the type; [`MatrixError::Write`] when any step fails. Either
/// way a file that was there before is still there, unchanged.
pub fn write<T>(path: &Path, matrix: &Matrix<T>, out: OutType) -> Result<(), MatrixError>
where
    T: Copy + Default + Into<i64>,
{
    check_fits(matrix, out)?;
    file::replace(path, |file| save_as(file, matrix, out))
        .map_err(|source| MatrixError::Write { path: path.to_owned(), source })
}

/// Finds out, before any work is done, whether [`write()`] could write to a path.
///
/// # Errors
/// [`MatrixError::Write`].
pub fn check_writable(path: &Path) -> Result<(), MatrixError> {
    file::check(path).map_err(|source| MatrixError::Write { path: path.to_owned(), source })
}

fn save_as<T>(file: &mut File, matrix: &Matrix<T>, out: OutType) -> io::Result<()>
where
    T: Copy + Default + Into<i64>,
{
    let values = matrix.values().iter().map(|&value| value.into());
    let shape = [matrix.rows() as u64, matrix.columns() as u64];
    let mut buffer = BufWriter::new(file);
    match out {
        OutType::Int8 => save(&mut buffer, &shape, values.map(|x| x as i8)),
        OutType::Int16 => save(&mut buffer, &shape, values.map(|x| x as i16)),
        OutType::Int32 => save(&mut buffer, &shape, values.map(|x| x as i32)),
        OutType::Int64 => save(&mut buffer, &shape, values),
    }?;
    buffer.flush()
}

fn save<T: npyz::AutoSerialize>(
    to: impl Write,
    shape: &[u64],
    values: impl Iterator<Item = T>,
) -> io::Result<()> {
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(shape).writer(to).begin_nd()?;
    writer.extend(values)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numpy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let order = if fortran { "True" } else { "False" };
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}), }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.bytes());
        file.extend(data);
        file
    }

    fn read_bytes(bytes: &[u8], w: u32) -> Result<Operands, String> {
        read_with(bytes, |path| read(path, w, 1 << 20))
    }

    fn read_with<T>(
        bytes: &[u8],
        read: impl FnOnce(&Path) -> Result<Matrix<T>, MatrixError>,
    ) -> Result<Matrix<T>, String> {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        std::fs::write(file.path(), bytes).expect("written");
        read(file.path()).map_err(|error| {
            let text = error.to_string();
            let name = file.path().display().to_string();
            assert!(text.starts_with(&name), "the error names the file: {text}");
            text[name.len()..].to_owned()
        })
    }

    #[test]
    fn every_order_and_byte_order_is_read() {
        let expected = Matrix::new(2, 3, vec![1, 2, 3, -4, -5, 6]);
        let rows = [1, 2, 3, 0xFC, 0xFB, 6];
        let columns = [1, 0xFC, 2, 0xFB, 3, 6];
        assert_eq!(read_bytes(&numpy("|i1", false, "2, 3", &rows), 8), Ok(expected.clone()));
        assert_eq!(read_bytes(&numpy("|i1", true, "2, 3", &columns), 8), Ok(expected));
        let expected = Matrix::new(1, 2, vec![0x0102, -2]);
        assert_eq!(read_bytes(&numpy(">i2", false, "1, 2", &[1, 2, 0xFF, 0xFE]), 16), Ok(expected.clone()));
        assert_eq!(read_bytes(&numpy("<i2", false, "1, 2", &[2, 1, 0xFE, 0xFF]), 16), Ok(expected));
    }

    #[test]
    fn floats_are_read_without_loss() {
        let read_f32 = |bytes: &[u8]| read_with(bytes, |path| read_floats::<f32>(path, 64));
        let read_f64 = |bytes: &[u8]| read_with(bytes, |path| read_floats::<f64>(path, 64));
        // 1.5, −0 and infinity; down the columns, so that the order counts too.
        let single = [0, 0, 0xC0, 0x3F, 0, 0, 0, 0x80, 0, 0, 0x80, 0x7F, 0, 0, 0xC0, 0xBF];
        let values = read_f32(&numpy("<f4", true, "2, 2", &single)).expect("floats");
        assert_eq!(values.values(), [1.5, f32::INFINITY, -0.0, -1.5]);
        let wide = read_f64(&numpy("<f4", true, "2, 2", &single)).expect("floats");
        assert_eq!(wide.values(), [1.5, f64::INFINITY, -0.0, -1.5]);
        let double = [0x3F, 0xB9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A];
        let tenth = numpy(">f8", false, "1, 1", &double);
        assert_eq!(read_f64(&tenth).expect("a float").values(), [0.1]);
        let loss = read_f32(&tenth).expect_err("no float32 is one tenth as float64 has it");
        let text =
            ": has dtype >f8, but floats of 32 bits are float32, int16 or int8; convert it with astype";
        assert_eq!(loss, text);
        assert_eq!(read_f32(&numpy(">i2", false, "1, 1", &[0x80, 0])).expect("a float").values(), [-32768.0]);
        assert_eq!(read_f64(&numpy("|i1", false, "1, 1", &[0xFF])).expect("a float").values(), [-1.0]);
        let error = read_f64(&numpy("<c8", false, "1, 1", &[0; 8])).expect_err("a complex number");
        assert!(error.contains("but floats of 64 bits are float64, float32, int16 or int8"), "{error}");
        let large = read_f64(&numpy("<f8", false, "3, 3", &[0; 72])).expect_err("above 64 bytes");
        assert!(large.starts_with(": a 3×3 matrix would take 72 bytes"), "{large}");
        let short = read_f64(&numpy("<f8", false, "1, 2", &[0; 15])).expect_err("a byte is missing");
        assert!(short.contains("is truncated"), "{short}");
    }

    #[test]
    fn bad_files_are_named_with_what_to_do() {
        let cases: [(Vec<u8>, u32, &str); 9] = [
            (numpy("<f8", false, "1, 1", &[0; 8]), 8, ": has dtype <f8, but operands of 8 bits are int8;"),
            (numpy("<i2", false, "1, 1", &[0; 2]), 8, ": has dtype <i2, but operands of 8 bits are int8;"),
            (
                numpy("<i4", false, "1, 1", &[0; 4]),
                16,
                ": has dtype <i4, but operands of 16 bits are int8 or",
            ),
            (numpy("|i1", false, "3,", &[0; 3]), 8, ": has shape [3], but a matrix has two dimensions"),
            (numpy("|i1", false, "0, 4", &[]), 8, ": has shape 0×4, but both sides must be at least 1"),
            (numpy("|i1", false, "2, 2", &[0; 3]), 8, ": is truncated: a 2×2 matrix needs more data"),
            (
                numpy("|i1", false, "1, 2", &[0, 8]),
                4,
                ": row 0, column 1 is 8, outside -8..=7 of 4-bit operands",
            ),
            (
                numpy("|i1", false, "4294967296, 4294967296", &[]),
                8,
                ": a 4294967296×4294967296 matrix would take",
            ),
            (b"hello, this is text".to_vec(), 8, ": is not a .npy file"),
        ];
        for (bytes, w, text) in cases {
            let error = read_bytes(&bytes, w).expect_err(text);
            assert!(error.starts_with(text), "{error}");
        }
        let error = read(Path::new("/nonexistent/a.npy"), 8, 1).expect_err("missing").to_string();
        assert!(error.starts_with("/nonexistent/a.npy: cannot be opened"), "{error}");
        let error = read(Path::new("/"), 8, 1).expect_err("a directory").to_string();
        assert!(error.starts_with("/: cannot be opened"), "{error}");
    }

    #[test]
    fn written_files_hold_the_bytes_numpy_expects() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let path = directory.path().join("c.npy");
        let sums = Matrix::new(1, 2, vec![-2i64, 1 << 20]);
        write(&path, &sums, OutType::Int32).expect("written");
        let bytes = std::fs::read(&path).expect("read back");
        assert!(bytes.starts_with(b"\x93NUMPY"));
        assert_eq!(bytes[bytes.len() - 8..], [0xFE, 0xFF, 0xFF, 0xFF, 0, 0, 0x10, 0]);
        let header = String::from_utf8_lossy(&bytes);
        assert!(header.contains("'<i4'") && header.contains("(1, 2"), "{header}");
    }

    #[test]
    fn a_file_that_cannot_be_written_stays_as_it_was() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let path = directory.path().join("c.npy");
        std::fs::write(&path, "before").expect("written");
        let beyond = Matrix::new(1, 2, vec![0, i64::from(i32::MAX) + 1]);
        let error = write(&path, &beyond, OutType::Int32).expect_err("beyond int32").to_string();
        assert!(error.starts_with("the value at row 0, column 1 is 2147483648, beyond int32"), "{error}");
        assert_eq!(std::fs::read(&path).expect("read back"), b"before");
        let error = write(directory.path(), &beyond, OutType::Int64).expect_err("a directory").to_string();
        assert!(error.contains("cannot be written"), "{error}");
        let names: Vec<_> = std::fs::read_dir(directory.path()).expect("listed").collect();
        assert_eq!(names.len(), 1, "no temporary file is left");
    }
}
