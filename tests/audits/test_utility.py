"""Utility audits and interval disclosure against numpy, scikit-learn, and the figures of sdcMicro on tarragona."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import Audit

MEASURES = (
    "interval-sd", "interval-ranks", "information-loss", "il1s", "means", "variances", "quantiles", "covariances",
    "correlations", "hellinger", "emd", "regression",
)  # fmt: skip
TYPES = {"id": "INTEGER", "x": "DOUBLE", "y": "DOUBLE", "z": "DECIMAL(9,3)", "g": "VARCHAR"}
near = pytest.approx


@pytest.fixture(scope="module")
def rows() -> tuple[list[Any], list[Any]]:
    """Return records and what was made of them: rounded, a category recoded, a value gone, in another order."""
    rng = np.random.default_rng(5)
    x = rng.normal(10, 3, 60).round(4)
    y = (2 * x + rng.normal(0, 1, 60)).round(4)
    z = rng.integers(0, 5, 60).astype(float)
    g = rng.choice(["a", "b", "c"], 60)
    before = [(i, *map(float, (x[i], y[i], z[i])), str(g[i])) for i in range(60)]
    after = [(i, round(a), round(b / 3) * 3.0, c, "b" if d == "c" else d) for i, a, b, c, d in before]
    after[7] = (7, None, *after[7][2:])
    return before, [after[i] for i in rng.permutation(60)]


@pytest.fixture(scope="module")
def found(audit: Audit, rows: tuple[list[Any], list[Any]]) -> dict[str, Any]:
    results = audit(
        {"release": (TYPES, rows[1]), "before": (TYPES, rows[0])}, MEASURES, original="before", match=("id",),
        numeric=("x", "y", "z"), regress="y ~ x + z", sd=0.1, ranks=4,
    )  # fmt: skip
    return {check: result[0] for check, result in results.items()}


def matrices(rows: tuple[list[Any], list[Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers before and after, by id."""
    before, after = (
        np.array([[np.nan if v is None else float(v) for v in row[1:4]] for row in sorted(part)]) for part in rows
    )
    return before, after


def test_moments(found: dict[str, Any], rows: tuple[list[Any], list[Any]]) -> None:
    before, after = matrices(rows)
    sd = before.std(0, ddof=1)
    assert list(found["means"]["by_column"].values()) == near(
        abs(np.nanmean(after, 0) - before.mean(0)) / sd, abs=1e-12
    )
    variances = abs(np.nanvar(after, 0, ddof=1) / before.var(0, ddof=1) - 1)
    assert list(found["variances"]["by_column"].values()) == near(variances, abs=1e-12)
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    apart = abs(np.nanquantile(after, levels, 0) - np.quantile(before, levels, 0)) / sd
    assert list(found["quantiles"]["by_column"].values()) == near(apart.max(0), abs=1e-12)
    for name, i, j in (("x, y", 0, 1), ("x, z", 0, 2), ("y, z", 1, 2)):
        both = ~np.isnan(after[:, i]) & ~np.isnan(after[:, j])
        covariance = abs(np.cov(after[both][:, [i, j]].T)[0, 1] - np.cov(before[:, [i, j]].T)[0, 1]) / (sd[i] * sd[j])
        assert found["covariances"]["by_column"][name] == near(covariance)
        old, new = np.corrcoef(before[:, [i, j]].T)[0, 1], np.corrcoef(after[both][:, [i, j]].T)[0, 1]
        assert found["correlations"]["before_and_after"][name] == near([old, new])
        assert found["correlations"]["by_column"][name] == near(abs(new - old))
    for check in ("means", "variances", "quantiles", "covariances", "correlations"):
        assert found[check]["value"] == max(found[check]["by_column"].values())


def test_losses_by_record(found: dict[str, Any], rows: tuple[list[Any], list[Any]]) -> None:
    before, after = matrices(rows)
    mean, sd = before.mean(0), before.std(0, ddof=1)
    apart = np.where(np.isnan(after), before - mean, after - before) ** 2  # a value that is gone counts as the mean
    losses = 100 * apart.sum(0) / ((before - mean) ** 2).sum(0)
    assert list(found["information-loss"]["by_column"].values()) == near(losses)
    assert found["information-loss"]["value"] == near(losses.mean())
    assert found["information-loss"]["changed"] == {"g": sum(row[4] == "c" for row in rows[0]) / 60}
    steps = abs(after - before) / (np.sqrt(2) * sd)
    assert found["il1s"]["total"] == near(np.nansum(steps))
    assert found["il1s"]["value"] == near(np.nanmean(steps))


def test_interval_disclosure(found: dict[str, Any], rows: tuple[list[Any], list[Any]]) -> None:
    before, after = matrices(rows)
    width = 0.1 * np.nanstd(after, 0, ddof=1)
    within = abs(after - before) <= width
    shares = within.sum(0) / (~np.isnan(after)).sum(0)
    assert list(found["interval-sd"]["by_column"].values()) == near(shares)
    assert found["interval-sd"]["in_all"] == near(within.all(1).mean())
    for j, name in enumerate("xyz"):
        column = before[:, j]

        def rank(value: float, column: np.ndarray = column) -> float:
            return float((column < value).sum() + (column <= value).sum()) / 2

        pairs = [(rank(old), rank(new)) for old, new in zip(column, after[:, j], strict=True) if not np.isnan(new)]
        share = sum(abs(old - new) <= 4 for old, new in pairs) / len(pairs)
        assert found["interval-ranks"]["by_column"][name] == near(share)


