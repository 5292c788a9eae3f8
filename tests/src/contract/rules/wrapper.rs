//! Whole jobs: steps, faults, refusals, one job after another (R5–R7, R15, R19, R24–R28).

use super::examples::design;
use crate::contract::{Answer, Job, LevelError, Outcome, Phase, Wrapper};
use systole::software::job::{Fault, PeError};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{ErrorKind, Injection};

/// A job whose operands differ from one another, small enough for any width above 4.
fn job(n: u32, k_len: u32, seed: i32) -> Job {
    let operand = |i: i32| (i * 7 + seed * 3) % 15 - 7;
    let cells = (n * k_len) as i32;
    let a = (0..cells).map(operand).collect();
    let b = (0..cells).map(|i| operand(i * i + 1)).collect();
    Job { k_len, tag: 0, a, b, fault: None }
}

fn faulty(job: &Job, injection: Injection, step: u32, length: u32) -> Job {
    Job { fault: Some(Fault { injection, step, length }), ..job.clone() }
}

/// What PE(i,j) has when it takes the first `terms` terms of a job.
fn partial(job: &Job, i: usize, j: usize, terms: usize) -> i64 {
    let k_len = job.k_len as usize;
    let pairs = job.a[i * k_len..][..terms].iter().zip(&job.b[j * k_len..][..terms]);
    pairs.map(|(&a, &b)| i64::from(a) * i64::from(b)).sum()
}

/// The results of a job in which PE(i,j) takes `terms(i, j)` terms.
fn partials(n: usize, job: &Job, terms: impl Fn(usize, usize) -> usize) -> Vec<i64> {
    (0..n * n).map(|p| partial(job, p / n, p % n, terms(p / n, p % n))).collect()
}

fn product(n: u32, job: &Job) -> Vec<i64> {
    partials(n as usize, job, |_, _| job.k_len as usize)
}

fn run(wrapper: &dyn Wrapper, parameters: &Parameters, jobs: &[Job]) -> Vec<Answer> {
    let answers =
        wrapper.run(parameters, jobs).unwrap_or_else(|error| panic!("{}: {error}", wrapper.level()));
    assert_eq!(answers.len(), jobs.len(), "one answer a job");
    crate::cycles::report(
        "contract",
        answers.iter().map(|a| if let Answer::Run(o) = a { o.edges } else { 0 }).sum(),
    );
    answers
}

fn outcomes(wrapper: &dyn Wrapper, parameters: &Parameters, jobs: &[Job]) -> Vec<Outcome> {
    let ran = |answer| match answer {
        Answer::Run(outcome) => outcome,
        Answer::Refused => panic!("a legal job was refused"),
    };
    run(wrapper, parameters, jobs).into_iter().map(ran).collect()
}

/// A good job's values, and nothing flagged.
fn assert_good(n: u32, job: &Job, outcome: &Outcome) {
    assert_eq!((outcome.error, &outcome.values), (None, &product(n, job)), "{job:?}");
}

/// Refused by name before anything is built.
pub fn r02_impossible_designs_are_refused_with_a_wrapper(wrapper: &dyn Wrapper) {
    for (parameters, name) in [
        (Parameters { n: 0, ..Parameters::default() }, "n is 0"),
        (Parameters { k_max: 0, ..Parameters::default() }, "k-max is 0"),
        (Parameters { w: 8, aw: 15, ..Parameters::default() }, "aw is 15"),
    ] {
        let error = wrapper.run(&parameters, &[job(1, 1, 0)]).expect_err(name);
        assert!(matches!(error, LevelError::Parameters(_)) && error.to_string().starts_with(name), "{error}");
    }
}

/// K+2N−2 advancing edges: 4 for N=K=2, 9 for N=3, K=5, and 1 where there is but one product.
pub fn r05_steps_are_counted_as_they_happen(wrapper: &dyn Wrapper) {
    let counts =
        [(1, [(1, 1), (2, 2), (7, 7)]), (2, [(2, 4), (1, 3), (8, 10)]), (3, [(5, 9), (1, 5), (4, 8)])];
    for (n, counts) in counts {
        let jobs = counts.map(|(k_len, _)| job(n, k_len, 1));
        for ((outcome, job), (k_len, steps)) in
            outcomes(wrapper, &design(n, 8), &jobs).iter().zip(&jobs).zip(counts)
        {
            assert_good(n, job, outcome);
            assert_eq!((outcome.steps, outcome.edges), (steps, steps), "N={n}, K={k_len}");
        }
    }
}

