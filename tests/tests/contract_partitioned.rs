//! The partitioned backend against the interpreted one (R29–R33): same states, same outputs, same trace, whatever the
//! tiles, the threads and the dispatch.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::Serialize;
use systole::software::array::Builder;
use systole::software::tile::PerPe;
use systole::software::trace::{Event, JsonLines, Off, Vcd, Waves};
use systole::software::{
    Array, Direction, Dispatch, Inputs, Mac, Options, Outputs, Partitioned, Pe, Side, Signals, SoftwareError,
    Token, TokenPe,
};

/// A PE that changes what it passes on and sends it round the corner: no link can be mistaken for another.
#[derive(Clone)]
struct Turning;

impl Pe for Turning {
    type Token = u32;
    type State = (u32, u32);
    type Tile = PerPe<Self>;

    fn initial(&self) -> (u32, u32) {
        (1, 2)
    }

    fn step(&self, state: &mut (u32, u32), inputs: &Inputs<u32>) -> Outputs<u32> {
        let (west, north) = (inputs.west.unwrap_or(7), inputs.north.unwrap_or(11));
        *state = (state.1.wrapping_mul(31).wrapping_add(west), state.0 ^ north);
        let east = (!state.0.is_multiple_of(5)).then_some(north.wrapping_add(state.0));
        Outputs { east, south: (!state.1.is_multiple_of(3)).then_some(west ^ state.1), raised: None }
    }
}

/// A PE that panics when it meets a thirteen.
#[derive(Clone)]
struct Superstitious;

impl Pe for Superstitious {
    type Token = u32;
    type State = u32;
    type Tile = PerPe<Self>;

    fn initial(&self) -> u32 {
        0
    }

    fn step(&self, seen: &mut u32, inputs: &Inputs<u32>) -> Outputs<u32> {
        assert_ne!(inputs.west, Some(13), "thirteen");
        *seen += 1;
        Outputs { east: inputs.west, south: inputs.north, raised: None }
    }
}

/// A PE that panics at the age of a hundred.
#[derive(Clone)]
struct Mortal;

impl Pe for Mortal {
    type Token = ();
    type State = u32;
    type Tile = PerPe<Self>;

    fn initial(&self) -> u32 {
        0
    }

    fn step(&self, age: &mut u32, _inputs: &Inputs<()>) -> Outputs<()> {
        *age += 1;
        assert!(*age < 100, "old age");
        Outputs { east: None, south: None, raised: None }
    }
}

fn lanes<T>(
    count: usize,
    rng: &mut StdRng,
    token: &dyn Fn(&mut StdRng, usize) -> Option<T>,
) -> Vec<(usize, Vec<Option<T>>)> {
    let lane = |lane| {
        let length = rng.random_range(0..24);
        (lane, (0..length).map(|at| token(rng, at)).collect())
    };
    (0..count).map(lane).collect()
}

fn builder<P: Pe>(
    pe: P,
    [rows, columns]: [usize; 2],
    rng: &mut StdRng,
    token: &dyn Fn(&mut StdRng, usize) -> Option<P::Token>,
) -> Builder<P> {
    let mut array = Array::new(rows, columns).fill(pe);
    // Now and then a direction is left out.
    if rng.random_ratio(9, 10) {
        array = array.connect(Direction::WestToEast).input(Side::West, lanes(rows, rng, token));
    }
    if rng.random_ratio(9, 10) {
        array = array.connect(Direction::NorthToSouth).input(Side::North, lanes(columns, rng, token));
    }
    array
}

fn signals(rng: &mut StdRng) -> Signals {
    match rng.random_range(0..24) {
        0 => Signals::CLEAR,
        1 => Signals { reset: true, ..Signals::ADVANCE },
        2 => Signals { clear: true, ..Signals::ADVANCE },
        3 | 4 => Signals::HOLD,
        _ => Signals::ADVANCE,
    }
}

fn options([rows, columns]: [usize; 2], rng: &mut StdRng) -> Options {
    Options {
        tile_rows: rng.random_bool(0.8).then(|| rng.random_range(1..=rows + 1)),
        tile_columns: rng.random_bool(0.8).then(|| rng.random_range(1..=columns + 1)),
        dispatch: Dispatch::ALL[rng.random_range(0..2)],
        threads: Some(rng.random_range(1..=3)),
        superstep: rng.random_bool(0.8).then(|| rng.random_range(1..=5)),
    }
}

