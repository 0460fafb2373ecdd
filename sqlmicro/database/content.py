"""What a table holds, in a few numbers: two equal contents mean that nobody has changed it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.warehouse import Warehouse

_AS_IT_IS = ("UUID", "BLOB", "TIME", "HUGEINT", "UHUGEINT")


@dataclass(frozen=True)
class Content:
    """The columns of a relation, each with its type, the number of its records, and the sum of their hashes."""

    columns: tuple[tuple[str, str], ...]
    records: int
    hashes: int


def content(
    warehouse: Warehouse,
    relation: Name,
    names: Sequence[str] = (),
    described: Sequence[tuple[str, str]] = (),
) -> Content:
    """Return the content of a relation, of all its columns or of those named, in whatever order its records are.

    `described` are name and type of its columns, where they have just been read.
    """
    found = list(described) or warehouse.describe(relation)
    if names:
        kinds_of = dict(found)
        found = [(name, kinds_of[name]) for name in names]
    kinds = by_kind(make_columns(found))
    ((records, hashes),) = warehouse.rows("publish/content.sql", log=False, relation=relation, **kinds)
    return Content(tuple(found), int(records), int(hashes or 0))


def content_of(
    warehouse: Warehouse,
    relation: Name,
    columns: Sequence[tuple[str, str]],
    described: Sequence[tuple[str, str]] = (),
) -> bytes:
    """Return bytes that stand for the columns (name, type) and records of a relation, whatever their order. O(n)."""
    found = content(warehouse, relation, [name for name, _ in columns], described)
    return json.dumps([columns, found.records, found.hashes]).encode()


def content_of_input(warehouse: Warehouse, typed: Name, columns: Sequence[Column], row_key: Sequence[Column]) -> bytes:
    """Return bytes that stand for the typed columns of an input and its row key, whatever the order of its rows."""
    own = [(column.staged, column.type) for column in columns]
    return content_of(warehouse, typed, [*([("record", "UBIGINT")] if row_key else []), *own])


def by_kind(columns: Sequence[Column]) -> Params:
    """Return columns by how they are hashed, so that what is told apart in the output is told apart."""
    kinds: Params = {"plain": [], "floats": [], "nested": [], "texts": []}
    for column in columns:
        kinds[_kind(column)].append(column)
    return kinds


def _kind(column: Column) -> str:
    """Return how a column is hashed: DuckDB hashes an ENUM by its number, and takes -0.0 for 0.0."""
    if column.family == "float":
        return "floats"
    if column.family not in ("enum", "other") or column.type in _AS_IT_IS:
        return "plain"
    return "nested" if column.bits else "texts"
