"""Swapping: values change places between records, so that margins stay exactly as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.database import risk_tables
from sqlmicro.database.columns import Column, pick, split_names
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask import at_risk
from sqlmicro.mask.at_risk import AtRisk
from sqlmicro.mask.population_swap import keep_k_map
from sqlmicro.mask.targeted import Exchanged, Households, exchange, shares
from sqlmicro.options.guarantees import InPopulation
from sqlmicro.options.params import Param, split_blocks
from sqlmicro.options.risks import CarryAlong, MinCount, RiskColumns, RiskTable, Similar, WhereRisk, WhichRisk
from sqlmicro.registry import Assurance, method
from sqlmicro.system.secrets import words
from sqlmicro.work import Stream, kinds_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work

AT_ONCE = 1 << 16
"""So many values, or a whole block of more, are put in a random order at once: they stay in the cache."""
_SMALLEST = 1e-12
"""The least risk of a household: one without any would never be a partner."""
_RARE = 3
_WIDER_THAN_ARROW = ("HUGEINT", "UHUGEINT")
"""Types whose values Arrow does not carry exactly: these are swapped in SQL, as on Spark."""


@method(
    "swap",
    no_series="records get the values of others, and who these are changes with whoever comes",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    assures=lambda settings, where: Assurance("masked", in_population=InPopulation.of(settings)),
    source="Moore (1996), rank swapping; Dalenius & Reiss (1982), data swapping; Gussenbauer, sdcMicro: targeted "
    "record swapping, as recommended for the EU census of 2021",
    templates=(
        "mask/draws.sql",
        "mask/ordered.sql",
        "mask/ranked.sql",
        "mask/in_order.sql",
        "mask/rank_blocks.sql",
        "mask/scattered.sql",
        "mask/rank_swapped.sql",
        "mask/swapped.sql",
        "replace/released.sql",
        "mask/population_codes.sql",
        "mask/record_codes.sql",
        "mask/exchanged.sql",
        *at_risk.ONLY,
        "mask/region_risks.sql",
        "mask/unit_sizes.sql",
        "mask/record_codes.sql",
    ),
    draws=True,
    sorts=True,
)
def swap(
    work: Work,
    *,
    kind: Annotated[
        Literal["rank", "data", "targeted"],
        Param(
            "Swap each column among values of similar rank; all between similar records; or, targeted, the regions "
            "between similar households of which one is at risk."
        ),
    ] = "rank",
    percent: Annotated[float | None, Param("With rank: greatest distance of ranks, in percent of the records.")] = None,
    rate: Annotated[
        float | None,
        Param("Share of the records that take part, with data; of the households, with targeted."),
    ] = None,
    min_k_map: Annotated[
        int | None,
        Param("Then exchange single values until this many of the population have every combination.", min=1),
    ] = None,
    population: Annotated[
        str | None,
        Param(
            "With --min-k-map: table, view or file of everybody, coded as the columns are.",
            metavar="TABLE",
            part="population",
        ),
    ] = None,
    risk_columns: RiskColumns = (),
    min_count: MinCount = None,
    similar: Similar = None,
    carry_along: CarryAlong = (),
    where_risk: WhereRisk = None,
    risk: WhichRisk = "individual",
    risk_table: RiskTable = risk_tables.DEFAULT,
) -> Outcome:
    """Swap values between records: of near rank, or of records that agree in the columns of --by.

    Returns
    -------
    Outcome
        New values of all columns.

    Raises
    ------
    ParameterError
        For an option that is missing, out of bounds, or belongs to the other kind.
    InputError
        For columns without an order, or when `percent` is less than one rank everywhere; when no exchange of values
        makes every combination occur in the population as often as `min_k_map` says.

    Notes
    -----
    Kind rank takes numbers, dates and timestamps, the others take columns of any type. The percentage is above 0 and up
    to 100, of the records of the stratum that have a value; the rate is above 0 and up to 1.

    rank: the sorted values are cut into blocks whose places depend on the key, and in each of them pairs are drawn that
    swap their values. Every value is used exactly once; one or two values of a block may stay where they are. Equal
    values have ranks of their own, in a keyed order. The distance is a percentage, as in Moore's paper, where
    sdcMicro's `P` is a fraction. Ours: partners are drawn from a block of so many ranks instead of from the ranks
    above, so that all pairs can be drawn at once.

    data: records that agree in all --by columns pass the columns on to each other, together. The joint distribution of
    the columns with those of --by is kept exactly, that with all others is not.

    targeted: the columns are regions, from the largest to the smallest, which are the same for a whole household
    (``--household``; without it every record is one). A person is at risk in a region where fewer than `min_count`
    persons (by default 3) have her values of `risk_columns`; a household as much as its rarest member, by 1/count. It
    is swapped on the first level where it is at risk: it exchanges all regions with a household of another region of
    that level that is similar by the first profile, else by the next. Those most at risk come first, and a partner is
    drawn with a chance that grows with its risk. On the last level further households are drawn until `rate` of all are
    swapped. Each is swapped once; who finds nobody stays, and is counted. With `where_risk` the table of risks says who
    is at risk, on the level of the largest regions. How many households of a profile a region has stays exactly. Who
    lacks a region takes no part. Ours: falling risk, where sdcMicro takes them as they come.

    With `min_k_map` single values of records that agree in all --by columns change places afterwards, whatever the kind
    and the distance, until every combination of the columns and of --by occurs so often in the population. All margins
    stay. A record takes the nearest such combination that it can get. As few values as possible: half as many exchanges
    as records without such a combination are the least, and how many there were is said. Columns are numbers or text.

    With `where_risk` the records at risk swap with each other, as if there were no others.

    What repeats: under one secret the same value of the same person takes part again, at the same place of the
    random order, so that releasing each night does not show who takes part; other settings and columns share nothing.
    When a record comes or goes, its neighbours in that order have another value: who knows that just this record went
    can read from data swapping which value was its own. Release once, or seldom and after many changes.

    NULL stays where it is. O(n log n), two sorts. On DuckDB the pairs of rank swapping are found in memory, 40 bytes a
    value; on Spark, and of integers of 128 bits, in SQL. These draw other pairs.
    """
    _settle(work, kind, percent, rate)
    if (min_k_map is None) != (population is None):
        given, other = ("min_k_map", "--population") if population is None else ("population", "--min-k-map")
        raise ParameterError(f"{work.where}, {given}", f"goes with {other}", "none", f"Give {other}")
    of_regions = {"risk_columns": risk_columns, "min_count": min_count, "similar": similar, "carry_along": carry_along}
    if kind != "targeted" and (wrong := [name for name, value in of_regions.items() if value]):
        raise ParameterError(f"{work.where}, {wrong[0]}", "goes with --kind targeted", kind)
    asked = at_risk.asked_for(where_risk, risk, risk_table)
    if kind == "targeted":
        told = _Targeted(rate or 0.0, risk_columns, min_count or _RARE, similar, carry_along, asked)
        _swap_households(work, told)
    else:
        at_risk.only(work, asked, lambda: _exchange(work, kind, percent, rate), apart=True)
    if min_k_map is not None and population is not None:
        keep_k_map(work, min_k_map, population)
    return work.outcome


def _exchange(work: Work, kind: str, percent: float | None, rate: float | None) -> None:
    if kind == "data":
        assert rate is not None
        _data_swap(work, rate)
        return
    assert percent is not None
    for column in work.columns:
        _rank_swap(work, column, percent)


def _data_swap(work: Work, rate: float) -> None:
    values = work.run(
        "mask/swapped.sql",
        "values",
        drawn=work.drawn(Stream(tuple(work.columns))),
        by=work.by,
        columns=work.columns,
        share=round(rate * 2**60),
    )
    work.replace_all(work.columns, values, kinds_of(work.columns))


def _rank_swap(work: Work, column: Column, percent: float) -> None:
    _check_strata(work, column, percent)
    warehouse, into = work.warehouse.database, f"values_{column.staged}"
    if warehouse is not None and column.type not in _WIDER_THAN_ARROW:
        import pyarrow as pa

        template, by = ("mask/in_order.sql", {}) if work.sorted_by(column) else ("mask/ranked.sql", {"by": work.by})
        view = work.run(template, f"ranked_{column.staged}", view=True, relation=work.relation, column=column, **by)
        ranked = warehouse.table(view)
        drawn_for = ranked["drawn_for"].to_numpy()
        sizes = _sizes(work, column) if work.by else [len(drawn_for)]
        values = swapped(ranked["value"], drawn_for, sizes, percent, work.draw_key([column]))
        made = pa.table({"row_id": ranked["row_id"], "value": values})
        work.replace(column, work.load(made, into, "filled with the values, swapped in pairs"))
        return
    drawn = work.drawn(Stream((column,)))
    ordered = work.run("mask/ordered.sql", f"ordered_{column.staged}", drawn=drawn, by=work.by, column=column)
    blocks = work.run(
        "mask/rank_blocks.sql",
        f"blocks_{column.staged}",
        ordered=ordered,
        by=work.by,
        stream=work.bind([column]),
        percent=percent,
    )
    scattered = work.run("mask/scattered.sql", f"scattered_{column.staged}", ordered=ordered, blocks=blocks, by=work.by)
    work.replace(column, work.run("mask/rank_swapped.sql", into, scattered=scattered))


def _sizes(work: Work, column: Column) -> list[int]:
    """Return how many values every stratum has, in the order of the strata; without those that have none."""
    text = (
        "SELECT count({{ column | ident }}) AS n FROM {{ relation | ident }} "
        "GROUP BY {{ by | idents }} HAVING n > 0 ORDER BY {{ by | idents }}"
    )
    return [n for (n,) in work.warehouse.query("strata", text, relation=work.relation, by=work.by, column=column)]


def _settle(work: Work, kind: str, percent: float | None, rate: float | None) -> None:
    for name, value, of, most in (("percent", percent, ("rank",), 100), ("rate", rate, ("data", "targeted"), 1)):
        if kind == of[0] and value is None:
            raise ParameterError(f"{work.where}, {name}", f"--kind {kind} needs --{name}", "none")
        if kind not in of and value is not None:
            raise ParameterError(f"{work.where}, {name}", f"--{name} does not go with --kind {kind}", f"{value:g}")
        if value is not None and not 0 < value <= most:
            raise ParameterError(f"{work.where}, {name}", f"must be a number above 0, up to {most}", f"{value:g}")
    wrong = [f"{column.name} ({column.type})" for column in work.columns if not column.numeric]
    if kind == "rank" and wrong:
        do = "Use --kind data for these"
        raise InputError(work.where, "--kind rank works on numbers, dates and timestamps", ", ".join(wrong), do)


def _check_strata(work: Work, column: Column, percent: float) -> None:
    """Refuse a distance below one rank; say how many strata are too small for it."""
    strata, small, most = work.warehouse.query(
        "strata",
        "SELECT count(*), count(*) FILTER (WHERE n = 1 OR n > 0 AND floor(n * {{ percent | lit }} / 100) < 1), "
        "max(n) FROM ("
        "SELECT {% for stratum in by %}{{ stratum | ident }}, {% endfor %}count({{ column | ident }}) AS n "
        "FROM {{ relation | ident }} GROUP BY ALL)",
        percent=percent,
        by=work.by,
        column=column,
        relation=work.relation,
    )[0]
    if strata and most == 1:
        got = f"one value of {column.name!r}" + (" in a stratum" if work.by else "")
        do = work.advised("Drop the column")
        raise InputError(work.where, "a value needs another one to be swapped with", got, do)
    if strata and most and most * percent < 100:
        raise InputError(
            work.where,
            f"{percent:g} % of the records must be at least one rank",
            f"at most {most:,} values of {column.name!r}" + (" in a stratum" if work.by else ""),
            work.advised("Raise --percent"),
        )
    if small:
        least = max(2, 100 / percent)
        work.note(f"{column.name}: nothing was swapped in {small:,} strata with fewer than {least:,.0f} values")


def swapped(values: pa.ChunkedArray, drawn_for: np.ndarray, sizes: Sequence[int], percent: float, key: str) -> pa.Array:
    """Return the values, as they are swapped.

    Parameters
    ----------
    values : pyarrow.ChunkedArray of n values
        In their order, stratum after stratum, none missing.
    drawn_for : ndarray (n,) of uint64
        A hash of the record and value of each.
    sizes : sequence of int
        Number of values of every stratum.
    percent : float
        Greatest distance of ranks, in percent of the values of the stratum.
    key : str
        Key of the draws: it decides where blocks begin, and with `drawn_for` who is paired.

    Returns
    -------
    pyarrow.Array of n values
        The new value of the record at each place.

    Notes
    -----
    O(n log n) time and O(n) memory, one sort of numbers of 64 bits that fits the cache, or one for each larger block.
    """
    import pyarrow as pa

    if not len(drawn_for):
        return values.combine_chunks()
    begins = blocks(sizes, percent, *_edges(key))
    parts = []
    for first, last, inside in _runs(begins, len(drawn_for)):
        partner = partners(words(key, "partners", drawn_for[first:last]), inside)
        taken = pa.Array.from_buffers(pa.int64(), last - first, [None, pa.py_buffer(partner)])
        parts.append(values.slice(first, last - first).combine_chunks().take(taken))
    return pa.concat_arrays(parts)


def blocks(sizes: Sequence[int], percent: float, phase: float, remainder: float) -> np.ndarray:
    """Return where blocks begin, counted through all strata: at least one place is in each.

    All blocks of a stratum are equally long but for the first and the last one, which a share from 0 to 1/2, `phase`
    and `remainder`, is cut off. None has more values than the greatest distance of ranks plus one.

    >>> blocks([10, 2], 30.0, 0.5, 0.0).tolist()
    [0, 2, 5, 8, 10, 11]
    """
    import numpy as np

    n = np.array(sizes, dtype=np.float64)
    total = np.ceil(n / (np.floor(n * percent / 100) + 0.999) + phase + remainder) - phase - remainder
    many = np.floor(total + phase).astype(np.int64) + 1
    number = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    length, most = np.repeat(n / total, many), np.repeat(n, many)
    begins = np.clip(np.ceil((number - phase) * length), 0, most) + np.repeat(np.cumsum(n) - n, many)
    found: np.ndarray = np.unique(begins.astype(np.int64))
    return found[: np.searchsorted(found, n.sum())]


def partners(draws: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return with which place the value of each swaps (n,), its own where it stays.

    Parameters
    ----------
    draws : ndarray (n,) of int64
        Random numbers from 0 to 2^63, of the values in their order.
    begins : ndarray of int64
        Where blocks begin, from 0 on. In a block the two with the least numbers swap, then the next two; equal numbers
        go by place. As many bits of a number count as those of block and place leave: 29 of many small blocks, 38 of
        one of ten million values.

    >>> import numpy as np
    >>> partners(np.array([5, 2, 9, 8, 7]) << 50, np.array([0, 2])).tolist()
    [1, 0, 2, 4, 3]
    """
    import numpy as np

    n = len(draws)
    lengths = np.diff(begins, append=n)
    of_place, of_block = n.bit_length(), len(begins).bit_length()
    ordered = draws >> of_block + of_place
    ordered <<= of_place
    ordered |= np.repeat(np.arange(len(begins)) << 63 - of_block, lengths)
    place = np.arange(n)
    ordered |= place
    ordered.sort()
    ordered &= (1 << of_place) - 1
    paired = np.delete(ordered, (begins + lengths - 1)[lengths % 2 == 1])  # without the last one where it has nobody
    one, other = paired[::2], paired[1::2]
    place[one], place[other] = other, one
    return place