/// Runs one random case on both backends, with both kinds of file; gives the bytes compared.
fn compare_files<P>(array: &Builder<P>, size: [usize; 2], rng: &mut StdRng) -> usize
where
    P: Waves<Token: Serialize, State: Serialize>,
{
    let [rows, columns] = size;
    let sinks = || (JsonLines::new(Vec::new()), Vcd::new::<P>(Vec::new(), rows, columns).expect("a header"));
    let files = |(lines, waves): (JsonLines<Vec<u8>>, Vcd<Vec<u8>>)| {
        let taken = "a vector takes all";
        [lines.finish().expect(taken), waves.finish().expect(taken)]
    };
    let (mut expected, mut found) = (sinks(), sinks());
    let options = options(size, rng);
    array.clone().build().expect("an array").run(30, &mut expected).expect("a run");
    array.clone().build_partitioned(&options).expect("an array").run(30, &mut found).expect("a run");
    let (expected, found) = (files(expected), files(found));
    assert!(expected == found, "{options:?}");
    found.iter().map(Vec::len).sum()
}

#[test]
fn r32_every_cut_gives_the_files_of_the_interpreted_backend_byte_by_byte() {
    // Sums of all these are of every kind, no numbers among them.
    const FLOATS: [f64; 8] = [0.0, -0.0, 1.5, -3e200, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-310];
    let mut rng = StdRng::seed_from_u64(320);
    let mut bytes = 0;
    for case in 0..300 {
        let size = [rng.random_range(1..=9), rng.random_range(1..=9)];
        let float =
            |rng: &mut StdRng, _| rng.random_ratio(4, 5).then(|| FLOATS[rng.random_range(0..FLOATS.len())]);
        bytes += match case % 3 {
            0 => compare_files(&builder(Mac::<f64>::new(), size, &mut rng, &float), size, &mut rng),
            1 => {
                let single = |rng: &mut StdRng, at| float(rng, at).map(|value| value as f32);
                compare_files(&builder(Mac::<f32>::new(), size, &mut rng, &single), size, &mut rng)
            }
            _ => {
                let pe = TokenPe { k_len: 9, accumulator_bits: 24 };
                let token = |rng: &mut StdRng, at: usize| {
                    let (value, valid) = (rng.random_range(-128..128), rng.random_ratio(19, 20));
                    rng.random_ratio(9, 10).then_some(Token { value, job: 1, k: at as u16, valid })
                };
                compare_files(&builder(pe, size, &mut rng, &token), size, &mut rng)
            }
        };
    }
    assert!(bytes > 10_000_000, "{bytes} bytes");
}

/// Runs one random case on both backends; gives the number of events compared.
fn compare<P: Pe>(array: &Builder<P>, size: [usize; 2], rng: &mut StdRng) -> usize {
    let options = options(size, rng);
    let mut oracle = array.clone().build().expect("an array");
    let mut tiled = array.clone().build_partitioned(&options).expect("an array");
    let (mut expected, mut events): (Vec<Event<P>>, Vec<Event<P>>) = (Vec::new(), Vec::new());
    for edge in 0..rng.random_range(1..40) {
        let signals = signals(rng);
        if rng.random_bool(0.5) {
            oracle.edge(signals, &mut expected).expect("an edge");
            tiled.edge(signals, &mut events).expect("an edge");
        } else if rng.random_bool(0.5) {
            let ticks = rng.random_range(1..12);
            oracle.run(ticks, &mut Off).expect("a run");
            tiled.run(ticks, &mut Off).expect("a run");
        } else {
            oracle.edge(signals, &mut Off).expect("an edge");
            tiled.edge(signals, &mut Off).expect("an edge");
        }
        assert_eq!(tiled.states(), oracle.states(), "edge {edge}, {options:?}");
        assert_eq!((tiled.ticks(), tiled.left()), (oracle.ticks(), oracle.left()));
    }
    assert_eq!(events, expected, "{options:?}");
    events.len()
}

