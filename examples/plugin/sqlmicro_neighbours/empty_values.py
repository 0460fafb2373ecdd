"""Blank texts: a value that says nothing, and is not NULL."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import Detail, Found, audit


@dataclass(frozen=True)
class Blank(Detail):
    """How many values are blank."""

    blank: int


@audit(
    "blank-texts",
    gate="max_blank_texts",
    needs=("quasi",),
    source="an example",
    templates=("sqlmicro_neighbours:audit/blank_texts.sql",),
)
def blank_texts(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """How large a share of a quasi-identifier is blank text."""
    found = []
    for column in audited.quasi:
        ((blank, records),) = audited.warehouse.rows(
            "sqlmicro_neighbours:audit/blank_texts.sql", relation=audited.release.relation, column=column.name
        )
        found.append(Found(blank / records if records else None, (column.name,), Blank(blank)))
    return found
