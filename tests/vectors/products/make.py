#!/usr/bin/env python3
"""Matrix products computed with numpy and nothing of the project.

Writes products.json: a list of cases, each with the design it is for (n, w, aw, k_max), its operands a and b, and their
product c in 64 bits. Needs numpy; the seed is fixed, so that the file is the same every time.
"""
import json
from pathlib import Path

import numpy as np


def case(name, a, b, n=4, w=8, aw=32, k_max=256):
    """One case; a and b are integer arrays."""
    product = a.astype(np.int64) @ b.astype(np.int64)
    design = {"n": n, "w": w, "aw": aw, "k_max": k_max}
    return {"name": name, **design, "a": a.tolist(), "b": b.tolist(), "c": product.tolist()}


def main():
    rng = np.random.default_rng(20240229)

    def uniform(rows, columns, w=8):
        return rng.integers(-(2 ** (w - 1)), 2 ** (w - 1), (rows, columns))

    def extremes(rows, columns, w=8):
        return rng.choice([-(2 ** (w - 1)), 2 ** (w - 1) - 1], (rows, columns))

    low = np.full((4, 32), -128)
    cases = [
        case("one element", uniform(1, 1), uniform(1, 1), n=1, k_max=1),
        case("one block", uniform(2, 2), uniform(2, 2), n=2),
        case("3x5 by 5x3", uniform(3, 5), uniform(5, 3), n=3, k_max=8),
        case("n divides no side", uniform(5, 7), uniform(7, 6), n=4, k_max=16),
        case("k split, last piece shorter", uniform(6, 11), uniform(11, 3), n=2, k_max=4),
        case("one row by many columns", uniform(1, 3), uniform(3, 17), n=4),
        case("many rows by one column", uniform(13, 2), uniform(2, 1), n=3),
        case("n larger than the product", uniform(2, 3), uniform(3, 2), n=8),
        case("int8 extremes", extremes(6, 9), extremes(9, 5), n=4),
        case("all -128", low, low.T, n=4),
        case("k split where the accumulator ends", extremes(3, 10), extremes(10, 3), n=2, aw=17),
        case("16 bits, extremes", extremes(4, 6, 16), extremes(6, 4, 16), n=4, w=16, aw=48),
        case("2 bits", uniform(5, 9, 2), uniform(9, 5, 2), n=3, w=2, aw=8),
    ]
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    Path(__file__).with_name("products.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
