//! The files of a build: what is written for the tools, and what they write.

use super::BuildError;
use super::synthesis::NETLIST_VERILOG;
use crate::toolchain::Tool;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder for the files of a build.
pub(super) fn folder() -> Result<TempDir, BuildError> {
    let folder = tempfile::Builder::new().prefix("systole-build-").tempdir();
    folder.map_err(|source| BuildError::Io { path: std::env::temp_dir(), source })
}

/// What a tool has written that ended well, as text. A log may have bytes of any kind in it.
pub(super) fn read(tool: Tool, path: &Path) -> Result<String, BuildError> {
    let bytes = fs::read(path).map_err(|source| incomplete(tool, path, source))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What is wrong with a file that a tool should have written.
pub(super) fn incomplete(tool: Tool, path: &Path, why: impl ToString) -> BuildError {
    BuildError::Output { tool: tool.name(), path: path.into(), why: why.to_string() }
}

/// The netlist as Verilog, which tools that run out of space leave without its end.
pub(super) fn netlist_in(folder: &Path) -> Result<String, BuildError> {
    let path = folder.join(NETLIST_VERILOG);
    let text = read(Tool::Yosys, &path)?;
    if text.trim_end().ends_with("endmodule") {
        Ok(text)
    } else {
        Err(incomplete(Tool::Yosys, &path, "it has no end"))
    }
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    fs::write(path, text).map_err(|source| BuildError::Io { path: path.into(), source })
}
