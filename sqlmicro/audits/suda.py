"""SUDA scores: how easily a record that is unique can be told apart by few columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import ceil, comb, prod
from typing import Annotated

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.k_anonymity import sizes_of
from sqlmicro.audits.population_uniqueness import UNTOLD, SamplingFraction, fraction_of
from sqlmicro.audits.registry import Detail, Found, audit
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError
from sqlmicro.options.params import Param
from sqlmicro.system.reporting import OMITTED

_MOST_SUBSETS = 5000
# From here on the exponent of the score is no longer positive.
_TOO_MANY_FOR_DIS = 28
_WILDCARD = "a record with a NULL that matches every value is in several classes; use own_value or exclude"
_TEMPLATES = (
    "audit/cells.sql",
    "audit/suda_units.sql",
    "audit/person_records.sql",
    "audit/suda_person_units.sql",
    "audit/minimal_uniques.sql",
    "audit/suda_scores.sql",
    "audit/suda_person_scores.sql",
    "audit/suda_levels.sql",
    "audit/suda_contributions.sql",
    "audit/sampling_fraction.sql",
)
_Size = Annotated[int | None, Param("SUDA: look for special uniques in up to this many columns. Default: all.", min=1)]
Weigh = Callable[[int, int, int], float]
"""What a minimal unique of n columns counts: m columns, n, largest n that was looked for."""


def elliot(m: int, n: int, size: int) -> float:
    """Return what a minimal unique of n of m columns counts: the product of m - i for i from n to the largest size.

    >>> [elliot(4, n, 4) for n in (1, 2, 3, 4)], elliot(4, 1, 2)
    ([6, 2, 1, 1], 6)
    """
    return prod(m - i for i in range(n, min(size, m - 1) + 1))


def ihsn(m: int, n: int, size: int) -> float:
    """Return what a minimal unique of n of m columns counts in the tool of the IHSN.

    >>> [ihsn(4, n, 4) for n in (1, 2, 3, 4)]
    [1.75, 0.5, 0.25, 0.0]
    """
    return float(2 ** (m - n) - 1) / comb(m, n)


@audit(
    "suda",
    needs=("quasi",),
    gate="max_suda",
    on_request=True,
    source="Elliot, Manning & Ford (2002); Elliot, Manning, Mayes, Gurd & Bane (2005)",
    templates=_TEMPLATES,
)
def suda(
    audited: AuditedRelease, limit: float | None, *, suda_size: _Size = None, sampling_fraction: SamplingFraction = None
) -> Found:
    """The highest SUDA score of a record: in how many small combinations of columns it is unique.

    Returns
    -------
    Found
        The value is the highest score; `total` over all records, `records` with a score, `size`, and `contributions`,
        the share in percent of the total that comes from combinations with each column. `dis_suda` has the
        `sampling_fraction`, the `highest` DIS-SUDA, and in `records` how many records have one of at most 0.1, 0.2, ...

    Raises
    ------
    InputError
        With so many columns that there are more than 5 000 combinations.

    Notes
    -----
    A minimal sample unique is a set of n of the m columns in which a record is unique, and in no part of the set. It
    counts the product of m - i for i from n to min(size, m - 1), and the score is the sum, as in sdcMicro since 5.0.2;
    `suda-ihsn` is what it computed before. With --person, what is unique is a person: nobody else has the
    values, and the score is that of the record of hers that scores highest. NULL is a value of its own; sdcMicro leaves
    it out of every combination. One GROUP BY of the classes for each of the sum of binomial(m, n)
    combinations.

    DIS-SUDA (Elliot & Manning, 2003) is the probability that a match with the record is right: the risk of the file,
    DIS = U f/(U f + P (1 - f)) for U uniques, P records in pairs and a sampling fraction f, divided among the uniques::

        1/(1 + (U/DIS - U)/(s^q A)),  A = the sum of s^-q,  q = 1 + (8 - m)/20

    The formula is sdcMicro's. Its U leaves out uniques that share a hash with another record, so that the figures
    differ a little.
    """
    return _scored(audited, suda_size, sampling_fraction, elliot)


@audit(
    "suda-ihsn",
    needs=("quasi",),
    gate="max_suda_ihsn",
    on_request=True,
    source="Manning, Haglin & Keane (2008); the tool of the IHSN, sdcMicro before 5.0.2",
    templates=_TEMPLATES,
)
def suda_ihsn(
    audited: AuditedRelease, limit: float | None, *, suda_size: _Size = None, sampling_fraction: SamplingFraction = None
) -> Found:
    """The highest SUDA score of a record by the older formula of the IHSN.

    Returns
    -------
    Found
        As for `suda`.

    Raises
    ------
    InputError
        With so many columns that there are more than 5 000 combinations.

    Notes
    -----
    A minimal sample unique of n of m columns counts (2^(m - n) - 1)/binomial(m, n), one of all columns nothing.
    """
    return _scored(audited, suda_size, sampling_fraction, ihsn)


def units(audited: AuditedRelease) -> Name:
    """Stage what gets a score: every combination that occurs, or where persons are counted, that a person has."""

    def stage() -> Name:
        if not audited.person:
            return audited.stage(
                "audit/suda_units.sql", "suda_units", view=False, cells=audited.cells, columns=audited.quasi
            )
        return audited.stage(
            "audit/suda_person_units.sql",
            "suda_units",
            view=False,
            persons=audited.person_records,
            columns=audited.quasi,
            person=audited.person,
        )

    return audited.once("suda_units", stage)


def minimal_uniques(audited: AuditedRelease, size: int) -> dict[int, Name]:
    """Stage the minimal sample uniques by how many columns they have.

    Raises
    ------
    InputError
        When there are too many combinations of columns.
    """
    m = len(audited.quasi)
    number = sum(comb(m, n) for n in range(1, size + 1))
    if number > _MOST_SUBSETS:
        raise InputError(
            "audit, --suda-size",
            f"at most {_MOST_SUBSETS:,} combinations of columns can be looked at",
            f"{number:,} of up to {size} of {m} columns",
            "Choose a smaller --suda-size, or fewer columns",
        )
    bits = {column: 2**index for index, column in enumerate(audited.quasi)}
    found: dict[int, Name] = {}

    def stage(n: int) -> Name:
        chosen = [(sum(bits[column] for column in columns), columns) for columns in combinations(audited.quasi, n)]
        return audited.stage(
            "audit/minimal_uniques.sql",
            f"minimal_uniques_{n}",
            view=False,
            units=units(audited),
            smaller=list(found.values()),
            number=n,
            subsets=chosen,
        )

    for n in range(1, size + 1):
        found[n] = audited.once(f"minimal_uniques_{n}", partial(stage, n))
    return found


def scores(audited: AuditedRelease, size: int, weigh: Weigh) -> Name:
    """Stage the score of every unit that has one; where persons are counted, of one for each, that scores highest."""
    uniques = _weighed(audited, size, weigh)
    into = f"suda_scores_{weigh.__name__}_{size}"

    def stage() -> Name:
        found = audited.stage("audit/suda_scores.sql", into, view=False, minimal_uniques=uniques)
        if not audited.person:
            return found
        best = f"{into}_of_persons"
        return audited.stage("audit/suda_person_scores.sql", best, view=False, scores=found, units=units(audited))

    return audited.once(into, stage)


def dis_suda(levels: Mapping[float, int], *, uniques: int, paired: int, m: int, fraction: float) -> dict[float, float]:
    """Return the DIS-SUDA of every score.

    >>> {s: round(d, 4) for s, d in dis_suda({6: 2, 10: 1, 12: 1}, uniques=4, paired=6, m=4, fraction=0.01).items()}
    {6: 0.005, 10: 0.0092, 12: 0.0114}
    """
    if not levels:
        return {}
    q = 1 + (8 - m) / 20
    dis = uniques * fraction / (uniques * fraction + paired * (1 - fraction))
    among = sum(records * score**-q for score, records in levels.items())
    return {score: 1 / (1 + (uniques / dis - uniques) / (score**q * among)) for score in levels}


@dataclass(frozen=True)
class DisSuda:
    """The DIS-SUDA of the records; or only the reason why there is none."""

    reason: str | None = field(default=None, metadata=OMITTED)
    sampling_fraction: float | None = field(default=None, metadata=OMITTED)
    highest: float | None = field(default=None, metadata=OMITTED)
    records: dict[str, int] | None = field(default=None, metadata=OMITTED)
    """How many records are in each tenth, by its upper end."""


@dataclass(frozen=True)
class Suda(Detail):
    """The scores of the records."""

    total: float
    records: int
    """How many have a score: records, or persons where these are counted."""
    size: int
    """Combinations of up to so many columns."""
    contributions: dict[str, float]
    """What each column adds to the scores, in percent."""
    dis_suda: DisSuda


def _weighed(audited: AuditedRelease, size: int, weigh: Weigh) -> list[tuple[Name, float]]:
    return [(name, weigh(len(audited.quasi), n, size)) for n, name in minimal_uniques(audited, size).items()]


def _scored(audited: AuditedRelease, suda_size: int | None, sampling_fraction: float | None, weigh: Weigh) -> Found:
    m = len(audited.quasi)
    size = min(suda_size or m, m)
    if audited.nulls == "wildcard":
        return Found(None, reason=_WILDCARD)
    scored = scores(audited, size, weigh)
    rows = audited.warehouse.rows("audit/suda_levels.sql", scores=scored)
    levels: dict[float, int] = dict(rows)
    total = sum(score * records for score, records in levels.items())
    shares = audited.warehouse.rows(
        "audit/suda_contributions.sql",
        scores=scored,
        minimal_uniques=_weighed(audited, size, weigh),
        columns=[(column, 2**index) for index, column in enumerate(audited.quasi)],
    )
    return Found(
        max(levels, default=0.0),
        detail=Suda(
            total,
            sum(levels.values()),
            size,
            {name: 100 * (part or 0) / total if total else 0.0 for name, part in shares},
            _dis(audited, levels, sampling_fraction),
        ),
    )


def _dis(audited: AuditedRelease, levels: dict[float, int], fraction: float | None) -> DisSuda:
    """Return the highest DIS-SUDA, and how many records are in each tenth."""
    fraction = fraction_of(audited, fraction)
    if fraction is None:
        return DisSuda(UNTOLD)
    if len(audited.quasi) >= _TOO_MANY_FOR_DIS:
        return DisSuda(f"is not defined for {_TOO_MANY_FOR_DIS} columns and more")
    found = _probabilities(audited, levels, fraction)
    tenths = {f"{tenth / 10:g}": 0 for tenth in range(1, 11)}
    for score, probability in found.items():
        tenths[f"{max(1, ceil(round(10 * probability, 9))) / 10:g}"] += levels[score]
    return DisSuda(None, fraction, max(found.values(), default=0.0), tenths)


def _probabilities(audited: AuditedRelease, levels: Mapping[float, int], fraction: float) -> dict[float, float]:
    """Return the DIS-SUDA of every score."""
    sizes = {size: records for size, (_, records) in sizes_of(audited).sizes.items()}
    return dis_suda(levels, uniques=sizes.get(1, 0), paired=sizes.get(2, 0), m=len(audited.quasi), fraction=fraction)


def scored_classes(
    audited: AuditedRelease, suda_size: int | None, told: float | None
) -> tuple[Name, float | None] | None:
    """Stage the classes that have a score, with their DIS-SUDA, and return that of the others: 0, or None if not known.

    None where nothing can be scored: NULL matches every value, or there are too many combinations of columns.
    """
    import pyarrow as pa

    m, fraction = len(audited.quasi), fraction_of(audited, told)
    if audited.nulls == "wildcard":
        return None
    try:
        scored = scores(audited, min(suda_size or m, m), elliot)
    except InputError:
        return None
    levels: dict[float, int] = dict(audited.warehouse.rows("audit/suda_levels.sql", scores=scored))
    known = fraction is not None and m < _TOO_MANY_FOR_DIS
    found = _probabilities(audited, levels, fraction or 1) if known else {}
    table = pa.table(
        {"score": pa.array(found.keys(), pa.float64()), "dis_suda": pa.array(found.values(), pa.float64())}
    )
    probabilities = audited.load(table, "dis_suda", "filled with the DIS-SUDA of every score")
    staged = audited.stage(
        "audit/scored_classes.sql", "scored_classes", units=units(audited), scores=scored, columns=audited.quasi,
        probabilities=probabilities,
    )  # fmt: skip
    return staged, 0.0 if known else None
