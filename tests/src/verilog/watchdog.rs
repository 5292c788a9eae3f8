//! External programs that must come to an end.

use super::BenchError;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a program in a folder until it ends, for at most `limit`.
///
/// # Errors
/// A program that cannot be started, fails, or is killed at the end of its time.
pub fn finish(
    mut command: Command,
    tool: &'static str,
    design: &str,
    folder: &Path,
    limit: Duration,
) -> Result<(), BenchError> {
    let path = folder.join(format!("{tool}.log"));
    let io = |error| BenchError::Io { design: design.to_owned(), path: path.clone(), error };
    // Into a file: a pipe that nobody reads would block the program.
    let log = File::create(&path).map_err(io)?;
    command.current_dir(folder).stdin(Stdio::null());
    command.stdout(log.try_clone().map_err(io)?).stderr(log);
    let mut child = command.spawn().map_err(|error| BenchError::Missing { tool, error })?;
    let end = Instant::now() + limit;
    loop {
        match child.try_wait().map_err(io)? {
            Some(status) if status.success() => return Ok(()),
            Some(_) => {
                let text = fs::read_to_string(&path).map_err(io)?;
                return Err(BenchError::Compile { design: design.to_owned(), tool, log: tail(&text) });
            }
            None if Instant::now() > end => {
                child.kill().map_err(io)?;
                child.wait().map_err(io)?;
                return Err(BenchError::Hang { design: design.to_owned(), stage: tool.to_owned(), limit });
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// The last lines of a log.
pub fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
