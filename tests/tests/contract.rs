//! The contract at every level that this machine has.

use std::process::ExitCode;
use std::sync::Arc;
use systole_tests::contract::rust_hdl::RustHdl;
use systole_tests::contract::software::Software;
use systole_tests::contract::verilog::Verilog;
use systole_tests::contract::{Grid, Wrapper, rules};
use systole_tests::level::{Level, Present, trials};

/// The array alone, at each level.
fn grids() -> Vec<(Level, Present<dyn Grid>)> {
    vec![
        (Level::Software, Ok(Arc::new(Software))),
        (Level::RustHdl, Ok(Arc::new(RustHdl))),
        (
            Level::Verilog,
            Verilog::new().map(|level| Arc::new(level) as Arc<dyn Grid>).map_err(|e| e.to_string()),
        ),
    ]
}

/// The array with its wrapper, at each level.
fn wrappers() -> Vec<(Level, Present<dyn Wrapper>)> {
    vec![(Level::Software, Ok(Arc::new(Software))), (Level::RustHdl, Ok(Arc::new(RustHdl)))]
}

fn main() -> ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let grids = grids().into_iter().flat_map(|(level, grid)| trials(&rules::grid(), level, &grid));
    let wrappers =
        wrappers().into_iter().flat_map(|(level, wrapper)| trials(&rules::wrapper(), level, &wrapper));
    libtest_mimic::run(&arguments, grids.chain(wrappers).collect()).exit_code()
}
