//! Running a tool: its output goes to a log, and a failure tells the end of it.

use super::{Found, ToolchainError};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// Lines of a log that an error shows.
const TAIL: usize = 15;

impl Found {
    /// The arguments with which yosys runs a script: a program takes an option, `PYOSYS` the name alone.
    pub fn script_arguments<'a>(&self, script: &'a str) -> Vec<&'a str> {
        if self.leading.is_empty() { vec!["-s", script] } else { vec![script] }
    }

    /// Runs the tool in `folder`, its output in the file `log` there. File names among the arguments must be relative to
    /// `folder`: programs compiled to WebAssembly see little else of the file system.
    ///
    /// # Errors
    /// It cannot be started, or fails: with the end of its output.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
        log: &str,
    ) -> Result<(), ToolchainError> {
        let mut command = Command::new(&self.program);
        command.args(&self.leading).args(arguments).env("YOWASP_CACHE_DIR", &self.wasm_cache);
        run(command, self.tool.name(), folder, log)
    }
}

/// Runs a command in `folder` with its output in the file `log` there.
pub(super) fn run(mut command: Command, tool: &str, folder: &Path, log: &str) -> Result<(), ToolchainError> {
    let log = folder.join(log);
    let io = |source| ToolchainError::Io { action: "write", path: log.clone(), source };
    let output = File::create(&log).map_err(io)?;
    let errors = output.try_clone().map_err(io)?;
    let program = command.get_program().into();
    let status = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .status()
        .map_err(|source| ToolchainError::Start { program, source })?;
    if status.success() {
        return Ok(());
    }
    Err(ToolchainError::Failed { tool: tool.to_owned(), status: status.to_string(), tail: tail(&log), log })
}

/// The end of a log, as an error shows it; empty where there is none.
pub fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}