#[test]
fn r32_every_cut_gives_the_trace_of_the_interpreted_backend() {
    let mut rng = StdRng::seed_from_u64(32);
    let mut events = 0;
    let mut raised = [false; 6];
    for case in 0..600 {
        let size = [rng.random_range(1..=9), rng.random_range(1..=9)];
        events += match case % 4 {
            0 => {
                let pe =
                    TokenPe { k_len: rng.random_range(1..=12), accumulator_bits: rng.random_range(8..=48) };
                // Mostly in order, so that terms are taken and sums grow; sometimes anything at all.
                let token = |rng: &mut StdRng, at: usize| {
                    let order = rng.random_ratio(19, 20);
                    let token = Token {
                        value: if order { rng.random_range(-128..128) } else { rng.random() },
                        job: if order { 1 } else { rng.random() },
                        k: if order { at as u16 } else { rng.random() },
                        valid: rng.random_ratio(19, 20),
                    };
                    rng.random_ratio(19, 20).then_some(token)
                };
                let array = builder(pe, size, &mut rng, &token);
                let mut machine = array.clone().build().expect("an array");
                machine.run(30, &mut Off).expect("a run");
                for error in machine.states().iter().filter_map(|state| state.error) {
                    raised[usize::from(error.code())] = true;
                }
                compare(&array, size, &mut rng)
            }
            1 => {
                let token = |rng: &mut StdRng, _| rng.random_ratio(4, 5).then(|| rng.random());
                let array = builder(Mac::<i8>::new(), size, &mut rng, &token);
                compare(&array, size, &mut rng)
            }
            2 => {
                // Infinity and absent operands must not make each other no numbers.
                let token = |rng: &mut StdRng, _| {
                    let value =
                        if rng.random_ratio(1, 50) { f32::INFINITY } else { rng.random_range(0.0..1.0) };
                    rng.random_ratio(4, 5).then_some(value)
                };
                let array = builder(Mac::<f32>::new(), size, &mut rng, &token);
                compare(&array, size, &mut rng)
            }
            _ => {
                let token = |rng: &mut StdRng, _| rng.random_ratio(4, 5).then(|| rng.random());
                let array = builder(Turning, size, &mut rng, &token);
                compare(&array, size, &mut rng)
            }
        };
    }
    assert!(events > 50_000, "{events} events");
    assert_eq!(raised[1..5], [true; 4], "unpaired, job mismatch, k mismatch and out of order all arise");
}

#[test]
fn r33_tiles_at_the_edges_are_smaller_and_large_ones_are_the_whole_array() {
    let streams = |lanes| (0..lanes).map(|lane| (lane, vec![Some(lane as i64 + 1); 7]));
    let array = Array::new(5, 7)
        .fill(Mac::<i64>::new())
        .connect(Direction::WestToEast)
        .connect(Direction::NorthToSouth);
    let array = array.input(Side::West, streams(5)).input(Side::North, streams(7));
    let mut oracle = array.clone().build().expect("an array");
    let mut lines = JsonLines::new(Vec::new());
    oracle.run(9, &mut lines).expect("a run");
    let trace = lines.finish().expect("a vector takes all");
    for tile in
        [(None, None), (Some(2), Some(3)), (Some(1), Some(1)), (Some(5), Some(7)), (Some(99), Some(99))]
    {
        for dispatch in Dispatch::ALL {
            let options = Options {
                tile_rows: tile.0,
                tile_columns: tile.1,
                dispatch,
                threads: Some(2),
                ..Options::default()
            };
            let mut tiled = array.clone().build_partitioned(&options).expect("an array");
            let mut lines = JsonLines::new(Vec::new());
            tiled.run(9, &mut lines).expect("a run");
            assert_eq!(tiled.states(), oracle.states(), "{options:?}");
            assert_eq!(lines.finish().expect("a vector takes all"), trace, "byte for byte, {options:?}");
        }
    }
}

