"""The world of the tests: small tables of people, database files, releases and nights of them, and what is refused."""

from __future__ import annotations

import contextlib
import datetime
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from databases import opened

import sqlmicro
from sqlmicro import SqlmicroError
from sqlmicro.history.ledger import Entry

ODD = 'net "income"'
"""The name of a column that has to be quoted; QUOTED is the name in SQL."""
QUOTED = '"net ""income"""'
FIRST = datetime.date(2026, 1, 1)
"""The day of the first night of a series."""

Columns = Mapping[str, tuple[str, Sequence[Any]]]
"""The columns of a table: {name: (SQL type, values)}."""
Row = tuple[Any, ...]


def people(rows: int, seed: int, *, visits: int = 1, gaps: float = 0.0) -> Columns:
    """Return visits of people, so many of each; a share of the values is missing."""
    draw = random.Random(seed)

    def gap(value: Any) -> Any:
        return None if draw.random() < gaps else value

    return {
        "patient": ("VARCHAR", [gap(f"p{i // visits}") for i in range(rows)]),
        "age": ("INTEGER", [draw.randrange(18, 90) for _ in range(rows)]),
        ODD: ("DOUBLE", [round(draw.lognormvariate(7, 0.5)) for _ in range(rows)]),
        "illness": ("VARCHAR", [gap(draw.choice(["flu", "cold", "asthma", "fracture"])) for _ in range(rows)]),
        "cost": ("INTEGER", [gap(draw.randrange(500)) for _ in range(rows)]),
        "ward": ("VARCHAR", [draw.choice("AB") for _ in range(rows)]),
    }


def _file(db: str | Path) -> str:
    """Return a database file; that of a folder is `w.duckdb`."""
    return str(Path(db) / "w.duckdb") if Path(db).is_dir() else str(db)


def warehouse(db: str | Path, *statements: str, **tables: Columns) -> str:
    """Write tables into a database file, or into that of a folder, and then run statements; return its path."""
    import pyarrow as pa

    path = _file(db)
    arrow = {"DOUBLE": pa.float64(), "FLOAT": pa.float32(), "BIGINT": pa.int64(), "INTEGER": pa.int32()}
    with opened(path) as connection:
        for table, columns in tables.items():
            names = [_quoted(name) for name in columns]
            kinds = [kind for kind, _ in columns.values()]
            values = [pa.array(list(given), arrow.get(kind)) for kind, given in columns.values()]
            defined = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
            connection.execute(f"CREATE TABLE {_quoted(table)} ({defined})")
            # Under other names: Arrow tells names apart that differ in case only.
            connection.register("given", pa.table(values, [f"c{i}" for i in range(len(names))]))
            connection.execute(f"INSERT INTO {_quoted(table)} SELECT * FROM given")
            connection.unregister("given")
        for statement in statements:
            connection.execute(statement)
    return path


def execute(db: str | Path, *statements: str) -> list[list[Row]]:
    """Run statements in a database file, or in that of a folder, and return the rows of each."""
    with opened(_file(db)) as connection:
        return [connection.execute(statement).fetchall() for statement in statements]


def rows(db: str | Path, query: str = "FROM out") -> list[Row]:
    """Return the rows of a query; nothing is written."""
    with opened(_file(db), read_only=True) as connection:
        found: list[Row] = connection.execute(query).fetchall()
    return found


def counted(db: str | Path, query: str = "FROM out") -> Counter[Row]:
    """Return how many times each row of a query occurs: what a release tells, in whatever order."""
    return Counter(rows(db, query))


def columns(db: str | Path, table: str) -> dict[str, list[Any]]:
    """Return the columns of a table, in its physical order."""
    with opened(_file(db), read_only=True) as connection:
        cursor = connection.execute(f"SELECT * FROM {_quoted(table)}")
        names, found = [column[0] for column in cursor.description], cursor.fetchall()
    return {name: [row[i] for row in found] for i, name in enumerate(names)}


def records(db: str | Path, query: str = "FROM out") -> list[dict[str, Any]]:
    """Return the rows of a query by the names of their columns."""
    with opened(_file(db), read_only=True) as connection:
        found = connection.execute(query)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def relations(db: str | Path) -> list[Row]:
    """Return every table and view of a database file."""
    return rows(db, "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL")


