//! The real openFPGALoader: it knows the boards by the names of the board files, takes our command lines, and says that no
//! board is there in words that we understand.
//!
//! No board has the serial number that is asked for, so that nothing is ever written. Without openFPGALoader the tests show
//! as ignored, with the reason; with `SYSTOLE_REQUIRE_LOADER` set they fail.

use libtest_mimic::{Arguments, Failed, Trial};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use systole::flash::loader::{Cause, Loader, LoaderError};
use systole_boards::{Board, Programmer, all};

type Test = fn(&Loader);

fn main() -> std::process::ExitCode {
    let loader =
        Loader::find(&std::env::var_os("PATH").unwrap_or_default()).map_err(|error| error.to_string());
    let loader = Arc::new(loader);
    let required = std::env::var_os("SYSTOLE_REQUIRE_LOADER").is_some();
    let tests: [(&str, Test); 3] = [
        ("it_tells_its_version", |loader| {
            let number = loader.version.trim_start_matches('v').split('.').next().map(str::parse::<u32>);
            assert!(matches!(number, Some(Ok(_))), "{loader}");
        }),
        ("it_knows_the_boards_by_their_targets", it_knows_the_boards),
        ("row_18_no_board_is_said_so_that_we_understand_it", no_board_is_understood),
    ];
    let trials = tests.map(|(name, test)| {
        let here = Arc::clone(&loader);
        let trial = Trial::test(name, move || {
            test(here.as_ref().as_ref().map_err(Failed::from)?);
            Ok(())
        });
        match loader.as_ref() {
            Err(why) if !required => trial.with_kind(why.as_str()).with_ignored_flag(true),
            _ => trial,
        }
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

fn boards() -> impl Iterator<Item = &'static Board> {
    let boards = all().expect("sound board files").iter();
    boards.filter(|board| board.program.tool == Programmer::OpenFpgaLoader)
}

fn it_knows_the_boards(loader: &Loader) {
    let output = Command::new(&loader.program).arg("--list-boards").output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let known: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for board in boards() {
        let target = board.program.target.as_deref().expect("checked when it is read");
        assert!(known.contains(&target), "{}: {target} is none of {known:?}", board.name);
    }
}

fn no_board_is_understood(loader: &Loader) {
    let mut runs = 0;
    for board in boards() {
        for &memory in &board.program.memories {
            let error = loader
                .write(board, memory, Some("no-such-board"), b"no image", &AtomicBool::new(false))
                .expect_err("there is no such board");
            let text = error.to_string();
            let LoaderError::Failed { cause, log, .. } = error else { panic!("{}: {text}", board.name) };
            assert_eq!(cause, Cause::NoChip, "{} {memory:?}: {text}", board.name);
            assert!(text.contains("device not found"), "its own words are shown: {text}");
            assert!(
                std::fs::read_to_string(&log).expect("the log is kept").contains("device not found"),
                "{text}"
            );
            std::fs::remove_dir_all(log.parent().expect("a folder")).expect("removed");
            runs += 1;
        }
    }
    assert_eq!(runs, 12, "four sizes of ULX3S, ECP5-EVN and Tang Nano 9K, two memories each");
}
