"""What a table holds, in few bytes: what tells whether an input or a release is still the same."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlmicro.columns import Column
from sqlmicro.templates import Name
from sqlmicro.warehouse import Warehouse


def content_of(warehouse: Warehouse, relation: Name, columns: Sequence[tuple[str, str]]) -> bytes:
    """Return bytes that stand for the columns (name, type) and records of a relation, whatever their order. O(n)."""
    names = [name for name, _ in columns]
    ((records, hashes),) = warehouse.rows("publish/content.sql", log=False, relation=relation, columns=names)
    return json.dumps([columns, records, int(hashes or 0)]).encode()


def content_of_input(warehouse: Warehouse, typed: Name, columns: Sequence[Column], row_key: Sequence[Column]) -> bytes:
    """Return bytes that stand for the typed columns of an input and its row key, whatever the order of its rows."""
    own = [(column.staged, column.type) for column in columns]
    return content_of(warehouse, typed, [*([("record", "UBIGINT")] if row_key else []), *own])
