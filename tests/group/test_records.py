"""Records as vectors: mixed scales, importance and blocks of columns, against naive Python."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from world import refused

from sqlmicro import SqlmicroError
from sqlmicro.group import records
from sqlmicro.group.records import run_kernel
from sqlmicro.options.params import split_blocks
from sqlmicro.registry import find, silent

GRADES = ("low", "mid", "high")
ENUM = "ENUM('low', 'mid', 'high')"


def _groups(release: Any, names: list[str]) -> Counter[tuple[Any, ...]]:
    return Counter(release.records(names))


def _standard(values: list[float]) -> np.ndarray:
    array = np.array(values, dtype=float)
    return (array - array.mean()) / array.std(ddof=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_mixed_records_are_grouped_as_on_naive_vectors(workbench, seed: int) -> None:
    draw = random.Random(seed)
    n, k, towns = 40, 3, ["a", "b", "c"]
    table = {
        "age": ("DOUBLE", [draw.random() * 90 for _ in range(n)]),
        "grade": (ENUM, [draw.choice(GRADES) for _ in range(n)]),
        "town": ("VARCHAR", [draw.choice(towns) for _ in range(n)]),
        "id": ("INTEGER", list(range(n))),
    }
    age, grade, town = (list(table[name][1]) for name in ("age", "grade", "town"))
    X = np.column_stack([
        _standard(age),
        2.0 * _standard([GRADES.index(value) for value in grade]),
        *([0.5**0.5 * 3.0 * (value == one) for value in town] for one in towns),
    ])  # fmt: skip
    labels = find("mdav").group(X, np.random.default_rng(0), silent, k=k).labels
    expected = {}
    for group in range(labels.max() + 1):
        members = np.flatnonzero(labels == group)
        middle = sorted(GRADES.index(grade[i]) for i in members)[(len(members) - 1) // 2]
        counts = Counter(town[i] for i in members)
        mode = min(value for value in counts if counts[value] == max(counts.values()))
        for i in members:
            expected[int(i)] = (pytest.approx(np.mean([age[j] for j in members])), GRADES[middle], mode)
    release = workbench.release(
        "mdav", workbench.make(table), columns=["age", "grade", "town"], keep=["id"], k=k,
        importance=["grade=2", "town=3"],
    )  # fmt: skip
    found = dict(zip(release.columns["id"], release.records(["age", "grade", "town"]), strict=True))
    assert found == expected


def test_a_mismatch_counts_like_one_standard_deviation(workbench) -> None:
    # Two towns of three records. Along x they lie 0 1 2 and 0 1 2; sd is 0.89. The groups are the towns as long as a
    # mismatch weighs more than what lies between neighbours along x, and neighbours otherwise.
    table = {"x": ("DOUBLE", [0, 1, 2, 0, 1, 2]), "town": ("VARCHAR", ["a", "a", "a", "b", "b", "b"])}
    together = workbench.release("mdav", workbench.make(table), columns=["x", "town"], k=3, importance=["town=9"])
    assert _groups(together, ["x", "town"]) == {(1.0, "a"): 3, (1.0, "b"): 3}
    apart = workbench.release("mdav", workbench.make(table), columns=["x", "town"], k=2, importance=["town=0.1"])
    assert _groups(apart, ["x"]) == {(0.0,): 2, (1.0,): 2, (2.0,): 2}


def test_ordinal_numbers_and_dates_are_released_as_values_that_occur(workbench) -> None:
    days = [datetime.date(2020, 1, day) for day in (1, 2, 30, 1, 2, 3)]
    table = {"level": ("INTEGER", [1, 2, 9, 1, 2, 9]), "day": ("DATE", days)}
    release = workbench.release("mdav", workbench.make(table), columns=["level", "day"], ordinal=["level"], k=6)
    assert set(release.records(["level", "day"])) == {(2, datetime.date(2020, 1, 7))}
    assert all(type(value) is int for value in release.columns["level"])
    median = workbench.release(
        "mdav", workbench.make(table), columns=["level", "day"], ordinal=["day"], nominal=["level"], k=6
    )
    assert set(median.records(["level", "day"])) == {(1, datetime.date(2020, 1, 2))}


def test_missing_values_are_a_value_of_their_own(workbench) -> None:
    table = {
        "grade": (ENUM, ["low", "low", "high", None, None, None]),
        "town": ("VARCHAR", [None, None, None, "b", "b", "b"]),
    }
    release = workbench.release(
        "mdav", workbench.make(table), columns=["grade", "town"], k=3, nulls="keep", identifier_ok=["grade"]
    )
    assert _groups(release, ["grade", "town"]) == {("low", None): 3, (None, "b"): 3}


@pytest.mark.slow
def test_blocks_are_k_anonymous_alone_and_never_called_so_as_a_whole(workbench) -> None:
    draw = random.Random(3)
    names = ["a", "b", "c;d", "e"]
    table = {name: ("DOUBLE", [draw.random() for _ in range(60)]) for name in names}
    db = workbench.make(table)
    release = workbench.release("mdav", db, columns=names, k=4, block_attributes='a,e;b,"c;d"')
    for block in (["a", "e"], ["b", "c;d"]):
        assert min(_groups(release, block).values()) == 4
    assert min(_groups(release, names).values()) < 4
    assert release.report["promise"] == ["block"]
    assert any("not k-anonymous" in note for note in release.report["notes"])
    audits = [check for check in release.report["audits"] if check["check"] == "k-anonymity"]
    thresholds = {frozenset(check["columns"]): check["threshold"] for check in audits}
    assert thresholds == {frozenset(names): None, frozenset({"a", "e"}): 4, frozenset({"b", "c;d"}): 4}
    alone = workbench.release("mdav", db, columns=["a", "e"], drop=["b", "c;d"], k=4)
    assert _groups(release, ["a", "e"]) == _groups(alone, ["a", "e"])


def test_blocks_are_split_outside_quotes() -> None:
    assert split_blocks('a;"b;c",d;e') == ["a", '"b;c",d', "e"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block_attributes": "x"}, "every column is in one block"),
        ({"block_attributes": "x;town;x"}, "named twice"),
        ({"block_attributes": "x;;town"}, "an empty block"),
        ({"block_attributes": "x;nowhere"}, "no column 'nowhere'"),
        ({"importance": ["town"]}, "COLUMN=WEIGHT"),
        ({"importance": ["town=much"]}, "COLUMN=WEIGHT"),
        ({"importance": ["town=-1"]}, "COLUMN=WEIGHT"),
        ({"importance": ["town=nan"]}, "COLUMN=WEIGHT"),
        ({"importance": ["town=1", "town=2"]}, "named twice"),
        ({"ordinal": ["town"], "nominal": ["town"]}, "either ordinal or nominal"),
        ({"ordinal": ["kept"]}, "no column 'kept'"),
    ],
)
def test_what_does_not_fit_is_refused(workbench, options: dict[str, Any], message: str) -> None:
    db = workbench.make(
        {"x": ("DOUBLE", [1, 2, 3]), "town": ("VARCHAR", ["a", "b", "c"]), "kept": ("INTEGER", [1] * 3)}
    )
    with refused(message, db):
        workbench.release("mdav", db, columns=["x", "town"], keep=["kept"], k=3, identifier_ok=["town"], **options)


def test_too_many_values_of_nominal_columns_are_refused_with_the_figure(workbench, monkeypatch) -> None:
    monkeypatch.setattr("sqlmicro.missing.vectors._MOST_NUMBERS", 80)
    table = {"town": ("VARCHAR", [str(i) for i in range(9)])}
    with pytest.raises(SqlmicroError, match=r"at most 80\. Got 9 times 9, most of them in town"):
        workbench.release("mdav", workbench.make(table), columns=["town"], k=3, identifier_ok=["town"])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdav", "kanonymeans", "microaggregate"])
def test_strata_that_are_read_in_parts_are_grouped_as_at_once(workbench, monkeypatch, method: str) -> None:
    draw = random.Random(3)
    n, lands = 120, ["a", "b", None, "d"]
    table = workbench.make({
        "id": ("INTEGER", list(range(n))),
        "age": ("DOUBLE", [draw.choice([None, 1e9 + draw.random()]) for _ in range(n)]),
        'net "income"': ("INTEGER", [draw.randrange(1000) for _ in range(n)]),
        "grade": (ENUM, [draw.choice([*GRADES, None]) for _ in range(n)]),
        "town": ("VARCHAR", [draw.choice(["x", "y", None, "z"]) for _ in range(n)]),
        "land": ("VARCHAR", [lands[i % 4] for i in range(n)]),
        "sex": ("INTEGER", [draw.randrange(2) for _ in range(n)]),
    })  # fmt: skip
    given: dict[str, Any] = {
        "columns": ["age", 'net "income"', "grade", "town"], "by": ["land", "sex"], "keep": ["id"], "k": 3,
        "nulls": "keep", "importance": ["town=2"], **({"quality": "fast"} if method == "microaggregate" else {}),
    }  # fmt: skip
    blocks = {**given, "block_attributes": 'age,grade;town,"net ""income"""'}
    for options in (given, blocks):
        whole = workbench.release(method, table, **options)
        with monkeypatch.context() as patched:
            patched.setattr("sqlmicro.missing.vectors._AT_ONCE", 200)
            kernel = Mock(wraps=run_kernel)
            patched.setattr(records, "run_kernel", kernel)
            parts = workbench.release(method, table, **options)
        firsts = {call.args[-1] for call in kernel.call_args_list}
        assert firsts == {0, 1, 3, 5, 7}, "one or two strata at a time"
        names = ["id", *given["columns"], "land", "sex"]
        assert sorted(parts.records(names), key=repr) == sorted(whole.records(names), key=repr)
        assert parts.report["groups"] == whole.report["groups"]
        notes = [[note for note in one.report["notes"] if "together with" not in note] for one in (whole, parts)]
        assert notes[0] == notes[1]
