"""A release beside its original, as an attacker sees both: values, numbers, and which record became which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from sqlmicro.attacks import ranges
from sqlmicro.attacks.features import Features, ends_of, weighed
from sqlmicro.attacks.persons import Persons
from sqlmicro.attacks.row import Unit
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
    def ranges(self) -> dict[Column, list[ranges.Range | None]]:
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
            read = {text: ranges.read(text, dates) for text in set(texts[column.staged]) if text is not None}
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
