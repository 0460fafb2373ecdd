"""Information loss: how far the released values are from the original ones.

What the audits of utility share: the columns of release and original, and their values in one form.

Missing values: how many a release has more or fewer of than the original.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import ByColumn, Detail, Found, NothingToMeasure, audit
from sqlmicro.database.columns import Column
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.missing.counted import Missing, found_in
from sqlmicro.system.reporting import named
from sqlmicro.system.sentences import say


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


@dataclass(frozen=True)
class BeforeAfter:
    """A number of records, before and after."""

    before: int
    after: int


@dataclass(frozen=True)
class MissingRates(Detail):
    """How many records lack a value of each column that lacks some, and how many records there are."""

    by_column: dict[str, BeforeAfter]
    records: BeforeAfter


@audit(
    "missing-rate",
    needs=("original",),
    gate="max_missing_change",
    source="Little & Rubin (2002)",
    templates=("audit/missing_rates.sql",),
)
def missing_rate(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest change of the share of missing values in a column.

    Returns
    -------
    Found
        The value over the columns both tables have, from 0 (each lacks as many of its values as before) to 1;
        `by_column`, with the records that have none and all records, before and after.
    """
    columns = audited.shared
    if audited.original is None or not columns:
        raise NothingToMeasure("audit, --original", "must have columns in common with the release", "none")
    row = audited.warehouse.record(
        "audit/missing_rates.sql",
        original=audited.original.relation,
        released=audited.release.relation,
        columns=columns,
    )
    records = BeforeAfter(int(row["records_before"]), int(row["records_after"]))
    if not (records.before and records.after):
        raise NothingToMeasure("audit, --original", "must have records, and so must the release", "none")
    by_column = {
        column.name: BeforeAfter(
            records.before - int(row[f"present_before_{i}"]), records.after - int(row[f"present_after_{i}"])
        )
        for i, column in enumerate(columns, 1)
    }
    change = max(abs(found.after / records.after - found.before / records.before) for found in by_column.values())
    lacking = {name: found for name, found in by_column.items() if found.before or found.after}
    return Found(change, tuple(column.name for column in columns), MissingRates(lacking, records))


@dataclass(frozen=True)
class Loss:
    """How far the released values are from the original ones."""

    il: float | None = field(metadata=named("IL"))
    """Over the numeric columns, in percent of the variation; None without one that varies."""
    il_by_column: dict[str, float | None] = field(metadata=named("IL_by_column"))
    """The same for each numeric column; None where no record could be compared."""
    changed_by_column: dict[str, float | None]
    """The share of the records whose value changed, for each of the other columns; None as above."""


@dataclass(frozen=True)
class Losses(Loss):
    """What a release lost, and what is missing in it."""

    loss_by_column: dict[str, float | None]
    """IL of numeric columns and the share of values changed of the others, in percent; None where it is unknown."""
    missing: list[Missing]


_ROUNDING = 1e-20
"""Squares of errors below this are of arithmetic alone."""
UNKNOWN = Losses(None, {}, {}, {}, [])
"""Nothing was measured."""


@dataclass(frozen=True)
class LossByColumn(Detail):
    """IL of every numeric column in percent, and the share of values changed of the others."""

    by_column: dict[str, float | None]
    changed: dict[str, float | None]


@dataclass(frozen=True)
class TotalByColumn(Detail):
    """The sum over all values, which sdcMicro gives, and the mean of every column."""

    total: float
    by_column: dict[str, float | None]


def measure(
    warehouse: Warehouse, original: Name, released: Name, columns: Sequence[Column], as_numeric: Collection[Column]
) -> Losses:
    """Return IL of the numeric columns together and each, and the share of values changed in the others.

    See `measure_all`; nothing is counted as missing.
    """
    return measure_all(warehouse, original, released, columns, as_numeric)


