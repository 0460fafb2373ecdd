"""A table that is changed in place: what forbids it, and whether it is still the table that was read.

The definition of the table stays, so it must bear what is written into it. Between reading and publishing others may
write: what the table holds is compared in the transaction that publishes, so that nothing of theirs is lost.

Some rows of a table that are changed in place: those that took a seat tonight; the others are not touched.

What is audited is what the table holds: the rows that a series remembers as anonymized, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, ClassVar, Literal, NoReturn

from sqlmicro.database import triggers
from sqlmicro.database.content import content
from sqlmicro.database.templates import Name, Sql, ident
from sqlmicro.database.warehouse import Database
from sqlmicro.erasure.copy_database import is_generated
from sqlmicro.errors import InputError
from sqlmicro.publish.targets import SCHEMA, Statement, Target

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.columns import Column
    from sqlmicro.history.retention import Retention
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.report import ReleaseReport

_HERE = "WHERE database_name = $1 AND schema_name = $2 AND "
_NOT_NULL = (
    "SELECT unnest(constraint_column_names) FROM duckdb_constraints() "
    + _HERE
    + "table_name = $3 AND constraint_type IN ('NOT NULL', 'PRIMARY KEY')"
)
_ANOTHER_WAY = "Use --into NAME, or --keep or --drop the column"


@dataclass(frozen=True)
class InPlace:
    """A table of a DuckDB database whose records are replaced; `file` is that of another database, "" of the own one.

    With `widen`, columns of whole numbers become DOUBLE; with `purge` the file is purged afterwards.
    """

    warehouse: Database = field(repr=False)
    label: str
    name: Name
    widen: bool = False
    purge: bool = False
    file: str = ""
    kind: ClassVar[Literal["in place"]] = "in place"
    path: ClassVar[None] = None
    place: ClassVar[None] = None
    keeps: ClassVar[bool] = False
    has_enums: ClassVar[bool] = True
    on_server: ClassVar[bool] = False
    """Whether a server has the table, which purges it itself."""

    def of_candidate(self, number: int) -> Target:
        """Refuse candidates: there is no place for them in the table."""
        refuse("there is no place for candidates in the table", [f"candidate {number}"])

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a table whose definition forbids what would be written into it."""
        self.check_table(run, worked_on, run.roles.dropped)

    def check_table(self, run: Run, worked_on: Collection[Column], emptied: Collection[Column]) -> None:
        """Refuse a table whose definition forbids new values in some columns, and none in others."""
        refuse_triggers(self.warehouse, self.name)
        _check_constraints(self.warehouse, run, worked_on, {column.name for column in emptied}, self.widen)
        if not _check_others(self.warehouse, self.name):
            self._refuse_changed()

    def check_together(self, targets: Sequence[Target]) -> None:
        """Do nothing: one transaction takes back as many tables as were changed in it."""

    def check_types(self, run: Run) -> None:
        """Refuse columns that have become another type, or more."""
        recoded = [c.name for c in run.source.columns if c in run.table.text and c.family not in ("text", "enum")]
        if recoded:
            refuse("a column recoded to text must be text", recoded)
        added = [column.name for column in run.roles.released if column not in run.source.columns]
        if added:
            refuse("a release in place has the columns of the table", added)
        self._check_missing(run)

    def _check_missing(self, run: Run) -> None:
        """Refuse missing values, such as suppressed ones, in columns that must have none."""
        columns = self._not_null(run.roles.released)
        if not columns:
            return
        counted = "SELECT {% for c in columns %}count(*) - count({{ c | ident }}), {% endfor %} FROM {{ r | ident }}"
        missing = self.warehouse.query("publish", counted, columns=[c.staged for c in columns], r=run.table.current)[0]
        if found := [column.name for column, n in zip(columns, missing, strict=True) if n]:
            refuse(
                "a column that is NOT NULL has a value in every record", found,
                f"The release has missing ones. Use --into NAME, or first: ALTER TABLE "
                f"{ident(Name('', *self.name[1:]))} ALTER COLUMN {ident(found[0])} DROP NOT NULL",
            )  # fmt: skip

    def _not_null(self, columns: Iterable[Column]) -> list[Column]:
        rows = self.warehouse.query("catalog", _NOT_NULL, list(self.name))
        needed = {str(name) for (name,) in rows}
        return [column for column in columns if column.name in needed]

    def refuse_not_null(self, columns: Iterable[Column]) -> None:
        """Refuse to empty columns that must have a value, where rows are to be emptied."""
        if found := self._not_null(columns):
            first = ident(found[0].name)
            refuse(
                "rows that lost their class are emptied, which a NOT NULL forbids", [one.name for one in found],
                f"First: ALTER TABLE {ident(Name('', *self.name[1:]))} ALTER COLUMN {first} DROP NOT NULL",
            )  # fmt: skip

    @contextmanager
    def taken_back(self, targets: Sequence[Target]) -> Iterator[None]:
        """Leave it to the transaction."""
        yield

    def locking(self) -> Callable[[], None]:
        """Lock the table by setting its comment anew, which DuckDB 2.0 locks a table by.

        DuckDB 1.5 has nothing to lock a table by, so that others are still compared with at the end (`look_again`).
        """
        rows = self.warehouse.query(
            "catalog", "SELECT comment FROM duckdb_tables() " + _HERE + "table_name = $3", list(self.name)
        )
        comment = "COMMENT ON TABLE {{ table | ident }} IS {{ said | lit }}"
        said = rows[0][0] if rows else None

        def lock() -> None:
            # Not part of the log, which shows nothing that somebody has written about records.
            self.warehouse.query("publish", comment, table=self.name, said=said)

        return lock

    def hold(self, run: Run) -> None:
        """Make sure that the table is as the run has read it: the snapshot now has all that others have committed."""
        refuse_triggers(self.warehouse, self.name)
        self._compare(run)

    def look_again(self, run: Run) -> None:
        """Make sure that nobody else has changed the table meanwhile.

        DuckDB lets one transaction delete what another has updated and committed: the update would be lost.
        """
        with self.warehouse.as_others_see():
            self._compare(run)

    def _compare(self, run: Run) -> None:
        if content(self.warehouse, self.name) != run.table.loaded.seen:
            self._refuse_changed()

    def _refuse_changed(self) -> NoReturn:
        raise InputError(
            "--in-place",
            f"{self.label!r} must not change between reading and publishing",
            "other columns or records than were read from it",
            "Nothing was changed. Make the release again",
        )

    def statements(self, run: Run, select: Sql) -> list[Statement]:
        """Return the statements that empty the table and fill it again; columns that are not released become NULL."""
        used, released = set(run.quasi), set(run.roles.released)
        kept = [column for column in run.source.columns if column in released]
        emptied = [column for column in run.source.columns if column not in released]
        widened = [c for c in run.source.columns if c in used and c.family in ("integer", "decimal") and self.widen]
        change = "ALTER TABLE {{ target | ident }} ALTER COLUMN {{ column | ident }} TYPE DOUBLE"
        filling = (
            "INSERT INTO {{ target | ident }} ({{ columns | idents }})\n"
            "SELECT *{% for column in emptied %}, NULL{% endfor %} FROM (\n{{ select }})"
        )
        names = {"columns": [c.name for c in (*kept, *emptied)], "emptied": emptied, "select": select}
        return [
            *((change, {"target": self.name, "column": column.name}) for column in widened),
            ("DELETE FROM {{ target | ident }}", {"target": self.name}),
            (filling, {"target": self.name, **names}),
        ]

    @property
    def published(self) -> Name:
        """The table."""
        return self.name

    def write(self, run: Run, select: Sql) -> None:
        """Replace the records."""
        for text, names in self.statements(run, select):
            self.warehouse.execute("publish", text, **names)

    def record_table(self, warehouse: Database, table: str) -> Name:
        """Return a table in a schema of its own in the database of the release."""
        return Name(self.name.catalog, SCHEMA, table)

    def record_definition(self, text: str) -> str:
        """Return the definition as it is, which is DuckDB's."""
        return text

    def after_publishing(self, report: ReleaseReport) -> None:
        """Do nothing: the file is purged when the database is closed."""


