"""Scopes: what stands around a method, so that it knows none of it. Each narrows the problem, and widens the answer.

A method groups records, or gives them new values. Whose records they are, what is missing of them, what was released in
the nights before, and what a class must keep besides k is taken from it and given back by a scope. Their order is the
meaning: it is written in `pipeline`, from the outermost to the innermost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sqlmicro.database import levels
from sqlmicro.database.columns import Column
from sqlmicro.database.levels import Level, Part
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.group import keeping, records
from sqlmicro.missing import policy
from sqlmicro.registry import Method, late
from sqlmicro.work import Outcome, Units, Work

Solve = Callable[[Work], None]
"""Answers a problem: what it made is the outcome of the work."""


class Scope(Protocol):
    """Solves a problem by a narrower one."""

    def solve(self, work: Work, inner: Solve) -> None:
        """Narrow the problem, let `inner` answer it, and widen the answer."""


def solve(work: Work, scopes: Sequence[Scope], method: Solve) -> None:
    """Let a method answer a problem inside some scopes, the first of which is the outermost."""
    if not scopes:
        method(work)
    else:
        scopes[0].solve(work, lambda narrowed: solve(narrowed, scopes[1:], method))


@dataclass(frozen=True)
class OneForEachUnit:
    """Persons or households with several records: one record stands for each, and its answer is that of all of them."""

    level: Level | None
    levels: Sequence[Level]
    columns: Sequence[Column]
    """All that are released, in the types they have by now."""
    used: Collection[Column]
    """Those that steps work on."""
    below: tuple[Column, ...]
    into: str

    def solve(self, work: Work, inner: Solve) -> None:
        """Group the units, within the classes of the units above."""
        if (level := self.level) is None:
            inner(work)
            return
        both = work.relation, work.compared
        relation, compared = levels.units_of_both(
            work.warehouse, both, level, self.levels, self.columns, self.into, self.used
        )
        work.demand = replace(work.demand, units=Units(level, work.relation, self.below))
        work.records = replace(work.records, relation=relation, compared=compared, order=None)
        inner(work)
        _spread(work.warehouse, level, work.outcome)


@dataclass(frozen=True)
class SameDrawsForEachUnit:
    """In a night all records of a person or household draw the same numbers: no mean of them has less noise."""

    unit: Sequence[Column]
    original: Name
    into: str

    def solve(self, work: Work, inner: Solve) -> None:
        """Draw by the unit in place of the record."""
        if self.unit:
            names = [name for name, _ in work.warehouse.describe(work.relation) if name not in ("row_id", "record")]
            work.relation = work.warehouse.run(
                "history/by_unit.sql", self.into, view=True, relation=work.relation, original=self.original,
                unit=self.unit, columns=names,
            )  # fmt: skip
        inner(work)


@dataclass(frozen=True)
class WithinPatterns:
    """Records are grouped with those that lack the same values, where that is asked for."""

    run: policy.Run
    planned: policy.Planned
    part: Part
    missing: Sequence[Column]

    def solve(self, work: Work, inner: Solve) -> None:
        """Make the pattern a stratum."""
        part, strata = self.part, (*self.planned.by, *self.part.above)
        relation, patterns = policy.patterned(
            self.run, self.planned, work.relation, part.columns, strata, self.missing, part.suffix
        )
        if relation != work.relation:
            work.relation = relation
        work.records = replace(work.records, by=(*work.records.by, *patterns))
        inner(work)


@dataclass(frozen=True)
class Keep:
    """What a class must keep besides k: the groups of a kernel are changed until they do; other methods see to it."""

    method: Method
    settings: Mapping[str, Any]
    k: int

    def solve(self, work: Work, inner: Solve) -> None:
        """Let the method group all records."""
        if self.method.engine == "numpy":
            keeper, size = self.keeper(work)
            records.group(work, self.method, self.settings, keeper, size)
        else:
            _check(work, self.method)
            inner(work)

    def keeper(self, work: Work) -> tuple[records.Keeper | None, int]:
        """Return what changes the groups of a kernel until all is kept, and how many records these are made of."""
        return keeping.keeper_of(work, self.method, self.settings, self.k)


@dataclass(frozen=True)
class Seats:
    """A night of a series: who waits is grouped, all others keep their seats."""

    keep: Keep
    seater: records.Seater

    def solve(self, work: Work, inner: Solve) -> None:
        """Let the method group whom the series asks it to; what is kept besides k, the seats of later nights keep."""
        method, settings = self.keep.method, self.keep.settings
        if method.engine == "numpy":
            keeper = self.keep.keeper(work)[0] if self.seater.before is None else None
            records.group(work, method, settings, keeper, 0, self.seater)
        else:
            _check(work, method)
            late("sqlmicro.mask.nights", "run_tonight")(work, method, settings, self.keep.k, self.seater)


def _check(work: Work, method: Method) -> None:
    """Refuse columns that a method in SQL cannot take means of, and warn of means of codes."""
    if method.stage == "group":
        policy.refuse_nominal(work.columns, work.where)
        records.say_codes(work, work.columns, "Use a method with --nominal, such as mdav, or --keep or --drop them")


def as_declared(outcome: Outcome, released: Iterable[Column]) -> None:
    """Name the columns of an outcome as the source declares them, whatever they have become by now."""
    own, account = {column.staged: column for column in released}, outcome.account
    outcome.values = {column if new.is_added else own[column.staged]: new for column, new in outcome.values.items()}
    if account.denied:
        declared = tuple(own[column.staged] for column in account.denied.columns)
        account.denied = replace(account.denied, columns=declared)
    for other in account.others.values():
        as_declared(other, released)


def _spread(warehouse: Warehouse, level: Level, outcome: Outcome) -> None:
    """Give the values of its unit to every record."""
    names: dict[Name, list[str]] = {}
    for new in outcome.values.values():
        names.setdefault(new.relation, []).append(new.column)
    if outcome.rows:
        names.setdefault(outcome.rows.relation, [])
    made = {
        values: warehouse.run(
            "replace/by_unit.sql", f"{values.table}_of_records", members=level.members, values=values, columns=columns
        )
        for values, columns in names.items()
    }
    outcome.values = {
        column: replace(new, relation=made[new.relation], read_once=False) for column, new in outcome.values.items()
    }
    if outcome.rows:
        outcome.rows = replace(outcome.rows, relation=made[outcome.rows.relation])
    for other in outcome.account.others.values():
        _spread(warehouse, level, other)


def together(outcomes: Sequence[Outcome], *, nested: bool) -> Outcome:
    """Return the outcomes of the levels of a step as one; where they are nested, the last one has all classes."""
    last = outcomes[-1]
    if nested or len(outcomes) == 1:
        return last
    accounts = [one.account for one in outcomes]
    account = replace(
        last.account,
        groups=sum(one.groups for one in accounts),
        smallest=min((one.smallest for one in accounts if one.smallest is not None), default=None),
        largest=max((one.largest for one in accounts if one.largest is not None), default=None),
        losses=[loss for one in accounts for loss in one.losses],
    )
    return replace(last, account=account)
