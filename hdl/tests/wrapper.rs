//! Jobs on the wrapper: what it counts, refuses, reports and survives.

use systole_hdl::parameters::Parameters;
use systole_hdl::sim;
use systole_hdl::types::Word;
use systole_hdl::wire::{BANK_A, BANK_B, Injection, STATUS_FIRED, STATUS_NOT_FIRED, STATUS_REFUSED};
use systole_hdl::wrapper::Wrapper;

/// Edges after which a wait has failed.
const PATIENCE: usize = 2000;

/// The 2×3 block of the tests, its 3×2 partner, and their product.
const A: [i64; 6] = [1, 2, 3, 4, 5, 6];
const B: [i64; 6] = [7, 9, 11, 8, 10, 12];
const C: [i64; 4] = [58, 64, 139, 154];

/// What a job ended with, from the pulse of `finished`.
#[derive(Debug, PartialEq)]
struct Finished {
    job: i64,
    steps: i64,
    edges: i64,
    error: (i64, i64, i64),
}

struct Bench {
    wrapper: Wrapper,
    edges: usize,
    refused: usize,
    overruns: usize,
}

impl Bench {
    fn new(p: &Parameters) -> Self {
        p.check().expect("legal parameters");
        let mut bench = Self { wrapper: sim::power_up(Wrapper::new(p)), edges: 0, refused: 0, overruns: 0 };
        bench.reset();
        bench
    }

    /// With N = 2 and the panels of the tests at address 0 of both banks.
    fn loaded() -> Self {
        let mut bench =
            Self::new(&Parameters { n: 2, k_max: 8, a_depth: 8, b_depth: 16, ..Parameters::default() });
        bench.write(BANK_A, 0, 3, &A);
        bench.write(BANK_B, 0, 3, &B);
        bench
    }

    fn edge(&mut self) {
        sim::settle(&mut self.wrapper);
        self.refused += usize::from(self.wrapper.refused.val());
        self.overruns += usize::from(self.wrapper.overrun.val());
        sim::edge(&mut self.wrapper);
        self.edges += 1;
    }

    fn reset(&mut self) {
        self.wrapper.reset.next = true;
        self.edge();
        self.wrapper.reset.next = false;
        sim::settle(&mut self.wrapper);
    }

    /// Lane-major, as in a WRITE.
    fn write(&mut self, bank: u8, address: usize, k_len: usize, operands: &[i64]) {
        self.wrapper.write_enable.next = true;
        self.wrapper.write_bank.next = bank == BANK_B;
        for (i, &operand) in operands.iter().enumerate() {
            self.wrapper.write_lane.next = (i / k_len).into();
            self.wrapper.write_address.next = (address + i % k_len).into();
            self.wrapper.write_data.next = Word::of(operand);
            self.edge();
        }
        self.wrapper.write_enable.next = false;
    }

    /// Asks for a start for one edge; says whether it was taken.
    fn start(&mut self, a_address: usize, b_address: usize, k_len: usize, job: usize) -> bool {
        let refused = self.refused;
        self.wrapper.start.next = true;
        self.wrapper.a_address.next = a_address.into();
        self.wrapper.b_address.next = b_address.into();
        self.wrapper.k_len.next = k_len.into();
        self.wrapper.job.next = job.into();
        self.edge();
        self.wrapper.start.next = false;
        sim::settle(&mut self.wrapper);
        self.refused == refused
    }

    fn arm(&mut self, injection: Injection, step: usize, length: usize) {
        self.wrapper.inject_arm.next = true;
        self.wrapper.inject_kind.next = usize::from(injection.code()).into();
        self.wrapper.inject_step.next = step.into();
        self.wrapper.inject_length.next = length.into();
        self.edge();
        self.wrapper.inject_arm.next = false;
    }