def _check_constraints(
    warehouse: Database, run: Run, worked_on: Collection[Column], emptied: set[str], widen: bool
) -> None:
    """Refuse keys, indexes and checks that the new values would break."""
    names = list(run.source.relation)
    found = warehouse.query(
        "catalog",
        "SELECT constraint_type, constraint_column_names FROM duckdb_constraints() " + _HERE + "table_name = $3",
        names,
    )
    indexes = warehouse.query(
        "catalog", "SELECT index_name, is_unique FROM duckdb_indexes() " + _HERE + "table_name = $3", names
    )
    used = {column.name for column in worked_on}
    for kind, columns in found:
        if kind in ("PRIMARY KEY", "UNIQUE") and used & set(columns):
            refuse(f"no column of a {kind} can be anonymized: its values must stay distinct", columns)
        if kind in ("PRIMARY KEY", "NOT NULL") and emptied & set(columns):
            refuse(
                f"a dropped column is emptied, which a {kind} forbids", emptied & set(columns),
                "Use --into NAME, or --keep the column, or make it one value for all: a job with the step "
                'do = "constant", value = "0" (sqlmicro help in-place)',
            )  # fmt: skip
    if any(unique for _, unique in indexes):
        refuse("the table must have no unique index", [name for name, unique in indexes if unique])
    if widen and (indexes or any(kind == "CHECK" for kind, _ in found)):
        refuse(
            "--widen changes types, which an index or a CHECK on the table forbids",
            [name for name, _ in indexes] or ["a CHECK"],
        )


def _check_others(warehouse: Database, relation: Name) -> bool:
    """Refuse a table that others refer to, or that computes columns; tell whether it is there."""
    children = warehouse.query(
        "catalog",
        "SELECT table_name FROM duckdb_constraints() "
        + _HERE
        + "constraint_type = 'FOREIGN KEY' AND referenced_table = $3 AND table_name <> $3",
        list(relation),
    )
    if children:
        refuse("no other table may refer to it by a foreign key", [str(row[0]) for row in children])
    definition = warehouse.query(
        "catalog", "SELECT sql FROM duckdb_tables() " + _HERE + "table_name = $3", list(relation)
    )
    if definition:
        described = warehouse.describe(relation)
        generated = [name for name, kind in described if is_generated(str(definition[0][0]), name, kind)]
        if generated or "GENERATED ALWAYS AS" in str(definition).upper():
            must, names = "the table must have no generated columns", generated or ["at least one"]
            refuse(must, names, "Use --into NAME, where what is kept of it is a column like others")
    return bool(definition)


def refuse_triggers(warehouse: Database, relation: Name) -> None:
    """Refuse a table with triggers: they are handed the records that are replaced, and may keep them.

    Raises
    ------
    InputError
        With their names.
    """
    found = triggers.on(warehouse, relation)
    if found:
        refuse(
            "the table must have no triggers, which could keep the records that are replaced", found,
            "Drop them, and make them again afterwards, or use --into NAME",
        )  # fmt: skip


def refuse(must: str, what: Iterable[str], do: str = _ANOTHER_WAY) -> NoReturn:
    """Refuse a release in place because of what was found."""
    raise InputError("--in-place", must, ", ".join(sorted(what)), do)


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
