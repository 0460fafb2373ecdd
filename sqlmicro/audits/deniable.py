"""Whether a release can be denied: how much of what is rare in it was invented, and what may be guessed from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from sqlmicro.attacks.known_columns import KNOWN_COLUMNS, SETS_AT_MOST, KnownSets, NumberedSides, sizes
from sqlmicro.audits.audited import ARITHMETIC, AuditedRelease, Form, canonical_form, canonical_forms
from sqlmicro.audits.registry import Detail, Found, NothingToMeasure, audit
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError
from sqlmicro.missing.counted import number
from sqlmicro.options.params import Param

_SOURCE = "sqlmicro; see `sqlmicro help safe`"
_SIDES = ("audit/records.sql", "audit/cells.sql", "audit/person_records.sql", "audit/foreign_values.sql")
_TOLD_FROM = 10
"""Of fewer rare combinations, or guesses, what leaves with a release tells nothing."""
KnownColumns = Annotated[
    int,
    Param(
        "Invented, inference: somebody knows up to so many columns of a person, or all; of every number at most "
        f"{SETS_AT_MOST} sets are looked at, evenly spaced.", min=1,
    ),
]  # fmt: skip


@dataclass(frozen=True)
class KnownInventions:
    """The rare combinations of all sets of so many columns that somebody may know."""

    known: int
    sets: int
    """Sets of so many columns, and"""
    measured: int
    """how many of them were looked at."""
    rare: int
    """Rare combinations that are shown, of all these sets together."""
    invented: int
    """Of them, those that never occurred."""
    below_half: int
    """Sets of whose rare combinations fewer than half never occurred."""
    least: float | None
    """The least share of a set; None where no rare one is shown."""
    worst: list[str] = field(default_factory=list)
    """The columns of that set: for the data holder alone, since they tell which combinations are true."""

    @property
    def told(self) -> str:
        """What was counted, in words."""
        columns = number(self.known, "known column")
        if self.least is None:
            return f"{columns}: none is shown"
        said = f"{columns}: {self.invented:,} of {self.rare:,} ({self.invented / self.rare:.1%})"
        if self.below_half:
            said += f", fewer than half in {self.below_half:,} of {number(self.measured, 'set')}"
        if self.below_half and self.worst:
            said += f" (least {self.least:.0%} in {', '.join(self.worst)})"
        return said if self.measured == self.sets else f"{said}; {self.measured:,} of {self.sets:,} sets, evenly spaced"


@dataclass(frozen=True)
class Inventions(Detail):
    """The rare combinations of a release: those that fewer than k records, or persons, of the original have."""

    k: int
    rare: int
    """Rare combinations of all columns that are shown."""
    invented: int
    """Of them, those that never occurred."""
    exactly_k: int
    """Combinations shown exactly k times."""
    exactly_k_invented: int
    uniques: int
    """Combinations that one record, or person, of the original has."""
    uniques_shown: int
    by_known: list[KnownInventions]
    """By the number of columns that somebody knows."""

    @property
    def worst(self) -> KnownInventions | None:
        """The number of known columns that has the set with the least share; None where no rare one is shown."""
        return min(
            (one for one in self.by_known if one.least is not None), key=lambda one: one.least or 0.0, default=None
        )

    @property
    def told(self) -> list[str]:
        """What was counted, in words."""
        if self.worst is None:
            return ["no rare combination of any of the columns is shown"]
        counted = "; ".join(one.told for one in self.by_known)
        return [
            f"of the rare combinations shown so many never occurred, for somebody who knows {counted}",
            f"{self.uniques_shown:,} of {self.uniques:,} combinations that are unique in the original are shown",
        ]

    def under(self, names: Mapping[str, str]) -> Inventions:
        """Return it with columns under other names."""
        named = [replace(one, worst=[names.get(name, name) for name in one.worst]) for one in self.by_known]
        return replace(self, by_known=named)

    def released(self) -> Inventions:
        """Return what may leave with a release: no set is named, and of few rare combinations nothing is told."""
        told = [replace(one, worst=[]) for one in self.by_known if one.rare >= _TOLD_FROM]
        return replace(self, by_known=told)


@dataclass(frozen=True)
class KnownGuesses:
    """The guesses of a column from all sets of so many others."""

    known: int
    guesses: int
    """Persons and sets for which the release shows exactly one value."""
    right: int


@dataclass(frozen=True)
class Guesses(Detail):
    """The guesses of a column from others, for the number of known columns from which most are right."""

    known: int
    guesses: int
    right: int
    commonest: float
    """The share of the records that have the commonest value: whoever guesses it is right as often."""
    by_known: list[KnownGuesses]

    def released(self) -> Guesses:
        """Return what may leave with a release: of few guesses nothing is told."""
        return replace(self, by_known=[one for one in self.by_known if one.guesses >= _TOLD_FROM])


@dataclass(frozen=True)
class _Sides:
    """The combinations of release and original in the columns that are released with original values."""

    warehouse: Warehouse
    """Where the combinations are: at the driver of a cluster, unless they are too many."""
    columns: tuple[Column, ...]
    released: Name
    original: Name
    of_persons: Name
    """The combinations of the original, where persons count by person."""
    person: tuple[Column, ...]

    @property
    def params(self) -> Params:
        return {"released": self.released, "original": self.original}

    @property
    def by_person(self) -> Params:
        """What the templates by sets of columns read."""
        whose = [self.person] if self.person else []
        return {"released": self.released, "original": self.of_persons, "person": self.person, "whose": whose}


@audit(
    "invented",
    needs=("quasi", "original"),
    gate="min_invented",
    at_least=True,
    on_request=True,
    source=_SOURCE,
    templates=(*_SIDES, "audit/invented.sql", "audit/numbered_sides.sql"),
)
def invented(
    audited: AuditedRelease,
    limit: float | None,
    *,
    rare: Annotated[
        int | None,
        Param("Invented: what fewer records of the original have is rare. Default: the k of the release.", min=1),
    ] = None,
    known_columns: KnownColumns = KNOWN_COLUMNS,
) -> Found:
    """The share of the rare combinations of a release that never occurred, whatever columns somebody knows.

    Returns
    -------
    Found
        Of every set of columns that somebody may know: the share, of the combinations of its columns that are shown and
        that fewer than k records of the original have, of those that none has. The value is the least share of a set;
        1 where no rare one is shown. By the number of known columns also the share of all sets together, and the set
        that has the least. Of all columns also how many are shown exactly k times, and how many unique originals are
        shown.

    Notes
    -----
    It is measured over the quasi-identifiers that are released with original values: those whose values all occur in
    the original. Where the original says whose its records are, it counts persons. NULL is a value of its own. Per
    set O(n) time for n combinations of both tables, which are numbered once; O(n p) memory.
    """
    sides = _sides(audited)
    k = rare or _smallest(sides)
    row = sides.warehouse.record("audit/invented.sql", **sides.params, columns=sides.columns, k=k)
    counts = {name: int(number) for name, number in row.items()}
    numbered = _numbered(audited, sides)
    by_known = [_inventions(sides, numbered, known, k) for known in sizes(len(sides.columns), known_columns)]
    detail = Inventions(
        k, counts["rare"], counts["invented"], counts["exactly"], counts["exactly_invented"], counts["uniques"],
        counts["uniques_shown"], by_known,
    )  # fmt: skip
    worst = detail.worst
    share = 1.0 if worst is None or worst.least is None else worst.least
    return Found(share, tuple(column.name for column in sides.columns), detail)


def _inventions(sides: _Sides, numbered: NumberedSides, known: int, k: int) -> KnownInventions:
    """Count the rare combinations of the sets of so many columns."""
    found = KnownSets.of(sides.columns, known)
    rare = made = below = 0
    least: float | None = None
    worst: tuple[Column, ...] = ()
    place = {column: number for number, column in enumerate(sides.columns)}
    for one in found.drawn:
        shown, new = numbered.inventions([place[column] for column in one], k)
        rare, made, below = rare + shown, made + new, below + (2 * new < shown)
        if shown and (least is None or new / shown < least):
            least, worst = new / shown, one
    names = [column.name for column in worst]
    return KnownInventions(known, found.there, len(found.drawn), rare, made, below, least, names)


@audit(
    "inference",
    needs=("quasi", "original"),
    gate="max_inference",
    on_request=True,
    source=_SOURCE,
    templates=(*_SIDES, "audit/numbered_sides.sql", "audit/commonest.sql"),
)
def inference(
    audited: AuditedRelease, limit: float | None, *, known_columns: KnownColumns = KNOWN_COLUMNS
) -> list[Found]:
    """How often a column is guessed right from others, of persons who are unique in these, whatever others are known.

    Returns
    -------
    list of Found
        One per column: the largest share, by the number of known columns, of right guesses from all sets of so many
        other columns; 0 where nobody can guess. Who guesses knows these values of somebody, and that nobody else has
        them, and takes the value that the release shows with them, if it shows exactly one.

    Notes
    -----
    It is measured over the same columns as `invented`. A gate below the share of the commonest value of a column asks
    for that share: whoever guesses it needs no release. Of a person with several values nothing is guessed. Per set
    O(n p) time for n combinations of both tables, which are numbered once; O(n p) memory.
    """
    sides = _sides(audited)
    if len(sides.columns) < 2:
        raise NothingToMeasure("audit, --quasi", "inference needs two columns released with original values", "fewer")
    by_column: dict[Column, list[KnownGuesses]] = {column: [] for column in sides.columns}
    numbered = _numbered(audited, sides)
    for known in sizes(len(sides.columns) - 1, known_columns):
        for column, guesses in _guesses(numbered, sides.columns, known).items():
            by_column[column].append(guesses)
    found = []
    for column, made in by_column.items():
        row = sides.warehouse.record("audit/commonest.sql", original=sides.original, column=column)
        commonest = float(row["commonest"] or 0.0)
        # Of equal shares that of most guesses.
        most = max(made, key=lambda one: (one.right / max(1, one.guesses), one.guesses))
        detail = Guesses(most.known, most.guesses, most.right, commonest, made)
        found.append(Found(most.right / max(1, most.guesses), (column.name,), detail, free=commonest))
    return found


def _guesses(side: NumberedSides, columns: Sequence[Column], known: int) -> dict[Column, KnownGuesses]:
    """Count the guesses of every column from the sets of so many others."""
    place = {column: number for number, column in enumerate(columns)}
    made, right = [0] * len(place), [0] * len(place)
    for one in KnownSets.of(columns, known).drawn:
        for counts, more in zip((made, right), side.guesses([place[column] for column in one]), strict=True):
            counts[:] = [count + int(plus) for count, plus in zip(counts, more, strict=True)]
    return {column: KnownGuesses(known, made[j], right[j]) for column, j in place.items()}


def _numbered(audited: AuditedRelease, sides: _Sides) -> NumberedSides:
    """Return the combinations of both sides as arrays."""
    found: NumberedSides = audited.once(
        "numbered sides", lambda: NumberedSides.of(sides.warehouse, sides.columns, sides.by_person)
    )
    return found


def _smallest(sides: _Sides) -> int:
    text = "SELECT min(records) FROM {{ released | ident }}"
    return int(sides.warehouse.query("the rarest combination", text, released=sides.released)[0][0] or 1)


def _sides(audited: AuditedRelease) -> _Sides:
    """Stage the combinations of both sides.

    Raises
    ------
    NothingToMeasure
        When no quasi-identifier is released with original values.
    """

    def stage() -> _Sides:
        columns = [column for column in audited.quasi if column.name in audited.theirs]
        found = _both(audited, tuple(columns))
        foreign = found.warehouse.record("audit/foreign_values.sql", **found.params, columns=columns)
        kept = tuple(column for column in columns if not foreign[column.staged])
        return found if len(kept) == len(columns) else _both(audited, kept)

    found: _Sides = audited.once("sides", stage)
    if not found.columns:
        must = "a quasi-identifier must be released with original values"
        raise NothingToMeasure("audit, --quasi", must, "none")
    return found


def _both(audited: AuditedRelease, columns: tuple[Column, ...]) -> _Sides:
    """Return the combinations of both sides, at the driver of a cluster, where a statement starts no jobs."""
    there = audited.warehouse
    (own, _), (theirs, of_persons) = (_cells(audited, side, columns) for side in ("released", "original"))
    whose = tuple(_whose(audited))
    try:
        here = [there.fetch(one) for one in dict.fromkeys((own, theirs, of_persons))]
        return _Sides(there.small, columns, here[0], here[1], here[-1], whose)
    except InputError:  # they are too many for the driver
        return _Sides(there, columns, own, theirs, of_persons, whose)


def _whose(audited: AuditedRelease) -> list[Column]:
    """Return the columns of the original that say whose its records are."""
    named = audited.original_person or names_of(audited.person)
    return [audited.theirs[name] for name in named if name in audited.theirs]


def _cells(audited: AuditedRelease, side: str, columns: Sequence[Column]) -> tuple[Name, Name]:
    """Stage the combinations of a side; return them, and the same by person where persons count."""
    table: Source | None = audited.release if side == "released" else audited.original
    assert table is not None
    forms = {column.staged: _form(column, audited.theirs[column.name]) for column in columns}
    whose: list[Column] = []
    if side == "original":
        columns = [replace(audited.theirs[column.name], staged=column.staged) for column in columns]
        whose = _whose(audited)
    forms |= {column.staged: canonical_form(column) for column in whose}
    into = f"{side}_of_{len(columns)}"
    records = audited.stage(
        "audit/records.sql",
        into,
        view=not table.is_text,
        relation=table.relation,
        complete=[],
        **canonical_forms([*columns, *whose], lambda column: forms[column.staged]),
    )
    if whose:
        records = audited.stage(
            "audit/person_records.sql", f"{into}_persons", relation=records, columns=columns, person=whose, weights=[]
        )

    def cells(name: str, by: Sequence[Column]) -> Name:
        return audited.stage("audit/cells.sql", f"{into}{name}", view=False, relation=records, columns=by, summed=[])

    made = cells("_cells", columns)
    return made, cells("_of_persons", [*columns, *whose]) if whose else made


def _form(own: Column, other: Column) -> Form:
    """Return how a column is compared with that of the original: by value, where both are numbers or of one type."""
    form = canonical_form(own)
    if form == "as_bits":
        form = "plain"
    both_numbers = own.family in ARITHMETIC and other.family in ARITHMETIC
    if form == "as_nested_bits" or other.collated or (own.type != other.type and not both_numbers):
        return "as_bytes"
    return form
