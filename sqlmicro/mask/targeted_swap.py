"""Targeted record swapping: what the households of a step are, and the regions that they exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.database.columns import Column, pick, split_names
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask.at_risk import AtRisk
from sqlmicro.mask.targeted import Exchanged, Households, exchange, shares
from sqlmicro.options.params import split_blocks
from sqlmicro.work import Stream, kinds_of

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work

TEMPLATES = (
    "mask/each_alone.sql", "mask/region_risks.sql", "mask/unit_sizes.sql", "mask/record_codes.sql",
    "mask/exchanged.sql",
)  # fmt: skip
_SMALLEST = 1e-12
"""The least risk of a household: one without any would never be a partner."""


@dataclass(frozen=True)
class Targeted:
    """What is asked of a targeted swap."""

    rate: float
    risk_columns: tuple[str, ...]
    min_count: int
    similar: str | None
    carry_along: tuple[str, ...]
    at_risk: AtRisk | None


def swap_households(work: Work, asked: Targeted) -> None:
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


def _households(work: Work, asked: Targeted, regions: Sequence[Column]) -> tuple[Households, np.ndarray]:
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
    work: Work, asked: Targeted, regions: Sequence[Column], members: Name, row_id: np.ndarray
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
