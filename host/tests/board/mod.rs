//! A virtual board beside the program.

#![allow(dead_code, reason = "each suite uses a part of it")]

use crate::running::{spawn, wait};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

/// What Ctrl-C does.
pub fn interrupt(pid: u32) {
    let killed = Command::new("kill").args(["-INT", &pid.to_string()]).status().expect("kill runs");
    assert!(killed.success(), "the program had ended by itself");
}

/// A virtual board, ended when dropped.
pub struct VirtualBoard {
    child: Child,
    path: String,
}

impl VirtualBoard {
    /// Starts one, and waits until it says its path.
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = spawn(&[&["virtual-board"], arguments].concat());
        let mut path = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut path).expect("a line");
        let path = path.trim().to_owned();
        assert!(path.starts_with('/'), "{arguments:?}: '{path}' is no path");
        Self { child, path }
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// What to give to `--link`.
    pub fn link(&self) -> String {
        format!("serial:{}", self.path)
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Ends it with Ctrl-C; gives its exit code.
    pub fn stop(&mut self) -> i32 {
        interrupt(self.child.id());
        wait(&mut self.child)
    }
}

impl Drop for VirtualBoard {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}
