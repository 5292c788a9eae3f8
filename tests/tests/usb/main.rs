//! The USB tier: the program, the programmer and other people's programs against the model of a board, on a real kernel's
//! USB stack.
//!
//! Runs in the virtual machine of the script `tests/usb`. Anywhere else every scenario shows as ignored.

mod bench;
mod cable;
mod channel;
mod evening;
mod flashing;
mod measures;
mod oracle;
mod products;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;
use std::time::Instant;
use systole_tests::level::{Level, missing};

/// A scenario: its name, and what panics when it fails.
type Scenario = (&'static str, fn());

/// What takes longer than CI has: run when asked for by name, or all.
const LONG: [Scenario; 3] = [
    ("long_a_full_image_natively_and_by_iceprog", measures::full_image),
    ("long_figures_of_both_links", measures::links),
    ("long_flash_erase_leaves_nothing", evening::erase),
];

const SCENARIOS: [&[Scenario]; 6] = [
    &channel::SCENARIOS,
    &products::SCENARIOS,
    &flashing::SCENARIOS,
    &evening::SCENARIOS,
    &oracle::SCENARIOS,
    &cable::SCENARIOS,
];

fn main() -> ExitCode {
    let (all, mut arguments): (Vec<String>, Vec<String>) = std::env::args().partition(|word| word == "--all");
    // libtest-mimic takes one name; here it may be several.
    let names: Vec<String> = arguments.split_off(1);
    let (flags, names): (Vec<String>, Vec<String>) = names
        .into_iter()
        .partition(|word| word.starts_with('-') || word == "never" || word.parse::<u32>().is_ok());
    let long: &[Scenario] = if all.is_empty() && names.is_empty() { &[] } else { &LONG };
    // A long one takes its name from the beginning.
    let wanted = |name: &str| {
        let meant = |part: &String| {
            if name.starts_with("long_") {
                name.starts_with(part.as_str())
            } else {
                name.contains(part.as_str())
            }
        };
        names.is_empty() || names.iter().any(meant)
    };
    let scenarios = SCENARIOS.into_iter().chain([long]).flatten().filter(|(name, _)| wanted(name));
    let inside = std::env::var_os("SYSTOLE_IN_USB_VM").is_some();
    let trials = scenarios.map(|&(name, run)| {
        if inside {
            Trial::test(name, move || {
                let begun = Instant::now();
                run();
                print!("{:.1} s ", begun.elapsed().as_secs_f64());
                Ok(())
            })
        } else {
            missing(name.to_owned(), Level::UsbStack, "run it with tests/usb")
        }
    });
    let arguments = Arguments::from_iter(arguments.into_iter().chain(flags));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
