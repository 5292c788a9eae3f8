//! Sessions over links that lose, damage, repeat and forge: a right product or an error that says why, never a wrong
//! product, and never a wait without end. On both links: the model of the board and the simulated gateware.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use systole::error::Error;
use systole::link::sim::SimLink;
use systole::link::software::SoftwareLink;
use systole::link::{Link, LinkError};
use systole::matrix::random;
use systole::product::{Product, product};
use systole::session::{Session, SessionOptions};
use systole_firmware::design::Design;
use systole_hdl::codec::{Command, Content, Frame, Reply};
use systole_hdl::parameters::Parameters;
use systole_hdl::sim;
use systole_hdl::wire::{self, Nak, Origin};
use systole_tests::links::{Filter, Mishap, Noise, Smashed, Tap, pass};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// A design whose banks hold two panels of four terms each, so that panels are overwritten all the time.
fn cramped() -> Design {
    let parameters =
        Parameters { n: 2, k_max: 4, a_depth: 8, b_depth: 8, fifo: 128, ..Parameters::default() };
    Design::new(parameters).expect("in range")
}

fn link(design: &Design) -> SoftwareLink {
    SoftwareLink::new(design.identity(Origin::Simulated))
}

fn gateware(design: &Design) -> SimLink {
    SimLink::new(&design.identity(Origin::Simulated), None)
}

/// A board of each kind.
fn boards(design: &Design) -> [Box<dyn Link>; 2] {
    [Box::new(link(design)), Box::new(gateware(design))]
}

/// An 11×9×13 product: padded blocks, three chunks of K, more panels than either bank holds.
fn multiply(link: &mut dyn Link, design: &Design) -> Result<Product, Error> {
    let (a, b) = random(11, 9, 13, design.parameters().w, 5);
    product(link, design, &a, &b, &mut (), &GO_ON)
}

fn expect_equal(link: &mut dyn Link, design: &Design) -> Product {
    let product = multiply(link, design).expect("a product");
    assert!(product.comparison.equal(), "{:?}", product.comparison);
    product
}

/// Drops the frames for which `lose` says so.
fn losing<'a>(mut lose: impl FnMut(&Frame) -> bool + 'a) -> Filter<'a> {
    Box::new(move |frame| if lose(&frame) { vec![] } else { vec![frame] })
}

/// Says yes to the frames of one opcode whose turn it is, counted from 0.
fn nth(opcode: u8, turns: &[usize]) -> impl FnMut(&Frame) -> bool {
    let (mut seen, turns) = (0, turns.to_vec());
    move |frame| {
        let hit = frame.opcode == opcode && turns.contains(&seen);
        seen += usize::from(frame.opcode == opcode);
        hit
    }
}

#[test]
fn a_clean_link_needs_no_second_try() {
    let design = cramped();
    for mut board in boards(&design) {
        let product = expect_equal(&mut board, &design);
        assert_eq!(product.jobs, 6 * 7 * 3);
        // Two jobs of four terms take 4 + 2 steps, one of one term 1 + 2.
        assert_eq!((product.steps, product.edges), (42 * (6 + 6 + 3), 42 * 15));
        let c = product.counters;
        assert_eq!((product.reruns, c.go_backs, c.timeouts, c.damaged, c.restarts), (0, 0, 0, 0, 0));
    }
}

#[test]
fn lost_results_are_run_again_with_panels_that_were_overwritten_since() {
    let design = cramped();
    for board in boards(&design) {
        let mut tap = Tap::new(board, pass(), losing(nth(wire::RESULT, &[3, 4, 17, 20])));
        let product = expect_equal(&mut tap, &design);
        assert!(product.reruns >= 4, "{} jobs run again", product.reruns);
        assert_eq!(product.jobs, 6 * 7 * 3, "a job that ran again counts once");
    }
}

#[test]
fn lost_commands_are_sent_again_from_where_the_board_asks() {
    let design = cramped();
    for opcode in [wire::WRITE, wire::MULTIPLY] {
        for board in boards(&design) {
            let mut tap = Tap::new(board, losing(nth(opcode, &[0, 9])), pass());
            let product = expect_equal(&mut tap, &design);
            assert!(product.counters.go_backs >= 2, "{:?}", product.counters);
        }
    }
}

