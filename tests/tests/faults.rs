//! Thousands of jobs over links that lose, change, repeat, invent and hold up bytes, over boards that brown out and
//! hosts that are killed. Prints what was injected, noticed and made good; none of it is ever zero where there is something
//! to notice, no product is ever wrong, nothing hangs.
//!
//! `cargo test --release -p systole-tests --test faults -- --soak MINUTES` goes on with ever new seeds.

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use systole_tests::cycles;
use systole_tests::faults::disturbed::Fault;
use systole_tests::faults::tally::Tally;
use systole_tests::faults::{PRODUCT, brown_out, designs, disturb, gateware, model};

mod host;

/// Chances of a byte to suffer, and products at each.
const RATES: [(f64, u64); 2] = [(1e-3, 6), (1e-4, 10)];

/// Most bytes that a fault may cost on average. A reset costs all that the banks held, any other fault what was in
/// flight, and that is at most a FIFO.
const MOST_BYTES: u64 = 1024;

/// Fewest jobs over all.
const JOBS: u64 = 2000;

/// What came of each test.
static ROWS: Mutex<Vec<(String, Tally)>> = Mutex::new(Vec::new());

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [host::FLAG, path] => return host::run(path),
        ["--soak", minutes] => return soak(minutes),
        _ => {}
    }
    let mut trials: Vec<Trial> = Fault::ALL
        .into_iter()
        .map(|fault| trial(format!("gateware_{}", fault.name()), move || over_gateware(fault)))
        .collect();
    trials.push(trial("gateware_brown_out".to_owned(), brown_outs));
    trials.push(trial("model_every_kind".to_owned(), over_model));
    trials.extend(
        Fault::ALL
            .into_iter()
            .map(|fault| trial(format!("terminal_{}", fault.name()), move || host::over_terminal(fault))),
    );
    trials.push(trial("terminal_brown_out".to_owned(), host::brown_outs));
    trials.push(trial("terminal_host_killed".to_owned(), host::killed));
    let arguments = Arguments::from_args();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let rows = ROWS.lock().expect("no test panics with it");
    let (mut total, mut on_gateware) = (Tally::default(), 0);
    println!("{}", Tally::HEAD);
    for (name, tally) in rows.iter() {
        println!("{}{}", tally.row(name), harmless(name).map_or_else(String::new, |why| format!("  {why}")));
        total += *tally;
        on_gateware += if name.starts_with("gateware") { tally.jobs } else { 0 };
    }
    println!("{}\n", total.row("all"));
    cycles::report("faults", total.cycles);
    let whole = arguments.filter.is_none() && !arguments.list && !conclusion.has_failed();
    if whole && (total.jobs < JOBS || 2 * on_gateware < total.jobs) {
        println!("{} jobs, {on_gateware} on the gateware: too few of {JOBS}, or less than half", total.jobs);
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// A test that gives a tally, of which nothing may be zero but what [`harmless`] explains.
fn trial(name: String, run: impl Fn() -> Tally + Send + 'static) -> Trial {
    let shown = name.clone();
    Trial::test(name, move || {
        let tally = run();
        ROWS.lock().expect("no test panics with it").push((shown.clone(), tally));
        check(&shown, &tally);
        Ok(())
    })
}

/// Why there is nothing to detect in faults of a kind.
fn harmless(name: &str) -> Option<&'static str> {
    if name.ends_with(Fault::Delay.name()) {
        Some("none is detected: late bytes within a deadline are no error")
    } else if name.ends_with("host_killed") {
        Some("none is detected: the next host's HELLO resets the board")
    } else {
        None
    }
}

fn check(name: &str, tally: &Tally) {
    assert!(tally.injected > 0 && tally.recovered > 0, "{name}: nothing happened: {tally:?}");
    assert!(tally.detected > 0 || harmless(name).is_some(), "{name}: nobody noticed: {tally:?}");
    // One of a few is no rate.
    let failed = if tally.right < 20 { tally.named.saturating_sub(1) } else { tally.named };
    assert!(tally.right >= 9 * failed, "{name}: more than a tenth came to nothing: {tally:?}");
    assert!(tally.bytes_to_recover() <= MOST_BYTES, "{name}: a fault costs too much: {tally:?}");
}

/// Faults of one kind on the way to the simulated gateware.
fn over_gateware(fault: Fault) -> Tally {
    let mut tally = Tally::default();
    for (rate, products) in RATES {
        for seed in 0..products {
            let design = &designs()[seed as usize % 2];
            disturb(gateware(design), design, PRODUCT, (fault, rate), seed, &mut tally);
        }
    }
    tally
}

/// Faults of every kind on the way to the model, which is fast enough for many.
fn over_model() -> Tally {
    let mut tally = Tally::default();
    for (number, fault) in Fault::ALL.into_iter().enumerate() {
        for seed in 0..6 {
            let design = &designs()[seed as usize % 2];
            let rate = RATES[number % 2].0;
            disturb(model(design), design, PRODUCT, (fault, rate), 100 + seed, &mut tally);
        }
    }
    tally
}

/// Resets while a job runs.
fn brown_outs() -> Tally {
    let mut tally = Tally::default();
    for seed in 0..8 {
        brown_out(&designs()[seed as usize % 2], 1 + seed as u32 % 3, seed, &mut tally);
    }
    tally
}

/// Goes on for some minutes with a seed of its own for every product.
fn soak(minutes: &str) -> ExitCode {
    let Ok(minutes) = minutes.parse::<u64>() else {
        println!("--soak takes a number of minutes, not '{minutes}'");
        return ExitCode::FAILURE;
    };
    let (begun, mut seed) = (Instant::now(), 1000);
    let mut tallies = [Tally::default(); Fault::ALL.len() + 1];
    while begun.elapsed() < Duration::from_secs(60 * minutes) {
        for ((fault, rate), tally) in Fault::ALL
            .into_iter()
            .flat_map(|fault| RATES.map(|rate| (fault, rate.0)))
            .zip((0..).map(|i| i / 2))
        {
            let design = &designs()[seed as usize % 2];
            disturb(gateware(design), design, PRODUCT, (fault, rate), seed, &mut tallies[tally]);
            disturb(model(design), design, PRODUCT, (fault, rate), seed, &mut tallies[tally]);
            seed += 1;
        }
        brown_out(&designs()[seed as usize % 2], 1 + seed as u32 % 3, seed, &mut tallies[Fault::ALL.len()]);
    }
    println!("{}", Tally::HEAD);
    for (name, tally) in Fault::ALL.map(Fault::name).into_iter().chain(["brown-out"]).zip(&tallies) {
        println!("{}", tally.row(name));
        check(name, tally);
    }
    println!("seeds 1000..{seed}: no wrong product, no hang");
    ExitCode::SUCCESS
}
