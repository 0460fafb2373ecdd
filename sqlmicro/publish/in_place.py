"""A table that is changed in place: what forbids it, and whether it is still the table that was read.

The definition of the table stays, so it must bear what is written into it. Between reading and publishing others may
write: what the table holds is compared in the transaction that publishes, so that nothing of theirs is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from sqlmicro.database import postgres, triggers
from sqlmicro.database.content import content
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import Run

_HERE = "WHERE database_name = $1 AND schema_name = $2 AND "
_ANOTHER_WAY = "Use --into NAME, or --keep or --drop the column"


Comments = dict[str, str | None]
"""The comments of tables, by their label: setting one anew is what DuckDB 2.0 locks a table by."""


def comments(runs: Sequence[Run]) -> Comments:
    """Return the comments of the tables of DuckDB that are changed in place, before the transaction that does it."""
    found: Comments = {}
    for run in runs:
        if not _on_server(run):
            rows = run.warehouse.query(
                "catalog",
                "SELECT comment FROM duckdb_tables() " + _HERE + "table_name = $3",
                list(run.source.relation),
            )
            found[run.source.label] = rows[0][0] if rows else None
    return found


def hold(runs: Sequence[Run], comments: Comments) -> None:
    """Lock tables, as the first thing in the transaction that publishes, and make sure that they are as they were read.

    The locks come before anything is read: the snapshot of the transaction then has all that others have committed.
    DuckDB 1.5 has nothing to lock a table by, so that others are still compared with at the end (`look_again`).

    Raises
    ------
    InputError
        When one has changed since, has got a trigger, or is held by somebody else. Nothing was written.
    """
    for run in runs:
        relation = run.source.relation
        if _on_server(run):
            postgres.lock(run.warehouse, relation)
        else:
            said = "COMMENT ON TABLE {{ table | ident }} IS {{ said | lit }}"
            # Not part of the log, which shows nothing that somebody has written about records.
            run.warehouse.query("publish", said, table=relation, said=comments[run.source.label])
    for run in runs:
        refuse_triggers(run.warehouse, run.source.relation)
        _compare(run)


def look_again(runs: Sequence[Run]) -> None:
    """Make sure, as the last thing in the transaction that publishes, that nobody else has changed tables meanwhile.

    DuckDB lets one transaction delete what another has updated and committed: the update would be lost.

    Raises
    ------
    InputError
        When one has changed. Everything is rolled back.
    """
    for run in runs:
        if not _on_server(run):
            with run.warehouse.as_others_see():
                _compare(run)


def _on_server(run: Run) -> bool:
    return run.warehouse.kind_of(run.source.relation.catalog) == postgres.KIND


def _compare(run: Run) -> None:
    if content(run.warehouse, run.source.relation) != run.seen:
        raise InputError(
            "--in-place",
            f"{run.source.label!r} must not change between reading and publishing",
            "other columns or records than were read from it",
            "Nothing was changed. Make the release again",
        )


def check(run: Run, worked_on: Collection[Column], *, widen: bool) -> None:
    """Refuse a table whose definition forbids what would be written into it: new values of the columns worked on.

    Raises
    ------
    InputError
        With the reason.
    """
    relation = run.source.relation
    refuse_triggers(run.warehouse, relation)
    used = {column.name for column in worked_on}
    if _on_server(run):
        emptied = {column.name for column in run.roles.dropped}
        kept = {column.name for column in run.source.columns} - used - emptied
        run.notes += postgres.check(run.warehouse, relation, used=used, kept=kept, emptied=emptied)
        return
    _check_constraints(run, used, widen)
    _check_others(run.warehouse, relation)


def _check_constraints(run: Run, used: set[str], widen: bool) -> None:
    """Refuse keys, indexes and checks that the new values would break."""
    names = list(run.source.relation)
    found = run.warehouse.query(
        "catalog",
        "SELECT constraint_type, constraint_column_names FROM duckdb_constraints() " + _HERE + "table_name = $3",
        names,
    )
    indexes = run.warehouse.query(
        "catalog", "SELECT index_name, is_unique FROM duckdb_indexes() " + _HERE + "table_name = $3", names
    )
    emptied = {column.name for column in run.roles.dropped}
    for kind, columns in found:
        if kind in ("PRIMARY KEY", "UNIQUE") and used & set(columns):
            refuse(f"no column of a {kind} can be anonymized: its values must stay distinct", columns)
        if kind in ("PRIMARY KEY", "NOT NULL") and emptied & set(columns):
            refuse(f"a dropped column is emptied, which a {kind} forbids", emptied & set(columns))
    if any(unique for _, unique in indexes):
        refuse("the table must have no unique index", [name for name, unique in indexes if unique])
    if widen and (indexes or any(kind == "CHECK" for kind, _ in found)):
        refuse(
            "--widen changes types, which an index or a CHECK on the table forbids",
            [name for name, _ in indexes] or ["a CHECK"],
        )


def _check_others(warehouse: Warehouse, relation: Name) -> None:
    """Refuse a table that others refer to, or that computes columns."""
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
    if "GENERATED ALWAYS AS" in str(definition[0][0]).upper():
        refuse("the table must have no generated columns", ["at least one"])


def refuse_triggers(warehouse: Warehouse, relation: Name) -> None:
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


def refuse_other_types(run: Run) -> None:
    """Refuse to change a table in place whose columns have become another type, or more.

    Raises
    ------
    InputError
        When a column that is no text was recoded to text, or the release has a new column.
    """
    recoded = [c.name for c in run.source.columns if c in run.text and c.family not in ("text", "enum")]
    if recoded:
        refuse("a column recoded to text must be text", recoded)
    added = [column.name for column in run.roles.released if column not in run.source.columns]
    if added:
        refuse("a release in place has the columns of the table", added)


def refuse(must: str, what: Iterable[str], do: str = _ANOTHER_WAY) -> None:
    """Refuse a release in place because of what was found."""
    raise InputError("--in-place", must, ", ".join(sorted(what)), do)
