//! What enters an array: streams from files or from the command line, and the streams of a product.

use crate::error::Error;
use crate::file::quoted;
use crate::matrix::{self, Matrix, MatrixError, size};
use std::io::{self, Read};
use std::path::Path;

/// Streams of one side, lane after lane; every lane has as many entries, `None` being no token.
pub(super) type Lanes<T> = Vec<Vec<Option<T>>>;

/// Bits of a whole number.
const WIDTH: u32 = 16;

/// What a stream may consist of.
pub(super) trait Entry: Copy + Default {
    /// A sum of products of them, as it is given to start from.
    type Start: Entry;

    /// What its text must be.
    const WHAT: &'static str;

    /// Reads it.
    fn parse(text: &str) -> Option<Self>;

    /// Reads a .npy file of them.
    fn npy(path: &Path, limit: u64) -> Result<Matrix<Self>, MatrixError>;
}

impl Entry for i64 {
    type Start = Self;

    const WHAT: &'static str = "a whole number of 64 bits";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn npy(path: &Path, limit: u64) -> Result<Matrix<Self>, MatrixError> {
        matrix::read_whole(path, limit)
    }
}

impl Entry for i32 {
    type Start = i64;

    const WHAT: &'static str = "a whole number of 16 bits";

    fn parse(text: &str) -> Option<Self> {
        text.parse::<i16>().ok().map(Self::from)
    }

    fn npy(path: &Path, limit: u64) -> Result<Matrix<Self>, MatrixError> {
        matrix::read(path, WIDTH, limit)
    }
}

macro_rules! floats {
    ($($float:ty),*) => { $(
        impl Entry for $float {
            type Start = Self;

            const WHAT: &'static str = "a number";

            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn npy(path: &Path, limit: u64) -> Result<Matrix<Self>, MatrixError> {
                matrix::read_floats(path, limit)
            }
        }
    )* };
}

floats!(f32, f64);

/// What stands between the brackets of streams that are given as an argument.
fn inline(name: &str) -> Option<&str> {
    name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
}

/// Whether streams are given as an argument, and not as a file.
pub(super) fn is_inline(name: &str) -> bool {
    inline(name).is_some()
}

/// Reads a matrix or the streams of a side: `[1,2;3,4]` with lanes between semicolons, a .npy file (of floats where
/// the PE takes them), or a .csv file with a lane a line. An empty entry is no token.
///
/// # Errors
/// A file that cannot be read; an entry that is no number; lanes of different lengths; no lanes or no entries.
pub(super) fn read<T: Entry>(name: &str, limit: u64) -> anyhow::Result<Lanes<T>> {
    let path = Path::new(name);
    let lanes = if let Some(text) = inline(name) {
        parse(name, text.split(';').skip(usize::from(text.trim().is_empty())))?
    } else if path.extension().is_some_and(|extension| extension == "npy") {
        let matrix = T::npy(path, limit).map_err(Error::from)?;
        (0..matrix.rows()).map(|row| matrix.row(row).iter().copied().map(Some).collect()).collect()
    } else {
        // What follows the last lane of a file is none.
        parse(name, text(name, limit)?.trim_end().lines())?
    };
    let Some(first) = lanes.first().map(Vec::len).filter(|&entries| entries > 0) else {
        return Err(Error::Arguments(format!("{name}: has no entries: give a lane a line")).into());
    };
    match lanes.iter().position(|lane| lane.len() != first) {
        None => Ok(lanes),
        Some(at) => Err(Error::Arguments(format!(
            "{name}: lane {at} has {} entries where lane 0 has {first}: leave entries empty where no token is",
            lanes[at].len()
        ))
        .into()),
    }
}

/// The text of a file, unless it is more than memory may hold.
fn text(name: &str, limit: u64) -> Result<String, Error> {
    let wrong = |error: io::Error| {
        Error::Arguments(format!("{name}: cannot be read: {error}; give a .npy or .csv file, or [1,2;3,4]"))
    };
    let mut text = Vec::new();
    // An entry of two bytes becomes one of up to sixteen.
    let most = limit / 8;
    // Looked at before it is opened: to open a pipe waits for its other end.
    if !std::fs::metadata(name).map_err(wrong)?.is_file() {
        return Err(Error::Arguments(format!("{name}: is not a regular file: give a .npy or .csv file")));
    }
    let file = std::fs::File::open(name).map_err(wrong)?;
    file.take(most + 1).read_to_end(&mut text).map_err(wrong)?;
    if text.len() as u64 > most {
        let limit = size(limit.into());
        return Err(Error::Arguments(format!("{name}: its entries would take more memory than {limit}")));
    }
    String::from_utf8(text).map_err(|error| Error::Arguments(format!("{name}: is not CSV: {error}")))
}

fn parse<'a, T: Entry>(name: &str, lines: impl Iterator<Item = &'a str>) -> Result<Lanes<T>, Error> {
    // The reader skips empty lines, but a lane of one entry that is no token is one.
    let lines = lines.map(|line| if line.trim().is_empty() { "\"\"" } else { line });
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut builder = csv::ReaderBuilder::new();
    // Lengths are compared later, for an error that speaks of lanes.
    builder.has_headers(false).flexible(true).trim(csv::Trim::All).comment(Some(b'#'));
    let mut lanes = Vec::new();
    for (at, record) in builder.from_reader(text.as_bytes()).records().enumerate() {
        let record = record.map_err(|error| Error::Arguments(format!("{name}: is not CSV: {error}")))?;
        let entry = |(k, entry): (usize, &str)| match entry {
            "" => Ok(None),
            text => T::parse(text).map(Some).ok_or_else(|| {
                let (text, what) = (quoted(text), T::WHAT);
                Error::Arguments(format!("{name}: lane {at}, entry {k} is '{text}', not {what}"))
            }),
        };
        lanes.push(record.iter().enumerate().map(entry).collect::<Result<_, _>>()?);
    }
    Ok(lanes)
}

