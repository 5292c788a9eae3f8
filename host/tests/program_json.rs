//! The JSON reports against their checked-in schemas, and the figures in them.

use assert_cmd::Command;
use serde_json::{Value, json};
use std::time::Duration;

const PRODUCT: &str = include_str!("../schema/product.json");
const INFO: &str = include_str!("../schema/info.json");
const SELFTEST: &str = include_str!("../schema/selftest.json");

/// Runs the program, which must succeed and say nothing else, and checks its report against a schema.
fn report(schema: &str, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_systole"))
        .args(arguments)
        .args(["--format", "json"])
        .timeout(Duration::from_secs(60))
        .output()
        .expect("the program runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "{arguments:?}");
    let report = serde_json::from_slice(&output.stdout).expect("one JSON object and nothing else");
    assert_eq!(faults(schema, &report), Vec::<String>::new(), "{arguments:?}");
    report
}

fn faults(schema: &str, report: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a sound schema");
    validator.iter_errors(report).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn run_reports_every_figure() {
    let r = report(PRODUCT, &["run", "--random", "9x6x10", "--seed", "4", "--k-max", "4", "--job-bits", "3"]);
    assert_eq!(
        (&r["command"], &r["level"], &r["reference"]),
        (&json!("run"), &json!("rust-hdl"), &json!("software"))
    );
    assert_eq!(
        (&r["equal"], &r["mismatches"], &r["first_mismatch"]),
        (&json!(true), &json!(0), &Value::Null)
    );
    // 3×3 blocks; K = 4 + 2, whose jobs take 4 + 6 and 2 + 6 steps on a 4×4 grid.
    assert_eq!((&r["jobs"], &r["steps"], &r["edges"]), (&json!(18), &json!(9 * 10 + 9 * 8), &json!(162)));
    assert_eq!((&r["reruns"], &r["wire_efficiency"]), (&json!(0), &Value::Null));
    // A and B have 54 and 60 operands of a byte; C has 90 cells, 3 bytes each, twice.
    assert_eq!(r["bound_bytes"], json!(540));
    assert!(r["bytes_from_board"].as_u64() >= Some(540) && r["cycles"].as_u64() > Some(162), "{r}");
    let design = json!({
        "n": 4, "w": 8, "aw": 32, "k_max": 4, "job_bits": 3, "a_depth": 512, "b_depth": 1024, "fifo": 4096,
        "clock": 24_000_000, "baud": 3_000_000, "injection": true
    });
    assert_eq!(r["design"], design);
    let seconds = |stage: &str| r["seconds"][stage].as_f64().expect("a number");
    let stages: f64 = ["plan", "run", "reference", "compare"].into_iter().map(seconds).sum();
    assert!((stages - seconds("total")).abs() < 0.05, "the stages are the total: {r}");
}

#[test]
fn the_software_link_counts_no_cycles_and_names_another_reference() {
    let r = report(PRODUCT, &["run", "--random", "3x3x3", "--link", "software"]);
    assert_eq!(
        (&r["level"], &r["reference"], &r["cycles"]),
        (&json!("software"), &json!("direct"), &Value::Null)
    );
}

#[test]
fn bench_wire_reports_efficiency() {
    let r = report(PRODUCT, &["bench", "wire", "--product", "16x16x16", "--pace", "50"]);
    let (cycles, bound) =
        (r["cycles"].as_f64().expect("counted"), r["bound_bytes"].as_f64().expect("a number"));
    // 256 cells of 3 bytes come back, and 512 operands go out.
    assert_eq!(r["bound_bytes"], json!(768));
    let efficiency = r["wire_efficiency"].as_f64().expect("at a stated pace");
    assert!((efficiency - bound * 50.0 / cycles).abs() < 1e-9);
    assert!(efficiency < 1.0, "no wire is faster than its bound: {r}");
}

#[test]
fn the_wire_is_used_well() {
    let r = report(PRODUCT, &["bench", "wire", "--product", "64x64x64"]);
    assert_eq!((&r["bound_bytes"], &r["jobs"]), (&json!(12288), &json!(256)));
    let efficiency = r["wire_efficiency"].as_f64().expect("at a stated pace");
    assert!(efficiency >= 0.75, "{efficiency}");
}

#[test]
fn info_tells_the_design() {
    let r = report(INFO, &["info"]);
    // The hash is coreutils' sha256sum of the design's text; the firmware's tests have the text.
    assert_eq!((&r["design_hash"], &r["origin"]), (&json!("1fbfd85e5141aff1"), &json!("simulated")));
    assert_eq!((&r["largest_frame"], &r["k_limit"]), (&json!(2048), &json!(256)));
    let r = report(INFO, &["info", "--aw", "17", "--link", "software"]);
    assert_eq!((&r["k_limit"], &r["design"]["aw"]), (&json!(3), &json!(17)));
}

#[test]
fn selftest_shows_every_error_kind_detected() {
    for link in ["sim", "software"] {
        let r = report(SELFTEST, &["selftest", "--link", link]);
        assert_eq!(r["passed"], json!(true));
        let checks = r["checks"].as_array().expect("an array");
        let kinds: Vec<&str> = checks.iter().filter_map(|check| check["got"]["kind"].as_str()).collect();
        assert_eq!(
            kinds,
            ["unpaired operand", "job mismatch", "k mismatch", "out of order", "missing terms"]
        );
        for check in checks.iter().filter(|check| !check["got"]["kind"].is_null()) {
            assert_eq!((&check["got"]["row"], &check["got"]["column"]), (&json!(0), &json!(0)));
            assert_eq!((&check["got"]["job"], &check["sound_after"]), (&json!(1), &json!(true)));
        }
        let named = |name: &str| checks.iter().find(|check| check["injection"] == name).expect("checked");
        assert_eq!(named("pause")["got"]["paused_edges"], json!(37));
        assert_eq!(named("start")["got"]["refused"], json!(true));
    }
}

#[test]
fn selftest_fits_the_smallest_designs() {
    for design in [["--n", "1", "--k-max", "1"], ["--n", "3", "--job-bits", "1"], ["--w", "2", "--aw", "4"]] {
        let r = report(SELFTEST, &[&["selftest"][..], &design].concat());
        assert_eq!(r["passed"], json!(true), "{design:?}");
        let left_out: Vec<_> = r["left_out"].as_array().expect("an array").iter().collect();
        // Jobs of one term: at most one, or at most one whose sum is exact in 4 bits.
        if design[0] != "--n" || design[1] == "1" {
            assert_eq!((left_out.len(), &left_out[0]["injection"]), (1, &json!("repeat k")));
        } else {
            assert!(left_out.is_empty(), "{design:?}: {left_out:?}");
        }
    }
}

#[test]
fn the_schemas_refuse_what_is_not_a_report() {
    let good = report(PRODUCT, &["run", "--random", "1x1x1", "--link", "software"]);
    for field in good.as_object().expect("an object").keys() {
        let mut bad = good.clone();
        bad.as_object_mut().expect("an object").remove(field);
        assert_ne!(faults(PRODUCT, &bad), Vec::<String>::new(), "without {field}");
    }
    let mut bad = good.clone();
    bad["surprise"] = json!(1);
    assert_ne!(faults(PRODUCT, &bad), Vec::<String>::new());
    bad = good;
    bad["cycles"] = json!("many");
    assert_ne!(faults(PRODUCT, &bad), Vec::<String>::new());
}
