//! Section 5 of the contract: the software array as a library (R29–R35), with the worked example as literals.

use systole::software::array::Builder;
use systole::software::tile::PerPe;
use systole::software::trace::{Event, JsonLines, Off};
use systole::software::{
    Array, Direction, Inputs, Mac, Machine, Outputs, Pe, Side, SoftwareError, Token, TokenPe, TokenState,
};
use systole_hdl::wire::ErrorKind;

/// West and north streams of the worked example, lane after lane.
const WEST: [[i64; 2]; 2] = [[1, 2], [3, 4]];
const NORTH: [[i64; 2]; 2] = [[5, 7], [6, 8]];

fn connected<P: Pe>(pe: P) -> Builder<P> {
    Array::new(2, 2).fill(pe).connect(Direction::WestToEast).connect(Direction::NorthToSouth)
}

/// Streams of one side; `skew` gives the entries that come before the first token of a lane.
fn streams<T>(
    lanes: [[i64; 2]; 2],
    skew: fn(usize) -> usize,
    token: fn(usize, i64) -> T,
) -> impl Iterator<Item = (usize, Vec<Option<T>>)> {
    lanes.into_iter().enumerate().map(move |(lane, values)| {
        let tokens = values.into_iter().enumerate().map(|(k, value)| Some(token(k, value)));
        (lane, (0..skew(lane)).map(|_| None).chain(tokens).collect())
    })
}

fn machine<P: Pe>(pe: P, skew: fn(usize) -> usize, token: fn(usize, i64) -> P::Token) -> Machine<P> {
    let array = connected(pe).input(Side::West, streams(WEST, skew, token));
    array.input(Side::North, streams(NORTH, skew, token)).build().expect("an array")
}

fn plain(_k: usize, value: i64) -> i64 {
    value
}

fn tagged(k: usize, value: i64) -> Token {
    Token { value: value as i32, job: 0, k: k as u16, valid: true }
}

const MAC: Mac<i64> = Mac::new();

const TOKEN_PE: TokenPe = TokenPe { k_len: 2, accumulator_bits: 32 };

#[test]
fn r29_inputs_are_what_the_neighbours_wrote_a_tick_ago() {
    let mut events = Vec::new();
    machine(MAC, |lane| lane, plain).run(5, &mut events).expect("a run");
    let at = |tick: u64, row: usize, column: usize| &events[4 * tick as usize + 2 * row + column];
    for event in &events {
        assert_eq!(event, at(event.tick, event.row, event.column));
        let (tick, row, column) = (event.tick, event.row, event.column);
        if tick > 0 && column > 0 {
            assert_eq!(event.inputs.west, at(tick - 1, row, column - 1).outputs.east);
        }
        if tick > 0 && row > 0 {
            assert_eq!(event.inputs.north, at(tick - 1, row - 1, column).outputs.south);
        }
        if tick > 0 {
            assert_eq!(event.before, at(tick - 1, row, column).after);
        }
    }
}

#[test]
fn r30_no_pe_sees_what_another_gives_in_the_same_tick() {
    let array = Array::new(3, 3).fill(MAC).connect(Direction::WestToEast);
    let mut machine = array.input(Side::West, [(1, vec![Some(9)])]).build().expect("an array");
    let mut seen = Vec::new();
    for _ in 0..4 {
        machine.run(1, &mut Off).expect("a tick");
        let holders = (0..9).filter(|p| machine.forwarded(p / 3, p % 3).0.is_some());
        seen.push(holders.collect::<Vec<_>>());
    }
    assert_eq!(seen, [vec![3], vec![4], vec![5], vec![]]);
}

#[test]
fn r32_events_come_sorted_and_the_same_every_time() {
    let trace = || {
        let mut events = Vec::new();
        machine(TOKEN_PE, |_| 0, tagged).run(5, &mut events).expect("a run");
        events
    };
    let events = trace();
    let order: Vec<_> = events.iter().map(|event| (event.tick, event.row, event.column)).collect();
    let expected: Vec<_> = (0..20).map(|i| (i / 4, i as usize / 2 % 2, i as usize % 2)).collect();
    assert_eq!(order, expected);
    assert_eq!(trace(), events);
}

