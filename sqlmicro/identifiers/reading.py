"""How a messy CSV file is to be read: decimal commas, formats of dates and words for missing values, by its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlmicro.database.columns import Column, Reading
from sqlmicro.database.read_once import read_once
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.identifiers.scan import BLANKS, PATTERNS, seen

_ISO = "%Y-%m-%d"
_CODES = [*(-digit * nines for digit in (1, 7, 8, 9) for nines in (1, 11, 111, 1111)), 99, 999, 9999, 99999, 999999]
"""Numbers that are written for a missing value in surveys and registers."""


@dataclass(frozen=True)
class Understood:
    """The options of DuckDB's reader that the values of a file ask for, and what its values leave open."""

    options: Mapping[str, object]
    open: tuple[str, ...]
    either_way: tuple[str, ...] = ()
    """The columns that were taken for dates although the day in them may be the month."""


@dataclass(frozen=True)
class CodeForMissing:
    """A usual code for a missing value that a column of numbers has in some rows, far from all its other values."""

    column: str
    code: int
    rows: int


def understood(
    warehouse: Warehouse,
    source: Source,
    reader: Mapping[str, object],
    opened: Callable[[Mapping[str, object]], Sequence[Column]],
) -> Understood:
    """Return how a file is to be read so that its columns of numbers and dates are none of text.

    An option that was given is not asked, and none is taken that would make text of another column. Words for missing
    values are taken only where a column of numbers or dates has them: elsewhere they may be values.

    Parameters
    ----------
    warehouse, source
        The file as it is found.
    reader
        The options that were given, by their names in DuckDB.
    opened
        Returns the columns that the file has with some options; the types are those of its first rows.
    """
    text = [column for column in source.columns if column.family == "text"]
    with read_once(warehouse, source) as staged:
        misread = {column: one.misread for column, one in seen(warehouse, staged, text).items() if one.misread}
        readings = _with_all_words(
            warehouse, staged.relation, {column: one.reading for column, one in misread.items() if one.reading}
        )
    taken: dict[str, object] = {}
    texts = _texts(source.columns)
    for options in (_words(readings), _numbers(readings), _dates(readings)):
        if options and not options.keys() & reader.keys():
            now = _texts(opened({**reader, **taken, **options}))
            if now <= texts:
                taken, texts = {**taken, **options}, now
    read = {name: reading for name, reading in readings.items() if name not in texts}
    if "nullstr" in taken:
        taken = {name: value for name, value in taken.items() if name != "nullstr"} | _words(read)
    left = [f"{column.name}: {one.told}" for column, one in misread.items() if column.name in texts]
    taken = taken if read else {}
    options = {**reader, **taken}
    return Understood(taken, tuple(left), () if "dateformat" in options else _either_way(options, opened))


def codes_for_missing(warehouse: Warehouse, relation: Name, columns: Sequence[Column]) -> list[CodeForMissing]:
    """Return the codes that may stand for missing values in columns of numbers; whether they do, only a reader knows.

    Takes time linear in the values.
    """
    numbers = [column for column in columns if column.numeric and column.family in ("integer", "float", "decimal")]
    if not numbers:
        return []
    rows = warehouse.rows("load/codes_for_missing.sql", relation=relation, columns=numbers, codes=_CODES)
    return [CodeForMissing(numbers[place - 1].name, code, count) for place, code, count in rows]


def _with_all_words(warehouse: Warehouse, relation: Name, readings: Mapping[Column, Reading]) -> dict[str, Reading]:
    """Return readings with every word for a missing value that their columns have: a sample may lack some."""
    columns = [*readings]
    if not columns:
        return {}
    words = dict(
        warehouse.rows(
            "load/words_for_missing.sql", relation=relation, columns=columns, word=PATTERNS["missing"], blanks=BLANKS
        )
    )
    return {
        column.name: replace(readings[column], missing=tuple(words.get(place, ())))
        for place, column in enumerate(columns, 1)
    }


def _either_way(
    options: Mapping[str, object], opened: Callable[[Mapping[str, object]], Sequence[Column]]
) -> tuple[str, ...]:
    """Return the columns that were taken for dates although the day in them may be the month."""
    by_month, by_day = (
        {column.name for column in opened({**options, "dateformat": form}) if column.family == "date"}
        for form in ("%m/%d/%Y", "%d/%m/%Y")
    )
    return tuple(sorted(by_month & by_day))


def _texts(columns: Sequence[Column]) -> set[str]:
    return {column.name for column in columns if column.family == "text"}


def _words(readings: Mapping[str, Reading]) -> dict[str, object]:
    words = sorted({word for reading in readings.values() for word in reading.missing})
    return {"nullstr": ["", *words]} if words else {}


def _numbers(readings: Mapping[str, Reading]) -> dict[str, object]:
    comma = any(reading.decimal_comma for reading in readings.values())
    return {"decimal_separator": ",", "thousands": "."} if comma else {}


def _dates(readings: Mapping[str, Reading]) -> dict[str, object]:
    """Return the only format that all columns of dates can have; none where there are several, or none."""
    formats = [{*reading.dates} for reading in readings.values() if reading.dates]
    common = set.intersection(*formats) if formats else set()
    return {"dateformat": common.pop()} if len(common) == 1 and common != {_ISO} else {}
