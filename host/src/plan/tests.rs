//! What holds for every plan.

use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

/// Follows a plan with the model of the banks; every run must find its panels. Gives the jobs that were run.
fn follow(plan: &Plan, p: &Parameters) -> HashSet<(usize, usize, usize)> {
    let mut banks = Banks::default();
    let mut jobs = HashSet::new();
    let mut next_job = 0;
    for step in &plan.steps {
        match step {
            Step::Load(load) => {
                let k_len = plan.chunks[load.chunk].k_len;
                let depth = if load.side == Side::A { p.a_depth } else { p.b_depth };
                assert!(load.address + k_len <= depth, "{load:?} leaves its bank");
                banks.of(load.side).wrote(load, k_len);
            }
            Step::Run(run) => {
                let chunk = plan.chunks[run.chunk];
                assert_eq!(run.first_job, next_job);
                next_job += u64::from(run.count);
                for need in run.needs(chunk.k_len) {
                    assert!(banks.of(need.side).holds(&need), "{run:?} lacks {need:?}");
                }
                for column in (run.column..).take(usize::from(run.count)) {
                    assert!(jobs.insert((run.chunk, run.row, column)), "run twice");
                    assert!(run.row < plan.rows && column < plan.columns);
                }
                let result = u32::from(run.count) * (1 + p.n * p.n * chunk.result_bytes) + 10;
                assert!(run.count > 0 && result <= 65535, "{run:?}: a RESULT of {result} bytes");
            }
        }
    }
    jobs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_job_is_run_once_with_its_panels_in_place(
        (m, k, p) in (1usize..60, 1usize..60, 1usize..60),
        n in 1u32..6,
        k_max in 1u32..30,
        (a_slots, b_slots) in (1u32..6, 1u32..9),
        spare in 0u32..4,
    ) {
        let (a_depth, b_depth) = (a_slots * k_max + spare, b_slots * k_max);
        let parameters = Parameters { n, k_max, a_depth, b_depth, ..Parameters::default() };
        let plan = Plan::new(Shape { m, k, p }, &parameters);
        let jobs = follow(&plan, &parameters);
        prop_assert_eq!(jobs.len(), plan.rows * plan.columns * plan.chunks.len());
        prop_assert_eq!(jobs.len() as u64, plan.jobs);
        prop_assert_eq!(plan.rows, m.div_ceil(n as usize));
        prop_assert_eq!(plan.columns, p.div_ceil(n as usize));
        let mut next = 0;
        for chunk in &plan.chunks {
            prop_assert_eq!(chunk.start, next);
            prop_assert!((1..=k_max).contains(&chunk.k_len));
            next += chunk.k_len as usize;
        }
        prop_assert_eq!(next, k);
    }
}

#[test]
fn every_operand_is_loaded_once_when_one_side_fits() {
    let p = Parameters::default();
    let plan = Plan::new(Shape { m: 400, k: 64, p: 64 }, &p);
    let loads = plan.steps.iter().filter(|step| matches!(step, Step::Load(_))).count();
    assert_eq!(loads, 100 + 16);
    let plan = Plan::new(Shape { m: 32, k: 64, p: 400 }, &p);
    let loads = plan.steps.iter().filter(|step| matches!(step, Step::Load(_))).count();
    assert_eq!(loads, 8 + 100);
}

#[test]
fn k_is_split_at_the_exact_limit() {
    let p = Parameters { aw: 17, ..Parameters::default() };
    let plan = Plan::new(Shape { m: 1, k: 8, p: 1 }, &p);
    let lengths: Vec<_> = plan.chunks.iter().map(|chunk| chunk.k_len).collect();
    assert_eq!(lengths, [3, 3, 2]);
}

#[test]
fn the_bound_counts_the_busier_direction() {
    let p = Parameters::default();
    let bound = |m, k, p_| Plan::new(Shape { m, k, p: p_ }, &p).bound_bytes(&p);
    assert_eq!(bound(64, 64, 64), 12288);
    assert_eq!(bound(2, 1000, 2), 4000);
    // 600 terms are chunks of 256, 256 and 88, whose results take 3 bytes each.
    assert_eq!(bound(100, 600, 100), 120_000);
}

#[test]
fn results_start_early() {
    let p = Parameters::default();
    let plan = Plan::new(Shape { m: 64, k: 64, p: 64 }, &p);
    let first = plan.steps.iter().position(|step| matches!(step, Step::Run(_))).expect("a run");
    assert!(first <= 3, "first run after {first} loads");
    let runs = plan.steps.iter().filter(|step| matches!(step, Step::Run(_))).count();
    assert!(runs <= 50, "{runs} runs: headers would cost too much");
}
