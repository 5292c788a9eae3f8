//! PEs of a user's own and of floats, each against a direct computation; states to start from; results.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use systole::software::array::Builder;
use systole::software::tile::PerPe;
use systole::software::trace::Off;
use systole::software::{
    Array, Direction, Inputs, Mac, Options, Outcome, Outputs, Pe, Side, Signals, Token, TokenPe, TokenState,
};

fn connected<P: Pe>(pe: P, [rows, columns]: [usize; 2]) -> Builder<P> {
    let array = Array::new(rows, columns).fill(pe);
    array.connect(Direction::WestToEast).connect(Direction::NorthToSouth)
}

/// Runs on both backends, which must agree.
fn run<P: Pe>(array: Builder<P>, ticks: u64) -> Outcome<P::State> {
    let mut oracle = array.clone().build().expect("an array");
    oracle.run(ticks, &mut Off).expect("a run");
    let options =
        Options { tile_rows: Some(2), tile_columns: Some(3), threads: Some(2), ..Options::default() };
    let mut tiled = array.build_partitioned(&options).expect("an array");
    tiled.run(ticks, &mut Off).expect("a run");
    assert_eq!(tiled.outcome(), oracle.outcome());
    oracle.outcome()
}

/// `C = A·B` in whatever the PE takes for plus and times: `a` is `m × k`, `b` is `k × p`, row-major; lane `i`
/// enters `i` entries late.
fn product<P: Pe<Token: Copy>>(
    pe: P,
    [m, k, p]: [usize; 3],
    a: &[P::Token],
    b: &[P::Token],
) -> Outcome<P::State> {
    let late = |lane| std::iter::repeat_n(None, lane);
    let west = (0..m).map(|i| (i, late(i).chain((0..k).map(|t| Some(a[i * k + t]))).collect::<Vec<_>>()));
    let north = (0..p).map(|j| (j, late(j).chain((0..k).map(|t| Some(b[t * p + j]))).collect::<Vec<_>>()));
    let array = connected(pe, [m, p]).input(Side::West, west).input(Side::North, north);
    run(array, (k + m + p - 2) as u64)
}

/// Plus is the larger or the smaller of two, times is plus: longest or shortest ways of two legs. The
/// identity of plus is that there is no way at all.
#[derive(Clone)]
struct Legs {
    longest: bool,
}

impl Pe for Legs {
    type Token = i64;
    type State = Option<i64>;
    type Tile = PerPe<Self>;

    fn initial(&self) -> Option<i64> {
        None
    }

    fn step(&self, best: &mut Option<i64>, inputs: &Inputs<i64>) -> Outputs<i64> {
        if let (Some(a), Some(b)) = (inputs.west, inputs.north) {
            let better = |old: i64| if self.longest { old.max(a + b) } else { old.min(a + b) };
            *best = Some(best.map_or(a + b, better));
        }
        Outputs { east: inputs.west, south: inputs.north, raised: None }
    }
}

#[test]
fn max_plus_and_min_plus_products() {
    let mut rng = StdRng::seed_from_u64(5);
    for [m, k, p] in [[1, 1, 1], [3, 5, 4], [7, 2, 5], [4, 9, 1]] {
        // Below zero throughout, so that a zero to start from would show.
        let mut matrix = |cells| (0..cells).map(|_| rng.random_range(-999..-1)).collect::<Vec<i64>>();
        let (a, b) = (matrix(m * k), matrix(k * p));
        for longest in [true, false] {
            let outcome = product(Legs { longest }, [m, k, p], &a, &b);
            assert!(outcome.complete);
            for (&(i, j), &&best) in &outcome.map() {
                let ways = (0..k).map(|t| a[i * k + t] + b[t * p + j]);
                assert_eq!(best, if longest { ways.max() } else { ways.min() }, "({i},{j})");
            }
        }
    }
    let idle = run(connected(Legs { longest: true }, [2, 2]), 3);
    assert_eq!(idle.states, [None; 4], "nothing has met");
}

