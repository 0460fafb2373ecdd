"""Database files that tests make and look into, attached to one instance of DuckDB: starting one takes 15 ms."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any


@cache
def _instance() -> Any:
    import duckdb

    return duckdb.connect()


_OPEN = ["memory"]
"""What is attached by those who have not closed yet."""


def _attached(connection: Any) -> set[str]:
    found = connection.execute("SELECT database_name FROM duckdb_databases() WHERE NOT internal").fetchall()
    return {name for (name,) in found}


@contextmanager
def opened(path: str | Path, *, read_only: bool = False) -> Iterator[Any]:
    """Yield a connection to a database file, which is called in SQL as where it is opened alone, and close the file."""
    alone = Path(path).name.partition(".")[0]
    name = _quoted(alone)
    file = str(Path(path).absolute()).replace("'", "''")
    with _instance().cursor() as connection:
        connection.execute(f"ATTACH '{file}' AS {name}" + " (READ_ONLY)" * read_only)
        before = {*_OPEN}
        _OPEN.append(alone)
        try:
            connection.execute(f"USE {name}.main")
            yield connection
        finally:
            with contextlib.suppress(Exception):
                connection.rollback()
            connection.execute("USE memory.main")
            _OPEN.pop()
            for other in _attached(connection) - before:
                connection.execute(f"DETACH {_quoted(other)}")


def insert(connection: Any, table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows into a table by one statement: `executemany` runs one for each, a thousand in half a second."""
    columns = [list(values) for values in zip(*rows, strict=True)]
    if columns:
        connection.execute(f"INSERT INTO {table} SELECT {', '.join('unnest(?)' for _ in columns)}", columns)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
