"""A release beside its original, as an attacker sees both: values, numbers, and which record became which.

Ranges of numbers and dates, as generalized columns are written: an attacker reads them.

The persons behind the records of an attack.

Records as numbers, as an attacker compares them.

Targets that were drawn from a table too large to try all of it, beside the combinations of values of its release.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from sqlmicro.attacks.registry import Unit
from sqlmicro.database.assessed import AssessedRelease
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, ParameterError

if TYPE_CHECKING:
    import numpy as np

MOST_TRIED = 100_000
"""So many records of the original are tried at most, unless --sample says otherwise."""


LINKED = (
    "audit/values.sql",
    "attack/features.sql",
    "attack/columns.sql",
    "attack/matches.sql",
    "attack/sampled.sql",
    "attack/persons.sql",
)
"""The templates of what links records by their values."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackedRelease(AssessedRelease):
    """A release under attack: the columns to attack with, and what tells which record became which.

    Parameters
    ----------
    warehouse, release, original, match, nominal
        As in `AssessedRelease`. Without `match` nobody can tell whether an attacker is right, and the worst is assumed:
        that the true record is among those that the attack ends with.
    columns : tuple of Column
        Columns of the release that the original has too: what the attacker knows.
    sample : int, optional
        Most records of the original to try; 100 000 by default. They are drawn by a hash of their place in the table.
        Of persons so many, with all their records.
    person : tuple of Column
        Columns of the original that say whose record it is: then persons are looked for. The release has them too, or
        records are matched.
    """

    verb: ClassVar[str] = "attack"

    original: Source
    columns: tuple[Column, ...]
    sample: int | None = None
    person: tuple[Column, ...] = ()

    @cached_property
    def numeric_columns(self) -> list[Column]:
        """Those of the columns that are numbers, dates or timestamps in both tables, and not named as nominal."""
        return [c for c in self.columns if c.numeric and self.theirs[c.name].numeric and c.name not in self.nominal]

    @cached_property
    def ranges(self) -> dict[Column, list[Range | None]]:
        """The ranges that the release has in place of numbers, None where they are missing, by column and record."""
        theirs = self.theirs
        numbers = [c for c in self.columns if theirs[c.name].numeric and not c.numeric and c.name not in self.nominal]
        candidates = [column for column in numbers if not theirs[column.name].family.startswith("timestamp")]
        if not candidates:
            return {}
        texts = self.warehouse.arrays("attack/columns.sql", relation=self.released, numeric=[], texts=candidates)
        found = {}
        for column in candidates:
            dates = theirs[column.name].family == "date"
            read = {text: read_range(text, dates) for text in set(texts[column.staged]) if text is not None}
            if None not in read.values():
                found[column] = [None if text is None else read[text] for text in texts[column.staged]]
        return found

    @cached_property
    def nominal_columns(self) -> list[Column]:
        """Those that are neither numbers nor ranges."""
        return [column for column in self.columns if column not in self.numeric_columns and column not in self.ranges]

    def notes(self) -> list[str]:
        """Return what the reader has to know of how the columns are compared."""
        recoded = [c.name for c in self.nominal_columns if c.numeric != self.theirs[c.name].numeric]
        notes = {
            "released as ranges, and read as such": [column.name for column in self.ranges],
            "text in one table and numbers in the other, so they count as different everywhere": recoded,
        }
        return [f"{note}: {', '.join(names)}" for note, names in notes.items() if names]

    # What is staged

    @property
    def originals(self) -> Name:
        """The values of the original: the columns, and row_id where records are matched."""
        numbers = [*self.numeric_columns, *self.ranges]
        return self.once("originals", lambda: self._staged("originals", self.original, numbers, self.whose))

    @property
    def released(self) -> Name:
        """The values of the release, in the same form."""
        return self.once("released", lambda: self._staged("released", self.release, self.numeric_columns, self.told_by))

    @property
    def written(self) -> Name:
        """The values of the release as bytes, all columns: what is told apart in the output is told apart here."""
        return self.once("written", lambda: self._staged("written", self.release, [], self.told_by))

    @property
    def whose(self) -> list[Column]:
        """The columns of the original that say whose record it is, under names of their own."""
        return [replace(column, staged=f"person_{number}") for number, column in enumerate(self.person, 1)]

    @property
    def told_by(self) -> list[Column]:
        """The same columns of the release; none where it lacks any of them."""
        own = {column.name: column for column in self.release.columns}
        if not all(column.name in own for column in self.person):
            return []
        return [replace(own[column.name], staged=column.staged) for column in self.whose]

    def _staged(self, into: str, source: Source, numeric: Sequence[Column], whose: Sequence[Column]) -> Name:
        nominal = [*(column for column in self.columns if column not in numeric), *whose]
        return self.values(source, into, numeric, nominal, view=False)

    # What is compared

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """The numbers of records of original and release.

        Raises
        ------
        InputError
            When either has none.
        """
        n, m = self.warehouse.count(self.originals), self.warehouse.count(self.released)
        if not n or not m:
            which = self.release if n else self.original
            raise InputError(f"attack, {which.label}", "there must be records", "an empty table")
        return n, m

    @property
    def whole(self) -> tuple[int, int]:
        """The numbers of records of original and release that the attacker has: those of `sizes`, or more."""
        return self.sizes

    @cached_property
    def times(self) -> np.ndarray:
        """How many released records every row of `released` stands for (m,)."""
        import numpy as np

        return np.ones(self.sizes[1])

    @cached_property
    def features(self) -> Features:
        """The records as numbers."""
        import numpy as np

        n, _ = self.sizes
        arrays = self.warehouse.arrays(
            "attack/features.sql",
            original=self.originals,
            released=self.released,
            numeric=self.numeric_columns,
            nominal=self.nominal_columns,
        )
        before = self.warehouse.arrays(
            "attack/columns.sql", relation=self.originals, numeric=list(self.ranges), texts=[]
        )
        made: list[tuple[np.ndarray, float, int]] = []  # values, weight, kind
        names: list[str] = []
        for column in self.columns:
            if column in self.ranges:
                made += ends_of(before[column.staged].astype(float), self.ranges[column])
            else:
                made += self._numbers(column, arrays[column.staged].astype(float), n)
            names += [column.name] * (len(made) - len(names))
        columns, weights, kinds = zip(*made, strict=True)
        both = np.stack(columns, axis=1)
        return Features(
            both[:n].copy(), both[n:].copy(), np.array(weights), np.array(kinds), tuple(names), self.times
        )  # fmt: skip

    def _numbers(self, column: Column, values: np.ndarray, n: int) -> list[tuple[np.ndarray, float, int]]:
        """Return a column of both tables as features; nominal values as numbers, -1 for what was not released."""
        import numpy as np

        if column in self.nominal_columns:
            values[:n][~np.isin(values[:n], values[n:])] = -1
            return [(values, 1.0, 1)]
        missing = np.isnan(values)
        found: list[tuple[np.ndarray, float, int]] = [(*weighed(values, n, missing), 0)]
        return [*found, (missing.astype(float), 1.0, 1)] if missing.any() else found

    @cached_property
    def truth(self) -> np.ndarray | None:
        """The place in the release of every record of the original (n,), -1 for one that is not in it; None if unknown.

        Raises
        ------
        InputError
            When the match does not identify a record, or when no record is in both tables.
        """
        import numpy as np

        if not self.match:
            return None
        self.check_match(self.originals, self.original)
        self.check_match(self.released, self.release)
        found = self.warehouse.arrays("attack/matches.sql", original=self.originals, released=self.released)
        if not len(found["position"]):
            raise InputError("attack, --match", "must find the records of the original in the release", "none found")
        truth = np.full(self.sizes[0], -1, dtype=np.int64)
        truth[found["position"]] = found["other"]
        return truth

    def check_matches(self) -> None:
        """Refuse a match that does not identify the records of both tables.

        Raises
        ------
        InputError
            When records of either have it in common.
        """
        for source, into in ((self.original, "original_keys"), (self.release, "released_keys")):
            self.check_match(self.values(source, into, [], [], view=True), source)

    @property
    def unit(self) -> Unit:
        """What is looked for."""
        return "persons" if self.person else "records"

    @cached_property
    def persons(self) -> Persons | None:
        """Whose records they are; None where records are looked for."""
        import numpy as np

        if not self.person:
            return None
        relations = [(self.originals, self.whose), (self.released, self.told_by)]
        own, told = (
            self.warehouse.arrays("attack/persons.sql", relation=relation, person=by)["person"] if by else None
            for relation, by in relations
        )
        assert own is not None
        if self.truth is None:
            assert told is not None  # attacked_release refuses what neither tells
            return Persons(own, told, told)
        released = np.full(self.sizes[1], own.max() + 1)
        released[self.truth[self.truth >= 0]] = own[self.truth >= 0]
        return Persons(own, released, told)

    @cached_property
    def tried(self) -> np.ndarray:
        """The places in the original of the records that are tried, ascending: all, or a sample; matched ones only.

        Where persons are looked for, the sample is one of persons, with all their records.

        Raises
        ------
        InputError
            When none of the sample is in the release.
        """
        import numpy as np

        n, most, rows = self.sizes[0], self.sample or MOST_TRIED, np.arange(self.sizes[0])
        units = n if self.persons is None else int(self.persons.original.max()) + 1
        if units > most:
            drawn = np.sort(self.warehouse.arrays("attack/sampled.sql", records=units, size=most)["position"])
            rows = drawn if self.persons is None else np.flatnonzero(np.isin(self.persons.original, drawn))
        tried = rows if self.truth is None else rows[self.truth[rows] >= 0]
        if not len(tried):
            raise InputError("attack, --sample", "must hold records that are in the release", "none", "Raise it")
        return tried

    @property
    def persons_tried(self) -> int:
        """How many persons the records that are tried are of."""
        import numpy as np

        assert self.persons is not None
        return len(np.unique(self.persons.original[self.tried]))


