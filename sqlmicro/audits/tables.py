"""The SAFE distance: by how much the contingency tables of a release differ from those of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.comparison import comparison
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Detail, Found
from sqlmicro.database.source import Source
from sqlmicro.options.params import Param
from sqlmicro.safe_method.compare import DistanceOptions, compare
from sqlmicro.safe_method.distance import Deviations


@dataclass(frozen=True)
class Deviating(Detail):
    """The deviations by the number of columns of a table, which is at most `order`."""

    orders: dict[str, Deviations]
    order: int


@audit(
    "safe-distance",
    needs=("original",),
    gate="max_safe_distance",
    on_request=True,
    source="Höhne (2003); see sqlmicro safe-distance",
    templates=("safe/cells.sql", "safe/deviations.sql", "safe/moments.sql", "safe/nominal_codes.sql"),
)
def safe_distance(
    audited: AuditedRelease,
    limit: float | None,
    *,
    order: Annotated[int, Param("SAFE distance: tables of up to this many nominal columns.", min=1, max=10)] = 3,
) -> Found:
    """The SAFE distance of release and original over their contingency tables.

    Returns
    -------
    Found
        The value is the distance, `orders` the deviations by the number of columns of a table.
    """
    found = comparison(audited)
    original, release = audited.original, audited.release
    assert original is not None
    result = compare(
        audited.warehouse,
        Source(original.relation, "original", original.columns, is_table=False),
        Source(release.relation, "release", release.columns, is_table=False),
        DistanceOptions(
            columns=tuple(column.name for column in (*found.numeric, *found.nominal)),
            numeric=tuple(column.name for column in found.numeric),
            nominal=tuple(column.name for column in found.nominal),
            order=order,
        ),
    )
    names = tuple(column.name for column in audited.shared)
    return Found(result.parts.distance, names, Deviating(result.parts.orders, order))
