//! Finished images, kept by what they were made of.
//!
//! An entry is one file, named by the hash of everything that shaped it and written under another name first, so that it is
//! there whole or not at all, whoever else builds and whenever the program is killed. It starts with the hash of the rest:
//! an entry that was damaged is taken for missing.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use thiserror::Error;

/// Names the folder of the cache, in place of the user's cache folder.
pub const FOLDER_VARIABLE: &str = "SYSTOLE_CACHE";

/// First line of an entry; it changes with the format.
const MAGIC: &str = "systole image 1";

/// Files by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Why the cache could not be used.
#[derive(Debug, Error)]
pub enum CacheError {
    /// A file or folder could not be used.
    #[error("cannot {action} {}: {source}; choose another folder with {FOLDER_VARIABLE}, or use --no-cache", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// There is no folder for the cache.
    #[error("this user has no cache folder: set {FOLDER_VARIABLE} to a folder, or use --no-cache")]
    NoFolder,
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What an image was made of, as a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The key of named parts. Order, names and contents all count.
    pub fn of(parts: &[(&str, &str)]) -> Self {
        // Lengths keep neighbours apart: no two lists of parts are one text.
        let text: String = parts
            .iter()
            .map(|(name, content)| format!("{} {}\n{name}{content}", name.len(), content.len()))
            .collect();
        Self(sha256(text.as_bytes()))
    }
}

/// A folder of finished images.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The cache of this user: the folder that [`FOLDER_VARIABLE`] names, or one in the user's cache folder.
    ///
    /// # Errors
    /// The user has no cache folder and the variable is not set.
    pub fn of_user() -> Result<Self, CacheError> {
        let folder = match std::env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => dirs::cache_dir().ok_or(CacheError::NoFolder)?.join("systole").join("images"),
        };
        Ok(Self::at(folder))
    }

    /// The cache in a folder, which need not exist.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files kept under a key; `None` if there are none, or if they are not as they were written.
    ///
    /// # Errors
    /// The entry is there and cannot be read.
    pub fn read(&self, key: &Key) -> Result<Option<Files>, CacheError> {
        let path = self.entry(key);
        match fs::read(&path) {
            Ok(bytes) => Ok(unpack(&bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(CacheError::Io { action: "read", path, source }),
        }
    }

    /// Finds out whether entries can be written, before minutes go into one.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn prepare(&self) -> Result<(), CacheError> {
        self.partial().map(drop)
    }

    /// A file in the folder, which is made, that is no entry yet.
    fn partial(&self) -> Result<NamedTempFile, CacheError> {
        let made = fs::create_dir_all(&self.folder)
            .and_then(|()| tempfile::Builder::new().prefix(".partial-").tempfile_in(&self.folder));
        made.map_err(|source| CacheError::Io { action: "write into", path: self.folder.clone(), source })
    }

    /// Keeps files under a key, in place of what is there.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn write(&self, key: &Key, files: &Files) -> Result<(), CacheError> {
        let path = self.entry(key);
        let io = |source| CacheError::Io { action: "write", path: path.clone(), source };
        let mut file = self.partial()?;
        file.write_all(&pack(files)).map_err(io)?;
        file.as_file().sync_all().map_err(io)?;
        file.persist(&path).map_err(|error| io(error.error))?;
        Ok(())
    }

    fn entry(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.0)
    }
}

/// Magic and the hash of the rest, a line each; then for every file a line `LENGTH NAME` and its bytes.
fn pack(files: &Files) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, bytes) in files {
        body.extend(format!("{} {name}\n", bytes.len()).into_bytes());
        body.extend(bytes);
    }
    let mut entry = format!("{MAGIC}\n{}\n", sha256(&body)).into_bytes();
    entry.extend(body);
    entry
}

fn unpack(entry: &[u8]) -> Option<Files> {
    let (magic, entry) = line(entry)?;
    let (hash, mut body) = line(entry)?;
    if magic != MAGIC || hash != sha256(body) {
        return None;
    }
    let mut files = Files::new();
    while !body.is_empty() {
        let (head, rest) = line(body)?;
        let (length, name) = head.split_once(' ')?;
        let (bytes, rest) = rest.split_at_checked(length.parse().ok()?)?;
        files.insert(name.to_owned(), bytes.to_vec());
        body = rest;
    }
    Some(files)
}

