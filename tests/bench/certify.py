"""microaggregate --quality best --certify: loss, lower bound and CPU seconds on the three reference sets.

python tests/bench/certify.py [--data census tarragona eia] [--k 3 5 10] [--seed 1] [--time-limit SECONDS] [--keep]

The files are read from SQLMICRO_DATA, or from ../shared/data beside the repository. One JSON line per set and k: IL of
the groups, computed anew from the labels, the lower bound on the IL of any grouping, by how much the loss may be above
the optimum at most, and the note of the method. Without a time limit the labels depend on the seed alone.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import partitions
from _measure import Measure, emit, peak_mb

from sqlmicro.group.certify import annealed, certify
from sqlmicro.group.microaggregate import microaggregate
from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import silent

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SQLMICRO_DATA") or ROOT.parent / "shared" / "data")


def information_loss(X, labels):
    parts = [X[labels == label] for label in np.unique(labels)]
    return 100 * sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts) / ((X - X.mean(axis=0)) ** 2).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["census", "tarragona", "eia"])
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--rows", type=int, help="the first so many records")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, help="seconds that certify may take after the search")
    parser.add_argument("--keep", action="store_true", help="keep the groups in partitions/ where they lose less")
    given = parser.parse_args()
    for data, k in ((data, k) for k in given.k for data in given.data):
        X = standardise(np.genfromtxt(DATA / f"{data}.csv", delimiter=",", skip_header=1)[: given.rows])
        rng = np.random.default_rng(given.seed)
        with Measure() as searching:
            best = microaggregate(X, rng, silent, k=k, quality="best")
        with Measure() as certifying:
            pool, least = annealed(X, k, rng), best.least or 0.0
            found = certify(X, best.labels, k, rng, silent, pool=pool, least=least, time_limit=given.time_limit)
        assert np.bincount(found.labels).min() >= k
        if given.keep and given.rows is None:
            partitions.keep(data, k, found.labels.tolist())
        total = ((X - X.mean(axis=0)) ** 2).sum()
        emit(
            bench="certify",
            data=data,
            k=k,
            seed=given.seed,
            best_IL=information_loss(X, best.labels),
            IL=information_loss(X, found.labels),
            lower_bound=None if found.lower_bound is None else 100 * found.lower_bound / total,
            note=found.note,
            search_cpu=searching.cpu,
            cpu=searching.cpu + certifying.cpu,
            wall=searching.wall + certifying.wall,
            peak_mb=peak_mb(),
        )


if __name__ == "__main__":
    main()
