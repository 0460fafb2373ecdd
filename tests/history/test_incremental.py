"""A night that reads only what has changed is the night that reads everything."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import world
from world import execute

import sqlmicro
from sqlmicro.database import unfinished
from sqlmicro.database.columns import Column
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.history import compared, remembered, seats, written

K = 3


def make(db: Path, rows: int = 300) -> Path:
    """Make a table of persons, with the day each row was written, and an empty list of changes."""
    execute(
        db,
        "SELECT setseed(0.5)",
        f'CREATE TABLE persons AS SELECT i AS id, random() AS age, 100 * random() AS "net ""income""", -i AS updated '
        f"FROM range({rows}) r(i)",
        "CREATE TABLE changes (id BIGINT, kind VARCHAR)",
    )
    return db


def night(db: Path, day: int, method: str = "mdav", **more: Any) -> Any:
    told = {"columns": ["age", 'net "income"'], "k": K, "max_loss_of_rows": 1.0, **more}
    return world.night(method, db, day, **told)


def changed(db: Path, rng: np.random.Generator, day: int, share: float = 0.05) -> None:
    """Delete some persons, change some, and let some come; tell of it in the list of changes."""
    ids = [one for (one,) in execute(db, "SELECT id FROM persons ORDER BY id")[0]]
    many = max(1, int(share * len(ids)))
    left, other = np.split(rng.choice(ids, 2 * many, replace=False), 2)
    new = max(ids) + 1 + np.arange(many)
    listed = ", ".join(f"({one}, 'x')" for one in (*left, *other, *new))
    execute(db, f"DELETE FROM persons WHERE id IN ({', '.join(map(str, left))})",
            f"UPDATE persons SET age = age + 1, updated = {day} WHERE id IN ({', '.join(map(str, other))})",
            *(f"INSERT INTO persons VALUES ({one}, {rng.random()}, {100 * rng.random()}, {day})" for one in new),
            "DELETE FROM changes", f"INSERT INTO changes VALUES {listed}")  # fmt: skip


WAYS: list[dict[str, Any]] = [{}, {"watermark": "updated"}, {"changes_from": "changes"}]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdav", "individual_ranking"])
@pytest.mark.parametrize("way", WAYS, ids=["content", "watermark", "changes"])
def test_what_is_read_makes_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, way: dict[str, Any]
) -> None:
    """Six nights, one of them missed, one twice: rows, order and seats are those of nights that read all rows."""
    made = {}
    for every in (False, True):
        db, rng = make(tmp_path / f"{every}.duckdb"), np.random.default_rng(7)
        monkeypatch.setattr(compared, "_MOST", -1.0 if every else 0.5)
        monkeypatch.setattr(compared, "_by_changes", (lambda *_: None) if every else _BY_CHANGES)
        told = []
        for day in (1, 2, 3, 3, 9, 10):
            if len(told) not in (0, 3):
                changed(db, rng, day)
            report = night(db, day, method, **way)
            seen = [one for one in report["notes"] if one.startswith("rows that were read")]
            assert bool(seen) == (not every and day > 1)
            told.append([execute(db, "FROM out"), report["series"], report["rows_in"], report["rows"]])
        people = execute(db, "SELECT who, arg_max(seat, release), arg_max(here, release), arg_max(since, release), "
                         "arg_max(changed, release) FROM sqlmicro.series_seats GROUP BY who ORDER BY who")  # fmt: skip
        made[every] = (told, people)
    assert made[True][0] == made[False][0]
    assert set(made[True][1][0]) == set(made[False][1][0])


_BY_CHANGES = compared._by_changes