def _edges(key: str) -> tuple[float, float]:
    """Return the shares, from 0 to 1/2, that are cut off the first and the last block."""
    digest = hashlib.sha256(f"{key} blocks".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**33, int.from_bytes(digest[4:8], "big") / 2**33


def _runs(begins: np.ndarray, n: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield whole blocks that make up some `AT_ONCE` values: the first, the end, and where blocks begin inside."""
    import numpy as np

    block = 0
    while block < len(begins):
        first = int(begins[block])
        after = max(int(np.searchsorted(begins, first + AT_ONCE, side="right")) - 1, block + 1)
        last = int(begins[after]) if after < len(begins) else n
        yield first, last, begins[block:after] - first
        block = after


@dataclass(frozen=True)
class _Targeted:
    """What is asked of a targeted swap."""

    rate: float
    risk_columns: tuple[str, ...]
    min_count: int
    similar: str | None
    carry_along: tuple[str, ...]
    at_risk: AtRisk | None


def _swap_households(work: Work, asked: _Targeted) -> None:
    """Let households exchange the regions they are in.

    Raises
    ------
    ParameterError
        For a column that is not there, or options that do not go together.
    InputError
        When a region differs within a household.
    """
    import numpy as np
    import pyarrow as pa

    where = work.where
    if not asked.risk_columns and asked.at_risk is None:
        must = "needs what is rare, or the records at risk"
        raise ParameterError(f"{where}, risk_columns", must, "none", "Give --risk-columns A,B or --where-risk '> 0.2'")
    if len(work.columns) != len(work.draws.task.columns):
        raise InputError(
            where, "the regions of a household are the same for all its members", "columns that differ within some",
            "Leave these out of --columns, or correct them",
        )  # fmt: skip
    along = pick(work.columns, asked.carry_along, f"{where}, carry_along")
    regions = [column for column in work.columns if column not in along]
    if not regions:
        raise ParameterError(f"{where}, carry_along", "leaves at least one column that is a level of regions", "none")
    households, row_id = _households(work, asked, regions)
    sizes = np.bincount(households.region[-1][~households.stays], minlength=int(households.region[-1].max()) + 1)
    wanted = shares(sizes, asked.rate, work.rng()) if sizes.sum() else sizes
    with work.warehouse.progress.kernel("swap households", len(row_id)) as progress:
        found = exchange(households, wanted, progress.tick)
    sources = work.load(pa.table({"row_id": row_id, "source": row_id[found.partner]}), "sources", "filled by swap")
    for column in work.columns:
        into = f"exchanged_{column.staged}"
        values = work.run("mask/exchanged.sql", into, relation=work.relation, sources=sources, column=column)
        work.replace(column, values, kinds_of([column])[column])
    work.note(_told(work, households, found))


def _told(work: Work, households: Households, found: Exchanged) -> str:
    import numpy as np

    n, levels = len(found.partner), len(households.region)
    swapped = int((found.partner != np.arange(n)).sum())
    due, unit = int((households.due < levels).sum()), f"{work.unit}s"
    text = f"{swapped:,} of {n:,} {unit} swapped, {due:,} were at risk"
    if found.alone:
        text += f"; {found.alone:,} found no similar one in another region and stay: give a coarser profile behind them"
    return text


def _households(work: Work, asked: _Targeted, regions: Sequence[Column]) -> tuple[Households, np.ndarray]:
    """Return the households in the order of their row_id, and their row_id."""
    import numpy as np

    n_levels, members = len(regions), work.members()
    profiles, strata = _profiles(work, asked.similar), [column for column in work.by if isinstance(column, Column)]
    columns = list(dict.fromkeys([*regions, *(c for profile in profiles for c in profile), *strata]))
    draws = [f"draw_{number}" for number in range(1, n_levels + 1)]
    drawn = work.drawn(Stream(tuple(work.columns), n_levels))
    codes = work.warehouse.arrays("mask/record_codes.sql", relation=work.relation, columns=columns, weights=[])
    sizes = work.warehouse.arrays("mask/unit_sizes.sql", drawn=drawn, members=members, draws=draws)
    row_id = codes["row_id"]
    region = _numbered([[codes[column.staged] for column in regions[: at + 1]] for at in range(n_levels)])
    own = [codes[column.staged] for column in strata]
    similar = [[codes[column.staged] for column in profile] or [sizes["members"]] for profile in profiles]
    uniform = (np.array([sizes[draw] for draw in draws], dtype=float) + 0.5) / 2.0**60
    risk, due = _risks(work, asked, regions, members, row_id)
    stays = np.any([codes[column.staged] < 0 for column in regions], axis=0)
    households = Households(
        region, np.maximum(risk, _SMALLEST), due, _numbered([[*one, *own] for one in similar]), -np.log(uniform), stays
    )
    return households, row_id


def _profiles(work: Work, similar: str | None) -> list[list[Column]]:
    """Return the columns of every profile; without any, one of the number of members."""
    if similar is None:
        return [[]]
    where, there = f"{work.where}, similar", dict(work.warehouse.describe(work.relation))
    found = [[work.kept(name, "similar") for name in split_names([part])] for part in split_blocks(similar)]
    if not all(found):
        raise ParameterError(where, "has columns in every profile", repr(similar), 'Write "A,B;A"')
    lacking = [c.name for c in dict.fromkeys(c for one in found for c in one) if c.staged not in there]
    if lacking:
        raise ParameterError(where, "must be columns that are released", ", ".join(lacking), "Keep them")
    return found


def _numbered(parts: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """Return a number for every combination of some columns, (parts, n)."""
    import numpy as np

    return np.array([np.unique(np.array(part).T, axis=0, return_inverse=True)[1].reshape(-1) for part in parts])


def _risks(
    work: Work, asked: _Targeted, regions: Sequence[Column], members: Name, row_id: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the risk of every household on every level, and on which level it is due."""
    import numpy as np

    levels = len(regions)
    if asked.at_risk is not None:
        measure, risky = asked.at_risk.units(work, row_id)
        risk = 1 / np.maximum(measure, 1) if asked.at_risk.risk == "class-size" else measure
        return np.tile(risk, (levels, 1)), np.where(risky, 0, levels)
    records = work.demand.units.records if work.demand.units else work.relation
    there = dict(work.warehouse.describe(records))
    rare = [work.kept(name, "risk_columns") for name in asked.risk_columns]
    lacking = [column.name for column in rare if column.staged not in there]
    if lacking:
        where = f"{work.where}, risk_columns"
        raise ParameterError(where, "must be columns that are released", ", ".join(lacking), "Keep them")
    found = work.warehouse.arrays(
        "mask/region_risks.sql", relation=records, members=members,
        levels=[[*rare, *regions[: at + 1]] for at in range(levels)],
    )  # fmt: skip
    risk = np.array([found[f"risk_{at}"] for at in range(1, levels + 1)], dtype=float)
    above = risk > (1 + 1e-9) / asked.min_count
    return risk, np.where(above.any(axis=0), above.argmax(axis=0), levels)
