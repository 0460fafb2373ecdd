"""Groups that keep guarantees: loss and CPU seconds, over some seeds, for the tables of the published comparison.

    python tests/bench/guarantees.py [census nominal persons scale] [--seeds 3] [--effort fast balanced]

One JSON line per request and effort: IL = 100·SSE/SST of the quasi-identifiers on standardised columns, and CPU seconds
of the search from the groups of MDAV (one thread, compiled before), as median, least and greatest over the seeds; the
groups and their least, median and largest size for the last seed. `bound` is a lower bound of IL where there is one.
Soria-Comas et al. (2015), IEEE TKDE 27(11), reach 41.4, 61.2 and 67.4 on census FEDTAX with the best of their three
algorithms. Made tables: 5 000 persons with a nominal column of eight values that depends on three numbers; 58 394
visits of 15 000 patients, whose rows spread around each patient; 100 000 records of four columns. CENSUS is read from
SQLMICRO_DATA, or from ../shared/data beside the repository.
"""

import argparse
import os
import statistics
from pathlib import Path

import numpy as np
from _measure import Measure, emit

from sqlmicro.group.guaranteed import keep
from sqlmicro.group.mdav import mdav_labels
from sqlmicro.guarantees.bounds import least_loss
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.guarantees.state import missing
from sqlmicro.missing.standardise import standardise
from sqlmicro.options.guarantees import GuaranteeOptions
from sqlmicro.registry import silent

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SQLMICRO_DATA") or ROOT.parent / "shared" / "data")


def sensitive(values, ordered, **limits):
    codes = np.unique(values, return_inverse=True)[1]
    return Sensitive(
        "sensitive", codes, np.bincount(codes) / len(codes), ordered, limits=GuaranteeOptions(values=limits).demand
    )


def information_loss(X, labels):
    sizes = np.bincount(labels)
    within = sum(((column - (np.bincount(labels, column) / sizes)[labels]) ** 2).sum() for column in X.T)
    return 100 * within / sum(((column - column.mean()) ** 2).sum() for column in X.T)


def census(columns=("FEDTAX", "FICA")):
    table = np.genfromtxt(DATA / "census.csv", delimiter=",", names=True)
    for name in columns:
        X = standardise(np.array([table[other] for other in table.dtype.names if other != name]).T)
        for t in (0.25, 0.15, 0.05):
            one = sensitive(table[name], True, max_t=t)
            yield f"census {name}, t = {t}", X, Rules(5, None, (one,)), least_loss(X, one.codes, t)


def nominal(n=5000):
    rng = np.random.default_rng(1)
    age = rng.integers(18, 91, n)
    income = np.round(np.exp(7.6 + 0.5 * rng.normal(size=n) + 0.012 * np.minimum(age - 18, 40)), -1)
    free = rng.random(n) < 0.4
    debt = np.exp(8 + 0.8 * rng.normal(size=n) + 0.3 * np.log(income / 3000))
    debt = np.round(np.where(free, 0, debt), -1)
    a, b = (age - 54) / 21, np.log(income) - np.log(income).mean()
    tilts = [0.9 * a - 0.5, -0.9 * a + 0.2 * b, 1.2 * b + 0.1, -1.2 * b + 0.1, 1.5 * a - 1.4, -1.5 * a - 1.2]
    scores = np.array([np.full(n, 2.35), *(2.2 * tilt for tilt in [*tilts, 0.7 * a * b - 0.6])]).T
    values = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    X = standardise(np.array([age, income, debt], dtype=float).T)
    requests = {
        "l = 3": {"min_l": 3},
        "l = 3, t = 0.3": {"min_l": 3, "max_t": 0.3},
        "l = 3, t = 0.2": {"min_l": 3, "max_t": 0.2},
    }
    requests |= {"l = 3, t = 0.1": {"min_l": 3, "max_t": 0.1}, "t = 0.2, beta = 1": {"max_t": 0.2, "max_beta": 1.0}}
    for name, rules in requests.items():
        yield f"5 000 persons, {name}", X, Rules(5, None, (sensitive(values, False, **rules),)), None


def persons(patients=15_000):
    rng = np.random.default_rng(3)
    many = np.minimum(12, 1 + rng.negative_binomial(1.2, 0.285, patients))
    person = np.repeat(np.arange(patients), many)
    for spread in (0.3, 0.1):
        X = rng.normal(size=(patients, 4))[person] + spread * rng.normal(size=(len(person), 4))
        yield f"{len(person)} visits, spread {spread}, 5 patients", standardise(X), Rules(5, person), None


def scale(n=100_000):
    rng = np.random.default_rng(5)
    X = standardise(rng.normal(size=(n, 4)))
    scores = np.array([np.full(n, 1.2), *(sign * X[:, j] for j in range(4) for sign in (1, -1))][:8]).T
    values = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    amount = np.round(1000 * np.exp(0.7 * X[:, 0] + 0.3 * X[:, 1] + 0.6 * rng.normal(size=n)))
    yield f"{n} records, l = 3, t = 0.3", X, Rules(5, None, (sensitive(values, False, min_l=3, max_t=0.3),)), None
    yield f"{n} records, t = 0.15 of amounts", X, Rules(5, None, (sensitive(amount, True, max_t=0.15),)), None


TABLES = {"census": census, "nominal": nominal, "persons": persons, "scale": scale}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=list(TABLES), help=f"any of {', '.join(TABLES)}")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--effort", nargs="+", default=["fast", "balanced"])
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    warm = Rules(
        3, np.arange(60) // 2, tuple(sensitive(rng.integers(0, 4, 60), kind, max_t=0.2) for kind in (False, True))
    )
    keep(rng.normal(size=(60, 2)), np.arange(60), warm, rng, silent, effort="balanced")
    for table in given.tables:
        for request, X, rules, least in TABLES[table]():
            start = mdav_labels(X, rules.k)
            for effort in given.effort:
                lost, cpu = [], []
                for seed in range(given.seeds):
                    with Measure() as m:
                        labels = keep(X, start, rules, np.random.default_rng(seed), silent, effort=effort)
                    assert not missing(labels, rules).any()
                    lost.append(information_loss(X, labels))
                    cpu.append(m.cpu)
                sizes = np.bincount(labels)
                figures = [int(sizes.min()), float(np.median(sizes)), int(sizes.max())]
                emit(
                    bench="guarantees", request=request, effort=effort, bound=least,
                    IL=statistics.median(lost), IL_least=min(lost), IL_most=max(lost),
                    cpu=statistics.median(cpu), cpu_most=max(cpu), groups=len(sizes), sizes=figures,
                )  # fmt: skip


if __name__ == "__main__":
    main()
