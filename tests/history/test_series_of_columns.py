"""Series of methods that group each column on its own. Random histories are in `test_histories.py`."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import world
from world import ODD, QUOTED, execute
from world import records as released

import sqlmicro
from sqlmicro.errors import AuditFailed, InputError, ParameterError
from sqlmicro.history import columns, remembered
from sqlmicro.history.columns import LARGE, cohort

from .test_series import make

MOST = 48
"""Sums of so many different powers of two are exact, so that a mean says of whom it is."""
GIVEN: dict[str, Any] = {"columns": ["age", ODD], "k": 3, "nulls": "keep", "series": "columns"}


def night(db: str, number: int, method: str = "individual_ranking", **more: Any) -> dict[str, Any]:
    return world.night(method, db, number, **{**GIVEN, **more})


def told(one: dict[str, Any]) -> dict[str, Any]:
    return {row["check"]: row["value"] for row in one["audits"] if row["check"].startswith("series")}


def make_powers(path: Path, people: dict[int, bool]) -> str:
    """Make persons whose values are powers of two; of some, income is missing."""
    incomes = {i: "NULL" if lacks else 2 ** (MOST - 1 - i) for i, lacks in people.items()}
    rows = [f"({i}, {2**i}, {income}, '{'fm'[i % 2]}')" for i, income in incomes.items()]
    execute(str(path), f"CREATE TABLE persons(id INTEGER, age DOUBLE, {QUOTED} DOUBLE, sex VARCHAR)",
            f"INSERT INTO persons VALUES {', '.join(rows)}")  # fmt: skip
    return str(path)


def counts(rows: list[dict[str, Any]], column: str, by: list[str]) -> Counter[tuple[Any, ...]]:
    return Counter((*(row[name] for name in by), row[column]) for row in rows)


def naive(strata: list[int], lacks: list[list[bool]], k: int) -> set[int]:
    """Return the most persons of whom none or k are alike in stratum and in lacking a value, in every column."""
    comes = set(range(len(strata)))
    while True:
        bad = {
            one for one in comes for j in range(len(lacks[0]))
            if sum(strata[other] == strata[one] and lacks[other][j] == lacks[one][j] for other in comes) < k
        }  # fmt: skip
        if not bad:
            return comes
        comes -= bad


@pytest.mark.parametrize("seed", range(50))
def test_a_cohort_is_the_most_persons_that_keep_k(seed: int) -> None:
    draw = random.Random(seed)
    n, k = draw.randrange(1, 40), draw.choice([2, 3, 5])
    strata = [draw.randrange(3) for _ in range(n)]
    lacks = [[draw.random() < 0.2 for _ in range(draw.choice([1]) + 1)] for _ in range(n)]
    found = cohort(np.array(strata), np.array(lacks), np.ones(n, bool), k)
    assert set(np.flatnonzero(found).tolist()) == naive(strata, lacks, k)
    left = ~found
    if left.any():
        assert not cohort(np.array(strata)[left], np.array(lacks)[left], np.ones(left.sum(), bool), k).any()


def test_who_waits_comes_with_enough_others_or_when_patience_ends() -> None:
    one, none = np.zeros((LARGE * 3, 1), bool), np.zeros(LARGE * 3, bool)
    assert cohort(np.zeros(LARGE * 3), one, none, 3).all()
    assert not cohort(np.zeros(LARGE * 3 - 1), one[1:], none[1:], 3).any()
    due = none[:4].copy()
    due[0] = True
    assert cohort(np.array([0, 0, 0, 1]), one[:4], due, 3).tolist() == [True, True, True, False]


@pytest.mark.slow
def test_nobody_changes_who_leaves_leaves_her_row_and_newcomers_wait(tmp_path: Path) -> None:
    db = make(tmp_path / "w.duckdb", 60)
    assert night(db, 1, k=4)["series"]["withheld"] == 1, "only one has no income"
    before = released(db)
    execute(
        db, "INSERT INTO persons SELECT 100 + i, 20 + i, 1000 + i, 'f', NULL FROM range(9) r(i)",
        "DELETE FROM persons WHERE id < 15", "UPDATE persons SET age = 77 WHERE id = 20",
    )  # fmt: skip
    report = night(db, 2, k=4)
    assert [report["series"][name] for name in ("withheld", "empty", "changed", "came")] == [10, 15, 1, 0]
    assert "advice" in report["series"] and "16 of 59 rows are no longer" in report["series"]["advice"]
    assert sorted(released(db), key=repr) == sorted(before, key=repr)
    report = night(db, 9, k=4)
    assert [report["series"][name] for name in ("withheld", "empty", "came", "night")] == [1, 15, 9, 3]
    again = night(db, 9, k=4)
    assert [again["series"][name] for name in ("withheld", "empty", "came", "night")] == [1, 15, 0, 3]
    # Nothing differs from the night before, which is this one.
    assert told(again) == {"series-kept": 0, "series-founders": None, "series-rows": None}
    execute(db, "INSERT INTO persons SELECT 3, 50, 1800, 'f', NULL")
    assert night(db, 10, k=4)["series"]["empty"] == 14, "who comes back has her row again"
    (listed,) = sqlmicro.series(db=db)["series"]
    assert [listed[name] for name in ("persons", "waiting", "rows", "empty")] == [54, 1, 68, 14]


@pytest.mark.slow
def test_an_intruder_who_knows_a_newcomer_finds_her_row_but_no_value_of_hers(tmp_path: Path) -> None:
    """Rows are what the method never promised; values are."""
    db = make(tmp_path / "w.duckdb", 40)
    night(db, 1, columns=["age", "born"])
    before = [counts(released(db), name, []) for name in ("age", "born")]
    new = "SELECT 100 + i, 20 + i, 1, 'f', DATE '1990-01-01' + CAST(i AS INTEGER) FROM range(3) r(i)"
    execute(db, f"INSERT INTO persons {new}")
    report = night(db, 12, columns=["age", "born"], patience=0)
    after = [counts(released(db), name, []) for name in ("age", "born")]
    assert report["series"]["came"] == 3
    assert [list((late - early).values()) for early, late in zip(before, after, strict=True)] == [[3], [3]]
    assert (after[0] - before[0]) == {(21.0,): 3}


@pytest.mark.slow_but("UPDATE sqlmicro.series_measured SET value = '[40, 1]'-series-kept is 1, needed at most 0")
@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ("UPDATE sqlmicro.series_rows SET rows = rows + 1", "series-rows is 1"),
        ("UPDATE sqlmicro.series_columns SET value = '17' WHERE class = 0 AND column_name = 'c1'", "series-kept is"),
        ("UPDATE sqlmicro.series_contents SET published = published + 1 WHERE who = (SELECT min(who) FROM "
         "sqlmicro.series_contents); UPDATE persons SET age = age + 1", "series-kept is 1, needed at most 0"),
        ("UPDATE sqlmicro.series_measured SET value = '[40, 1]'", "series-kept is 1, needed at most 0"),
        ("DELETE FROM sqlmicro.series_records WHERE row = 5", "value frequency"),
    ],
)  # fmt: skip
def test_what_the_audits_find_is_not_published(
    tmp_path: Path, change: str, failed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They do not trust what is remembered, even where nobody is seen to have changed it."""
    monkeypatch.setattr(remembered, "digest", lambda *_: "the same")
    monkeypatch.setattr(remembered, "sealed", lambda *_: "the same")
    db = make(tmp_path / "w.duckdb", 40)
    night(db, 1)
    before = execute(db, "FROM out")
    (staged,) = execute(db, "SELECT min(column_name) FROM sqlmicro.series_columns")[0]
    execute(db, *change.replace("c1", staged[0]).split(";"))
    with pytest.raises(AuditFailed, match=failed):
        night(db, 2, alone_because="nobody cares")
    assert execute(db, "FROM out") == before