/// The streams of `A·B`: rows of A from the west and columns of B from the north, lane `i` `i` entries late (R4), or
/// all at once where there is no skew.
///
/// # Errors
/// Shapes that do not multiply; empty entries; streams that would take more than `limit` bytes.
pub(super) fn product<T: Entry>(
    a: Lanes<T>,
    b: &Lanes<T>,
    skew: bool,
    limit: u64,
) -> Result<(Lanes<T>, Lanes<T>), Error> {
    let ([m, k], [rows, p]) = ([a.len(), a[0].len()], [b.len(), b[0].len()]);
    if k != rows {
        return Err(Error::Shapes { a_rows: m, a_columns: k, b_rows: rows, b_columns: p });
    }
    for (name, lanes) in [("A", &a), ("B", b)] {
        if lanes.iter().flatten().any(Option::is_none) {
            return Err(Error::Arguments(format!(
                "{name} has an empty entry: a matrix has a number everywhere"
            )));
        }
    }
    let late = |lanes: usize| if skew { lanes as u128 } else { 0 };
    let entries = m as u128 * (k as u128 + late(m)) + p as u128 * (k as u128 + late(p));
    // As they were read, and as they enter: with their tags, whole numbers are 12 bytes wide.
    let entry = size_of::<Option<T>>();
    let bytes = entries * (entry + entry.max(12)) as u128;
    if bytes > u128::from(limit) {
        let shape = format!("{m}x{k}x{p}");
        return Err(Error::Memory { shape, needed: size(bytes), limit: size(u128::from(limit)) });
    }
    let lane = |at: usize, lane: Vec<Option<T>>| {
        let bubbles = std::iter::repeat_n(None, if skew { at } else { 0 });
        bubbles.chain(lane).collect::<Vec<_>>()
    };
    let columns = (0..p).map(|column| lane(column, b.iter().map(|row| row[column]).collect()));
    let north = columns.collect();
    Ok((a.into_iter().enumerate().map(|(at, row)| lane(at, row)).collect(), north))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 1 << 20;

    #[test]
    fn lanes_are_read_or_explained() {
        let lanes = read::<i32>("[1, -2; ,32767]", LIMIT).expect("two lanes");
        assert_eq!(lanes, [[Some(1), Some(-2)], [None, Some(32767)]]);
        let message = |name| read::<i32>(name, LIMIT).expect_err("refused").to_string();
        assert!(message("[1,2;3]").starts_with("[1,2;3]: lane 1 has 1 entries where lane 0 has 2"));
        assert!(message("[1,32768]").contains("lane 0, entry 1 is '32768', not a whole number of 16 bits"));
        assert!(message("[]").contains("has no entries"));
        assert_eq!(read::<i32>("[1;;3]", LIMIT).expect("three lanes"), [[Some(1)], [None], [Some(3)]]);
        assert_eq!(read::<i32>("[3;]", LIMIT).expect("two lanes"), [[Some(3)], [None]]);
        assert_eq!(read::<i32>("[;3]", LIMIT).expect("two lanes"), [[None], [Some(3)]]);
        assert!(message("[1,2;;3,4]").starts_with("[1,2;;3,4]: lane 1 has 1 entries where lane 0 has 2"));
        assert!(message("[1.5]").contains("'1.5', not a whole number"));
        let floats = read::<f32>("[1.5,-2;,inf]", LIMIT).expect("two lanes");
        assert_eq!(floats, [[Some(1.5), Some(-2.0)], [None, Some(f32::INFINITY)]]);
        assert!(read::<f64>("[nan]", LIMIT).expect("no number is allowed")[0][0].is_some_and(f64::is_nan));
        let error = read::<f64>("[1,x]", LIMIT).expect_err("refused").to_string();
        assert!(error.ends_with("lane 0, entry 1 is 'x', not a number"), "{error}");
        assert!(message("/nonexistent.csv").starts_with("/nonexistent.csv: cannot be read"));
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "# west\n1,2\n3,\n").expect("written");
        let name = file.path().to_str().expect("UTF-8");
        assert_eq!(read::<i32>(name, LIMIT).expect("two lanes"), [[Some(1), Some(2)], [Some(3), None]]);
        assert!(
            read::<i32>(name, 16).expect_err("too large").to_string().ends_with("more memory than 16 bytes")
        );
    }

    #[test]
    fn products_are_skewed_or_not() {
        let (a, b) =
            (vec![vec![Some(1), Some(2)], vec![Some(3), Some(4)]], vec![vec![Some(5)], vec![Some(7)]]);
        let (west, north) = product(a.clone(), &b, true, LIMIT).expect("streams");
        assert_eq!(west, [vec![Some(1), Some(2)], vec![None, Some(3), Some(4)]]);
        assert_eq!(north, [[Some(5), Some(7)]]);
        assert_eq!(product(a.clone(), &b, false, LIMIT).expect("streams").0, a);
        let shapes = product(b.clone(), &a, true, LIMIT).expect_err("2×1 by 2×2").to_string();
        assert!(shapes.starts_with("A is 2×1 and B is 2×2"), "{shapes}");
        assert!(product(a, &b, true, 159).is_err(), "8 entries of 20 bytes");
        let hole = product(vec![vec![None]], &vec![vec![Some(1)]], true, LIMIT).expect_err("a hole");
        assert!(hole.to_string().starts_with("A has an empty entry"));
    }
}
