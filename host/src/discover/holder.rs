//! Who has a device open.

use super::{Machine, entries, name, text};
use std::fmt;
use std::path::Path;

/// A process that has a file open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// Its name, as the kernel cuts it.
    pub name: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

/// The holders of a file, by number. What belongs to other users shows only to root.
pub(super) fn of(machine: &Machine, path: &Path) -> Vec<Holder> {
    let Ok(path) = path.canonicalize() else { return Vec::new() };
    let terminal = path.parent().is_some_and(|parent| parent.ends_with("dev/pts")).then(|| name(&path));
    let holder = |process: &Path| {
        let pid = name(process).parse().ok()?;
        let holds =
            entries(&process.join("fd")).iter().any(|fd| std::fs::read_link(fd).is_ok_and(|to| to == path));
        let serves = || terminal.as_ref().is_some_and(|terminal| serves(process, terminal));
        (holds && !serves()).then(|| Holder { pid, name: text(&process.join("comm")).unwrap_or_default() })
    };
    entries(&machine.path("proc")).iter().filter_map(|process| holder(process)).collect()
}

/// Whether a process has the other end of the pseudo-terminal with this number.
fn serves(process: &Path, terminal: &str) -> bool {
    entries(&process.join("fdinfo")).iter().any(|file| {
        let index = text(file).and_then(|text| {
            text.lines().find_map(|line| Some(line.strip_prefix("tty-index:")?.trim().to_owned()))
        });
        index.as_deref() == Some(terminal)
    })
}

/// The processes of a name, by number.
pub(super) fn running(machine: &Machine, name: &str) -> Vec<Holder> {
    let process = |path: &Path| {
        let comm = text(&path.join("comm")).filter(|comm| comm == name)?;
        Some(Holder { pid: super::name(path).parse().ok()?, name: comm })
    };
    entries(&machine.path("proc")).iter().filter_map(|path| process(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_02_this_process_holds_what_it_has_open() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let machine = Machine::default();
        let found = machine.holders(file.path());
        assert_eq!(found.iter().map(|holder| holder.pid).collect::<Vec<_>>(), [std::process::id()]);
        let comm = std::fs::read_to_string("/proc/self/comm").expect("Linux has it");
        assert_eq!(found[0].name, comm.trim());
        let path = file.into_temp_path();
        assert_eq!(machine.holders(&path), []);
    }
}