@pytest.mark.parametrize("seed", range(12))
def test_seats_are_the_same_where_only_those_are_given_who_came_left_or_wait(seed: int) -> None:
    """The engine, 10 nights: of persons who sit and stay, the number in each class is enough."""
    rng = np.random.default_rng(seed)
    who, X, rules = np.arange(120), rng.normal(size=(120, 2)), seats.Rules(K, patience=int(rng.integers(0, 4)))
    first, _ = seats.begin(who, X, np.arange(120) // K, 0, rules)
    whole = first
    for day in range(1, 11):
        stay = rng.random(len(who)) > 0.06
        come = int(rng.integers(0, 12))
        who = np.r_[who[stay], 1000 * day + np.arange(come), rng.choice(40, 1)]
        who, at = np.unique(who, return_index=True)
        X = np.r_[X[stay], rng.normal(size=(come + 1, 2))][at]
        sits = np.isin(whole.who, who) & whole.here & (whole.seat >= 0) & (rng.random(len(whole.who)) < 0.9)
        taken = np.bincount(whole.seat[sits], minlength=len(whole.rows))
        names = ("who", "seat", "here", "since", "founded", "person")
        part = seats.replace(whole, **{name: getattr(whole, name)[~sits] for name in names})
        given = ~np.isin(who, whole.who[sits])
        some, night_of_some = seats.go_on(part, who[given], X[given], day, rules, taken=taken)
        every, night_of_all = seats.go_on(whole, who, X, day, rules)
        assert night_of_some.labels.tolist() == night_of_all.labels[given].tolist()
        assert night_of_some.empty.tolist() == night_of_all.empty.tolist()
        left = ~np.isin(every.who, whole.who[sits])
        for name in names:
            assert getattr(some, name).tolist() == getattr(every, name)[left].tolist()
        whole = every


@pytest.mark.slow_but("changes-mdav")
@pytest.mark.parametrize("method", ["mdav", "individual_ranking"])
@pytest.mark.parametrize("way", WAYS[1:], ids=["watermark", "changes"])
def test_a_feed_that_lies_breaks_no_promise(tmp_path: Path, method: str, way: dict[str, Any]) -> None:
    """It tells of nothing; who came and who left is seen by the keys, and no combination changes by 1 to k - 1 rows."""
    db = make(tmp_path / "w.duckdb", 60)
    night(db, 1, method, **way)
    before = Counter(execute(db, "FROM out")[0])
    for day in (2, 12):
        changed(db, np.random.default_rng(day), day)
        execute(db, "UPDATE persons SET updated = 0", "DELETE FROM changes")
        report = night(db, day, method, **way)
        now = Counter(execute(db, "FROM out")[0])
        if method == "mdav":
            assert all(abs(now[row] - before[row]) in (0, *range(K, 99)) for row in {**now, **before})
        assert report["series"]["empty"] + report["rows_in"] - report["series"]["withheld"] == report["rows"]
        before = now


@pytest.mark.slow
def test_a_list_that_is_another_one_whenever_it_is_read_takes_nobody_for_somebody_else(tmp_path: Path) -> None:
    """A view of one key by chance: nothing has changed, so everybody keeps her seat."""
    db = make(tmp_path / "w.duckdb", 60)
    execute(db, "CREATE VIEW one AS SELECT CAST(floor(60 * random()) AS BIGINT) AS id")
    night(db, 1, changes_from="one")
    for day in (2, 3):
        report = night(db, day, changes_from="one")
        assert any("rows that were read: 1 of 60" in note for note in report["notes"])
        assert (report["series"]["empty"], report["series"]["withheld"], report["rows"]) == (0, 0, 60)


@pytest.mark.slow
def test_another_way_to_compare_reads_everything_once(tmp_path: Path) -> None:
    db = make(tmp_path / "w.duckdb", 60)
    night(db, 1)
    for day, way in ((2, WAYS[1]), (3, WAYS[2]), (4, {})):
        changed(db, np.random.default_rng(day), day)
        notes = night(db, day, **way)["notes"]
        assert any("rows that were read" in note for note in notes) == (day == 3), "a list of changes knows keys too"
    execute(db, "UPDATE persons SET updated = updated - 1")
    night(db, 5, **WAYS[1])
    execute(db, "UPDATE persons SET updated = updated - 1")
    assert not any("rows that were read" in note for note in night(db, 6, **WAYS[1])["notes"]), "it went back"


@pytest.mark.slow
@pytest.mark.parametrize("latest", ["9999-12-31", "infinity", "2026-01-01"])
def test_a_watermark_in_the_future_hides_no_change(tmp_path: Path, latest: str) -> None:
    """A day that stands for "for ever" is later than any change to come."""
    db = make(tmp_path / "w.duckdb", 60)
    execute(
        db, "ALTER TABLE persons DROP updated", "ALTER TABLE persons ADD updated TIMESTAMP",
        "UPDATE persons SET updated = '2025-12-31'", f"UPDATE persons SET updated = '{latest}' WHERE id = 5",
    )  # fmt: skip
    night(db, 1, "individual_ranking", watermark="updated")
    execute(db, "UPDATE persons SET age = age + 1, updated = '2026-01-02' WHERE id = 7")
    assert night(db, 2, "individual_ranking", watermark="updated")["series"]["changed"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=["content", "watermark", "changes"])
def test_a_key_that_is_there_twice_or_missing_is_refused(tmp_path: Path, way: dict[str, Any]) -> None:
    db = make(tmp_path / "w.duckdb", 60)
    night(db, 1, **way)
    before = execute(db, "FROM out")
    for more in ("SELECT * FROM persons WHERE id = 5", "SELECT * REPLACE (7 AS age) FROM persons WHERE id = 5",
                 "SELECT * REPLACE (NULL AS id) FROM persons WHERE id = 5"):  # fmt: skip
        execute(db, "CREATE OR REPLACE TABLE kept AS FROM persons", f"INSERT INTO persons {more}")
        with pytest.raises(InputError, match=r"--row-key.*must have a value in every record"):
            night(db, 2, **way)
        execute(db, "DELETE FROM persons", "INSERT INTO persons FROM kept")
    assert execute(db, "FROM out") == before


@pytest.mark.parametrize(
    ("more", "got"),
    [
        ({"watermark": "updated", "changes_from": "changes"}, "does not go with --changes-from"),
        ({"watermark": "nope"}, "nope"),
        ({"changes_from": "others"}, "has the columns of the row key, in their types: id. Got id VARCHAR"),
    ],
)
def test_what_cannot_tell_of_changes_is_refused(tmp_path: Path, more: dict[str, Any], got: str) -> None:
    db = make(tmp_path / "w.duckdb", 20)
    execute(db, "CREATE TABLE others (id VARCHAR)")
    with pytest.raises((ParameterError, InputError), match=got):
        night(db, 1, **more)


@pytest.mark.parametrize("way", ["watermark", "changes_from"])
def test_what_tells_of_changes_goes_with_a_series(tmp_path: Path, way: str) -> None:
    db = make(tmp_path / "w.duckdb", 20)
    with pytest.raises(ParameterError, match="goes with a series"):
        sqlmicro.mdav(db=str(db), table="persons", into="out", columns=["age"], rest="drop", k=K, **{way: "age"})
    with pytest.raises(ParameterError, match="goes with the methods that group persons"):
        night(db, 1, "noise", k=None, **{way: "updated" if way == "watermark" else "changes"})


@pytest.mark.slow_but("individual_ranking")
@pytest.mark.parametrize("method", ["mdav", "individual_ranking"])
def test_the_first_night_loses_what_a_release_by_itself_loses(tmp_path: Path, method: str) -> None:
    """Though its rows are in the order of their seats."""
    db = make(tmp_path / "w.duckdb")
    lost = [night(db, 1, method)["IL"]]
    told = {"columns": ["age", 'net "income"'], "k": K, "row_key": ["id"], "rest": "drop", "alone_because": "a test"}
    lost.append(getattr(sqlmicro, method)(db=str(db), table="persons", into="alone", **told)["IL"])
    assert lost[0] == pytest.approx(lost[1], abs=0.01) and 0 < lost[0] < 20


@pytest.mark.slow
def test_a_night_that_is_taken_back_leaves_the_one_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a night removed was of no use to the one before it; of its own rows nothing may be left."""
    db, rng = make(tmp_path / "w.duckdb", 120), np.random.default_rng(3)
    for day in (1, 2, 3, 4):
        changed(db, rng, day)
        night(db, day)
    made = Counter(execute(db, "FROM out")[0])
    monkeypatch.setattr(unfinished, "end", lambda *_: None)  # no files were placed
    with open_warehouse(str(db)) as warehouse, warehouse.transaction():
        unfinished.take_back(warehouse, "none", [4])
    assert not sqlmicro.series(db=str(db))["series"][0]["changed"]
    night(db, 4)
    assert Counter(execute(db, "FROM out")[0]) == made


@pytest.mark.slow
def test_what_somebody_changes_while_a_night_runs_is_seen_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums are not taken anew of what is there already."""
    db, rng = make(tmp_path / "w.duckdb", 120), np.random.default_rng(3)
    night(db, 1)
    changed(db, rng, 2)
    honest = written.store

    def changed_meanwhile(warehouse: Any, table: Any, *more: Any) -> None:
        text = "UPDATE {{ t | ident }} SET seat = seat + 1 WHERE seat = 3"
        warehouse.insert("test", text, [], t=table(remembered.SEATS))
        honest(warehouse, table, *more)

    with monkeypatch.context() as patched:
        patched.setattr(written, "store", changed_meanwhile)
        night(db, 2)
    with pytest.raises(InputError, match="must be as it was written"):
        night(db, 3)


@pytest.mark.parametrize(
    ("old", "new", "goes_on"),
    [("2020-01-01", "2020-01-02", True), ("2020-01-02", "2020-01-01", False), ("2999-01-01", "2999-01-02", False)],
)
def test_a_mark_that_is_in_the_future_or_falls_tells_of_no_change(old: str, new: str, goes_on: bool) -> None:
    told = [{"way": compared.KEYS, "column": "day", "mark": mark} for mark in (old, new)]
    with open_warehouse(None) as warehouse:
        feed = compared.Feed(watermark=Column("day", "DATE", "day"))
        assert feed.goes_on(warehouse, *told) is goes_on  # type: ignore[arg-type]
