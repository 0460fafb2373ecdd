"""Information loss against numpy on the published records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def naive_losses(before: np.ndarray, after: np.ndarray) -> list[float]:
    """Return 100 SSE/SST per column over the records that have a value in both; 0 where nothing varies."""
    losses = []
    for old, new in zip(before.T, after.T, strict=True):
        both = ~np.isnan(old) & ~np.isnan(new)
        present = old[~np.isnan(old)]
        varies = np.ptp(present) > 0
        sst = ((present - present.mean()) ** 2).sum()
        losses.append(float(100 * ((old[both] - new[both]) ** 2).sum() / sst) if varies else 0.0)
    return losses


def _matrix(columns: dict[str, list[Any]], names: list[str]) -> np.ndarray:
    return np.array([[np.nan if v is None else float(v) for v in columns[name]] for name in names]).T


def _compare(workbench: Any, method: str, table: dict[str, tuple[str, Any]], **options: Any) -> dict[str, Any]:
    n = len(next(iter(table.values()))[1])
    db = workbench.make({"number": ("INTEGER", range(n)), **table})
    release = workbench.release(method, db, columns=list(table), keep=["number"], k=3, seed="1", **options)
    names = [name for name, (kind, _) in table.items() if kind != "VARCHAR"]
    original = {name: [table[name][1][i] for i in release.columns["number"]] for name in names}
    expected = naive_losses(_matrix(original, names), _matrix(release.columns, names))
    report: dict[str, Any] = release.report
    for name, loss in zip(names, expected, strict=True):
        assert report["IL_by_column"][name] == pytest.approx(loss, rel=1e-9, abs=1e-12)
    varying = [
        loss
        for name, loss in zip(names, expected, strict=True)
        if len({v for v in original[name] if v is not None}) > 1
    ]
    assert report["IL"] == (pytest.approx(np.mean(varying), rel=1e-9, abs=1e-12) if varying else None)
    return report


@pytest.mark.slow
@pytest.mark.parametrize("method", ["individual-ranking", "single-axis", "split-group", "mdav", "safe"])
def test_loss_equals_numpy(workbench: Any, method: str) -> None:
    rng = np.random.default_rng(1)
    n = 80
    table = {
        "x": ("DOUBLE", rng.normal(1e6, 1, n).tolist()),
        "y": ("DOUBLE", np.exp(rng.normal(5, 2, n)).tolist()),
        "whole": ("BIGINT", rng.integers(0, 1000, n).tolist()),
        "constant": ("DOUBLE", [0.1] * n),
    }
    extra = {"numeric": list(table), "algorithm": ["mdav"]} if method == "safe" else {}
    _compare(workbench, method, table, **extra)


@pytest.mark.parametrize("nulls", ["keep", "suppress", "pattern"])
def test_loss_with_missing_values_equals_numpy(workbench: Any, nulls: str) -> None:
    rng = np.random.default_rng(2)
    x = [None if i % 5 == 0 else float(v) for i, v in enumerate(rng.normal(size=60))]
    _compare(workbench, "individual-ranking", {"x": ("DOUBLE", x), "y": ("DOUBLE", rng.normal(size=60))}, nulls=nulls)


def test_constant_columns_alone_have_no_loss(workbench: Any) -> None:
    report = _compare(workbench, "mdav", {"x": ("DOUBLE", [0.1] * 10), "y": ("DOUBLE", [7.0] * 10)})
    assert report["IL"] is None
    assert report["IL_by_column"] == {"x": 0, "y": 0}


def test_share_of_nominal_values_changed(workbench: Any) -> None:
    rng = np.random.default_rng(3)
    region, sex = (rng.choice(list(values), 50).tolist() for values in ("abcdefgh", "mf"))
    table = {"number": ("INTEGER", range(50)), "region": ("VARCHAR", region), "sex": ("VARCHAR", sex)}
    release = workbench.release(
        "safe", workbench.make(table), columns=["region", "sex"], keep=["number"], k=5, algorithm=["mdav"]
    )
    for name, original in (("region", region), ("sex", sex)):
        changed = sum(
            original[number] != value
            for number, value in zip(release.columns["number"], release.columns[name], strict=True)
        )
        assert release.report["changed_by_column"][name] == pytest.approx(changed / 50)
    assert release.report["changed_by_column"]["region"] > 0
    assert release.report["IL"] is None
