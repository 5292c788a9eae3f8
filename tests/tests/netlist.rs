//! The suites on netlists of the images' own flow: whole jobs and the wire on cells of the iCE40, fewer on those of the ECP5.

use libtest_mimic::{Failed, Trial};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use systole_hdl::parameters::Parameters;
use systole_tests::contract::netlist::{Faulty, Netlist};
use systole_tests::contract::{self, Wrapper};
use systole_tests::image::{self, ImageLevel, Subject};
use systole_tests::level::{Level, Present, Rule, missing, named_trials};
use systole_tests::netlist::Flow;
use systole_tests::netlist::faults::Place;
use systole_tests::wire::{self, WireLevel, compiled::Compiled};

/// Prefix of the tests at a device.
fn at(device: &str) -> String {
    format!("{}::{device}", Level::PostSynthesis)
}

/// Whole jobs on the netlist of the wrapper.
fn jobs(board: &str) -> Present<dyn Wrapper> {
    Flow::of(board).map(|flow| Arc::new(Netlist::new(flow)) as _)
}

/// The wire on the netlist of the core.
fn core(board: &str) -> Present<dyn WireLevel> {
    Flow::of(board).map(|flow| Arc::new(Compiled::netlist(flow)) as _)
}

/// An image at its pins.
fn image(board: &str, clock_hz: u32) -> Present<dyn ImageLevel> {
    let subject = Subject::small(board, clock_hz);
    Flow::of(board).map(|flow| Arc::new(image::compiled::Compiled::netlist(flow, subject)) as _)
}

/// The first of the rules that a netlist breaks.
fn notices(netlist: &Faulty, rules: &[Rule<dyn Wrapper>]) -> Option<&'static str> {
    let broken =
        |rule: &&Rule<dyn Wrapper>| catch_unwind(AssertUnwindSafe(|| (rule.check)(netlist))).is_err();
    rules.iter().find(broken).map(|rule| rule.name)
}

/// Complements every LUT of a netlist and takes a product from every multiplier, one at a time, and looks whether the
/// contract notices. A LUT of something that no short job reaches, such as the upper bits of a counter, goes unnoticed.
fn faults(flow: &Flow) -> Result<(), Failed> {
    let parameters = Parameters { n: 2, k_max: 8, ..Parameters::default() };
    let netlist = Faulty::new(flow, &parameters)?;
    // Rules of other designs break on this one.
    let mut rules = contract::rules::wrapper();
    rules.retain(|rule| notices(&netlist, std::slice::from_ref(rule)).is_none());
    let names: Vec<_> = rules.iter().map(|rule| rule.name).collect();
    assert!(names.contains(&"r27_one_job_at_a_time") && rules.len() >= 5, "sound without a fault: {names:?}");
    // The one with the most jobs first: it notices most.
    rules.sort_by_key(|rule| rule.name != "r27_one_job_at_a_time");

    let unnoticed = |(place, _): &(u64, &Place)| {
        netlist.chosen.store(*place, Ordering::Relaxed);
        notices(&netlist, &rules).is_none()
    };
    let unnoticed: Vec<_> = (1..).zip(&netlist.places).filter(unnoticed).map(|(_, place)| place).collect();
    let (all, missed) = (netlist.places.len(), unnoticed.len());
    println!("{} of {all} faults in the netlist noticed by {} rules", all - missed, rules.len());
    unnoticed.iter().for_each(|place| println!("unnoticed: {} {}", place.cell, place.name));
    let of_products = |place: &&&Place| place.cell == "SB_MAC16" || place.name.contains(".product");
    assert_eq!(unnoticed.iter().find(of_products), None, "a product that is wrong");
    assert!(missed * 20 <= all, "{missed} of {all} unnoticed");
    Ok(())
}

/// Rules of designs of their own, for which to make netlists takes a minute more: run with `--include-ignored`.
const LONG: [&str; 2] = ["r24a_lengths_beyond_the_limit_are_refused", "r24a_the_largest_sums_come_back"];

/// Rules of one small design, a distinct product in every PE among them: those for which a second family is put together.
const SHORT: [&str; 5] = [
    "r07_paused_edges_are_counted_apart",
    "r24_missing_terms_are_reported",
    "r24b_the_lowest_pe_is_reported_not_the_worst_kind",
    "r27_one_job_at_a_time",
    "r28_a_fault_acts_on_one_job_only",
];

/// What is in the bitstream of an image that has no PLL and no multipliers: the program that reads it knows neither.
fn routed(board: &str, clock_hz: u32) -> Present<dyn ImageLevel> {
    let flow = Flow::of(board)?;
    image::compiled::Compiled::routed(flow, Subject::small(board, clock_hz)).map(|image| Arc::new(image) as _)
}

/// Tests that are run when asked for, with `--ignored` or `--include-ignored`.
fn on_demand(tests: Vec<Trial>, which: impl Fn(&str) -> bool) -> impl Iterator<Item = Trial> {
    tests.into_iter().map(move |test| {
        let ignored = test.has_ignored_flag() || which(test.name());
        test.with_ignored_flag(ignored)
    })
}

fn main() -> ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    // Rules that a fault breaks panic, as they should: what they say is of no interest. What others say is shown anyway.
    std::panic::set_hook(Box::new(|_| ()));
    let level = Level::PostSynthesis;
    let all = contract::rules::wrapper();
    let mut short = contract::rules::wrapper();
    short.retain(|rule| SHORT.contains(&rule.name));
    assert_eq!(short.len(), SHORT.len(), "rules of other names");

    let jobs_of_all = named_trials(&at("up5k::jobs"), &all, level, &jobs("icebreaker"));
    let mut tests: Vec<Trial> =
        on_demand(jobs_of_all, |name| LONG.iter().any(|long| name.ends_with(long))).collect();
    let name = format!("{}::a_wrong_cell_is_noticed", at("up5k::jobs"));
    tests.push(match Flow::of("icebreaker") {
        Ok(flow) => Trial::test(name, move || faults(&flow)),
        Err(why) => missing(name, level, &why),
    });
    tests.extend(named_trials(&at("ecp5::jobs"), &short, level, &jobs("ulx3s-12f")));
    tests.extend(named_trials(&at("hx8k::wire"), &wire::rules::rules(), level, &core("hx8k-b-evn")));
    let pins = image::rules::rules();
    tests.extend(named_trials(&at("up5k::image"), &pins, level, &image("icebreaker", 24_000_000)));
    let routed = named_trials(&at("hx8k::routed"), &pins, level, &routed("hx8k-b-evn", 12_000_000));
    tests.extend(on_demand(routed, |_| true));
    libtest_mimic::run(&arguments, tests).exit_code()
}
