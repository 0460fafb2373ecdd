"""What SAFE says of its release in three lines, its warnings, and whether the advice in them helps."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from databases import opened

pytest.importorskip("numba")

COLUMNS = ["sex", "region", "kind", "income"]


def _table(workbench: Any, n: int = 240) -> str:
    rng = random.Random(4)
    table = {
        "sex": ("VARCHAR", [rng.choice("fm") for _ in range(n)]),
        "region": ("VARCHAR", [rng.choice("abcdefghijkl") for _ in range(n)]),
        "kind": ("VARCHAR", [rng.choice("xyz") for _ in range(n)]),
        "income": ("INTEGER", [rng.choice(range(1_000, 1_140)) ** 2 // 100 for _ in range(n)]),
        "weight": ("INTEGER", [rng.choice((1, 2)) for _ in range(n)]),
    }
    return str(workbench.make(table))


def _release(workbench: Any, db: str, **options: Any) -> Any:
    settings = {"columns": COLUMNS, "numeric": ["income"], "k": 3, "seed": "1", "effort": "fast", "rest": "drop"}
    return workbench.release("safe", db, **settings | options)


def _kept(original: list[int], release: Any) -> float:
    (released,) = zip(*release.records(["income"]), strict=True)
    return float(np.std(released) / np.std(original))


def _original(db: str, workbench: Any) -> list[int]:
    with opened(db, read_only=True) as connection:
        return [income for (income,) in connection.execute("SELECT income FROM records").fetchall()]


def test_three_lines_say_what_a_release_is_worth(workbench: Any) -> None:
    """The figures are those of the written file; a list of candidates is shown where there are several."""
    db = _table(workbench)
    release = _release(workbench, db)
    said = release.report["safe_parts"]["summary"]
    kept = _kept(_original(db, workbench), release)
    assert said["numbers"].startswith(f"income keeps {100 * kept:.1f} % of its standard deviation; ")
    assert "means of subgroups are off by more than a standard error" in said["numbers"]
    largest = [release.report["safe_parts"]["orders"][order]["count_max"] for order in "12"]
    assert said["tables"] == "a count by 1 column is off by at most {:g} records, by 2 by {:g}".format(*largest)
    assert "near k may stand for an original" in said["not_told"]
    assert [one["algorithm"] for one in release.report["candidates"]] == ["search"]
    assert not [note for note in release.report["notes"] if "standard" in note or "may stand for" in note]


def test_an_algorithm_that_is_named_is_tried_beside_the_search(workbench: Any) -> None:
    report = _release(workbench, _table(workbench), algorithm=["mdav(columns=both)"]).report
    assert [one["algorithm"].partition("(")[0] for one in report["candidates"]] == ["mdav", "search"]


@pytest.mark.slow
def test_a_column_that_loses_its_spread_is_warned_of_and_the_advice_helps(workbench: Any) -> None:
    """Less than three quarters of the deviation: what the warning names keeps more, and is followed word by word."""
    db = _table(workbench)
    original = _original(db, workbench)
    poor = _release(workbench, db, deal="none", numeric_values="means")
    (warning,) = [note for note in poor.report["notes"] if "of its standard deviation" in note]
    kept = f"income keeps {100 * _kept(original, poor):.0f} % of its standard deviation"
    assert warning == f"warning: {kept}. --deal anew keeps more"
    assert _kept(original, poor) < 0.75
    better = _release(workbench, db, deal="anew", numeric_values="means")
    assert _kept(original, better) > 0.95


@pytest.mark.slow
def test_with_weights_the_advice_is_the_same_and_helps(workbench: Any) -> None:
    db = _table(workbench)
    original, weights = _original(db, workbench), {"weights": "weight", "keep": ["weight"], "seed": "2"}
    poor = _release(workbench, db, numeric_values="means", deal="none", **weights)
    (warning,) = [note for note in poor.report["notes"] if "of its standard deviation" in note]
    assert warning.endswith("of its standard deviation. --deal anew keeps more")
    assert _kept(original, _release(workbench, db, **weights)) > max(0.9, _kept(original, poor))


@pytest.mark.slow
def test_numbers_alone_are_grouped_with_least_loss(workbench: Any) -> None:
    """SAFE has nothing to place there: what microaggregate finds is released, and nothing is lost beside it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    db = workbench.make({f"x{j}": ("DOUBLE", column.tolist()) for j, column in enumerate(x.T)})
    columns = ["x0", "x1", "x2"]
    found = workbench.release("safe", db, columns=columns, k=3, seed="1")
    other = workbench.release("microaggregate", db, columns=columns, k=3, seed="1")
    (one,) = found.report["candidates"]
    assert one["algorithm"].startswith("microaggregate")
    assert found.report["IL"] <= 1.03 * other.report["IL"]
