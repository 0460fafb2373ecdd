"""Some rows of a table that are changed in place: those that took a seat tonight; the others are not touched.

What is audited is what the table holds: the rows that a series remembers as anonymized, and no others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from sqlmicro.database.templates import Name, Sql
from sqlmicro.publish.in_place import InPlace, refuse

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.columns import Column
    from sqlmicro.history.retention import Retention
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.targets import Statement

_NOWHERE = Name("", "", "")
"""Where nothing is yet."""
_UPDATE = """UPDATE {{ target | ident }} AS t SET
  {{ given | listed("{name} = s.{name}") }}
{%- for column in emptied %}, {{ column.name | ident }} = NULL{% endfor %}

FROM {{ rows | ident }} AS s
WHERE hash({{ row_key | listed("CAST(t.{name} AS VARCHAR)") }}) = s.record"""


@dataclass(frozen=True)
class RowsInPlace(InPlace):
    """A table of a DuckDB database some rows of which are replaced, found by their key, which stays."""

    row_key: tuple[Column, ...] = ()
    given: tuple[Column, ...] = ()
    """The columns that a class gives its rows."""
    emptied: tuple[Column, ...] = ()
    """Those that are dropped."""
    empties: bool = False
    """Whether rows that wait are emptied."""
    rows: Name = _NOWHERE
    """In staging, the new values of the rows that are changed (record, the columns under their own names)."""
    anonymized: Name = _NOWHERE
    """In staging, a view of the rows of the table that are anonymized."""
    held: tuple[tuple[Name, tuple[Column, ...]], ...] = ()
    """In staging, views of rows of the table, and the columns that must be empty there."""

    @property
    def published(self) -> Name:
        """The rows that are anonymized, in the table."""
        return self.anonymized

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a table whose definition forbids what would be written into it."""
        both = [column.name for column in worked_on if column in self.row_key]
        if both:
            refuse("the row key stays, so that rows are known again the next night", both, "Leave it out of the step")
        self.check_table(run, worked_on, {*self.emptied, *(self.given if self.empties else ())})

    def statements(self, run: Run, select: Sql) -> list[Statement]:
        """Return the statement that gives rows their new values; columns that are dropped become NULL there."""
        names = {"given": self.given, "emptied": self.emptied, "row_key": self.row_key}
        return [(_UPDATE, {"target": self.name, "rows": self.rows, **names})]


def of(target: InPlace, run: Run, series: Retention, given: Sequence[Column]) -> RowsInPlace:
    """Return a table as the target of a night that changes some of its rows."""
    own = {one.name: getattr(target, one.name) for one in fields(InPlace)}
    released = [column for column in given if column in set(run.roles.released)]
    emptied = [c for c in run.source.columns if c not in {*run.roles.released, *series.row_key}]
    return RowsInPlace(
        **own, row_key=tuple(series.row_key), given=tuple(released), emptied=tuple(emptied),
        empties=series.waiting == "empty",
    )  # fmt: skip


def staged(target: RowsInPlace, run: Run, series: Retention, records: Name) -> RowsInPlace:
    """Return the target with what it writes, and what is audited, in staging; `records` are those of the release."""
    import numpy as np
    import pyarrow as pa

    warehouse, persons, sits = target.warehouse, series.persons, series.label() >= 0
    empties = series.empties if series.empties is not None else np.zeros(len(sits), bool)
    changed = series.comes() | empties | (sits & series.holds(warehouse, target.name, target.emptied))
    if empties.any():
        target.refuse_not_null(target.given)
    bare = series.bare_with(warehouse, target.name, target.emptied)

    def told(row_id: np.ndarray, record: np.ndarray, into: str) -> Name:
        found = pa.table({"row_id": row_id, "record": record})
        return warehouse.load(found, into, "filled with rows by the hash of their key")

    def rows(asked: Name, columns: Sequence[Column], into: str) -> Name:
        return warehouse.run(
            "history/asked_rows.sql", into, view=True, relation=target.name, row_key=target.row_key, asked=asked,
            columns=columns,
        )  # fmt: skip

    row_id, record = persons["row_id"], persons["record"]
    writes = told(np.r_[row_id[changed], np.full(len(bare), -1)], np.r_[record[changed], bare], "changed_rows")
    seated, none = (
        told(row_id[sits], record[sits], "seated_rows"),
        told(row_id[empties], record[empties], "emptied_rows"),
    )
    released = [column for column in run.source.columns if column in set(run.roles.released)]
    held = [(rows(writes, target.emptied, "changed_in_table"), target.emptied)] if target.emptied else []
    return replace(
        target,
        rows=warehouse.run("publish/rows_in_place.sql", "rows_in_place", records=records, changed=writes,
                           columns=target.given),
        anonymized=rows(seated, released, "anonymized"),
        held=(*held, (rows(none, target.given, "emptied_in_table"), target.given)),
    )  # fmt: skip


def left_in(target: RowsInPlace) -> int:
    """Return how many rows of the table have values where a night has left none."""
    text = (
        "SELECT count(*) FROM {{ r | ident }} "
        "WHERE false{% for c in columns %} OR {{ c.name | ident }} IS NOT NULL{% endfor %}"
    )
    return sum(
        int(target.warehouse.query("publish", text, r=view, columns=columns)[0][0]) for view, columns in target.held
    )
