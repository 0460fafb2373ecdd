"""Whether the rows of a table are those of fewer persons: looked for where nobody says whose records they are.

What speaks for a key of persons is its name, what a sample of its values shows, that birth date or sex depend on it, or
that it is called `id` or the like and anything at all depends on it. A patient comes before his doctor.
Nothing is read of a table where no name and no value speaks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlmicro.database.column_names import (
    Whose,
    is_digit_group,
    is_word_for_a_person,
    of_a_thing,
    says,
    whose,
    words,
)
from sqlmicro.database.columns import Column, Seen, names_of
from sqlmicro.database.key_names import stem
from sqlmicro.database.read_once import read_once
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Warehouse

OF_THE_PERSON = re.compile(
    r"(?:.*_)?(?:birth|born|dob|birth_?(?:day|date|year|month)|date_of_birth|year_of_birth|geburt\w*|geb_?(?:dat|datum)"
    r"|jahrgang|sex|gender|geschlecht|race|ethnicity|nationality|staatsangehoerigkeit|naissance|nacimiento|sexe|sexo)"
    r"(?:_.*)?"
)
"""Names of what does not change of a person."""
_SHARED = re.compile(r"(?:.*_)?(?:race|ethnicity|nationality|staatsangehoerigkeit)(?:_.*)?")  # by a household too
_ANYBODY = re.compile(
    r"id|pid|sid|nr|no|num|number|nummer|numero|pnr|id_?(?:nr|no|num|number|nummer)|ident|identifier|rec(?:ord)?_?id"
    r"|u?subj(?:ect)?(?:_?(?:id|nr|no|num|number|nummer|code|key))?|(?:case|fall)(?:_?(?:id|nr|no|num|number|nummer|ref))?"
    r"|resp(?:ondent)?_?id|pseudonym\w*"
)
"""Names of numbers that may be given to persons as well as to anything else."""
_WHO_WROTE = re.compile(r"(?:.*_)?(?:by|von|par|por|door)(?:_.*)?")
_LIVING = re.compile(r"(?:.*_)?(?:animal|pet|dog|cat|cow|cattle|horse|sheep|herd|tier|vieh|rind|pferd|hund)(?:_.*)?")
_NO_KEY = re.compile(r"(?:.*_)?(?:age|alter|year|jahr|month|monat|namen?|vorname|nachname|title|anrede|salutation)")
_NAMING = ("email", "login", "phone", "number", "card")
_SEEN = ("e-mail", "telephone", "national", "numbers given to persons", "credit cards", "bank accounts", "user names")
_AT_LEAST, _SURELY = 1.05, 1.2
"""Rows for each person from which persons repeat: counted, and as estimated."""
_FEW, _CODES = 10, 20
_DEPENDENT, _COMMONEST = 0.98, 0.9
_MOST_KEYS, _PAIRS = 5000, 6
_MOST_BY_CHANCE = 1e-6
"""How likely a column may at most be the same in all rows of every key by chance."""


@dataclass(frozen=True)
class RepeatedPersons:
    """Columns that say whose record it is, in a table where persons have several; why, and about how many persons."""

    columns: tuple[str, ...]
    why: str
    rows: int
    persons: int
    others: tuple[str, ...] = ()
    """Columns that may as well say it: which one does is for somebody to decide."""

    @property
    def told(self) -> str:
        """How many persons there are, as part of a sentence; no value of a record is in it.

        >>> RepeatedPersons(("patient_id",), "its name", 60000, 15000).told
        '60,000 of about 15,000 persons (patient_id: its name)'
        """
        or_of = f"; or those of {', '.join(self.others)}" if self.others else ""
        return f"{self.rows:,} of about {self.persons:,} persons ({', '.join(self.columns)}: {self.why}{or_of})"

    @property
    def choice(self) -> str:
        """What says whose records they are, for somebody to choose from.

        >>> RepeatedPersons(("patient",), "its name", 60, 15, ("member",)).choice
        '--person patient or --person member'
        """
        return " or ".join(f"--person {name}" for name in (",".join(self.columns), *self.others))

    @property
    def keys(self) -> str:
        """The same as the keys of a job file.

        >>> RepeatedPersons(("patient",), "its name", 60, 15, ("member",)).keys
        'person = ["patient"] or person = ["member"]'
        """
        return " or ".join(
            f"person = {json.dumps(list(one))}" for one in (self.columns, *zip(self.others, strict=True))
        )


@dataclass(frozen=True)
class _Count:
    """How many values a column has, and about how many are distinct."""

    present: int
    distinct: int

    @property
    def each(self) -> float:
        """About how many rows have the same value."""
        return self.present / max(1, self.distinct)

    @property
    def coded(self) -> bool:
        """Whether there are few values, each in many rows."""
        return self.distinct <= _CODES and 2 * self.each > _CODES


def repeated_persons(warehouse: Warehouse, source: Source, seen: Mapping[Column, Seen]) -> RepeatedPersons | None:
    """Return whose records the rows of a table seem to be, if these are fewer persons than rows.

    Parameters
    ----------
    warehouse : Warehouse
        Where the table is.
    source : Source
        The table.
    seen : mapping
        What samples of its columns show, as far as they were taken.
    """
    keys = [column for column in source.columns if _may_be_key(column)]
    named = {column: why for column in keys if (why := _speaks(column, seen.get(column, Seen())))}
    of_person = [
        column for column in source.columns
        if OF_THE_PERSON.fullmatch(words(column.name)) and not _WHO_WROTE.fullmatch(words(column.name))
    ]  # fmt: skip
    if all(_SHARED.fullmatch(words(column.name)) for column in of_person):
        of_person = []
    numbers = [column for column in keys if _ANYBODY.fullmatch(words(column.name)) and column not in named]
    if not (named or of_person or numbers):
        return None
    with read_once(warehouse, source) as staged:
        look = _Look(warehouse, staged, stem(_table_of(source)), of_person)
        if look.is_of_single_persons([*named, *source.columns[:1]]):
            return None
        by_name = look.by_name(named)
        if by_name and whose(by_name.columns[-1]) is not Whose.OTHERS:
            return by_name
        others = [column for column in keys if column not in named]
        return look.by_dependency(others) or look.by_constancy(numbers) or by_name


def _may_be_key(column: Column) -> bool:
    return column.family in ("integer", "text", "enum", "decimal", "float") or column.type in ("UUID", "BLOB")


def _speaks(column: Column, seen: Seen) -> str:
    """Return why a column may say whose record it is, by its name or by values that were seen; else nothing."""
    text, said = words(column.name), says(column.name)
    if _WHO_WROTE.fullmatch(text):
        return ""
    finding = seen.finding
    if finding is not None and (finding.share or 0) >= 0.5 and finding.kind.startswith(_SEEN):
        return finding.reason
    if said == "person id" or is_word_for_a_person(column.name):
        return "its name"
    return "its name" if said in _NAMING and text != "account_name" else ""


class _Look:
    """Looks at a table, as little as it can."""

    def __init__(self, warehouse: Warehouse, source: Source, table: str, of_person: Sequence[Column]) -> None:
        self.warehouse, self.source, self.table, self.rows = warehouse, source, table, 0
        self.counts: dict[Column, _Count] = {}
        self.count(of_person)
        self.of_person = [column for column in of_person if self.counts[column].distinct > 1]

    def count(self, columns: Sequence[Column]) -> None:
        """Count the values of columns, and estimate how many are distinct."""
        columns = [column for column in columns if column not in self.counts]
        if not columns:
            return
        ((self.rows, *found),) = self.warehouse.rows(
            "load/column_estimates.sql", relation=self.source.relation, columns=columns, integers=[]
        )
        pairs = zip(found[::2], found[1::2], strict=True)
        self.counts |= {column: _Count(*pair) for column, pair in zip(columns, pairs, strict=True)}

    def is_of_single_persons(self, columns: Sequence[Column]) -> bool:
        """Tell whether every row is about a person of its own, by a key among some columns that does not repeat."""
        self.count(columns)
        return any(self._is_subject(column) for column in columns)

    def by_name(self, named: Mapping[Column, str]) -> RepeatedPersons | None:
        """Return the column that says whose record it is by its name or values, if persons repeat in it."""
        found = [column for column in named if self._repeats(column) and not self._of_others(column)]
        if not found:
            return None
        first = min(whose(column.name) for column in found)
        found = [column for column in found if whose(column.name) is first]
        best = max(found, key=lambda column: self.counts[column].distinct)
        others = [column for column in found if column != best and not self._depend([best], [column])]
        return replace(self._made(self._together(best), named[best]), others=names_of(others))

    def by_dependency(self, others: Sequence[Column]) -> RepeatedPersons | None:
        """Return the column that repeats, and on which what does not change of a person depends."""
        if not self.of_person:
            return None
        others = [column for column in others if _may_number_persons(column) and column not in self.of_person]
        self.count(others)
        distinct = [self.counts[column].distinct for column in self.of_person]
        least = max(distinct) * (1.1 if len(distinct) == 1 else 0.85)
        found = [
            column for column in others
            if self.counts[column].distinct >= max(20, least) and self.counts[column].each >= _SURELY
        ]  # fmt: skip
        found = [column for column in found if self._depends([column])]
        if not found or not self._varies():
            return None
        best = max(found, key=lambda column: self.counts[column].distinct)
        depend = f"{', '.join(names_of(self.of_person))} {'depends' if len(self.of_person) == 1 else 'depend'}"
        return self._made([best], f"it repeats, and {depend} on it")

    def by_constancy(self, numbers: Sequence[Column]) -> RepeatedPersons | None:
        """Return the number of anybody that repeats, and on which any column depends, more than it would by chance."""
        self.count(numbers)
        found = [c for c in numbers if self.counts[c].each >= _SURELY and not self.counts[c].coded]
        if not found:
            return None
        best = max(found, key=lambda column: self.counts[column].distinct)
        beside = [column for column in self.source.columns if column not in numbers and column.family != "other"]
        _, _, repeated, *differing = self._sampled([best], beside)
        same = [column for column, n in zip(beside, differing, strict=True) if n <= (1 - _DEPENDENT) * repeated]
        depend = [column for column in same if self._commonest(column) ** repeated <= _MOST_BY_CHANCE]
        if not depend:
            return None
        named = ", ".join(names_of(depend[:3])) + (" and others" if len(depend) > 3 else "")
        return self._made([best], f"it repeats, and {named} {'depends' if len(depend) == 1 else 'depend'} on it")

    def _commonest(self, column: Column) -> float:
        """Return the share of records that have the commonest value of a column: so often two are alike by chance."""
        ((rows, most),) = self.warehouse.rows(
            "load/commonest_values.sql", relation=self.source.relation, columns=[column]
        )
        return float(most) / rows if rows else 1.0

    def _made(self, columns: Sequence[Column], why: str) -> RepeatedPersons:
        each = self._each(columns) if len(columns) > 1 else self.counts[columns[0]].each
        present = min(self.counts[column].present for column in columns)
        return RepeatedPersons(names_of(columns), why, self.rows, max(1, round(present / max(each, 1.0))))

    def _is_subject(self, column: Column) -> bool:
        """Tell whether every row is about a person of its own, by a key that does not repeat."""
        who = whose(column.name)
        if who is Whose.OTHERS or self.counts[column].present < 0.5 * self.rows:
            return False
        first = column == self.source.columns[0] and words(column.name).endswith(("id", "key", "no", "nr"))
        persons = says(column.name) == "person id" or (first and says(f"{self.table}_id") == "person id")
        persons = persons or (who is Whose.SUBJECT and is_word_for_a_person(column.name))
        return persons and self.counts[column].each < _SURELY and self._each([column]) < _AT_LEAST

    def _repeats(self, column: Column) -> bool:
        """Tell whether there are far fewer values than rows; codes of a few values number no persons."""
        count, said = self.counts[column], says(column.name)
        if count.coded and not (said == "person id" and words(column.name).endswith(("id", "key", "hash"))):
            return False
        if count.distinct < (1 if said == "person id" else _FEW):
            return False
        size = column.family in ("float", "decimal") or count.each < _SURELY
        if said != "person id" and whose(column.name) is Whose.OTHERS and size:
            return False  # how many there are, such as the size of a staff
        return count.each >= _SURELY or (count.each >= 1 / _SURELY and self._each([column]) >= _AT_LEAST)

    def _each(self, columns: Sequence[Column]) -> float:
        """Return how many rows have the same values, of a sample of these."""
        keys, records, *_ = self._sampled(columns, [])
        return records / keys if keys else 0.0

    def _sampled(self, keys: Sequence[Column], columns: Sequence[Column]) -> tuple[int, ...]:
        self.count(keys)
        every = max(1, max(self.counts[column].distinct for column in keys) // _MOST_KEYS)
        (found,) = self.warehouse.rows(
            "load/dependent_columns.sql", relation=self.source.relation, keys=keys, columns=columns, every=every
        )
        return found

    def _depends(self, keys: Sequence[Column]) -> bool:
        """Tell whether what does not change of a person is the same in all rows of a key."""
        return self._depend(keys, self.of_person)

    def _depend(self, keys: Sequence[Column], columns: Sequence[Column]) -> bool:
        """Tell whether columns are the same in all rows of a key."""
        _, _, repeated, *differing = self._sampled(keys, columns)
        return repeated >= 20 and all(number <= (1 - _DEPENDENT) * repeated for number in differing)

    def _of_others(self, column: Column) -> bool:
        """Tell whether a row is about somebody else, who has a sex or a birth date of his own."""
        if not (whose(column.name) is Whose.OTHERS and self.of_person):
            return False
        _, _, repeated, *differing = self._sampled([column], self.of_person)
        return max(differing) > (1 - _DEPENDENT) * repeated + 1

    def _together(self, column: Column) -> list[Column]:
        """Return a key with a column beside it, where persons are numbered anew in each place, else the key alone."""
        if not self.of_person or self._depends([column]):
            return [column]
        own = (column, *self.of_person)
        beside = [other for other in self.source.columns if _may_be_key(other) and other not in own]
        self.count(beside)
        few = sorted((o for o in beside if 2 <= self.counts[o].distinct <= 1000), key=lambda o: self.counts[o].distinct)
        for other in few[:_PAIRS]:
            if self._depends([other, column]):
                return [other, column]
        return [column]

    def _varies(self) -> bool:
        """Tell whether what depends on a key is not simply the same nearly everywhere."""
        ((rows, *commonest),) = self.warehouse.rows(
            "load/commonest_values.sql", relation=self.source.relation, columns=self.of_person
        )
        return bool(min(commonest) <= _COMMONEST * rows)


def _table_of(source: Source) -> str:
    """Return the name of a table, or that of a file without folder and ending."""
    return Path(source.label).name.partition(".")[0] if source.is_file else source.label


def _may_number_persons(column: Column) -> bool:
    name = column.name
    if column.family == "float" or of_a_thing(name) or is_digit_group(name):
        return False
    other = _LIVING.fullmatch(words(name)) or _NO_KEY.fullmatch(words(name))
    return not other and says(name) not in ("person", "name", "address")
