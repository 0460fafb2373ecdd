"""`--nulls pattern` in the warehouse: records whose pattern of missing values is rare lose values until k share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.missing import patterns

if TYPE_CHECKING:
    from sqlmicro.registry import Tick


@dataclass(frozen=True)
class Coarsened:
    """The records by their pattern of missing values, each of which k have: how many lost how many values for that."""

    relation: Name
    records: int = 0
    values: int = 0


class _Seats(NamedTuple):
    """Which records of a pattern lose values, by their place in a drawn order, and what they lack then."""

    pattern: str
    stratum: int
    first_seat: int
    last_seat: int
    coarsened: str


def by_pattern(
    warehouse: Warehouse,
    relation: Name,
    columns: Sequence[Column],
    others: Sequence[Column],
    by: Sequence[Column],
    k: int,
    prefix: str,
    stream: str,
) -> Coarsened:
    """Return the records with their pattern of missing values in `columns`, coarsened so that k have each.

    No value is filled in. A stratum of fewer than k records stays as it is: whoever groups it refuses it.

    Parameters
    ----------
    warehouse : Warehouse
        Where the relation is, with row_id, `columns` and `others`.
    relation : Name
        The records.
    columns, others : sequences of Column
        Those whose values may be taken out, and those that only come along.
    by : sequence of Column
        Strata, in each of which every pattern needs k records.
    k : int
        Records a pattern needs.
    prefix : str
        How the staging relations are called.
    stream : str
        The variable that has the key by which the records that lose values are drawn.
    """
    staged = warehouse.run(
        "load/null_patterns.sql", f"{prefix}_patterns", view=True, relation=relation, columns=columns
    )
    sizes = warehouse.rows("load/null_pattern_sizes.sql", relation=staged, by=by)
    records = sum(n for _, _, n in sizes)
    with warehouse.progress.kernel("missing values", records) as progress:
        moves = [move for stratum in _strata(sizes) for move in _moves(stratum, k, progress.tick)]
    if not moves:
        return Coarsened(staged)
    import pyarrow as pa

    table = pa.table(dict(zip(_Seats._fields, map(list, zip(*moves, strict=True)), strict=True)))
    seats = warehouse.load(table, f"{prefix}_moves", "filled with the patterns of missing values that are coarsened")
    coarsened = warehouse.run(
        "load/coarsened_patterns.sql",
        f"{prefix}_coarsened",
        relation=staged,
        moves=seats,
        columns=columns,
        others=others,
        by=by,
        stream=stream,
    )
    changed = [(move.last_seat - move.first_seat + 1, move) for move in moves]
    values = sum(n * (move.coarsened.count("1") - move.pattern.count("1")) for n, move in changed)
    return Coarsened(coarsened, sum(n for n, _ in changed), values)


def _strata(sizes: Sequence[tuple[str, int, int]]) -> list[list[tuple[str, int, int]]]:
    found: dict[int, list[tuple[str, int, int]]] = {}
    for row in sizes:
        found.setdefault(row[1], []).append(row)
    return list(found.values())


def _moves(sizes: Sequence[tuple[str, int, int]], k: int, tick: Tick) -> list[_Seats]:
    """Return what becomes of the records of one stratum that have to lose values."""
    import numpy as np

    n = np.array([records for _, _, records in sizes], dtype=np.int64)
    if n.sum() < k or n.min() >= k:
        return []
    missing = np.array([[mark == "1" for mark in pattern] for pattern, _, _ in sizes])
    found, seat = [], [0] * len(n)
    for source, lacking, records in patterns.coarsen(missing, n, k, tick):
        if lacking.sum() > missing[source].sum():
            pattern, stratum, _ = sizes[source]
            text = "".join("1" if one else "0" for one in lacking)
            found.append(_Seats(pattern, stratum, seat[source] + 1, seat[source] + records, text))
            seat[source] += records
    return found
