//! What the program reports, as JSON. The schemas are in `host/schema`.

use crate::compare::Mismatch;
use crate::product::{Product, Seconds};
use serde::Serialize;
use systole_firmware::design::Design;

/// Version of every JSON object that the program prints; a field that changes its meaning raises it.
pub const FORMAT_VERSION: u32 = 1;

/// The parameters of a design.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the fields are those of `Parameters`")]
pub struct DesignReport {
    pub n: u32,
    pub w: u32,
    pub aw: u32,
    pub k_max: u32,
    pub job_bits: u32,
    pub a_depth: u32,
    pub b_depth: u32,
    pub fifo: u32,
    pub clock: u32,
    pub baud: u32,
    pub injection: bool,
}

impl From<&Design> for DesignReport {
    fn from(design: &Design) -> Self {
        let p = design.parameters();
        Self {
            n: p.n,
            w: p.w,
            aw: p.aw,
            k_max: p.k_max,
            job_bits: p.job_bits,
            a_depth: p.a_depth,
            b_depth: p.b_depth,
            fifo: p.fifo,
            clock: p.clock_hz,
            baud: p.baud,
            injection: p.injection,
        }
    }
}

/// Sizes of a product.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "rows of A, columns of A, columns of B")]
pub struct ShapeReport {
    pub m: usize,
    pub k: usize,
    pub p: usize,
}

/// What `run` and `bench wire` report.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the fields are described in `host/schema/product.json`")]
pub struct ProductReport {
    pub format_version: u32,
    pub command: &'static str,
    pub level: &'static str,
    pub reference: &'static str,
    pub shape: ShapeReport,
    pub equal: bool,
    pub mismatches: u64,
    pub first_mismatch: Option<Mismatch>,
    pub pattern: Option<String>,
    pub jobs: u64,
    pub steps: u64,
    pub edges: u64,
    pub cycles: Option<u64>,
    pub reruns: u64,
    pub bytes_to_board: u64,
    pub bytes_from_board: u64,
    pub escapes_to_board: u64,
    pub escapes_from_board: u64,
    pub bound_bytes: u64,
    pub wire_efficiency: Option<f64>,
    pub seconds: Seconds,
    pub design: DesignReport,
}

impl ProductReport {
    /// The report of a product; `cycles_per_byte` is the pace of the link, where it has one.
    pub fn new(
        command: &'static str,
        product: &Product,
        design: &Design,
        cycles_per_byte: Option<u32>,
    ) -> Self {
        let efficiency =
            |(cycles, pace): (u64, u32)| product.bound_bytes as f64 * f64::from(pace) / cycles.max(1) as f64;
        let (shape, counters) = (product.shape, product.counters);
        Self {
            format_version: FORMAT_VERSION,
            command,
            level: product.level.name(),
            reference: product.reference.name(),
            shape: ShapeReport { m: shape.m, k: shape.k, p: shape.p },
            equal: product.comparison.equal(),
            mismatches: product.comparison.mismatches,
            first_mismatch: product.comparison.first,
            pattern: product.comparison.pattern.text(),
            jobs: product.jobs,
            steps: product.steps,
            edges: product.edges,
            cycles: product.cycles,
            reruns: product.reruns,
            bytes_to_board: counters.bytes_to_board,
            bytes_from_board: counters.bytes_from_board,
            escapes_to_board: counters.escapes_to_board,
            escapes_from_board: counters.escapes_from_board,
            bound_bytes: product.bound_bytes,
            wire_efficiency: product.cycles.zip(cycles_per_byte).map(efficiency),
            seconds: product.seconds,
            design: design.into(),
        }
    }
}