#[test]
fn a_lost_nak_is_made_up_for_by_the_deadline() {
    let design = cramped();
    for board in boards(&design) {
        let lost_nak = losing(|frame| frame.opcode == wire::NAK);
        let mut tap = Tap::new(board, losing(nth(wire::WRITE, &[2])), lost_nak);
        let product = expect_equal(&mut tap, &design);
        assert!(product.counters.timeouts >= 1);
        assert_eq!(product.counters.go_backs, 0);
    }
}

#[test]
fn repeated_commands_are_executed_once() {
    let design = cramped();
    for board in boards(&design) {
        let twice = Box::new(|frame: Frame| match frame.opcode {
            wire::HELLO => vec![frame],
            _ => vec![frame.clone(), frame],
        });
        let product = expect_equal(&mut Tap::new(board, twice, pass()), &design);
        assert_eq!(product.reruns, 0);
    }
}

#[test]
fn the_last_answer_lost_is_asked_for() {
    let design = cramped();
    let (a, b) = random(2, 4, 2, 8, 1);
    for board in boards(&design) {
        let mut tap = Tap::new(board, pass(), losing(nth(wire::RESULT, &[0])));
        let product = product(&mut tap, &design, &a, &b, &mut (), &GO_ON).expect("a product");
        assert!(product.comparison.equal());
        assert_eq!(product.reruns, 1);
    }
}