def attacked_release(
    warehouse: Warehouse,
    original: Source,
    release: Source,
    *,
    columns: Iterable[str] = (),
    match: Iterable[str] = (),
    nominal: Iterable[str] = (),
    but: Iterable[str] = (),
    person: Iterable[str] = (),
    sample: int | None = None,
) -> AttackedRelease:
    """Return a release beside its original, as it is attacked.

    Parameters
    ----------
    warehouse, original, release, sample
        As in `AttackedRelease`.
    columns, match, nominal : iterable of str
        Names of columns. Without `columns`: those that both tables have, apart from `match` and `but`.
    but : iterable of str
        Columns that are no part of what the attacker knows, unless they are in `columns`.
    person : iterable of str
        Names of columns that say whose record it is; no part of what the attacker knows.

    Raises
    ------
    ParameterError
        For a column that either table does not have, or that has two roles.
    InputError
        When there is no column to attack with.
    """
    matched, nominal = pick(release.columns, match, "attack, --match"), tuple(nominal)
    chosen = pick(release.columns, columns, "attack, --columns")
    theirs = {column.name for column in original.columns}
    for option, found in (("--columns", chosen), ("--match", matched)):
        lacking = [column.name for column in found if column.name not in theirs]
        if lacking:
            raise ParameterError(f"attack, {option}", "the original must have the column too", ", ".join(lacking))
    whose = _whose(original, release, person, [column.name for column in chosen], matched)
    both = [column.name for column in chosen if column in matched]
    if both:
        raise ParameterError(
            "attack, --columns",
            "a column that matches records cannot be one that the attacker knows",
            f"{', '.join(both)} as both",
        )
    if not chosen:
        others = {*(column.name for column in (*matched, *whose)), *but}
        chosen = [column for column in release.columns if column.name in theirs and column.name not in others]
    if not chosen:
        raise InputError(
            "attack, --columns",
            f"{original.label} and {release.label} must have columns of the same name to be compared",
            "none" + (" but those of --match" if matched else ""),
        )
    as_nominal = tuple(column.name for column in pick(chosen, nominal, "attack, --nominal"))
    return AttackedRelease(
        warehouse=warehouse, original=original, release=release, columns=tuple(chosen), match=tuple(matched),
        nominal=as_nominal, sample=sample, person=whose,
    )  # fmt: skip