/// A pause of P edges before any step that exists makes K+2N−2+P edges of the same steps; s = 0 counts too.
pub fn r07_paused_edges_are_counted_apart(wrapper: &dyn Wrapper) {
    let good = job(2, 2, 3);
    let jobs: Vec<Job> =
        (0..6).flat_map(|s| [0, 1, 5].map(|length| faulty(&good, Injection::Pause, s, length))).collect();
    let outcomes = outcomes(wrapper, &design(2, 8), &jobs);
    for (outcome, fault) in outcomes.iter().zip(jobs.iter().filter_map(|job| job.fault)) {
        let exists = fault.step <= 3;
        let edges = if exists { 4 + u64::from(fault.length) } else { 4 };
        assert_eq!((outcome.steps, outcome.edges, outcome.fired), (4, edges, exists), "{fault:?}");
    }
}

/// A pause holds the boundary scheduler too: the product is the same.
pub fn r15_a_pause_changes_no_result(wrapper: &dyn Wrapper) {
    let good = job(3, 5, 2);
    let jobs: Vec<Job> = (0..9).map(|step| faulty(&good, Injection::Pause, step, 1 + step % 3)).collect();
    for outcome in outcomes(wrapper, &design(3, 8), &jobs) {
        assert_good(3, &good, &outcome);
    }
}

/// The wrapper knows where each result belongs: row by row.
pub fn r19_results_come_row_major(wrapper: &dyn Wrapper) {
    let columns = vec![3, 4, 5, 6, 7, 8];
    for row in 0..3 {
        let mut a = vec![0; 6];
        a[2 * row..2 * row + 2].copy_from_slice(&[1, 2]);
        let job = Job { k_len: 2, tag: 0, a, b: columns.clone(), fault: None };
        let mut expected = vec![0; 9];
        expected[3 * row..3 * row + 3].copy_from_slice(&[11, 17, 23]);
        assert_eq!(outcomes(wrapper, &design(3, 8), &[job])[0].values, expected, "row {row}");
    }
}

/// A job that ends with terms missing says so, and its steps are those of the whole job.
pub fn r24_missing_terms_are_reported(wrapper: &dyn Wrapper) {
    for k_len in [1, 2, 5] {
        let short = faulty(&job(2, k_len, 4), Injection::Truncate, 0, 0);
        let outcome = &outcomes(wrapper, &design(2, 8), std::slice::from_ref(&short))[0];
        let missing = PeError { kind: ErrorKind::MissingTerms, row: 0, column: 0 };
        assert_eq!((outcome.error, outcome.fired), (Some(missing), true));
        assert_eq!(outcome.values, partials(2, &short, |_, _| k_len as usize - 1));
        assert_eq!(outcome.steps, u64::from(k_len) + 2);
    }
}

/// No terms, more than K_MAX, or more than the accumulator holds exactly: refused, and the next job runs as ever.
pub fn r24a_lengths_beyond_the_limit_are_refused(wrapper: &dyn Wrapper) {
    // At W=8 and AW=17 three products of −128·−128 fit, at AW=16 one.
    for (aw, k_max, limit) in [(17, 8, 3), (16, 8, 1), (32, 8, 8)] {
        let parameters = Parameters { aw, ..design(2, k_max) };
        let lengths = [0, limit, limit + 1, limit, 0, 1];
        let jobs = lengths.map(|k_len| job(2, k_len, 5));
        for (answer, job) in run(wrapper, &parameters, &jobs).iter().zip(&jobs) {
            match answer {
                Answer::Refused => assert!(job.k_len == 0 || job.k_len > limit, "refused K={}", job.k_len),
                Answer::Run(outcome) => {
                    assert!((1..=limit).contains(&job.k_len), "ran K={}", job.k_len);
                    assert_good(2, job, outcome);
                }
            }
        }
    }
}

