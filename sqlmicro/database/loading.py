"""The records of a source, each column in the form the methods work on, numbered once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import NamedTuple

from sqlmicro.database.column_roles import Roles
from sqlmicro.database.columns import Column
from sqlmicro.database.content import Content, content, content_of_input
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.typed_columns import type_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError

KNOWN_BY = "key_0"
"""The hash of the key that only the ledger knows records by."""


class Relation(NamedTuple):
    """A relation in staging, and the template it is made by; one that is not `certain` depends on the records."""

    name: str
    template: str
    certain: bool = True


LOADED = (
    Relation("typed", "load/typed.sql"),
    Relation("shuffled", "load/shuffled.sql"),
    Relation("numbered", "load/numbered.sql"),
    Relation("copies", "load/copies.sql", certain=False),
)
"""What `load` makes of every source."""


@dataclass(frozen=True)
class Loaded:
    """What a source held when it was read."""

    records: Name
    """Its records with row_id."""
    rows: int
    """How many it has; of a night of a series the whole table, whatever was read of it."""
    content: bytes
    """A hash of what was read."""
    seen: Content | None
    """What it held, where it may be changed in place."""
    first: tuple[Column, ...] = ()
    """In whose order the records are numbered, before their hash."""


def loaded(
    warehouse: Warehouse, source: Source, roles: Roles, *, watched: bool, draws: bool, first: Sequence[Column] = ()
) -> Loaded:
    """Return the records of a source with row_id; where a step `draws`, equal ones are told apart.

    Then all records have the number of their copy, whether others are equal or not: a copy that comes or goes does not
    change what the others draw. They are numbered in the order of the `first` columns, those with equal values in that
    of their hash.

    Raises
    ------
    InputError
        When the table has no rows, or --row-key does not identify them.
    """
    columns = [column for column in source.columns if column in set(roles.read)]
    ties = [KNOWN_BY] if roles.known_by else []
    with warehouse.aside() if watched else nullcontext():
        seen = content(warehouse, source.relation) if watched else None
        typed = type_columns(
            warehouse, source, columns, set(roles.used), row_key=roles.row_key, known_by=roles.known_by,
            view=not source.is_text,  # of text, whose columns are found anew with every statement
        )  # fmt: skip
        # Records that are alike in all they are known by need no hash to be told apart.
        hashed = [] if not roles.row_key and set(columns) == set(first) else ["record"]
        order = [*first, *hashed, *ties]
        shuffled = warehouse.run("load/shuffled.sql", "shuffled", view=True, relation=typed, order=order)
        given, apart, in_order = [*columns, *ties], draws and not roles.row_key, warehouse.keeps_order
        found = warehouse.run("load/numbered.sql", "numbered", view=apart, shuffled=shuffled, columns=given)
        numbered = found
        if apart:
            copies = "load/copies.sql" if in_order else "load/copies_apart.sql"
            numbered = warehouse.run(copies, "copies", numbered=found, columns=given)
    if source.is_text:
        warehouse.forget(typed)
    was_read = content_of_input(warehouse, numbered, columns, roles.row_key)
    rows = warehouse.count(numbered)
    if rows == 0:
        raise InputError(source.label, "there must be records to anonymize", "an empty table")
    return Loaded(numbered, rows, was_read, seen, tuple(first))
