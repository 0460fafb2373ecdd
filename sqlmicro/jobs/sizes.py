"""How large a step is: the numbers that its time grows with. They tell of no value and of no name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlmicro.database.columns import CODES_AT_MOST
from sqlmicro.registry import late

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.database.warehouse import Warehouse
    from sqlmicro.pipeline import PlannedStep, Run


@dataclass(frozen=True)
class Sizes:
    """What the time of a step grows with.

    `rows` are records, `stratum` those of the stratum that a record is in, on average; `combinations` are distinct
    records. `width` is the number of coordinates: one for a numeric column, one for every value of a nominal one.
    """

    rows: int
    columns: int
    k: int = 3
    stratum: float = 0.0
    combinations: int = 0
    width: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "stratum", min(self.stratum or self.rows, self.rows))
        object.__setattr__(self, "combinations", min(self.combinations or self.rows, self.rows))
        object.__setattr__(self, "width", self.width or self.columns)

    @property
    def strata(self) -> float:
        """How many strata there are, were all as large as the average record's."""
        return self.rows / max(1.0, self.stratum)


@dataclass(frozen=True)
class Measured:
    """The sizes of a step, and of its nominal columns the number of their values."""

    sizes: Sizes
    values: dict[Column, int] = field(default_factory=dict)
    most: int = 0
    """So many values of a column make a coordinate, at most; 0: all."""

    def without(self, column: Column, combinations: int) -> Sizes:
        """Return the sizes that the step would have without one of its nominal columns."""
        own = self.sizes
        width = max(1, own.width - self.coordinates(column))
        return replace(own, columns=own.columns - 1, width=width, combinations=combinations or 1)

    def coordinates(self, column: Column) -> int:
        """Return how many coordinates a nominal column makes."""
        return min(self.values[column], self.most or self.values[column])


def of_step(run: Run, planned: PlannedStep, rows: int) -> Measured:
    """Return the sizes of a step over the records that a run has loaded."""
    warehouse, relation = run.warehouse, run.table.current
    sizes = Sizes(rows, max(1, len(planned.columns)), planned.k or 3)
    if not rows or not planned.columns:
        return Measured(sizes)
    if planned.by:
        sizes = replace(sizes, stratum=_stratum(warehouse, relation, planned.by))
    of_combinations = planned.method.stage == "safe"
    if not of_combinations and planned.method.engine != "numpy":
        return Measured(sizes)
    counted = [column for column in planned.columns if of_combinations or _nominal(column, planned.settings)]
    if not counted:
        return Measured(sizes)
    values = _values(warehouse, relation, counted)
    if of_combinations:
        nominal = {c: n for c, n in values.items() if _nominal(c, planned.settings) or _codes(c, n, planned.settings)}
        sizes = replace(sizes, combinations=combinations(warehouse, relation, [*planned.columns, *planned.by]))
    else:
        nominal = values
    most = late("sqlmicro.safe_method.cells", "INDICATORS") if of_combinations else 0
    found = Measured(sizes, nominal, most)
    width = len(planned.columns) - len(nominal) + sum(map(found.coordinates, nominal))
    return replace(found, sizes=replace(sizes, width=width))


def _nominal(column: Column, settings: Any) -> bool:
    """Tell whether a column is compared as equal or not whatever its values are."""
    if column.name in settings.get("nominal", ()):
        return True
    if column.name in (*settings.get("ordinal", ()), *settings.get("numeric", ())) or column.family == "enum":
        return False
    return not column.numeric


def _codes(column: Column, values: int, settings: Any) -> bool:
    """Tell whether `safe` takes a column of whole numbers as codes."""
    if column.name in settings.get("numeric", ()):
        return False
    return column.is_digit_group or (column.family == "integer" and values <= CODES_AT_MOST)


def _values(warehouse: Warehouse, relation: Name, columns: Sequence[Column]) -> dict[Column, int]:
    """Return about how many values each column has."""
    text = 'SELECT {{ columns | listed("approx_count_distinct({}), ") }}0 FROM {{ relation | ident }}'
    ((*found, _),) = warehouse.query("sizes", text, columns=columns, relation=relation)
    return dict(zip(columns, map(int, found), strict=True))


def values(warehouse: Warehouse, relation: Name, column: Column) -> int:
    """Return how many values a column has."""
    text = "SELECT count(DISTINCT {{ column | ident }}) FROM {{ relation | ident }}"
    return int(warehouse.query("sizes", text, column=column, relation=relation)[0][0])


def combinations(warehouse: Warehouse, relation: Name, columns: Sequence[Column]) -> int:
    """Return about how many distinct records there are in some columns."""
    if not columns:
        return 1
    text = "SELECT approx_count_distinct(hash({{ columns | idents }})) FROM {{ relation | ident }}"
    return int(warehouse.query("sizes", text, columns=columns, relation=relation)[0][0])


def _stratum(warehouse: Warehouse, relation: Name, by: Sequence[Column]) -> float:
    """Return the number of records in the stratum of a record, on average."""
    text = (
        "SELECT sum(CAST(n AS DOUBLE) * n) / sum(n) FROM (SELECT count(*) AS n FROM {{ relation | ident }} "
        "GROUP BY {{ by | idents }})"
    )
    return float(warehouse.query("sizes", text, by=by, relation=relation)[0][0] or 0)
