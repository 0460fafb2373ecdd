"""SAFE at scale: seconds and memory of the whole command `sqlmicro safe`, by default the best of all its methods.

python tests/bench/safe_scale.py [--file survey wide] [--rows 1000000 10000000] [--option=--effort=fast ...]

`survey` is made from the microcensus of tests/bench/safe_search.py: 8 columns, records drawn with replacement, now and
then with another value, so that some 10^5 combinations occur. `wide` has 12 nominal columns with 50 values each, of
which no table of products could be kept; its records are drawn around a number of types. CPU seconds are those of the
command with all its threads.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import emit
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


def write(path, names, values):
    pq.write_table(
        pa.table({name: pa.array(column.astype(np.int16)) for name, column in zip(names, values.T, strict=True)}), path
    )


FILES = {
    "survey": (survey, ["--numeric", "household_size,age"]),
    "wide": (wide, ["--nominal", ",".join(f"c{j}" for j in range(12))]),
}


def run(source, target, options):
    """Run the command; return its report, seconds, CPU seconds and peak memory in MB."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = ["safe", "--table", str(source), "--to", str(target), "--overwrite", "--json", "--seed", "1", *options]
    done = subprocess.run([sys.executable, "-m", "sqlmicro", *command], check=True, stdout=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), time.perf_counter() - started, cpu, after.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", nargs="+", default=list(FILES), choices=list(FILES))
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--option", action="append", default=[])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in ((name, rows) for name in given.file for rows in given.rows):
            make, scales = FILES[name]
            source, target = Path(folder) / "source.parquet", Path(folder) / "target.parquet"
            make(rows, source)
            combinations = len(np.unique(np.stack([c.to_numpy() for c in pq.read_table(source)], axis=1), axis=0))
            report, seconds, cpu, peak = run(source, target, [*scales, *given.option])
            emit(
                bench="safe_scale",
                file=name,
                rows=rows,
                combinations=combinations,
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
