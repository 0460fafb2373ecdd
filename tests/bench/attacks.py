"""Attacks on releases of different kinds: CPU seconds and what was linked.

python tests/bench/attacks.py [--rows 10000 100000] [--columns 5]
"""

import argparse

import numpy as np
import pyarrow as pa
from _measure import Measure, emit, peak_mb

from sqlmicro.attacks.attacked import attacked_release
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import attacks
from sqlmicro.database.columns import make_columns
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.options.common import MachineOptions

NAMES = ("linkage", "row-order", "insider")


def by_rank(X, k, order):
    """Replace values by the means of groups of k consecutive records in an order."""
    released = X[order].copy()
    for start in range(0, len(X) - k + 1, k):
        rows = slice(start, start + k if start + 2 * k <= len(X) else len(X))
        released[rows] = released[rows].mean(axis=0)
    back = np.empty_like(released)
    back[order] = released
    return back


def releases(X, nominal, rng):
    """Return releases of some numeric columns and one of numbers from 0 to 9 that stand for categories."""
    grouped = by_rank(X, 5, np.lexsort((X[:, 1], np.round(X[:, 0], 1))))
    alone = np.stack([by_rank(X[:, [j]], 3, np.argsort(X[:, j]))[:, 0] for j in range(X.shape[1])], axis=1)
    return {
        "groups of 5": (grouped, nominal),
        "each column alone": (alone, nominal),
        "noise": (X + rng.normal(0, 0.3, X.shape), np.where(rng.random(len(X)) < 0.1, (nominal + 1) % 10, nominal)),
    }


def load(warehouse, name, numeric, nominal, order):
    """Put a table with an id into the warehouse."""
    table = {"id": order}
    table |= {f"x{j}": column for j, column in enumerate(numeric[order].T)}
    table["category"] = [f"category {value}" for value in nominal[order]]
    relation = warehouse.load(pa.table(table), name, "made for the benchmark")
    return Source(relation, name, tuple(make_columns(warehouse.describe(relation))), is_table=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--columns", type=int, default=5)
    given = parser.parse_args()
    for rows in (200, *given.rows):  # the first loads or compiles the kernels
        rng = np.random.default_rng(1)
        X = rng.normal(size=(rows, given.columns - 1)) @ rng.normal(size=(given.columns - 1, given.columns - 1))
        nominal = rng.integers(0, 10, rows)
        for kind, (released, codes) in releases(X, nominal, rng).items():
            with open_warehouse(None, machine=MachineOptions(threads=1)) as warehouse:
                original = load(warehouse, "original", X, nominal, np.arange(rows))
                release = load(warehouse, "release", released, codes, rng.permutation(rows))
                made = attacked_release(warehouse, original, release, match=["id"])
                with Measure() as reading:
                    made.features.X.sum()
                    made.tried.sum()
                for name in NAMES:
                    attack = attacks()[name]
                    with Measure() as measured:
                        found = attack.function(Knowledge([made]))
                    if rows > 200:
                        emit(
                            bench="attacks", rows=rows, columns=given.columns, release=kind, attack=name,
                            cpu=measured.cpu, reading_cpu=reading.cpu, rate=found.rate,
                            ci=[round(end, 4) for end in found.ci],
                            n=found.n, peak_mb=peak_mb(),
                        )  # fmt: skip


if __name__ == "__main__":
    main()
