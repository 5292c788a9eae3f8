//! Running a tool: its output goes to a log, a failure tells the end of it, and who is interrupted takes it along.

use super::{Found, ToolchainError};
use crate::cache::sha256;
use rustix::fs::{StatVfs, statvfs};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, absolute};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Lines of a log that an error shows.
const TAIL: usize = 15;

/// Least space that is left, in bytes, where nobody ran out of it.
const ROOM: u64 = 1 << 20;

/// Time between two looks at a tool that runs.
const STEP: Duration = Duration::from_millis(10);

/// Longest wait for what a tool says of itself. The first start of one that is compiled to WebAssembly takes many seconds.
const PROBE: Duration = Duration::from_secs(60);

impl Found {
    /// The arguments with which yosys runs a script: a program takes an option, `PYOSYS` the name alone.
    pub fn script_arguments<'a>(&self, script: &'a str) -> Vec<&'a str> {
        if self.leading.is_empty() { vec!["-s", script] } else { vec![script] }
    }

    /// Runs the tool in `folder`, its output in the file `log` there. File names among the arguments must be relative to
    /// `folder`: programs compiled to WebAssembly see little else of the file system.
    ///
    /// # Errors
    /// It cannot be started, or fails: with the end of its output. Interrupted.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
        log: &str,
    ) -> Result<(), ToolchainError> {
        let mut command = Command::new(&self.program);
        command.args(&self.leading).args(arguments).env("YOWASP_CACHE_DIR", &self.wasm_cache);
        // What it leaves when it is killed goes with the folder.
        if let Ok(folder) = absolute(folder) {
            command.env("TMPDIR", folder);
        }
        run(command, self.tool.name(), folder, log, &self.cancel)?;
        // Some end well when they run out of space, and what they wrote is cut.
        match statvfs(folder) {
            // Some file systems tell no size.
            Ok(space) if space.f_blocks > 0 && free(&space) < ROOM => {
                Err(ToolchainError::Full { tool: self.tool, folder: folder.into() })
            }
            _ => Ok(()),
        }
    }
}

/// Runs a command in `folder` with its output in the file `log` there.
pub(super) fn run(
    mut command: Command,
    tool: &str,
    folder: &Path,
    log: &str,
    cancel: &AtomicBool,
) -> Result<(), ToolchainError> {
    let log = folder.join(log);
    let io = |source| ToolchainError::Io { action: "write", path: log.clone(), source };
    let output = File::create(&log).map_err(io)?;
    let errors = output.try_clone().map_err(io)?;
    let program = command.get_program().into();
    command.current_dir(folder).stdout(output).stderr(errors);
    match wait(&mut command, cancel, None) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(ToolchainError::Failed {
            tool: tool.to_owned(),
            status: status.to_string(),
            tail: tail(&log),
            log,
        }),
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(ToolchainError::Interrupted),
        Err(source) => Err(ToolchainError::Start { program, source }),
    }
}

