"""Optimal univariate groups of one column: the sort, the shortest path, and both with the labels in the order of rows.

    python tests/bench/optimal_univariate.py [--rows 1000000 10000000] [--k 3 5 10]

One thread; the compiled kernel is loaded before the clock starts. The column is drawn from a standard normal
distribution, and the same with 1.7e9 added in whole seconds, where sums over the whole column cancel.
"""

import argparse

import numpy as np
from _measure import Measure, emit, peak_mb

from sqlmicro.group.consecutive_groups import optimal_groups


def columns(rows):
    rng = np.random.default_rng(0)
    return {
        "normal": rng.normal(size=rows),
        "seconds": np.floor(1.7e9 + 86_400 * rng.random(rows)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5, 10])
    given = parser.parse_args()
    optimal_groups(np.arange(10.0), 3)
    for rows in given.rows:
        for name, values in columns(rows).items():
            for k in given.k:
                with Measure() as sorting:
                    order = np.argsort(values, kind="stable")
                    ascending = values[order]
                with Measure() as grouping:
                    found = optimal_groups(ascending, k)
                with Measure() as placing:
                    labels = np.empty(rows, dtype=np.int64)
                    labels[order] = found
                sizes = np.bincount(found)
                emit(
                    bench="optimal-univariate",
                    column=name,
                    rows=rows,
                    k=k,
                    sort_cpu=sorting.cpu,
                    groups_cpu=grouping.cpu,
                    total_cpu=sorting.cpu + grouping.cpu + placing.cpu,
                    smallest_group=int(sizes.min()),
                    largest_group=int(sizes.max()),
                    peak_mb=peak_mb(),
                )


if __name__ == "__main__":
    main()
