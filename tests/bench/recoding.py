"""Recoding of Adult by the command, from the file to the audited release: CPU seconds of the whole process, and the
loss of what was published, beside the figures of ARX.

    python tests/bench/recoding.py [--repeat 1] [--only global local mondrian] [--models a b c d]
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from _measure import emit

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SQLMICRO_DATA") or ROOT.parent / "shared" / "data")
ADULT, REFERENCE = DATA / "adult", DATA.parent / "reference" / "arx_adult.json"
QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
SENSITIVE = "occupation"
MODELS = {
    "a k=5": [],
    "b k=5 l=3": ["--min-l", "3"],
    "c k=5 t=0.2": ["--max-t", "0.2"],
    "d k=5 l=3 t=0.2": ["--min-l", "3", "--max-t", "0.2"],
}
RUNS = {
    **{f"global {limit}": ["--suppress-up-to", limit] for limit in ("0%", "5%", "100%")},
    "local": ["--local"],
    "local 10%": ["--local", "--suppress-up-to", "10%"],
}


def read(path, delimiter):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def command(kind, model, target):
    asked = ["--sensitive", SENSITIVE, *MODELS[model]] if MODELS[model] else ["--keep", SENSITIVE]
    shared = ["--table", str(ADULT / "adult.csv"), "--delimiter", ";", "--columns", ",".join(QUASI), "--rest", "drop"]
    shared += ["--to", str(target), "--overwrite", "--quiet", *asked]
    if kind == "mondrian":
        return ["mondrian", "--k", "5", *shared]
    files = [f"--hierarchy={name}={ADULT / f'adult_hierarchy_{name}.csv'}" for name in QUASI]
    return ["generalize", "--until-k", "5", *files, *shared, *RUNS[kind]]


def loss(released, records):
    """Return the mean share of the leaves that a value stands for; a suppressed record counts 1."""
    total = 0.0
    for name in QUASI:
        rows = [r for r in csv.reader((ADULT / f"adult_hierarchy_{name}.csv").open(newline=""), delimiter=";") if r]
        leaves = defaultdict(set)
        for row in rows:
            for label in row:
                leaves[label].add(row[0])
        count = Counter(record[name] for record in released)
        total += sum(n * (len(leaves[value]) - 1) / (len(rows) - 1) for value, n in count.items())
    return total / records / len(QUASI) + (records - len(released)) / records


def run(kind, model, target):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "sqlmicro", *command(kind, model, target)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=["global", "local", "mondrian"])
    parser.add_argument("--models", nargs="+", default=["a", "b", "c", "d"])
    given = parser.parse_args()
    records = len(read(ADULT / "adult.csv", ";"))
    arx = json.loads(REFERENCE.read_text(encoding="utf-8"))["arx"]["results"] if REFERENCE.is_file() else []
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "release.csv"
        for kind in [*RUNS, "mondrian"]:
            if kind.split()[0] not in given.only:
                continue
            for model in (name for name in MODELS if name[0] in given.models):
                seconds = sorted(run(kind, model, target) for _ in range(given.repeat))
                released = read(target, ",")
                classes = Counter(tuple(record[name] for name in QUASI) for record in released)
                theirs = [
                    found
                    for found in arx
                    if kind.startswith("global ")
                    and (found["model"], found["metric"]) == (model, "loss-arithmetic")
                    and found["suppression_limit"] == float(kind.split()[1].rstrip("%")) / 100
                    and found["local_recoding_fraction"] is None
                ]
                emit(
                    bench="recoding", run=kind, model=model, cpu=seconds[len(seconds) // 2], lowest=seconds[0],
                    highest=seconds[-1], loss=None if kind == "mondrian" else loss(released, records),
                    classes=len(classes), suppressed=records - len(released), smallest=min(classes.values()),
                    arx_loss=theirs[0]["loss_arithmetic"] if theirs else None,
                    arx_cpu=theirs[0]["cpu_s"] if theirs else None,
                )  # fmt: skip


if __name__ == "__main__":
    main()
