//! Products of any shape on any design: always right, whatever the parameters.

use proptest::prelude::*;
use std::sync::atomic::AtomicBool;
use systole::link::Link;
use systole::link::sim::SimLink;
use systole::link::software::SoftwareLink;
use systole::matrix::{Operands, random};
use systole::product::{Product, product};
use systole_firmware::design::Design;
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::Origin;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn designs() -> impl Strategy<Value = Design> {
    let widths = (2u32..=16).prop_flat_map(|w| (Just(w), 2 * w..=48));
    let rest = (1u32..=5, 1u32..=40, 1u32..=8, 0u32..50, 0u32..90, 0u32..4, any::<bool>());
    (widths, rest).prop_map(|((w, aw), (n, k_max, job_bits, a_more, b_more, fifo, injection))| {
        let (a_depth, b_depth, fifo) = (k_max + a_more, k_max + b_more, 128 << fifo);
        let parameters = Parameters {
            n,
            w,
            aw,
            k_max,
            job_bits,
            a_depth,
            b_depth,
            fifo,
            injection,
            ..Parameters::default()
        };
        Design::new(parameters).expect("in range")
    })
}

fn shapes(most: usize) -> impl Strategy<Value = (usize, usize, usize)> {
    (1..=most, 1..=most, 1..=most)
}

/// A·B by its definition.
fn definition(a: &Operands, b: &Operands) -> Vec<i64> {
    let cell =
        |i: usize, j: usize| (0..b.rows()).map(|k| i64::from(a.row(i)[k]) * i64::from(b.row(k)[j])).sum();
    (0..a.rows()).flat_map(|i| (0..b.columns()).map(move |j| (i, j))).map(|(i, j)| cell(i, j)).collect()
}

fn check(link: &mut dyn Link, design: &Design, a: &Operands, b: &Operands) -> Result<Product, TestCaseError> {
    let product = product(link, design, a, b, &mut (), &GO_ON)
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert!(product.comparison.equal(), "{:?}", product.comparison);
    prop_assert_eq!(product.c.values(), definition(a, b));
    let p = design.parameters();
    let k_limit = u64::from(p.k_limit());
    let (chunks, last) =
        ((product.shape.k as u64).div_ceil(k_limit), (product.shape.k as u64 - 1) % k_limit + 1);
    let blocks = (product.shape.m.div_ceil(p.n as usize) * product.shape.p.div_ceil(p.n as usize)) as u64;
    // R5, summed: every job takes its terms and 2N − 2 edges.
    let steps = blocks * ((chunks - 1) * k_limit + last + chunks * (2 * u64::from(p.n) - 2));
    prop_assert_eq!((product.jobs, product.steps, product.edges), (blocks * chunks, steps, steps));
    let c = product.counters;
    prop_assert_eq!((product.reruns, c.timeouts, c.go_backs, c.damaged), (0, 0, 0, 0));
    Ok(product)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn software((m, k, p) in shapes(24), design in designs(), seed in any::<u64>()) {
        let (a, b) = random(m, k, p, design.parameters().w, seed);
        check(&mut SoftwareLink::new(design.identity(Origin::Simulated)), &design, &a, &b)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn simulated_gateware((m, k, p) in shapes(9), design in designs(), seed in any::<u64>()) {
        let (a, b) = random(m, k, p, design.parameters().w, seed);
        let product = check(&mut SimLink::new(&design.identity(Origin::Simulated), None), &design, &a, &b)?;
        systole_tests::cycles::report("program", product.cycles.unwrap_or(0));
    }
}

#[test]
fn extremes_of_every_width_are_exact() {
    for w in [2, 8, 9, 16] {
        let p = Parameters { n: 2, w, aw: 48, k_max: 64, ..Parameters::default() };
        let design = Design::new(p).expect("in range");
        // The most negative operand, squared, in every term: the largest sum there is.
        let low = -(1 << (w - 1));
        let (a, b) = (Operands::new(3, 70, vec![low; 210]), Operands::new(70, 2, vec![low; 140]));
        let mut link = SimLink::new(&design.identity(Origin::Simulated), None);
        let product = product(&mut link, &design, &a, &b, &mut (), &GO_ON).expect("a product");
        assert!(product.comparison.equal());
        assert_eq!(product.c.values(), [70 << (2 * w - 2); 6]);
    }
}
