"""What a command costs before and beside its work: whole processes on little data, and releases in one process.

python tests/bench/start.py [--repeat 20] [--rows 1000] [--only help release]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from _measure import Measure, Rounds, emit

import sqlmicro

ROOT = Path(__file__).parents[2]
SECRET = "a lasting secret of the bench"
COMMANDS = {
    "python": None,
    "version": ["--version"],
    "help": ["--help"],
    "mdav-help": ["mdav", "--help"],
    "profile": ["profile", "--table", "p.csv"],
    "audit": ["audit", "--table", "p.csv", "--quasi", "area"],
    "individual-ranking": ["individual-ranking", "--columns", "x"],
    "mdav": ["mdav", "--columns", "x,y,z"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--only", nargs="+", choices=[*COMMANDS, "release"], default=[*COMMANDS, "release"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = of_people(given.rows)
        pyarrow.csv.write_csv(table, Path(folder, "p.csv"))
        names = [name for name in COMMANDS if name in given.only]
        rounds = Rounds({name: [] for name in names})
        for number in range(given.repeat + 1):  # the first round compiles what is kept
            for name in names:
                seconds = of_process(name, Path(folder))
                if number:
                    rounds[name].append(seconds)
        for name in names:
            emit(bench="start", what=name, rows=given.rows, **spread(rounds[name]))
    if "release" in given.only:
        for method, columns in (("mdav", "x,y,z"), ("individual_ranking", "x")):
            emit(bench="start", what=f"{method} in a session", rows=300, **spread(of_session(method, columns, given)))


def of_people(rows):
    rng = np.random.default_rng(1)
    columns = {name: rng.normal(size=rows).round(6) for name in "xyz"}
    return pa.table({**columns, "area": rng.choice(list("abcdefgh"), rows)})


def of_process(name, folder):
    """Return the CPU seconds of a process, which finds no release of an earlier one."""
    words = COMMANDS[name]
    command = ["-c", "pass"] if words is None else ["-m", "sqlmicro", *words]
    with tempfile.TemporaryDirectory() as settings:
        if name in ("mdav", "individual-ranking"):
            command += ["--table", "p.csv", "--rest", "drop", "--to", str(Path(settings, "out.parquet"))]
        env = {**os.environ, "XDG_CONFIG_HOME": settings, "SQLMICRO_SECRET": SECRET, "PYTHONPATH": str(ROOT)}
        before = os.times()
        subprocess.run([sys.executable, *command], cwd=folder, env=env, check=True, capture_output=True)
        after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def of_session(method, columns, given):
    """Return the CPU seconds of releases of one session, which finds everything loaded."""
    os.environ["SQLMICRO_SECRET"] = SECRET
    records, seconds = of_people(300), []
    with sqlmicro.open() as session:
        for number in range(given.repeat + 1):
            with Measure() as measured:
                getattr(session, method)(records, columns=columns.split(","), rest="drop")
            if number:
                seconds.append(measured.cpu)
    return seconds


def spread(seconds):
    return {"cpu": float(np.median(seconds)), "least": min(seconds), "most": max(seconds), "runs": len(seconds)}


if __name__ == "__main__":
    main()
