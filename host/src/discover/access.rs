//! Whether this user may open a device.

use std::fmt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Whether a device's file can be opened for reading and writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// It can.
    Granted,
    /// There is no such file.
    Missing,
    /// The system says no.
    Denied {
        /// Type and permissions as `ls -l` shows them.
        mode: String,
        /// The group it belongs to, by name where that is known.
        group: String,
        /// Whether the group may read and write, so that joining it helps.
        group_may: bool,
    },
}

impl Access {
    /// Asks the system about a file. Names of groups are read from `groups`, a file like `/etc/group`.
    pub fn of(path: &Path, groups: &Path) -> Self {
        use rustix::fs::Access as Want;
        if rustix::fs::access(path, Want::READ_OK | Want::WRITE_OK).is_ok() {
            return Self::Granted;
        }
        match std::fs::metadata(path) {
            Err(_) => Self::Missing,
            Ok(metadata) => {
                let kind = if metadata.file_type().is_char_device() { 'c' } else { '-' };
                let names = std::fs::read_to_string(groups).unwrap_or_default();
                Self::denied(kind, metadata.mode(), metadata.gid(), &names)
            }
        }
    }

    fn denied(kind: char, mode: u32, gid: u32, groups: &str) -> Self {
        let bits = ['r', 'w', 'x'].iter().cycle().zip((0..9).rev());
        let shown = bits.map(|(&letter, bit)| if mode >> bit & 1 == 1 { letter } else { '-' });
        let group = groups.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == gid.to_string()).then(|| name.to_owned())
        });
        Self::Denied {
            mode: std::iter::once(kind).chain(shown).collect(),
            group: group.unwrap_or_else(|| gid.to_string()),
            // Nobody joins the group of root for this.
            group_may: gid != 0 && mode & 0o060 == 0o060,
        }
    }

    /// Whether the file can be opened.
    pub fn is_granted(&self) -> bool {
        *self == Self::Granted
    }
}

/// Why, and what to do.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Granted => f.write_str("accessible"),
            Self::Missing => {
                f.write_str("there is no such file; plug the board in, or look at `systole list`")
            }
            Self::Denied { mode, group, group_may } => {
                write!(f, "you may not read and write it ({mode}, group {group}); ")?;
                if *group_may {
                    write!(f, "join the group with `sudo usermod -aG {group} $USER` and log in again, or ")?;
                }
                f.write_str("install the rule that `systole udev` prints and plug the board in again")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: &str = "root:x:0:\ndialout:x:20:someone\nplugdev:x:46:\n";

    #[test]
    fn row_01_a_refusal_names_mode_group_and_fix() {
        let tty = Access::denied('c', 0o020_660, 20, GROUPS);
        let (mode, group) = ("crw-rw----".to_owned(), "dialout".to_owned());
        assert_eq!(tty, Access::Denied { mode, group, group_may: true });
        let text = tty.to_string();
        assert!(text.contains("(crw-rw----, group dialout)"), "{text}");
        assert!(text.contains("sudo usermod -aG dialout $USER"), "{text}");
        let usb = Access::denied('c', 0o020_664, 0, GROUPS).to_string();
        assert!(usb.contains("(crw-rw-r--, group root)") && !usb.contains("usermod"), "{usb}");
        assert!(usb.contains("`systole udev`"), "{usb}");
        assert!(Access::denied('c', 0o020_600, 777, GROUPS).to_string().contains("group 777"));
    }

    #[test]
    fn a_missing_file_is_not_one_without_permission() {
        assert_eq!(Access::of(Path::new("/dev/no-such-port"), Path::new("/etc/group")), Access::Missing);
        assert_eq!(Access::of(Path::new("/dev/null"), Path::new("/etc/group")), Access::Granted);
    }
}
