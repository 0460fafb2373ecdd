"""microaggregate: CPU seconds and loss on normal records, and the loss of every quality on the reference sets.

    python tests/bench/microaggregate.py speed [--sizes 100000x4 1000000x4] [--k 5] [--quality fast] [--exact]
    python tests/bench/microaggregate.py loss [--quality balanced best] [--data census tarragona eia] [--k 3 5 10]

One JSON line per run: IL = 100·SSE/SST on standardised columns, CPU seconds of the kernel (one thread, compiled
before), and for speed the peak memory in MB beyond the records. `--exact` adds exact MDAV of the same records. Files
are read from SQLMICRO_DATA, or from ../shared/data beside the repository.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from _measure import Measure, emit, peak_mb

from sqlmicro.group.mdav import mdav
from sqlmicro.group.microaggregate import microaggregate
from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import silent

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SQLMICRO_DATA") or ROOT.parent / "shared" / "data")


def information_loss(X, labels):
    sizes = np.bincount(labels)
    within = sum(((column - (np.bincount(labels, column) / sizes)[labels]) ** 2).sum() for column in X.T)
    return 100 * within / sum(((column - column.mean()) ** 2).sum() for column in X.T)


def measured(X, k, quality, seed):
    before = peak_mb()
    with Measure() as m:
        labels = microaggregate(X, np.random.default_rng(seed), silent, k=k, quality=quality).labels
    beyond = peak_mb() - before
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() < 2 * k
    return {"IL": information_loss(X, labels), "cpu": m.cpu, "beyond_mb": beyond}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "loss"])
    parser.add_argument("--sizes", nargs="+", default=["100000x4", "1000000x4", "100000x8", "100000x13"])
    parser.add_argument("--data", nargs="+", default=["census", "tarragona", "eia"])
    parser.add_argument("--k", type=int, nargs="+")
    parser.add_argument("--quality", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exact", action="store_true")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    warm = rng.normal(size=(5000, 4))
    for quality in ("fast", "balanced"):
        microaggregate(warm[: 5000 if quality == "fast" else 50], rng, silent, k=3, quality=quality)
    if given.what == "loss":
        for data in given.data:
            X = standardise(np.genfromtxt(DATA / f"{data}.csv", delimiter=",", skip_header=1))
            for k in given.k or (3, 5, 10):
                for quality in given.quality or ("balanced", "best"):
                    found = measured(X, k, quality, given.seed)
                    emit(bench="microaggregate", data=data, k=k, quality=quality, seed=given.seed, **found)
        return
    for size in given.sizes:
        n, p = (int(float(part)) for part in size.split("x"))
        X = np.random.default_rng(0).normal(size=(n, p))
        for k in given.k or (5,):
            for quality in given.quality or ("fast",):
                emit(bench="microaggregate", n=n, p=p, k=k, quality=quality, **measured(X, k, quality, given.seed))
            if given.exact:
                with Measure() as m:
                    labels = mdav(X, rng, silent, k=k)
                emit(bench="mdav", n=n, p=p, k=k, IL=information_loss(X, labels), cpu=m.cpu)


if __name__ == "__main__":
    main()
