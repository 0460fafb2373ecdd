"""The columns of a source: brought into the form that methods work on, and counted, on any engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlmicro.database.columns import Column, ColumnProfile
from sqlmicro.database.read_once import read_once
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.database.whole_numbers import WholeNumbers
from sqlmicro.errors import InputError

_NEARLY_ALL = 0.95
"""An estimate of distinct values is off by a few per cent."""


def type_columns(
    warehouse: Warehouse,
    source: Source,
    columns: Sequence[Column],
    used: Collection[Column],
    into: str = "typed",
    *,
    row_key: Sequence[Column] = (),
    known_by: Sequence[Column] = (),
    view: bool = False,
) -> Name:
    """Bring every column into the form the methods work on; `used` ones are computed with.

    A view is for what is read once.

    Every record gets `record`, a hash of what identifies it: of `row_key`, or else of the columns. A key that
    only the ledger knows records by is `known_by`, and its hash `key_0`: what `record` would be.

    Raises
    ------
    InputError
        When the columns of `row_key` do not identify every record.
    """
    kinds: Params = {
        "plain": [], "kept_floats": [], "floats": [], "collated": [], "as_text": [], "dates": [], "timestamps": [],
    }  # fmt: skip
    for column in columns:
        kinds[_staged_as(column, column in used)].append(column)
    if row_key:
        _refuse_faulty_keys(warehouse, source, row_key)
    names = [f"key_{number}" for number in range(1, len(row_key or known_by) + 1)]
    return warehouse.run(
        "load/typed.sql",
        into,
        view=view,
        relation=source.relation,
        row_key=row_key or known_by,
        identity=names if row_key else columns,
        known_by=[names] if known_by else [],
        columns=columns,
        **kinds,
    )


def _refuse_faulty_keys(warehouse: Warehouse, source: Source, row_key: Sequence[Column]) -> None:
    (missing, repeated), *_ = warehouse.rows("load/row_key_faults.sql", relation=source.relation, columns=row_key)
    if missing or repeated:
        raise InputError(
            "--row-key",
            "must have a value in every record, and no two records the same one",
            f"{missing:,} records with a missing value, {repeated:,} that share theirs with another",
            "Name more columns, or leave it out: a record is then known by its content",
        )


def _staged_as(column: Column, used: bool) -> str:
    if column.collated:
        return "collated"
    if column.family == "enum" or (used and column.family == "other"):
        return "as_text"
    if column.family == "float":
        return "floats" if used else "kept_floats"
    if used and column.family == "date":
        return "dates"
    if used and column.family in ("timestamp", "timestamptz"):
        return "timestamps"
    return "plain"


def profile_columns(warehouse: Warehouse, source: Source) -> list[ColumnProfile]:
    """Count rows, NULLs and distinct values of every column."""
    kinds: Params = {"integers": [], "numbers": [], "collated": [], "others": []}
    for column in source.columns:
        kinds[_profiled_as(column)].append(column)
    with read_once(warehouse, source) as staged:
        rows = warehouse.rows("load/column_profile.sql", relation=staged.relation, **kinds)
    keys = _single_column_keys(warehouse, source)
    by_name = {column.name: column for column in source.columns}
    profiles = {}
    for name, count, nulls, distinct, low, high, fives in rows:
        sequential = low is not None and high - low + 1 == distinct == count
        whole = WholeNumbers(low, high, fives) if low is not None and high is not None else None
        profiles[name] = ColumnProfile(by_name[name], count, nulls, distinct, sequential, name in keys, whole=whole)
    return [profiles[column.name] for column in source.columns]


def _profiled_as(column: Column) -> str:
    if column.collated:
        return "collated"
    return {"integer": "integers", "float": "numbers", "decimal": "numbers"}.get(column.family, "others")


def estimated_columns(warehouse: Warehouse, source: Source) -> list[ColumnProfile]:
    """Estimate what `profile_columns` counts, in one pass and constant memory; nearly all distinct counts as all."""
    columns, integers = source.columns, [column for column in source.columns if column.family == "integer"]
    (row,) = warehouse.rows("load/column_estimates.sql", relation=source.relation, columns=columns, integers=integers)
    rows, counts, spreads = row[0], row[1 : 1 + 2 * len(columns)], row[1 + 2 * len(columns) :]
    range_of = dict(zip(integers, zip(spreads[::2], spreads[1::2], strict=True), strict=True))
    keys = _single_column_keys(warehouse, source)
    profiles = []
    for column, present, estimate in zip(columns, counts[::2], counts[1::2], strict=True):
        distinct = present if estimate >= _NEARLY_ALL * present else estimate
        spread, low = range_of.get(column, (None, None))
        sequential = spread is not None and spread + 1 == distinct == rows
        whole = None if spread is None or low is None else WholeNumbers(low, low + spread, fives=distinct)
        profiles.append(
            ColumnProfile(column, rows, rows - present, distinct, sequential, column.name in keys, whole=whole)
        )
    return profiles


def _single_column_keys(warehouse: Warehouse, source: Source) -> set[str]:
    if not source.is_table:
        return set()
    found = warehouse.query(
        "catalog",
        """SELECT constraint_column_names[1] FROM duckdb_constraints()
        WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND len(constraint_column_names) = 1
          AND database_name = {{ r.catalog | lit }} AND schema_name = {{ r.schema | lit }}
          AND table_name = {{ r.table | lit }}""",
        r=source.relation,
    )
    return {str(row[0]) for row in found}
