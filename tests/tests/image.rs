//! A whole image at its pins, before synthesis. Its netlist is in the suite of netlists.

use std::process::ExitCode;
use std::sync::Arc;
use systole_tests::image::{ImageLevel, Subject, compiled::Compiled, rules, rust_hdl::RustHdl};
use systole_tests::level::{Level, Present, trials};

fn main() -> ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    // With a PLL.
    let subject = || Subject::small("icebreaker", 24_000_000);
    let verilog = Compiled::verilog(subject()).map(|level| Arc::new(level) as _);
    let levels: [(Level, Present<dyn ImageLevel>); 2] =
        [(Level::RustHdl, Ok(Arc::new(RustHdl::new(subject())))), (Level::Verilog, verilog)];
    let rules = rules::rules();
    let tests = levels.iter().flat_map(|(level, present)| trials(&rules, *level, present)).collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}
