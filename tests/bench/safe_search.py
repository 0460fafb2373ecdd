"""SAFE, the direct search: deviations of the tables of a survey, records moved and CPU seconds.

python tests/bench/safe_search.py [--k 3 5 10] [--effort fast full] [--seed 1] [--rows 1000000]

Household size (EF20) and age (EF44) are numeric and keep their own values. The file searched is the microcensus in
SQLMICRO_DATA, or in ../shared/data beside the repository; with --rows a synthetic file of so many records made from it.
Deviations are counted anew, table by table and by cell values, from the two files.
"""

import argparse
import os
from itertools import combinations
from pathlib import Path

import numpy as np
from _measure import Measure, emit, peak_mb

from sqlmicro.safe_method.search import search

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SQLMICRO_DATA") or ROOT.parent / "shared" / "data") / "mikrozensus2010.csv"
NUMERIC = ("EF20", "EF44")


def read():
    """Return the records, and the positions of the nominal and the numeric columns."""
    with DATA.open(encoding="utf-8") as lines:
        names = [name.strip('"') for name in next(lines).strip().split(",")]
        rows = np.loadtxt(lines, delimiter=",", dtype=np.int64)
    numeric = [names.index(name) for name in NUMERIC]
    return rows, [j for j in range(len(names)) if j not in numeric], numeric


def enlarge(rows, size, seed, changed=0.2):
    """Return records drawn with replacement; now and then one gets any value of a column, so that many are rare."""
    rng = np.random.default_rng(seed)
    drawn = rows[rng.integers(0, len(rows), size)]
    for j in range(rows.shape[1]):
        other = rng.random(size) < changed
        drawn[other, j] = rng.choice(np.unique(rows[:, j]), int(other.sum()))
    return drawn


def largest_deviations(original, n, released, new_n, columns):
    """Return max |count before - count after| over the cells of all tables of 1, 2 and 3 of the columns."""
    both = np.vstack([original, released])
    change = np.concatenate([-n, new_n])
    largest = []
    for order in (1, 2, 3):
        deviations = []
        for table in combinations(columns, order):
            key = np.zeros(len(both), dtype=np.int64)
            for j in table:
                key = key * (both[:, j].max() + 1) + both[:, j]
            cell = np.unique(key, return_inverse=True)[1].reshape(-1)
            deviations.append(np.abs(np.bincount(cell, change)).max())
        largest.append(int(max(deviations)))
    return largest


def moments(x, n):
    mean = np.average(x, weights=n)
    return x @ n, np.average((x - mean) ** 2, weights=n)


def percent(before, after):
    return 100 * (float(after) / float(before) - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--effort", nargs="+", default=["fast", "full"])
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--rows", type=int)
    given = parser.parse_args()
    records, nominal, numeric = read()
    if given.rows:
        records = enlarge(records, given.rows, 0)
    original, n = np.unique(records, axis=0, return_counts=True)
    codes, numbers = original[:, nominal], original[:, numeric].astype(float)
    with Measure() as compiling:
        search(codes[:50], numbers[:50], np.ones(50, dtype=np.int64), 3, np.random.default_rng(0), lambda *_: None)
    emit(bench="safe_search", rows=len(records), combinations=len(n), compile_cpu=compiling.cpu)
    for k, effort, seed in ((k, effort, seed) for k in given.k for effort in given.effort for seed in given.seed):
        with Measure() as measured:
            found = search(codes, numbers, n, k, np.random.default_rng(seed), lambda *_: None, effort=effort)
        open_ones = found.new_n > 0
        released, new_n = original[open_ones], found.new_n[open_ones]
        assert new_n.sum() == len(records)
        assert new_n.min() >= k
        emit(
            bench="safe_search",
            k=k,
            effort=effort,
            seed=seed,
            nominal_max=largest_deviations(original, n, released, new_n, nominal),
            all_columns_max=largest_deviations(original, n, released, new_n, nominal + numeric),
            **{
                f"{what}_{name}_percent": percent(before, after)
                for j, name in zip(numeric, NUMERIC, strict=True)
                for what, before, after in zip(
                    ("total", "variance"), moments(original[:, j], n), moments(released[:, j], new_n), strict=True
                )
            },
            moved=found.moved,
            below_k=int(n[n < k].sum()),
            proposals=found.proposals,
            cpu=measured.cpu,
            peak_mb=peak_mb(),
        )


if __name__ == "__main__":
    main()
