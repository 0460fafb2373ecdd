"""Which tables of many columns are kept: those of related columns, found among many that are not."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from sqlmicro.safe_method.coordinates import Coordinates
from sqlmicro.safe_method.distance import SETS_AT_MOST
from sqlmicro.safe_method.informative import information, informative_sets
from sqlmicro.safe_method.problem import MAX_TABLES, is_nominal, table_sets


def _wide(columns: int, related: list[tuple[int, int]], rows: int = 300) -> np.ndarray:
    """Return columns of five values, drawn apart, but for pairs of which the second is mostly the first."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 5, (rows, columns))
    for first, second in related:
        codes[:, second] = np.where(rng.random(rows) < 0.7, codes[:, first], codes[:, second])
    return codes


RELATED = [(0, 99), (3, 50), (20, 21), (70, 98)]


def test_pairs_of_related_columns_are_found_among_thousands() -> None:
    sets = informative_sets(_wide(100, RELATED), 2, 40)
    assert sets[:100] == [(j,) for j in range(100)]
    assert len(sets) == 140
    assert set(RELATED) <= set(sets[100:])
    assert sets[100:] == sorted(sets[100:])


def test_all_are_kept_where_there_are_no_more() -> None:
    codes = _wide(6, [])
    assert len(informative_sets(codes, 3, 20)) == 6 + 15 + 20
    triples = informative_sets(_wide(12, [(1, 2), (1, 3)]), 3, 70)[12 + 66 :]
    assert len(triples) == 70 and (1, 2, 3) in triples


def test_information_is_what_is_counted_naively() -> None:
    codes = _wide(3, [(0, 2)], rows=40)
    n = len(codes)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        both, one, other = (
            Counter(zip(*(codes[:, c].tolist() for c in columns), strict=True)) for columns in ((i, j), (i,), (j,))
        )
        told = sum(c / n * log(c * n / (one[a,] * other[b,])) for (a, b), c in both.items())
        assert information(codes)[i, j] == pytest.approx(told - 4 * 4 / (2 * n))


def test_the_search_keeps_every_column_and_the_related_pairs() -> None:
    codes, numbers = _wide(100, RELATED), np.zeros((300, 0))
    columns = Coordinates.of(codes, numbers, np.ones(300, dtype=np.int64), 3)
    sets = table_sets(columns)
    assert sets[:100] == [(j,) for j in range(100)]
    assert len(sets) == MAX_TABLES and set(RELATED) <= set(sets)
    wider = Coordinates.of(_wide(300, RELATED), numbers, np.ones(300, dtype=np.int64), 3)
    sets = table_sets(wider)
    assert len([s for s in sets if len(s) == 1 and is_nominal(wider, s)]) == 300
    assert len(sets) == 300 + MAX_TABLES // 2


@pytest.mark.slow
def test_a_wide_table_is_released_and_says_what_was_measured(workbench: Any) -> None:
    """80 columns and 120 records: of 3 160 pairs 500 are measured, and every record has two that are alike."""
    codes = _wide(80, [(0, 40)], rows=120)
    columns = {f"q{j}": ("VARCHAR", [f"v{code}" for code in codes[:, j]]) for j in range(80)}
    given = {"columns": list(columns), "rest": "drop", "k": 3, "method": "search", "effort": "fast"}
    release = workbench.release("safe", workbench.make(columns), **given)
    assert min(Counter(release.records(list(columns))).values()) >= 3
    assert (
        "tables: of 3,160 sets of 2 columns the 500 that tell most of each other are measured"
        in release.report["notes"]
    )
    (one,) = release.report["steps"]
    assert one["safe_distance"]["orders"]["2"]["tables"] == SETS_AT_MOST == 500