#[test]
fn r34_plain_macs_without_skew() {
    let mut machine = machine(MAC, |_| 0, plain);
    let mut events = Vec::new();
    machine.run(5, &mut events).expect("a run");
    assert_eq!(machine.ticks(), 5);
    assert_eq!(machine.states(), [19, 8, 20, 50]);
    // (tick, row, column), west, north, before, after.
    let seen =
        |e: &Event<Mac<i64>>| ((e.tick, e.row, e.column), e.inputs.west, e.inputs.north, e.before, e.after);
    let trace: Vec<_> = events.iter().map(seen).collect();
    let expected = [
        ((0, 0, 0), Some(1), Some(5), 0, 5),
        ((0, 0, 1), None, Some(6), 0, 0),
        ((0, 1, 0), Some(3), None, 0, 0),
        ((0, 1, 1), None, None, 0, 0),
        ((1, 0, 0), Some(2), Some(7), 5, 19),
        ((1, 0, 1), Some(1), Some(8), 0, 8),
        ((1, 1, 0), Some(4), Some(5), 0, 20),
        ((1, 1, 1), Some(3), Some(6), 0, 18),
        ((2, 0, 0), None, None, 19, 19),
        ((2, 0, 1), Some(2), None, 8, 8),
        ((2, 1, 0), None, Some(7), 20, 20),
        ((2, 1, 1), Some(4), Some(8), 18, 50),
        ((3, 0, 0), None, None, 19, 19),
        ((3, 0, 1), None, None, 8, 8),
        ((3, 1, 0), None, None, 20, 20),
        ((3, 1, 1), None, None, 50, 50),
        ((4, 0, 0), None, None, 19, 19),
        ((4, 0, 1), None, None, 8, 8),
        ((4, 1, 0), None, None, 20, 20),
        ((4, 1, 1), None, None, 50, 50),
    ];
    assert_eq!(trace, expected);
    // A plain MAC passes everything on and raises nothing.
    for event in &events {
        assert_eq!((event.outputs.east, event.outputs.south), (event.inputs.west, event.inputs.north));
        assert_eq!(event.outputs.raised, None);
    }
}

#[test]
fn r34_token_pes_without_skew() {
    let mut machine = machine(TOKEN_PE, |_| 0, tagged);
    let mut events = Vec::new();
    machine.run(5, &mut events).expect("a run");
    let raised = |event: &Event<TokenPe>| Some((event.outputs.raised?, event.tick, event.row, event.column));
    let raised: Vec<_> = events.iter().filter_map(raised).collect();
    let expected = [
        (ErrorKind::Unpaired, 0, 0, 1),
        (ErrorKind::Unpaired, 0, 1, 0),
        (ErrorKind::KMismatch, 1, 0, 1),
        (ErrorKind::KMismatch, 1, 1, 0),
        (ErrorKind::Unpaired, 2, 0, 1),
        (ErrorKind::Unpaired, 2, 1, 0),
    ];
    assert_eq!(raised, expected);
    let mismatch = &events[4 + 1];
    assert_eq!((mismatch.inputs.west, mismatch.inputs.north), (Some(tagged(0, 1)), Some(tagged(1, 8))));
    let clean = |acc| TokenState { acc, count: 2, error: None };
    let missing = TokenState { acc: 0, count: 0, error: Some(ErrorKind::Unpaired) };
    assert_eq!(machine.states(), [clean(19), missing, missing, clean(50)]);
}

