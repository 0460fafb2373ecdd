"""The linkage attack beside a plain strong attacker, on the noise and the swapping of three tables.

    python tests/bench/linkage.py [--data FOLDER] [--sets census tarragona eia] [--seeds 3] [--plain] [--exact]

The plain attacker takes the squared Mahalanobis distance of normal scores, or of values where these link more, with the
covariance of the noise that the method documents, or that of the columns, and then the single best assignment
(scipy.optimize.linear_sum_assignment). It is told the truth to take the best of these; ours is not. One JSON line
a release: `nearest` is the nearest record by standardised distance, `plain` that attacker (with --plain; a minute for
EIA), `linkage` what `sqlmicro attack --attack linkage` says, with its interval, and CPU seconds.
With --exact the noise has the covariance of the columns itself. Ours is rounded, so that it stays the same from release
to release, and has no direction with little noise: it is linked less often.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from _measure import Measure, emit
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtri
from scipy.stats import rankdata

import sqlmicro as sm
from sqlmicro.attacks import linkage
from sqlmicro.mask import noise
from sqlmicro.missing.standardise import steady

DATA = os.environ.get("SQLMICRO_DATA") or Path(__file__).resolve().parents[2].parent / "shared" / "data"
RELEASES = (
    ("noise", {"amount": 0.1}), ("noise", {"amount": 0.5}), ("noise", {"amount": 0.5, "kind": "linear"}),
    ("noise", {"amount": 0.5, "kind": "nonlinear"}), ("noise", {"amount": 0.5, "kind": "uncorrelated"}),
    ("swap", {"percent": 20}),
)  # fmt: skip


def scores(X):
    """Return normal scores of every column."""
    return ndtri((np.apply_along_axis(rankdata, 0, X) - 0.5) / len(X))


def assigned(X, Y, covariance):
    """Return the share that the best assignment by Mahalanobis distance gets right; row i became row i."""
    values, vectors = np.linalg.eigh(covariance)
    whiten = vectors / np.sqrt(np.maximum(values, 1e-9 * values.max()))
    A, B = X @ whiten, Y @ whiten
    order = np.random.default_rng(1).permutation(len(Y))
    cost = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1)[order] - 2 * A @ B[order].T
    return float((order[linear_sum_assignment(cost)[1]] == np.arange(len(X))).mean())


def plain(X, Y, settings):
    """Return what the plain attacker gets, told which of its measures is the best."""
    a = settings.get("amount", 1.0)
    grown = np.sqrt(1 + a * a) if settings.get("kind") == "linear" else 1.0
    undone = (Y - Y.mean(axis=0)) * grown + Y.mean(axis=0)
    sides = [(scores(X), scores(Y)), (X, undone)]
    measures = [(x, y, S) for x, y in sides for S in (np.cov(x.T), steady(np.cov(x.T)), np.diag(x.var(axis=0)))]
    return max(assigned(*one) for one in measures)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(DATA))
    parser.add_argument("--sets", nargs="+", default=["census", "tarragona", "eia"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=["noise", "swap"])
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--exact", action="store_true")
    given = parser.parse_args()
    if given.exact:
        noise.steady = linkage.steady = lambda covariance: covariance
    with sm.open() as session:
        for name in given.sets:
            table = pa.csv.read_csv(given.data / f"{name}.csv")
            columns = table.column_names
            table = table.append_column("id", pa.array(range(table.num_rows)))
            X = np.stack([table[column].to_numpy().astype(float) for column in columns], axis=1)
            for method, settings in (one for one in RELEASES if one[0] in given.methods):
                for seed in range(given.seeds):
                    release = getattr(session, method)(
                        table, columns=columns, keep="id", accept_unique="id", seed=f"linkage {seed}", **settings
                    )
                    with release:
                        after = release.arrow().sort_by("id")
                    with Measure() as measure:
                        (row,) = session.attack(
                            original=table, release=[after], match="id", columns=columns, attack="linkage"
                        )["attacks"]
                    Y = np.stack([after[column].to_numpy().astype(float) for column in columns], axis=1)
                    found = {"plain": plain(X, Y, settings)} if given.plain else {}
                    emit(
                        bench="linkage", set=name, rows=table.num_rows, method=method, **settings, seed=seed,
                        nearest=row["rates"]["nearest"], **found, linkage=row["rate"],
                        ci=[round(end, 3) for end in row["ci"]], strongest=row["strongest"], cpu=measure.cpu,
                    )  # fmt: skip


if __name__ == "__main__":
    main()
