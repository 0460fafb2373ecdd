"""SAFE at scale: seconds and memory of the whole command `sqlmicro safe`, by default the best of all its methods.

python tests/bench/safe_scale.py [--file survey unique wide visits persons] [--rows 1000000 10000000]
                                 [--option=--effort=fast ...]

`survey` is made from the microcensus of tests/bench/safe_search.py: 8 columns, records drawn with replacement, now and
then with another value, so that some 10^5 combinations occur. `unique` has 8 nominal columns of 11 values, all
independent: hardly two of 10^6 records are alike. `wide` has 12 nominal columns with 50 values each, of which no table
of products could be kept; its records are drawn around a number of types. `visits` (by default 6 000) and `persons`
(20 000, with missing values) have text columns with hardly fewer values than records. CPU seconds are those of the
command with all its threads.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import apart, emit, sqlmicro
from safe_search import enlarge, read


def survey(rows, path):
    """Write an enlarged microcensus."""
    records, nominal, numeric = read()
    drawn = enlarge(records, rows, 0)
    names = [f"n{j}" for j in range(len(nominal))] + ["household_size", "age"]
    write(path, names, drawn[:, nominal + numeric])


def wide(rows, path, columns=12, values=50, types=2_000, changed=0.01):
    """Write records that resemble one of some types in nearly all columns."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, values, (types, columns))
    drawn = kinds[(types * rng.random(rows) ** 2).astype(np.int64)]
    other = rng.random(drawn.shape) < changed
    drawn[other] = rng.integers(0, values, int(other.sum()))
    write(path, [f"c{j}" for j in range(columns)], drawn)


def unique(rows, path):
    """Write records of which nearly every one is another."""
    write(path, [f"c{j}" for j in range(8)], np.random.default_rng(0).integers(0, 11, (rows, 8)))


def visits(rows, path):
    """Write visits of some 1 500 patients: name, mail, note, complaint and diagnosis beside columns of few values."""
    rng = np.random.default_rng(0)
    patients = rows // 4
    patient = rng.integers(0, patients, rows)
    table = {
        "called": [f"given{p % 397} family{p % 1999}" for p in patient],
        "mail": [f"person{p}@example.org" for p in patient],
        "note": text(rng, rows, 6),
        "complaint": text(rng, rows, 2),
        "diagnosis": [f"{'ABCDEFGH'[c % 8]}{c // 8}" for c in zipf(rng, rows, 800)],
        "sex": [f"s{s}" for s in rng.integers(0, 2, patients)[patient]],
        "ward": [f"w{w}" for w in rng.integers(0, 12, rows)],
        "age": rng.integers(0, 95, patients)[patient],
        "visit_day": np.datetime64("2024-01-01") + rng.integers(0, 700, rows),
        "cost": rng.lognormal(5, 1, rows).round(2),
    }
    pq.write_table(pa.table(table), path)


def persons(rows, path):
    """Write persons with missing values: mail and note beside towns and jobs, of which few are common."""
    rng = np.random.default_rng(0)
    table = {
        "sex": (rng.integers(0, 2, rows).astype(str), 0.02),
        "age": (rng.integers(0, 95, rows), 0.05),
        "region": (rng.integers(0, 16, rows).astype(str), 0.05),
        "town": (zipf(rng, rows, 4_000).astype(str), 0.1),
        "job": (zipf(rng, rows, 1_500).astype(str), 0.1),
        "note": (text(rng, rows, 5), 0.3),
        "mail": ([f"person{i}@example.org" for i in range(rows)], 0.2),
        "income": (rng.lognormal(7, 1, rows).round(2), 0.1),
        "children": (rng.integers(0, 6, rows), 0.1),
    }
    pq.write_table(
        pa.table({name: pa.array(values, mask=rng.random(rows) < gone) for name, (values, gone) in table.items()}), path
    )


def zipf(rng, rows, values):
    """Draw numbers, of which the r-th is 1 / r as frequent as the first."""
    share = 1 / np.arange(1, values + 1)
    return rng.choice(values, rows, p=share / share.sum())


def text(rng, rows, words):
    """Return texts of some words of 3 000, few of them common."""
    return [" ".join(f"word{w}" for w in drawn) for drawn in zipf(rng, (rows, words), 3_000)]


def write(path, names, values):
    pq.write_table(
        pa.table({name: pa.array(column.astype(np.int16)) for name, column in zip(names, values.T, strict=True)}), path
    )


VISITS = "called,mail,note,complaint,diagnosis,sex,ward,age,visit_day,cost"
PERSONS = "sex,age,region,town,job,note,mail,income,children"
FILES = {
    "survey": (survey, ["--numeric", "household_size,age"], 1_000_000),
    "unique": (unique, ["--nominal", ",".join(f"c{j}" for j in range(8))], 1_000_000),
    "wide": (wide, ["--nominal", ",".join(f"c{j}" for j in range(12))], 1_000_000),
    "visits": (
        visits, ["--columns", VISITS, "--identifier-ok", "called,mail,note,complaint", "--rows-are-persons"], 6_000,
    ),
    "persons": (persons, ["--columns", PERSONS, "--identifier-ok", "mail,note", "--nulls", "keep"], 20_000),
}  # fmt: skip


def combinations(path, into):
    """Write how many combinations of values a file has."""
    table = pq.read_table(path)
    into.write_text(str(table.group_by(table.column_names).aggregate([]).num_rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", nargs="+", default=list(FILES), choices=list(FILES))
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--option", action="append", default=[])
    given = parser.parse_args()
    for name, rows in ((file, rows) for file in given.file for rows in given.rows or [FILES[file][2]]):
        with tempfile.TemporaryDirectory() as folder:
            make, scales, _ = FILES[name]
            source, target = Path(folder) / "source.parquet", Path(folder) / "target.parquet"
            apart(make, rows, source)
            counted = Path(folder) / "combinations"
            apart(combinations, source, counted)
            command = ["safe", "--table", str(source), "--to", str(target), "--overwrite", "--seed", "1"]
            # A ledger of its own: releases of earlier runs are out with nobody.
            own = {**os.environ, "XDG_CONFIG_HOME": str(source.parent / "config")}
            report, seconds, cpu, peak = sqlmicro(*command, *scales, *given.option, env=own)
            emit(
                bench="safe_scale",
                file=name,
                rows=rows,
                combinations=int(counted.read_text()),
                options=given.option,
                seconds=seconds,
                cpu=cpu,
                peak_mb=peak,
                candidates=[
                    {key: one[key] for key in ("algorithm", "pass", "distance", "seconds", "memory")}
                    for one in report["candidates"]
                ],
            )


if __name__ == "__main__":
    main()
