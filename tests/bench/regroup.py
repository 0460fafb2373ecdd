"""SAFE with its records dealt anew: what is left of tables, numbers, subgroups and regressions, and CPU seconds.

python tests/bench/regroup.py [--file persons testdata mikrozensus adult] [--k 3 5 10] [--seed 1] [-- OPTION ...]

`--file further` are tarragona, eia, households and panel (see _files.py).
What follows `--` goes to the command. Everything is counted anew from the two files. `counts` are the largest
deviations of tables of 1, 2 and 3 nominal columns; `band` is the mean deviation of the deciles of a number by one and
by two nominal columns; `means` the share of the subgroups of at least 30 records, by up to two nominal columns, whose
mean is off by more than a standard error, in percent; `variance` the ratios; `correlation` the largest error; `z` the
mean shift of the coefficients of a regression in standard errors; `IL` belongs to who was dealt where.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
from _files import FILES, FURTHER, in_numbers, quoted, read
from _measure import emit


def release(columns, table, nominal, k, seed, options, here=None):
    """Return the released rows in the order of the file, and the CPU seconds of the command; `here` runs it."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "source.csv", Path(folder) / "release.csv"
        with source.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([["rid", *columns], *([str(i), *row] for i, row in enumerate(table))])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        given = {
            "--table": source, "--to": target, "--columns": quoted(columns), "--nominal": quoted(columns[:nominal]),
            "--numeric": quoted(columns[nominal:]), "--keep": "rid", "--accept-unique": "rid", "--rest": "drop",
            "--alone-because": "a benchmark", "--k": k, "--seed": seed,
        }  # fmt: skip
        options = ["--rows-are-persons", *(str(word) for pair in given.items() for word in pair), *options]
        if here:
            done = here("safe", *options, XDG_CONFIG_HOME=folder)
            assert done.returncode == 0, done.stderr
        else:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            command = [sys.executable, "-m", "sqlmicro", "safe", *options]
            subprocess.run(command, check=True, env={**os.environ, "XDG_CONFIG_HOME": folder}, **quiet)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with target.open(encoding="utf-8", newline="") as lines:
            rows = sorted(csv.DictReader(lines), key=lambda row: int(row["rid"]))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [[row[column] for column in columns] for row in rows], cpu


def numbered(columns):
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        key = np.unique(key * (int(column.max()) + 1) + column, return_inverse=True)[1].reshape(-1)
    return key


def of_counts(before, codes, most=3):
    """Return the largest deviations of tables of 1 to `most` of the columns; half of the rows are `before`."""
    largest = []
    for order in range(1, most + 1):
        deviations = []
        for some in combinations(codes, order):
            key = numbered(some)
            deviations.append(np.abs(np.bincount(key, np.where(before, -1, 1))).max())
        largest.append(int(max(deviations)))
    return largest


def of_bands(before, codes, x):
    cells, off = 0, 0.0
    for column in x:
        cuts = np.unique(np.quantile(column[before], np.linspace(0.1, 0.9, 9)))
        band = np.searchsorted(cuts, column, "right")
        for some in [*combinations(codes, 1), *combinations(codes, 2)]:
            key = numbered([band, *some])
            deviation = np.abs(np.bincount(key, np.where(before, -1, 1)))
            cells, off = cells + len(deviation), off + deviation.sum()
    return off / cells


def of_means(before, codes, x):
    """Return how many subgroups have a mean off by more than a standard error, and how many there are."""
    off = every = 0
    for some in [*combinations(codes, 1), *combinations(codes, 2)]:
        key = numbered(some)
        size = int(key.max()) + 1
        n, m = (np.bincount(key[part], minlength=size) for part in (before, ~before))
        for column in x:
            one, other = (np.bincount(key[part], column[part], size) for part in (before, ~before))
            mean = one / np.maximum(n, 1)
            squares = np.bincount(key[before], (column[before] - mean[key[before]]) ** 2, size)
            error = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))
            large = (n >= 30) & (error > 1e-9)
            every += int(large.sum())
            off += int((large & ((m == 0) | (np.abs(other / np.maximum(m, 1) - mean) > error))).sum())
    return off, every


def coefficients(codes, x, y, rows, like):
    """Return the coefficients of a linear regression and their standard errors; dummies of values of 50 records."""
    X = [np.ones(int(rows.sum()))]
    X += [(column[rows] - column[like].mean()) / column[like].std() for column in x]
    for column in codes:
        values, records = np.unique(column[like], return_counts=True)
        X += [(column[rows] == value).astype(float) for value in values[records >= 50][1:]]
    A, b = np.column_stack(X), y[rows]
    found = np.linalg.lstsq(A, b, rcond=None)[0]
    rest = b - A @ found
    return found[1:], np.sqrt(rest @ rest / (len(b) - A.shape[1]) * np.maximum(np.diag(np.linalg.pinv(A.T @ A)), 0.0))[
        1:
    ]


def compared(name, table, released, nominal, target):
    """Return the figures of a release."""
    n, both = len(table), list(zip(*table, strict=True))
    codes, x, rows = [], [], np.arange(2 * n) < n
    for j, column in enumerate(zip(*released, strict=True)):
        if j < nominal:
            codes.append(np.unique([*both[j], *column], return_inverse=True)[1].reshape(-1))
        else:
            x.append(np.concatenate([in_numbers(both[j]), in_numbers(column)]))
    y = x[target - nominal]
    y = np.log1p(np.maximum(y, 0.0)) if name == "persons" else y
    others = [column for j, column in enumerate(x) if j != target - nominal]
    one, error = coefficients(codes, others, y, rows, rows)
    other, _ = coefficients(codes, others, y, ~rows, rows)
    off, every = of_means(rows, codes, x)
    correlation = [np.corrcoef([column[part] for column in x]) for part in (rows, ~rows)]
    _, classes = np.unique(numbered([*codes, *(np.unique(v, return_inverse=True)[1].reshape(-1) for v in x)])[n:],
                           return_counts=True)  # fmt: skip
    lost = [((v[n:] - v[:n]) ** 2).sum() / ((v[:n] - v[:n].mean()) ** 2).sum() for v in x]
    return {
        "counts": of_counts(rows, codes), "IL": round(100 * float(np.mean(lost)), 2),
        "band": round(float(of_bands(rows, codes, x)), 2), "means": round(100 * off / every, 2), "subgroups": every,
        "variance": [round(float(v[n:].var() / v[:n].var()), 3) for v in x],
        "correlation": round(float(np.abs(correlation[0] - correlation[1]).max()), 4),
        "z": round(float((np.abs(other - one) / error).mean()), 2), "smallest": int(classes.min()),
    }  # fmt: skip


def main():
    arguments = sys.argv[1:]
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", nargs="+", default=list(FILES))
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--rows", type=int, help="only so many, the first ones")
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    given = parser.parse_args(arguments[:at])
    for name in [name for one in given.file for name in (FURTHER if one == "further" else [one])]:
        columns, table, nominal, target = read(name)
        table = table[: given.rows]
        for k in given.k:
            for seed in given.seed:
                released, cpu = release(columns, table, nominal, k, seed, arguments[at + 1 :])
                figures = compared(name, table, released, nominal, target)
                emit(file=name, k=k, seed=seed, **figures, cpu=round(cpu, 1))


if __name__ == "__main__":
    main()
