"""What a second core gives: whole commands with `--threads 1`, 2 and 8 in turn, and whether the bytes are the same.

    python tests/bench/threads.py [--rows 1000000] [--only mdav microaggregate safe] [--repeat 3]

`wall` is the ratio of the seconds that passed, with one thread to those with two. On a machine that others use it says
little. So the state of all threads is looked at a hundred times a second: CPU seconds that were spent while two or more
threads had work to do are halved, those of one thread are not. That makes `free`: the ratio of the CPU seconds with one
thread to the seconds that two threads would take on two cores of their own. Both count the start of Python.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _measure import emit
from whole import make

COLUMNS = ("x1", "x2", "x3", "x4")
COMMANDS = {
    "mdav": ("mdav", COLUMNS, ("--by", "part", "--k", "5")),
    "mdav-whole": ("mdav", COLUMNS, ("--k", "5")),
    "microaggregate": ("microaggregate", COLUMNS, ("--quality", "fast", "--k", "5")),
    "microaggregate-by": ("microaggregate", COLUMNS, ("--by", "part", "--quality", "fast", "--k", "5")),
    "safe": ("safe", ("age", "town", "illness", "born"), ("--k", "5", "--effort", "fast", "--numeric", "born")),
}
"""The command, its columns, and what else it needs."""
TICK = os.sysconf("SC_CLK_TCK")
DIGEST = """
import duckdb, hashlib, sys
read = duckdb.connect(sys.argv[1], read_only=True).sql("SELECT * FROM released").to_arrow_table()
found = hashlib.sha256(str(read.schema).encode())
for column in read.columns:
    for buffer in column.combine_chunks().buffers():
        found.update(buffer or b"")
print(found.hexdigest())
"""


def words(name, db, threads):
    verb, columns, more = COMMANDS[name]
    listed = ",".join(columns)
    told = ["-m", "sqlmicro", verb, "--db", str(db), "--table", "people", "--columns", listed, "--rest", "drop"]
    told += ["--rows-are-persons", "--identifier-ok", listed, "--into", "released", *more]
    return [*told, "--threads", str(threads), "--quiet"]


def run(told, env):
    """Run a command; return the seconds that passed, its CPU seconds, and what two free cores would take."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, *told], stdout=subprocess.DEVNULL, env=env)
    spent, reckoned = 0.0, 0.0
    while child.poll() is None:
        time.sleep(0.01)
        now, working = state(child.pid)
        reckoned += max(now - spent, 0.0) / (2 if working > 1 else 1)
        spent = max(now, spent)
    if child.returncode:
        raise SystemExit(f"{' '.join(told[2:4])} ended with {child.returncode}")
    return time.perf_counter() - start, spent, reckoned


def state(pid):
    """Return the CPU seconds of a process so far, and how many of its threads have work to do now."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        states = [task.read_text().rpartition(")")[2].split()[0] for task in Path(f"/proc/{pid}/task").glob("*/stat")]
    except OSError:  # it ended, or a thread of it did
        return 0.0, 1
    return (int(fields[11]) + int(fields[12])) / TICK, states.count("R")


def digest(db):
    return subprocess.run([sys.executable, "-c", DIGEST, str(db)], capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", default=list(COMMANDS))
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = {**os.environ, "SQLMICRO_SECRET": "a secret for the benchmark", "XDG_CONFIG_HOME": name}
        make(folder / "people.duckdb", given.rows)
        for one in given.only:
            found, bytes_of = {1: [], 2: []}, {}
            for number in range(given.repeat):
                for threads in (1, 2, *(() if number else (8,))):
                    own = Path(shutil.copy(folder / "people.duckdb", folder / "own.duckdb"))
                    measured = run(words(one, own, threads), env)
                    bytes_of.setdefault(threads, digest(own))
                    if threads in found:
                        found[threads].append(measured)
            ratios = {"wall": [a[0] / b[0] for a, b in zip(found[1], found[2], strict=True)],
                      "free": [a[1] / b[2] for a, b in zip(found[1], found[2], strict=True)],
                      "cpu_per_wall": [b[1] / b[0] for b in found[2]]}  # fmt: skip
            emit(
                bench="threads", command=one, rows=given.rows, same_bytes=len(set(bytes_of.values())) == 1,
                cpu=[round(statistics.median(m[1] for m in found[t]), 2) for t in found],
                **{n: [round(of(r), 2) for of in (statistics.median, min, max)] for n, r in ratios.items()},
            )  # fmt: skip


if __name__ == "__main__":
    main()
