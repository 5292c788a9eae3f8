//! The two ways of getting tiles to threads (R31).

use super::{Dispatch, Shares, lock};
use crate::software::{Pe, SoftwareError};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::hint::spin_loop;
use std::marker::PhantomData;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Looks at the barrier before a thread lets others run between its looks: about two milliseconds where a processor
/// pauses for 140 cycles between two, as Intel's have since Skylake, and less elsewhere. To go to sleep and
/// be woken takes up to a quarter of one where the processor is a virtual one, a hundred supersteps of small tiles.
/// (GNU's OpenMP looks 300,000 times, and 100 times where there are more threads than processors.)
const SPINS: u32 = 50_000;

/// The same, where there are more threads than processors: the one that is waited for may need this one's.
const SPINS_IN_A_CROWD: u32 = 100;

/// Looks in between which others may run, before a thread goes to sleep.
const YIELDS: u32 = 100;

/// How long the thread that runs the array sleeps between its looks: nobody wakes it.
const NAP: Duration = Duration::from_micros(100);

/// Who steps the shares.
pub(super) enum Workers<P: Pe> {
    /// The thread that runs the array.
    Here,
    /// A task a share, every superstep.
    Tasks(Arc<rayon::ThreadPool>),
    /// A worker a share, but for the first, which the thread that runs the array takes.
    Pool(Pool<P>),
}

impl<P: Pe> Workers<P> {
    pub(super) fn new(dispatch: Dispatch, threads: usize, shares: &Shares<P>) -> Result<Self, SoftwareError> {
        Ok(match dispatch {
            _ if threads == 1 => Self::Here,
            Dispatch::Tasks => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let refused = |error: rayon::ThreadPoolBuildError| SoftwareError::Threads {
                    threads,
                    why: error.to_string(),
                };
                Self::Tasks(Arc::new(pool.map_err(refused)?))
            }
            Dispatch::Pool => Self::Pool(Pool::new(threads, shares)?),
        })
    }

    /// The task pool, if there is one.
    pub(super) fn tasks(&self) -> Option<Arc<rayon::ThreadPool>> {
        match self {
            Self::Tasks(pool) => Some(Arc::clone(pool)),
            Self::Here | Self::Pool(_) => None,
        }
    }

    /// Steps every share and returns when all are done.
    pub(super) fn dispatch(&self, shares: &Shares<P>) -> Result<(), SoftwareError> {
        match self {
            Self::Here => shares.iter().for_each(|share| lock(share).step()),
            Self::Tasks(_) => shares.par_iter().for_each(|share| lock(share).step()),
            Self::Pool(pool) => pool.dispatch(shares)?,
        }
        Ok(())
    }
}

/// Long-lived workers and their barrier.
pub(super) struct Pool<P: Pe> {
    gate: Arc<Gate>,
    workers: Vec<JoinHandle<()>>,
    shares: PhantomData<fn() -> P>,
}

#[derive(Default)]
struct Gate {
    /// Supersteps begun.
    begun: Apart<AtomicU64>,
    /// Looks before a thread lets others run.
    spins: u32,
    /// Workers that are through with the superstep.
    done: Apart<AtomicUsize>,
    stop: AtomicBool,
}

/// On a cache line of its own (processors fetch them in pairs), so that who looks at one flag is not disturbed by who
/// sets the other.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl<P: Pe> Pool<P> {
    fn new(threads: usize, shares: &Shares<P>) -> Result<Self, SoftwareError> {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let spins = if threads > processors { SPINS_IN_A_CROWD } else { SPINS };
        let gate = Arc::new(Gate { spins, ..Gate::default() });
        let mut pool = Self { gate, workers: Vec::new(), shares: PhantomData };
        for number in 1..threads {
            let (gate, shares) = (Arc::clone(&pool.gate), Arc::clone(shares));
            let worker = thread::Builder::new().name(format!("tile worker {number}"));
            let worker = worker.spawn(move || {
                let mut superstep = 0;
                while gate.wait_for(superstep + 1) {
                    superstep += 1;
                    lock(&shares[number]).step();
                    gate.done.0.fetch_add(1, Ordering::Release);
                }
            });
            pool.workers
                .push(worker.map_err(|error| SoftwareError::Threads { threads, why: error.to_string() })?);
        }
        Ok(pool)
    }

    fn dispatch(&self, shares: &Shares<P>) -> Result<(), SoftwareError> {
        self.gate.done.0.store(0, Ordering::Relaxed);
        self.gate.begun.0.fetch_add(1, Ordering::Release);
        self.workers.iter().for_each(|worker| worker.thread().unpark());
        lock(&shares[0]).step();
        let mut looks = 0;
        while self.gate.done.0.load(Ordering::Acquire) < self.workers.len() {
            if self.gate.keep_looking(&mut looks) {
                continue;
            }
            if self.workers.iter().any(JoinHandle::is_finished) {
                return Err(SoftwareError::WorkerGone);
            }
            thread::park_timeout(NAP);
        }
        Ok(())
    }
}

impl Gate {
    /// Waits for a superstep to begin; false when there will be none.
    fn wait_for(&self, superstep: u64) -> bool {
        let mut looks = 0;
        loop {
            if self.stop.load(Ordering::Acquire) {
                return false;
            }
            if self.begun.0.load(Ordering::Acquire) >= superstep {
                return true;
            }
            if !self.keep_looking(&mut looks) {
                thread::park();
            }
        }
    }

    /// Lets a moment pass between two looks; false when it is time to sleep.
    fn keep_looking(&self, looks: &mut u32) -> bool {
        if *looks < self.spins {
            spin_loop();
        } else if *looks < self.spins + YIELDS {
            thread::yield_now();
        } else {
            return false;
        }
        *looks += 1;
        true
    }
}

impl<P: Pe> Drop for Pool<P> {
    fn drop(&mut self) {
        self.gate.stop.store(true, Ordering::Release);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // A worker that panicked has been reported by the run that it broke.
            let _ = worker.join();
        }
    }
}
