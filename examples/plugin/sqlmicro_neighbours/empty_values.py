"""Blank texts: a value that says nothing, and is not NULL."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.audits.registry import Found, audit
from sqlmicro.audits.row import Detail
from sqlmicro.audits.subject import Subject


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
def blank_texts(subject: Subject, limit: float | None) -> list[Found]:
    """How large a share of a quasi-identifier is blank text."""
    found = []
    for column in subject.quasi:
        ((blank, records),) = subject.warehouse.rows(
            "sqlmicro_neighbours:audit/blank_texts.sql", relation=subject.release.relation, column=column.name
        )
        found.append(Found(blank / records if records else None, (column.name,), Blank(blank)))
    return found
