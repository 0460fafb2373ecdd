"""Unification: the one record that every member of a group becomes, worked out in SQL."""

from __future__ import annotations

from collections.abc import Sequence
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
    Numeric columns: `mean` is the mean in full precision, which makes integer and DECIMAL columns DOUBLE.
    `rounded-mean` is the mean as the type of the column can hold it: whole numbers, a DECIMAL's digits, half to even;
    FLOAT and DOUBLE columns are not rounded. Totals then deviate by up to half a unit per record, which the T of the
    SAFE distance shows. `median` is rounded like `rounded-mean`; no total is kept by it. Dates and timestamps are
    always whole days and microseconds.

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


def rounding(columns: Sequence[Column], numeric: str) -> tuple[list[Column], list[tuple[Column, int]]]:
    """Return the columns of whole days or microseconds, and those to be rounded with their digits after the point.

    >>> columns = [Column("age", "INTEGER", "age"), Column("pay", "DECIMAL(9,2)", "pay"), Column("x", "DOUBLE", "x")]
    >>> [(column.name, digits) for column, digits in rounding(columns, "rounded-mean")[1]]
    [('age', 0), ('pay', 2)]
    >>> rounding(columns, "mean")
    ([], [])
    """
    times = [column for column in columns if column.family in _TIMES]
    if numeric == "mean":
        return times, []
    return times, [(column, _digits(column)) for column in columns if column.family in ("integer", "decimal")]


def _digits(column: Column) -> int:
    """Return the digits after the point that the type of a column has."""
    return int(column.type.partition(",")[2].rstrip(") ")) if column.family == "decimal" else 0


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
        return rounded(self._work, self.values(how, numeric, nominal, number), how, numeric, nominal, number)

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
    work: Work, released: Name, how: Unification, numeric: Sequence[Column], others: Sequence[Column], number: int
) -> Name:
    """Return a file with its `numeric` columns rounded as `how` says; the same file if there is nothing to round.

    The file is read by nothing else: it is dropped where another takes its place.
    """
    times, digits = rounding(numeric, how.numeric)
    touched = [*times, *(column for column, _ in digits)]
    if not touched:
        return released
    made = work.run(
        "safe/rounded_cells.sql",
        f"rounded_{number}",
        released=released,
        plain=[*others, *(column for column in numeric if column not in touched)],
        times=times,
        whole=[column for column, places in digits if not places],
        decimals=[(column, places) for column, places in digits if places],
    )
    work.warehouse.forget(released)
    return made
