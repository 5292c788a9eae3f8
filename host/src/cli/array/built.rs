//! An array on the backend that was asked for.

use super::{ArrayArgs, Backend};
use crate::error::Error;
use crate::session::SessionError;
use crate::software::array::Builder;
use crate::software::trace::Sink;
use crate::software::{Machine, Options, Outcome, Partitioned, Pe, SoftwareError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks at whether Ctrl-C has been pressed, where a tick does not take longer.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// An array that is ready to run.
pub(super) enum Built<P: Pe> {
    Interpreted(Box<Machine<P>>),
    Partitioned(Box<Partitioned<P>>),
}

impl<P: Pe> Built<P> {
    /// Builds what was described.
    ///
    /// # Errors
    /// Whatever is wrong with the description, the tiles or the threads.
    pub(super) fn new(array: Builder<P>, arguments: &ArrayArgs) -> Result<Self, Error> {
        let built = match arguments.backend {
            Backend::Interpreted => array.build().map(|array| Self::Interpreted(Box::new(array))),
            Backend::Partitioned => {
                let options = Options {
                    tile_rows: arguments.tile.map(|tile| tile.rows),
                    tile_columns: arguments.tile.map(|tile| tile.columns),
                    dispatch: arguments.dispatch.unwrap_or_default(),
                    threads: arguments.threads,
                    superstep: arguments.superstep,
                };
                array.build_partitioned(&options).map(|array| Self::Partitioned(Box::new(array)))
            }
        };
        built.map_err(Error::Array)
    }

    /// Rows and columns.
    pub(super) fn shape(&self) -> (usize, usize) {
        match self {
            Self::Interpreted(machine) => machine.shape(),
            Self::Partitioned(array) => array.shape(),
        }
    }

    /// Runs the array, looking up now and then whether to stop.
    ///
    /// # Errors
    /// No ticks; a sink that fails; [`SessionError::Interrupted`] when `cancel` becomes true.
    pub(super) fn run<S: Sink<P> + Send>(
        mut self,
        ticks: u64,
        sink: &mut S,
        cancel: &AtomicBool,
    ) -> Result<Outcome<P::State>, Error> {
        if ticks == 0 {
            return Err(Error::Array(SoftwareError::NoTicks));
        }
        let (mut done, mut stretch) = (0, 1);
        while done < ticks {
            if cancel.load(Ordering::Relaxed) {
                return Err(SessionError::Interrupted.into());
            }
            let begun = Instant::now();
            stretch = stretch.min(ticks - done);
            match &mut self {
                Self::Interpreted(machine) => machine.run(stretch, sink),
                Self::Partitioned(array) => array.run(stretch, sink),
            }
            .map_err(Error::Array)?;
            done += stretch;
            // What a tick takes depends on PEs, tiles, threads and sinks, and on what else the machine does.
            stretch = match begun.elapsed() {
                took if took < BETWEEN_LOOKS / 2 => stretch.saturating_mul(2),
                took if took > BETWEEN_LOOKS => (stretch / 2).max(1),
                _ => stretch,
            };
        }
        Ok(match self {
            Self::Interpreted(machine) => machine.outcome(),
            Self::Partitioned(array) => array.outcome(),
        })
    }
}
