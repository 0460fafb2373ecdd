"""Text files that are looked at several times are read once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Warehouse


@contextmanager
def read_once(warehouse: Warehouse, source: Source) -> Iterator[Source]:
    """Stage the records of a text file for the length of the block: every column looked at would read it again."""
    if not source.is_text:
        yield source
        return
    staged = warehouse.run("load/records.sql", "read_once", relation=source.relation)
    try:
        yield replace(source, relation=staged, is_file=False)
    finally:
        warehouse.forget(staged)
