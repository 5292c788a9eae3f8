//! The program run by somebody who is not root: root may open everything, whatever a port's permissions.

use crate::running::{Ended, ended};
use rustix::process::getuid;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The number of the user `nobody`.
const NOBODY: u32 = 65534;

/// Lets everybody do with a file what these bits say.
pub fn permit(path: impl AsRef<std::path::Path>, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
}

/// Runs the program as this user, or where that is root, as nobody.
pub fn systole_of_anyone(arguments: &[&str]) -> Ended {
    let program = env!("CARGO_BIN_EXE_systole");
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = if getuid().is_root() {
        // Where the program is built may be closed to others. `cp` writes it, so that no descriptor of this process,
        // which a child of another thread may have, keeps it from being run.
        permit(folder.path(), 0o755);
        let copy = folder.path().join("systole");
        assert!(
            Command::new("cp")
                .args([program.as_ref(), copy.as_os_str()])
                .status()
                .expect("cp runs")
                .success()
        );
        permit(&copy, 0o755);
        let mut command = Command::new(copy);
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
        command
    } else {
        Command::new(program)
    };
    let command = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ended(command.spawn().expect("the program runs"))
}