/// The trace of the unskewed token PEs as a file: what the fourth and the sixth event look like.
#[test]
fn r34_the_trace_as_json_lines() {
    let mut lines = JsonLines::new(Vec::new());
    machine(TOKEN_PE, |_| 0, tagged).run(5, &mut lines).expect("a run");
    let bytes = lines.finish().expect("a vector takes all");
    let text = String::from_utf8(bytes).expect("JSON is text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 20);
    let idle = r#"{"tick":0,"row":1,"column":1,"west":null,"north":null,"east":null,"south":null,"raised":null,"before":[0,0,null],"after":[0,0,null]}"#;
    assert_eq!(lines[3], idle);
    let mismatch = r#"{"tick":1,"row":0,"column":1,"west":[1,0,0,true],"north":[8,0,1,true],"east":[1,0,0,true],"south":[8,0,1,true],"raised":"k mismatch","before":[0,0,"unpaired operand"],"after":[0,0,"unpaired operand"]}"#;
    assert_eq!(lines[5], mismatch);
}

#[test]
fn r34_skewed_streams_make_the_product() {
    let states = [[5, 0, 0, 0], [19, 6, 15, 0], [19, 22, 43, 18], [19, 22, 43, 50], [19, 22, 43, 50]];
    let mut plain_macs = machine(MAC, |lane| lane, plain);
    let mut tokens = machine(TOKEN_PE, |lane| lane, tagged);
    for after in states {
        plain_macs.run(1, &mut Off).expect("a tick");
        tokens.run(1, &mut Off).expect("a tick");
        assert_eq!(plain_macs.states(), after);
        assert_eq!(tokens.states().iter().map(|state| state.acc).collect::<Vec<_>>(), after);
    }
    assert!(tokens.states().iter().all(|state| TOKEN_PE.done(state) && state.error.is_none()));
}

/// A PE of a user: it adds where others multiply and takes the larger where others add. Its identity is that nothing has
/// been taken yet.
#[derive(Clone)]
struct MaxPlus;

impl Pe for MaxPlus {
    type Token = i64;
    type State = Option<i64>;
    type Tile = PerPe<Self>;

    fn initial(&self) -> Option<i64> {
        None
    }

    fn step(&self, largest: &mut Option<i64>, inputs: &Inputs<i64>) -> Outputs<i64> {
        if let (Some(a), Some(b)) = (inputs.west, inputs.north) {
            *largest = (*largest).max(Some(a + b));
        }
        Outputs { east: inputs.west, south: inputs.north, raised: None }
    }
}

#[test]
fn r35_any_pe_fills_an_array() {
    // Largest over k of A(i,k) + B(k,j), of A = [[1,2],[3,4]] and B = [[5,6],[7,8]]; of negative sums too.
    let mut machine = machine(MaxPlus, |lane| lane, plain);
    machine.run(4, &mut Off).expect("a run");
    assert_eq!(machine.states(), [Some(9), Some(10), Some(11), Some(12)]);
    let array = connected(MaxPlus).input(Side::West, [(0, [Some(-9), Some(-7)])]);
    let mut machine = array.input(Side::North, [(0, [Some(-1), Some(-4)])]).build().expect("an array");
    machine.run(4, &mut Off).expect("a run");
    assert_eq!(machine.states(), [Some(-10), None, None, None]);
}

#[test]
fn r35_no_token_is_not_a_zero() {
    let array =
        Array::new(1, 1).fill(TOKEN_PE).connect(Direction::WestToEast).connect(Direction::NorthToSouth);
    let lane = [Some(tagged(0, 0)), None, Some(tagged(1, 0))];
    let mut machine =
        array.input(Side::West, [(0, lane)]).input(Side::North, [(0, lane)]).build().expect("an array");
    machine.run(3, &mut Off).expect("a run");
    assert_eq!(machine.states()[0], TokenState { acc: 0, count: 2, error: None });
}

#[test]
fn r35_a_run_goes_on_where_it_stopped() {
    let mut whole = machine(MAC, |lane| lane, plain);
    whole.run(4, &mut Off).expect("a run");
    let mut pieces = machine(MAC, |lane| lane, plain);
    pieces.run(1, &mut Off).expect("a run");
    pieces.run(3, &mut Off).expect("a run");
    assert_eq!((pieces.states(), pieces.ticks()), (whole.states(), 4));
}

#[test]
fn r35_every_misuse_is_a_clear_error() {
    let refused = |array: Builder<Mac<i64>>| array.build().expect_err("refused").to_string();
    let one = |side, coordinate| (side, [(coordinate, vec![Some(1)])]);
    let feed = |array: Builder<Mac<i64>>, (side, streams)| array.input(side, streams);
    let messages = [
        (refused(Array::new(0, 3).fill(MAC)), "an array of 0×3 has no PE: both sides must be at least 1"),
        (refused(Array::new(3, 0).fill(MAC)), "an array of 3×0 has no PE: both sides must be at least 1"),
        (
            refused(feed(connected(MAC), one(Side::West, 2))),
            "a stream for west 2, but the west side has coordinates 0..=1",
        ),
        (
            refused(feed(connected(MAC), one(Side::North, 7))),
            "a stream for north 7, but the north side has coordinates 0..=1",
        ),
        (
            refused(feed(feed(connected(MAC), one(Side::North, 1)), one(Side::North, 1))),
            "a second stream for north 1: give each coordinate one stream",
        ),
        (
            refused(connected(MAC).connect(Direction::WestToEast)),
            "west-to-east is connected twice: connect each direction once",
        ),
        (
            refused(feed(Array::new(2, 2).fill(MAC).connect(Direction::NorthToSouth), one(Side::West, 0))),
            "a stream enters from the west, but west-to-east is not connected",
        ),
    ];
    for (message, expected) in messages {
        assert_eq!(message, expected);
    }
    let mut machine = connected(MAC).build().expect("an array");
    let error = machine.run(0, &mut Off).expect_err("no ticks");
    assert_eq!(error.to_string(), "a run of 0 ticks executes nothing: ask for at least 1");
    assert!(matches!(machine.feed(Side::West, 2, [Some(1)]), Err(SoftwareError::OffSide { last: 1, .. })));
}
