"""The command `hierarchy`: a hierarchy file is drafted from the values of a column."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from sqlmicro.database import attach
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import MachineOptions, SourceOptions
from sqlmicro.options.params import Param
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.reports.results import DraftedHierarchy
from sqlmicro.system import moves
from sqlmicro.system.progress import Progress

Kind = Literal["intervals", "prefixes", "dates", "frequency"]
TOP = "*"
_MOST_ROWS, _MOST_LEVELS = 100_000, 6
_CLASSES = 16
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[ T].*)?")
Levels = Callable[[str], list[str]]
"""What a value becomes on every level, the last one apart, on which all are one."""


@dataclass(frozen=True, kw_only=True)
class HierarchyOptions(SourceOptions, MachineOptions, ReaderOptions):
    """What `sqlmicro hierarchy` takes."""

    action: Annotated[Literal["draft"], Param("What to do: draft a hierarchy file.", positional=True)]
    column: Annotated[str, Param("The column whose values it is made of.", metavar="A")]
    to: Annotated[str, Param("File to write, which only you can read. It has values of the records.", metavar="FILE")]
    kind: Annotated[
        Kind | None,
        Param("Intervals of numbers, prefixes of codes, months and years, or the rarest values joined first."),
    ] = None
    width: Annotated[
        tuple[str, ...], Param("Widths of the intervals, each a multiple of the one before: 5,10,20.", metavar="W,W")
    ] = ()
    k: Annotated[int, Param("A value that fewer records have is not written.", min=1)] = 5
    rare: Annotated[bool, Param("Write the values that fewer than k records have as well.")] = False
    overwrite: Annotated[bool, Param("Replace the file if it exists.")] = False


def hierarchy_values(options: HierarchyOptions, progress: Progress) -> DraftedHierarchy:
    """Draft a hierarchy file for `generalize --hierarchy` from the values of a column: read it, and change what is off.

    Values that fewer than k records have are left out unless --rare is given: the file would show them. Of whole
    numbers all between the least and the largest interval are written, whether they occur or not.
    """
    target = Path(options.to)
    moves.refuse("--to", target, options.to, overwrite=options.overwrite)
    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        source = find_source(warehouse, options.table, options)
        warehouse.seal()
        (column,) = pick(source.columns, [options.column], "--column")
        as_named = replace(column, staged=column.name)
        found = warehouse.rows("load/value_counts.sql", relation=source.relation, column=as_named)
    counts = {str(value): int(n) for value, n in found}
    kind = options.kind or _kind(column, counts)
    rows = draft(counts, kind, _widths(options.width, kind), 1 if options.rare else options.k)
    if not rows:
        raise InputError(
            "hierarchy, --column",
            f"some values must be in {options.k} records",
            "none",
            "Use a rule, such as --width or --prefix of generalize, or add --rare",
        )
    _write(target, rows, options.overwrite)
    written = {row[0] for row in rows}
    left_out = [n for value, n in counts.items() if value not in written]
    return DraftedHierarchy(
        options.table, column.name, kind, str(target), len(rows), len(rows[0]) - 1, len(left_out), sum(left_out)
    )


def draft(counts: Mapping[str, int], kind: Kind, widths: Sequence[float], k: int) -> list[list[str]]:
    """Return the rows of a hierarchy: a value and what it becomes on each level, the last of which has one class.

    Parameters
    ----------
    counts : mapping
        The number of records of every value, as text.
    kind : {"intervals", "prefixes", "dates", "frequency"}
        How values become classes.
    widths : sequence of float
        Of the intervals, ascending; nothing for a choice that suits the values.
    k : int
        What fewer records have is not in the rows.

    Examples
    --------
    >>> draft({"10115": 5, "10117": 5, "20095": 1}, "prefixes", (), 5)[0]
    ['10115', '1011*', '101**', '10***', '1****', '*']
    >>> draft({"17": 2, "21": 3}, "intervals", (10.0,), 2)[-1]
    ['29', '[20, 30)', '*']
    """
    frequent = [value for value, n in counts.items() if n >= k]
    if kind == "intervals":
        numbers = {value: _number(value) for value in counts}
        widths = widths or _chosen_widths(numbers.values())
        frequent = _filled(counts, numbers, widths[-1], k)
        levels: Levels = _intervals(widths)
    elif kind == "prefixes":
        levels = _prefixes(frequent)
    elif kind == "dates":
        levels = _dates
    else:
        levels = _frequencies({value: counts[value] for value in frequent})
        frequent.sort(key=lambda value: (-counts[value], value))
    _refuse_lines(frequent)
    return [[value, *levels(value), TOP] for value in frequent]


def _kind(column: Column, counts: Mapping[str, int]) -> Kind:
    """Return how the values of a column become classes, by its type and the form of its values."""
    if column.family in ("date", "timestamp", "timestamptz"):
        return "dates"
    if column.numeric and not column.is_digit_group:
        return "intervals"
    if all(_DATE.fullmatch(value) for value in counts):
        return "dates"
    of_one_length = len({len(value) for value in counts}) == 1
    return "prefixes" if of_one_length and all(any(c.isdigit() for c in value) for value in counts) else "frequency"


def _widths(given: tuple[str, ...], kind: Kind) -> list[float]:
    try:
        found = [float(text) for text in given]
    except ValueError:
        found = [0.0]
    fine = all(math.isfinite(width) and width > 0 for width in found) and all(
        b > a and math.isclose(b / a, round(b / a)) for a, b in pairwise(found)
    )
    if not fine:
        raise ParameterError("hierarchy, width", "must be ascending numbers, each a multiple of the last", "others")
    if found and kind != "intervals":
        raise ParameterError("hierarchy, width", "is for --kind intervals", kind)
    return found


def _number(value: str) -> float:
    try:
        found = float(value)
    except ValueError:
        found = math.inf
    if not math.isfinite(found):
        raise ParameterError("hierarchy, kind", "intervals are of finite numbers", "other values")
    return found


def _chosen_widths(numbers: Iterable[float]) -> list[float]:
    """Return widths that double, from some sixteen intervals to two."""
    values = list(numbers)
    extent = max(values, default=1.0) - min(values, default=0.0) or 1.0
    rough = extent / _CLASSES
    power = 10.0 ** math.floor(math.log10(rough))
    first = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    if all(value == int(value) for value in values):
        first = max(first, 2.0)
    return [first * 2**i for i in range(int(math.log2(_CLASSES)))]


def _filled(counts: Mapping[str, int], numbers: Mapping[str, float], widest: float, k: int) -> list[str]:
    """Return the values to be written: whole numbers with all between those of widest intervals that hold k records."""
    if any(number != int(number) or value != str(int(number)) for value, number in numbers.items()):
        return sorted((value for value, n in counts.items() if n >= k), key=lambda value: numbers[value])
    held: Counter[int] = Counter()
    for value, n in counts.items():
        held[math.floor(numbers[value] / widest)] += n
    bins = [number for number, n in held.items() if n >= k]
    if not bins:
        return []
    low, high = min(bins) * widest, (max(bins) + 1) * widest
    if high - low > _MOST_ROWS:
        raise InputError(
            "hierarchy, --column", f"a file has at most {_MOST_ROWS:,} values", "a wider range",
            "Use generalize --width, which needs no file",
        )  # fmt: skip
    return [str(value) for value in range(math.ceil(low), math.ceil(high))]


def _intervals(widths: Sequence[float]) -> Levels:
    def levels(value: str) -> list[str]:
        lows = [(math.floor(float(value) / width + 1e-9) * width, width) for width in widths]
        return [f"[{low:.12g}, {low + width:.12g})" for low, width in lows]

    return levels


def _prefixes(values: Sequence[str]) -> Levels:
    """Return levels that hide one more character each, or several where a value has many."""
    longest = max(map(len, values), default=1)
    step = max(1, math.ceil((longest - 1) / _MOST_LEVELS))
    shown = range(longest - step, 0, -step)
    return lambda value: [value[:n] + "*" * (len(value) - n) for n in shown]


def _dates(value: str) -> list[str]:
    found = _DATE.fullmatch(value)
    if found is None:
        raise ParameterError("hierarchy, kind", "dates are written 2000-12-31", "other values")
    year, month, day = found.groups()
    of_time = [f"{year}-{month}-{day}"] if len(value) > len("2000-12-31") else []
    return [*of_time, f"{year}-{month}", year, f"{year[:3]}0s"]


def _frequencies(counts: Mapping[str, int]) -> Levels:
    """Return levels on each of which the rarer half of the values that are left become one."""
    ordered = sorted(counts, key=lambda value: (-counts[value], value))
    rank = {value: i for i, value in enumerate(ordered)}
    other = "other"
    while other in counts:
        other += "*"
    kept: list[int] = []
    while (kept[-1] if kept else len(ordered)) > 2 and len(kept) < _MOST_LEVELS:
        kept.append((kept[-1] if kept else len(ordered)) // 2)
    return lambda value: [value if rank[value] < most else other for most in kept]


def _refuse_lines(values: Sequence[str]) -> None:
    broken = sum(len(value.splitlines()) > 1 or value.endswith(("\n", "\r")) for value in values)
    if broken:
        raise InputError("hierarchy, --column", "a value in a CSV hierarchy is one line", f"{broken} of several")


def _write(target: Path, rows: Sequence[Sequence[str]], overwrite: bool) -> None:
    """Write the rows to a file that only its owner can read, whole or not at all."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    moves.write("--to", target, text.getvalue().encode(), overwrite=overwrite, mode=0o600)