/// A 3×3 stencil over an image that lies in the array, a pixel a PE. Pixels first go two PEs east, so that
/// every PE has three of its row; these then go two PEs south.
#[derive(Clone)]
struct Stencil {
    weights: [[i64; 3]; 3],
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Pixel {
    tick: u32,
    /// The pixel two to the left, the one to the left, and the PE's own.
    row: [i64; 3],
    sum: i64,
}

impl Stencil {
    fn add(&self, sum: &mut i64, weights: usize, row: [i64; 3]) {
        *sum += self.weights[weights].iter().zip(row).map(|(weight, pixel)| weight * pixel).sum::<i64>();
    }
}

impl Pe for Stencil {
    type Token = [i64; 3];
    type State = Pixel;
    type Tile = PerPe<Self>;

    fn initial(&self) -> Pixel {
        Pixel::default()
    }

    fn step(&self, pixel: &mut Pixel, inputs: &Inputs<[i64; 3]>) -> Outputs<[i64; 3]> {
        // Outside the image is black.
        let (west, north) = (inputs.west.unwrap_or_default(), inputs.north.unwrap_or_default());
        let mut outputs = Outputs::default();
        match pixel.tick {
            0 => outputs.east = Some(pixel.row),
            1 => {
                pixel.row[1] = west[2];
                outputs.east = inputs.west;
            }
            2 => {
                pixel.row[0] = west[2];
                self.add(&mut pixel.sum, 2, pixel.row);
                outputs.south = Some(pixel.row);
            }
            3 => {
                self.add(&mut pixel.sum, 1, north);
                outputs.south = inputs.north;
            }
            4 => self.add(&mut pixel.sum, 0, north),
            _ => {}
        }
        pixel.tick += 1;
        outputs
    }
}

#[test]
fn a_stencil_over_an_image_in_the_array() {
    let mut rng = StdRng::seed_from_u64(6);
    for [rows, columns] in [[1, 1], [2, 5], [6, 4], [7, 8]] {
        let weights: [[i64; 3]; 3] = rng.random();
        let weights = weights.map(|row| row.map(|weight| weight % 10));
        let image: Vec<i64> = (0..rows * columns).map(|_| rng.random_range(0..256)).collect();
        let pixels = image.iter().enumerate();
        let pixels = pixels.map(|(at, &pixel)| {
            ((at / columns, at % columns), Pixel { row: [0, 0, pixel], ..Pixel::default() })
        });
        let outcome = run(connected(Stencil { weights }, [rows, columns]).initial(pixels), 5);
        for (&(r, c), pixel) in &outcome.map() {
            let mut expected = 0;
            for (i, j) in (0..9).map(|tap| (tap / 3, tap % 3)).filter(|(i, j)| r + i >= 2 && c + j >= 2) {
                expected += weights[i][j] * image[(r + i - 2) * columns + c + j - 2];
            }
            assert_eq!(pixel.sum, expected, "{rows}×{columns} at ({r},{c})");
        }
    }
}

/// Holds a float product against one summed the other way round. Either is off the true sum by at most
/// γ·Σ|a·b|, with γ = K·u/(1 − K·u) for K products and K sums of relative error u; two of them by twice that.
macro_rules! float_products {
    ($name:ident, $float:ty) => {
        #[test]
        fn $name() {
            let mut rng = StdRng::seed_from_u64(7);
            for [m, k, p] in [[1, 1, 1], [3, 40, 5], [6, 300, 4]] {
                let mut matrix =
                    |cells| (0..cells).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<$float>>();
                let (a, b) = (matrix(m * k), matrix(k * p));
                let outcome = product(Mac::<$float>::new(), [m, k, p], &a, &b);
                let ku = k as $float * <$float>::EPSILON / 2.0;
                for (&(i, j), &&sum) in &outcome.map() {
                    let terms = || (0..k).rev().map(|t| a[i * k + t] * b[t * p + j]);
                    let (direct, size) =
                        (terms().sum::<$float>(), terms().map(<$float>::abs).sum::<$float>());
                    let epsilon = 2.0 * ku / (1.0 - ku) * size;
                    approx::assert_abs_diff_eq!(sum, direct, epsilon = epsilon);
                    let term = a[i * k] * b[j];
                    assert!(approx::abs_diff_ne!(sum - term, direct, epsilon = epsilon), "a term is missed");
                }
            }
        }
    };
}

float_products!(products_of_f32, f32);
float_products!(products_of_f64, f64);

#[test]
fn no_number_spoils_its_row_alone() {
    let mut array = connected(Mac::<f64>::new(), [2, 2])
        .input(Side::West, [(0, vec![Some(f64::NAN)]), (1, vec![None, Some(2.0)])])
        .input(Side::North, [(0, vec![Some(3.0)]), (1, vec![None, Some(5.0)])])
        .build()
        .expect("an array");
    array.run(3, &mut Off).expect("a run");
    let states = array.states();
    assert!(states[..2].iter().all(|sum| sum.is_nan()));
    assert_eq!(states[2..], [6.0, 10.0]);
}

#[test]
fn states_to_start_from_come_back_after_a_clear() {
    let start = TokenState { acc: -7, count: 1, error: None };
    let second = Token { value: 3, job: 0, k: 1, valid: true };
    let array = connected(TokenPe { k_len: 2, accumulator_bits: 32 }, [3, 4]).initial([((1, 2), start)]);
    let mut oracle = array.clone().build().expect("an array");
    let options = Options { tile_rows: Some(2), tile_columns: Some(2), ..Options::default() };
    let mut tiled = array.build_partitioned(&options).expect("an array");
    for _ in 0..2 {
        oracle.feed(Side::West, 1, [None, Some(second)]).expect("a stream");
        oracle.feed(Side::North, 2, [None, None, None, Some(second)]).expect("a stream");
        tiled.feed(Side::West, 1, [None, Some(second)]).expect("a stream");
        tiled.feed(Side::North, 2, [None, None, None, Some(second)]).expect("a stream");
        assert_eq!(oracle.states()[4 + 2], start);
        assert_eq!(tiled.states(), oracle.states());
        oracle.run(5, &mut Off).expect("a run");
        tiled.run(5, &mut Off).expect("a run");
        assert_eq!(tiled.states(), oracle.states());
        oracle.edge(Signals::CLEAR, &mut Off).expect("a clear");
        tiled.edge(Signals::CLEAR, &mut Off).expect("a clear");
    }
    let plain = connected(Mac::<i8>::new(), [2, 2]).initial([((0, 1), 40)]);
    let plain = plain.input(Side::West, [(0, [Some(2), Some(3)])]).input(Side::North, [(1, [None, Some(5)])]);
    let outcome = run(plain, 3);
    assert_eq!(outcome.states, [0, 40 + 2 * 5, 0, 0]);
}

#[test]
fn misuse_of_states_and_memory_is_named() {
    let message = |array: Builder<Mac<i32>>| array.build().expect_err("refused").to_string();
    let array = || connected(Mac::<i32>::new(), [2, 3]);
    assert_eq!(
        message(array().initial([((2, 0), 1)])),
        "a state for PE(2,0), but the array is 2×3 and counts from 0"
    );
    assert_eq!(
        message(array().initial([((1, 2), 1), ((1, 2), 1)])),
        "a second state for PE(1,2): give each PE one"
    );
    assert!(message(array().memory_limit(100)).ends_with("above the limit of 100 bytes"));
    let huge = message(connected(Mac::new(), [usize::MAX, usize::MAX]));
    assert!(huge.starts_with("an array of 18446744073709551615×18446744073709551615 would take"), "{huge}");
}

#[test]
fn results_are_whole_or_flagged() {
    let array = || connected(Mac::<i64>::new(), [1, 3]).input(Side::West, [(0, [Some(1), Some(2)])]);
    let states = |ticks| {
        let outcome = run(array(), ticks);
        (outcome.complete, outcome.left, outcome.ticks)
    };
    // Two entries, each of which reaches the third PE two ticks after it has entered.
    let seen: Vec<_> = (1..=5).map(states).collect();
    assert_eq!(seen, [(false, 1, 1), (false, 0, 2), (false, 0, 3), (true, 0, 4), (true, 0, 5)]);
    let outcome = run(array(), 1);
    assert_eq!(outcome.matrix().collect::<Vec<_>>(), [[0, 0, 0]]);
}
