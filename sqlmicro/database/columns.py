"""Columns: their types, their names inside the staging relations, their roles and their proposed scales."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlmicro.database import column_names
from sqlmicro.database.whole_numbers import WholeNumbers
from sqlmicro.errors import ParameterError, did_you_mean

Family = Literal["integer", "float", "decimal", "date", "timestamp", "timestamptz", "text", "enum", "boolean", "other"]
Scale = Literal["numeric", "ordinal", "nominal"]
Role = Literal["identifier", "quasi", "sensitive", "weight"]

RESERVED = (
    "row_id", "rowid", "value", "label", "cell", "n", "size", "pattern", "position", "first_position", "last_position",
    "middle_first", "middle_last", "group_first", "group_last", "mean", "sd", "seat", "draw", "stratum",
    "records", "place", "middle_mean", "signed_n", "remainder", "threshold", "in_tail", "median", "block", "phase",
    "source", "target", "probability", "low", "high", "bin", "total", "weight", "owner", "other", "measure", "share",
    "before", "after", "width", "bits", "level", "cumulated", "is_first", "low_total", "high_total", "place_total",
    "record", "nothing", "person", "stays", "unit", "counted", "copy", "class", "who",
)  # fmt: skip
"""Names the staging relations use themselves; a user's column of that name is staged with an underscore behind."""

NUMERIC = ("integer", "float", "decimal", "date", "timestamp", "timestamptz")
_NUMBERED = re.compile(r"(low|high|width|mean|u|sum|signed|draw|pattern|masked|hash|key|person)_\d+")
_INTEGER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$")
_FLOATS = re.compile(r"""("(?:[^"]|"")*"|'(?:[^']|'')*')|\b(?:DOUBLE|FLOAT)\b""")
CODES_AT_MOST = 20
"""A whole-number column with at most so many distinct values is taken for codes of a nominal variable."""
_OWN_TEXTS = 5
"""Sentences are free text where more than one in so many is distinct; fewer are labels."""
_MANY, _BASE = 100, 4
"""Of so many records no quantity has consecutive values by chance; so many times as many is where numbering begins."""


@dataclass(frozen=True)
class Column:
    """A column of the source table."""

    name: str
    type: str
    staged: str
    collated: bool = False

    @property
    def family(self) -> Family:
        """What kind of type it is, as far as the templates need to know."""
        head = self.type.upper().partition("(")[0].strip()
        if "[" in self.type:
            return "other"
        if _INTEGER.match(head):
            return "integer"
        if head.startswith("TIMESTAMP"):
            if head.endswith(("TIME ZONE", "TZ")):
                return "timestamptz"
            return "timestamp"
        simple: dict[str, Family] = {
            "FLOAT": "float", "DOUBLE": "float", "DECIMAL": "decimal", "DATE": "date", "VARCHAR": "text",
            "ENUM": "enum", "BOOLEAN": "boolean",
        }  # fmt: skip
        return simple.get(head, "other")

    @property
    def bits(self) -> str:
        """The type with BIT in place of floating-point numbers, nested ones too; empty where there are none.

        >>> Column("x", 'STRUCT("DOUBLE" INTEGER, y DOUBLE[])', "x").bits
        'STRUCT("DOUBLE" INTEGER, y BIT[])'
        """
        found = _FLOATS.sub(lambda match: match.group(1) or "BIT", self.type)
        return found if found != self.type and not found.startswith("UNION") else ""

    @property
    def numeric(self) -> bool:
        """Whether means can be taken of it: numbers, dates and timestamps."""
        return self.family in NUMERIC

    @property
    def is_digit_group(self) -> bool:
        """Whether it holds numbers that are groups of digits by its name, such as postcodes: a mean means nothing."""
        return self.family in ("integer", "decimal", "float") and column_names.is_digit_group(self.name)

    @property
    def is_code(self) -> bool:
        """Whether its name speaks of a code, such as that of an occupation: whole numbers in it are no amounts."""
        return self.is_digit_group or column_names.is_code(self.name)


def make_columns(described: Iterable[tuple[str, str]], collated: frozenset[str] = frozenset()) -> list[Column]:
    """Return the columns of a table, with names that do not clash with those of the staging relations."""
    described = list(described)
    taken = {name.lower() for name, _ in described}
    columns = []
    for name, kind in described:
        staged = name
        while _is_reserved(staged.lower()) or (staged != name and staged.lower() in taken):
            staged += "_"
        columns.append(Column(name, kind, staged, name in collated))
    return columns


def _is_reserved(name: str) -> bool:
    return name in RESERVED or _NUMBERED.fullmatch(name) is not None


# A name in double quotes and what stands behind it (COLUMN=NUMBER), or one without quotes at its start.
_NAME = re.compile(r"""\s*(?:"((?:[^"]|"")*)"([^,]*)|([^,]*))(?:,|$)""")


