"""MDAV and its kin on normal records: the kernel alone, warm, and plain NumPy MDAV at a small size in the same run.

NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 python tests/bench/mdav.py [--sizes 10000 100000] [--columns 4 8 13] [--k 10]
… --sizes 100000 --columns 4 --k 3; --sizes 1000000 --columns 4 --k 10
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from _measure import Measure, emit, peak_mb

from sqlmicro.registry import find, silent

sys.path.insert(0, str(Path(__file__).parents[1] / "group"))
import naive

PLAIN_UP_TO = 10_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[4, 8, 13])
    parser.add_argument("--k", type=int, nargs="+", default=[10])
    parser.add_argument("--methods", nargs="+", default=["mdav", "mdav-plus", "mdav-star", "v-mdav", "max-distance"])
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    for name in given.methods:
        group = find(name).function
        group(rng.normal(size=(300, 2)), rng, silent, k=3)
        for n in given.sizes:
            for p in given.columns:
                for k in given.k:
                    X = np.random.default_rng(0).normal(size=(n, p))
                    cpu, labels = fastest(lambda group=group, X=X, k=k: group(X, rng, silent, k=k), given.repeat)
                    found = {"method": name, "rows": n, "columns": p, "k": k, "cpu": cpu}
                    if name == "mdav" and n <= PLAIN_UP_TO:
                        found["plain_cpu"], plain = fastest(lambda X=X, k=k: naive.mdav(X, k), 1)
                        found["same_groups"] = bool((plain == labels).all())
                    emit(bench="mdav", **found, IL=naive.information_loss(X, labels), peak_mb=peak_mb())


def fastest(function, repeat):
    """Return the least CPU seconds of some runs, and what the function returns."""
    seconds = []
    for _ in range(repeat):
        with Measure() as measured:
            result = function()
        seconds.append(measured.cpu)
    return min(seconds), result


if __name__ == "__main__":
    main()
