//! Speed of the software array, in PE-ticks: steps of PEs.
//!
//! `cargo bench -p systole --bench software` prints medians; each group names what it is compared with.

use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
    measurement::WallTime,
};
use std::cell::RefCell;
use std::fs::File;
use std::hint::black_box;
use std::time::{Duration, Instant};
use systole::software::product::{Product, product};
use systole::software::tile::PerPe;
use systole::software::trace::{Behind, JsonLines, Off, Sink, Vcd};
use systole::software::{
    Array, Direction, Dispatch, Inputs, Mac, Machine, Options, Outputs, Partitioned, Pe, Side, Signals,
    Token, TokenPe, TokenState,
};
use systole_hdl::parameters::Parameters;

/// Terms of every job here: long enough for the skew not to matter.
const TERMS: u16 = 1024;

const PE: TokenPe = TokenPe { k_len: TERMS as u32, accumulator_bits: 32 };

/// The token PE again, stepped one after another as any PE of a user's is.
#[derive(Clone, Copy)]
struct AnyPe(TokenPe);

impl Pe for AnyPe {
    type Token = Token;
    type State = TokenState;
    type Tile = PerPe<Self>;

    fn initial(&self) -> TokenState {
        self.0.initial()
    }

    fn step(&self, state: &mut TokenState, inputs: &Inputs<Token>) -> Outputs<Token> {
        self.0.step(state, inputs)
    }
}

fn lane(lane: usize) -> impl Iterator<Item = Option<Token>> {
    let token = |k| Token { value: i32::from(k % 255) - 127, job: 1, k, valid: true };
    std::iter::repeat_n(None, lane).chain((0..TERMS).map(token).map(Some))
}

fn lanes(n: usize) -> impl Iterator<Item = (Side, usize)> {
    (0..n).flat_map(|at| [(Side::West, at), (Side::North, at)])
}

/// Runs whole jobs and times the ticks alone.
fn jobs<A>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    n: usize,
    mut array: A,
    prepare: impl Fn(&mut A),
    run: impl Fn(&mut A, u64),
) {
    let ticks = u64::from(TERMS);
    group.throughput(Throughput::Elements(ticks * (n * n) as u64));
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|jobs| {
            let mut spent = Duration::ZERO;
            for _ in 0..jobs {
                prepare(&mut array);
                let start = Instant::now();
                run(&mut array, ticks);
                spent += start.elapsed();
            }
            spent
        });
    });
}

fn partitioned<P: Pe<Token = Token>>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    pe: P,
    n: usize,
    options: &Options,
) {
    let array = Array::new(n, n).fill(pe).connect(Direction::WestToEast).connect(Direction::NorthToSouth);
    let array = array.build_partitioned(options).expect("an array");
    let prepare = |array: &mut Partitioned<P>| {
        array.run(2 * n as u64, &mut Off).expect("the rest of the streams");
        array.edge(Signals::CLEAR, &mut Off).expect("a clear");
        lanes(n).for_each(|(side, at)| array.feed(side, at, lane(at)).expect("a stream"));
    };
    let run = |array: &mut Partitioned<P>, ticks| array.run(ticks, &mut Off).expect("a run");
    jobs(group, BenchmarkId::new(name, n), n, array, prepare, run);
}

fn interpreted(group: &mut BenchmarkGroup<'_, WallTime>, n: usize) {
    let array = Array::new(n, n).fill(PE).connect(Direction::WestToEast).connect(Direction::NorthToSouth);
    let prepare = |array: &mut Machine<TokenPe>| {
        array.run(2 * n as u64, &mut Off).expect("the rest of the streams");
        array.edge(Signals::CLEAR, &mut Off).expect("a clear");
        lanes(n).for_each(|(side, at)| array.feed(side, at, lane(at)).expect("a stream"));
    };
    let run = |array: &mut Machine<TokenPe>, ticks| array.run(ticks, &mut Off).expect("a run");
    jobs(group, BenchmarkId::new("interpreted", n), n, array.build().expect("an array"), prepare, run);
}

/// One thread, trace off, by size: token PEs by the vector loop, and one by one in either backend.
fn sizes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one thread");
    for n in [2, 4, 8, 16, 32, 64, 128, 256] {
        partitioned(&mut group, "token PE", PE, n, &Options::default());
    }
    for n in [8, 64] {
        partitioned(&mut group, "any PE", AnyPe(PE), n, &Options::default());
        interpreted(&mut group, n);
    }
    group.finish();
}

/// Plain MACs of 8 bits into 32, one thread, trace off.
fn macs(criterion: &mut Criterion) {
    let n = 64;
    let mut group = criterion.benchmark_group("one thread");
    let array = Array::new(n, n).fill(Mac::<i8>::new());
    let array = array.connect(Direction::WestToEast).connect(Direction::NorthToSouth);
    let array = array.build_partitioned(&Options::default()).expect("an array");
    let prepare = |array: &mut Partitioned<Mac<i8>>| {
        let lane = || (0..TERMS).map(|k| Some((k % 255) as u8 as i8));
        lanes(n).for_each(|(side, at)| array.feed(side, at, lane()).expect("a stream"));
    };
    let run = |array: &mut Partitioned<Mac<i8>>, ticks| array.run(ticks, &mut Off).expect("a run");
    jobs(&mut group, BenchmarkId::new("plain MAC, i8", n), n, array, prepare, run);
    group.finish();
}

