"""Retention: rows that come of age are anonymized in their table, night after night.

The outsider here is plain Python over copies of the table before and after every night: it knows no class, no memory.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import combinations
from math import isclose
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from databases import opened
from world import release, rows

import sqlmicro
from sqlmicro.history.anonymized import seated

from . import outsider
from .outsider import BITS

MANY = int(os.environ.get("HISTORIES", "0"))
K = 3
NIGHTS = 10
START = date(2025, 1, 1)
INSERT = "INSERT INTO patients VALUES (?, ?, ?, ?, ?, ?, ?)"
JOB: dict[str, Any] = {
    "columns": ["age", "income"], "keep": ["note", "last_visit"], "accept_unique": ["note", "last_visit"],
    "drop": ["name", "whose"], "rest": "drop", "row_key": ["id"], "k": K, "in_place": True, "series": "retention",
    "only_where": "last_visit < current_date - INTERVAL 30 DAY", "max_loss_of_rows": 1.0, "no_purge": True,
}  # fmt: skip


class Row(NamedTuple):
    """A row of the table."""

    age: float | None
    income: float | None
    name: str | None
    note: str
    last_visit: date
    whose: int | None


Table = dict[int, Row]


def night(db: Path, number: int, **given: Any) -> dict[str, Any]:
    """Run the night, counted from 1, and return its report."""
    day = str(START + timedelta(number - 1))
    return release("mdav", db, "patients", night=day, into=None, **{**JOB, **given})


def copied(db: Path) -> Table:
    found = rows(db, "SELECT id, age, income, name, note, last_visit, whose FROM patients")
    assert len({row[0] for row in found}) == len(found)
    return {row[0]: Row(*row[1:]) for row in found}


def is_due(row: Row, day: date) -> bool:
    return row.last_visit < day - timedelta(30)


@dataclass
class World:
    """A table that others write to between nights."""

    db: Path
    draw: random.Random
    given: dict[str, Any] = field(default_factory=dict)
    anonymized: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """What nights wrote into rows, by their key, as far as an outsider sees it."""
    ever: set[int] = field(default_factory=set)
    own: dict[int, Any] = field(default_factory=dict)
    """The class that a row had last, by its key."""
    founders: list[frozenset[int]] = field(default_factory=list)
    born: int = 0

    def new(self, day: date, ago: int) -> tuple[Any, ...]:
        self.born += 1
        number = self.born
        return (number, float(self.draw.randrange(18, 95)), 2.0 ** (number % BITS), f"n{number}", "x",
                day - timedelta(self.draw.randrange(ago)), number // 3)  # fmt: skip

    def begin(self, persons: int) -> None:
        with opened(self.db) as con:
            con.execute("CREATE TABLE patients (id BIGINT PRIMARY KEY, age DOUBLE, income DOUBLE, name VARCHAR, "
                        "note VARCHAR, last_visit DATE, whose BIGINT)")  # fmt: skip
            con.executemany(INSERT, [self.new(START, 90) for _ in range(persons)])

    def others_write(self, day: date) -> None:
        """Come, leave, and write into rows, whatever became of them."""
        draw = self.draw
        with opened(self.db) as con:
            con.executemany(INSERT, [self.new(day, 90) for _ in range(draw.randrange(2, 7))])
            keys = [key for (key,) in con.execute("SELECT id FROM patients ORDER BY id").fetchall()]
            held = sorted(set(self.anonymized) & set(keys))
            con.executemany("DELETE FROM patients WHERE id = ?", [(key,) for key in draw.sample(keys, 3)])
            for key in draw.sample(held, min(6, len(held))):
                one = draw.choice((
                    "age = 50, income = 512, name = 'back', last_visit = $day", "age = 50.5, name = 'back'",
                    "income = 1024", "name = 'again'", "whose = 3", "note = 'y'", "last_visit = $day",
                ))  # fmt: skip
                con.execute(f"UPDATE patients SET {one} WHERE id = $key",
                            {"key": key, "day": day} if "$day" in one else {"key": key})  # fmt: skip

    def one_night(self, number: int) -> None:
        """Run a night, and hold what the table holds to what is promised."""
        day = START + timedelta(number - 1)
        if number > 1:
            self.others_write(day)
        before = copied(self.db)
        report = night(self.db, number, **self.given)
        after = copied(self.db)
        assert set(after) == set(before)
        held = {key for key, (age, income) in self.anonymized.items()
                if key in before and before[key][:2] == (age, income)}  # fmt: skip
        due = {key for key, row in before.items() if key not in held and row[:2] != (None, None) and is_due(row, day)}
        self._others_stay(before, after, held, due)
        came = {key for key in due if after[key] != before[key] and after[key][:2] != (None, None)}
        emptied = {key for key in due | held if after[key][:2] == (None, None) and before[key][:2] != (None, None)}
        waits = due - came - emptied
        told = report["series"]
        assert len(waits) == told["withheld"]
        bare = {key for key, row in after.items() if row[:2] == (None, None)}
        assert len(bare) == (told["emptied"] or 0)
        now = (held | came) - emptied
        assert report["rows"] == len(now)
        assert told["raw"] == len(set(after) - now - waits - bare)
        self._classes(before, after, now, came, held)
        self.anonymized = {key: after[key][:2] for key in now}
        self.ever |= came
        self.own |= self.anonymized

    def _others_stay(self, before: Table, after: Table, held: set[int], due: set[int]) -> None:
        for key, row in before.items():
            now = after[key]
            assert (now.note, now.last_visit) == (row.note, row.last_visit), "what is kept is never written"
            if key not in held | due and row[:2] != (None, None):
                assert now == row, "a row that has not come of age stays as it is"
            if key in held:
                assert (now.name, now.whose) == (None, None)
            if key in due and now != row:
                assert (now.name, now.whose) == (None, None)

    def _classes(self, before: Table, after: Table, now: set[int], came: set[int], held: set[int]) -> None:
        rows: dict[Any, set[int]] = defaultdict(set)
        for key in now:
            rows[after[key][:2]].add(key)
        assert all(len(keys) >= K for keys in rows.values()), "k is kept, counted in the table alone"
        kept = set(self.own.values())
        joins = self.given.get("waiting") == "join"
        for values, keys in rows.items():
            new = keys & came
            if values in kept:
                back = {key for key in new if self.own.get(key) == values}
                assert joins or new == back, "nobody comes to a class of an earlier night but who was in it"
                continue
            assert len(new) >= K, "k rows or more come to a class at once"
            fresh = {key for key in new if key not in self.ever}
            sums = ((one, sum(before[key].income or 0 for key in one)) for n in range(K, len(fresh) + 1)
                    for one in combinations(sorted(fresh), n))  # fmt: skip
            found = [one for one, total in sums if isclose(total / len(one), values[1], rel_tol=1e-12)]
            assert found, "a mean is that of k rows or more, none of which had a seat before"
            self.founders.append(frozenset(found[0]))
        for key in held & now:  # who moves is what is left of a class of which fewer than k rows are left
            if self.anonymized[key] != after[key][:2]:
                was = self.anonymized[key]
                left = {key for key in held if self.anonymized[key] == was}
                assert len({key // 3 for key in left} if "person" in self.given else left) < K
                assert was not in rows


def history(folder: Path, seed: int, nights: int = NIGHTS, **given: Any) -> World:
    folder.mkdir(exist_ok=True)
    world = World(folder / "w.duckdb", random.Random(seed), given)
    world.begin(40)
    for number in range(1, nights + 1):
        world.one_night(number)
    return world


@pytest.mark.slow_but("3")
@pytest.mark.parametrize("nights", [3, NIGHTS], ids=str)
def test_nights_keep_k_in_a_table_that_others_write_to(tmp_path: Path, nights: int) -> None:
    world = history(tmp_path / "keep", 1, nights=nights, patience=2 if nights > 3 else 0)
    assert nights == 3 or len(world.founders) > 6
    everybody = [key for one in world.founders for key in one]
    assert len(everybody) == len(set(everybody)), "nobody founds two classes, so that no means cancel each other"


@pytest.mark.slow
def test_no_combination_of_means_is_about_fewer_than_k_persons(tmp_path: Path) -> None:
    """Persons have three rows each. HISTORIES=100 runs a hundred."""
    for seed in range(MANY or 3):
        own: dict[str, Any] = {"person": ["whose"], "drop": ["name"]}
        world = history(tmp_path / str(seed), seed, patience=seed % 2, **own)
        assert len(world.founders) > 3
        person = {key: key // 3 for one in world.founders for key in one}
        assert all(len({person[key] for key in one}) >= K for one in world.founders)
        assert outsider.fewest_involved(world.founders, person) >= K


@pytest.mark.slow
@pytest.mark.parametrize("waiting", ["keep", "join", "empty"])
def test_random_histories_keep_k(tmp_path: Path, waiting: str) -> None:
    """HISTORIES=100 runs a hundred."""
    for seed in range(MANY or 3):
        history(tmp_path / str(seed), seed, patience=seed % 3, waiting=waiting)


WIDE = (
    "id INTEGER PRIMARY KEY, whose INTEGER, age INTEGER, pay DECIMAL(10, 2), born DATE, noted TIMESTAMP, "
    "colour colour, kind VARCHAR, flag BOOLEAN, region VARCHAR, ill VARCHAR, name VARCHAR, seen DATE"
)
WORKED_ON = ["age", "pay", "born", "noted", "colour", "kind", "flag"]
CASES: dict[str, dict[str, Any]] = {
    "missing values": {"keep": ["seen", "region", "ill"]},
    "strata": {"by": ["region"], "keep": ["seen", "ill"], "waiting": "empty"},
    "two values of a sensitive column in every class": {"sensitive": ["ill"], "min_l": 2, "keep": ["seen", "region"]},
    "strata, persons and a sensitive column": {
        "by": ["region"], "person": ["whose"], "drop": ["name"], "sensitive": ["ill"], "min_l": 2, "keep": ["seen"],
        "rows_are_persons": False, "waiting": "join",
    },
    "households": {"household": ["whose"], "drop": ["name"], "keep": ["seen", "region", "ill"]},
}  # fmt: skip


def wide(draw: random.Random, number: int, day: date) -> tuple[Any, ...]:
    def some(value: Any) -> Any:
        return None if draw.random() < 0.15 else value

    born = day - timedelta(draw.randrange(9000))
    return (
        number, number // 2, some(draw.randrange(18, 90)), some(round(draw.random() * 1000, 2)), some(born),
        some(f"{born} 10:20:30"), some(draw.choice(["red", "blue"])), some(draw.choice("abcd")),
        some(draw.random() < 0.5), "rare" if number in (5, 6) else draw.choice(["n", "s"]),
        draw.choice(["flu", "cold", "gout"]), f"n{number}", day - timedelta(draw.randrange(90)),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES.values()), ids=list(CASES))
def test_strata_missing_values_persons_and_l_in_a_table_of_all_types(tmp_path: Path, case: dict[str, Any]) -> None:
    draw, db, k, born = random.Random(3), tmp_path / "w.duckdb", 4, 100
    given = {
        "columns": WORKED_ON, "drop": ["name", "whose"], "rest": "drop", "accept_unique": ["seen"], "row_key": ["id"],
        "k": k, "in_place": True, "series": "s", "only_where": "seen < current_date - INTERVAL 30 DAY", "patience": 1,
        "no_purge": True, "nulls": "keep", "rows_are_persons": True,
    } | case  # fmt: skip
    with opened(db) as con:
        con.execute("CREATE TYPE colour AS ENUM ('red', 'green', 'blue')")
        con.execute(f"CREATE TABLE patients ({WIDE})")
        con.executemany(f"INSERT INTO patients VALUES ({', '.join('?' * 13)})",
                        [wide(draw, number, START) for number in range(born)])  # fmt: skip
    text = f"SELECT id, ({', '.join(WORKED_ON)}), region, ill, name, whose, seen FROM patients"
    held: dict[int, Any] = {}
    for number in range(1, 5):
        day = START + timedelta(number - 1)
        with opened(db) as con:
            if number > 1:
                con.executemany(f"INSERT INTO patients VALUES ({', '.join('?' * 13)})",
                                [wide(draw, born + one, day) for one in range(15)])  # fmt: skip
                born += 15
                for key in draw.sample(sorted(held), 9):
                    one = draw.choice(("DELETE FROM patients", "UPDATE patients SET age = 33, name = 'x'"))
                    con.execute(f"{one} WHERE id = {key}")
            before = {row[0]: row[1:] for row in con.execute(text).fetchall()}
        report = sqlmicro.mdav("patients", db=str(db), night=str(day), **given)
        with opened(db) as con:
            after = {row[0]: row[1:] for row in con.execute(text).fetchall()}
        assert set(after) == set(before)
        was = {key for key, values in held.items() if key in before and before[key][0] == values}
        came = {key for key in after if key not in was and after[key][0] != before[key][0]}
        empty = {key for key in came | was if not any(value is not None for value in after[key][0])}
        held = {key: after[key][0] for key in (was | came) - empty}
        for key, row in after.items():
            assert row[1:3] == before[key][1:3] or (key in empty and "by" in case)
            assert (row[3], row[4]) == (None, None) if key in held or key in empty else row == before[key]
        classes: dict[Any, list[int]] = defaultdict(list)
        for key, values in held.items():
            classes[values, after[key][1] if "by" in case else None].append(key)
        assert report["rows"] == len(held) > 50
        for keys in classes.values():
            assert len(keys) >= k
            assert len({after[key][2] for key in keys}) >= case.get("min_l", 1)
            if "whose" in case.get("person", case.get("household", [])):
                assert len({key // 2 for key in keys}) >= k


def test_who_finds_no_class_is_emptied_on_the_day_that_patience_ends(tmp_path: Path) -> None:
    world = World(tmp_path / "w.duckdb", random.Random(1))
    world.begin(1)
    for number, come in ((1, K - 1), (2, 1)):
        with opened(world.db) as con:
            con.executemany(INSERT, [world.new(START, 1) for _ in range(come)])
            con.execute("UPDATE patients SET last_visit = $1", [START - timedelta(60)])
        told = night(world.db, number, waiting="empty", patience=0)["series"]
        assert (told["emptied"] or 0, told["withheld"]) == (number - 1, 0)


def test_only_a_row_that_holds_what_was_written_is_seated() -> None:
    memory = SimpleNamespace(
        who=np.array([2, 4, 6, 8, 9]), here=np.array([1, 1, 1, 0, 1], bool), seat=np.array([0, 0, -1, 0, 0])
    )
    before: Any = SimpleNamespace(memory=memory, token=np.array([7, 7, 7, 7, -1]))
    who, token = np.array([9, 8, 6, 4, 2, 1]), np.array([-1, 7, 7, 5, 7, 7])
    assert seated(before, who, token).tolist() == [False, False, False, False, True, False]
    assert not seated(None, who, token).any()
