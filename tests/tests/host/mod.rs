//! Hosts at a pseudo-terminal with the simulated gateware behind it: bytes suffer on the way, boards brown out, hosts are
//! killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use systole::connect::connect;
use systole::link::Link;
use systole::virtual_board::{Terminal, serve};
use systole_firmware::design::Design;
use systole_tests::faults::brown_out::BrownOut;
use systole_tests::faults::disturbed::Fault;
use systole_tests::faults::tally::Tally;
use systole_tests::faults::{Size, clean_bytes, designs, disturb, gateware, right_or_named};

/// Makes this program a host at the path that follows.
pub const FLAG: &str = "--as-host";

/// A product of eighteen jobs on the cramped board: time passes here.
const SMALL: Size = (6, 8, 6);

/// One long enough to be killed in, of which little is done.
const LONG: Size = (60, 60, 60);

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Opens the link to a board at a path.
fn open(path: &Path) -> Box<dyn Link> {
    let spec = format!("serial:{}", path.display()).parse().expect("a link");
    connect(&spec, &Clone::clone, &GO_ON).expect("a board").link
}

/// Runs `work` beside a board behind a terminal; gives what the board has to tell, too.
fn with_board<T>(
    board: impl FnOnce(&mut Terminal, &AtomicBool) -> u64 + Send,
    work: impl FnOnce(&Path) -> T,
) -> (T, u64) {
    /// Ends the board however the work ends.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let mut terminal = Terminal::open().expect("a terminal");
    let path = terminal.path().to_owned();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let board = scope.spawn(|| board(&mut terminal, &stop));
        let done = {
            let _stop = Stop(&stop);
            work(&path)
        };
        (done, board.join().expect("the board served to the end"))
    })
}

/// A board to which nothing happens.
fn steady(design: &Design) -> impl FnOnce(&mut Terminal, &AtomicBool) -> u64 + Send {
    |terminal, stop| {
        serve(&mut gateware(design), terminal, None, stop).expect("it serves");
        0
    }
}

/// Faults of one kind on a terminal.
pub fn over_terminal(fault: Fault) -> Tally {
    let design = &designs()[0];
    let mut tally = Tally::default();
    with_board(steady(design), |path| {
        // Few jobs, hence the higher rate alone; a stall is waited out, and that is most of a second.
        for seed in 0..if fault == Fault::Stall { 2 } else { 10 } {
            disturb(open(path), design, SMALL, (fault, 1e-3), seed, &mut tally);
        }
    });
    tally
}

/// Boards behind terminals that are reset while a job runs.
pub fn brown_outs() -> Tally {
    let design = &designs()[0];
    let mut tally = Tally::default();
    for seed in 0..8 {
        let mut clean = BrownOut::new(gateware(design), 0, 1, seed);
        right_or_named(&mut clean, design, SMALL, seed).expect("a clean link");
        // The host is not always as quick as one that clocks the board itself: early moments come for sure.
        let busy = clean.busy() / 2;
        let board = |terminal: &mut Terminal, stop: &AtomicBool| {
            let mut board = BrownOut::new(gateware(design), 1, busy, seed);
            serve(&mut board, terminal, None, stop).expect("it serves");
            board.injected()
        };
        let (product, injected) =
            with_board(board, |path| right_or_named(open(path).as_mut(), design, SMALL, seed));
        tally.add(injected, product.as_ref(), clean_bytes(design, SMALL, seed));
    }
    tally
}

/// What a host process does: says that it has a board, then multiplies.
pub fn run(path: &str) -> ExitCode {
    let mut link = open(Path::new(path));
    println!("connected");
    match right_or_named(link.as_mut(), &designs()[0], LONG, 1) {
        Some(_) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    }
}

fn start_host(path: &Path) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args([FLAG.as_ref(), path.as_os_str()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
    assert_eq!(line, "connected\n");
    child
}

/// Hosts killed in the middle of a product, each followed by one that finds the board as it was left.
pub fn killed() -> Tally {
    let design = &designs()[0];
    let mut tally = Tally::default();
    with_board(steady(design), |path| {
        for (seed, milliseconds) in [(1, 70), (2, 85), (3, 110)] {
            let mut host = start_host(path);
            std::thread::sleep(Duration::from_millis(milliseconds));
            host.kill().expect("a child");
            let status = host.wait().expect("a child");
            assert_eq!(status.code(), None, "the host ended by itself, before it was killed: {status}");
            let product = right_or_named(open(path).as_mut(), design, SMALL, seed);
            let clean = clean_bytes(design, SMALL, seed);
            tally.add(1, product.as_ref(), clean);
        }
    });
    tally
}