@pytest.mark.slow
def test_a_cohort_with_too_few_missing_values_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = make_powers(tmp_path / "w.duckdb", dict.fromkeys(range(20), False))
    night(db, 1)
    before = execute(db, "FROM out")
    execute(db, "INSERT INTO persons SELECT 20 + i, 2 ** (20 + i), NULL, 'f' FROM range(2) r(i)")
    execute(db, "INSERT INTO persons SELECT 30 + i, 2 ** (30 + i), 2 ** i, 'f' FROM range(3) r(i)")
    monkeypatch.setattr(columns, "cohort", lambda strata, *more: np.ones(len(strata), bool))
    with pytest.raises(AuditFailed, match=r"value frequency \(.*\) is 2, needed at least 3"):
        night(db, 9)
    assert execute(db, "FROM out") == before


@pytest.mark.parametrize(
    ("more", "got"),
    [
        ({"moves": True}, "goes with the methods that make classes"),
        ({"sensitive": ["sex"], "min_entropy_l": 1.5}, "keeps k and --min-l over all nights. Got --min-entropy-l"),
        ({"person": ["id"]}, "another row would be in a second one. Got --person with individual-ranking"),
    ],
)
def test_what_goes_with_no_such_series_is_refused(tmp_path: Path, more: dict[str, Any], got: str) -> None:
    with pytest.raises(ParameterError, match=got):
        night(make(tmp_path / "w.duckdb", 20), 1, **more)


