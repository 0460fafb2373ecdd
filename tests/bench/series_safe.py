"""SAFE in a series: deviations of the tables night after night, beside those of a fresh file, and CPU seconds.

python tests/bench/series_safe.py [--k 3] [--columns survey|age] [--nights 30] [--effort full] [--invented 0.5]

20,000 records of the microcensus, five columns; every night 1 % are inserted, 0.3 % deleted and 0.5 % changed in one
value. Deviations are counted anew from the two files, and what the nights tell together in plain Python.
"""

import argparse
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
from _measure import Measure, emit
from safe_search import read

from sqlmicro.safe_method.admissible import Combinations, Published
from sqlmicro.safe_method.combined import Combined
from sqlmicro.safe_method.deniable import MAX_INFERENCE, Asked, pooled
from sqlmicro.safe_method.search import search
from sqlmicro.safe_method.successor import carried_on
from sqlmicro.system.secrets import Secret

SECRET = Secret(b"a secret of the benchmark", "plain text")
COLUMNS = {"survey": ("EF1", "EF20", "EF29", "EF46", "EF49"), "age": ("EF20", "EF29", "EF44", "EF46", "EF49")}
NAMES = ("EF1", "EF29", "EF31", "EF46", "EF49", "EF75", "EF20", "EF44")


def table(columns, rows):
    """Return records of some columns, ages in bands of five years."""
    records, nominal, numeric = read()
    records = records[:, [*nominal, *numeric]].copy()
    records[:, NAMES.index("EF44")] //= 5
    return np.random.default_rng(0).permutation(records)[:rows, [NAMES.index(name) for name in columns]], records[
        :, [NAMES.index(name) for name in columns]
    ]


def next_night(records, everybody, rng):
    """Return the records after 0.3 % left, 0.5 % changed a value and 1 % came, a fifth of them with a drawn value."""
    n = len(records)
    records = records[np.sort(rng.permutation(n)[round(0.003 * n) :])]
    for i in rng.integers(0, len(records), round(0.005 * n)):
        j = rng.integers(records.shape[1])
        records[i, j] = everybody[rng.integers(len(everybody)), j]
    new = everybody[rng.integers(0, len(everybody), round(0.01 * n))]
    for i in np.flatnonzero(rng.random(len(new)) < 0.2):
        j = rng.integers(new.shape[1])
        new[i, j] = everybody[rng.integers(len(everybody)), j]
    return np.vstack([records, new])


def pool_of(combined, k, invented):
    if not invented:
        return None
    rows = combined.values
    shares = np.array([np.bincount(column, combined.n).max() / combined.n.sum() for column in rows.T])
    asked = Asked(invented, MAX_INFERENCE, SECRET, {})
    return pooled(rows, rows.shape[1], combined.codes.astype(np.uint64), combined.n, k, asked, shares)


def counted(codes, n):
    return Counter({row: int(c) for row, c in zip(map(tuple, codes.tolist()), n, strict=True) if c})


def deviations(original, released):
    """Return the SAFE distance of the counts, and the mean and largest deviation of tables of one to three columns."""
    width = len(next(iter(original)))
    shares, means, largest = [], [], []
    for order in (1, 2, 3):
        every = []
        for some in combinations(range(width), order):
            cells = Counter()
            for file, sign in ((original, 1), (released, -1)):
                for row, c in file.items():
                    cells[tuple(row[j] for j in some)] += sign * c
            every += [abs(d) for d in cells.values()]
            if order < 3:
                shares.append(sum(map(abs, cells.values())) / (2 * sum(original.values())))
        means.append(sum(every) / len(every))
        largest.append(max(every))
    return {"distance": 1e4 * float(np.mean(shares)), "mean": [round(m, 3) for m in means], "largest": largest}


def denied(original, released, k):
    few = [row for row in released if original[row] < k]
    unique = [row for row, c in original.items() if c == 1]
    return {
        "few": len(few),
        "invented": sum(row not in original for row in few) / max(1, len(few)),
        "unique_shown": sum(row in released for row in unique) / max(1, len(unique)),
    }


def drawn(rows):
    return Asked(0.5, MAX_INFERENCE, SECRET, {}).draw(np.array(sorted(rows), dtype=np.uint64))


def published(last, history, totals, occurred):
    """Return the files so far as arrays."""
    rows = sorted(history)
    first = np.cumsum([0, *(len(history[row]) for row in rows)])
    return Published(
        np.array(rows), np.zeros((len(rows), 0)), np.array([last[row] for row in rows]), first,
        np.array([c for row in rows for c in history[row]]), np.array(totals), drawn(rows), occurred,
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--columns", choices=COLUMNS, default="survey")
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--effort", default="full")
    parser.add_argument("--invented", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=10, help="Nights between two comparisons with a fresh file.")
    given = parser.parse_args()
    k, rng = given.k, np.random.default_rng(given.seed)
    records, everybody = table(COLUMNS[given.columns], given.rows)
    history, totals, last = defaultdict(set), [], {}
    occurred, unique, unique_shown, unique_opened, known = set(), set(), set(), set(), np.zeros(0)
    quiet = lambda *_: None  # noqa: E731
    for night in range(given.nights + 1):
        if night:
            records = next_night(records, everybody, rng)
        rows, n = np.unique(records, axis=0, return_counts=True)
        combined = Combined.of(rows, np.zeros((len(rows), 0)), n)
        original = counted(rows, n)
        told = {}
        if night in (0, 1) or night % given.every == 0:
            with Measure() as fresh:
                pool = pool_of(combined, k, given.invented)
                codes, numbers, count, _ = combined.file(k, pool.new if pool else None)
                found = search(
                    codes, numbers, count, k, np.random.default_rng(night), quiet, effort=given.effort, pool=pool
                )
            file = counted(codes, found.new_n)
            told = {"fresh_cpu": fresh.cpu, **{f"fresh_{a}": b for a, b in deviations(original, file).items()}}
            told |= {f"fresh_{a}": b for a, b in denied(original, file, k).items()}
        if night:
            with Measure() as carried:
                pool = pool_of(combined, k, given.invented)
                file = combined.file(k, pool.new if pool else None)
                given_now = Combinations.of(file, (), pool, published(last, history, totals, known))
                codes = given_now.codes
                found = carried_on(given_now, k, np.random.default_rng(night), quiet, effort=given.effort)
            told["cpu"], told["withheld"] = carried.cpu, found.withheld
            file = counted(codes, found.new_n)
        for row in {*file, *last}:
            told["changed"] = told.get("changed", 0) + (file[row] != last.get(row, 0))
        for row in {*history, *file}:
            assert all(file[row] == c or abs(file[row] - c) >= k for c in history.get(row, {0}))
            if row not in history:
                history[row].add(0)
            history[row].add(file[row])
        totals.append(sum(file.values()))
        unique_opened |= {row for row, c in original.items() if c == 1 and row in file and not last.get(row)}
        last = file
        occurred |= set(original)
        known = drawn(occurred)
        unique |= {row for row, c in original.items() if c == 1}
        unique_shown |= {row for row, c in original.items() if c == 1 and row in file}
        few = [row for row in file if original[row] < k]
        told["never_occurred"] = sum(row not in occurred for row in few) / max(1, len(few))
        told["unique_ever_shown"] = len(unique_shown) / max(1, len(unique))
        told["unique_ever_opened"] = len(unique_opened) / max(1, len(unique))
        emit(
            bench="series_safe", night=night, k=k, columns=given.columns, records=len(records), combinations=len(n),
            **deviations(original, file), **denied(original, file, k), **told,
        )  # fmt: skip


if __name__ == "__main__":
    main()
