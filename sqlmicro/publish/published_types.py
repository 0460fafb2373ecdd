"""The types of a release: kept columns keep theirs, ENUM types lose labels that no record has, changes are reported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlmicro.database.columns import Column
from sqlmicro.database.files import file_format
from sqlmicro.erasure.enums import definition, labels_of
from sqlmicro.publish.report import Change

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.targets import Target

_LABELS = re.compile(r"""("(?:[^"]|"")*")|\bENUM\(\s*'(?:[^']|'')*'(?:\s*,\s*'(?:[^']|'')*')*\s*\)""")
"""A quoted name, which may hold anything, or an ENUM type with its labels."""


def with_enums_as(kind: str, other: str) -> str:
    r"""Return a type with another one in place of every ENUM in it.

    >>> with_enums_as('STRUCT("ENUM(\'x\')" ENUM(\'a\', \'it\'\'s\')[], b DATE)', "VARCHAR")
    'STRUCT("ENUM(\'x\')" VARCHAR[], b DATE)'
    """
    return _LABELS.sub(lambda found: found.group(1) or other, kind)


def of_release(run: Run, relation: Name, target: Target) -> dict[Column, str]:
    """Return the type of the columns that are not published in the type they are staged in: those with ENUM types.

    A table of DuckDB keeps the ENUM type of a column that no step changed, with the labels that occur in the release
    only: others may be values of records that were left out. Within another type, and anywhere else, an ENUM is text:
    a Parquet file would have all labels in its dictionary. A table that is changed in place keeps its definition.
    """
    if target.kind == "in place":
        return {}
    released = [column for column in run.source.columns if column in set(run.roles.released)]
    nested = {c: with_enums_as(c.type, "VARCHAR") for c in released if c.family == "other"}
    found = {column: kind for column, kind in nested.items() if kind != column.type}
    changed = {name for step in run.steps for name in step.columns}
    enums = [column for column in released if column.family == "enum" and column.name not in changed]
    if target.has_enums and enums:
        rows = run.warehouse.rows("publish/labels.sql", log=False, relation=relation, columns=enums)
        occurring = {(number, label) for number, label in rows}
        for number, column in enumerate(enums, 1):
            # DuckDB wants one label at least: an empty text stands for none.
            labels = [label for label in labels_of(column.type) if (number, label) in occurring]
            found[column] = definition(labels or [""])
    return found


def changes(run: Run, columns: Sequence[Column], target: Target) -> list[Change]:
    """Return the columns whose type in the release, as it was read back, is not that of the source."""
    if target.kind == "file" and file_format(target.label) in ("csv", "json"):
        return []
    published = {column.name: column for column in columns}
    return [
        Change(column.name, *_told(column, published[column.name]))
        for column in run.source.columns
        if column.name in published and _differ(column, published[column.name])
    ]


def _differ(before: Column, after: Column) -> bool:
    return (before.type, before.collated) != (after.type, after.collated)


def _told(before: Column, after: Column) -> tuple[str, str]:
    """Return both types without labels, which are values, and with what makes them differ."""
    shown = [with_enums_as(one.type, "ENUM") + (" with a collation" if one.collated else "") for one in (before, after)]
    if shown[0] == shown[1]:
        shown[1] += " with the labels that occur"
    if "HUGEINT" in shown[0] and shown[1] == "DOUBLE":
        shown[1] += " of 15 digits"
    return shown[0], shown[1]