def measure_all(
    warehouse: Warehouse,
    original: Name,
    released: Name,
    columns: Sequence[Column],
    as_numeric: Collection[Column],
    counted: Sequence[Column] = (),
    *,
    aligned: bool = False,
) -> Losses:
    """Return IL of the numeric columns, the share of values changed in the others, and what is missing.

    Parameters
    ----------
    warehouse : Warehouse
        Where both relations are.
    original, released : Name
        Relations with row_id and the columns.
    columns : sequence of Column
        The columns that were worked on.
    as_numeric : collection of Column
        Those of them that were treated as numeric.
    counted : sequence of Column
        The columns whose missing values are counted.
    aligned : bool
        Whether both have the same records, and in the same order.

    Returns
    -------
    Losses

    Notes
    -----
    IL = 100 SSE/SST on standardised columns: each column's SSE and SST are divided by its variance, so that every
    column weighs the same; a constant column contributes 0 (Domingo-Ferrer & Mateo-Sanz, 2002). Both relations are
    read once, whatever the number of columns. Where no record could be compared, the loss is unknown.
    """
    numeric = [column for column in columns if column in as_numeric]
    nominal = [column for column in columns if column not in as_numeric]
    if not (columns or counted):
        return UNKNOWN
    full = _full(warehouse, (original, released), [*dict.fromkeys((*numeric, *counted))])
    whole = [column for column in numeric if aligned and column in full]
    others = [column for column in numeric if column not in whole]
    gaps = [column for column in counted if column not in full]
    in_words = _in_words(warehouse, released, nominal)
    nominal = [column for column in nominal if column not in in_words]
    row = warehouse.record(
        "audit/losses.sql", original=original, aligned=[released] * aligned, joined=[released] * (not aligned),
        numeric=others, whole=whole, nominal=nominal, in_words=in_words, counted=gaps,
    )  # fmt: skip
    sums = {column: (row[f"sse_{i}"], row[f"sst_{i}"]) for i, column in enumerate(others, 1)}
    sums |= {column: (row[f"whole_sse_{i}"], row[f"whole_sst_{i}"]) for i, column in enumerate(whole, 1)}
    records = int(row["records_after"])
    by_column: dict[str, float | None] = {}
    sse_total = sst_total = 0.0
    for column in numeric:
        sse, sst = (float(number or 0) for number in sums[column])
        unknown = not records or (sst == 0 and sse > _ROUNDING)  # nothing to compare, or no variation to compare with
        by_column[column.name] = 100 * sse / sst if sst > 0 else None if unknown else 0.0
        if sst > 0:
            sse_total, sst_total = sse_total + sse / sst, sst_total + 1
    counts = {column.name: row[f"changed_{i}"] for i, column in enumerate(nominal, 1)}
    counts |= {column.name: row[f"changed_in_words_{i}"] for i, column in enumerate(in_words, 1)}
    changed = {name: int(count) / records if records else None for name, count in counts.items()}
    lost = {**by_column, **{name: None if share is None else 100 * share for name, share in changed.items()}}
    il = 100 * sse_total / sst_total if sst_total else None
    return Losses(il, by_column, changed, lost, found_in(row, gaps))


def _in_words(warehouse: Warehouse, released: Name, nominal: Sequence[Column]) -> list[Column]:
    """Return the nominal columns whose values became text, as sets of codes do; their type is another one then."""
    others = [column for column in nominal if column.family != "text"]
    types = dict(warehouse.describe(released)) if others else {}
    return [column for column in others if Column(column.name, types[column.staged], column.staged).family == "text"]


def _full(warehouse: Warehouse, relations: Sequence[Name], columns: Sequence[Column]) -> set[Column]:
    """Return the columns in which no value is missing in any of some relations."""
    full = set(columns)
    for relation in relations if columns else ():
        row = warehouse.record("audit/present.sql", relation=relation, columns=columns)
        full -= {column for i, column in enumerate(columns, 1) if row[f"present_{i}"] < row["records"]}
    return full


@audit(
    "information-loss",
    needs=("original", "match"),
    gate="max_il",
    source="Domingo-Ferrer & Mateo-Sanz (2002)",
    templates=("audit/values.sql", "audit/present.sql", "audit/losses.sql"),
)
def information_loss(audited: AuditedRelease, limit: float | None) -> Found:
    """IL: how far the released values are from the original ones, in percent of the variation.

    Returns
    -------
    Found
        The value is IL = 100 SSE/SST over the standardised numeric columns; `by_column`, and `changed`, the share of
        records whose value differs in each nominal column.
    """
    found = comparison(audited, matched=True)
    columns = [*found.numeric, *found.nominal]
    losses = measure(audited.warehouse, found.original, found.released, columns, found.numeric)
    detail = LossByColumn(losses.il_by_column, losses.changed_by_column)
    reason = say("no numeric column varies") if losses.il is None else None
    return Found(losses.il, tuple(column.name for column in found.numeric), detail, reason)


@audit(
    "il1s",
    needs=("original", "match"),
    gate="max_il1s",
    source="Mateo-Sanz, Sebe & Domingo-Ferrer (2004)",
    templates=("audit/values.sql", "audit/distances_per_value.sql"),
)
def il1s(audited: AuditedRelease, limit: float | None) -> Found:
    """IL1s: the mean distance of a released value from the original one, in sqrt(2) standard deviations.

    Returns
    -------
    Found
        The value is the mean of |x - y|/(sqrt(2) sd) over all values present in both; `by_column`, and `total`, the sum
        that sdcMicro gives.
    """
    found = comparison(audited, matched=True)
    if not found.numeric:
        return Found(None, reason="no numeric column is in both tables")
    rows = audited.warehouse.rows("audit/distances_per_value.sql", **found.of(found.numeric))
    total, values = sum(total for _, total, _ in rows), sum(records for _, _, records in rows)
    names = tuple(name for name, _, _ in rows)
    if not values:
        return Found(None, names, reason="no record of the release matches one of the original")
    by_column = {name: part / records if records else None for name, part, records in rows}
    return Found(total / values, names, TotalByColumn(total, by_column))