def _whose(
    original: Source, release: Source, person: Iterable[str], chosen: Sequence[str], matched: Sequence[Column]
) -> tuple[Column, ...]:
    """Return the columns of the original that say whose record it is.

    Raises
    ------
    ParameterError
        For a column that is not there, that the attacker is said to know, or where nothing tells whose a released
        record is.
    """
    whose = tuple(pick(original.columns, person, "attack, --person"))
    known = [column.name for column in whose if column.name in chosen]
    if known:
        got = f"{', '.join(known)} as both"
        raise ParameterError("attack, --person", "says whose record it is, and is not what the attacker knows", got)
    lacking = [column.name for column in whose if column.name not in {one.name for one in release.columns}]
    if lacking and not matched:
        raise ParameterError(
            "attack, --person", "must tell whose a released record is", f"a release without {', '.join(lacking)}",
            "Name the columns that match its records with --match",
        )  # fmt: skip
    return whose


Range = tuple[float, float]
EVERYTHING = (-math.inf, math.inf)
_BETWEEN = re.compile(r"\[(.+), (.+)[])]")
_EPOCH = date(1970, 1, 1).toordinal()


def read_range(text: str, dates: bool) -> Range | None:
    """Return the least and the greatest value that a text stands for, or None if it is no range.

    An end that does not belong to the range is taken to do so. Dates become days since 1970.

    >>> read_range("[20, 30)", False), read_range("< 5", False), read_range("7", False), read_range("twenties", False)
    ((20.0, 30.0), (-inf, 5.0), (7.0, 7.0), None)
    >>> read_range("[1970-01-02, 1970-02-01]", True)
    (1.0, 31.0)
    """
    if text == "*":
        return EVERYTHING
    low, high = EVERYTHING
    between = _BETWEEN.fullmatch(text)
    try:
        if between:
            low, high = _number(between[1], dates), _number(between[2], dates)
        elif text.startswith("< "):
            high = _number(text[2:], dates)
        elif text.startswith(">= "):
            low = _number(text[3:], dates)
        else:
            low = high = _number(text, dates)
    except ValueError:
        return None
    return (low, high) if low <= high else None