def split_names(values: Sequence[str] | None) -> tuple[str, ...]:
    """Split repeated and comma-separated names; one with a comma, or a blank outside, is written in double quotes.

    >>> split_names(["a,b", '"last, first"', 'net "income"', '" a ", c '])
    ('a', 'b', 'last, first', 'net "income"', ' a ', 'c')
    """
    found = (one for value in values or () for one in _NAME.findall(value))
    names = (quoted.replace('""', '"') + behind.rstrip() + plain.strip() for quoted, behind, plain in found)
    return tuple(filter(None, names))


def pick(columns: Sequence[Column], names: Iterable[str], where: str) -> list[Column]:
    """Return the columns called `names`, in that order; case decides only where two names differ by nothing else.

    Raises
    ------
    ParameterError
        For a name that no column has, or one that is given twice.
    """
    exact = {column.name: column for column in columns}
    folded: dict[str, list[Column]] = {}
    for column in columns:
        folded.setdefault(column.name.lower(), []).append(column)
    picked: list[Column] = []
    for name in names:
        found = exact.get(name)
        if found is None:
            alike = folded.get(name.lower(), [])
            if len(alike) != 1:
                raise ParameterError(where, f"the table has no column {name!r}", do=did_you_mean(name, exact))
            found = alike[0]
        if found in picked:
            raise ParameterError(where, f"column {found.name!r} is named twice")
        picked.append(found)
    return picked


def settings_by_column(
    columns: Sequence[Column], given: Iterable[str], where: str, must: str
) -> Iterator[tuple[Column, str]]:
    """Yield column and text of every COLUMN=TEXT; either may have an = in it.

    Raises
    ------
    ParameterError
        For text without an =, or a column that is not there.
    """
    known = {column.name.lower() for column in columns}
    for item in given:
        name, equals, _ = item.partition("=")
        if not (name and equals):
            raise ParameterError(where, must, "one without a column or without =")
        cuts = [i for i, char in enumerate(item) if char == "=" and item[:i].lower() in known]
        cut = cuts[-1] if cuts else len(name)
        yield pick(columns, [item[:cut]], where)[0], item[cut + 1 :]


def numbers_by_column(
    columns: Sequence[Column], given: Iterable[str], where: str, must: str, *, zero: bool = False
) -> dict[Column, float]:
    """Return the number of every column that is named as COLUMN=NUMBER, each once.

    Raises
    ------
    ParameterError
        For text that is no finite number above 0 (or 0, where `zero` is allowed), or a column given twice.
    """
    found: dict[Column, float] = {}
    for column, text in settings_by_column(columns, given, where, must):
        if column in found:
            raise ParameterError(where, f"column {column.name!r} is named twice")
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not (0 < number < math.inf or (zero and number == 0)):
            raise ParameterError(where, must, f"something else for {column.name!r}")
        found[column] = number
    return found


@dataclass(frozen=True)
class Finding:
    """What makes a column a direct identifier: what is in it, and the share of its values; None if its name tells.

    `direct` is false for a number that somebody gave to persons: it leads to them through other tables only.
    """

    kind: str
    share: float | None
    direct: bool = True

    @property
    def reason(self) -> str:
        """Why, in words that show no value.

        >>> Finding("UUIDs", 0.5).reason, Finding("telephone numbers", None).reason
        ('its values: UUIDs (50 %)', 'its name: telephone numbers')
        """
        if self.share is None:
            return f"its name: {self.kind}"
        return f"its values: {self.kind} ({math.ceil(100 * self.share)} %)"


@dataclass(frozen=True)
class Reading:
    """What a CSV file must be read with, so that a column is not text: all that is possible."""

    missing: tuple[str, ...] = ()
    """Words that stand for a missing value."""
    decimal_comma: bool = False
    dates: tuple[str, ...] = ()
    """The formats that its dates have, of which only one can be meant."""


@dataclass(frozen=True)
class Misread:
    """Text whose values read as something else: what, and how it is read so."""

    what: str
    how: str
    reading: Reading | None = None
    """The options of a CSV file that do it; None where none does."""

    @property
    def told(self) -> str:
        """Both in words.

        >>> Misread("numbers", "--null-string NA").told
        'text that looks like numbers: --null-string NA'
        """
        return f"text that looks like {self.what}: {self.how}"


@dataclass(frozen=True)
class Seen:
    """What a sample of the values of a column shows; nothing where none was taken."""

    finding: Finding | None = None
    misread: Misread | None = None
    """What it is, where it is text that reads as numbers, dates or amounts."""
    digit_group: bool = False
    """Whether it is text of digits, some of which start with 0, such as postcodes."""
    prose: bool = False
    """Whether it is text of sentences."""


