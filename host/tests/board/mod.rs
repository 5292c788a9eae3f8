//! Running the program, and a virtual board beside it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long any one run may take before it counts as hanging.
const WATCHDOG: Duration = Duration::from_secs(60);

/// A run that has ended.
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Starts the program.
pub fn spawn(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_systole"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs")
}

/// Waits for the end of a run.
pub fn ended(mut child: Child) -> Ended {
    let read = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut text = String::new();
            pipe.read_to_string(&mut text).expect("UTF-8");
            text
        })
    };
    let out = read(Box::new(child.stdout.take().expect("piped")));
    let err = read(Box::new(child.stderr.take().expect("piped")));
    let code = wait(&mut child);
    Ended { code, out: out.join().expect("read"), err: err.join().expect("read") }
}

fn wait(child: &mut Child) -> i32 {
    let begun = Instant::now();
    while begun.elapsed() < WATCHDOG {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code().expect("no signal ended it");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("a child");
    panic!("the program hangs");
}

/// Runs the program.
pub fn systole(arguments: &[&str]) -> Ended {
    ended(spawn(arguments))
}

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
