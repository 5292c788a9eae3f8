//! Which states and transitions of the core's machines the suite has been through.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use systole_hdl::codec::{Content, Reply};
use systole_hdl::command_reader::Reading;
use systole_hdl::executor::Task;
use systole_hdl::frame_decoder::{Place, Step};
use systole_hdl::frame_part::Part;
use systole_hdl::wire::Nak;

/// The states after an edge.
#[derive(Clone, Copy, Debug)]
pub struct States {
    /// Decoder: where in a frame.
    pub place: Place,
    /// Decoder: what it does.
    pub step: Step,
    /// Reader of commands.
    pub reading: Reading,
    /// Executor.
    pub doing: Task,
    /// Encoder.
    pub part: Part,
    /// The FIFO is full.
    pub full: bool,
    /// The FIFO holds no command.
    pub empty: bool,
}

/// What one core went through.
#[derive(Default)]
pub struct Seen {
    last: Option<States>,
    /// `transitions[machine][from][to]`.
    transitions: [[[bool; STATES]; STATES]; MACHINES],
    full: bool,
    filled_and_emptied: bool,
}

const MACHINES: usize = 5;
const STATES: usize = 16;

/// What all cores of this process went through, by name.
static REACHED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn numbers(s: &States) -> [usize; MACHINES] {
    [s.place as usize, s.step as usize, s.reading as usize, s.doing as usize, s.part as usize]
}

impl Seen {
    /// Takes note of the states after an edge.
    pub fn note(&mut self, states: States) {
        let to = numbers(&states);
        let from = self.last.map_or(to, |last| numbers(&last));
        for machine in 0..MACHINES {
            self.transitions[machine][from[machine]][to[machine]] = true;
        }
        self.filled_and_emptied |= self.full && states.empty;
        self.full |= states.full;
        self.last = Some(states);
    }

    /// Adds it to what the process has reached.
    pub fn keep(&self) {
        let mut reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
        for (machine, names) in machines().iter().enumerate() {
            for (from, row) in self.transitions[machine].iter().enumerate() {
                let to = row.iter().enumerate().filter(|(to, on)| **on && *to != from);
                reached.extend(to.map(|(to, _)| format!("{} > {}", names[from], names[to])));
            }
        }
        if self.full {
            reached.insert("fifo full".into());
        }
        if self.filled_and_emptied {
            reached.insert("fifo empty after full".into());
        }
    }
}

/// Takes note of a reply.
pub fn reply(reply: &Reply) {
    if let Content::Nak(reason) = reply.content {
        let mut reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
        reached.insert(format!("NAK {reason}"));
    }
}

/// The states of each machine by name, in the order of their numbers.
fn machines() -> [Vec<String>; MACHINES] {
    use {Part as P, Place as L, Reading as R, Step as S, Task as T};
    let places = [L::Outside, L::Opcode, L::Seq, L::LengthLow, L::LengthHigh, L::Body, L::Broken];
    let steps = [S::Take, S::Rest, S::Measure, S::Judge, S::Greet];
    let readings = [R::Opcode, R::Seq, R::LengthLow, R::LengthHigh, R::Arguments, R::Loaded];
    let tasks = [
        T::Wait,
        T::Write,
        T::Drain,
        T::Arm,
        T::Measure,
        T::Open,
        T::Start,
        T::Run,
        T::Echo,
        T::Count,
        T::Retire,
        T::Answered,
    ];
    let parts = [P::Idle, P::Open, P::Head, P::Table, P::Stream, P::Jobs, P::Crc, P::Close, P::Break];
    fn names<S: std::fmt::Debug>(machine: &str, states: &[S]) -> Vec<String> {
        states.iter().map(|state| format!("{machine} {state:?}")).collect()
    }
    [
        names("place", &places),
        names("step", &steps),
        names("reading", &readings),
        names("executor", &tasks),
        names("encoder", &parts),
    ]
}

/// Every transition that the descriptions have, a machine a line; and those that reset or HELLO force from anywhere.
const TRANSITIONS: &[(&str, &str)] = &[
    ("place", "Outside>Opcode Opcode>Seq Seq>LengthLow LengthLow>LengthHigh LengthHigh>Body Body>Opcode"),
    ("place", "Seq>Opcode LengthLow>Opcode LengthHigh>Opcode Broken>Opcode"),
    ("place", "Opcode>Broken Seq>Broken LengthLow>Broken LengthHigh>Broken Body>Broken"),
    ("step", "Take>Rest Rest>Take Take>Measure Measure>Judge Judge>Take Judge>Greet Greet>Take"),
    ("reading", "Opcode>Seq Seq>LengthLow LengthLow>LengthHigh LengthHigh>Arguments LengthHigh>Loaded"),
    ("reading", "Arguments>Loaded Loaded>Opcode"),
    (
        "executor",
        "Wait>Write Wait>Measure Wait>Arm Wait>Drain Wait>Open Write>Retire Drain>Retire Arm>Retire",
    ),
    (
        "executor",
        "Measure>Open Open>Start Open>Answered Open>Count Open>Echo Start>Run Run>Start Run>Answered",
    ),
    ("executor", "Echo>Answered Count>Answered Retire>Wait Answered>Wait"),
    ("encoder", "Idle>Open Open>Head Head>Crc Head>Jobs Head>Table Head>Stream Table>Crc Stream>Crc"),
    ("encoder", "Jobs>Table Crc>Close Close>Idle Break>Idle"),
    ("encoder", "Open>Break Head>Break Table>Break Stream>Break Jobs>Break Crc>Break Close>Break"),
];

/// Where reset or HELLO take a machine.
const RESTS: [&str; 5] = ["place Outside", "step Take", "reading Opcode", "executor Wait", "encoder Idle"];

fn transitions() -> BTreeSet<String> {
    let pairs = TRANSITIONS.iter().flat_map(|(machine, list)| {
        list.split(' ').map(move |pair| {
            let (from, to) = pair.split_once('>').expect("FROM>TO");
            format!("{machine} {from} > {machine} {to}")
        })
    });
    pairs.collect()
}

/// What the suite should have reached and has not, and transitions that nobody knows of.
pub fn gaps() -> Vec<String> {
    let reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = transitions();
    let mut wanted = known.clone();
    wanted.extend(Nak::ALL.iter().map(|reason| format!("NAK {reason}")));
    wanted.extend(["fifo full".into(), "fifo empty after full".into()]);
    let missing = wanted.difference(&reached).map(|what| format!("never reached: {what}"));
    let forced = |what: &str| RESTS.iter().any(|rest| what.ends_with(&format!("> {rest}")));
    let strange = reached
        .iter()
        .filter(|what| what.contains('>') && !known.contains(*what) && !forced(what))
        .map(|what| format!("not in the list of transitions: {what}"));
    missing.chain(strange).collect()
}