def test_newcomers_with_one_sensitive_value_wait_for_another(tmp_path: Path) -> None:
    """Worked by hand, k = 3 and l = 2: three with one value wait; a fourth with another comes with them."""
    db = make_powers(tmp_path / "w.duckdb", dict.fromkeys(range(12), False))
    given = {"columns": ["age"], "sensitive": ["sex"], "min_l": 2}
    assert night(db, 1, **given)["series"]["withheld"] == 0
    execute(db, "INSERT INTO persons SELECT 20 + i, 5000 + i, 1, 'f' FROM range(3) r(i)")
    assert night(db, 2, **given)["series"]["withheld"] == 3
    assert night(db, 12, **given)["series"]["withheld"] == 3, "whoever has waited long enough, too"
    execute(db, "INSERT INTO persons VALUES (30, 5003, 1, 'm')", "UPDATE persons SET sex = 'x' WHERE id IN (0, 2)")
    assert night(db, 13, **given)["series"]["withheld"] == 0
    classes = execute(db, "SELECT age, count(DISTINCT sex), count(*) FROM out GROUP BY age")[0]
    assert min(several for _, several, _ in classes) == 2 and (5001.5, 2, 4) in classes
    assert execute(db, "SELECT count(*) FROM out WHERE sex = 'x'") == [[(0,)]], "a row stays as it was published"


def test_a_kept_column_stays_with_its_row(tmp_path: Path) -> None:
    db = make(tmp_path / "w.duckdb", 40)
    given = {"columns": ["age"], "keep": ["sex", ODD], "accept_unique": ["sex", ODD]}
    night(db, 1, **given)
    before = Counter(map(repr, released(db)))
    execute(
        db, f"UPDATE persons SET sex = 'z', {QUOTED} = -1.25 WHERE id % 2 = 0", "DELETE FROM persons WHERE id IN (1, 3)"
    )
    execute(db, "INSERT INTO persons SELECT 100 + i, 30 + i, 0.1, NULL, NULL FROM range(4) r(i)")
    night(db, 2, **given)
    report = night(db, 12, **given)
    after = Counter(map(repr, released(db)))
    assert not before - after and (after - before).total() == 4 == report["series"]["came"]
    assert told(report)["series-kept"] == 0 and told(report)["series-founders"] == 4
    new = [row for row in released(db) if row[ODD] == 0.1]
    assert [row["sex"] for row in new] == [None] * 4 and {row["age"] for row in new} == {32}


def test_who_lacks_a_value_waits_for_k_who_do_with_patterns_as_without(tmp_path: Path) -> None:
    """Nothing is taken out of a column that is grouped by itself: rows as with --nulls keep."""
    shown = []
    for nulls in ("keep", "pattern"):
        db = make_powers(tmp_path / f"{nulls}.duckdb", {i: i < 2 for i in range(12)})
        assert night(db, 1, nulls=nulls)["series"]["withheld"] == 2
        execute(db, "INSERT INTO persons SELECT 20 + i, 5 + i, NULL, 'f' FROM range(3) r(i)")
        assert night(db, 9, nulls=nulls)["series"]["withheld"] == 0
        shown.append(sorted(map(repr, released(db))))
    assert shown[0] == shown[1] and len(shown[0]) == 15


def test_first_nights_of_fewer_than_k_are_refused_as_ever(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least k = 3"):
        night(make(tmp_path / "w.duckdb", 2), 1)


@pytest.mark.slow
def test_strata_stay_with_their_row(tmp_path: Path) -> None:
    db = make(tmp_path / "w.duckdb", 60)
    night(db, 1, by=["sex"], columns=["age"])
    execute(db, "UPDATE persons SET sex = 'm', age = age + 1", "DELETE FROM persons WHERE id % 2 = 0")
    before = sorted(map(repr, released(db)))
    report = night(db, 2, by=["sex"], columns=["age"], max_loss_of_rows=0.5)
    assert sorted(map(repr, released(db))) == before
    assert (report["series"]["changed"], report["series"]["empty"]) == (30, 30)


@pytest.mark.slow
def test_who_is_erased_leaves_a_row_of_nobody(tmp_path: Path) -> None:
    db = make(tmp_path / "w.duckdb", 40)
    tables = ("series_seats", "series_contents")
    known = [f"SELECT count(DISTINCT who) FROM sqlmicro.{table}" for table in tables]
    execute(db, f"UPDATE persons SET {QUOTED} = id")
    night(db, 1)
    execute(db, "DELETE FROM persons WHERE id IN (7, 39)")
    night(db, 2)
    before = sorted(map(repr, released(db)))
    assert execute(db, *known) == [[(40,)], [(40,)]]
    for one in ("7", "39"):
        sqlmicro.series("forget", "columns", db=db, row_key_value=[one])
    assert execute(db, *known) == [[(38,)], [(38,)]]
    assert night(db, 3)["series"]["empty"] == 2
    assert sorted(map(repr, released(db))) == before