    fn wait(&mut self, stage: &str, until: impl Fn(&Wrapper) -> bool) {
        let deadline = self.edges + PATIENCE;
        sim::settle(&mut self.wrapper);
        while !until(&self.wrapper) {
            assert!(self.edges < deadline, "{stage} did not come within {PATIENCE} edges");
            self.edge();
        }
    }

    fn finish(&mut self) -> Finished {
        self.wait("the end of the job", |wrapper| wrapper.finished.val());
        let w = &self.wrapper;
        let error = (w.error.val().get(), w.error_row.val().get(), w.error_column.val().get());
        let end = Finished {
            job: w.finished_job.val().get(),
            steps: w.steps.val().get(),
            edges: w.edges.val().get(),
            error: if error.0 == 0 { (0, 0, 0) } else { error },
        };
        self.edge();
        end
    }

    fn result(&mut self, values: usize) -> (i64, Vec<i64>) {
        self.wait("a result", |wrapper| wrapper.result_ready.val());
        let status = self.wrapper.result_status.val().get();
        let mut read = Vec::new();
        for _ in 0..values {
            assert!(self.wrapper.result_ready.val(), "the job went away after {} values", read.len());
            read.push(self.wrapper.result.val().get());
            self.wrapper.result_next.next = true;
            self.edge();
            self.wrapper.result_next.next = false;
        }
        sim::settle(&mut self.wrapper);
        assert!(!self.wrapper.result_ready.val(), "more values than a job has");
        (status, read)
    }

    fn good_job(&mut self) {
        assert!(self.start(0, 0, 3, 1));
        assert_eq!(self.finish(), Finished { job: 1, steps: 5, edges: 5, error: (0, 0, 0) });
        assert_eq!(self.result(4), (0, C.to_vec()));
    }
}

#[test]
fn r27_jobs_follow_each_other() {
    let mut bench = Bench::loaded();
    bench.good_job();
    bench.good_job();
    assert_eq!((bench.refused, bench.overruns), (0, 0));
}

#[test]
fn a_job_occupies_the_array_for_its_steps_and_collection() {
    let mut bench = Bench::loaded();
    for _ in 0..3 {
        let before = bench.edges;
        assert!(bench.start(0, 0, 3, 0));
        bench.wait("idle", |wrapper| !wrapper.busy.val());
        // 1 start, 1 clear, 3 + 2·2 − 2 steps, 2² + 2 to collect.
        assert_eq!(bench.edges - before, 1 + 1 + 5 + 6);
    }
}

#[test]
fn r24b_every_injection_is_detected_once() {
    const FIRED: i64 = STATUS_FIRED as i64;
    let table = [
        (Injection::DropValid, 2, 0, FIRED | 1, (1, 0, 0), 5),
        (Injection::FlipJob, 0, 0, FIRED | 2, (2, 0, 0), 5),
        (Injection::FlipK, 1, 0, FIRED | 3, (3, 0, 0), 5),
        (Injection::RepeatK, 1, 0, FIRED | 4, (4, 0, 0), 5),
        (Injection::Truncate, 99, 0, FIRED | 5, (5, 0, 0), 5),
        (Injection::Pause, 0, 1, FIRED, (0, 0, 0), 6),
        (Injection::Pause, 4, 200, FIRED, (0, 0, 0), 205),
        (Injection::Pause, 2, 0, FIRED, (0, 0, 0), 5),
        (Injection::Start, 4, 0, FIRED | STATUS_REFUSED as i64, (0, 0, 0), 5),
    ];
    let mut bench = Bench::loaded();
    for (injection, step, length, status, error, edges) in table {
        let before = bench.refused;
        bench.arm(injection, step, length);
        assert!(bench.start(0, 0, 3, 2));
        assert_eq!(bench.finish(), Finished { job: 2, steps: 5, edges, error }, "{injection}");
        let (got, values) = bench.result(4);
        assert_eq!(got, status, "{injection}");
        assert_eq!(values == C, error.0 == 0, "{injection}: {values:?}");
        assert_eq!(bench.refused - before, usize::from(injection == Injection::Start), "{injection}");
        bench.good_job();
    }
}

