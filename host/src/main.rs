//! The `systole` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    systole::cli::main(std::env::args_os()).into()
}
