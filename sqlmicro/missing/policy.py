"""What becomes of missing values before a step: refused, left out, values of their own, or grouped by their pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlmicro.database.column_roles import Roles
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.missing import coarsen, counted
from sqlmicro.registry import Method
from sqlmicro.system.secrets import Key, Task

_MUCH = 0.05
"""A larger share of all values that patterns take out is warned of."""

NULLS = ("error", "keep", "suppress", "pattern")


class Planned(Protocol):
    """What must be known of a step before its columns are checked."""

    @property
    def number(self) -> int:
        """Its place in the run."""

    @property
    def method(self) -> Method:
        """Which method it runs."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns it works on."""

    @property
    def by(self) -> tuple[Column, ...]:
        """The strata."""

    @property
    def k(self) -> int:
        """The smallest size of a group, 0 for a method that has none."""

    @property
    def nulls(self) -> str:
        """What becomes of missing values."""

    @property
    def where(self) -> str:
        """What messages call it."""


class Night(Protocol):
    """What must be known of the series that a run continues."""

    @property
    def before(self) -> object:
        """What it remembers; None in the first night."""


class Around(Protocol):
    """What stands around every method of a run."""

    @property
    def seater(self) -> Night | None:
        """What continues a series, where the run is a night of one."""


class Repeat(Protocol):
    """What makes the same release again."""

    key: Key


class Table(Protocol):
    """The records by now."""

    current: Name

    @property
    def numeric(self) -> set[Column]:
        """The columns whose values have become numbers, such as means."""


class Log(Protocol):
    """What is told of a run."""

    notes: list[str]


class Run(Protocol):
    """What a run is asked for, and told, when missing values are settled."""

    warehouse: Warehouse
    source: Source
    roles: Roles

    @property
    def repeat(self) -> Repeat:
        """What makes the same release again."""

    @property
    def table(self) -> Table:
        """The records by now."""

    @property
    def around(self) -> Around:
        """What stands around its methods."""

    @property
    def log(self) -> Log:
        """What is told of it."""


def settle(run: Run, planned: Planned) -> list[Column]:
    """Check the columns for missing and infinite values, and return those that lack some.

    The records that lack some are left out where that is asked for.

    Raises
    ------
    InputError
        When values are missing that may not be, no record is left, or a number is not finite.
    """
    columns, nulls, where = planned.columns, planned.nulls, planned.where
    if nulls not in NULLS:
        raise ParameterError(f"{where}, nulls", f"must be one of {', '.join(NULLS)}", repr(nulls))
    missing = _missing(run, columns, where)
    if missing and nulls == "error":
        raise InputError(
            where,
            "the columns must have no missing values",
            "NULL in " + ", ".join(f"{column.name} ({count:,})" for column, count in missing.items()),
            "Choose --nulls pattern (group only records with the same columns missing: none is filled in), keep (NULL "
            "is a value of its own), or suppress (leave these records out of the release)",
        )
    if missing and nulls == "suppress":
        before = run.warehouse.count(run.table.current)
        run.table.current = run.warehouse.run(
            "load/complete_rows.sql", f"complete_{planned.number}", typed=run.table.current, columns=columns
        )
        after = run.warehouse.count(run.table.current)
        run.log.notes.append(f"{before - after:,} records with missing values were left out (--nulls suppress)")
        if after == 0:
            raise InputError(where, "some records must have no missing values", "none", "Use --nulls pattern or keep")
    return list(missing)


