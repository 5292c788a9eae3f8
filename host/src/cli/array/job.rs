//! What is to be run: streams, the shape and the ticks that they take.

use super::feed::{self, Entry, Lanes};
use super::{ArrayArgs, Pair};
use crate::error::Error;
use crate::file::{is_same, shown};
use crate::matrix::check_writable;
use crate::software::SoftwareError;
use std::path::Path;

/// Sums that processing elements start from, by row and column.
type Sums<T> = Vec<((usize, usize), T)>;

/// What is to be run.
pub(super) struct Job<T: Entry> {
    pub(super) shape: Pair,
    pub(super) west: Option<Lanes<T>>,
    pub(super) north: Option<Lanes<T>>,
    pub(super) initial: Sums<T::Start>,
    pub(super) ticks: u64,
}

impl<T: Entry> Job<T> {
    /// Reads what is to be run, and finds the shape and the ticks that it takes.
    ///
    /// # Errors
    /// Files that cannot be read; streams that do not go together or do not go with the shape.
    pub(super) fn read(arguments: &ArrayArgs) -> anyhow::Result<Self> {
        let limit = arguments.memory_limit();
        let read = |name: &Option<String>| name.as_deref().map(|name| feed::read(name, limit)).transpose();
        let (west, north) = if let Some([a, b]) = arguments.matmul.as_deref() {
            let (a, b) = (feed::read(a, limit)?, feed::read(b, limit)?);
            let (west, north) = feed::product(a, &b, !arguments.no_skew, limit)?;
            (Some(west), Some(north))
        } else {
            (read(&arguments.west)?, read(&arguments.north)?)
        };
        if let (None, Some(west), Some(north)) = (&arguments.matmul, &west, &north)
            && west[0].len() != north[0].len()
        {
            let text = format!(
                "streams from the west have {} entries and those from the north {}: give as many to both",
                west[0].len(),
                north[0].len()
            );
            return Err(Error::Arguments(text).into());
        }
        let shape = shape(arguments, &west, &north)?;
        let passing = |lanes: &Option<Lanes<T>>, hops: usize| {
            let entries = lanes.iter().flatten().map(Vec::len).max();
            entries.map_or(0, |entries| (entries as u64).saturating_add(hops as u64 - 1))
        };
        let needed = passing(&west, shape.columns).max(passing(&north, shape.rows));
        let sums =
            arguments.initial.as_deref().map(|name| feed::read::<T::Start>(name, limit)).transpose()?;
        let initial = sums.map_or(Ok(Vec::new()), |sums| initial(&sums, shape))?;
        Ok(Self { shape, ticks: arguments.ticks.unwrap_or(needed), west, north, initial })
    }
}

fn shape<T>(arguments: &ArrayArgs, west: &Option<Lanes<T>>, north: &Option<Lanes<T>>) -> Result<Pair, Error> {
    let count = |lanes: &Option<Lanes<T>>| lanes.as_ref().map(Vec::len);
    let shape = match (arguments.shape, count(west), count(north)) {
        (Some(shape), ..) => shape,
        (None, Some(rows), Some(columns)) => Pair { rows, columns },
        _ => {
            let text = "streams of one side alone do not tell the shape: give --shape RxC";
            return Err(Error::Arguments(text.to_owned()));
        }
    };
    let Pair { rows, columns } = shape;
    if rows == 0 || columns == 0 {
        return Err(Error::Array(SoftwareError::Size { rows, columns }));
    }
    for (side, lanes, places) in [("west", count(west), rows), ("north", count(north), columns)] {
        if let Some(lanes) = lanes.filter(|&lanes| lanes != places) {
            let text = format!("{lanes} streams from the {side} for an array that takes {places} there");
            return Err(Error::Arguments(text));
        }
    }
    Ok(shape)
}

/// The sums to start from, with their places.
fn initial<T: Entry>(sums: &Lanes<T>, shape: Pair) -> Result<Sums<T>, Error> {
    let (rows, columns) = (sums.len(), sums[0].len());
    if (rows, columns) != (shape.rows, shape.columns) {
        return Err(Error::Arguments(format!(
            "--initial has {rows}×{columns} sums for an array of {}×{}",
            shape.rows, shape.columns
        )));
    }
    let sums = sums.iter().flatten().enumerate();
    Ok(sums.filter_map(|(at, sum)| Some(((at / columns, at % columns), (*sum)?))).collect())
}

/// Finds out, before any work is done, whether the files asked for can be written, and without harm to others.
///
/// # Errors
/// A file that cannot be written, or that is also read or written otherwise.
pub(super) fn check_outputs(arguments: &ArrayArgs) -> anyhow::Result<()> {
    let ArrayArgs { matmul, west, north, initial, trace, svg, .. } = arguments;
    let inputs = matmul.iter().flatten().chain(west).chain(north).chain(initial);
    let mut taken: Vec<&Path> = inputs.filter(|name| !feed::is_inline(name)).map(Path::new).collect();
    for (option, path) in [("--trace", trace), ("--svg", svg)] {
        let Some(path) = path else { continue };
        if let Some(other) = taken.iter().find(|other| is_same(path, other)) {
            let text = format!(
                "{option} {} is the same file as {}; give it another name",
                shown(path),
                shown(other)
            );
            return Err(Error::Arguments(text).into());
        }
        check_writable(path).map_err(Error::from)?;
        taken.push(path);
    }
    Ok(())
}