/// −128×−128 as often as the design allows: 511 terms in 24 bits make 8,372,224 in every PE.
pub fn r24a_the_largest_sums_come_back(wrapper: &dyn Wrapper) {
    let parameters = Parameters { aw: 24, ..design(2, 512) };
    let low = vec![-128; 2 * 511];
    let high = vec![127; 2 * 511];
    let job =
        |a: &Vec<i32>, b: &Vec<i32>| Job { k_len: 511, tag: 3, a: a.clone(), b: b.clone(), fault: None };
    let outcomes = outcomes(wrapper, &parameters, &[job(&low, &low), job(&low, &high)]);
    assert_eq!((&outcomes[0].values[..], outcomes[0].error), (&[8_372_224; 4][..], None));
    assert_eq!((&outcomes[1].values[..], outcomes[1].error), (&[-8_306_816; 4][..], None));
}

/// What a fault on the tokens of a job is reported as; `None` if it does not fire.
fn expected(fault: Fault, k_len: u32) -> Option<ErrorKind> {
    let exists = fault.step < k_len;
    match fault.injection {
        Injection::FlipK => exists.then_some(ErrorKind::KMismatch),
        Injection::FlipJob => exists.then_some(ErrorKind::JobMismatch),
        Injection::DropValid => exists.then_some(ErrorKind::Unpaired),
        Injection::RepeatK => (exists && fault.step >= 1).then_some(ErrorKind::OutOfOrder),
        _ => unreachable!("{fault:?} is not on the tokens of one lane"),
    }
}

/// Every fault on tokens, at every step of a job and a few beyond: reported by kind and PE, its results flagged and
/// exactly those of the terms that were legal; where the step does not come, the job is good and says not fired. The
/// steps are always the same, and the job after each is good.
pub fn r24b_every_injection_at_every_step(wrapper: &dyn Wrapper) {
    let kinds = [Injection::FlipK, Injection::FlipJob, Injection::DropValid, Injection::RepeatK];
    for (n, k_len) in [(1, 1), (1, 4), (3, 4)] {
        let good = job(n, k_len, 6);
        let steps = u64::from(k_len + 2 * n - 2);
        let faults = (0..k_len + 2 * n + 1).flat_map(|step| kinds.map(|kind| faulty(&good, kind, step, 0)));
        let jobs: Vec<Job> = faults.flat_map(|faulty| [faulty, good.clone()]).collect();
        let outcomes = outcomes(wrapper, &design(n, 8), &jobs);
        for (pair, jobs) in outcomes.chunks(2).zip(jobs.chunks(2)) {
            let fault = jobs[0].fault.expect("a faulty job");
            let struck = expected(fault, k_len);
            let error = struck.map(|kind| PeError { kind, row: 0, column: 0 });
            // Every fault stops row 0; repeating k strikes B lane 0 too, and stops column 0.
            let both_lanes = fault.injection == Injection::RepeatK;
            let stopped = |i, j| struck.is_some() && (i == 0 || (both_lanes && j == 0));
            let terms = |i, j| if stopped(i, j) { fault.step } else { k_len } as usize;
            assert_eq!((pair[0].error, pair[0].fired), (error, error.is_some()), "N={n}, {fault:?}");
            assert_eq!(pair[0].values, partials(n as usize, &good, terms), "N={n}, {fault:?}");
            assert_eq!((pair[0].steps, pair[0].edges), (steps, steps), "N={n}, {fault:?}");
            assert_good(n, &good, &pair[1]);
            assert!(!pair[1].fired && !pair[1].refused);
        }
    }
}

/// Repeating k at a step makes PE(0,0) out of order and its neighbours' k mismatch, which comes earlier in the order of
/// kinds: reported is PE(0,0).
pub fn r24b_the_lowest_pe_is_reported_not_the_worst_kind(wrapper: &dyn Wrapper) {
    let outcome = &outcomes(wrapper, &design(2, 8), &[faulty(&job(2, 3, 7), Injection::RepeatK, 1, 0)])[0];
    assert_eq!(outcome.error, Some(PeError { kind: ErrorKind::OutOfOrder, row: 0, column: 0 }));
}

