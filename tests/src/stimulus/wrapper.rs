//! The wrapper: jobs, faults, refusals and results, while operands go on being written.

use super::{bits, once_in, operand};
use crate::verilog::differential::{Case, Reach};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use systole_hdl::injector::INJECTION_BITS;
use systole_hdl::parameters::Parameters;
use systole_hdl::sim::power_up;
use systole_hdl::types::Word;
use systole_hdl::wire::{ErrorKind, STATUS_FIRED, STATUS_NOT_FIRED, STATUS_REFUSED};
use systole_hdl::wrapper::Wrapper;

/// The wrapper of a design.
pub fn wrapper(p: &Parameters) -> Case<Wrapper> {
    let block = power_up(Wrapper::new(p));
    let name = format!("wrapper of n={} w={} aw={} k_max={}", p.n, p.w, p.aw, p.k_max);
    let phases = if p.n > 1 {
        vec![
            "Idle>Clear",
            "Clear>Stream",
            "Stream>Drain",
            "Drain>Collect",
            "Collect>Idle",
            // Reset.
            "Clear>Idle",
            "Stream>Idle",
            "Drain>Idle",
        ]
    } else {
        vec!["Idle>Clear", "Clear>Stream", "Stream>Collect", "Collect>Idle", "Clear>Idle", "Stream>Idle"]
    };
    Case {
        name,
        block,
        stimulus: Box::new(stimulus(p.clone())),
        reach: reach(),
        transitions: Some(vec![
            ("phase", phases),
            (
                "collector.state",
                vec!["Idle>Fetch", "Fetch>Copy", "Copy>Close", "Close>Idle", "Fetch>Idle", "Copy>Idle"],
            ),
            ("results.state", vec!["Nothing>Status", "Status>Job", "Job>Nothing", "Status>Nothing"]),
        ]),
    }
}

fn stimulus(p: Parameters) -> impl FnMut(&mut Wrapper, &mut ChaCha8Rng) {
    let mut cycle = 0u32;
    move |wrapper, random| {
        cycle += 1;
        let word = |random: &mut ChaCha8Rng, width| Word::of(bits(random, width) as i64);
        wrapper.reset.next = once_in(random, 250);

        wrapper.write_enable.next = !once_in(random, 3);
        wrapper.write_bank.next = once_in(random, 2);
        // A lane that does not exist is written nowhere.
        wrapper.write_lane.next = word(random, p.lane_bits());
        wrapper.write_address.next = word(random, p.a_address_bits().max(p.b_address_bits()));
        wrapper.write_data.next = Word::of(operand(random, p.w));

        let idle = !wrapper.busy.val();
        wrapper.start.next = once_in(random, if idle { 3 } else { 150 });
        wrapper.a_address.next = word(random, p.a_address_bits());
        wrapper.b_address.next = word(random, p.b_address_bits());
        let any = once_in(random, 10);
        let k_len = if any {
            word(random, p.count_bits())
        } else {
            random.random_range(1..=p.k_limit() as usize).into()
        };
        wrapper.k_len.next = k_len;
        wrapper.job.next = word(random, p.job_bits);

        wrapper.inject_arm.next = once_in(random, if idle { 4 } else { 60 });
        wrapper.inject_kind.next = word(random, INJECTION_BITS);
        wrapper.inject_step.next = random.random_range(0..=p.steps(p.k_limit()) as usize).into();
        wrapper.inject_length.next = random.random_range(0..5usize).into();
        wrapper.inject_never.next = once_in(random, 10);

        // Nobody reads for a while, so that results pile up; then they are read faster than they come.
        let reading = cycle / 600 % 2 == 1;
        wrapper.result_next.next = wrapper.result_ready.val() && (reading || once_in(random, 40));
    }
}

fn reach() -> Vec<Reach<Wrapper>> {
    fn finishes_with(wrapper: &Wrapper, kind: u8) -> bool {
        wrapper.finished.val() && wrapper.error.val().get() == i64::from(kind)
    }
    fn shows(wrapper: &Wrapper, bit: u8) -> bool {
        wrapper.result_ready.val() && wrapper.result_status.val().get() & i64::from(bit) != 0
    }
    vec![
        ("a good job", |wrapper| finishes_with(wrapper, 0)),
        ("unpaired operand", |wrapper| finishes_with(wrapper, ErrorKind::Unpaired.code())),
        ("job mismatch", |wrapper| finishes_with(wrapper, ErrorKind::JobMismatch.code())),
        ("k mismatch", |wrapper| finishes_with(wrapper, ErrorKind::KMismatch.code())),
        ("out of order", |wrapper| finishes_with(wrapper, ErrorKind::OutOfOrder.code())),
        ("missing terms", |wrapper| finishes_with(wrapper, ErrorKind::MissingTerms.code())),
        ("a fault that fired", |wrapper| shows(wrapper, STATUS_FIRED)),
        ("a fault that did not", |wrapper| shows(wrapper, STATUS_NOT_FIRED)),
        ("a start refused in mid-job", |wrapper| shows(wrapper, STATUS_REFUSED)),
        ("a paused job", |wrapper| {
            wrapper.finished.val() && wrapper.edges.val().get() > wrapper.steps.val().get()
        }),
        ("a start refused when idle", |wrapper| {
            !wrapper.busy.val() && wrapper.start.next && wrapper.refused.val()
        }),
        ("no room for results", |wrapper| !wrapper.busy.val() && !wrapper.ready.val()),
        ("no results", |wrapper| !wrapper.result_ready.val()),
        ("a negative result", |wrapper| wrapper.result_ready.val() && wrapper.result.val().get() < 0),
        ("beyond the end of a bank", |wrapper| wrapper.overrun.val()),
        ("reset in a job", |wrapper| wrapper.reset.next),
    ]
}
