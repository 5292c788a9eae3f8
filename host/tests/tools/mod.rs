//! The program in a system whose tools are known.

use assert_cmd::Command;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// How long a run may take before it counts as hanging: an image takes a minute where nothing else runs.
const WATCHDOG: Duration = Duration::from_secs(900);

/// How a run ended.
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Where the program looks for tools and keeps images.
pub struct System {
    pub toolchain: OsString,
    pub path: OsString,
    pub cache: OsString,
    folder: TempDir,
}

impl System {
    /// Not a single program.
    pub fn bare() -> Self {
        let folder = tempfile::tempdir().expect("makes");
        let place = |name: &str| folder.path().join(name).into_os_string();
        Self { toolchain: place("toolchain"), path: place("bin"), cache: place("cache"), folder }
    }

    /// The tools of this machine.
    #[allow(dead_code, reason = "each suite uses its own part of this module")]
    pub fn real(toolchain: &Path) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self { toolchain: toolchain.into(), path, ..Self::bare() }
    }

    /// A file in the folder that the program runs in.
    #[allow(dead_code, reason = "each suite uses its own part of this module")]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Shell scripts in place of tools.
    #[cfg(unix)]
    #[allow(dead_code, reason = "each suite uses its own part of this module")]
    pub fn with(scripts: &[(&str, &str)]) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let system = Self::bare();
        let folder = system.folder.path().join("bin");
        fs::create_dir(&folder).expect("makes");
        for (name, script) in scripts {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writes");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("sets");
        }
        system
    }
}

/// Runs the program in a folder of its own.
pub fn run<A: AsRef<OsStr> + std::fmt::Debug>(system: &System, arguments: &[A]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_systole"));
    command.args(arguments).current_dir(system.folder.path()).timeout(WATCHDOG);
    command.env("SYSTOLE_TOOLCHAIN", &system.toolchain).env("PATH", &system.path);
    // What failures leave goes with the system.
    command.env("TMPDIR", system.folder.path());
    let output = command.env("SYSTOLE_CACHE", &system.cache).output().expect("the program runs");
    let code = output.status.code().unwrap_or_else(|| panic!("{arguments:?} was killed, it hung"));
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ended { code, out: text(output.stdout), err: text(output.stderr) }
}

/// In what a report does not follow its schema.
pub fn faults(schema: &str, report: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a sound schema");
    validator.iter_errors(report).map(|error| format!("{}: {error}", error.instance_path())).collect()
}