/// The wrapper goes on with bubbles until the last PE has its last term, and collects then.
pub fn r25_results_are_collected_after_the_drain(wrapper: &dyn Wrapper) {
    use Phase::{Clear, Collect, Drain, Idle, Stream};
    for (n, phases) in
        [(1, vec![Clear, Stream, Collect, Idle]), (3, vec![Clear, Stream, Drain, Collect, Idle])]
    {
        let jobs = [job(n, 1, 8), job(n, 5, 8)];
        for (outcome, job) in outcomes(wrapper, &design(n, 8), &jobs).iter().zip(&jobs) {
            assert_good(n, job, outcome);
            assert!(
                outcome.phases.as_ref().is_none_or(|seen| *seen == phases),
                "N={n}: {:?}",
                outcome.phases
            );
        }
    }
}

/// A bad job of each kind, then good ones with the same tag and another K: nothing is left over.
pub fn r26_nothing_of_a_bad_job_is_left_in_the_next(wrapper: &dyn Wrapper) {
    let bad = job(3, 5, 9);
    let faults = [
        (Injection::FlipK, 1),
        (Injection::FlipJob, 0),
        (Injection::DropValid, 4),
        (Injection::RepeatK, 2),
        (Injection::Truncate, 0),
        (Injection::Pause, 6),
    ];
    let mut jobs = Vec::new();
    for (injection, step) in faults {
        jobs.extend([faulty(&bad, injection, step, 3), job(3, 2, step as i32), bad.clone()]);
    }
    for (outcomes, jobs) in outcomes(wrapper, &design(3, 8), &jobs).chunks(3).zip(jobs.chunks(3)) {
        assert!(outcomes[0].fired);
        assert_good(3, &jobs[1], &outcomes[1]);
        assert_good(3, &jobs[2], &outcomes[2]);
    }
}

/// Complete, collect, clear, restart: jobs of every tag and several lengths in a row, each with its own product.
pub fn r27_one_job_at_a_time(wrapper: &dyn Wrapper) {
    let jobs: Vec<Job> = (0..12).map(|i| Job { tag: i % 4, ..job(2, 1 + (i * 3) % 8, i as i32) }).collect();
    for (outcome, job) in outcomes(wrapper, &design(2, 8), &jobs).iter().zip(&jobs) {
        assert_good(2, job, outcome);
        assert_eq!(
            outcome.phases.as_ref().map_or(Some(&Phase::Idle), |seen| seen.last()),
            Some(&Phase::Idle)
        );
    }
}

/// A start at any step is refused visibly; product, steps and the next job are as without it.
pub fn r27_a_start_in_mid_job_is_refused_and_disturbs_nothing(wrapper: &dyn Wrapper) {
    for n in [1, 3] {
        let good = job(n, 4, 10);
        let steps = 4 + 2 * n - 2;
        let jobs: Vec<Job> = (0..steps + 2)
            .flat_map(|step| [faulty(&good, Injection::Start, step, 0), good.clone()])
            .collect();
        for (step, pair) in (0..).zip(outcomes(wrapper, &design(n, 8), &jobs).chunks(2)) {
            let exists = step < steps;
            assert_eq!((pair[0].refused, pair[0].fired), (exists, exists), "N={n}, step {step}");
            assert_eq!((pair[1].refused, pair[1].fired), (false, false), "N={n}, step {step}");
            for outcome in pair {
                assert_good(n, &good, outcome);
                assert_eq!((outcome.steps, outcome.edges), (u64::from(steps), u64::from(steps)));
            }
        }
    }
}

/// A fault that has fired is gone; one that has not is gone too.
pub fn r28_a_fault_acts_on_one_job_only(wrapper: &dyn Wrapper) {
    let (short, long) = (job(2, 2, 11), job(2, 8, 11));
    // Step 6 does not exist in the short job, but does in the long one that follows.
    let jobs =
        [faulty(&short, Injection::FlipK, 6, 0), long.clone(), faulty(&long, Injection::FlipK, 6, 0), long];
    let outcomes = outcomes(wrapper, &design(2, 8), &jobs);
    let seen: Vec<_> = outcomes.iter().map(|outcome| (outcome.fired, outcome.error.is_some())).collect();
    assert_eq!(seen, [(false, false), (false, false), (true, true), (false, false)]);
    assert_good(2, &jobs[1], &outcomes[1]);
    assert_good(2, &jobs[3], &outcomes[3]);
}