#[test]
fn truncated_jobs_sum_all_terms_but_the_last() {
    let mut bench = Bench::loaded();
    bench.arm(Injection::Truncate, 0, 0);
    assert!(bench.start(0, 0, 3, 0));
    assert_eq!(bench.result(4).1, [25, 28, 73, 82]);
}

#[test]
fn a_step_that_never_comes_is_not_fired_and_changes_nothing() {
    let table = [
        (Injection::FlipK, 3),
        (Injection::FlipJob, 4),
        (Injection::DropValid, 3),
        (Injection::RepeatK, 0),
        (Injection::RepeatK, 3),
        (Injection::Pause, 5),
        (Injection::Start, 5),
    ];
    let mut bench = Bench::loaded();
    for (injection, step) in table {
        bench.arm(injection, step, 9);
        assert!(bench.start(0, 0, 3, 0));
        assert_eq!(bench.finish().edges, 5, "{injection}");
        assert_eq!(bench.result(4), (STATUS_NOT_FIRED.into(), C.to_vec()), "{injection}");
    }
    bench.wrapper.inject_never.next = true;
    bench.arm(Injection::FlipK, 1, 0);
    assert!(bench.start(0, 0, 3, 0));
    assert_eq!(bench.result(4), (STATUS_NOT_FIRED.into(), C.to_vec()));
    bench.good_job();
}

#[test]
fn r27_a_start_during_a_job_is_refused_and_disturbs_nothing() {
    let mut bench = Bench::loaded();
    // Every edge of the job but the one that takes it.
    for wait in 0..12 {
        assert!(bench.start(0, 0, 3, 0));
        for _ in 0..wait {
            bench.edge();
        }
        assert!(bench.wrapper.busy.val());
        assert!(!bench.start(1, 1, 2, 3), "taken {wait} edges into a job");
        assert_eq!(bench.result(4), (STATUS_REFUSED.into(), C.to_vec()), "{wait} edges into the job");
    }
    assert_eq!(bench.refused, 12);
    bench.good_job();
}

#[test]
fn r24a_illegal_lengths_are_refused() {
    let p = Parameters { n: 2, aw: 17, k_max: 8, ..Parameters::default() };
    assert_eq!(p.k_limit(), 3);
    let mut bench = Bench::new(&p);
    assert!(!bench.start(0, 0, 0, 0));
    assert!(!bench.start(0, 0, 4, 0));
    assert!(!bench.wrapper.busy.val());
    assert!(bench.start(0, 0, 3, 0));
}

#[test]
fn jobs_wait_in_the_buffer_until_it_is_full() {
    let mut bench = Bench::loaded();
    let slots = bench.wrapper.slots();
    assert_eq!(slots, 8);
    for k_len in [1, 2, 3, 1, 2, 3, 1, 2] {
        assert!(bench.start(0, 0, k_len, 0));
        bench.wait("idle", |wrapper| !wrapper.busy.val());
    }
    assert!(!bench.wrapper.ready.val());
    assert!(!bench.start(0, 0, 3, 0), "no room for results");
    assert_eq!(bench.result(4), (0, vec![7, 8, 28, 32]));
    assert!(bench.wrapper.ready.val());
    assert!(bench.start(0, 0, 3, 0));
    for k_len in [2, 3, 1, 2, 3, 1, 2, 3] {
        let expected = [[7, 8, 28, 32], [25, 28, 73, 82], C][k_len - 1];
        assert_eq!(bench.result(4), (0, expected.to_vec()));
    }
}

