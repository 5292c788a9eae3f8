//! Files that are written whole or not at all, and the names of files in messages.
//!
//! A file is written beside its target and renamed, so that a reader sees the old file or the whole new one.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Most characters of a file's content that a message quotes.
const QUOTED: usize = 100;

/// Why a file cannot be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// A pipe, a device or a socket.
    #[error("is not a regular file; give the path of one")]
    NotRegular,
    /// Something else than what was meant, by its size.
    #[error("has {bytes} bytes; what is meant here has at most {most}: give another file")]
    Large {
        /// What it has.
        bytes: u64,
        /// What it may have.
        most: u64,
    },
    /// A symbolic link to nothing.
    #[error("is a symbolic link to {to}, which does not exist; remove the link or make that file")]
    Dangling {
        /// Where the link points.
        to: String,
    },
    /// What the system said.
    #[error("{0}; check the directory and its permissions")]
    System(#[from] io::Error),
}

/// A path for a message: control characters are escaped, so that it stays on its line.
pub(crate) fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// What a message may quote of a file's content: the beginning, on one line.
pub(crate) fn quoted(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn one_line(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// Whether two paths are the same file: by whatever links they reach it, or where neither exists, by its place.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) {
            return (one.dev(), one.ino()) == (other.dev(), other.ino());
        }
    }
    matches!((place(one), place(other)), (Some(one), Some(other)) if one == other)
}

/// The real path of a file, which need not exist, in a folder that does.
fn place(path: &Path) -> Option<PathBuf> {
    let beside = || Some(folder(path).canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What the system knows of a file to read. Looked at before it is opened: to open a pipe waits for its other end.
///
/// # Errors
/// [`FileError`]: it is not there, a folder, or no regular file.
pub fn regular(path: &Path) -> Result<Metadata, FileError> {
    let metadata = fs::metadata(path)?;
    match metadata.is_dir() {
        true => Err(io::Error::from(ErrorKind::IsADirectory).into()),
        false if !metadata.is_file() => Err(FileError::NotRegular),
        false => Ok(metadata),
    }
}

/// Reads a whole file of at most so many bytes.
///
/// # Errors
/// [`FileError`].
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let too_large = |bytes| FileError::Large { bytes, most };
    let length = regular(path)?.len();
    if length > most {
        return Err(too_large(length));
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    let read = File::open(path)?.take(most + 1).read_to_end(&mut bytes)? as u64;
    if read > most { Err(too_large(read)) } else { Ok(bytes) }
}

/// Finds out, before any work is done, whether [`replace`] could write a file.
///
/// # Errors
/// [`FileError`].
pub fn check(path: &Path) -> Result<(), FileError> {
    tempfile::tempfile_in(folder(&target(path)?))?;
    Ok(())
}

/// The file to replace: behind a symbolic link it is the one it points to.
fn target(path: &Path) -> Result<PathBuf, FileError> {
    match fs::metadata(path) {
        Ok(_) => regular(path).and_then(|_| Ok(path.canonicalize()?)),
        Err(_) => match fs::read_link(path) {
            Ok(to) => Err(FileError::Dangling { to: shown(&to) }),
            Err(_) => Ok(path.to_owned()),
        },
    }
}

/// Fills a temporary file beside the target and renames it. A file that was there keeps its permissions.
///
/// # Errors
/// [`FileError`]; what was there is still there, unchanged.
pub fn replace(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), FileError> {
    let target = target(path)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file: what the umask leaves. A temporary file alone would be closed to all others.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder(&target))?;
    fill(file.as_file_mut())?;
    if let Ok(before) = fs::metadata(&target) {
        file.as_file().set_permissions(before.permissions())?;
    }
    file.persist(&target).map_err(io::Error::from)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_quoted_on_one_short_line() {
        assert_eq!(quoted("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(quoted(&"é".repeat(100)), "é".repeat(100));
        assert_eq!(quoted(&"é".repeat(101)), "é".repeat(100) + "…");
        assert_eq!(shown(Path::new("a\rb.npy")), "a\\rb.npy");
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let path = directory.path().join("c");
        fs::write(&path, "four").expect("written");
        assert_eq!(read(&path, 4).expect("as long as it may be"), b"four");
        let error = read(&path, 3).expect_err("too long").to_string();
        assert_eq!(error, "has 4 bytes; what is meant here has at most 3: give another file");
        // Of no length by its metadata, and without end.
        #[cfg(unix)]
        assert!(matches!(read(Path::new("/dev/zero"), 3), Err(FileError::NotRegular)));
        let folder = read(directory.path(), 3).expect_err("a folder");
        assert!(matches!(folder, FileError::System(error) if error.kind() == ErrorKind::IsADirectory));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_keeps_its_permissions() {
        use std::io::Write;
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("temporary directory");
        let path = directory.path().join("c");
        fs::write(&path, "before").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("set");
        replace(&path, |file| file.write_all(b"after")).expect("replaced");
        assert_eq!(fs::read(&path).expect("read back"), b"after");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
    }
}
