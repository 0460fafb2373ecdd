"""Unification: the one record that every member of a group becomes, worked out in SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlmicro.database.columns import Column
from sqlmicro.errors import ParameterError, nearest

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work

NUMERIC = ("mean", "median", "rounded-mean")
NOMINAL = ("mode", "medoid")
_TIMES = ("date", "timestamp", "timestamptz")


@dataclass(frozen=True)
class Unification:
    """How a group becomes one record; `numeric` or `nominal` is empty where there are no such columns to unify.

    Notes
    -----
    Numeric columns: `mean` is the mean in full precision, which makes DECIMAL columns DOUBLE. `rounded-mean` is the
    mean as the type of the column can hold it: a DECIMAL's digits, half to even. Columns of whole numbers, by their
    type or by their values, stay whole either way, unless decimals were asked for. Totals then deviate by up to half a
    unit per record, which the T of the SAFE distance shows. Where records are dealt anew, a `rounded-mean` is moved
    first (`dealing`). `median` is rounded like it; no total is kept by a median. Dates and timestamps are always whole
    days and microseconds. Where means would be more values than a column
    has, the nearest value that was read is released.

    Nominal columns: `mode` is the most frequent value of each column by itself, of equally frequent ones the smallest;
    the modes together need not be a record that occurs. `medoid` is the record of the group that agrees with the most
    values of the group, added up over the nominal columns; of equally near ones the first in the order of the cells.
    """

    numeric: str
    nominal: str

    def __str__(self) -> str:
        return ", ".join(part for part in (self.numeric, self.nominal) if part)


def choose(names: Sequence[str], known: Sequence[str], where: str) -> list[str]:
    """Return the unifications that are named, each once.

    Raises
    ------
    ParameterError
        For a name that is none, or for none at all.

    Examples
    --------
    >>> choose(["median", "mean", "median"], NUMERIC, "safe, unify_numeric")
    ['median', 'mean']
    """
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        got = repr(wrong[0]) if wrong else "none"
        raise ParameterError(
            where, f"must be one or several of {', '.join(known)}", got, nearest(wrong[0], known) if wrong else ""
        )
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class Rounding:
    """How numeric columns are rounded: to whole DOUBLEs, to whole numbers of their type, or to a DECIMAL's digits."""

    points: list[Column]
    whole: list[Column]
    decimals: list[tuple[Column, int]]

    @property
    def touched(self) -> list[Column]:
        """All columns that are rounded."""
        return [*self.points, *self.whole, *(column for column, _ in self.decimals)]


def rounding(columns: Sequence[Column], numeric: str, whole: Collection[Column]) -> Rounding:
    """Return how columns are rounded, of which some hold `whole` numbers that stay whole.

    >>> columns = [Column("age", "INTEGER", "age"), Column("pay", "DECIMAL(9,2)", "pay"), Column("x", "DOUBLE", "x")]
    >>> found = rounding(columns, "rounded-mean", [columns[0], columns[2]])
    >>> [column.name for column in found.touched], [digits for _, digits in found.decimals]
    (['x', 'age', 'pay'], [2])
    >>> rounding(columns, "mean", []).touched
    []
    """
    found = Rounding([], [], [])
    for column in columns:
        if column.family in _TIMES or (column in whole and column.family == "float"):
            found.points.append(column)
        elif column in whole:
            found.whole.append(column)
        elif column.family == "decimal" and numeric != "mean":
            found.decimals.append((column, int(column.type.partition(",")[2].rstrip(") "))))
    return found


