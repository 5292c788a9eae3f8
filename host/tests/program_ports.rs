//! Ports that others have, that others had, that may not be opened, and that are no boards': what the program says of
//! them, and how it leaves them.

mod anyone;
mod board;
mod running;

use anyone::{permit, systole_of_anyone};
use board::VirtualBoard;
use running::{ended, spawn, systole};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use systole::discover::Machine;
use systole::virtual_board::Terminal;

/// Waits until a process has a file open.
fn wait_for_holder(path: &str, pid: u32) {
    let begun = Instant::now();
    while !Machine::default().holders(Path::new(path)).iter().any(|holder| holder.pid == pid) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{path} is not opened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process has locked the one file that it locks: its port.
fn wait_for_lock(pid: u32) {
    let begun = Instant::now();
    let locked =
        |line: &str| line.contains(" FLOCK ") && line.split_whitespace().nth(4) == Some(&pid.to_string());
    while !fs::read_to_string("/proc/locks").expect("locks").lines().any(locked) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{pid} locks no port");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A port as a program opens it that cares for nothing.
fn plain(path: &str) -> File {
    File::options().read(true).write(true).open(path).expect("a port")
}

fn settings(port: &File) -> String {
    format!("{:?}", tcgetattr(port).expect("a terminal"))
}

#[test]
fn a_host_that_is_killed_leaves_the_port_to_the_next() {
    let board = VirtualBoard::start(&["--n", "2"]);
    permit(board.path(), 0o666);
    let mut host = spawn(&["run", "--random", "400x400x400", "--link", &board.link()]);
    wait_for_lock(host.id());
    host.kill().expect("it runs");
    host.wait().expect("it ends");
    let next = systole_of_anyone(&["info", "--link", &board.link()]);
    assert_eq!(next.code, 0, "{}", next.err);
}

#[test]
fn row_02_a_host_in_use_is_named_and_the_board_is_not() {
    let board = VirtualBoard::start(&["--n", "2"]);
    let mut host = spawn(&["run", "--random", "400x400x400", "--link", &board.link()]);
    wait_for_lock(host.id());
    let info = systole(&["info", "--link", &board.link()]);
    host.kill().expect("it runs");
    host.wait().expect("it ends");
    let expected =
        format!("systole: {}: is in use by systole (process {}); end that first\n", board.path(), host.id());
    assert_eq!((info.code, info.err), (3, expected));
}

#[test]
fn row_02_who_has_the_port_open_besides_is_told() {
    let board = VirtualBoard::start(&["--behavioural"]);
    let _besides = plain(board.path());
    let info = systole(&["info", "--link", &board.link()]);
    let name = fs::read_to_string("/proc/self/comm").expect("Linux has it");
    let me = format!("{} (process {})", name.trim(), std::process::id());
    let expected =
        format!("systole: note: {} is open in {me} too, which may take bytes away\n", board.path());
    assert_eq!((info.code, info.err), (0, expected));
}

#[test]
fn a_port_has_its_settings_back_whether_a_board_answered_or_not() {
    let board = VirtualBoard::start(&["--behavioural"]);
    let mute = Terminal::open().expect("a terminal");
    for (path, code) in [(board.path(), 0), (mute.path().to_str().expect("UTF-8"), 3)] {
        let port = plain(path);
        let mut changed = tcgetattr(&port).expect("a terminal");
        changed.local_modes |= LocalModes::ISIG | LocalModes::ICANON;
        tcsetattr(&port, OptionalActions::Now, &changed).expect("set");
        let before = settings(&port);
        let info = systole(&["info", "--link", &format!("serial:{path}")]);
        assert_eq!(info.code, code, "{}", info.err);
        assert_eq!(settings(&port), before, "{path}");
    }
}

#[test]
fn the_terminal_that_the_program_runs_in_is_no_port() {
    let program = env!("CARGO_BIN_EXE_systole");
    let terminal = Terminal::open().expect("a terminal");
    let path = terminal.path().to_str().expect("UTF-8");
    let by_path = format!("serial:{path}");
    let run = |command: &mut Command, link: &str| {
        let command = command.args(["info", "--link", link]).stdin(plain(path));
        ended(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs"))
    };
    let is_refused = |link: &str, run: running::Ended| {
        let port = link.strip_prefix("serial:").expect("a port");
        let expected = format!(
            "systole: {port}: is the terminal that this program runs in, and no board; look at `systole list`\n"
        );
        assert_eq!((run.code, run.err), (2, expected));
    };
    // As the terminal of standard input alone, then as that of the session.
    let before = settings(&plain(path));
    is_refused(&by_path, run(&mut Command::new(program), &by_path));
    assert_eq!(settings(&plain(path)), before);
    for link in [by_path.as_str(), "serial:/dev/tty"] {
        is_refused(link, run(Command::new("setsid").args(["--ctty", "--wait", program]), link));
    }
}

#[test]
fn row_01_a_refusal_advises_what_helps() {
    let terminal = Terminal::open().expect("a terminal");
    permit(terminal.path(), 0o000);
    let folder = tempfile::tempdir().expect("a folder");
    permit(folder.path(), 0o755);
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    permit(&file, 0o000);
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).expect("made");
    permit(&closed, 0o000);
    let cases = [
        (terminal.path(), "you may not read and write it (c---------, group "),
        (&file, "you may not read and write it (----------, group "),
        (&closed.join("port"), "you may not enter a directory on the way to it\n"),
    ];
    for (path, expected) in cases {
        let info = systole_of_anyone(&["info", "--link", &format!("serial:{}", path.display())]);
        let start = format!("systole: {}: permission denied: {expected}", path.display());
        assert_eq!(info.code, 3, "{}", info.err);
        assert!(info.err.starts_with(&start) && !info.err.contains("udev"), "{}", info.err);
    }
    permit(&closed, 0o755);
}

#[test]
fn arguments_that_name_nothing_are_arguments() {
    for arguments in [&["info", "--link", "serial:@115200"][..], &["list", "--root", "/no/such/root"]] {
        let run = systole(arguments);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn row_10_timeout_closed_and_io_are_three_errors() {
    // A terminal that nobody answers on.
    let mute = Terminal::open().expect("a terminal");
    let link = format!("serial:{}", mute.path().display());
    let begun = Instant::now();
    let info = systole(&["info", "--link", &link]);
    let took = begun.elapsed().as_secs_f64();
    let start = format!("systole: {link}: no answer to HELLO within ");
    let rest = info.err.strip_prefix(&start).unwrap_or_else(|| panic!("{}", info.err));
    let told: f64 = rest.split(' ').next().and_then(|told| told.parse().ok()).expect("a time");
    // To start the program and to look for who else has the port open takes its time, too.
    assert!((1.0..took).contains(&told), "it took {took} s: {}", info.err);
    assert!(rest.contains("not a byte came back") && !rest.contains("BAUD"), "{rest}");
    assert_eq!(info.code, 3);
    // One whose other end closes.
    let info = spawn(&["info", "--link", &link]);
    wait_for_holder(mute.path().to_str().expect("UTF-8"), info.id());
    std::thread::sleep(Duration::from_millis(300));
    drop(mute);
    let info = ended(info);
    assert!(info.err.contains(": the board is gone: the link was closed by the other end"), "{}", info.err);
    assert_eq!(info.code, 3);
    // A path that the system cannot follow.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("port");
    symlink(&path, &path).expect("made");
    let info = systole(&["info", "--link", &format!("serial:{}", path.display())]);
    assert!(info.err.contains("/port: opening failed: Too many levels of symbolic links"), "{}", info.err);
    assert_eq!(info.code, 3);
}

#[test]
fn an_echo_is_no_answer_and_is_called_an_echo() {
    let board = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&board).and_then(|()| unlockpt(&board)).expect("ours");
    let path = ptsname(&board, Vec::new()).expect("a name").into_string().expect("UTF-8");
    // Without a host's side that stays open, the other would end with the first host that closes.
    let spare = File::open(&path).expect("a port");
    let mut board = File::from(board);
    let echo = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(got @ 1..) = board.read(&mut bytes) {
            board.write_all(&bytes[..got]).expect("sent back");
        }
    });
    let info = systole(&["info", "--link", &format!("serial:{path}")]);
    drop(spare);
    echo.join().expect("it ended");
    assert_eq!(info.code, 3);
    assert!(info.err.contains("what was sent came back as it was"), "{}", info.err);
}

#[test]
fn row_09_waiting_takes_no_processor_time() {
    let mute = Terminal::open().expect("a terminal");
    let mut host = spawn(&["info", "--link", &format!("serial:{}", mute.path().display())]);
    let (begun, mut ticks) = (Instant::now(), 0);
    while host.try_wait().expect("a child").is_none() {
        let stat = fs::read_to_string(format!("/proc/{}/stat", host.id())).unwrap_or_default();
        // User and system time are fields 14 and 15, the twelfth and thirteenth behind the name.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        ticks = ticks.max(fields.filter_map(|field| field.parse::<u64>().ok()).sum());
        std::thread::sleep(Duration::from_millis(20));
        assert!(begun.elapsed() < Duration::from_secs(60), "it hangs");
    }
    let waited = begun.elapsed();
    assert!(waited > Duration::from_secs(2), "it waited for {waited:?} only");
    // A tick is a hundredth of a second: one that does not sleep takes hundreds.
    assert!(ticks < 50, "{ticks} ticks of processor time in {waited:?}");
}

#[test]
fn every_signal_that_asks_for_an_end_is_answered_and_an_ignored_one_is_not() {
    let board = VirtualBoard::start(&["--n", "2"]);
    let send = |signal: &str, pid: u32| {
        let sent = Command::new("kill").args([signal, &pid.to_string()]).status().expect("kill runs");
        assert!(sent.success());
    };
    let large = ["run", "--random", "400x400x400", "--link", &board.link()];
    for signal in ["-INT", "-TERM", "-HUP"] {
        let host = spawn(&large);
        wait_for_lock(host.id());
        send(signal, host.id());
        assert_eq!(ended(host).code, 130, "{signal}");
    }
    // As `nohup` starts it: SIGHUP is nothing, and the others are what they were.
    let mut nohup = Command::new("nohup");
    nohup.arg(env!("CARGO_BIN_EXE_systole")).args(large);
    let host =
        nohup.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("nohup");
    wait_for_lock(host.id());
    send("-HUP", host.id());
    std::thread::sleep(Duration::from_millis(200));
    send("-TERM", host.id());
    assert_eq!(ended(host).code, 130);
}
