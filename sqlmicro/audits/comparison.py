"""What the audits of utility share: the columns of release and original, and their values in one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmicro.audits.registry import Found, NothingToMeasure
from sqlmicro.audits.row import ByColumn, Detail
from sqlmicro.audits.subject import Subject, Table
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError


@dataclass(frozen=True)
class Comparison:
    """Release and original side by side: numeric and nominal columns both have, and their values."""

    numeric: list[Column]
    nominal: list[Column]
    original: Name
    released: Name

    def of(self, columns: Sequence[Column]) -> dict[str, Any]:
        """Return the parameters of a template that compares the columns."""
        return {"original": self.original, "released": self.released, "columns": columns}


def comparison(subject: Subject, *, matched: bool = False) -> Comparison:
    """Return what can be compared; `matched` by record.

    Raises
    ------
    InputError
        When there is no column in common, or what should identify a record does not.
    """

    def stage() -> Comparison:
        columns = subject.shared
        if not columns:
            raise NothingToMeasure("audit, --original", "must have columns in common with the release", "none")
        numeric, nominal = subject.split(columns)
        assert subject.original is not None
        tables = {"original": subject.original, "released": subject.release}
        names = {side: values_of(subject, table, side, numeric, nominal) for side, table in tables.items()}
        return Comparison(numeric, nominal, names["original"], names["released"])

    def check() -> bool:
        for relation in (found.original, found.released):
            repeated = subject.warehouse.record("audit/repeated_keys.sql", relation=relation)["repeated"]
            if repeated:
                raise InputError(
                    "audit, --match",
                    "must identify a record in the release and in the original",
                    f"{repeated:,} records that share it with another",
                    "Name further columns",
                )
        return True

    found = subject.once("comparison", stage)
    if matched:
        subject.once("matched", check)
    return found


def values_of(
    subject: Subject, table: Table, side: str, numeric: Sequence[Column], nominal: Sequence[Column] = ()
) -> Name:
    """Stage the values of a table's columns in the form in which both sides are compared."""
    own = {column.name: column for column in table.columns}
    kinds: dict[str, list[Column]] = {"numeric": [], "dates": [], "timestamps": []}
    kind = {"date": "dates", "timestamp": "timestamps", "timestamptz": "timestamps"}
    for column in numeric:
        kinds[kind.get(own[column.name].family, "numeric")].append(column)
    keys = [subject.match] if subject.match else []
    return subject.stage(
        "audit/values.sql",
        f"{side}_values",
        view=not table.is_text,
        relation=table.relation,
        nominal=nominal,
        keys=keys,
        **kinds,
    )


def largest(by_column: Mapping[str, float | None], more: Detail | None = None) -> Found:
    """Return the largest of the values by column, and all of them; a column without one has nothing to compare."""
    values = {name: value for name, value in by_column.items() if value is not None and value == value}
    if not values:
        return Found(None, tuple(by_column), reason="no column has values to compare")
    return Found(max(values.values()), tuple(by_column), ByColumn(dict(by_column), more))
