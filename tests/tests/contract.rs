//! The contract at every level that this machine has.

use std::process::ExitCode;
use std::sync::Arc;
use systole_tests::contract::rust_hdl::RustHdl;
use systole_tests::contract::software::Software;
use systole_tests::contract::verilog::Verilog;
use systole_tests::contract::{Grid, Wrapper, rules};
use systole_tests::level::{Level, Present, trials};

/// The generated Verilog, or why it cannot run here.
fn verilog() -> Present<Verilog> {
    Verilog::new().map(Arc::new).map_err(|error| error.to_string())
}

/// The array alone, at each level.
fn grids(verilog: &Present<Verilog>) -> Vec<(Level, Present<dyn Grid>)> {
    vec![
        (Level::Software, Ok(Arc::new(Software))),
        (Level::RustHdl, Ok(Arc::new(RustHdl))),
        (Level::Verilog, verilog.clone().map(|level| level as Arc<dyn Grid>)),
    ]
}

/// The array with its wrapper, at each level.
fn wrappers(verilog: &Present<Verilog>) -> Vec<(Level, Present<dyn Wrapper>)> {
    vec![
        (Level::Software, Ok(Arc::new(Software))),
        (Level::RustHdl, Ok(Arc::new(RustHdl))),
        (Level::Verilog, verilog.clone().map(|level| level as Arc<dyn Wrapper>)),
    ]
}

fn main() -> ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let verilog = verilog();
    let grids = grids(&verilog).into_iter().flat_map(|(level, grid)| trials(&rules::grid(), level, &grid));
    let wrappers = wrappers(&verilog)
        .into_iter()
        .flat_map(|(level, wrapper)| trials(&rules::wrapper(), level, &wrapper));
    libtest_mimic::run(&arguments, grids.chain(wrappers).collect()).exit_code()
}