def release(method: str, db: str | Path, table: str = "persons", /, **options: Any) -> dict[str, Any]:
    """Release a table by a method through the public API, as the table `out`, and return the report.

    An option that is None is not given.
    """
    given = {"into": "out", "rest": "drop", **options}
    verb = getattr(sqlmicro, method.replace("-", "_"))
    report: dict[str, Any] = verb(table, db=_file(db), **{name: v for name, v in given.items() if v is not None})
    return report


def night(method: str, db: str | Path, number: int, table: str = "persons", /, **options: Any) -> dict[str, Any]:
    """Publish a night of a series, counted from 1: a release over that of the night before, by the row key `id`."""
    day = str(FIRST + datetime.timedelta(number - 1))
    given = {"series": "nightly", "row_key": ["id"], "overwrite": True, "night": day}
    return release(method, db, table, **{**given, **options})


@contextlib.contextmanager
def refused(
    message: str = "", db: str | Path | None = None, kind: type[SqlmicroError] = SqlmicroError, exit_code: int = 2
) -> Iterator[pytest.ExceptionInfo[SqlmicroError]]:
    """Fail unless a call is refused with a message that matches, and leaves a database file as it was."""
    before = None if db is None else relations(db)
    with pytest.raises(kind, match=message or None) as caught:
        yield caught
    assert caught.value.exit_code == exit_code
    if db is not None:
        assert relations(db) == before, "nothing is written"


@dataclass(frozen=True)
class Release:
    """A release as it can be read: the report, and the published rows by column."""

    report: dict[str, Any]
    columns: dict[str, list[Any]]

    @property
    def rows(self) -> int:
        """The number of records."""
        return len(next(iter(self.columns.values()), []))

    def records(self, names: Sequence[str]) -> list[Row]:
        """Return the records over some columns."""
        return list(zip(*(self.columns[name] for name in names), strict=True))


class Workbench:
    """Makes a database file for each table `records`, releases it, and reads the release back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count(1)

    def make(self, columns: Columns, table: str = "records") -> str:
        """Write a table into a fresh database file and return its path."""
        return warehouse(self.folder / f"{next(self._numbers)}.duckdb", **{table: columns})

    def release(self, name: str, db: str, /, **options: Any) -> Release:
        """Run a method on the table `records` and return what was published.

        Columns that are kept are accepted as unique: what a test has kept, it wants to see again. Releases of a table
        that was released before are made alone.
        """
        names = list(columns(db, "records")) if options.get("rest") == "keep" else []
        given = {"rest": None, "accept_unique": kept(names, options), "alone_because": "a test of one release"}
        target = f"release_{next(self._numbers)}"
        report = release(name, db, "records", **{**given, "into": target, **options})
        return Release(report, columns(db, target))

    def read(self, db: str, table: str) -> dict[str, list[Any]]:
        """Return the columns of a table, in its physical order."""
        return columns(db, table)

    def relations(self, db: str) -> list[Row]:
        """Return every table and view of a database file."""
        return relations(db)


def kept(columns: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """Return the columns of a table that the options of a method release as they are."""

    def named(*roles: str) -> list[str]:
        found = [options.get(role) or () for role in roles]
        return [name for names in found for name in ([names] if isinstance(names, str) else names)]

    if options.get("rest") != "keep":
        return named("keep", "sensitive")
    others = {name.lower() for name in named("columns", "by", "drop", "row_key")} - {n.lower() for n in named("keep")}
    return [name for name in columns if name.lower() not in others]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def entry(release: int, **told: Any) -> Entry:
    """Return an entry of a ledger as it is read: of a table that is out, and intact."""
    texts = dict.fromkeys(("source", "people", "schema_hash", "target", "kind", "method", "started", "entry"), "")
    given = {
        **texts, "unit": "row key: id", "place": f'["", "main", "{release}"]', "k": 3, "alone_because": None,
        "remembered": None, "series": None, "epoch": None, "state": "out", "reason": None, "intact": True,
    }  # fmt: skip
    return Entry(release=release, **{**given, **told})
