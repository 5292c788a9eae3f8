//! `systole completions`: what a shell needs to complete the command line.

use super::{definition, output::print};
use crate::error::exit;
use clap::Args;
use clap_complete::{Shell, generate};

/// Arguments of `systole completions`.
#[derive(Debug, Args)]
#[command(after_help = "For bash: source <(systole completions bash)")]
pub struct CompletionsArgs {
    /// For which shell
    shell: Shell,
}

/// Prints the completions; gives the exit code.
///
/// # Errors
/// They cannot be written.
pub fn main(arguments: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut definition(), "systole", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(exit::OK)
}
