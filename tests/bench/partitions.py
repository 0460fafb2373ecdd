"""The best groups found of the three reference sets, k = 3, 5 and 10: kept in partitions/, and checked here.

python tests/bench/partitions.py [--data census tarragona eia] [--k 3 5 10] [--search [--seed 1]]

A file has the number of the group of every record, a line each, in the order of the data, which are not kept. What is
printed is counted from the file and the data by plain Python, without sqlmicro: the records of the smallest group, and
IL, 100 SSE/SST over the columns in units of their standard deviation. With `--search` the groups of `microaggregate
--quality best` are kept where they lose less; `certify.py --keep` does so with those that it ends with.
"""

import argparse
import csv
import math
import os
from pathlib import Path
from statistics import fmean

from _measure import Measure, emit

HERE = Path(__file__).parent
KEPT = HERE / "partitions"
DATA = Path(os.environ.get("SQLMICRO_DATA") or HERE.parents[2] / "shared" / "data")


def columns_of(data):
    """Return the columns of a data set, each with mean 0 and variance 1."""
    with (DATA / f"{data}.csv").open(newline="", encoding="utf-8") as file:
        rows = [[float(value) for value in row] for row in list(csv.reader(file))[1:]]
    found = []
    for values in zip(*rows, strict=True):
        mean = math.fsum(values) / len(values)
        scale = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
        found.append([(value - mean) / scale for value in values])
    return found


def checked(data, labels):
    """Return the records of the smallest group, and IL in per cent."""
    columns, groups = columns_of(data), {}
    if len(labels) != len(columns[0]):
        raise SystemExit(f"{data}: {len(labels)} groups for {len(columns[0])} records")
    for place, label in enumerate(labels):
        groups.setdefault(label, []).append(place)
    lost = 0.0
    for column in columns:
        for places in groups.values():
            mean = fmean(column[place] for place in places)
            lost += math.fsum((column[place] - mean) ** 2 for place in places)
    return min(map(len, groups.values())), 100 * lost / (len(columns) * len(labels))


def kept(data, k):
    """Return the groups that are kept of a data set, None where there are none."""
    path = KEPT / f"{data}_{k}.txt"
    return [int(line) for line in path.read_text().split()] if path.exists() else None


def keep(data, k, labels):
    """Keep the groups of a data set, unless those that are kept lose no more; numbered by their first records."""
    number = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    made, before = [number[label] for label in labels], kept(data, k)
    smallest, loss = checked(data, made)
    if smallest < k:
        raise SystemExit(f"{data}, k = {k}: a group of {smallest}")
    if before is None or loss < checked(data, before)[1] - 1e-9:
        KEPT.mkdir(exist_ok=True)
        (KEPT / f"{data}_{k}.txt").write_text("".join(f"{label}\n" for label in made))


def search(data, k, seed):
    """Keep what `microaggregate --quality best` finds; return its IL and CPU seconds."""
    import numpy as np

    from sqlmicro.registry import find, silent

    X = np.ascontiguousarray(np.array(columns_of(data)).T)
    with Measure() as measured:
        found = find("microaggregate").group(X, np.random.default_rng(seed), silent, k=k, quality="best")
    labels = found.labels.tolist()
    keep(data, k, labels)
    return checked(data, labels)[1], measured.cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["census", "tarragona", "eia"])
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for data, k in ((data, k) for data in given.data for k in given.k):
        found, cpu = search(data, k, given.seed) if given.search else (None, None)
        smallest, loss = checked(data, kept(data, k) or [0] * len(columns_of(data)[0]))
        emit(bench="partitions", data=data, k=k, smallest=smallest, IL=loss, search_IL=found, search_cpu=cpu)


if __name__ == "__main__":
    main()
