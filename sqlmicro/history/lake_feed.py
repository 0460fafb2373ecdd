"""What the change feed of a DuckLake tells a night of a series, where the source is a table of one.

A night remembers at which snapshot it read. The next one asks the lake which rows have come, changed or gone since, if
the lake is still the one that was read: its snapshot of then has the time it had, none after it has expired, and the
tables of this name are those of then. Else all rows are compared, and the night after goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlmicro.database.catalog import kind_of
from sqlmicro.database.columns import Column
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Database

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name

_NOW = """SELECT s.snapshot_id, epoch_us(s.snapshot_time), (
  SELECT string_agg(CAST(i.table_uuid AS VARCHAR), ' ' ORDER BY CAST(i.table_uuid AS VARCHAR))
  FROM ducklake_table_info({{ lake | lit }}) i WHERE lower(i.table_name) = lower({{ table | lit }}))
FROM ducklake_current_snapshot({{ lake | lit }}) c
JOIN ducklake_snapshots({{ lake | lit }}) s ON s.snapshot_id = c.id"""
_SINCE = """SELECT count(*), min(snapshot_id), arg_min(epoch_us(snapshot_time), snapshot_id)
FROM ducklake_snapshots({{ lake | lit }}) WHERE snapshot_id BETWEEN $1 AND $2"""
_CHANGES = """CREATE OR REPLACE TABLE {{ made | ident }} AS
SELECT {{ row_key | listed("{name}") }}
FROM ducklake_table_changes(
  {{ lake | lit }}, {{ schema | lit }}, {{ table | lit }}, {{ then | lit }}, {{ now | lit }}
)
WHERE snapshot_id > {{ then | lit }}"""


def is_fed(warehouse: Database, source: Source) -> bool:
    """Tell whether a source has a change feed that a night can ask."""
    return source.is_table and kind_of(warehouse, source.relation.catalog) == "ducklake"


def snapshot(warehouse: Database, source: Source) -> str:
    """Return which snapshot of which tables is read tonight: its number, its time, and the tables of this name.

    It is asked for before the rows are read: what changes in between, the next night is told of again.
    """
    lake, _, table = source.relation
    ((number, time, tables),) = warehouse.query("series", _NOW, lake=lake, table=table)
    return f"{number} {time} {tables}"


def changes(warehouse: Database, source: Source, row_key: Sequence[Column], then: str, now: str) -> Name | None:
    """Return the row keys of what has come, changed or gone between two snapshots; None where the lake cannot tell."""
    lake, schema, table = source.relation
    before, after = then.split(" ", 2), now.split(" ", 2)
    if before[2:] != after[2:] or not before[0].isdigit():
        return None
    first, last = int(before[0]), int(after[0])
    ((there, number, time),) = warehouse.query("series", _SINCE, [first, last], lake=lake)
    if there != last - first + 1 or number != first or str(time) != before[1]:
        return None
    made = warehouse.staged("lake_changes")
    warehouse.execute(
        "series", _CHANGES, made=made, row_key=row_key, lake=lake, schema=schema, table=table, then=first, now=last
    )
    return made
