"""Ladders of generalization: what the values of a column become on each level, as relations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sqlmicro.database.columns import Column, settings_by_column
from sqlmicro.errors import ParameterError
from sqlmicro.guarantees.hierarchies import read_hierarchy, refuse_lacking

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name, Params
    from sqlmicro.work import Work

Kind = Literal["width", "breaks", "quantiles", "truncate", "prefix", "hierarchy", "bins", "one-class"]
UNITS = {"date": ("week", "month", "quarter", "year"), "timestamp": ("hour", "day", "week", "month", "quarter", "year")}
WRITTEN = "is written COLUMN=…"
_TOP = "*"
_TEXTS = {"date": "date", "timestamp": "timestamp", "timestamptz": "timestamp"}
_RANGES = ("width", "breaks", "quantiles", "bins")


@dataclass(frozen=True)
class Rule:
    """One level: how it is made of the values. A hierarchy is a rule with as many levels as its file has."""

    column: Column
    kind: Kind
    argument: Any
    where: str


@dataclass(frozen=True)
class Ladder:
    """What the values of a column become: a relation with value, level_i, code_i and share_i, i from 1 to height."""

    column: Column
    relation: Name
    texts: Name | None
    """The distinct values of the column as text, where its levels are text."""
    height: int
    text: bool
    numeric: bool
    rules: tuple[Rule, ...] = ()
    """What makes its levels; that of a hierarchy makes all of them."""
    top: bool = False
    """Whether a level of one class was added to a hierarchy."""
    bins: Mapping[int, Name] = field(default_factory=dict)
    """The bins of quantiles, by level: value, low, high."""


def rules(work: Work, given: dict[Kind, tuple[str, ...]]) -> dict[Column, list[Rule]]:
    """Return the rules of every column, checked; a column has rules of one kind, in the order of their levels."""
    found: dict[Column, list[Rule]] = {}
    for kind, items in given.items():
        where = f"{work.where}, {kind}"
        for column, text in settings_by_column(work.step.columns, items, where, WRITTEN):
            if column not in work.columns:
                continue
            rule = Rule(column, kind, _argument(column, kind, text, where), where)
            others = found.setdefault(column, [])
            if any(other.kind != kind for other in others) or (others and kind == "hierarchy"):
                raise ParameterError(
                    where, "a column has levels of one kind", f"{column.name}: {others[0].kind} and {kind}"
                )
            others.append(rule)
    return found


def _argument(column: Column, kind: Kind, text: str, where: str) -> Any:
    """Return the argument of a rule in its type, or raise ParameterError."""
    wrong = ParameterError(where, _MUST[kind], f"something else for {column.name!r}")
    if kind in ("truncate", "prefix", "hierarchy"):
        return _other_argument(column, kind, text, where, wrong)
    if column.family in ("timestamp", "timestamptz") or not column.numeric:
        raise ParameterError(where, "must be numbers or dates", f"{column.name} ({column.type})")
    try:
        if kind == "breaks":
            numbers = [_number(column, part.strip()) for part in text.split(";")]
            if not all(map(math.isfinite, numbers)) or numbers != sorted(set(numbers)):
                raise wrong
            return numbers
        number = float(text) if kind == "width" else int(text)
    except ValueError:
        raise wrong from None
    if not (math.isfinite(number) and number > (0 if kind == "width" else 1)):
        raise wrong
    return number


def _other_argument(column: Column, kind: Kind, text: str, where: str, wrong: ParameterError) -> Any:
    family = "timestamp" if column.family == "timestamptz" else column.family
    if kind == "truncate":
        if family not in UNITS:
            raise ParameterError(where, "must be dates or timestamps", f"{column.name} ({column.type})")
        if text not in UNITS[family]:
            raise ParameterError(
                where, f"must be one of {', '.join(UNITS[family])}", f"something else for {column.name!r}"
            )
        return text
    if kind == "prefix":
        if family in ("date", "timestamp"):
            raise ParameterError(where, "does not work on dates", column.name, f"Use --truncate {column.name}=month")
        if not text.isdecimal():
            raise wrong
        return int(text)
    return read_hierarchy(text, where)


def _number(column: Column, text: str) -> float:
    if column.family == "date":
        from datetime import date

        return float((date.fromisoformat(text) - date(1970, 1, 1)).days)
    return float(text)


_MUST: dict[Kind, str] = {
    "width": "must be a number above 0",
    "breaks": "must be ascending numbers or dates with semicolons between them",
    "quantiles": "must be a whole number of at least 2",
    "truncate": "must be a unit",
    "prefix": "must be a number of characters",
    "hierarchy": "must be a file",
}


def build(
    work: Work, column: Column, chosen: list[Rule], *, midpoint: bool, top: bool, population: Name | None = None
) -> Ladder:
    """Make the ladder of a column, with the values of a population if there is one; a `top` level has one class.

    Raises
    ------
    InputError
        When a hierarchy lacks values of the column; the message has their number.
    """
    into = f"values_{column.staged}"
    shared: Params = {"relation": work.relation, "column": column}
    if population is None:
        values = work.run("mask/distinct_values.sql", into, **shared)
    else:
        values = work.run("mask/population_values.sql", into, population=population, **shared)
    if chosen and chosen[0].kind == "hierarchy":
        ladder = of_file(work, values, chosen[0], top=top)
        lacking, total = work.warehouse.query(
            "hierarchy", "SELECT count(*) FILTER (WHERE NOT found), count(*) FROM {{ r | ident }}", r=ladder.relation
        )[0]
        refuse_lacking(column.name, lacking, total, chosen[0].where)
        return ladder
    numeric = bool(chosen) and (chosen[0].kind == "truncate" or (midpoint and chosen[0].kind in _RANGES))
    made = [*chosen, Rule(column, "one-class", None, work.where)] if top else chosen
    return of_rules(work, column, values, made, numeric=numeric)


def of_rules(work: Work, column: Column, values: Name, made: list[Rule], *, numeric: bool) -> Ladder:
    """Make the ladder of some values of a column, a level by each rule; bins are released as their middles if numeric.

    A value that a rule does not know, since it is in none of its bins, is not on the ladder.
    """
    levels: list[Name] = []
    bins: dict[int, Name] = {}
    for number, rule in enumerate(made, 1):
        into = f"level_{column.staged}_{number}"
        if rule.kind in _RANGES:
            found = _bins(work, values, rule, number)
            bins |= {number: found} if rule.kind == "quantiles" else {}
            kind = "range_midpoints" if numeric else f"{'date_' if column.family == 'date' else ''}range_labels"
            levels.append(work.run(f"mask/{kind}.sql", into, bins=found))
        elif rule.kind == "one-class":
            levels.append(work.run("mask/one_class.sql", into, values=values, label=None if numeric else _TOP))
        elif rule.kind == "prefix":
            levels.append(work.run("mask/prefixes.sql", into, values=values, length=rule.argument))
        else:
            template = "mask/truncated_dates.sql" if column.family == "date" else "mask/truncated_timestamps.sql"
            levels.append(work.run(template, into, values=values, unit=rule.argument))
    rungs = [(f"l{i}", relation, f"level_{i}", f"code_{i}", f"share_{i}") for i, relation in enumerate(levels, 1)]
    relation = work.run("mask/ladder.sql", f"ladder_{column.staged}", values=values, rungs=rungs)
    texts = None if numeric else _texts(work, column, values)
    return Ladder(column, relation, texts, len(levels), text=not numeric, numeric=numeric, rules=tuple(made), bins=bins)


def _bins(work: Work, values: Name, rule: Rule, number: int) -> Name:
    """Return the bin of every value by one rule."""
    into, argument = f"bins_{rule.column.staged}_{number}", rule.argument
    if rule.kind == "width":
        return work.run("mask/width_bins.sql", into, values=values, width=argument)
    if rule.kind == "breaks":
        return work.run("mask/break_bins.sql", into, values=values, breaks=argument)
    if rule.kind == "quantiles":
        return work.run("mask/quantile_bins.sql", into, values=values, parts=argument)
    lows, highs = ([ends[side] for ends in argument] for side in (0, 1))
    return work.run("mask/known_bins.sql", into, values=values, lows=lows, highs=highs)


def _texts(work: Work, column: Column, values: Name) -> Name:
    """Return the distinct values of a column as text: value, recoded. A view."""
    kind = _TEXTS.get(column.family, "value")
    return work.run(f"mask/{kind}_texts.sql", f"texts_{column.staged}", view=True, values=values)


def of_file(work: Work, values: Name, rule: Rule, *, top: bool) -> Ladder:
    """Make the ladder of a hierarchy file; with `top` a level of one class is added, unless its last one has one.

    Values that the file lacks are marked, `found` is false for them.
    """
    import pyarrow as pa

    rows: list[list[str | None]] = [list(row) for row in rule.argument]
    missing: list[str | None] = [None] * len(rows[0])
    if top:
        if len({row[-1] for row in rows}) > 1:
            rows, missing = [[*row, _TOP] for row in rows], [*missing, _TOP]
        missing[-1] = rows[0][-1]
    rows.append(missing)
    names = ["value", *(f"level_{i}" for i in range(1, len(missing)))]
    table = pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)})
    staged = rule.column.staged
    hierarchy = work.load(table, f"hierarchy_{staged}", f"filled with the hierarchy of {rule.column.name}")
    levels = [(f"level_{i}", f"code_{i}", f"share_{i}") for i in range(1, len(names))]
    texts = _texts(work, rule.column, values)
    relation = work.run(
        "mask/hierarchy_ladder.sql", f"ladder_{staged}", texts=texts, hierarchy=hierarchy, levels=levels
    )
    return Ladder(rule.column, relation, texts, len(levels), text=True, numeric=False, rules=(rule,), top=top)
