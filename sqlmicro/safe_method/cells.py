"""The original file, aggregated to the combinations that occur: what SAFE works on instead of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlmicro.database.columns import Column, split_scales
from sqlmicro.database.typed_columns import profile_columns
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.missing.standardise import standardise
from sqlmicro.safe_method.occurring import at_driver, occurring
from sqlmicro.safe_method.persons_of_cells import PersonsOfCells

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work

Pass = Literal["numeric", "nominal", "both"]
OWN_VALUES_AT_MOST = 150
"""With `auto`, a numeric column with at most so many distinct values (ages, counts) keeps values that occur."""

INDICATORS = 100
"""Records are grouped by at most so many values of a nominal column."""
SCATTERED_ABOVE, FEW = 150, 10
"""No table can be kept of a nominal column with more values, if most records have one that fewer than 10 k have."""


@dataclass(frozen=True)
class Cells:
    """The occurring combinations, in SQL as a relation and in NumPy as coordinates.

    `n` and `strata` have shape (cells,); `codes` are the numbers of the nominal values and `raw` the numeric values as
    they are, NaN where missing; `numbers` are the standardised numeric columns. `original` is what a release is
    compared with, also where `relation` lacks further values so that patterns of them are frequent; `file` has the sum
    of the weights of its records as n, where they have weights. Those of a cell have the same: `weights` holds them, by
    the mean weight of a record, which is `unit`. `indicators` are the values of every nominal column that records are
    grouped by. `elsewhere` are the columns of the step that belong to other levels. `scattered` are nominal columns of
    which no table can be kept, and no other field has them but `places` (cells, scattered): where their values stand in
    order, standardised. `beside` (cells, …) are numbers that are not released, but tell which units are near: how many
    records each has, and their means. `persons` are who has which cells, where the records are elsewhere.
    """

    relation: Name
    original: Name
    file: Name
    nominal: list[Column]
    numeric: list[Column]
    key: list[Column | str]
    n: np.ndarray
    strata: np.ndarray
    codes: np.ndarray
    raw: np.ndarray
    numbers: np.ndarray
    weight_column: Column | None
    weights: np.ndarray
    indicators: list[np.ndarray]
    unit: float
    elsewhere: list[Column]
    scattered: list[Column]
    places: np.ndarray
    beside: np.ndarray
    persons: PersonsOfCells | None = None

    def passes(self) -> tuple[Pass, ...]:
        """Return the passes that these columns allow."""
        if not self.nominal:
            return ("numeric",)
        return ("numeric", "nominal", "both") if self.numeric else ("nominal",)

    @property
    def without_arithmetic(self) -> list[Column]:
        """The nominal columns, those without tables last."""
        return [*self.nominal, *self.scattered]

    @property
    def sparse(self) -> str:
        """What is said of nominal columns with so many values that records are grouped by some of them."""
        many = []
        for column, code, values in zip(self.nominal, self.codes.T, self.indicators, strict=True):
            if (distinct := int(code.max(initial=-1)) + 1) > len(values):
                many.append(f"{column.name} {len(values):,} of {distinct:,}")
        if not many:
            return ""
        which = ", ".join(many)
        return f"grouping: of many values the commonest take part, none that fewer than k records have: {which}"

    def coordinates(self, which: Pass) -> np.ndarray:
        """Return the coordinates (cells, p) of a pass: standardised numbers, a 0/1 column per indicator."""
        import numpy as np

        if which == "numeric":
            return self.numbers
        found, first = np.zeros((len(self.n), self.width(which))), 0
        if which == "both":
            first = self.numbers.shape[1]
            found[:, :first] = self.numbers
        for code, values in zip(self.codes.T, self.indicators, strict=True):
            if len(values):
                place = np.minimum(np.searchsorted(values, code), len(values) - 1)
                rows = np.flatnonzero(values[place] == code)
                found[rows, first + place[rows]] = 1.0
            first += len(values)
        return found

    def width(self, which: Pass) -> int:
        """Return the number of coordinates of a pass."""
        numbers, values = int(self.numbers.shape[1]), sum(len(values) for values in self.indicators)
        return {"numeric": numbers, "nominal": values, "both": numbers + values}[which]


def make_cells(
    work: Work,
    numeric: tuple[str, ...],
    nominal: tuple[str, ...],
    k: int,
    weight_column: Column | None = None,
    by: Sequence[str] = (),
    *,
    dealt: bool = False,
) -> Cells:
    """Aggregate the records to cells; no group crosses strata, which are nominal; `weight_column` has the weights.

    Nominal columns that are named, there or in `by`, have tables, however many values they have. Units
    that may be `dealt` anew are told apart by how many records they have, too, and by the means of these.
    """
    import numpy as np

    scales = _by_scale(work, numeric, nominal)
    numeric_columns, nominal_columns = ([column for column in work.columns if column in scale] for scale in scales)
    strata = [column for column in work.by if isinstance(column, Column)]
    averaged = _averaged(work, [column for column in work.records.classes if column in scales[0]])
    in_tables = [column for column in strata if column not in averaged]
    nominal_columns = list(dict.fromkeys([*in_tables, *nominal_columns]))
    weights = [weight_column] if weight_column else []
    guides = _guides(work, scales[0]) if dealt and numeric_columns else []
    own_key = list(dict.fromkeys([*nominal_columns, *numeric_columns, *work.by, *weights]))
    key = [*own_key, *guides]
    relation = occurring(work, work.relation, key, "cells")
    own = [column for column in own_key if isinstance(column, Column)]
    original = relation
    if guides or work.compared != work.relation:
        original = occurring(work, work.compared, own, "original_cells")
    few = [] if work.demand.files else scattered(work, original, nominal_columns, [*nominal, *by], k)
    nominal_columns = [column for column in nominal_columns if column not in few]
    few = [column for column in few if column in work.columns]
    read = work.warehouse.small.arrays(
        "safe/features.sql",
        cells=relation,
        by=work.by,
        nominal=[*nominal_columns, *few],
        numeric=[*numeric_columns, *weights, *guides],
    )
    n = read["n"].astype(np.int64)

    def of(columns: Sequence[Column | str], kind: type = float) -> np.ndarray:
        names = [column.staged if isinstance(column, Column) else column for column in columns]
        found: np.ndarray = np.array([read[name] for name in names], dtype=kind).reshape(-1, len(n)).T
        return found

    raw, codes, places = of(numeric_columns), of(nominal_columns, np.int64), of(few)
    weight = of(weights)[:, 0] if weights else np.ones(len(n))
    return Cells(
        relation, original, weighed(at_driver(work), original, [*nominal_columns, *numeric_columns], weight_column),
        nominal_columns, numeric_columns, key, n, read["stratum"], codes, raw, standardise(raw, n),
        weight_column, weight * n.sum() / (weight @ n), indicators(codes, n, k), float(weight @ n / n.sum()),
        [column for column in work.step.columns if column not in work.columns], few, standardise(places, n), of(guides),
        PersonsOfCells.of(work, work.warehouse.hand_over(relation), key),
    )  # fmt: skip


def _guides(work: Work, numeric: Sequence[Column]) -> list[Column | str]:
    """Return what tells which units are near beside their own columns, and have it in the relation of the work."""
    units = work.demand.units
    if units is None or work.records.classes:
        return []
    work.relation = work.run(
        "safe/counted_units.sql", "counted_units", view=True, relation=work.relation, members=work.members()
    )
    return [*(column for column in work.records.guides if column in numeric), "records"]


def scattered(work: Work, cells: Name, columns: Sequence[Column], named: Sequence[str], k: int) -> list[Column]:
    """Return the nominal columns of which no table can be kept, and say what becomes of them.

    They have more than 150 values, and most records have one that fewer than 10 k records have: by a column of ten
    values there are fewer than k in a cell. Those that the user named are none, nor those that records are divided
    by; nor are all of them, since something must be left to place records by.
    """
    meant = {name.lower() for name in named}
    divided = [column for column in work.by if column not in work.records.classes]
    free = [column for column in columns if column not in divided and column.name.lower() not in meant]
    if not free:
        return []
    rows = at_driver(work).warehouse.rows("safe/rare_values.sql", cells=cells, columns=free, few=FEW * k, k=k)
    found = {
        free[int(place) - 1]: f"{values:,} values, {below_k:,} {unit} with one that fewer than {k} have"
        for unit in [f"{work.unit}s"]
        for place, values, records, with_few, below_k in sorted(rows)
        if values > SCATTERED_ABOVE and 2 * with_few > records
    }
    if len(found) == len(columns):
        return []
    told = [f"{column.name} ({counts})" for column, counts in found.items() if column in work.columns]
    if told:
        text = (
            f"too many values for tables, which are neither kept nor compared: {', '.join(told)}. What is released is "
            f"the most frequent value of {k} or more that are grouped: it may be one that a single record had, and "
            "tells that somebody has it. --drop such a column, or recode it before; --nominal keeps it in the tables"
        )
        work.warehouse.progress.say(text)
        work.note(text)
    return list(found)


def indicators(codes: np.ndarray, n: np.ndarray, k: int) -> list[np.ndarray]:
    """Return for every nominal column the values that records are grouped by: all, or the commonest of very many.

    Of a column with more than `INDICATORS` values they are the commonest, and only those that k records have: groups
    of k cannot be alike in the others, and a 0/1 column for each of them would take nearly all of the time.

    >>> import numpy as np
    >>> many = np.concatenate([[0] * 9, [1] * 2, np.arange(2, 120)])[:, None]
    >>> [values.tolist() for values in indicators(many, np.ones(len(many), dtype=int), 3)]
    [[0]]
    """
    import numpy as np

    found = []
    for code in codes.T:
        records = np.bincount(code, n)
        common = np.argsort(-records, kind="stable")[:INDICATORS]
        found.append(np.sort(common[records[common] >= k]) if len(records) > INDICATORS else np.arange(len(records)))
    return found


def weighed(work: Work, cells: Name, columns: Sequence[Column], weight_column: Column | None) -> Name:
    """Return cells in which n is the sum of the weights; where there are none, the cells."""
    if weight_column is None:
        return cells
    return work.run(
        "safe/weighted_cells.sql", "weighted_cells", view=True, cells=cells, columns=columns, weights=weight_column
    )


def checked_weights(work: Work, weights: str | None) -> Column | None:
    """Return the column of weights, if there is one; refuse those that are no numbers above 0.

    Raises
    ------
    ParameterError
        For a column that is not numeric.
    InputError
        For records without a weight that can be used.
    """
    if not weights:
        return None
    where, weight_column = f"{work.where}, weights", work.kept(weights, "weights")
    if weight_column.family not in ("integer", "decimal", "float"):
        raise ParameterError(where, "must be a column of numbers", f"{weight_column.name} ({weight_column.type})")
    found = work.record("safe/unfit_weights.sql", relation=work.relation, weights=weight_column)
    if found["records"]:
        raise InputError(
            where,
            "every record must have a weight from 0.000001 to 1,000,000,000",
            f"{found['records']:,} of {found['records_in_all']:,} records without one",
            "Give every record a weight, or leave these records out before",
        )
    return weight_column


def _by_scale(work: Work, numeric: tuple[str, ...], nominal: tuple[str, ...]) -> tuple[list[Column], list[Column]]:
    """Return the numeric and the nominal columns of the step; the report says which is which of this level."""
    # Every night of a series has the scales of the first one: else its values could become others, or means.
    proposed = work.once("scales", lambda: {
        found.column.name: found.scale[0] for found in profile_columns(work.warehouse, work.source)
    })  # fmt: skip
    found = split_scales(work.step.columns, proposed, numeric, nominal, work.where)
    for scale, columns in zip(("numeric", "nominal"), found, strict=True):
        names = [column.name for column in columns if column in work.columns]
        if names:
            work.note(f"{scale}: {', '.join(names)}")
    return found


def _averaged(work: Work, columns: Sequence[Column]) -> list[Column]:
    """Return those of some numeric columns of levels above whose values have become means: no table is made by them."""
    if not columns:
        return []
    text = 'SELECT {{ columns | listed("count(DISTINCT {}), ") }}0 FROM {{ relation | ident }}'
    ((*values, _),) = work.warehouse.query("distinct", text, columns=columns, relation=work.compared)
    return [column for column, count in zip(columns, values, strict=True) if count > OWN_VALUES_AT_MOST]