#[test]
fn r16_reset_in_mid_job_leaves_nothing_behind() {
    let mut bench = Bench::loaded();
    for wait in 0..14 {
        bench.arm(Injection::Pause, 2, 2);
        assert!(bench.start(0, 0, 3, 0));
        for _ in 0..wait {
            bench.edge();
        }
        bench.reset();
        assert!(bench.wrapper.ready.val() && !bench.wrapper.result_ready.val());
        bench.good_job();
        bench.arm(Injection::FlipK, 0, 0);
        bench.reset();
        bench.good_job();
    }
}

#[test]
fn panels_stand_anywhere_in_their_banks() {
    let mut bench = Bench::loaded();
    bench.write(BANK_A, 5, 3, &A);
    bench.write(BANK_B, 13, 3, &B);
    bench.write(BANK_A, 0, 3, &[0; 6]);
    assert!(bench.start(5, 13, 3, 0));
    assert_eq!(bench.result(4), (0, C.to_vec()));
    assert_eq!(bench.overruns, 0);
    assert!(bench.start(6, 13, 3, 0));
    bench.finish();
    assert_eq!(bench.overruns, 1);
}

#[test]
fn one_by_one_has_no_drain() {
    let p = Parameters { n: 1, k_max: 1, a_depth: 1, b_depth: 1, ..Parameters::default() };
    let mut bench = Bench::new(&p);
    bench.write(BANK_A, 0, 1, &[-128]);
    bench.write(BANK_B, 0, 1, &[-128]);
    assert!(bench.start(0, 0, 1, 0));
    assert_eq!(bench.finish(), Finished { job: 0, steps: 1, edges: 1, error: (0, 0, 0) });
    assert_eq!(bench.result(1), (0, vec![16384]));
    bench.arm(Injection::Truncate, 0, 0);
    assert!(bench.start(0, 0, 1, 0));
    assert_eq!(bench.result(1), (13, vec![0]));
}

#[test]
fn a_design_without_injections_ignores_them() {
    let p = Parameters { n: 2, injection: false, ..Parameters::default() };
    let mut bench = Bench::new(&p);
    bench.write(BANK_A, 0, 3, &A);
    bench.write(BANK_B, 0, 3, &B);
    bench.arm(Injection::Truncate, 0, 0);
    bench.good_job();
}

#[test]
fn every_shape_and_width_gives_the_product() {
    for (w, aw) in [(8, 32), (2, 4), (5, 19), (16, 48), (3, 7)] {
        for n in 1..=4_u32 {
            let p = Parameters {
                n,
                w,
                aw,
                k_max: 8,
                a_depth: 8,
                b_depth: 8,
                job_bits: 1,
                ..Parameters::default()
            };
            let mut bench = Bench::new(&p);
            let side = n as usize;
            for k_len in [1, 2, 3, 5, 8_usize] {
                // Every value of w bits comes up, the most negative first.
                let operand = |i: usize| (i as i64 * 5) % (1 << w) - (1 << (w - 1));
                let a: Vec<i64> = (0..side * k_len).map(operand).collect();
                let b: Vec<i64> = (0..side * k_len).map(|i| operand(i * i)).collect();
                bench.write(BANK_A, 0, k_len, &a);
                bench.write(BANK_B, 0, k_len, &b);
                if !bench.start(0, 0, k_len, 1) {
                    assert!(k_len as u32 > p.k_limit(), "n={n} w={w} aw={aw}: K={k_len} refused");
                    continue;
                }
                let steps = (k_len + 2 * side - 2) as i64;
                let finished = Finished { job: 1, steps, edges: steps, error: (0, 0, 0) };
                assert_eq!(bench.finish(), finished, "n={n} w={w} aw={aw} K={k_len}");
                let term = |i, j, k| a[i * k_len + k] * b[j * k_len + k];
                let sum = |p| (0..k_len).map(|k| term(p / side, p % side, k)).sum::<i64>();
                let product: Vec<i64> = (0..side * side).map(sum).collect();
                assert_eq!(bench.result(side * side), (0, product), "n={n} w={w} aw={aw} K={k_len}");
            }
        }
    }
}