fn line(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    fn files(tag: u8) -> Files {
        [("image.bin".to_owned(), vec![tag, b'\n', 0, 255]), ("report.json".to_owned(), vec![])].into()
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("makes");
        let cache = Cache::at(folder.path().join("new"));
        let (key, other) = (Key::of(&[("a", "b")]), Key::of(&[("a", "c")]));
        assert_eq!(cache.read(&key).expect("reads"), None);
        cache.write(&key, &files(1)).expect("writes");
        cache.write(&key, &files(2)).expect("writes again");
        assert_eq!(cache.read(&key).expect("reads"), Some(files(2)));
        assert_eq!(cache.read(&other).expect("reads"), None);
    }

    #[test]
    fn parts_that_run_together_have_keys_of_their_own() {
        let lists: [&[(&str, &str)]; 4] =
            [&[("ab", "c")], &[("a", "bc")], &[("a", ""), ("b", "c")], &[("", "abc")]];
        let mut keys: Vec<_> = lists.iter().map(|parts| Key::of(parts).0).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 4);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_found_out_first() {
        let file = NamedTempFile::new().expect("makes");
        let error = Cache::at(file.path().join("in-a-file")).prepare().expect_err("is no folder").to_string();
        assert!(error.contains("cannot write into") && error.contains("--no-cache"), "{error}");
    }

    #[test]
    fn a_damaged_or_cut_entry_is_missing() {
        let folder = tempfile::tempdir().expect("makes");
        let cache = Cache::at(folder.path().into());
        let key = Key::of(&[]);
        cache.write(&key, &files(1)).expect("writes");
        let whole = fs::read(cache.entry(&key)).expect("reads");
        for i in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[i] ^= 1;
            fs::write(cache.entry(&key), &damaged).expect("writes");
            assert_eq!(cache.read(&key).expect("reads"), None, "byte {i} of {}", whole.len());
            fs::write(cache.entry(&key), &whole[..i]).expect("writes");
            assert_eq!(cache.read(&key).expect("reads"), None, "cut at {i}");
        }
    }

    #[test]
    fn builds_at_once_leave_one_whole_entry_and_nothing_else() {
        let folder = tempfile::tempdir().expect("makes");
        let cache = Cache::at(folder.path().into());
        let key = Key::of(&[]);
        let large: Files = [("image.bin".to_owned(), vec![7; 1 << 20])].into();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        cache.write(&key, &large).expect("writes");
                        assert_eq!(cache.read(&key).expect("reads").as_ref(), Some(&large));
                    }
                });
            }
        });
        let names: Vec<_> = fs::read_dir(folder.path()).expect("lists").collect();
        assert_eq!(names.len(), 1);
    }

    /// Set in the environment of the process that [`a_kill_leaves_whole_entries`] kills: the folder of its cache.
    const WRITER: &str = "SYSTOLE_TEST_CACHE_WRITER";

    #[test]
    fn a_kill_leaves_whole_entries() {
        let key = Key::of(&[]);
        let large: Files = [("image.bin".to_owned(), vec![7; 4 << 20])].into();
        if let Some(folder) = std::env::var_os(WRITER) {
            let cache = Cache::at(folder.into());
            loop {
                cache.write(&key, &large).expect("writes");
            }
        }
        let folder = tempfile::tempdir().expect("makes");
        let cache = Cache::at(folder.path().into());
        let files_there = || fs::read_dir(folder.path()).expect("lists").count();
        let deadline = Instant::now() + Duration::from_secs(60);
        let (mut kills, mut whole, mut cut) = (0, 0, 0);
        // Until both were seen: a kill amid a write, and one after a whole one.
        while kills < 20 || whole == 0 || cut == 0 {
            let mut writer = Command::new(std::env::current_exe().expect("is a file"))
                .args(["--exact", "cache::tests::a_kill_leaves_whole_entries"])
                .env(WRITER, folder.path())
                .stdout(Stdio::null())
                .spawn()
                .expect("starts");
            let before = files_there();
            while files_there() == before {
                assert!(
                    Instant::now() < deadline,
                    "nothing written; {kills} kills, {whole} whole, {cut} cut"
                );
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(kills % 10 * 5));
            writer.kill().expect("was running");
            writer.wait().expect("ends");
            kills += 1;
            let entry = cache.read(&key).expect("reads");
            assert_eq!(entry.is_some(), cache.entry(&key).exists(), "a half entry");
            if let Some(files) = entry {
                assert!(files == large, "another entry");
                whole += 1;
                fs::remove_file(cache.entry(&key)).expect("removes");
            }
            cut += files_there() - before;
        }
    }
}
