"""Disclosure audits against plain Python on random small tables, for every reading of NULL."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from . import naive
from .conftest import Audit

NULLS = ("own_value", "wildcard", "exclude")
MEASURES = (
    "k-anonymity", "sample-uniques", "l-diversity", "entropy-l-diversity", "recursive-l-diversity", "t-closeness",
    "alpha-k-anonymity", "beta-likeness", "prosecutor-risk", "marketer-risk", "individual-risk", "global-risk",
    "suda", "suda-ihsn", "contribution",
)  # fmt: skip
TYPES = {"a": "INTEGER", "b": "VARCHAR", "c": "BOOLEAN", "s": "VARCHAR", "income": "DOUBLE", "weight": "DOUBLE"}
KEYS = st.tuples(
    st.sampled_from([1, 2, None]), st.sampled_from(["x", "y", "z", None]), st.sampled_from([True, False, None])
)
REST = st.tuples(
    st.sampled_from(["flu", "cold", None]), st.sampled_from([0.0, 1.5, 2.0, 7.0, None]),
    st.sampled_from([1.0, 2.5, 40.0]),
)  # fmt: skip
TABLES = st.lists(st.tuples(KEYS, REST).map(lambda pair: pair[0] + pair[1]), min_size=1, max_size=12)


def expected(rows: list[tuple[Any, ...]], nulls: str, c: float, size: int) -> dict[str, Any]:
    """Return what every audit of a table has to find, from its definition: figures, or a function that gives them."""
    keys, weights = [row[:3] for row in rows], [row[5] for row in rows]
    of, sizes = naive.classes(keys, nulls), naive.sizes(keys, nulls)
    totals = {key: sum(weights[row] for row in matching) for key, matching in of.items()}
    risks = [naive.risk(len(of[key]), totals[key]) for key in keys]
    found: dict[str, Any] = {
        "k-anonymity": {
            "value": min(sizes), "records": len(rows), "classes": len(of), "histogram": naive.histogram(keys, nulls),
            "violating_records": sum(size < 3 for size in sizes),
        },
        "sample-uniques": {"value": sizes.count(1)},
        "prosecutor-risk": {"value": 1 / min(sizes), "average": sum(1 / size for size in sizes) / len(sizes)},
        "marketer-risk": {"value": sum(1 / max(totals[key], len(of[key])) for key in keys) / len(keys)},
        "individual-risk": {"value": max(risks)},
        "global-risk": {"expected": sum(risks), "value": sum(risks) / len(risks)},
    }  # fmt: skip
    if nulls != "wildcard":
        for name, scores in (("suda", naive.suda(keys, size)), ("suda-ihsn", naive.suda_ihsn(keys, size))):
            found[name] = {
                "value": float(max(scores)), "total": float(sum(scores)), "records": sum(score > 0 for score in scores)
            }  # fmt: skip
    for number, column in ((0, 3), (1, 4)):
        everything = [row[column] for row in rows]
        inside = [[everything[row] for row in matching] for matching in of.values()]
        distance = naive.ordered_distance if column == 4 else naive.equal_distance
        found |= {
            ("l-diversity", number): {"value": min(map(naive.distinct, inside))},
            ("entropy-l-diversity", number): {"value": min(map(naive.entropy, inside))},
            ("recursive-l-diversity", number): {"value": min(naive.recursive(part, c) for part in inside)},
            ("alpha-k-anonymity", number): {"value": max(max(Counter(p).values()) / len(p) for p in inside)},
            ("beta-likeness", number): {"value": max(naive.gain(part, everything) for part in inside)},
            ("t-closeness", number): {
                "value": max(distance(part, everything) for part in inside),
                "distance": "ordered" if column == 4 else "equal",
            },
        }
    if nulls != "exclude":  # where records with a missing value are left out, more remain without a column
        left = {name: naive.sizes([key[:i] + key[i + 1 :] for key in keys], nulls) for i, name in enumerate("abc")}
        without = {name: {"k": min(f), "uniques": f.count(1)} for name, f in left.items()}
        found["contribution"] = {"without": without}
    return found


def compare(
    audit: Audit, measures: tuple[str, ...], rows: list[tuple[Any, ...]], nulls: str, c: float, size: int
) -> None:
    """Hold the audits of a table against their definitions."""
    found = audit(
        {"release": (TYPES, rows)}, measures, quasi=("a", "b", "c"), sensitive=("s", "income"), weight="weight",
        nulls=nulls, numeric=("income",), c=c, suda_size=size, min_k=3,
    )  # fmt: skip
    rows = naive.complete(rows) if nulls == "exclude" else rows
    if not rows:
        assert all(row["value"] in (0, None) for results in found.values() for row in results)
        return
    for name, figures in expected(rows, nulls, c, size).items():
        check, number = name if isinstance(name, tuple) else (name, 0)
        for key, value in figures.items() if check in found else ():
            got = found[check][number][key]
            if key == "without":
                got = {column: {k: left[k] for k in ("k", "uniques")} for column, left in got.items()}
            assert got == (pytest.approx(value, abs=1e-12) if isinstance(value, float) else value), (check, number, key)


def examples(number: int) -> Any:
    return settings(max_examples=number, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


RANDOM = {
    "rows": TABLES, "nulls": st.sampled_from(NULLS), "c": st.sampled_from([0.6, 1.0, 2.0]), "size": st.integers(1, 3)
}  # fmt: skip


@pytest.mark.slow
@examples(8)
@given(**RANDOM)
def test_random_tables(audit: Audit, rows: list[tuple[Any, ...]], nulls: str, c: float, size: int) -> None:
    compare(audit, MEASURES, rows, nulls, c, size)


@pytest.mark.slow
@examples(settings.default.max_examples)
@given(measure=st.sampled_from(MEASURES), **RANDOM)
def test_one_audit_of_random_tables(
    audit: Audit, measure: str, rows: list[tuple[Any, ...]], nulls: str, c: float, size: int
) -> None:
    compare(audit, (measure,), rows, nulls, c, size)


POPULATION = {"a": "INTEGER", "b": "VARCHAR"}
SMALL = st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["x", "y", None]))


@examples(10)
@given(rows=st.lists(SMALL, min_size=1, max_size=8), others=st.lists(SMALL, max_size=12), nulls=st.sampled_from(NULLS))
def test_random_populations(audit: Audit, rows: list[Any], others: list[Any], nulls: str) -> None:
    tables = {"release": (POPULATION, rows), "everybody": (POPULATION, rows + others)}
    measures = ("k-map", "delta-presence", "journalist-risk")
    found = audit(tables, measures, quasi=("a", "b"), population="everybody", nulls=nulls)
    everybody = rows + others
    if nulls == "exclude":
        rows, everybody = naive.complete(rows), naive.complete(everybody)
    if not rows:
        assert found["k-map"][0]["status"] == "unknown"
        return
    same = naive.matches if nulls == "wildcard" else lambda left, right: left == right
    members = [sum(same(row, other) for other in everybody) for row in rows]
    assert found["k-map"][0]["value"] == min(members)
    assert found["journalist-risk"][0]["value"] == pytest.approx(1 / min(members))
    if nulls == "wildcard":
        assert found["delta-presence"][0]["status"] == "unknown"
    else:
        shares = [rows.count(other) / everybody.count(other) for other in everybody]
        assert found["delta-presence"][0]["value"] == pytest.approx(max(shares))
        assert found["delta-presence"][0]["least"] == pytest.approx(min(shares))


def test_persons_are_counted_not_records(audit: Audit) -> None:
    types = {"a": "INTEGER", "s": "VARCHAR", "who": "INTEGER"}
    rows = [(1, "u", 7), (1, "u", 7), (1, "v", 8), (2, "u", 7), (2, "u", 7), (2, "v", 7)]
    found = audit(
        {"release": (types, rows)}, ("k-anonymity", "l-diversity"), quasi=("a",), sensitive=("s",), person=("who",)
    )
    assert found["k-anonymity"][0]["histogram"] == {1: 1, 2: 1}
    assert found["l-diversity"][0]["value"] == 1
    records = audit({"release": (types, rows)}, ("k-anonymity",), quasi=("a",))
    assert records["k-anonymity"][0]["value"] == 3
    refused = audit({"release": (types, rows)}, ("k-anonymity",), quasi=("a",), person=("who",), nulls="wildcard")
    assert refused["k-anonymity"][0]["status"] == "unknown"
    assert "persons" in refused["k-anonymity"][0]["reason"]


def test_a_population_may_be_coded_by_another_type(audit: Audit) -> None:
    release = ({"a": "VARCHAR"}, [("1",), ("2",)])
    found = audit({"release": release, "everybody": ({"a": "INTEGER"}, [(1,), (1,), (2,)])}, ("k-map",), quasi=("a",),
                  population="everybody")  # fmt: skip
    assert found["k-map"][0]["value"] == 1
    numbers = ({"a": "DOUBLE"}, [(1.0,), (2.0,)])
    found = audit({"release": numbers, "everybody": ({"a": "INTEGER"}, [(1,), (1,), (2,), (2,)])}, ("k-map",),
                  quasi=("a",), population="everybody")  # fmt: skip
    assert found["k-map"][0]["value"] == 2


def test_what_group_by_would_merge_is_told_apart(audit: Audit) -> None:
    types = {"name": "VARCHAR COLLATE NOCASE", "x": "DOUBLE", "span": "INTERVAL"}
    rows = [("Bob", 0.0, "1 month"), ("BOB", 0.0, "1 month"), ("Bob", -0.0, "1 month"), ("Bob", 0.0, "30 days")] * 2
    for nulls in NULLS:
        found = audit({"release": (types, rows)}, ("k-anonymity",), quasi=("name", "x", "span"), nulls=nulls)
        assert found["k-anonymity"][0]["histogram"] == {2: 4}
