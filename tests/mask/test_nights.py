"""Series of recodings: the situations of a job. Random histories are in `tests/history/test_histories.py`."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from databases import insert, opened

import sqlmicro
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask.nights import _enough

ODD = 'net "income"'
FIRST = datetime.date(2026, 1, 1)
K = 4
Rows = dict[int, tuple[Any, ...]]


def _execute(db: str, *statements: str) -> Any:
    with opened(db) as connection:
        return [connection.execute(statement).fetchall() for statement in statements][-1]


def _put(db: str, rows: Rows) -> None:
    with opened(db) as connection:
        connection.execute(
            "CREATE OR REPLACE TABLE persons "
            '(id INTEGER, "net ""income""" INTEGER, town VARCHAR, sex VARCHAR, ill VARCHAR)'
        )
        insert(connection, "persons", [(i, *row) for i, row in rows.items()])


def _night(db: str, method: str, number: int, settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    return getattr(sqlmicro, method)(
        "persons", **{"db": db, "night": str(FIRST + datetime.timedelta(number)), "rest": "drop", "row_key": ["id"],
                      "into": "out", "overwrite": True, "series": "nightly", **settings, **more},
    )  # fmt: skip


def _few(db: str) -> Rows:
    rows: Rows = {i: (i % 2 * 10, "Ulm", "f", "x") for i in range(12)}
    _put(db, rows)
    return rows


GIVEN: dict[str, Any] = {"columns": [ODD, "town"], "width": [f"{ODD}=10"], "prefix": ["town=3"], "until_k": K}


@pytest.mark.slow
def test_newcomers_wait_for_k_alike_or_an_empty_seat_and_fewer_than_k_unknown_ones_wait(tmp_path: Path) -> None:
    db = str(tmp_path / "w.db")
    given = {"columns": [ODD, "town"], "k": K}
    rows = _few(db)
    assert _night(db, "mondrian", 0, given)["rows"] == 12
    before = Counter(_execute(db, "FROM out"))
    assert before == {("0", "Ulm"): 6, ("10", "Ulm"): 6}
    rows |= {21: (0, "Ulm", "f", "x"), **{30 + i: (55, "Ulm", "f", "x") for i in range(2)}}
    _put(db, rows)
    report = _night(db, "mondrian", 1, given)
    assert (report["series"]["withheld"], report["suppressed"]) == (3, 3), "two are in no box"
    assert Counter(_execute(db, "FROM out")) == before
    del rows[1]  # of 10: number 21 does not take her seat
    _put(db, rows)
    report = _night(db, "mondrian", 2, given)
    assert (report["series"]["withheld"], report["series"]["empty"]) == (3, 1)
    rows[20] = (10, "Ulm", "f", "x")  # but number 20 does
    _put(db, rows)
    report = _night(db, "mondrian", 3, given)
    assert (report["series"]["withheld"], report["series"]["empty"]) == (3, 0)
    assert Counter(_execute(db, "FROM out")) == before
    rows |= {40 + i: (0, "Ulm", "f", "x") for i in range(K - 1)}
    _put(db, rows)
    assert _night(db, "mondrian", 4, given)["series"]["withheld"] == 2
    before += Counter({("0", "Ulm"): K})
    assert Counter(_execute(db, "FROM out")) == before
    rows |= {50 + i: (60, "Ulm", "f", "x") for i in range(K - 2)}
    _put(db, rows)
    assert _night(db, "mondrian", 5, given)["series"]["withheld"] == 0, "K wait, more than a share of so few"
    assert Counter(_execute(db, "FROM out")) == before + Counter({("[55, 60]", "Ulm"): K})


@pytest.mark.slow
def test_who_is_left_over_waits_until_patience_ends_for_k_where_she_is_one_of_many(tmp_path: Path) -> None:
    db, given = str(tmp_path / "w.db"), {**GIVEN, "suppress_up_to": 0.5}
    rows: Rows = {i: (i % 2 * 10, "Ulm", "f", "x") for i in range(400)}
    _put(db, rows)
    _night(db, "generalize", 0, given)
    rows |= {500 + i: (100 + 10 * i, "Ulm", "f", "x") for i in range(K)}
    rows[600] = (100, "Kiel", "f", "x")
    _put(db, rows)
    withheld = [_night(db, "generalize", day, given)["series"]["withheld"] for day in (1, 7, 8)]
    assert withheld == [K + 1, K + 1, 1], "up to half of those left over may be left over again"
    new = Counter(_execute(db, "FROM out")) - Counter({("[0, 10)", "Ulm"): 200, ("[10, 20)", "Ulm"): 200})
    assert new == {("*", "Ulm"): K}


@pytest.mark.slow_but("True")
@pytest.mark.parametrize("moves", [False, True])
def test_who_has_changed_stays_as_she_was_published_or_moves(tmp_path: Path, moves: bool) -> None:
    db = str(tmp_path / "w.db")
    rows = _few(db)
    _night(db, "generalize", 0, GIVEN, moves=moves)
    before = Counter(_execute(db, "FROM out"))
    rows[0] = (15, "Ulm", "f", "x")  # from [0, 10) to [10, 20)
    rows[2] = (3, "Ulm", "f", "x")  # in [0, 10) as before
    _put(db, rows)
    report = _night(db, "generalize", 1, GIVEN, moves=moves)
    after = Counter(_execute(db, "FROM out"))
    if moves:
        assert report["series"]["withheld"] >= 1
        assert min(after.values()) >= K
        assert all(after[row] == before[row] or abs(after[row] - before[row]) >= K for row in {*before, *after})
    else:
        assert after == before
        assert (report["series"]["withheld"], report["series"]["empty"]) == (0, 0)


@pytest.mark.slow
def test_the_same_night_again_and_an_epoch(tmp_path: Path) -> None:
    db = str(tmp_path / "w.db")
    rows = _few(db)
    _night(db, "generalize", 0, GIVEN)
    first = Counter(_execute(db, "FROM out"))
    rows |= {50 + i: (100 + 10 * i, "Kiel", "f", "x") for i in range(K - 1)}
    _put(db, rows)
    for _ in range(2):
        assert _night(db, "generalize", 1, GIVEN)["series"]["withheld"] == K - 1
        assert Counter(_execute(db, "FROM out")) == first
    _night(db, "generalize", 2, GIVEN, epoch=True, until_k=K - 1, suppress_up_to=0.5)
    report = _night(db, "generalize", 3, GIVEN, epoch=True)
    assert (report["series"]["epoch"], report["series"]["withheld"]) == (3, 0)
    assert sum(_execute(db, "SELECT count(*) FROM out")[0]) == len(rows)


@pytest.mark.parametrize(
    ("method", "settings", "error", "message"),
    [
        ("generalize", {"width": [f"{ODD}=10"], "columns": [ODD]}, ParameterError, "without --until-k"),
        ("mondrian", {"columns": [ODD], "relaxed": True}, ParameterError, "relaxed"),
        ("suppress", {"columns": [ODD], "subsets": 1}, ParameterError, "subsets"),
        ("suppress", {"columns": [ODD], "nulls_match": "wildcard"}, ParameterError, "nulls_match"),
        ("suppress", {"columns": [ODD], "moves": True}, ParameterError, "moves"),
        ("top-code", {"columns": [ODD], "quantile": 0.5}, ParameterError, "depend on nobody else's"),
        ("noise", {"columns": [ODD], "where_risk": "> 0.2"}, ParameterError, "the risks of records"),
    ],
)
def test_what_is_no_series_is_refused(
    tmp_path: Path, method: str, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    db = str(tmp_path / "w.db")
    _few(db)
    with pytest.raises(error, match=message):
        _night(db, method.replace("-", "_"), 0, settings)
    with pytest.raises(duckdb.CatalogException):
        _execute(db, "FROM out")


@pytest.mark.slow
def test_a_hierarchy_that_has_changed_is_refused(tmp_path: Path) -> None:
    db, tree = str(tmp_path / "w.db"), tmp_path / "town.csv"
    tree.write_text("Ulm,south,*\nAu,south,*\nKiel,north,*\n")
    rows: Rows = {i: (1, ["Ulm", "Au"][i % 2], "f", "x") for i in range(K + 2)}
    _put(db, rows)
    given = {"columns": ["town"], "hierarchy": [f"town={tree}"], "until_k": K}
    _night(db, "generalize", 0, given)
    rows[90] = (1, "Rom", "f", "x")
    _put(db, rows)
    assert _night(db, "generalize", 1, given)["series"]["withheld"] == 1, "Rom is not in it, and nothing is guessed"
    tree.write_text("Ulm,south,*\nAu,south,*\nKiel,north,*\nRom,south,*\n")
    with pytest.raises(InputError, match="the hierarchy that the recoding was made with"):
        _night(db, "generalize", 2, given)


def test_of_a_stratum_k_are_recoded_anew_or_none() -> None:
    strata, left = np.array([7, 7, 7, 8, 8, 8]), np.array([True, True, False, True, True, True])
    assert _enough(strata, left, 3).tolist() == [False] * 3 + [True] * 3
