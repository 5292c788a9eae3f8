//! Whether this user may open a device.

use std::fmt;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Whether a device's file can be opened for reading and writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// It can.
    Granted,
    /// There is no such file.
    Missing,
    /// Whether there is such a file does not show: a directory on the way to it is closed.
    Hidden,
    /// The system says no.
    Denied {
        /// Type and permissions as `ls -l` shows them.
        mode: String,
        /// The group it belongs to, by name where that is known.
        group: String,
        /// Whether the group may read and write, so that joining it helps.
        group_may: bool,
        /// Whether it is of USB, so that the rule of `systole udev` opens it.
        usb: bool,
    },
}

/// Major numbers of USB's device files on Linux: ports of class CDC-ACM, of serial adapters, and devices themselves.
const USB: [u32; 3] = [166, 188, 189];

impl Access {
    /// Asks the system about a file. Names of groups are read from `groups`, a file like `/etc/group`.
    pub fn of(path: &Path, groups: &Path) -> Self {
        use rustix::fs::Access as Want;
        if rustix::fs::access(path, Want::READ_OK | Want::WRITE_OK).is_ok() {
            return Self::Granted;
        }
        match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Self::Hidden,
            Err(_) => Self::Missing,
            Ok(metadata) => {
                let is_device = metadata.file_type().is_char_device();
                let device = is_device.then(|| rustix::fs::major(metadata.rdev()));
                let names = std::fs::read_to_string(groups).unwrap_or_default();
                Self::denied(device, metadata.mode(), metadata.gid(), &names)
            }
        }
    }

    /// A file that may not be opened; `device` is the major number of one that is a device.
    fn denied(device: Option<u32>, mode: u32, gid: u32, groups: &str) -> Self {
        let kind = if device.is_some() { 'c' } else { '-' };
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
            usb: device.is_some_and(|major| USB.contains(&major)),
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
            Self::Hidden => f.write_str("you may not enter a directory on the way to it"),
            Self::Denied { mode, group, group_may, usb } => {
                write!(f, "you may not read and write it ({mode}, group {group})")?;
                if *group_may {
                    write!(f, "; join the group with `sudo usermod -aG {group} $USER` and log in again")?;
                }
                if *usb {
                    let or = if *group_may { ", or" } else { ";" };
                    write!(
                        f,
                        "{or} install the rule that `systole udev` prints and plug the board in again"
                    )?;
                }
                Ok(())
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
        let tty = Access::denied(Some(188), 0o020_660, 20, GROUPS);
        let (mode, group) = ("crw-rw----".to_owned(), "dialout".to_owned());
        assert_eq!(tty, Access::Denied { mode, group, group_may: true, usb: true });
        let text = tty.to_string();
        assert!(text.contains("(crw-rw----, group dialout); join the group with"), "{text}");
        assert!(
            text.contains("`sudo usermod -aG dialout $USER` and log in again, or install the rule"),
            "{text}"
        );
        let usb = Access::denied(Some(189), 0o020_664, 0, GROUPS).to_string();
        assert!(usb.contains("(crw-rw-r--, group root); install") && !usb.contains("usermod"), "{usb}");
        assert!(usb.contains("`systole udev`"), "{usb}");
        assert!(Access::denied(Some(189), 0o020_600, 777, GROUPS).to_string().contains("group 777"));
    }

    #[test]
    fn what_is_not_of_usb_is_not_opened_by_the_rule() {
        // A UART of the computer, the terminal of another user, a file.
        let uart = Access::denied(Some(4), 0o020_660, 20, GROUPS).to_string();
        assert_eq!(
            uart,
            "you may not read and write it (crw-rw----, group dialout); join the group with `sudo usermod -aG dialout \
             $USER` and log in again"
        );
        let terminal = Access::denied(Some(136), 0o020_620, 5, "tty:x:5:\n").to_string();
        assert_eq!(terminal, "you may not read and write it (crw--w----, group tty)");
        let file = Access::denied(None, 0o100_600, 0, GROUPS).to_string();
        assert_eq!(file, "you may not read and write it (-rw-------, group root)");
    }

    #[test]
    fn a_missing_file_is_not_one_without_permission() {
        assert_eq!(Access::of(Path::new("/dev/no-such-port"), Path::new("/etc/group")), Access::Missing);
        assert_eq!(Access::of(Path::new("/dev/null"), Path::new("/etc/group")), Access::Granted);
    }
}