def patterned(
    run: Run,
    planned: Planned,
    relation: Name,
    columns: Sequence[Column],
    by: Sequence[Column],
    missing: Sequence[Column],
    suffix: str = "",
) -> tuple[Name, list[str]]:
    """Return the relation to work on, and its further strata: with `--nulls pattern`, where values are missing.

    In a series the pattern is a stratum in every night, whatever is missing in it. In the first one values are taken
    out as in any release, later only of records that have waited: see `Series.seated`. Of a column that is grouped by
    itself nothing is taken out: who lacks a value waits for k who do.

    Parameters
    ----------
    run, planned
        The run and its step.
    relation : Name
        The records, or the units of a level.
    columns, by : sequences of Column
        What is grouped of them, and the strata.
    missing : sequence of Column
        The columns that lack values.
    suffix : str
        What tells its relations from those of another level.
    """
    promise, lacking = planned.method.promise, [column for column in columns if column in missing]
    if planned.nulls != "pattern" or not (lacking or run.around.seater):
        return relation, []
    if run.around.seater and (run.around.seater.before or not lacking or promise != "record"):
        into = f"missing_{planned.number}{suffix}_patterns"
        if promise == "record":
            relation = run.warehouse.run("load/null_patterns.sql", into, view=True, relation=relation, columns=columns)
        return relation, ["pattern"] if promise == "record" else []
    if promise == "record":
        return _by_pattern(run, planned, relation, [columns], by, suffix), ["pattern"]
    if promise == "column":
        return _by_pattern(run, planned, relation, [[column] for column in lacking], by, suffix), []
    return relation, []


def refuse_nominal(columns: Sequence[Column], where: str) -> None:
    """Refuse columns without arithmetic."""
    wrong = [f"{column.name} ({column.type})" for column in columns if not column.numeric]
    if wrong:
        raise InputError(
            where,
            "works on numbers, dates and timestamps",
            ", ".join(wrong),
            "Leave these out of --columns, or use: sqlmicro safe, which takes any type",
        )


def _missing(run: Run, columns: Sequence[Column], where: str) -> dict[Column, int]:
    """Return how many values are missing of the columns that lack some; refuse numbers without arithmetic."""
    averaged = {column.staged for column in run.table.numeric}
    floats = [
        column
        for column in columns
        if column.family in ("float", "date", "timestamp", "timestamptz") or column.staged in averaged
    ]
    others = [column for column in columns if column not in floats]
    rows = run.warehouse.rows("load/gaps.sql", typed=run.table.current, floats=floats, others=others)
    found = {name: (nulls, unusable) for name, nulls, unusable in rows}
    infinite = [f"{column.name} ({found[column.name][1]:,})" for column in columns if found[column.name][1]]
    if infinite:
        raise InputError(
            where,
            "numbers must be finite and below 1e150",
            "NaN, infinite or larger values in " + ", ".join(infinite),
            "Replace them by NULL, or leave these columns out of --columns",
        )
    return {column: found[column.name][0] for column in columns if found[column.name][0]}


def _by_pattern(
    run: Run,
    planned: Planned,
    relation: Name,
    blocks: Sequence[Sequence[Column]],
    by: Sequence[Column],
    suffix: str,
) -> Name:
    """Return the records with patterns of missing values that k share, in each block of columns; say what it cost."""
    records = values = 0
    k, records_there = planned.k, run.warehouse.count(relation)
    for number, block in enumerate(blocks, 1):
        there = run.roles.read if run.around.seater else run.roles.released
        others = [column for column in there if column not in block]
        prefix = f"missing_{planned.number}_{number}{suffix}"
        task = Task("missing values", names_of(block), names_of(by), "pattern", {"k": k})
        stream = f"sqlmicro_{prefix}"
        run.warehouse.set_key(stream, run.repeat.key.draws(run.source.identity, task, names_of(block)))
        found = coarsen.by_pattern(run.warehouse, relation, block, others, by, k, prefix, stream)
        relation, records, values = found.relation, records + found.records, values + found.values
    cost = f"{counted.number(values, 'value')} of {counted.number(records, 'record')}" if values else "no other value"
    run.log.notes.append(
        f"--nulls pattern filled in no missing value and took out {cost}, so that at least k = {k} records lack the "
        "same columns"
    )
    cells = records_there * len(dict.fromkeys(column for block in blocks for column in block))
    if values > _MUCH * cells:
        run.log.notes.append(
            f"warning: that is {values / cells:.0%} of all values in these columns. --nulls keep takes out fewer, and "
            "fills in some; or drop the columns that lack most"
        )
    return relation