def test_distributions(found: dict[str, Any], rows: tuple[list[Any], list[Any]]) -> None:
    from scipy.stats import wasserstein_distance

    before, after = matrices(rows)
    for j, name in enumerate("xyz"):
        new = after[:, j][~np.isnan(after[:, j])]
        expected = wasserstein_distance(before[:, j], new) / before[:, j].std(ddof=1)
        assert found["emd"]["by_column"][name] == near(expected, abs=1e-12)
    shares = [np.array([[row[4] for row in part].count(v) / 60 for v in "abc"]) for part in rows]
    assert found["hellinger"]["value"] == near(np.sqrt(((np.sqrt(shares[0]) - np.sqrt(shares[1])) ** 2).sum() / 2))


def test_regression(found: dict[str, Any], rows: tuple[list[Any], list[Any]]) -> None:
    coefficients = []
    for X in matrices(rows):
        kept = X[~np.isnan(X).any(1)]
        design = np.column_stack([np.ones(len(kept)), kept[:, 0], kept[:, 2]])
        fitted, rss, _, _ = np.linalg.lstsq(design, kept[:, 1], rcond=None)
        variance = rss[0] / (len(kept) - 3) * np.linalg.inv(design.T @ design)
        coefficients.append((fitted, np.sqrt(np.diag(variance))))
    (before, errors), (after, _) = coefficients
    terms = found["regression"]["coefficients"]
    assert [term["before"] for term in terms.values()] == near(before)
    assert [term["after"] for term in terms.values()] == near(after)
    assert [terms[name]["standard_error"] for name in "xz"] == near(errors[1:])
    assert found["regression"]["value"] == near((abs(after - before) / errors)[1:].max())


@pytest.mark.slow
def test_pmse_against_another_program(audit: Audit, rows: tuple[list[Any], list[Any]]) -> None:
    from sklearn.linear_model import LogisticRegression

    before, after = matrices(rows)
    tables = {"release": (TYPES, rows[1]), "before": (TYPES, rows[0])}
    (found,) = audit(tables, ["pmse"], original="before", match=("id",), numeric=("x", "y", "z"))["pmse"]
    X = np.concatenate([before, after])
    missing = np.isnan(X[:, 0])
    X = np.where(np.isnan(X), np.nanmean(X, 0), X)
    X = (X - X.mean(0)) / X.std(0)
    values = np.array([row[4] for part in rows for row in sorted(part)])
    design = np.column_stack([missing, X, X**2, values == "a", values == "c"]).astype(float)
    target = np.repeat([0, 1], 60)
    model = LogisticRegression(C=1 / (1e-6 * 120), tol=1e-10, max_iter=10_000).fit(design, target)
    expected = ((model.predict_proba(design)[:, 1] - 0.5) ** 2).mean()
    assert found["value"] == near(expected, rel=1e-3)
    assert found["coefficients"] == 10
    same = {"release": (TYPES, rows[0]), "before": (TYPES, rows[0])}
    assert audit(same, ["pmse"], original="before", match=("id",))["pmse"][0]["value"] == near(0, abs=1e-12)


def test_the_same_table_loses_nothing(audit: Audit, rows: tuple[list[Any], list[Any]]) -> None:
    tables = {"release": (TYPES, rows[0]), "before": (TYPES, rows[0][::-1])}
    same = audit(tables, (*MEASURES, "safe-distance"), original="before", match=("id",), regress="y ~ x")
    for check, (row,) in same.items():
        nothing = 1.0 if check.startswith("interval") else 0.0
        assert row["value"] == near(nothing, abs=1e-9), check


def test_a_key_that_identifies_nobody_is_refused(audit: Audit, rows: tuple[list[Any], list[Any]]) -> None:
    tables = {"release": (TYPES, rows[1]), "before": (TYPES, rows[0])}
    (row,) = audit(tables, ["information-loss"], original="before", match=("g",))["information-loss"]
    assert (row["value"], row["passed"], row["status"]) == (None, False, "unknown")
    assert "must identify a record" in row["reason"]


@pytest.mark.parametrize("k", [3])
def test_figures_of_sdcmicro(audit: Audit, data_folder: Path, reference_folder: Path, k: int) -> None:
    paths = (data_folder / "tarragona.csv", reference_folder / f"ma_tarragona_onedims_k{k}.csv")
    tables = []
    for path in paths:
        with path.open(encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        types = {"id": "INTEGER", **{f"c{j}": "DOUBLE" for j in range(len(lines[0]))}}
        tables.append((types, [(i, *map(float, line.values())) for i, line in enumerate(lines)]))
    known = json.loads((reference_folder / "drisk_dutility_tarragona.json").read_text())
    (theirs,) = (entry for entry in known if entry["method"] == "onedims" and entry["k"] == k)
    for sd in (0.01, 0.05, 0.1, 0.5):
        given = {"release": tables[1], "before": tables[0]} if sd == 0.01 else {}
        found = audit(given, ["interval-sd", "il1s", "information-loss"], original="before", match=("id",), sd=sd)
        assert found["interval-sd"][0]["in_all"] == near(theirs["dRisk"][f"k_{sd:g}"])
    assert found["il1s"][0]["total"] == near(theirs["IL1s"])
    assert found["information-loss"][0]["value"] == near(theirs["SSE_SST"])


@pytest.mark.parametrize(("before", "after"), [([1, None, 3, 4], [1, 2, 3, 4]), ([1, 2, 3, 4], [1, 2, None, 4])])
def test_values_filled_in_change_as_much_as_values_left_out(audit: Audit, before: list[Any], after: list[Any]) -> None:
    tables = {
        name: ({"a": "INTEGER"}, [(one,) for one in values])
        for name, values in (("release", after), ("before", before))
    }
    (row,) = audit(tables, ["missing-rate"], original="before")["missing-rate"]
    assert row["value"] == 0.25
