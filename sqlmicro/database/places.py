"""New values in the order of the records they belong to: relations in one order are joined by place.

What a method makes is often in that order already. Numbers that are not are written to their places, which costs half
of what a sort costs; only other values are sorted, or looked up where some are missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name, Params, render, statement
from sqlmicro.database.warehouse import Database, Warehouse, aligned, database_of
from sqlmicro.errors import QueryError
from sqlmicro.system.arrow import as_arrays, whole_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

MOST_BYTES = 1 << 29
"""Of numbers written to places of our own, beside the memory of the database; more are sorted, which can spill."""
_LITTLE = 4
"""How many times the memory of a database is what is little beside it."""
_BITS = {
    "DOUBLE": 64, "BIGINT": 64, "UBIGINT": 64, "FLOAT": 32, "INTEGER": 32, "UINTEGER": 32, "SMALLINT": 16,
    "USMALLINT": 16, "TINYINT": 8, "UTINYINT": 8,
}  # fmt: skip
_IN_ORDER = """SELECT count(*) = {{ number }} AND count(*) FILTER (WHERE row_id <> place) = 0
FROM (SELECT row_id, row_number() OVER () - 1 AS place FROM {{ r | ident }})"""
_NUMBERS = "SELECT row_id, CAST({{ column | ident }} AS DOUBLE) AS value FROM {{ r | ident }}"
_SHOWN = """-- Every number was written to its place, which is the same.
CREATE OR REPLACE TABLE {{ target | ident }} AS
{{ select }}"""


def with_values(
    warehouse: Warehouse,
    relation: Name,
    columns: Sequence[tuple[Column, Name | None, str]],
    into: str,
    *,
    rows: int,
    by_place: bool,
    read_once: Collection[Name] = (),
    whole: Collection[Column] = (),
) -> Name:
    """Return the records with new values: of every column where they are, None for the records, and their name there.

    Values are joined by place, where that is allowed and the records are there from row_id 0 on, else by row_id. Where
    all relations have them in this order, that is a view: it costs less to read than to store again. Those that are
    `read_once` may be dropped by the time they are joined. New values of `whole` columns are whole numbers too.
    """
    names: dict[Name, list[str]] = {}
    for _, values, name in columns:
        if values is not None:
            names.setdefault(values, []).append(name)
    aliases = {values: f"v{number}" for number, values in enumerate(names, 1)}
    shown = [(column, "r" if values is None else aliases[values], name) for column, values, name in columns]
    listed = _by_rounding(warehouse, columns, shown, whole)
    by_place = by_place and aligned(warehouse, relation)
    placed = _all_in_order(warehouse, relation, names, read_once) if by_place else {}
    unordered = [values for values in names if values not in placed]
    there = [(aliases[values], placed.get(values, values)) for values in names]
    if by_place and all(aligned(warehouse, relation, values) for values in unordered):
        made = warehouse.run(
            "replace/released_in_order.sql", into, view=placed == {one: one for one in names}, rows=rows,
            relation=relation,
            in_order=[(aliases[values], one) for values, one in placed.items()],
            unordered=[(aliases[values], values) for values in unordered], **listed,
        )  # fmt: skip
    else:
        made = warehouse.run("replace/released.sql", into, rows=rows, relation=relation, joined=there, **listed)
    for one in {*placed.values()} - {*names}:
        warehouse.forget(one)
    return made


def _by_rounding(
    warehouse: Warehouse,
    columns: Sequence[tuple[Column, Name | None, str]],
    shown: Sequence[tuple[Column, str, str]],
    whole: Collection[Column],
) -> Params:
    """Return what is shown by how: columns of whole numbers are rounded where their new values have a point."""
    kinds: dict[Name, dict[str, str]] = {}
    found: Params = {"columns": [], "whole": [], "whole_floats": []}
    for (column, values, name), one in zip(columns, shown, strict=True):
        how = "columns"
        if values is not None and column in whole:
            if values not in kinds:
                kinds[values] = dict(warehouse.describe(values))
            if kinds[values][name] in ("DOUBLE", "FLOAT"):
                how = "whole_floats" if column.family == "float" else "whole"
        found[how].append(one)
    return found


def _all_in_order(
    warehouse: Warehouse, relation: Name, names: Mapping[Name, Sequence[str]], read_once: Collection[Name]
) -> dict[Name, Name]:
    """Return relations of new values in the order of the records, which are all there; not those to be sorted."""
    warehouse = database_of(warehouse)  # the only one that keeps an order
    n, found = warehouse.count(relation), {}
    for values, columns in names.items():
        placed = _in_order(warehouse, values, columns, relation, n, read_once=values in read_once)
        if placed is not None:
            found[values] = placed
    return found


def _in_order(
    warehouse: Database, values: Name, columns: Sequence[str], relation: Name, n: int, *, read_once: bool
) -> Name | None:
    """Return new values in the order of n records; None where there are none, or it would cost as much as a sort."""
    if warehouse.query("in order", _IN_ORDER, r=values, number=n)[0][0]:
        return values
    kinds = dict(warehouse.describe(values))
    bits = [_BITS.get(kinds[column], 0) for column in columns]
    if not all(bits) or n * sum(bits) > 8 * MOST_BYTES or not warehouse.count(values):
        return None
    into = f"{values.table}_in_order"
    placed = _placed(warehouse, values, [*zip(columns, bits, strict=True)], n)
    select = render("replace/in_order.sql", relation=relation, values=values, columns=columns)
    warehouse.log_only(into, _SHOWN, target=warehouse.staged(into), select=select)
    if read_once:
        warehouse.forget(values)  # before they are there a second time
    return warehouse.fill(placed, into)


def _placed(warehouse: Database, values: Name, columns: Sequence[tuple[str, int]], n: int) -> pa.Table:
    """Return row_id from 0 to n - 1 and the columns, by names and bits, of the rows of a relation in any order."""
    import numpy as np
    import pyarrow as pa

    found = np.zeros(n, dtype=bool)
    arrays = [np.zeros(n, dtype=f"u{bits // 8}") for _, bits in columns]
    gaps: dict[str, np.ndarray] = {}
    kinds: dict[str, Any] = {}
    rows = 0
    for batch in warehouse.batches(values):
        kinds = {field.name: field.type for field in batch.schema}
        places = batch.column("row_id").to_numpy()
        found[places] = True
        rows += len(places)
        for at, (name, _) in enumerate(columns):
            column = batch.column(name)
            own = slice(column.offset, column.offset + len(column))
            arrays[at][places] = np.frombuffer(column.buffers()[1], dtype=arrays[at].dtype)[own]
            if column.null_count:
                bits = np.unpackbits(np.frombuffer(column.buffers()[0], dtype=np.uint8), bitorder="little")[own]
                if name not in gaps:
                    gaps[name] = np.zeros(n, dtype=bool)
                gaps[name][places[bits == 0]] = True
    if rows != np.count_nonzero(found):
        raise QueryError("in order", "a record must have one new value of a column", "several")
    made = {"row_id": pa.Array.from_buffers(pa.int64(), n, [None, pa.py_buffer(np.arange(n))])}
    for (name, _), array in zip(columns, arrays, strict=True):
        valid = found & ~gaps[name] if name in gaps else found
        bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
        made[name] = pa.Array.from_buffers(kinds[name], n, [bitmap, pa.py_buffer(array)])
    return pa.Table.from_arrays(list(made.values()), names=list(made))


def has_room(warehouse: Warehouse, size: int) -> bool:
    """Tell whether as many bytes are little beside the memory of a database, whose relations stay in order."""
    return warehouse.database is not None and _LITTLE * size <= warehouse.database.memory


def show(warehouse: Warehouse, template: str, into: str, *, view: bool, **params: Any) -> Name:
    """Show a script how a relation would be made; return its name, by which it is filled."""
    warehouse = database_of(warehouse)
    target = warehouse.staged(into)
    made = "CREATE OR REPLACE VIEW {{ t | ident }}" if view else "CREATE OR REPLACE TABLE {{ t | ident }}"
    warehouse.log_only(template, made + " AS\n{{ select }}", t=target, select=render(template, **params))
    return target


def numbers_of(warehouse: Warehouse, relation: Name, column: Column) -> tuple[np.ndarray, np.ndarray]:
    """Return row_id (n,) and a column as numbers (n,), in the order of row_id; NaN where a value is missing."""
    import numpy as np
    import pyarrow as pa

    warehouse = database_of(warehouse)
    found = as_arrays(pa.Table.from_batches(warehouse.batches(statement(_NUMBERS, column=column, r=relation))))
    row_id, numbers = found["row_id"], found["value"]
    if np.all(row_id[:-1] < row_id[1:]):
        return row_id, numbers.copy()
    order = np.argsort(row_id)
    return row_id[order], numbers[order]


def in_place_of(
    warehouse: Warehouse, values: Name, relation: Name, row_id: np.ndarray, numbers: np.ndarray
) -> Name:  # fmt: skip
    """Return new values in the order of the records, NULL where a number is NaN: what a script makes of `values`."""
    import numpy as np
    import pyarrow as pa

    warehouse = database_of(warehouse)
    lacks = np.isnan(numbers)
    bitmap = pa.py_buffer(np.packbits(~lacks, bitorder="little")) if lacks.any() else None
    value = pa.Array.from_buffers(pa.float64(), len(numbers), [bitmap, pa.py_buffer(numbers)])
    into = f"{values.table}_in_order"
    show(warehouse, "replace/in_order.sql", into, view=False, relation=relation, values=values, columns=["value"])
    return warehouse.fill(pa.table({"row_id": whole_numbers(row_id), "value": value}), into)
