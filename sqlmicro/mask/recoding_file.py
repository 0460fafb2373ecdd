"""A recoding as an artefact: what a step decided, as a JSON file that `apply-recoding` applies to other rows.

The file has rules and bounds that the release shows, nothing else of the records. Whoever reads one trusts nothing in
it: every key and type is checked, bounds may not cross, and no text in it becomes SQL but as a literal.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

from sqlmicro.database.columns import Column, Family
from sqlmicro.errors import InputError
from sqlmicro.options.guarantees import GuaranteeOptions
from sqlmicro.system.reporting import OMITTED, as_json
from sqlmicro.system.strict_json import NotAsDeclaredError, strictly

VERSION: Literal[1] = 1
Texts: TypeAlias = "list[str | None]"
_RESULT = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|VARCHAR|DECIMAL\(\d{1,2},\d{1,2}\)")
_EXACT = 2**53


@dataclass(frozen=True)
class Level:
    """How the values of a column become classes."""

    kind: Literal["width", "breaks", "bins", "truncate", "prefix", "hierarchy", "one-class"]
    width: float | None = field(default=None, metadata=OMITTED)
    """Bins begin at its multiples. Of dates it is days."""
    breaks: list[float] | None = field(default=None, metadata=OMITTED)
    """Where bins begin. The first and the last are open."""
    bins: list[list[float | None]] | None = field(default=None, metadata=OMITTED)
    """The bins that are known, each from and to; None is open. What is in none is not known."""
    unit: str | None = field(default=None, metadata=OMITTED)
    """What dates are truncated to."""
    length: int | None = field(default=None, metadata=OMITTED)
    """How many characters stay."""
    step: int | None = field(default=None, metadata=OMITTED)
    """The level of the hierarchy file."""
    top: bool | None = field(default=None, metadata=OMITTED)
    """Whether the hierarchy gets a last level of one class."""
    sha256: str | None = field(default=None, metadata=OMITTED)
    """Of the hierarchy, which is not in the file: it has all values of the column."""


@dataclass(frozen=True)
class Tail:
    """The tail of a column in a stratum: from a value on, or beyond one. With neither, every value is in it."""

    stratum: Texts
    start: str | None
    """It begins at this value, which is in it."""
    beyond: str | None
    """It begins beyond this value, which is not in it."""
    becomes: str | None
    """What its values become; None where nobody had such a value, so that it is not known."""


@dataclass(frozen=True)
class RecodedColumn:
    """A column, its type, and the rule of its own that it has, if it has one."""

    name: str
    type: str
    levels: list[Level] = field(default_factory=list)
    """Its levels from 1. A column without one stays as it is."""
    numeric: bool = False
    """Whether classes are numbers: middles of bins, first days of months."""
    tails: list[Tail] = field(default_factory=list)
    becomes: str | None = None
    """The type of a column after top or bottom coding."""


@dataclass(frozen=True)
class Side:
    """The values of one column in a box: a range with its ends, or a set; both may hold missing values."""

    low: str | None
    high: str | None
    values: list[str] | None
    missing: bool


@dataclass(frozen=True)
class Box:
    """A class of records: its stratum, and its range or set in every column."""

    stratum: Texts
    sides: list[Side]


@dataclass(frozen=True)
class LocalClass:
    """A class of records with levels of its own: the level and the value of every column; 0 is the value as it is.

    A date that stays one is said in days since 1970, a timestamp in microseconds. So are those of strata and tails.
    """

    stratum: Texts
    levels: list[int]
    values: Texts


@dataclass(frozen=True)
class Stratum:
    """A column of the strata."""

    name: str
    type: str


@dataclass(frozen=True)
class Promised:
    """What every class kept besides k, of which columns; the columns whose distance a hierarchy says."""

    sensitive: list[str]
    limits: dict[str, float]
    hierarchical: list[str]

    @classmethod
    def of(cls, options: GuaranteeOptions) -> Promised:
        """Return what options ask for."""
        named = [text.partition("=")[0] for text in options.settings["hierarchical"]]
        return cls(sorted(options.sensitive), dict(options.limits), sorted(named))


NOTHING_MORE = Promised([], {}, [])


@dataclass(frozen=True)
class Recoding:
    """What a step of recoding decided, so that others can be recoded alike. It has no value that the release hides."""

    recoding: Literal[1]
    """The version of this form."""
    method: Literal["generalize", "mondrian", "top-code", "bottom-code", "suppress"]
    """What decided it; suppress in the memory of a series only."""
    k: int | None
    """How often every class occurred at least; of a tail: how many records it had. None: nothing was promised."""
    columns: list[RecodedColumn]
    by: list[Stratum]
    """The columns of the strata, in the order in which strata are written."""
    promised: Promised = NOTHING_MORE
    boxes: list[Box] | None = field(default=None, metadata=OMITTED)
    """The classes of mondrian."""
    classes: list[LocalClass] | None = field(default=None, metadata=OMITTED)
    """The classes of local recoding. A record is in the first that it fits."""

    def checked(self) -> Recoding:
        """Return it, if it makes sense: sizes agree, bounds do not cross, every level has what its kind needs.

        Raises
        ------
        NotAsDeclaredError
            With the first place that is wrong.
        """
        names = [*(column.name for column in self.columns), *(column.name for column in self.by)]
        _must(bool(self.columns) and len(set(names)) == len(names), "columns", "columns, each named once")
        _must(self.k is None or self.k >= 2, "k", "at least 2")
        parts = (self.boxes is not None, self.classes is not None, any(column.tails for column in self.columns))
        asked = (self.method == "mondrian", False, self.method in ("top-code", "bottom-code"))
        local = self.method in ("generalize", "suppress") and parts == (False, True, False)
        _must(parts == asked or local, "the document", f"what {self.method} decides")
        for number, column in enumerate(self.columns):
            _check_column(column, f"columns[{number}]", self)
        for number, box in enumerate(self.boxes or ()):
            _check_box(box, f"boxes[{number}]", self)
        for number, one in enumerate(self.classes or ()):
            place = f"classes[{number}]"
            _must(len(one.stratum) == len(self.by), f"{place}.stratum", "a value for each stratum column")
            _must(len(one.levels) == len(one.values) == len(self.columns), place, "a level and a value for each column")
            fine = all(0 <= level <= len(c.levels) for level, c in zip(one.levels, self.columns, strict=True))
            _must(fine, f"{place}.levels", "levels that the columns have")
        return self


def _must(holds: bool, place: str, must: str) -> None:
    if not holds:
        raise NotAsDeclaredError(place, must)


_NEEDS = {
    "width": {"width"}, "breaks": {"breaks"}, "bins": {"bins"}, "truncate": {"unit"}, "prefix": {"length"},
    "hierarchy": {"step", "top", "sha256"}, "one-class": set(),
}  # fmt: skip


def _check_column(column: RecodedColumn, place: str, recoding: Recoding) -> None:
    coded = recoding.method in ("top-code", "bottom-code")
    _must(bool(column.tails) == coded and (column.becomes is not None) == coded, place, "what its method decides")
    _must(
        not column.levels or recoding.method in ("generalize", "suppress"), f"{place}.levels", "none with this method"
    )
    _must(len(column.levels) < 2 or recoding.classes is not None, f"{place}.levels", "one at most without classes")
    if column.becomes is not None:
        _must(_RESULT.fullmatch(column.becomes) is not None, f"{place}.becomes", "a type of numbers, or VARCHAR")
    kinds = {level.kind == "hierarchy" for level in column.levels}
    local = recoding.classes is not None and kinds == {True}
    steps = [level.step for level in column.levels] if local else []
    apart = len({(level.sha256, level.top) for level in column.levels}) > 1
    fine = len(kinds) < 2 and not (local and (apart or steps != list(range(1, len(steps) + 1))))
    _must(fine, f"{place}.levels", "the levels of one hierarchy from 1, or of rules")
    binned = {level.kind for level in column.levels} <= {"width", "breaks", "bins", "truncate", "one-class"}
    truncated = any(level.kind == "truncate" for level in column.levels)
    _must(binned if column.numeric else not truncated, f"{place}.numeric", "true of truncated dates, false of text")
    for number, level in enumerate(column.levels):
        _check_level(level, column, f"{place}.levels[{number}]")
    strata = set()
    for number, tail in enumerate(column.tails):
        at = f"{place}.tails[{number}]"
        _must(len(tail.stratum) == len(recoding.by), f"{at}.stratum", "a value for each stratum column")
        _must(tail.start is None or tail.beyond is None, at, "from a value on, or beyond one")
        text = column.becomes == "VARCHAR"
        for name, bound in (
            ("start", tail.start),
            ("beyond", tail.beyond),
            ("becomes", None if text else tail.becomes),
        ):
            _must(bound is None or _is_number(bound), f"{at}.{name}", "a number as text")
        strata.add(tuple(tail.stratum))
    _must(len(strata) == len(column.tails), f"{place}.tails", "one for each stratum")


def _check_level(level: Level, column: RecodedColumn, place: str) -> None:
    given = {name for name in ("width", "breaks", "bins", "unit", "length", "step", "top", "sha256")
             if getattr(level, name) is not None}  # fmt: skip
    _must(given == _NEEDS[level.kind], place, f"an object with what {level.kind} needs and nothing else")
    family, number = family_of(column.type), f"{place}.{level.kind}"
    if level.kind in ("width", "breaks", "bins"):
        _must(family in ("integer", "float", "decimal", "date"), place, "a rule that fits the type of its column")
    if level.width is not None:
        _must(level.width > 0, number, "above 0")
    if level.breaks is not None:
        _must(bool(level.breaks) and _ascending(level.breaks), number, "ascending")
    if level.bins is not None:
        _check_bins(level.bins, number)
    if level.unit is not None:
        dates = {"date": ("week", "month", "quarter", "year")}
        times = ("hour", "day", "week", "month", "quarter", "year")
        units = dates.get(family, times if family in ("timestamp", "timestamptz") else ())
        _must(level.unit in units, f"{place}.unit", "a unit that fits the type of its column")
    if level.length is not None:
        fits = level.length >= 0 and family not in ("date", "timestamp", "timestamptz")
        _must(fits, f"{place}.length", "a number of characters of a column that is no date")
    if level.step is not None:
        _must(level.step >= 1, f"{place}.step", "at least 1")


def _check_bins(bins: list[list[float | None]], place: str) -> None:
    _must(bool(bins) and all(len(one) == 2 for one in bins), place, "pairs of a lower and an upper end")
    ends = [(-float("inf") if low is None else low, float("inf") if high is None else high) for low, high in bins]
    _must(all(low < high for low, high in ends), place, "pairs of which the first is the smaller")
    _must(all(a[1] <= b[0] for a, b in pairwise(ends)), place, "in order and apart")


def _check_box(box: Box, place: str, recoding: Recoding) -> None:
    _must(len(box.stratum) == len(recoding.by), f"{place}.stratum", "a value for each stratum column")
    _must(len(box.sides) == len(recoding.columns), f"{place}.sides", "one for each column")
    for number, (side, column) in enumerate(zip(box.sides, recoding.columns, strict=True)):
        at, family = f"{place}.sides[{number}]", family_of(column.type)
        ranged = family in _PARSED
        _must((side.values is None) == ranged, at, "a range where the column is numeric, else a set")
        if side.values is not None:
            _must(side.low is None and side.high is None, at, "a range or a set")
            _must(len(set(side.values)) == len(side.values) and (bool(side.values) or side.missing), f"{at}.values",
                  "values, each once")  # fmt: skip
            continue
        if side.low is None or side.high is None:
            _must(side.low is None and side.high is None and side.missing, at, "both ends, or missing values only")
            continue
        _must(_ordered(side.low, side.high, family), at, "a range whose ends are of the column's type and do not cross")


_PARSED: dict[Family, object] = dict.fromkeys(("integer", "float", "decimal", "date", "timestamp", "timestamptz"))


def _ordered(low: str, high: str, family: Family) -> bool:
    """Tell whether two texts are values of a family, and the first is not above the second."""
    try:
        if family == "integer":
            return int(low) <= int(high) and low.lstrip("-").isdecimal() and high.lstrip("-").isdecimal()
        if family == "date":
            return date.fromisoformat(low) <= date.fromisoformat(high)
        if family in ("timestamp", "timestamptz"):
            return datetime.fromisoformat(low) <= datetime.fromisoformat(high)
    except ValueError:
        return False
    return _is_number(low) and _is_number(high) and Decimal(low) <= Decimal(high)


def _is_number(text: str) -> bool:
    try:
        return len(text) < 400 and "_" not in text and Decimal(text).is_finite() and math.isfinite(float(text))
    except (InvalidOperation, ValueError):
        return False


def _ascending(numbers: Sequence[float]) -> bool:
    return all(a < b for a, b in pairwise(numbers))


@cache
def family_of(kind: str) -> Family:
    """Return the family of a type that a file names."""
    return Column("", kind, "x").family


def digest(rows: Iterable[Sequence[str]]) -> str:
    """Return what tells a hierarchy from others, whatever the order of its rows.

    >>> digest([["a", "*"], ["b", "*"]]) == digest([["b", "*"], ["a", "*"]])
    True
    """
    return sha256(json.dumps(sorted(map(list, rows))).encode()).hexdigest()


def refuse_inexact(bounds: Iterable[float | None], where: str) -> None:
    """Refuse bounds that a number of JSON may not hold exactly.

    Raises
    ------
    InputError
        Then a value could be in another bin when the file is applied.
    """
    if any(bound is not None and abs(bound) >= _EXACT for bound in bounds):
        raise InputError(where, "quantiles of a recoding are below 2^53", "a larger one", "Use --breaks or --width")


def written(recoding: Recoding, where: str) -> Recoding:
    """Return a recoding as it may be written; what could not be read again is refused.

    Raises
    ------
    InputError
        For values such as an infinite date.
    """
    try:
        return strictly(Recoding, json.loads(json.dumps(as_json(recoding)))).checked()
    except (NotAsDeclaredError, ValueError) as error:
        place = getattr(error, "must", "plain")
        raise InputError(f"{where}, recoding_to", f"bounds must be {place}", "others", "Leave it out") from None


def from_text(text: str) -> Recoding:
    """Return a recoding that a series remembers."""
    return strictly(Recoding, json.loads(text)).checked()


def read(path: str, where: str) -> Recoding:
    """Return the recoding in a file, checked.

    Raises
    ------
    InputError
        For a file that is no recoding, of another version, or one that makes no sense. The message has no value of it.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(where, "must be a file that --recoding-to wrote", repr(path)) from None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(where, "must be JSON", repr(path), "Write it again with --recoding-to") from None
    version = found.get("recoding") if isinstance(found, dict) else None
    if version != VERSION or type(version) is not int:
        got = f"{path!r}, which is none or of another version"
        raise InputError(where, f"must be a recoding of version {VERSION}", got, "Write it with --recoding-to")
    try:
        made = strictly(Recoding, found).checked()
        _must(made.method != "suppress", "method", "one of generalize, mondrian, top-code, bottom-code")
        return made
    except NotAsDeclaredError as error:
        raise InputError(
            f"{where}, {error.place}", f"must be {error.must}", "something else", f"Do not use {path!r}"
        ) from None