def _number(text: str, dates: bool) -> float:
    return float(date.fromisoformat(text).toordinal() - _EPOCH) if dates else float(text)


@dataclass(frozen=True, eq=False)
class Persons:
    """Whose records they are, by numbers from 0.

    Where records are matched, those of a person have one number in both tables, and records that only the release has
    are of one person; else the numbers of the release are its own.
    """

    original: np.ndarray
    """(n,) of every record of the original."""
    released: np.ndarray
    """(m,) of every record of the release."""
    told: np.ndarray | None
    """(m,) of every record of the release as its own columns tell them apart; None where it lacks these."""

    @property
    def in_release(self) -> int:
        """How many different persons the release has records of."""
        import numpy as np

        return len(np.unique(self.released))


def by_person(persons: Persons | None, rows: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return the largest of what was found for the records of every person (t,); of every record where none are sought.

    A person is found by the record of hers that gives her away most.
    """
    import numpy as np

    if persons is None:
        return found
    who = persons.original[rows]
    best = np.full(int(who.max()) + 1, -np.inf)
    np.maximum.at(best, who, found)
    of_each: np.ndarray = best[np.unique(who)]
    return of_each


@dataclass(frozen=True)
class Features:
    """The records as numbers, so that a squared distance is the sum over the columns of what they differ by.

    A numeric column counts `weight` times the squared difference, a nominal one `weight` where values differ. Weights
    are 1/variance of the original (0 for a constant column), and 1 for a mismatch. A numeric column with missing values
    has a nominal one behind it that tells which, and the mean of the original in their place. A column of ranges has
    two, one for each end, that count by how far a value lies below or above.
    """

    X: np.ndarray
    """(n, p) the original; a nominal value that the release does not have is -1."""
    Y: np.ndarray
    """(m, p) the release."""
    weight: np.ndarray
    """(p,)"""
    kind: np.ndarray
    """(p,) numeric 0, nominal 1, the lower end of a range 2, the upper 3"""
    names: tuple[str, ...]
    """(p,) of the columns of the tables that they come from"""
    times: np.ndarray
    """(m,) how many released records each row of Y stands for"""


def weighed(values: np.ndarray, n: int, missing: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a numeric column with the mean of the original where values are missing, and its weight: 1/variance.

    The first n values are those of the original. A constant column has weight 0.
    """
    import numpy as np

    known = values[:n][~missing[:n]]
    varies = len(known) > 1 and known.min() < known.max()
    filled = np.where(missing, known.mean() if len(known) else 0.0, values)
    return filled, 1 / float(known.var(ddof=1)) if varies else 0.0


def ends_of(x: np.ndarray, released: Sequence[Range | None]) -> list[tuple[np.ndarray, float, int]]:
    """Return the columns of values of the original and ranges of the release; what is missing is in every range."""
    import numpy as np

    n, gone = len(x), np.isnan(x)
    low, high = np.array([EVERYTHING if ends is None else ends for ends in released]).T
    _, weight = weighed(x, n, gone)
    missing = np.concatenate([gone, [ends is None for ends in released]]).astype(float)
    return [
        (np.concatenate([np.where(gone, np.inf, x), low]), weight, 2),
        (np.concatenate([np.where(gone, -np.inf, x), high]), weight, 3),
        *([(missing, 1.0, 1)] if missing.any() else []),
    ]


TEMPLATES = ("attack/drawn.sql", "attack/combinations.sql", "attack/became.sql", "attack/own_combinations.sql")


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledRelease(AttackedRelease):
    """A release under attack of which the targets are here alone, and the combinations that were released.

    The attacks that look at no more than that give what they give on the whole tables: each combination counts as often
    as it was released, and what else an attacker has is told by `whole`.

    Parameters
    ----------
    targets : Name
        The values of the records that are tried, as `AttackedRelease.originals` has them.
    combinations : Name
        The combinations of released values, as `AttackedRelease.released` has them, each once.
    became : Name, optional
        The released values of the targets by row_id, where records are matched.
    counts : ndarray of shape (m,)
        How many released records have each combination.
    records : tuple of int
        The numbers of records of original and release.
    """

    targets: Name
    combinations: Name
    became: Name | None = None
    counts: np.ndarray
    records: tuple[int, int]

    @property
    def originals(self) -> Name:
        """The values of the targets."""
        return self.targets

    @property
    def released(self) -> Name:
        """The combinations that were released."""
        return self.combinations

    @property
    def whole(self) -> tuple[int, int]:
        """The numbers of records of original and release."""
        return self.records

    @cached_property
    def times(self) -> np.ndarray:
        """How many released records have each combination (m,)."""
        return self.counts.astype(float)

    @cached_property
    def truth(self) -> np.ndarray | None:
        """The combination that every target became (n,), -1 for one that was not released; None if unknown."""
        import numpy as np

        if self.became is None or not self.match:
            return None
        found = self.warehouse.arrays(
            "attack/own_combinations.sql", original=self.targets, became=self.became, released=self.combinations,
            columns=self.columns,
        )  # fmt: skip
        if not len(found["position"]):
            raise InputError("attack, --match", "must find the records that are tried in the release", "none found")
        truth = np.full(self.sizes[0], -1, dtype=np.int64)
        truth[found["position"]] = found["other"]
        return truth
