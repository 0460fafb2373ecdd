"""The ledger knows persons by the key of their table where nobody names one; a key that is given anew is seen."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from world import execute

import sqlmicro
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.own_key import _declared
from sqlmicro.database.templates import Name
from sqlmicro.errors import AuditFailed

GIVEN: dict[str, Any] = {"k": 4, "rest": "drop"}
ROWS = [(i, i % 71 + 18, i * 37 % 997) for i in range(200)]


def table(folder: Path, definition: str, rows: list[tuple[Any, ...]]) -> str:
    db = str(folder / "w.duckdb")
    execute(db, f"CREATE OR REPLACE TABLE persons ({definition})", f"INSERT INTO persons VALUES {str(rows)[1:-1]}")
    return db


def unit(db: str) -> str:
    found: str = sqlmicro.ledger(db=db)["releases"][-1]["unit"]
    return found


@pytest.mark.slow_but('"net ""no""" INTEGER PRIMARY KEY, age INTEGER, x INTEGER-row key: net "no"')
@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("id INTEGER, age INTEGER, x INTEGER", "row key: id"),
        ('"net ""no""" INTEGER PRIMARY KEY, age INTEGER, x INTEGER', 'row key: net "no"'),
        ("n INTEGER, age INTEGER, x INTEGER, PRIMARY KEY (n, age)", "row key: n, age"),
        ("n INTEGER UNIQUE NOT NULL, age INTEGER, x INTEGER", "row key: n"),
        ("n INTEGER UNIQUE, age INTEGER, x INTEGER", "content: age"),
        ("n INTEGER, age INTEGER, x INTEGER", "content: age"),
        ("id INTEGER, age INTEGER, customer_id INTEGER", "content: age"),
    ],
)
def test_which_key(tmp_path: Path, definition: str, expected: str) -> None:
    """A primary key, a unique one that no record lacks, or the one column that is called so."""
    db = table(tmp_path, definition, [(i, age, i + 1000) for i, age, _ in ROWS])
    plain = sqlmicro.mdav("persons", db=db, columns=["age"], into="first", **GIVEN)
    assert unit(db) == expected
    # Nothing else changes: the release is the one of a table without a key.
    execute(db, "CREATE TABLE copied AS SELECT age FROM persons", "DROP TABLE persons",
            "ALTER TABLE copied RENAME TO persons")  # fmt: skip
    sqlmicro.mdav("persons", db=db, columns=["age"], into="second", alone_because="test", **GIVEN)
    first, second = execute(db, "SELECT age FROM first ORDER BY ALL", "SELECT age FROM second ORDER BY ALL")
    assert first == second
    assert plain["rows"] == 200


@pytest.mark.slow
def test_several_columns_into_several_tables_are_measured(tmp_path: Path) -> None:
    db = table(tmp_path, "id INTEGER, age INTEGER, x INTEGER", ROWS)
    sqlmicro.mdav("persons", db=db, columns=["age"], into="ages", **GIVEN)
    with pytest.raises(AuditFailed, match=r"their classes with fewer than 4, together with release 1 \(ages\)"):
        sqlmicro.mdav("persons", db=db, columns=["x"], into="x", **GIVEN)
    # Who changes stays who he is; and the key that is named is the key that was found.
    execute(db, "UPDATE persons SET age = age + 500")
    report = sqlmicro.mdav("persons", db=db, columns=["age"], into="again", row_key=["id"], **GIVEN)
    assert [row["value"] for row in report["audits"] if row["check"] == "union-k"] == [4]


def test_persons_of_equal_content_keep_their_classes(tmp_path: Path) -> None:
    """Which of them is in which class does not depend on the order of the table: the same night again tells nothing."""
    rows, draw = [(i, i % 3, 0) for i in range(50)], random.Random(3)
    db = table(tmp_path, "id INTEGER, age INTEGER, x INTEGER", rows)
    sqlmicro.mdav("persons", db=db, columns=["age"], into="first", **GIVEN)
    for name in ("second", "third"):
        draw.shuffle(rows)
        execute(db, "DELETE FROM persons", f"INSERT INTO persons VALUES {str(rows)[1:-1]}")
        report = sqlmicro.mdav("persons", db=db, columns=["age"], into=name, **GIVEN)
        assert all(row["passed"] for row in report["audits"] if row["check"] == "union-k")


@pytest.mark.parametrize("shift", [1, 40])
def test_row_numbers_of_the_night_fake_no_union(tmp_path: Path, shift: int) -> None:
    """The places in an order of the persons: one leaves, one comes, and the classes of all places are as they were."""
    persons = sorted((age, x) for _, age, x in ROWS)
    numbered = [(i, *person) for i, person in enumerate(persons)]
    db = table(tmp_path, "id INTEGER PRIMARY KEY, age INTEGER, x INTEGER", numbered)
    sqlmicro.mdav("persons", db=db, columns=["age", "x"], into="first", **GIVEN)
    later = [*persons[shift:], *((200 + i, 1) for i in range(shift))]
    table(tmp_path, "id INTEGER PRIMARY KEY, age INTEGER, x INTEGER", [(i, *p) for i, p in enumerate(later)])
    with pytest.raises(AuditFailed, match="records have another id than before") as no:
        sqlmicro.mdav("persons", db=db, columns=["age", "x"], into="second", **GIVEN)
    assert "200" not in str(no.value).replace("200 persons", "")


def test_a_key_that_is_drawn_anew_is_no_key(tmp_path: Path) -> None:
    db = table(tmp_path, "id INTEGER, age INTEGER, x INTEGER", ROWS)
    sqlmicro.mdav("persons", db=db, columns=["age"], into="first", **GIVEN)
    execute(db, "UPDATE persons SET id = id + 1000")
    with pytest.raises(AuditFailed, match="most records have changed"):
        sqlmicro.mdav("persons", db=db, columns=["age"], into="second", **GIVEN)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [("n INTEGER UNIQUE, x INTEGER", ()), ("n INTEGER UNIQUE NOT NULL, x INTEGER", ("n",)),
     ("n INTEGER, x INTEGER NOT NULL, UNIQUE (n, x)", ()), ("n INTEGER PRIMARY KEY, a INTEGER UNIQUE NOT NULL", ("n",)),
     ("n INTEGER, x INTEGER", ())],
)  # fmt: skip
def test_a_declared_key_is_one_that_no_record_lacks(definition: str, expected: tuple[str, ...]) -> None:
    with open_warehouse(None) as warehouse:
        warehouse.query("made", f"CREATE TABLE memory.main.t ({definition})")
        source: Any = SimpleNamespace(relation=Name("memory", "main", "t"))
        assert _declared(warehouse, source) == expected
