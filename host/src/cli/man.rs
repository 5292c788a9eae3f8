//! `systole man`: the help of every command as man pages.

use super::definition;
use crate::error::exit;
use crate::file::shown;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `systole man`.
#[derive(Debug, Args)]
#[command(after_help = "To read one: man DIR/systole-run.1")]
pub struct ManArgs {
    /// Into which folder, such as ~/.local/share/man/man1
    dir: PathBuf,
}

/// Writes one page a command; gives the exit code.
///
/// # Errors
/// The folder cannot be made or written.
pub fn main(arguments: &ManArgs) -> anyhow::Result<u8> {
    let dir = &arguments.dir;
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(definition(), dir))
        .with_context(|| format!("{}: the man pages cannot be written there", shown(dir)))?;
    Ok(exit::OK)
}
