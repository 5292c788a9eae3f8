//! What an image does at its pins.

use super::host::Host;
use super::{ImageLevel, Subject};
use crate::level::Rule;
use systole_hdl::codec::{Command, Content, Multiply, Status};
use systole_hdl::wire::{BANK_A, BANK_B, ErrorKind, Identity, Injection, Nak, Origin, STATUS_FIRED};

/// All rules.
pub fn rules() -> Vec<Rule<dyn ImageLevel>> {
    let rule = |name, check| Rule { name, only: None, check };
    vec![
        rule("tx_is_high_from_power_up_on", tx_is_high),
        rule("what_comes_before_the_end_of_reset_does_no_harm", early_bytes),
        rule("a_session_from_hello_to_result", session),
        rule("commands_run_into_one_another", pipeline),
        rule("a_clock_2_percent_off_is_understood", deviation),
        rule("a_break_is_counted_and_does_no_harm", line_break),
        rule("lamps_show_idle_busy_and_error", lamps),
    ]
}

/// Both panels of a job of two terms at address 0: rows of A, columns of B.
fn writes(a: [i8; 4], b: [i8; 4]) -> [Command; 2] {
    [(BANK_A, a), (BANK_B, b)].map(|(bank, operands)| Command::Write {
        bank,
        address: 0,
        k_len: 2,
        operands: operands.map(|operand| operand as u8).into(),
    })
}

/// A job of two terms on what is at address 0.
const MULTIPLY: Command = Command::Multiply(Multiply {
    a_address: 0,
    b_address: 0,
    b_stride: 0,
    k_len: 2,
    count: 1,
    job: 0,
    result_bytes: 3,
});

/// The reply to a job: four values of three bytes, K + 2N − 2 = 4 steps.
fn result(status: u8, values: [i32; 4]) -> Content {
    let values = values.into_iter().flat_map(|value| value.to_le_bytes().into_iter().take(3));
    Content::Result { jobs: [status].into_iter().chain(values).collect(), steps: 4, edges: 4 }
}

/// [1 2; 3 4] · [5 6; 7 8] = [19 22; 43 50].
const SMALL: ([i8; 4], [i8; 4], [i32; 4]) = ([1, 2, 3, 4], [5, 7, 6, 8], [19, 22, 43, 50]);

/// [−128 127; 99 −77] · [−128 85; −1 127] = [16257 5249; −12595 −1364].
const LARGE: ([i8; 4], [i8; 4], [i32; 4]) =
    ([-128, 127, 99, -77], [-128, -1, 85, 127], [16257, 5249, -12595, -1364]);

/// Who answers HELLO.
fn identity(subject: &Subject) -> Identity {
    Identity { design_hash: subject.hash, ..subject.design.identity(Origin::Image) }
}

/// A host in a session.
fn open(level: &dyn ImageLevel, deviation: f64) -> Host {
    let mut host = Host::new(level, deviation);
    hello(&mut host, level);
    host
}

fn hello(host: &mut Host, level: &dyn ImageLevel) {
    // PLL and reset take less.
    host.hold(true, 1_000);
    let identity = identity(level.subject());
    assert_eq!(host.exchange("HELLO", &Command::Hello { nonce: 7 }), [Content::Ident { nonce: 7, identity }]);
}

/// Writes both panels, multiplies them, and expects these results.
fn job(host: &mut Host, (a, b, c): ([i8; 4], [i8; 4], [i32; 4])) {
    for write in writes(a, b) {
        assert_eq!(host.exchange("WRITE", &write), [Content::Ack]);
    }
    assert_eq!(host.exchange("MULTIPLY", &MULTIPLY), [result(0, c)]);
}

/// Before the first edge, while the PLL locks, during reset and after it.
fn tx_is_high(level: &dyn ImageLevel) {
    let mut host = Host::new(level, 0.0);
    assert!(host.tx(), "low before the first edge");
    for edge in 0..3_000 {
        host.hold(true, 1);
        assert!(host.tx(), "low after edge {edge}");
    }
}

/// A HELLO that comes with the first edge is not heard, or only its end; the next one is.
fn early_bytes(level: &dyn ImageLevel) {
    let mut host = Host::new(level, 0.0);
    host.command(&Command::Hello { nonce: 1 });
    assert_eq!(host.settle("the HELLO at power-up"), [], "an answer before the end of reset");
    hello(&mut host, level);
    job(&mut host, SMALL);
}

fn session(level: &dyn ImageLevel) {
    let mut host = open(level, 0.0);
    job(&mut host, SMALL);
    job(&mut host, LARGE);
}

/// Everything of two jobs is said at once, and the replies come in order.
fn pipeline(level: &dyn ImageLevel) {
    let mut host = open(level, 0.0);
    let mut seqs = Vec::new();
    for (a, b, _) in [SMALL, LARGE] {
        seqs.extend(writes(a, b).each_ref().map(|write| host.command(write)));
        seqs.push(host.command(&MULTIPLY));
    }
    let replies = host.settle("two jobs");
    let results: Vec<_> =
        replies.iter().filter(|reply| matches!(reply.content, Content::Result { .. })).collect();
    let expected = [(seqs[2], result(0, SMALL.2)), (seqs[5], result(0, LARGE.2))];
    assert_eq!(results.iter().map(|reply| (reply.seq, reply.content.clone())).collect::<Vec<_>>(), expected);
    assert_eq!(replies.last().map(|reply| (reply.expected, reply.retired)), Some((seqs[5] + 1, seqs[5])));
}

fn deviation(level: &dyn ImageLevel) {
    for deviation in [-0.02, 0.02] {
        let mut host = open(level, deviation);
        job(&mut host, LARGE);
    }
}

/// A break of two bytes' length is one framing error, and answered like a damaged frame: it may have been one.
fn line_break(level: &dyn ImageLevel) {
    let mut host = open(level, 0.0);
    host.hold(false, 160);
    host.hold(true, 80);
    let status = Status { framing: 1, ..Status::default() };
    let replies = host.exchange("STATUS", &Command::Status);
    assert_eq!(replies, [Content::Nak(Nak::Crc), Content::Status(status)]);
    job(&mut host, SMALL);
}

fn lamps(level: &dyn ImageLevel) {
    let mut host = open(level, 0.0);
    host.lit();
    host.hold(true, 100);
    let lit = host.lit();
    assert_eq!((lit.idle, lit.busy, lit.error), (100, 0, 0), "nothing to do");

    job(&mut host, SMALL);
    let lit = host.lit();
    // The job itself, collection included, takes some ten edges, and the line a thousand times as many.
    assert!((5..100).contains(&lit.busy), "a job: {lit:?}");
    assert!(lit.idle > 0 && lit.idle + lit.busy < lit.of && lit.error == 0, "a job: {lit:?}");

    let inject = Command::Inject { kind: Injection::FlipK, step: 0, length: 0 };
    assert_eq!(host.exchange("INJECT", &inject), [Content::Ack]);
    // Row 0 has nothing but the faulty term, and that is its first; row 1 is whole.
    let flagged = ErrorKind::KMismatch.code() | STATUS_FIRED;
    assert_eq!(host.exchange("MULTIPLY", &MULTIPLY), [result(flagged, [0, 0, 43, 50])]);
    host.lit();
    host.hold(true, 100);
    assert_eq!(host.lit().error, 100, "an error");

    hello(&mut host, level);
    host.lit();
    host.hold(true, 100);
    assert_eq!(host.lit().error, 0, "a new session");
}
