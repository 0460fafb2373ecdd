"""A release beside its original, as an attacker sees both: values, numbers, and which record became which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from sqlmicro.attacks import ranges
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
)
"""The templates of what links records by their values."""


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
    flag: np.ndarray
    """(p,) bool: whether a column tells what is missing in the numeric one before it"""


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
    """

    verb: ClassVar[str] = "attack"

    original: Source
    columns: tuple[Column, ...]
    sample: int | None = None

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
        texts = self.warehouse.arrays("attack/columns.sql", relation=self.written, numeric=[], texts=candidates)
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
        return self.once("originals", lambda: self._staged("originals", self.original, numbers))

    @property
    def released(self) -> Name:
        """The values of the release, in the same form."""
        return self.once("released", lambda: self._staged("released", self.release, self.numeric_columns))

    @property
    def written(self) -> Name:
        """The values of the release as bytes, all columns: what is told apart in the output is told apart here."""
        return self.once("written", lambda: self._staged("written", self.release, []))

    def _staged(self, into: str, source: Source, numeric: Sequence[Column]) -> Name:
        nominal = [column for column in self.columns if column not in numeric]
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
        made: list[tuple[np.ndarray, float, int, bool]] = []  # values, weight, kind, flag
        for column in self.columns:
            if column in self.ranges:
                made += _ends(before[column.staged].astype(float), self.ranges[column])
                continue
            values = arrays[column.staged].astype(float)
            if column in self.nominal_columns:
                values[:n][~np.isin(values[:n], values[n:])] = -1
                made.append((values, 1.0, 1, False))
                continue
            missing = np.isnan(values)
            made.append((*weighed(values, n, missing), 0, False))
            if missing.any():
                made.append((missing.astype(float), 1.0, 1, True))
        columns, *rest = zip(*made, strict=True)
        both = np.stack(columns, axis=1)
        return Features(both[:n].copy(), both[n:].copy(), *(np.array(part) for part in rest))

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

    @cached_property
    def tried(self) -> np.ndarray:
        """The places in the original of the records that are tried, ascending: all, or a sample; matched ones only.

        Raises
        ------
        InputError
            When none of the sample is in the release.
        """
        import numpy as np

        n, most = self.sizes[0], self.sample or MOST_TRIED
        rows = np.arange(n)
        if n > most:
            rows = np.sort(self.warehouse.arrays("attack/sampled.sql", records=n, size=most)["position"])
        tried = rows if self.truth is None else rows[self.truth[rows] >= 0]
        if not len(tried):
            raise InputError("attack, --sample", "must hold records that are in the release", "none", "Raise it")
        return tried


def weighed(values: np.ndarray, n: int, missing: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a numeric column with the mean of the original where values are missing, and its weight: 1/variance.

    The first n values are those of the original. A constant column has weight 0.
    """
    import numpy as np

    known = values[:n][~missing[:n]]
    varies = len(known) > 1 and known.min() < known.max()
    filled = np.where(missing, known.mean() if len(known) else 0.0, values)
    return filled, 1 / float(known.var(ddof=1)) if varies else 0.0


def _ends(x: np.ndarray, released: Sequence[ranges.Range | None]) -> list[tuple[np.ndarray, float, int, bool]]:
    """Return the columns of values of the original and ranges of the release; what is missing is in every range."""
    import numpy as np

    n, gone = len(x), np.isnan(x)
    low, high = np.array([ranges.EVERYTHING if ends is None else ends for ends in released]).T
    _, weight = weighed(x, n, gone)
    missing = np.concatenate([gone, [ends is None for ends in released]]).astype(float)
    return [
        (np.concatenate([np.where(gone, np.inf, x), low]), weight, 2, False),
        (np.concatenate([np.where(gone, -np.inf, x), high]), weight, 3, False),
        *([(missing, 1.0, 1, True)] if missing.any() else []),
    ]


def attacked_release(
    warehouse: Warehouse,
    original: Source,
    release: Source,
    *,
    columns: Iterable[str] = (),
    match: Iterable[str] = (),
    nominal: Iterable[str] = (),
    but: Iterable[str] = (),
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
    both = [column.name for column in chosen if column in matched]
    if both:
        raise ParameterError(
            "attack, --columns",
            "a column that matches records cannot be one that the attacker knows",
            f"{', '.join(both)} as both",
        )
    if not chosen:
        others = {*(column.name for column in matched), *but}
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
        nominal=as_nominal, sample=sample,
    )  # fmt: skip
