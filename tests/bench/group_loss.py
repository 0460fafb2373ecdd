"""Loss of every grouping kernel, with its defaults, on three real data sets and two drawn here, for k = 3, 5, 10.

    python tests/bench/group_loss.py [--methods mdav k-ward] [--data census SimC] [--k 3 5 10] [--limit 60] [--seed 0]
                                     [--set merge=outer-loop] [--table]

One JSON line {method, data, k, il, seconds} per run: IL = 100·SSE/SST on standardised columns, CPU seconds of a kernel
(all threads, compiled before). A run that takes more than `--limit` CPU seconds is interrupted as by Ctrl-C: methods
that keep their best result so far give it (`interrupted` is true), others have no IL, nor has a method that refuses the
data. `--table` prints the lines as Markdown at the end, and for every method the average over all data and k of
100·(IL − IL of a reference)/IL of the reference, for the references of which every run is there.

census, tarragona and eia (all 11 columns) are read from SQLMICRO_DATA or ../shared/data. SimU: 1 000 records
uniform over a square. SimC: 1 000 records in clusters of 3 to 15 (drawn evenly, the last one takes what is left), whose
centres are uniform over a square of side 1 and whose records are normal around it with standard deviation 0.01. The
draws behind the SimU and SimC of the literature are not at hand: only methods run here can be compared on them.
"""

import argparse
import os
import signal
from pathlib import Path

import numpy as np
from _measure import Measure, emit

from sqlmicro.errors import SqlmicroError
from sqlmicro.missing.standardise import standardise
from sqlmicro.options.params import settle
from sqlmicro.registry import methods, silent

DATA = Path(os.environ.get("SQLMICRO_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
REFERENCES = ("mdav", "mdav-plus", "mdav-star")


def read(name):
    return np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)


def uniform():
    return np.random.default_rng(1).random((1000, 2))


def clustered():
    rng = np.random.default_rng(2)
    sizes = []
    while sum(sizes) < 1000:
        sizes.append(min(int(rng.integers(3, 16)), 1000 - sum(sizes)))
    centres = rng.random((len(sizes), 2))
    return np.repeat(centres, sizes, axis=0) + rng.normal(scale=0.01, size=(1000, 2))


SETS = {
    "census": lambda: read("census"),
    "tarragona": lambda: read("tarragona"),
    "eia": lambda: read("eia"),
    "SimU": uniform,
    "SimC": clustered,
}


def loss(X, labels):
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, x) / sizes for x in X.T], axis=1)
    return 100 * ((X - means[labels]) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()


def interrupt(*_):
    raise KeyboardInterrupt


def run(method, X, k, seed, limit, given):
    """Return the fields of one run."""
    names = {parameter.name for parameter in method.parameters}
    settings = settle(
        method.parameters, {"k": k} | {name: v for name, v in given.items() if name in names}, method.name
    )
    labels, fields, late = None, {}, False
    with Measure() as measured:
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)
        try:
            labels = method.group(X, np.random.default_rng(seed), silent, **settings).labels
        except KeyboardInterrupt:
            late = True
        except SqlmicroError as refused:
            fields["refused"] = str(refused)
        finally:
            late = late or signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if labels is not None and np.bincount(labels).min() < k:
        raise SystemExit(f"{method.name} made a group of fewer than {k} records")
    il = None if labels is None else float(loss(X, labels))
    return {"il": il, "seconds": measured.cpu} | ({"interrupted": True} if late else {}) | fields


def table(results, names, data, ks):
    """Print the losses as Markdown, and how they compare on average."""
    columns = [(d, k) for d in data for k in ks]
    shown = [r for r in REFERENCES if all(results.get((r, *c), {}).get("il") for c in columns)]
    print("\n| method | " + " | ".join(f"{d} {k}" for d, k in columns) + " | seconds |")
    print("|---" * (len(columns) + 2) + "|")
    for name in names:
        runs = [results[name, *c] for c in columns]
        cells = [("–" if r["il"] is None else f"{r['il']:.4g}") + "*" * ("interrupted" in r) for r in runs]
        print(f"| {name} | " + " | ".join(cells) + f" | {sum(r['seconds'] for r in runs):.1f} |")
    print(f"\n\\* interrupted\n\n| average IL against | {' | '.join(shown)} |\n" + "|---" * (len(shown) + 1) + "|")
    for name in names:
        found = [results[name, *c]["il"] for c in columns]
        if None in found:
            continue
        ratios = [np.mean([il / results[r, *c]["il"] for il, c in zip(found, columns, strict=True)]) for r in shown]
        print(f"| {name} | " + " | ".join(f"{100 * (ratio - 1):+.1f} %" for ratio in ratios) + " |")


def main():
    kernels = {m.name: m for m in methods().values() if m.stage == "group" and m.engine == "numpy"}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(kernels), choices=list(kernels), metavar="NAME")
    parser.add_argument("--data", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--k", nargs="+", type=int, default=[3, 5, 10])
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds after which a run is interrupted")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="settings other than the defaults")
    parser.add_argument("--table", action="store_true", help="print a Markdown table at the end")
    args = parser.parse_args()
    given = {name: parse(value) for name, value in (text.split("=", 1) for text in args.set)}
    signal.signal(signal.SIGVTALRM, interrupt)
    warm = standardise(np.random.default_rng(0).normal(size=(40, 3)))
    results = {}
    for name in args.methods:
        run(kernels[name], warm, 3, args.seed, 600, given)
        for data in args.data:
            X = standardise(SETS[data]())
            for k in args.k:
                results[name, data, k] = found = run(kernels[name], X, k, args.seed, args.limit, given)
                emit(method=name, data=data, k=k, **found)
    if args.table:
        table(results, args.methods, args.data, args.k)


def parse(value):
    """Return a setting as a number or truth value where it reads as one."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(value, value)


if __name__ == "__main__":
    main()
