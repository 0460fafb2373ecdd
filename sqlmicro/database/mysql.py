"""What DuckDB has a MySQL server do of a statement: nothing, since the server takes different texts for equal.

By the collation of a column a capital letter, an accent or a blank at the end is no difference. From DuckDB 1.5.2 on it
also hands over aggregates that the server then refuses. So filters, orders and aggregates are DuckDB's own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlmicro.database.templates import statement
from sqlmicro.errors import InputError

if TYPE_CHECKING:
    import duckdb

PUSHED = """SELECT name, value FROM duckdb_settings() WHERE value = 'true' AND name IN (
  'mysql_aggregate_pushdown_enabled', 'mysql_experimental_filter_pushdown', 'mysql_order_pushdown_enabled')"""
"""The settings of the extension, where it is loaded, by which the server does it."""


@contextmanager
def rows_alone(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Have the servers of somebody else's database hand over rows alone, for the length of the block.

    Raises
    ------
    InputError
        When its settings are locked.
    """
    names = [name for name, _ in connection.execute(PUSHED).fetchall()]
    failed = False
    for name in names:
        try:
            connection.execute(statement("SET {{ name | ident }} = false", name=name))
        except Exception:
            failed = True
    if failed:
        must = "MySQL must hand over rows alone: it takes different texts for equal"
        raise InputError("db", must, "locked settings", f"Before they are locked: SET {names[0]} = false")
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # none may be open; one that has failed takes no statement
            connection.rollback()
        for name in names:
            connection.execute(statement("SET {{ name | ident }} = true", name=name))