/// What a core can load and store, to hold the token PEs' loop against: it loads 32 bytes a PE-tick (the two links, the
/// sum, the next term) and stores 24 (sum, next term, mark).
fn memory(criterion: &mut Criterion) {
    const BYTES: usize = 16 << 10;
    let (from, mut to) = (vec![1u8; BYTES], vec![0u8; BYTES]);
    let mut group = criterion.benchmark_group("memory");
    group.throughput(Throughput::Bytes(2 * BYTES as u64));
    group.bench_function("load and store within the first cache", |bencher| {
        bencher.iter(|| black_box(&mut to).copy_from_slice(black_box(&from)));
    });
    group.finish();
}

/// The trace of token PEs into a file, in events: from the first tick to the last byte in the file.
fn traces(criterion: &mut Criterion) {
    const SIDE: usize = 16;
    fn trace<S: Sink<TokenPe> + Send>(
        group: &mut BenchmarkGroup<'_, WallTime>,
        name: &str,
        sink: impl Fn(Behind<File>) -> S,
        finish: impl Fn(S) -> std::io::Result<Behind<File>>,
    ) {
        let n = SIDE;
        let array = Array::new(n, n).fill(PE).connect(Direction::WestToEast).connect(Direction::NorthToSouth);
        let array = array.build_partitioned(&Options::default()).expect("an array");
        // Kept until the next run, so that no time is taken while it is deleted.
        let file = RefCell::new(None);
        let prepare = |array: &mut Partitioned<TokenPe>| {
            file.take();
            array.run(2 * n as u64, &mut Off).expect("the rest of the streams");
            array.edge(Signals::CLEAR, &mut Off).expect("a clear");
            lanes(n).for_each(|(side, at)| array.feed(side, at, lane(at)).expect("a stream"));
        };
        let run = |array: &mut Partitioned<TokenPe>, ticks| {
            let to = Behind::new(tempfile::tempfile().expect("a file")).expect("a thread");
            let mut sink = sink(to);
            array.run(ticks, &mut sink).expect("a run");
            file.replace(Some(finish(sink).and_then(Behind::finish).expect("a whole file")));
        };
        jobs(group, BenchmarkId::new(name, n), n, array, prepare, run);
    }
    let mut group = criterion.benchmark_group("trace");
    group.sample_size(10);
    trace(&mut group, "JSON lines, token PE", JsonLines::new, JsonLines::finish);
    let waves = |to| Vcd::new::<TokenPe>(to, SIDE, SIDE).expect("a header");
    trace(&mut group, "waveforms, token PE", waves, Vcd::finish);
    group.finish();
}

/// Two threads against one, on the same two tiles: with a barrier a tick, and with several ticks a barrier.
fn threads(criterion: &mut Criterion) {
    const SUPERSTEP: usize = 16;
    let mut group = criterion.benchmark_group("two tiles");
    // Jobs of 256×256 take up to a second each.
    group.sample_size(20);
    for n in [64, 256] {
        for (name, threads, dispatch, superstep) in [
            ("one thread", 1, Dispatch::Pool, 1),
            ("one thread, 16 ticks", 1, Dispatch::Pool, SUPERSTEP),
            ("two, pool", 2, Dispatch::Pool, 1),
            ("two, pool, 16 ticks", 2, Dispatch::Pool, SUPERSTEP),
            ("two, tasks", 2, Dispatch::Tasks, 1),
            ("two, tasks, 16 ticks", 2, Dispatch::Tasks, SUPERSTEP),
        ] {
            let options = Options {
                tile_rows: Some(n / 2),
                tile_columns: None,
                dispatch,
                threads: Some(threads),
                superstep: Some(superstep),
            };
            partitioned(&mut group, &format!("any PE, {name}"), AnyPe(PE), n, &options);
            partitioned(&mut group, &format!("token PE, {name}"), PE, n, &options);
        }
    }
    group.finish();
}

/// A product of 1024×1024×1024 at N=8 with every tick executed, beside a blocked i-k-j loop.
fn products(criterion: &mut Criterion) {
    const SIZE: usize = 1024;
    let parameters = Parameters { n: 8, ..Parameters::default() };
    let operand = |seed: usize| (0..SIZE * SIZE).map(|i| ((i * seed) % 251) as i32 - 125).collect::<Vec<_>>();
    let (a, b) = (operand(7), operand(11));
    let mut group = criterion.benchmark_group("product");
    group.sample_size(10);
    let mut executed = None;
    group.bench_function("every tick, N=8", |bencher| {
        bencher.iter(|| executed = Some(product(&parameters, [SIZE; 3], black_box(&a), black_box(&b))));
    });
    if let Some(product) = executed {
        let Product { values, jobs, steps, pe_ticks } = product.expect("a product");
        assert_eq!(values, direct(SIZE, &a, &b));
        println!("every tick of {SIZE}×{SIZE}×{SIZE}: {jobs} jobs, {steps} steps, {pe_ticks} PE-ticks");
    }
    group.bench_function("blocked i-k-j loop", |bencher| {
        bencher.iter(|| direct(SIZE, black_box(&a), black_box(&b)));
    });
    group.finish();
}

/// The product by three loops, blocked along k so that a block of B stays in the cache.
fn direct(size: usize, a: &[i32], b: &[i32]) -> Vec<i64> {
    const BLOCK: usize = 64;
    let mut c = vec![0i64; size * size];
    for block in (0..size).step_by(BLOCK) {
        for (row, sums) in c.chunks_exact_mut(size).enumerate() {
            for k in block..block + BLOCK {
                let factor = i64::from(a[row * size + k]);
                let terms = &b[k * size..][..size];
                sums.iter_mut().zip(terms).for_each(|(sum, &term)| *sum += factor * i64::from(term));
            }
        }
    }
    c
}

criterion_group!(benches, sizes, macs, memory, traces, threads, products);
criterion_main!(benches);
