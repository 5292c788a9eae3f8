//! How an array is cut and who computes it (R33).

use crate::software::SoftwareError;
use std::fmt;
use std::num::NonZero;
use std::str::FromStr;
use std::thread::available_parallelism;

/// How the tiles of a tick get to threads. Either gives the same results and the same trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dispatch {
    /// A task a tile a tick: the threads balance their load among themselves.
    #[default]
    Tasks,
    /// Workers that live as long as the array, each with its own tiles: the cheaper barrier.
    Pool,
}

impl Dispatch {
    /// Both, in the order in which help texts name them.
    pub const ALL: [Self; 2] = [Self::Tasks, Self::Pool];
}

impl fmt::Display for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tasks => "tasks",
            Self::Pool => "pool",
        })
    }
}

impl FromStr for Dispatch {
    type Err = SoftwareError;

    fn from_str(name: &str) -> Result<Self, SoftwareError> {
        let found = Self::ALL.into_iter().find(|dispatch| dispatch.to_string() == name);
        found.ok_or_else(|| SoftwareError::UnknownDispatch { name: name.to_owned() })
    }
}

/// Options of the partitioned backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Rows of a tile; all rows if `None`. A tile larger than the array is the whole of it; tiles at the
    /// edges are smaller.
    pub tile_rows: Option<usize>,
    /// Columns of a tile; all columns if `None`.
    pub tile_columns: Option<usize>,
    /// How tiles get to threads.
    pub dispatch: Dispatch,
    /// Threads; as many as the machine has if `None`. Never more than tiles.
    pub threads: Option<usize>,
    /// Ticks between two barriers. If `None`, one as in the contract (R29), or some where there is but one tile, and
    /// so nothing to wait for. With more than one, a tile runs its ticks as soon as its neighbours to the west and
    /// the north have run theirs, one barrier behind them: tokens only ever travel east and south, so that
    /// every PE still sees what it would have seen. Results are the same; with a trace it counts as one.
    pub superstep: Option<usize>,
}

/// Ticks that a tile executes at once where there is no other: enough to make up for what is done once for all of them.
const ALONE: u64 = 16;

/// Most threads: a thousand are more than any machine's processors, and few enough to start at once.
const MOST_THREADS: usize = 1024;

impl Options {
    /// Size of a tile of this array.
    pub(in crate::software) fn tile(
        &self,
        rows: usize,
        columns: usize,
    ) -> Result<(usize, usize), SoftwareError> {
        let size = |option: Option<usize>, all: usize, side| match option {
            Some(0) => Err(SoftwareError::EmptyTile { side }),
            size => Ok(size.unwrap_or(all).min(all)),
        };
        Ok((size(self.tile_rows, rows, "rows")?, size(self.tile_columns, columns, "columns")?))
    }

    /// Ticks of a superstep, for so many tiles.
    pub(super) fn superstep(&self, tiles: usize) -> Result<u64, SoftwareError> {
        match self.superstep {
            Some(0) => Err(SoftwareError::EmptySuperstep),
            Some(ticks) => Ok(ticks as u64),
            None if tiles == 1 => Ok(ALONE),
            None => Ok(1),
        }
    }

    /// Threads for so many tiles.
    pub(super) fn threads(&self, tiles: usize) -> Result<usize, SoftwareError> {
        match self.threads {
            Some(0) => Err(SoftwareError::NoThreads),
            Some(threads) if threads > MOST_THREADS => {
                Err(SoftwareError::TooManyThreads { threads, most: MOST_THREADS })
            }
            Some(threads) => Ok(threads.min(tiles)),
            None => Ok(available_parallelism().map_or(1, NonZero::get).min(tiles)),
        }
    }
}
