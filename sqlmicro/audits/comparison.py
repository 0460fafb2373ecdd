"""What the audits of utility share: the columns of release and original, and their values in one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import NothingToMeasure
from sqlmicro.audits.row import ByColumn, Detail, Found
from sqlmicro.database.columns import Column
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params


@dataclass(frozen=True)
class Comparison:
    """Release and original side by side: numeric and nominal columns both have, and their values."""

    numeric: list[Column]
    nominal: list[Column]
    original: Name
    released: Name

    def of(self, columns: Sequence[Column]) -> Params:
        """Return the parameters of a template that compares the columns."""
        return {"original": self.original, "released": self.released, "columns": columns}


def comparison(audited: AuditedRelease, *, matched: bool = False) -> Comparison:
    """Return what can be compared; `matched` by record.

    Raises
    ------
    InputError
        When there is no column in common, or what should identify a record does not.
    """

    def stage() -> Comparison:
        columns = audited.shared
        if not columns:
            raise NothingToMeasure("audit, --original", "must have columns in common with the release", "none")
        numeric, nominal = audited.split(columns)
        assert audited.original is not None
        original, released = (
            values_of(audited, source, side, numeric, nominal)
            for side, source in (("original", audited.original), ("released", audited.release))
        )
        return Comparison(numeric, nominal, original, released)

    def check() -> None:
        assert audited.original is not None
        audited.check_match(found.original, audited.original)
        audited.check_match(found.released, audited.release)

    found = audited.once("comparison", stage)
    if matched:
        audited.once("matched", check)
    return found


def values_of(
    audited: AuditedRelease, source: Source, side: str, numeric: Sequence[Column], nominal: Sequence[Column] = ()
) -> Name:
    """Stage the values of columns in the form in which both sides are compared; text is read once."""
    return audited.values(source, f"{side}_values", numeric, nominal, view=not source.is_text)


def largest(by_column: Mapping[str, float | None], more: Detail | None = None) -> Found:
    """Return the largest of the values by column, and all of them; a column without one has nothing to compare."""
    values = {name: value for name, value in by_column.items() if value is not None and value == value}
    if not values:
        return Found(None, tuple(by_column), reason="no column has values to compare")
    return Found(max(values.values()), tuple(by_column), ByColumn(dict(by_column), more))