class Representatives:
    """The means, medians, modes and medoids of one grouping; what several unifications share is made once."""

    def __init__(
        self, work: Work, cells: Name, members: Name, number: int, weight_column: Column | None = None
    ) -> None:
        self._work, self._cells, self._members, self._number = work, cells, members, number
        self._made: dict[str, Name] = {}
        if weight_column:
            self._members = self._of_groups("safe/weighted_members.sql", "weighted_members", weights=weight_column)

    def file(self, how: Unification, numeric: Sequence[Column], nominal: Sequence[Column], number: int) -> Name:
        """Return the file in which every record has the values of its group: label, the columns, n."""
        made = self.values(how, numeric, nominal, number)
        return rounded(self._work, self._cells, made, how, numeric, nominal, number)

    def values(self, how: Unification, numeric: Sequence[Column], nominal: Sequence[Column], number: int) -> Name:
        """Return label, n, the mean or median of every numeric column in full precision, and the nominal values."""
        if how.nominal == "medoid":
            parts = [(self._of_groups("safe/medoids.sql", "medoids", columns=nominal), nominal)]
        else:
            parts = [
                (self._of_groups("safe/modes.sql", f"modes_{i}", column=column), [column])
                for i, column in enumerate(nominal, 1)
            ]
        return self._joined(f"unified_{number}", self.numbers(how, numeric), numeric, parts)

    def numbers(self, how: Unification, numeric: Sequence[Column]) -> Name:
        """Return label, n, and the mean or median of every numeric column in full precision."""
        if how.numeric != "median":
            return self._of_groups("safe/means.sql", "means", columns=numeric)
        if "numbers" not in self._made:
            sizes = self._of_groups("safe/means.sql", "sizes", columns=[])
            parts = [
                (self._of_groups("safe/medians.sql", f"medians_{i}", column=column), [column])
                for i, column in enumerate(numeric, 1)
            ]
            self._made["numbers"] = self._joined(f"numbers_{self._number}", sizes, [], parts)
        return self._made["numbers"]

    def forget(self) -> None:
        """Drop what the files were made of: of millions of groups it would take memory until the end."""
        for relation in self._made.values():
            self._work.warehouse.forget(relation)
        self._made.clear()

    def _of_groups(self, template: str, into: str, **params: Any) -> Name:
        """Work something out of every group, once."""
        if into not in self._made:
            self._made[into] = self._work.run(
                template, f"{into}_{self._number}", cells=self._cells, members=self._members, **params
            )
        return self._made[into]

    def _joined(
        self, into: str, means: Name, numeric: Sequence[Column], parts: Sequence[tuple[Name, Sequence[Column]]]
    ) -> Name:
        """Return label, the columns of `means` and of every part, n."""
        aliased = [(f"j{i}", relation, columns) for i, (relation, columns) in enumerate(parts, 1)]
        columns = [(alias, column) for alias, _, columns in aliased for column in columns]
        return self._work.run(
            "safe/released_cells.sql",
            into,
            means=means,
            columns=[*columns, *(("m", column) for column in numeric)],
            joined=[(alias, relation) for alias, relation, _ in aliased],
        )


def rounded(
    work: Work,
    cells: Name,
    released: Name,
    how: Unification,
    numeric: Sequence[Column],
    others: Sequence[Column],
    number: int,
) -> Name:
    """Return a file with its `numeric` columns rounded as `how` says, of no more values each than the cells have.

    It is the same file if there is nothing to do. The file is read by nothing else: it is dropped where another takes
    its place.
    """
    found = rounding(numeric, how.numeric, work.whole)
    made = released
    if touched := found.touched:
        made = work.run(
            "safe/rounded_cells.sql",
            f"rounded_{number}",
            released=released,
            plain=[*others, *(column for column in numeric if column not in touched)],
            times=found.points,
            whole=found.whole,
            decimals=found.decimals,
        )
        work.warehouse.forget(released)
    many = _more_values(work, cells, made, [column for column in numeric if column.family not in _TIMES])
    if not many:
        return made
    near = work.run(
        "safe/nearest_values.sql",
        f"near_{number}",
        released=made,
        cells=cells,
        plain=[*others, *(column for column in numeric if column not in many)],
        columns=many,
    )
    work.warehouse.forget(made)
    return near


def _more_values(work: Work, cells: Name, released: Name, columns: Sequence[Column]) -> list[Column]:
    """Return the columns of which a file has more distinct values than the records."""
    if not columns:
        return []
    text = 'SELECT {{ columns | listed("count(DISTINCT {}), ") }}0 FROM {{ relation | ident }}'
    ((*before, _),), ((*after, _),) = (
        work.warehouse.query("distinct", text, columns=columns, relation=relation) for relation in (cells, released)
    )
    return [column for column, old, new in zip(columns, before, after, strict=True) if new > old]