#[test]
fn r33_bad_options_are_named() {
    let message = |options: Options| {
        let built = Array::new(2, 2).fill(Mac::<i64>::new()).build_partitioned(&options);
        built.err().expect("refused").to_string()
    };
    let tile = |rows, columns| Options { tile_rows: rows, tile_columns: columns, ..Options::default() };
    assert!(message(tile(Some(0), None)).starts_with("a tile of 0 rows"));
    assert!(message(tile(None, Some(0))).starts_with("a tile of 0 columns"));
    assert!(message(Options { threads: Some(0), ..Options::default() }).starts_with("0 threads"));
    assert!(
        message(Options { superstep: Some(0), ..Options::default() }).starts_with("a superstep of 0 ticks")
    );
    assert_eq!("pool".parse::<Dispatch>().expect("a dispatch"), Dispatch::Pool);
    let error = "pol".parse::<Dispatch>().expect_err("no dispatch").to_string();
    assert_eq!(error, "no dispatch 'pol': use tasks or pool");
}

/// An array of 4×4 in eight tiles in which PE(0,0) meets a thirteen at tick 1, and PE(2,0) would meet one at tick 2.
fn doomed(dispatch: Dispatch, superstep: usize) -> Partitioned<Superstitious> {
    let array = Array::new(4, 4).fill(Superstitious).connect(Direction::WestToEast);
    let lane = |thirteen| (0..9).map(move |at| Some(if at == thirteen { 13 } else { at }));
    let array = array.input(Side::West, [(2, lane(2).collect::<Vec<_>>()), (0, lane(1).collect())]);
    let options = Options {
        tile_rows: Some(2),
        tile_columns: Some(1),
        dispatch,
        threads: Some(2),
        superstep: Some(superstep),
    };
    array.build_partitioned(&options).expect("an array")
}

#[test]
fn r31_a_panic_in_a_worker_is_an_error_of_the_run_and_the_workers_survive() {
    for (dispatch, superstep) in Dispatch::ALL.into_iter().flat_map(|d| [(d, 1), (d, 2), (d, 4), (d, 99)]) {
        let mut array = doomed(dispatch, superstep);
        let error = array.run(9, &mut Off).expect_err("a panic");
        let SoftwareError::Panicked { row, column, tick, message } = &error else { panic!("{error}") };
        assert_eq!((*row, *column, *tick), (0, 0, 1), "{dispatch}, {superstep}");
        assert!(message.contains("thirteen"), "{message}");
        assert_eq!((array.ticks(), array.left()), (1, 14), "tick 1 took its entries, and no later one");
        assert!(matches!(array.run(1, &mut Off), Err(SoftwareError::Broken)), "{dispatch}");
        array.edge(Signals::CLEAR, &mut Off).expect("a clear");
        // The streams go on where they were: the other thirteen is next.
        let error = array.run(9, &mut Off).expect_err("a panic again");
        let SoftwareError::Panicked { row, column, tick, .. } = &error else { panic!("{error}") };
        assert_eq!((*row, *column, *tick), (2, 0, 1), "{dispatch}, {superstep}");
        array.edge(Signals::CLEAR, &mut Off).expect("a clear");
        array.run(2, &mut Off).expect("the workers live");
        assert_eq!(array.states(), [2; 16], "{dispatch}, {superstep}");
    }
}

/// The first fault in the order of ticks is in a tile that, with several ticks between barriers, executes it last.
#[test]
fn r31_the_earliest_panic_is_told_even_by_a_tile_that_is_behind() {
    for (dispatch, superstep) in Dispatch::ALL.into_iter().flat_map(|d| [(d, 1), (d, 3), (d, 99)]) {
        let starts = [((3, 3), 90), ((0, 0), 80)];
        let array = Array::new(4, 4).fill(Mortal).connect(Direction::WestToEast).initial(starts);
        let options = Options {
            tile_rows: Some(1),
            tile_columns: Some(2),
            dispatch,
            threads: Some(2),
            superstep: Some(superstep),
        };
        let mut array = array.build_partitioned(&options).expect("an array");
        let error = array.run(1000, &mut Off).expect_err("a panic");
        let SoftwareError::Panicked { row, column, tick, .. } = &error else { panic!("{error}") };
        assert_eq!((*row, *column, *tick), (3, 3, 9), "{dispatch}, {superstep}");
    }
}
