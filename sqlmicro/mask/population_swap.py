"""Single values that change places until every record has a combination that the population has often enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.database.columns import Column
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError
from sqlmicro.mask.suppression import MISSING, keys
from sqlmicro.registry import Tick, late

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work

_TIMES = ("date", "timestamp", "timestamptz")
_TOGETHER = 200  # records between two ticks
_PUSHES = 300  # rounds in which a record may lose its combination to another one


@dataclass(frozen=True, eq=False)
class Sought:
    """What records are to become.

    Parameters
    ----------
    codes : ndarray of shape (n, q)
        The values of every record, -1 for none.
    allowed : ndarray of shape (m, q)
        The combinations that may be, all different.
    rank : ndarray of shape (n, p)
        The place of every value in its order, from 0 to 1; columns beyond these stay as they are, and only records that
        agree in them exchange values. Missing values stay.
    """

    codes: np.ndarray
    allowed: np.ndarray
    rank: np.ndarray

    @property
    def strata(self) -> tuple[np.ndarray, np.ndarray]:
        """The stratum of every record and of every allowed combination."""
        import numpy as np

        together = np.concatenate([self.codes, self.allowed])[:, self.rank.shape[1] :]
        found = keys(together) if together.shape[1] else np.zeros(len(together), dtype=np.int64)
        return found[: len(self.codes)], found[len(self.codes) :]

    def hopeless(self) -> list[int]:
        """Return how many records of every column have a value that no allowed combination of their stratum has."""
        import numpy as np

        mine, theirs = self.strata
        found = []
        for c in range(self.rank.shape[1]):
            values = np.concatenate([self.codes[:, c], self.allowed[:, c]])
            both = keys(np.array([np.concatenate([mine, theirs]), values]).T)
            found.append(int((~np.isin(both[: len(mine)], both[len(mine) :])).sum()))
        return found


def exchange(sought: Sought, rng: np.random.Generator, tick: Tick) -> tuple[np.ndarray, int, int, int]:
    """Exchange single values between records, as few as possible, until every record has an allowed combination.

    Returns
    -------
    ndarray of shape (p, n)
        The record that every value comes from.
    int, int, int
        Records without an allowed combination before and after, and exchanges.

    Notes
    -----
    Greedy: a record takes the nearest combination for which it finds partners, first those that get an allowed
    combination themselves by the exchange, then others that keep theirs. Half as many exchanges as records without
    are the least there can be. Where no partner is found some lose theirs, and are mended in their turn. Whether it is
    possible at all is a question of tables with given margins and forbidden cells: NP-hard from three columns on.
    """
    import numpy as np

    kernels = late("sqlmicro.mask._population_swap_kernels")
    s = _start(sought)
    n = len(sought.codes)
    s.good[:] = [kernels.known(s, i) for i in range(n)]
    before, made = int(n - s.good.sum()), 0
    for worth in [2, 1, 1, 1] + [0] * _PUSHES:
        bad = rng.permutation(np.flatnonzero(~s.good))
        if not len(bad):
            break
        for at in range(0, len(bad), _TOGETHER):
            made += kernels.mend(s, bad, at, min(len(bad), at + _TOGETHER), worth)
            tick(int(s.good.sum()), n)
    return s.source, before, int(n - s.good.sum()), made


def _start(sought: Sought) -> Any:
    """Return the state of the exchange."""
    import numpy as np

    kernels = late("sqlmicro.mask._population_swap_kernels")
    seats_for = late("sqlmicro.mask._suppression_kernels", "seats_for")
    codes, (n, p) = sought.codes, sought.rank.shape
    mine, theirs = sought.strata
    strata, values = int(mine.max()) + 1, int(max(codes.max(), sought.allowed.max(initial=0))) + 1
    order = np.argsort(theirs, kind="stable")
    allowed = np.concatenate([sought.allowed[order], np.zeros((1, codes.shape[1]), dtype=np.int64)])
    seats = seats_for(len(allowed))
    kernels.fill(seats, allowed)
    holder, place = np.empty((p, n), dtype=np.int64), np.empty((p, n), dtype=np.int64)
    first, rank = np.zeros((p, strata, values + 1), dtype=np.int64), np.zeros((p, values))
    for c in range(p):
        number = mine * (values + 1) + codes[:, c] + 1
        holder[c] = np.argsort(number, kind="stable")
        place[c, holder[c]] = np.arange(n)
        begins = np.searchsorted(number[holder[c]], np.arange(strata * (values + 1)) + 1).reshape(strata, values + 1)
        first[c] = begins
        there = codes[:, c] != MISSING
        rank[c, codes[there, c]] = sought.rank[there, c]
    return kernels.Swaps(
        codes.copy(), allowed, seats, np.zeros(n, dtype=np.bool_), rank, holder, first, place,
        np.tile(np.arange(n), (p, 1)), mine, np.searchsorted(theirs[order], np.arange(strata + 1)),
        np.zeros(n, dtype=np.int64),
    )  # fmt: skip


def keep_k_map(work: Work, least: int, population: str) -> None:
    """Exchange further values of a swap until every combination occurs often enough in the population.

    Raises
    ------
    InputError
        When a value occurs in no combination of the population that is frequent enough, or no exchanges were found.
    """
    import numpy as np
    import pyarrow as pa

    strata = [column for column in work.by if isinstance(column, Column)]
    columns = [*work.columns, *strata]
    swapped = _swapped(work, columns)
    sought, row_id = _read(work, columns, swapped, population, least)
    _refuse_hopeless(work, sought, least)
    with work.warehouse.progress.kernel("k-map", len(row_id)) as progress:
        source, before, left, made = exchange(sought, work.rng(), progress.tick)
    if left:
        raise InputError(
            work.where, f"every combination must occur {least} times in the population",
            f"no exchange of values was found for {left:,} of {before:,} records that have another one",
            work.advised("Recode the columns more coarsely first, or ask for a smaller --min-k-map"),
        )  # fmt: skip
    for column, own in zip(work.columns, source, strict=True):
        if (own != np.arange(len(own))).any():
            table = pa.table({"row_id": row_id, "source": row_id[own]})
            sources = work.load(table, f"sources_{column.staged}", "filled by swap")
            into = f"exchanged_{column.staged}"
            values = work.run("mask/exchanged.sql", into, relation=swapped, sources=sources, column=column)
            before_it = work.outcome.values.get(column)
            work.replace(column, values, before_it.kind if before_it else "number")
    work.note(
        f"{before:,} records had a combination with fewer than {least} members of the population: {made:,} further "
        "exchanges of single values"
    )


def _swapped(work: Work, columns: list[Column]) -> Name:
    """Return the records with the values that were swapped."""
    values = work.outcome.values
    relations = dict.fromkeys(new.relation for new in values.values())
    aliases = {relation: f"v{number}" for number, relation in enumerate(relations, 1)}
    found = [
        (column, aliases[values[column].relation], values[column].column) if column in values
        else (column, "r", column.staged) for column in columns
    ]  # fmt: skip
    joined = [(alias, relation) for relation, alias in aliases.items()]
    return work.run(
        "replace/released.sql",
        "swapped",
        relation=work.relation,
        columns=found,
        joined=joined,
        whole=[],
        whole_floats=[],
    )


def _read(work: Work, columns: list[Column], swapped: Name, population: str, least: int) -> tuple[Sought, np.ndarray]:
    """Read the records, and the combinations of the population, as the audit of k-map compares them."""
    import numpy as np

    types = dict(work.warehouse.describe(swapped))
    quasi = tuple(Column(column.staged, types[column.staged], column.staged) for column in columns)
    number = Column("row_id", "BIGINT", "row_id")
    audited = AuditedRelease(
        warehouse=work.warehouse,
        release=Source(swapped, "the release", (*quasi, number), is_table=False),
        quasi=quasi, person=(number,), population=_everybody(work, columns, population),
        names={column.staged: column.name for column in columns},
    )  # fmt: skip
    found = work.warehouse.arrays(
        "mask/population_codes.sql", records=audited.records, population=audited.population_cells, columns=columns,
        k=least,
    )  # fmt: skip
    codes = np.array([found[column.staged] for column in columns], dtype=np.int64).T
    own = found["row_id"] >= 0
    ranks = work.warehouse.arrays("mask/record_codes.sql", relation=swapped, columns=work.columns, weights=[])
    rank = np.array([ranks[column.staged] for column in work.columns], dtype=float).T
    rank /= np.maximum(rank.max(axis=0), 1)
    return Sought(codes[own], codes[~own], rank), found["row_id"][own]


def _everybody(work: Work, columns: list[Column], population: str) -> Source:
    """Return the population.

    Raises
    ------
    InputError
        When columns cannot be compared with it.
    """
    times = [f"{column.name} ({column.type})" for column in columns if column.family in _TIMES]
    if times:
        raise InputError(
            work.where, "a population is compared by numbers and text", ", ".join(times),
            "Recode dates first, in both tables: to a year, or an age",
        )  # fmt: skip
    return work.warehouse.source(population, name="population_source")


def _refuse_hopeless(work: Work, sought: Sought, least: int) -> None:
    """Refuse what no exchange can help: values, or gaps, that no frequent combination of the population has."""
    found = [
        f"{count:,} records have a value of {column.name!r}"
        for column, count in zip(work.columns, sought.hopeless(), strict=True)
        if count
    ]
    if found:
        raise InputError(
            work.where, f"every value must be in a combination with {least} members of the population: all are kept",
            f"{' and '.join(found)} that is in none" + (" of their stratum" if work.by else ""),
            "Recode these columns more coarsely first, top-code them, or ask for a smaller --min-k-map",
        )  # fmt: skip
