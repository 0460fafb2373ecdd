"""The audit of the means of subgroups against a plain count, and its gate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from safe_method.naive import naive_shifts

from sqlmicro import ParameterError

from .conftest import Audit

TYPES = {"g": "VARCHAR", 'the "h", by h': "VARCHAR", 'net "x"': "DOUBLE", "d": "DATE"}
SETTINGS: dict[str, Any] = {"original": "before", "numeric": ('net "x"', "d"), "nominal": ("g", 'the "h", by h')}


def _rows(seed: int, n: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(seed)
    g, h, x = rng.choice(["a", "b", "c"], n), rng.choice([None, "u", "v"], n), rng.normal(0, 1, n) + 1e6
    days = np.datetime64("2020-01-01") + rng.integers(0, 700, n)
    return [
        (str(a), b, None if i % 17 == 0 else float(c), d.astype(object))
        for i, (a, b, c, d) in enumerate(zip(g, h, x, days, strict=True))
    ]


def _found(audit: Audit, before: list[Any], after: list[Any], **given: Any) -> dict[str, Any]:
    tables = {"release": (TYPES, after), "before": (TYPES, before)}
    return audit(tables, ("subgroup-means",), **{**SETTINGS, **given})["subgroup-means"][0]


def _numbers(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(a, b, c, d.toordinal()) for a, b, c, d in rows]


def test_shifts_are_those_of_a_plain_count(audit: Audit) -> None:
    before = _rows(1, 400)
    rng = np.random.default_rng(2)
    after = [(a, b, c and c + rng.normal(0.2, 0.1), d) for a, b, c, d in before if (a, b) != ("c", "u")]
    found = _found(audit, before, after)
    shifts = {
        f'{name} by g, the "h", by h': naive_shifts(_numbers(before), _numbers(after), j, (0, 1))
        for j, name in ((2, 'net "x"'), (3, "d"))
    }
    every = [s for some in shifts.values() for s in some]
    assert found["value"] == pytest.approx(np.mean(np.array(every) > 1))
    assert found["means"]["gone"] == 2
    assert 0.1 < found["value"] < 1
    for name, some in shifts.items():
        told = found["tables"][name]
        assert told["subgroups"] == len(some) > 6
        assert told["shifted"] == sum(s > 1 for s in some)
        assert told["largest"] == pytest.approx(max((s for s in some if s < np.inf), default=0), rel=1e-6, abs=1e-9)


def test_the_gate_holds_the_share_of_named_means(audit: Audit) -> None:
    before = _rows(3, 400)
    after = [(a, b, c and c + (0.3 if a == "a" else 0), d) for a, b, c, d in before]
    text = 'net "x" by g'
    for limit, passed in ((0.34, True), (0.33, False)):
        found = _found(audit, before, after, means=(text,), max_means_shifted=limit)
        assert found["value"] == pytest.approx(1 / 3)
        assert found["passed"] is passed
    assert _found(audit, before, before)["value"] == 0


def test_where_nothing_varies_or_all_is_small_it_says_so(audit: Audit) -> None:
    rows = [("a", "u", 5.0, np.datetime64("2020-01-01").astype(object))] * 50
    for before in (rows, _rows(4, 60)):
        found = _found(audit, before, before, means=('net "x" by g, "the ""h"", by h"',), max_means_shifted=0.1)
        assert (found["value"], found["passed"]) == (None, False)
    with pytest.raises(ParameterError, match=r"audit, --means: the means must be of a numeric column. Got g"):
        _found(audit, rows, rows, means=("g by d",))
