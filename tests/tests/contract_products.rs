//! Products through the software array against numpy's (tests/vectors/products).

use serde_json::Value;
use systole::software::product::product;
use systole_hdl::parameters::Parameters;

fn number(value: &Value) -> i64 {
    value.as_i64().expect("an integer")
}

/// A list of lists as rows, columns and row-major elements.
fn matrix(value: &Value) -> (usize, usize, Vec<i64>) {
    let rows = value.as_array().expect("rows");
    let row = |row: &Value| row.as_array().expect("a row").iter().map(number).collect::<Vec<_>>();
    let elements: Vec<i64> = rows.iter().flat_map(row).collect();
    (rows.len(), elements.len() / rows.len(), elements)
}

fn operand(elements: &[i64]) -> Vec<i32> {
    elements.iter().map(|&element| i32::try_from(element).expect("an operand")).collect()
}

#[test]
fn products_equal_numpys() {
    let text = include_str!("../vectors/products/products.json");
    let cases: Value = serde_json::from_str(text).expect("JSON");
    let cases = cases.as_array().expect("cases");
    assert_eq!(cases.len(), 13);
    for case in cases {
        let parameter = |name: &str| u32::try_from(number(&case[name])).expect("a parameter");
        let (n, w, aw, k_max) = (parameter("n"), parameter("w"), parameter("aw"), parameter("k_max"));
        let parameters = Parameters { n, w, aw, k_max, ..Parameters::default() };
        let ((m, k, a), (_, p, b), (_, _, c)) = (matrix(&case["a"]), matrix(&case["b"]), matrix(&case["c"]));
        let name = &case["name"];
        let product = product(&parameters, [m, k, p], &operand(&a), &operand(&b));
        let product = product.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(product.values, c, "{name}");
    }
}

#[test]
fn jobs_and_steps_are_those_executed() {
    // 5×7 by 7×6 at N=4: two by two blocks, of 7 + 2·4 − 2 = 13 steps each.
    let run = |k_max| {
        let parameters = Parameters { k_max, ..Parameters::default() };
        let product = product(&parameters, [5, 7, 6], &[1; 35], &[1; 42]).expect("a product");
        (product.jobs, product.steps)
    };
    assert_eq!(run(16), (4, 52));
    // Split at 4: pieces of 4 and 3 terms, of 10 and 9 steps.
    assert_eq!(run(4), (8, 76));
}

#[test]
fn bad_products_are_named() {
    let message = |sizes, a: &[i32], b: &[i32]| {
        product(&Parameters::default(), sizes, a, b).expect_err("refused").to_string()
    };
    assert!(message([2, 0, 2], &[], &[]).starts_with("a product of 2×0 by 0×2 is empty"));
    assert!(
        message([2, 2, 2], &[1; 4], &[1; 3]).starts_with("matrix B has 3 elements where its shape says 4")
    );
    assert!(message([1, 1, 1], &[-129], &[1]).starts_with("operand -129 of A lane 0, k 0,"));
}
