//! Running the program.

#![allow(dead_code, reason = "each suite uses a part of it")]

use std::io::Read;
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

/// Waits for the end of a process; gives its exit code.
pub fn wait(child: &mut Child) -> i32 {
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