/// What a program says of itself, errors last.
pub(super) fn said(command: &mut Command, cancel: &AtomicBool) -> io::Result<String> {
    let file = || {
        let named =
            |error: io::Error| format!("no temporary file in {}: {error}", std::env::temp_dir().display());
        tempfile::tempfile().map_err(|error| io::Error::new(error.kind(), named(error)))
    };
    let (mut output, mut errors) = (file()?, file()?);
    command.stdout(output.try_clone()?).stderr(errors.try_clone()?);
    wait(command, cancel, Some(PROBE))?;
    let mut text = Vec::new();
    for file in [&mut output, &mut errors] {
        file.rewind()?;
        file.read_to_end(&mut text)?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Bytes that this user may still write.
fn free(space: &StatVfs) -> u64 {
    let blocks = if geteuid().is_root() { space.f_bfree } else { space.f_bavail };
    blocks.saturating_mul(space.f_frsize)
}

/// What tells a program that does not tell its version from others: a hash of its file, or for a script of a Python package,
/// which all look alike, the version of the package. Of a script that only starts another program it tells little.
pub(super) fn identity(program: &Path, cancel: &AtomicBool) -> io::Result<String> {
    const VERSION: &str = "from importlib.metadata import version; print('apycula', version('apycula'))";
    let bytes = fs::read(program)?;
    let line = bytes.strip_prefix(b"#!").and_then(|rest| rest.split(|&byte| byte == b'\n').next());
    let mut words =
        line.and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default().split_whitespace();
    let asked = words
        .next()
        .filter(|_| line.is_some_and(|line| line.windows(6).any(|word| word == b"python")))
        .and_then(|python| said(Command::new(python).args(words).args(["-c", VERSION]), cancel).ok());
    let package = asked.and_then(|text| Some(text.lines().next()?.to_owned()));
    let package = package.filter(|line| line.starts_with("apycula "));
    Ok(package.unwrap_or_else(|| format!("SHA-256 {}", &sha256(&bytes)[..16])))
}

/// Runs a command to its end, or to the end of `limit`, or until `cancel`.
fn wait(command: &mut Command, cancel: &AtomicBool, limit: Option<Duration>) -> io::Result<ExitStatus> {
    // A group of its own: what it starts is ended with it, and a Ctrl-C at the terminal comes to us alone.
    let mut child = command.stdin(Stdio::null()).process_group(0).spawn()?;
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            // Who ends all of us at once ends the tool first, perhaps.
            return if status.success() || !cancel.load(Ordering::Relaxed) {
                Ok(status)
            } else {
                Err(ErrorKind::Interrupted.into())
            };
        }
        if cancel.load(Ordering::Relaxed) {
            end(&mut child)?;
            return Err(ErrorKind::Interrupted.into());
        }
        if limit.is_some_and(|limit| begun.elapsed() > limit) {
            end(&mut child)?;
            return Err(io::Error::new(
                ErrorKind::TimedOut,
                format!("no answer within {} s", PROBE.as_secs()),
            ));
        }
        std::thread::sleep(STEP);
    }
}

/// Ends a child with all that it has started, at once: what it leaves is thrown away.
fn end(child: &mut Child) -> io::Result<()> {
    // A group that is gone is what is wanted.
    let _gone = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait().map(drop)
}

/// The end of a log, as an error shows it; empty where there is none.
pub fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Runs a script that would take a minute, in a shell that would wait for it; gives how it ended and how soon.
    fn interrupted(script: &str, folder: &Path) -> (Result<(), ToolchainError>, Duration) {
        let cancel = Arc::new(AtomicBool::new(false));
        let later = Arc::clone(&cancel);
        let started = folder.join("started");
        std::thread::spawn(move || {
            while !started.exists() {
                std::thread::sleep(STEP);
            }
            later.store(true, Ordering::Relaxed);
        });
        let begun = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        (run(command, "sh", folder, "log", &cancel), begun.elapsed())
    }

    #[test]
    fn a_program_without_a_version_is_known_by_its_file() {
        let folder = tempfile::tempdir().expect("makes");
        let told = |text: &str| {
            let program = folder.path().join("packer");
            fs::write(&program, text).expect("written");
            identity(&program, &AtomicBool::new(false)).expect("read")
        };
        let all =
            ["\x7FELF", "\x7FELF, newer", "#!/bin/sh\n", "#!/nowhere/python -s\n", "#! \n#python"].map(told);
        assert!(all.iter().all(|text| text.starts_with("SHA-256 ")), "{all:?}");
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn a_tool_goes_with_all_it_started_when_the_user_stops() {
        let folder = tempfile::tempdir().expect("makes");
        // The shell waits for a child, which would write when it is through.
        let script = "sh -c 'touch started; sleep 2; touch late'; sleep 60";
        let (ended, after) = interrupted(script, folder.path());
        assert!(matches!(ended, Err(ToolchainError::Interrupted)), "{ended:?}");
        assert!(after < Duration::from_secs(20), "{after:?}");
        std::thread::sleep(Duration::from_secs(3));
        assert!(!folder.path().join("late").exists(), "what the tool had started went on");
    }

    #[test]
    fn one_that_does_not_listen_ends_too() {
        let folder = tempfile::tempdir().expect("makes");
        let script = "trap '' TERM; touch started; while :; do sleep 1; done";
        let (ended, after) = interrupted(script, folder.path());
        assert!(matches!(ended, Err(ToolchainError::Interrupted)), "{ended:?}");
        assert!(after < Duration::from_secs(20), "{after:?}");
    }
}
