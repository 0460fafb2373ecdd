"""Whether a release can be denied: how much of what is rare in it was invented, and what may be guessed from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from sqlmicro.audits import canonical
from sqlmicro.audits.audited import ARITHMETIC, AuditedRelease
from sqlmicro.audits.registry import Found, NothingToMeasure, audit
from sqlmicro.audits.row import Detail
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError
from sqlmicro.options.params import Param

_SOURCE = "sqlmicro; see `sqlmicro help safe`"
_SIDES = ("audit/records.sql", "audit/cells.sql", "audit/person_records.sql", "audit/foreign_values.sql")


@dataclass(frozen=True)
class Inventions(Detail):
    """The rare combinations of a release: those that fewer than k records, or persons, of the original have."""

    k: int
    rare: int
    """Rare combinations that are shown."""
    invented: int
    """Of them, those that never occurred."""
    exactly_k: int
    """Combinations shown exactly k times."""
    exactly_k_invented: int
    uniques: int
    """Combinations that one record, or person, of the original has."""
    uniques_shown: int


@dataclass(frozen=True)
class Guesses(Detail):
    """The guesses of a column from all others."""

    guesses: int
    """Persons for whom the release shows exactly one value."""
    right: int
    commonest: float
    """The share of the records that have the commonest value: whoever guesses it is right as often."""


@dataclass(frozen=True)
class _Sides:
    """The combinations of release and original in the columns that are released with original values."""

    warehouse: Warehouse
    """Where the combinations are: at the driver of a cluster, unless they are too many."""
    columns: tuple[Column, ...]
    released: Name
    original: Name

    @property
    def params(self) -> Params:
        return {"released": self.released, "original": self.original}


@audit(
    "invented",
    needs=("quasi", "original"),
    gate="min_invented",
    at_least=True,
    on_request=True,
    source=_SOURCE,
    templates=(*_SIDES, "audit/invented.sql"),
)
def invented(
    audited: AuditedRelease,
    limit: float | None,
    *,
    rare: Annotated[
        int | None,
        Param("Invented: what fewer records of the original have is rare. Default: the k of the release.", min=1),
    ] = None,
) -> Found:
    """The share of the rare combinations of a release that never occurred.

    Returns
    -------
    Found
        The value is the share, of the combinations shown that fewer than k records of the original have, of those that
        none has; 1 where no rare one is shown. Also how many are shown exactly k times, and how many unique originals
        are shown.

    Notes
    -----
    It is measured over the quasi-identifiers that are released with original values: those whose values all occur in
    the original. Where the original says whose its records are, it counts persons. NULL is a value of its own. One
    GROUP BY of each table, one join of their combinations.
    """
    sides = _sides(audited)
    k = rare or _smallest(sides)
    row = sides.warehouse.record("audit/invented.sql", **sides.params, columns=sides.columns, k=k)
    counts = {name: int(number) for name, number in row.items()}
    share = counts["invented"] / counts["rare"] if counts["rare"] else 1.0
    detail = Inventions(
        k, counts["rare"], counts["invented"], counts["exactly"], counts["exactly_invented"], counts["uniques"],
        counts["uniques_shown"],
    )  # fmt: skip
    return Found(share, tuple(column.name for column in sides.columns), detail)


@audit(
    "inference",
    needs=("quasi", "original"),
    gate="max_inference",
    on_request=True,
    source=_SOURCE,
    templates=(*_SIDES, "audit/inference.sql"),
)
def inference(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """How often a column is guessed right from all others, of persons who are unique in these.

    Returns
    -------
    list of Found
        One per column: the share of right guesses, 0 where nobody can guess. Who guesses knows all other values of
        somebody, and that nobody else has them, and takes the value that the release shows with them, if it shows
        exactly one.

    Notes
    -----
    It is measured over the same columns as `invented`. A gate below the share of the commonest value of a column asks
    for that share: whoever guesses it needs no release. Two GROUP BY of the combinations per column.
    """
    sides = _sides(audited)
    if len(sides.columns) < 2:
        raise NothingToMeasure("audit, --quasi", "inference needs two columns released with original values", "fewer")
    found = []
    for column in sides.columns:
        others = [other for other in sides.columns if other != column]
        row = sides.warehouse.record("audit/inference.sql", **sides.params, column=column, others=others)
        guesses, right, commonest = int(row["guesses"]), int(row["right_guesses"]), float(row["commonest"] or 0.0)
        share = right / guesses if guesses else 0.0
        found.append(Found(share, (column.name,), Guesses(guesses, right, commonest), free=commonest))
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
    own, theirs = (_cells(audited, side, columns) for side in ("released", "original"))
    try:
        return _Sides(there.small, columns, there.fetch(own), there.fetch(theirs))
    except InputError:  # they are too many for the driver
        return _Sides(there, columns, own, theirs)


def _cells(audited: AuditedRelease, side: str, columns: Sequence[Column]) -> Name:
    table: Source | None = audited.release if side == "released" else audited.original
    assert table is not None
    forms = {column.staged: _form(column, audited.theirs[column.name]) for column in columns}
    whose: list[Column] = []
    if side == "original":
        columns = [replace(audited.theirs[column.name], staged=column.staged) for column in columns]
        named = audited.original_person or names_of(audited.person)
        whose = [audited.theirs[name] for name in named if name in audited.theirs]
    forms |= {column.staged: canonical.form(column) for column in whose}
    into = f"{side}_of_{len(columns)}"
    records = audited.stage(
        "audit/records.sql",
        into,
        view=not table.is_text,
        relation=table.relation,
        complete=[],
        **canonical.forms([*columns, *whose], lambda column: forms[column.staged]),
    )
    if whose:
        records = audited.stage(
            "audit/person_records.sql", f"{into}_persons", relation=records, columns=columns, person=whose, weights=[]
        )
    return audited.stage("audit/cells.sql", f"{into}_cells", view=False, relation=records, columns=columns, summed=[])


def _form(own: Column, other: Column) -> canonical.Form:
    """Return how a column is compared with that of the original: by value, where both are numbers or of one type."""
    form = canonical.form(own)
    if form == "as_bits":
        form = "plain"
    both_numbers = own.family in ARITHMETIC and other.family in ARITHMETIC
    if form == "as_nested_bits" or other.collated or (own.type != other.type and not both_numbers):
        return "as_bytes"
    return form