@dataclass(frozen=True)
class ColumnProfile:
    """What `profile` says of one column."""

    column: Column
    rows: int
    nulls: int
    distinct: int
    sequential: bool
    is_key: bool
    seen: Seen = Seen()
    whole: WholeNumbers | None = None
    """None where a value is no whole number, or nobody has looked."""
    rare: str | None = None
    """Why there is no mode to release: most of the values are those of too few. Empty if there is, None if unknown."""

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers only, by its type or by its values."""
        return self.column.family == "integer" or self.whole is not None

    @property
    def scale(self) -> tuple[Scale, str]:
        """The proposed scale and the reason."""
        column = self.column
        if column.family in ("date", "timestamp", "timestamptz"):
            return "numeric", "a date" if column.family == "date" else "a point in time"
        if column.family == "enum":
            return "ordinal", "the values of an ENUM have an order"
        if self.seen.misread:
            return "nominal", self.seen.misread.told
        if self.seen.digit_group and column.family == "text":
            return "nominal", "groups of digits, some of which start with 0, such as postcodes"
        if not column.numeric:
            return "nominal", f"{column.type} has no arithmetic"
        if column.is_digit_group:
            return "nominal", "a group of digits by its name, such as a postcode: nobody computes with it"
        if self.is_whole and column.is_code:
            return "nominal", "whole numbers that are codes by their name"
        if self.is_whole and self.distinct <= CODES_AT_MOST:
            return "nominal", f"whole numbers, {self.distinct} distinct values: codes"
        if self.whole is not None and self.whole.are_codes(self.distinct, self.rows - self.nulls):
            return "nominal", f"whole numbers of equally many digits, far apart, {self.distinct} distinct values: codes"
        return "numeric", f"{column.type}, {self.distinct} distinct values"

    @property
    def is_ordered(self) -> bool:
        """Whether audits take the distances of its values: those of numbers with a point, also where all are whole."""
        column = self.column
        return self.scale[0] == "numeric" or (column.family in ("float", "decimal") and not column.is_digit_group)

    @property
    def _numbers_records(self) -> bool:
        """Whether consecutive numbers count records: a few ages or years are consecutive by chance.

        Who counts begins with 0 or 1, or far above what is counted, such as with 1001.
        """
        name, first = self.column.name, self.whole.low if self.whole else None
        if column_names.is_quantity(name) or column_names.is_sensitive(name) or column_names.is_weight(name):
            return False
        return self.rows >= _MANY or first is None or first in (0, 1) or first >= _BASE * self.rows

    @property
    def uncommon(self) -> str:
        """Why there is no common value that could be released; empty where there is one."""
        present = self.rows - self.nulls
        if self.rare:
            return self.rare
        if self.column.family == "text" and 2 * self.distinct > present >= (1 if self.rare is None else 200):
            return "text, most values distinct"
        return ""

    @property
    def role(self) -> tuple[Role, str]:
        """The proposed role and the reason."""
        column, present = self.column, self.rows - self.nulls
        unique = self.distinct == present and present > 1
        if self.seen.finding is not None:
            return "identifier", self.seen.finding.reason
        if self.is_key and column.family in ("integer", "text", "other"):
            return "identifier", "the only column of a PRIMARY KEY or UNIQUE constraint"
        if column.type == "UUID":
            return "identifier", "UUID"
        named = column_names.says(column.name) is not None
        if (column.family in ("text", "other") or self.is_whole) and named and 2 * self.distinct > present > 1:
            return "identifier", "its name, and most of its values are distinct"
        if self.is_whole and unique and self.sequential and self._numbers_records:
            return "identifier", "consecutive numbers, every value distinct"
        if column.family == "text" and self.seen.prose and _OWN_TEXTS * self.distinct > present > 1:
            return "identifier", "free text"
        if self.uncommon and not self.seen.misread:
            return "identifier", self.uncommon
        if column.numeric and column_names.is_weight(column.name):
            return "weight", "its name"
        if column_names.is_sensitive(column.name):
            return "sensitive", "its name: what a release must not tell of a person"
        return "quasi", "may be known from elsewhere and single out a person"


def names_of(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of columns."""
    return tuple(column.name for column in columns)


def split_scales(
    columns: Sequence[Column], proposed: Mapping[str, str], numeric: Sequence[str], nominal: Sequence[str], where: str
) -> tuple[list[Column], list[Column]]:
    """Return the numeric and the nominal columns: as named, else as proposed.

    Raises
    ------
    ParameterError
        For a column that is named as both, or as numeric without being a number, date or timestamp.
    """
    as_numeric = pick(columns, numeric, f"{where}, numeric")
    as_nominal = pick(columns, nominal, f"{where}, nominal")
    both = [column.name for column in as_numeric if column in as_nominal]
    if both:
        raise ParameterError(where, "a column is either numeric or nominal", f"both for {', '.join(both)}")
    wrong = [f"{column.name} ({column.type})" for column in as_numeric if not column.numeric]
    if wrong:
        raise ParameterError(f"{where}, numeric", "must be numbers, dates or timestamps", ", ".join(wrong))
    as_proposed = [c for c in columns if c not in as_nominal and proposed[c.name] == "numeric"]
    found = [column for column in columns if column in as_numeric or column in as_proposed]
    return found, [column for column in columns if column not in found]
