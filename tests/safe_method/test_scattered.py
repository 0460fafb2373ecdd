"""Columns with so many values that no table of them can be kept: what becomes of them, and of the others."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

ORDINARY = ["sex", "ward", "code"]
SCATTERED = ['the "note"', "patient"]
START = "too many values for tables"


def _visits(n: int, seed: int) -> dict[str, tuple[str, list[Any]]]:
    """Return visits: a note for most, about three visits per patient, ten common codes and many rare ones."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(n) < 0.6, rng.integers(0, 10, n), rng.integers(10, 400, n))
    return {
        "sex": ("VARCHAR", [f"s{s}" for s in rng.integers(0, 2, n)]),
        "ward": ("VARCHAR", [f"w{w}" for w in rng.integers(0, 6, n)]),
        "code": ("VARCHAR", [f"c{c}" for c in codes]),
        SCATTERED[0]: ("VARCHAR", [None if i % 9 == 0 else f"note {i}" for i in range(n)]),
        SCATTERED[1]: ("VARCHAR", [f"p{p}" for p in rng.integers(0, n // 3, n)]),
    }


def _release(workbench: Any, table: dict[str, tuple[str, list[Any]]], /, **options: Any) -> Any:
    given = {
        "columns": list(table), "k": 3, "seed": "1", "effort": "fast", "rows_are_persons": True, "nulls": "keep",
        "identifier_ok": [name for name in table if name in SCATTERED], "algorithm": ["kmeans++(clusters=50)"],
    }  # fmt: skip
    return workbench.release("safe", workbench.make(table), **{**given, **options})


def _said(release: Any) -> str:
    found = [note for note in release.report["notes"] if note.startswith(START)]
    return found[0] if found else ""


def _tables(release: Any) -> int:
    chosen = release.report["candidates"][release.report["chosen"] - 1]
    return int(chosen["parts"]["all"]["tables"])


@pytest.mark.slow_but("search")
@pytest.mark.parametrize("method", ["search", "cluster"])
def test_whole_records_occur_k_times_and_the_others_have_the_tables(workbench: Any, method: str) -> None:
    table = _visits(900, 1)
    release = _release(workbench, table, method=method)
    records = release.records(list(table))
    assert len(records) == 900
    assert min(Counter(records).values()) >= 3
    for name in SCATTERED:
        assert set(release.columns[name]) <= set(table[name][1])
    # The distance is that of the tables of the three others, as plain counts have it.
    before = list(zip(*(table[name][1] for name in ORDINARY), strict=True))
    after = release.records(ORDINARY)
    shares = []
    for chosen in [s for size in (1, 2) for s in combinations(range(3), size)]:
        change = Counter(tuple(row[j] for j in chosen) for row in before)
        change.subtract(tuple(row[j] for j in chosen) for row in after)
        shares.append(sum(map(abs, change.values())) / (2 * 900))
    assert release.report["safe_distance"] == pytest.approx(np.mean(shares), rel=1e-9)
    assert _tables(release) == 6
    rare = {name: sum(n for n in Counter(table[name][1]).values() if n < 3) for name in SCATTERED}
    values = {name: len(set(table[name][1])) for name in SCATTERED}
    for name in SCATTERED:
        assert f"{name} ({values[name]:,} values, {rare[name]:,} records with one that fewer than 3 have)" in _said(
            release
        )
    assert "code (" not in _said(release)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["search", "cluster"])
def test_records_with_the_same_value_are_grouped(workbench: Any, method: str) -> None:
    """Six visits of each patient, all in one combination of the others. By chance a third would keep its patient.

    The notes stand before the patients, so that no order of the records brings these together.
    """
    rng = np.random.default_rng(2)
    patient = np.repeat(rng.permutation(200), 6)
    table = {
        "line": ("INTEGER", list(range(1_200))),
        SCATTERED[0]: ("VARCHAR", [f"note {x}" for x in rng.permutation(1_200)]),
        "sex": ("VARCHAR", [f"s{p % 2}" for p in patient]),
        "ward": ("VARCHAR", [f"w{p % 5}" for p in patient]),
        "patient": ("VARCHAR", [f"p{p}" for p in patient]),
    }
    release = _release(workbench, table, method=method, columns=list(table)[1:], keep=["line"])
    assert _said(release).count("values, ") == 2
    own = [table["patient"][1][line] for line in release.columns["line"]]
    kept = np.mean([one == other for one, other in zip(own, release.columns["patient"], strict=True)])
    assert kept > 0.5


@pytest.mark.slow
def test_what_is_named_as_nominal_keeps_its_tables(workbench: Any) -> None:
    table = _visits(900, 3)
    release = _release(workbench, table, method="search", nominal=SCATTERED)
    assert not _said(release)
    assert _tables(release) == 15
    one = _release(workbench, table, method="search", nominal=["PATIENT"])
    assert "note" in _said(one) and "patient" not in _said(one)
    assert _tables(one) == 10
    table["cost"] = ("DOUBLE", np.random.default_rng(3).lognormal(5, 1, 900).tolist())
    by = _release(workbench, table, method="search", means=["cost by patient"])
    assert "note" in _said(by) and "patient" not in _said(by)


@pytest.mark.slow
def test_something_is_left_to_place_records_by(workbench: Any) -> None:
    table = {name: values for name, values in _visits(600, 4).items() if name in SCATTERED}
    release = _release(workbench, table, method="search")
    assert not _said(release)
    assert min(Counter(release.records(SCATTERED)).values()) >= 3


@pytest.mark.slow
def test_few_values_or_common_ones_have_tables(workbench: Any) -> None:
    """150 values of four records each, and 400 of which most records have the commonest five."""
    rng = np.random.default_rng(5)
    common = np.where(rng.random(600) < 0.6, rng.integers(0, 5, 600), rng.integers(5, 400, 600))
    table = {
        "sex": ("VARCHAR", [f"s{s}" for s in rng.integers(0, 2, 600)]),
        "few": ("VARCHAR", [f"v{i % 150}" for i in range(600)]),
        "common": ("VARCHAR", [f"c{c}" for c in common]),
        "patient": ("VARCHAR", [f"p{i % 151}" for i in range(600)]),
    }
    said = _said(_release(workbench, table, method="search"))
    assert "patient (151 values" in said
    assert "few (" not in said and "common" not in said


@pytest.mark.slow
def test_persons_keep_k_in_columns_of_theirs_with_many_values(workbench: Any) -> None:
    """The names of persons are at their level, notes at that of records; no class has fewer than three persons."""
    table = _visits(1_500, 6)
    sex = {patient: f"s{i % 2}" for i, patient in enumerate(dict.fromkeys(table["patient"][1]))}
    table["sex"] = ("VARCHAR", [sex[patient] for patient in table["patient"][1]])
    table["called"] = ("VARCHAR", [f"name of {patient}" for patient in table["patient"][1]])
    table["line"] = ("INTEGER", list(range(1_500)))
    names = ["sex", "ward", "code", SCATTERED[0], "called"]
    release = _release(
        workbench, table, columns=names, keep=["line"], rest="drop", person=["patient"], rows_are_persons=False,
        identifier_ok=[SCATTERED[0], "called"], method="best",
    )  # fmt: skip
    classes: dict[tuple[Any, ...], set[str]] = {}
    for line, record in zip(release.columns["line"], release.records(names), strict=True):
        classes.setdefault(record, set()).add(table["patient"][1][line])
    assert min(map(len, classes.values())) >= 3
    notes = " ".join(release.report["notes"])
    assert "called (" in notes and "persons with one that fewer than 3 have" in notes
    assert 'note" (' in notes


@pytest.mark.slow
def test_a_table_of_visits_with_several_texts_is_released(workbench: Any) -> None:
    """6 000 x 10: it was not done after five minutes."""
    table, rng = _visits(6_000, 7), np.random.default_rng(7)
    for name in ("mail", "reason"):
        table[name] = ("VARCHAR", [f"{name} {x}" for x in rng.integers(0, 4_000, 6_000)])
    table["age"] = ("INTEGER", rng.integers(0, 95, 6_000).tolist())
    table["day"] = ("INTEGER", rng.integers(0, 700, 6_000).tolist())
    table["cost"] = ("DOUBLE", rng.lognormal(5, 1, 6_000).round(2).tolist())
    release = _release(workbench, table, identifier_ok=[*SCATTERED, "mail", "reason"], algorithm=(), method="best")
    assert min(Counter(release.records(list(table))).values()) >= 3
    assert all(f"{name} (" in _said(release) for name in [*SCATTERED, "mail", "reason"])
    assert _tables(release) == 6
