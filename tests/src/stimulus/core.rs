//! The whole core: a host that errs, a line that stalls.

use super::frames::Host;
use super::once_in;
use crate::verilog::differential::{Case, Reach};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use systole_hdl::core::Core;
use systole_hdl::parameters::Parameters;
use systole_hdl::sim::power_up;
use systole_hdl::wire::{ErrorKind, Nak, Origin};

/// The core of a design.
pub fn core(p: &Parameters) -> Case<Core> {
    let mut host = Host::new(p);
    let mut queue: VecDeque<u8> = VecDeque::new();
    let (mut stalled, mut in_session) = (false, false);
    let stimulus = move |core: &mut Core, random: &mut ChaCha8Rng| {
        in_session = (in_session || core.decoder.hello.val()) && !core.reset.next;
        core.reset.next = once_in(random, 5000);
        core.rx_framing.next = once_in(random, 2000);
        core.rx_overrun.next = once_in(random, 2000);
        // A line that stalls for long lets the FIFO run full.
        stalled = if stalled { !once_in(random, 600) } else { once_in(random, 3000) };
        core.tx_ready.next = !stalled && !once_in(random, 4);
        if queue.is_empty() && core.rx_ready.val() {
            let expected = core.decoder.expected.val().get() as u8;
            let hello = once_in(random, if in_session { 80 } else { 3 });
            queue.extend(if hello { host.hello(random) } else { host.frame(random, expected) });
        }
        core.rx_valid.next = !queue.is_empty() && !once_in(random, 4);
        let offered = if core.rx_valid.next { queue[0] } else { random.random() };
        core.rx_data.next = usize::from(offered).into();
        if core.rx_valid.next && core.rx_ready.val() {
            queue.pop_front();
        }
    };
    Case {
        name: format!("core of n={} w={} aw={} k_max={} fifo={}", p.n, p.w, p.aw, p.k_max, p.fifo),
        block: power_up(Core::new(p, Origin::Simulated, 0x0123_4567_89AB_CDEF)),
        stimulus: Box::new(stimulus),
        reach: reach(),
        // Those of its blocks are watched where the blocks are tried alone.
        transitions: None,
    }
}

fn reach() -> Vec<Reach<Core>> {
    fn refuses(core: &Core, reason: Nak) -> bool {
        core.decoder.nak.val() && core.decoder.reason.val().get() == i64::from(reason.code())
    }
    fn errs(core: &Core, kind: ErrorKind) -> bool {
        core.wrapper.finished.val() && core.wrapper.error.val().get() == i64::from(kind.code())
    }
    vec![
        ("a good job", |core| core.wrapper.finished.val() && !core.wrapper.error.val().any()),
        ("unpaired operand", |core| errs(core, ErrorKind::Unpaired)),
        ("job mismatch", |core| errs(core, ErrorKind::JobMismatch)),
        ("k mismatch", |core| errs(core, ErrorKind::KMismatch)),
        ("out of order", |core| errs(core, ErrorKind::OutOfOrder)),
        ("missing terms", |core| errs(core, ErrorKind::MissingTerms)),
        ("nak crc", |core| refuses(core, Nak::Crc)),
        ("nak seq", |core| refuses(core, Nak::Seq)),
        ("nak overflow", |core| refuses(core, Nak::Overflow)),
        ("nak opcode", |core| refuses(core, Nak::Opcode)),
        ("nak length", |core| refuses(core, Nak::Length)),
        ("nak argument", |core| refuses(core, Nak::Argument)),
        ("nak no session", |core| refuses(core, Nak::NoSession)),
        ("duplicate", |core| core.decoder.duplicate.val()),
        ("hello in mid-job", |core| core.decoder.hello.val() && core.wrapper.busy.val()),
        ("hello while answering", |core| core.decoder.hello.val() && core.encoder.busy.val()),
        ("FIFO full", |core| core.fifo.full.val()),
        ("FIFO empty", |core| core.fifo.empty.val()),
        ("a refused start", |core| core.wrapper.refused.val()),
        ("beyond the end of a bank", |core| core.wrapper.overrun.val()),
        ("a value cut", |core| core.encoder.truncated.val()),
        ("an operand that does not fit, or an address beyond its bank", |core| core.executor.poison.val()),
        ("no room for results", |core| !core.wrapper.busy.val() && !core.wrapper.ready.val()),
        ("idle", |core| core.idle.val()),
        ("error", |core| core.error.val()),
    ]
}
