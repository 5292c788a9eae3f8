//! The wire's suite at every level that this machine has.

use std::process::ExitCode;
use std::sync::Arc;
use systole_tests::level::{Level, Present, trials};
use systole_tests::wire::compiled::Compiled;
use systole_tests::wire::core::RustHdl;
use systole_tests::wire::{WireLevel, reach, rules};

fn main() -> ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let verilog = Compiled::verilog().map(|level| Arc::new(level) as _).map_err(|error| error.to_string());
    let levels: [(Level, Present<dyn WireLevel>); 2] =
        [(Level::RustHdl, Ok(Arc::new(RustHdl))), (Level::Verilog, verilog)];
    let rules = rules::rules();
    let tests = levels.iter().flat_map(|(level, present)| trials(&rules, *level, present)).collect();
    let conclusion = libtest_mimic::run(&arguments, tests);
    let all = conclusion.num_filtered_out == 0 && conclusion.num_passed > 0 && !conclusion.has_failed();
    let gaps = if all { reach::gaps() } else { vec![] };
    gaps.iter().for_each(|gap| eprintln!("{gap}"));
    if gaps.is_empty() { conclusion.exit_code() } else { ExitCode::FAILURE }
}
