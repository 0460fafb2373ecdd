"""What is asked once in a run is asked again after anything that may have changed it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import opened

import sqlmicro
from sqlmicro.database.catalog import find_beside, find_relation, tables_of
from sqlmicro.database.connection import Held
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name

COLUMNS = "place,path,value\n"
MAKE = "CREATE TABLE {{ t | ident }} AS SELECT * FROM range(3) AS r(row_id)"
MOST = 90
"""Statements of a release of a table into its own database that was just written; 116 when all was asked anew."""


def test_a_relation_is_looked_up_again_after_a_statement(tmp_path: Path) -> None:
    with open_warehouse(str(tmp_path / "a.duckdb"), may_create=True) as warehouse:
        t = warehouse.full(Name("", "", "t"))
        assert find_relation(warehouse, t) is None
        warehouse.execute("t", MAKE, t=t)
        assert find_relation(warehouse, t) == (t, True)
        assert find_beside(warehouse, [t, t._replace(table="u")]) == [t, None]
        assert find_relation(warehouse, t._replace(table="T")) == (t, True)
        warehouse.query("t", "DROP TABLE {{ t | ident }}", t=t)
        assert find_relation(warehouse, t) is None
        with pytest.raises(ZeroDivisionError), warehouse.transaction():
            warehouse.execute("t", MAKE, t=t)
            assert tables_of(warehouse, [t]) == {"t"}
            raise ZeroDivisionError
        assert tables_of(warehouse, [t]) == set()
        with pytest.raises(ZeroDivisionError), warehouse.aside():
            warehouse.query("t", MAKE, t=t)
            assert tables_of(warehouse, [t]) == {"t"}
            raise ZeroDivisionError
        assert tables_of(warehouse, [t]) == set()


def test_of_a_connection_that_others_use_too_everything_is_asked_each_time() -> None:
    with duckdb.connect() as connection, open_warehouse(Held(connection)) as warehouse:
        t = warehouse.full(Name("", "", "t"))
        assert find_relation(warehouse, t) is None
        connection.execute("CREATE VIEW t AS SELECT 1 AS x")
        assert find_relation(warehouse, t) == (t, False)


def test_staged_records_are_counted_again_when_they_are_replaced(tmp_path: Path) -> None:
    csv = tmp_path / "p.csv"
    csv.write_text(COLUMNS + "1,,a\n")
    with open_warehouse(None) as warehouse:
        source = warehouse.source(str(csv)).relation
        assert warehouse.count(source) == 1
        csv.write_text(COLUMNS + "1,,a\n" * 2)
        assert warehouse.count(source) == 2, "a file is not ours"
        table = warehouse.run("load/samples_together.sql", "table", samples=[source])
        view = warehouse.run("load/samples_together.sql", "view", samples=[table], view=True)
        assert (warehouse.count(table), warehouse.count(view)) == (2, 2)
        csv.write_text(COLUMNS + "1,,a\n" * 3)
        assert (warehouse.count(source), warehouse.count(view)) == (3, 2)
        warehouse.run("load/samples_together.sql", "table", samples=[source])
        assert (warehouse.count(table), warehouse.count(view)) == (3, 3)
        warehouse.insert("t", "DELETE FROM {{ t | ident }} WHERE place = $1", [1], t=table)
        assert (warehouse.count(table), warehouse.count(view)) == (0, 0)
        warehouse.run("load/samples_together.sql", "view", samples=[source], view=True)
        csv.write_text(COLUMNS + "1,,a\n")
        assert warehouse.count(view) == 1, "a view of a file is not ours"


class Counting:
    """A connection that counts the statements of itself and of its cursors."""

    def __init__(self, connection: Any, seen: list[str]) -> None:
        self.own, self.seen = connection, seen

    def __getattr__(self, name: str) -> Any:
        if name == "cursor":
            return lambda: Counting(self.own.cursor(), self.seen)
        if name in ("execute", "sql"):
            return lambda text, *rest: self.seen.append(text) or getattr(self.own, name)(text, *rest)
        return getattr(self.own, name)


def test_a_release_runs_so_many_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db, seen = str(tmp_path / "a.duckdb"), list[str]()
    with opened(db) as connection:
        connection.execute("CREATE TABLE people AS SELECT x, x % 7 AS y, x % 5 AS z FROM range(300) AS r(x)")
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *a, **k: Counting(connect(*a, **k), seen))
    sqlmicro.mdav("people", db=db, into="released", columns=["x", "y", "z"], k=3)
    assert len(seen) <= MOST