/// Products over a noisy link: each right or given up; gives how many were right, go-backs and jobs run again.
fn through_noise(seeds: u64, board: impl Fn(&Design) -> Box<dyn Link>) -> (u64, u64, u64) {
    let design = cramped();
    let (mut good, mut go_backs, mut reruns) = (0, 0, 0);
    for seed in 0..seeds {
        match multiply(&mut Noise::new(board(&design), seed, 400), &design) {
            Ok(product) => {
                assert!(product.comparison.equal(), "seed {seed}: {:?}", product.comparison);
                good += 1;
                go_backs += product.counters.go_backs;
                reruns += product.reruns;
            }
            Err(Error::Session(error)) if error.is_silence() => {}
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    (good, go_backs, reruns)
}

#[test]
fn noise_costs_time_and_never_a_wrong_product() {
    let (good, go_backs, reruns) = through_noise(40, |design| Box::new(link(design)));
    assert!(good >= 35, "{good} of 40 products came through");
    assert!(go_backs > 0 && reruns > 0, "{go_backs} go-backs, {reruns} re-runs: the noise did nothing");
}

#[test]
fn noise_around_the_gateware() {
    let (good, go_backs, reruns) = through_noise(10, |design| Box::new(gateware(design)));
    assert!(good >= 8, "{good} of 10 products came through");
    assert!(go_backs > 0 && reruns > 0, "{go_backs} go-backs, {reruns} re-runs: the noise did nothing");
}

#[test]
fn a_board_reset_in_the_middle_is_told_everything_again() {
    let design = cramped();
    for polls in [20, 40, 60, 80] {
        let happens = |link: &mut SoftwareLink| {
            link.board().reset();
            Ok(())
        };
        let product = expect_equal(&mut Mishap { inner: link(&design), polls, happens }, &design);
        assert_eq!(product.counters.restarts, 1, "reset before poll {polls}");
    }
    for polls in [200, 700, 1500] {
        let happens = |link: &mut SimLink| {
            let core = link.core();
            core.reset.next = true;
            sim::edge(core);
            core.reset.next = false;
            Ok(())
        };
        let product = expect_equal(&mut Mishap { inner: gateware(&design), polls, happens }, &design);
        assert_eq!(product.counters.restarts, 1, "reset before poll {polls}");
    }
}

#[test]
fn a_link_that_closes_is_named() {
    let design = cramped();
    let happens = |_: &mut SoftwareLink| Err(LinkError::Closed { port: "/dev/ttyUSB1".to_owned() });
    let error = multiply(&mut Mishap { inner: link(&design), polls: 30, happens }, &design);
    let error = error.expect_err("closed");
    assert!(error.to_string().starts_with("/dev/ttyUSB1: the board is gone: "), "{error}");
    assert_eq!(error.exit_code(), 3);
}

#[test]
fn row_16_silence_ends_with_the_stage_it_began_in() {
    let design = cramped();
    let silent_after = |opcode| {
        let mut gone = false;
        losing(move |frame: &Frame| {
            gone |= frame.opcode == opcode;
            gone
        })
    };
    for (opcode, stage) in [(wire::HELLO, "HELLO"), (wire::WRITE, "WRITE"), (wire::MULTIPLY, "MULTIPLY")] {
        for board in boards(&design) {
            let error = multiply(&mut Tap::new(board, silent_after(opcode), pass()), &design);
            let error = error.expect_err("nobody answers");
            assert!(error.to_string().starts_with(&format!("no answer to {stage} within")), "{error}");
            assert_eq!(error.exit_code(), 3);
        }
    }
}

#[test]
fn row_12_a_smashed_first_byte_costs_nothing() {
    let design = cramped();
    for board in boards(&design) {
        let product = expect_equal(&mut Smashed::new(board), &design);
        assert_eq!((product.counters.hello_retries, product.counters.timeouts), (0, 0));
    }
}

#[test]
fn row_14_bytes_of_any_kind_at_any_time_leave_the_board_usable() {
    let design = cramped();
    for mut board in boards(&design) {
        for seed in 0..3 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut garbage: VecDeque<u8> = (0..4000).map(|_| rng.random()).collect();
            for _ in 0..100_000 {
                board.poll(&mut garbage, &mut Vec::new()).expect("a simulated link");
                if garbage.is_empty() {
                    break;
                }
            }
            assert!(garbage.is_empty(), "the board has stopped listening");
            let product = expect_equal(&mut board, &design);
            assert_eq!(product.counters.hello_retries, 0);
        }
    }
}

#[test]
fn an_answer_to_an_older_hello_is_not_taken() {
    let design = cramped();
    let other = Design::new(Parameters { n: 3, ..Parameters::default() }).expect("in range");
    let stale = Reply {
        seq: 255,
        expected: 0,
        retired: 255,
        content: Content::Ident { nonce: 77, identity: other.identity(Origin::Image) },
    };
    let mut first = true;
    let filter = Box::new(move |frame: Frame| {
        let mut frames = vec![frame];
        if std::mem::take(&mut first) {
            frames.insert(0, stale.frame());
        }
        frames
    });
    expect_equal(&mut Tap::new(link(&design), pass(), filter), &design);
}

#[test]
fn row_26_another_design_or_version_is_named() {
    let design = cramped();
    let asked = Design::new(Parameters { n: 3, ..design.parameters().clone() }).expect("in range");
    let open = |link: &mut dyn Link| {
        let options = SessionOptions { nonce: 9, design: Some(asked.clone()) };
        let error =
            Session::open(link, options, &GO_ON).map(drop).expect_err("not what was asked for").to_string();
        assert!(error.contains("`systole flash`"), "{error}");
        error
    };
    assert!(open(&mut link(&design)).starts_with("the board's design has n=2, but n=3 was asked for"));
    let mut identity = asked.identity(Origin::Simulated);
    identity.protocol = 2;
    assert!(open(&mut SoftwareLink::new(identity)).starts_with("the board speaks version 2 of the wire"));
}

#[test]
fn a_refused_command_ends_the_session_with_its_name() {
    let design = cramped();
    let spoil = Box::new(|mut frame: Frame| {
        if frame.opcode == wire::MULTIPLY {
            frame.body[10] = 0;
        }
        vec![frame]
    });
    let error = multiply(&mut Tap::new(link(&design), spoil, pass()), &design).expect_err("a count of 0");
    assert!(error.to_string().starts_with("the board refused MULTIPLY: argument"), "{error}");
    let cut = Box::new(|frame: Frame| match Reply::parse(&frame).map(|reply| reply.content) {
        Ok(Content::Result { .. }) => {
            let body = [&frame.body[..2], &frame.body[3..]].concat();
            vec![Frame { body, ..frame }]
        }
        _ => vec![frame],
    });
    let error = multiply(&mut Tap::new(link(&design), pass(), cut), &design).expect_err("a short RESULT");
    assert!(error.to_string().starts_with("the board sent a RESULT with"), "{error}");
}

#[test]
fn row_15_window_and_credits_are_kept() {
    // One operand a frame: the window is what limits. Then long frames: the FIFO is.
    let one = Parameters { n: 1, k_max: 1, a_depth: 1, b_depth: 1, fifo: 4096, ..Parameters::default() };
    for (parameters, shape) in [(one, (40, 1, 40)), (cramped().parameters().clone(), (11, 9, 13))] {
        let design = Design::new(parameters).expect("in range");
        let out: RefCell<Vec<(u8, usize)>> = RefCell::default();
        let (most_frames, most_bytes) = (Cell::new(0), Cell::new(0));
        let sent = Box::new(|frame: Frame| {
            if frame.opcode != wire::HELLO {
                out.borrow_mut().push((frame.seq, frame.decoded_len()));
                most_frames.set(most_frames.get().max(out.borrow().len()));
                most_bytes.set(most_bytes.get().max(out.borrow().iter().map(|frame| frame.1).sum()));
            }
            vec![frame]
        });
        let heard = Box::new(|frame: Frame| {
            let retired = frame.body[1];
            let mut out = out.borrow_mut();
            if let Some(i) = out.iter().position(|sent| sent.0 == retired) {
                out.drain(..=i);
            }
            vec![frame]
        });
        let (m, k, p) = shape;
        let (a, b) = random(m, k, p, 8, 3);
        let mut tap = Tap::new(link(&design), sent, heard);
        let product = product(&mut tap, &design, &a, &b, &mut (), &GO_ON).expect("a product");
        assert!(product.comparison.equal());
        let fifo = design.parameters().fifo as usize;
        assert!(most_frames.get() <= 128 && most_bytes.get() <= fifo, "{most_frames:?} {most_bytes:?}");
        // Work queues ahead: a session that waits for each answer would never have this much out.
        assert!(most_frames.get() >= 4 || most_bytes.get() > fifo / 2, "{most_frames:?} {most_bytes:?}");
    }
}

#[test]
fn status_tells_what_the_board_dropped() {
    let design = cramped();
    for board in boards(&design) {
        status_after_a_lost_sink(board);
    }
}

fn status_after_a_lost_sink(board: Box<dyn Link>) {
    let mut tap = Tap::new(board, losing(nth(wire::SINK, &[0])), pass());
    let options = SessionOptions { nonce: 1, design: None };
    let mut session = Session::open(&mut tap, options, &GO_ON).expect("a session");
    session.issue(&Command::Sink(vec![1, 2, 3])).expect("issued");
    let echo = session.issue(&Command::Echo(vec![0xC0, 0xDB, 7])).expect("issued");
    assert_eq!(session.finish(echo).expect("answered"), Some(Content::Echo(vec![0xC0, 0xDB, 7])));
    let source = session.issue(&Command::Source { n: 3 }).expect("issued");
    assert_eq!(session.finish(source).expect("answered"), Some(Content::Data(vec![0, 1, 2])));
    let status = session.issue(&Command::Status).expect("issued");
    let Some(Content::Status(status)) = session.finish(status).expect("answered") else {
        panic!("no STATUS")
    };
    // SINK was lost on its way, so the ECHO behind it came out of turn.
    assert_eq!((status.dropped, status.crc, status.overrun), (1, 0, 0));
    assert!(session.is_idle());
    let error = session.issue(&Command::Sink(vec![0; 100])).expect_err("64 bytes are half the FIFO");
    assert!(error.to_string().starts_with("a SINK of 104 bytes is longer than the 64 that"), "{error}");
}

#[test]
fn a_board_out_of_session_answers_only_intact_frames() {
    let design = cramped();
    let mut link = link(&design);
    let exchange = |link: &mut SoftwareLink, bytes: Vec<u8>| {
        let (mut to_board, mut from_board) = (bytes.into(), Vec::new());
        link.poll(&mut to_board, &mut from_board).expect("a poll");
        let replies = systole_hdl::codec::Decoder::new().push_all(&from_board);
        replies
            .into_iter()
            .map(|f| Reply::parse(&f.expect("intact")).expect("a reply").content)
            .collect::<Vec<_>>()
    };
    let mut damaged = Command::Status.frame(3).bytes();
    damaged[5] ^= 1;
    assert_eq!(exchange(&mut link, systole_hdl::codec::slip(&damaged)), []);
    assert_eq!(exchange(&mut link, Command::Status.frame(3).to_wire()), [Content::Nak(Nak::NoSession)]);
}

#[test]
fn ctrl_c_ends_a_session() {
    let design = cramped();
    let cancel = AtomicBool::new(false);
    let (a, b) = random(11, 9, 13, 8, 5);
    let mut results = 0;
    let stop = Box::new(|frame: Frame| {
        results += usize::from(frame.opcode == wire::RESULT);
        cancel.store(results == 5, Ordering::Relaxed);
        vec![frame]
    });
    let mut tap = Tap::new(link(&design), pass(), stop);
    let error = product(&mut tap, &design, &a, &b, &mut (), &cancel).expect_err("interrupted");
    assert_eq!((error.to_string().as_str(), error.exit_code()), ("interrupted", 130));
}
