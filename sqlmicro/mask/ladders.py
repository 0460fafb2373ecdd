"""Ladders of generalization: what the values of a column become on each level, as relations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlmicro.database.columns import Column, settings_by_column
from sqlmicro.errors import ParameterError
from sqlmicro.guarantees.hierarchies import read_hierarchy, refuse_lacking

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work

Kind = Literal["width", "breaks", "quantiles", "truncate", "prefix", "hierarchy"]
UNITS = {"date": ("week", "month", "quarter", "year"), "timestamp": ("hour", "day", "week", "month", "quarter", "year")}
WRITTEN = "is written COLUMN=…"
_TOP = "*"
_TEXTS = {"date": "date", "timestamp": "timestamp", "timestamptz": "timestamp"}
_RANGES = ("width", "breaks", "quantiles")


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


def rules(work: Work, given: dict[Kind, tuple[str, ...]]) -> dict[Column, list[Rule]]:
    """Return the rules of every column, checked; a column has rules of one kind, in the order of their levels."""
    found: dict[Column, list[Rule]] = {}
    for kind, items in given.items():
        where = f"{work.where}, {kind}"
        for column, text in settings_by_column(work.columns, items, where, WRITTEN):
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


def build(work: Work, column: Column, chosen: list[Rule], *, midpoint: bool, top: bool) -> Ladder:
    """Make the ladder of a column; with `top` its last level has one class.

    Raises
    ------
    InputError
        When a hierarchy lacks values of the column; the message has their number.
    """
    values = work.run("mask/distinct_values.sql", f"values_{column.staged}", relation=work.relation, column=column)
    if chosen and chosen[0].kind == "hierarchy":
        return _of_file(work, values, chosen[0], top=top)
    numeric = bool(chosen) and (chosen[0].kind == "truncate" or (midpoint and chosen[0].kind in _RANGES))
    levels: list[Name] = []
    for rule in chosen:
        levels.append(_level(work, values, rule, len(levels) + 1, midpoint))
    if top:
        label = None if numeric else _TOP
        levels.append(work.run("mask/one_class.sql", f"level_{column.staged}_top", values=values, label=label))
    rungs = [(f"l{i}", relation, f"level_{i}", f"code_{i}", f"share_{i}") for i, relation in enumerate(levels, 1)]
    relation = work.run("mask/ladder.sql", f"ladder_{column.staged}", values=values, rungs=rungs)
    texts = None if numeric else _texts(work, column, values)
    return Ladder(column, relation, texts, len(levels), text=not numeric, numeric=numeric)


def _texts(work: Work, column: Column, values: Name) -> Name:
    """Return the distinct values of a column as text: value, recoded. A view."""
    kind = _TEXTS.get(column.family, "value")
    return work.run(f"mask/{kind}_texts.sql", f"texts_{column.staged}", view=True, values=values)


def _level(work: Work, values: Name, rule: Rule, number: int, midpoint: bool) -> Name:
    """Make one level of a column from its rule."""
    column, into = rule.column, f"level_{rule.column.staged}_{number}"
    if rule.kind == "prefix":
        return work.run("mask/prefixes.sql", into, values=values, length=rule.argument)
    if rule.kind == "truncate":
        template = "mask/truncated_dates.sql" if column.family == "date" else "mask/truncated_timestamps.sql"
        return work.run(template, into, values=values, unit=rule.argument)
    bins = f"bins_{rule.column.staged}_{number}"
    if rule.kind == "width":
        made = work.run("mask/width_bins.sql", bins, values=values, width=rule.argument)
    elif rule.kind == "breaks":
        made = work.run("mask/break_bins.sql", bins, values=values, breaks=rule.argument)
    else:
        made = work.run("mask/quantile_bins.sql", bins, values=values, parts=rule.argument)
    if midpoint:
        return work.run("mask/range_midpoints.sql", into, bins=made)
    return work.run(
        "mask/date_range_labels.sql" if column.family == "date" else "mask/range_labels.sql", into, bins=made
    )


def _of_file(work: Work, values: Name, rule: Rule, *, top: bool) -> Ladder:
    """Make the ladder of a hierarchy file; with `top` a level of one class is added, unless its last one has one."""
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
    lacking, total = work.warehouse.query(
        "hierarchy", "SELECT count(*) FILTER (WHERE NOT found), count(*) FROM {{ r | ident }}", r=relation
    )[0]
    refuse_lacking(rule.column.name, lacking, total, rule.where)
    return Ladder(rule.column, relation, texts, len(levels), text=True, numeric=False)
