"""Local suppression: single values are taken out until the rare combinations are gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sqlmicro.audits.audited import ARITHMETIC
from sqlmicro.database import risk_tables
from sqlmicro.database.columns import Column, numbers_by_column
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.guarantees import read
from sqlmicro.guarantees.members import Members
from sqlmicro.guarantees.tally import Tally
from sqlmicro.mask import at_risk
from sqlmicro.mask import population as everybody
from sqlmicro.mask.demand import Demand, refuse_impossible
from sqlmicro.mask.kept_suppression import KeptSuppression
from sqlmicro.mask.population_matches import PopulationMatches
from sqlmicro.mask.suppression import MISSING, Entries, class_sizes, keys, matches, search
from sqlmicro.options.guarantees import InPopulation, MinKMap, Population
from sqlmicro.options.params import Param
from sqlmicro.options.risks import RiskTable, WhereRisk, WhichRisk
from sqlmicro.registry import Assurance, method
from sqlmicro.safe_method.occurring import assigned, at_driver, occurring

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.mask.suppression import Entries
    from sqlmicro.work import Outcome, Work


def _assures(settings: Mapping[str, Any], where: str) -> Assurance:
    """Return what is promised: k of each set of columns; nothing where a missing value may be any."""
    if settings.get("nulls_match") == "wildcard":
        return Assurance("masked")
    weight, max_risk, subsets = (settings.get(name) for name in ("weight", "max_risk", "subsets"))
    asked = replace(InPopulation.of(settings), weight=weight, max_risk=max_risk, nulls="wildcard")
    return Assurance("record" if subsets is None else "block", subsets=subsets, in_population=asked)


@method(
    "suppress",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    assures=_assures,
    source="Hundepool et al. (2012), local suppression; greedy search: sqlmicro",
    templates=(
        "safe/cells.sql",
        "mask/cell_codes.sql",
        "safe/assigned.sql",
        "mask/suppressed_cells.sql",
        "replace/by_label.sql",
        "mask/record_codes.sql",
        "mask/cells_of_records.sql",
        "mask/suppressed_records.sql",
        *everybody.TEMPLATES[:2],
        "mask/with_population.sql",
        *at_risk.TEMPLATES,
        "mask/taken_out.sql",
    ),
    keeps_guarantees=True,
    recodes=True,
)
def suppress(
    work: Work,
    *,
    k: Annotated[int, Param("How often every combination must occur.", min=2)] = 3,
    importance: Annotated[
        tuple[str, ...], Param("What it costs to suppress a value of a column: zip=1,age=5. Default: 1.", metavar="A=W")
    ] = (),
    subsets: Annotated[
        int | None,
        Param("Hold for every combination of this many columns. Default: of all columns.", min=1, metavar="M"),
    ] = None,
    nulls_match: Annotated[
        Literal["own-value", "wildcard"],
        Param("A missing value is a value of its own (safe), or may be any value (fewer suppressions)."),
    ] = "own-value",
    max_risk: Annotated[
        float | None, Param("The individual risk of every record is at most this, by its weights.", min=0, max=1)
    ] = None,
    weight: Annotated[
        str | None,
        Param("With --max-risk: column of sampling weights, released as it is.", metavar="COLUMN", part="weights"),
    ] = None,
    min_k_map: MinKMap = None,
    population: Population = None,
    where_risk: WhereRisk = None,
    risk: WhichRisk = "individual",
    risk_table: RiskTable = risk_tables.DEFAULT,
) -> Outcome:
    """Set as few values as possible to NULL until every combination of the columns occurs k times.

    Returns
    -------
    Outcome
        The columns with NULL where values were suppressed; the notes have the number by column, and the smallest
        number of equal records by both readings.

    Raises
    ------
    InputError
        When there are fewer than k records, or not even all of them in one class keep what is asked.

    Notes
    -----
    With guarantees besides k, `max_risk` or `min_k_map`, a missing value is a value of its own, and every class keeps
    them. Classes that miss something join each other, or a class that lacks these values already, or borrow records
    with other sensitive values, larger weights, or of other persons, from classes that can do without them; else they
    join a whole class. In the end records go where they lose less, as long as all is kept. `max_risk` is that of the
    audit of individual risk: the risk of a class falls with its records and with the sum of their weights.

    `min_k_map` is about the members of a `population` who may be the person of a record: those who agree with it in
    every column in which both have a value. There a missing value may be any, since nobody in the population lacks what
    was suppressed: audit it with ``--nulls wildcard``. A share of the members, as delta-presence, is not kept here: a
    member may then be in several classes.

    With `where_risk` all values of the columns are taken out of the records at risk first, and then as few others as it
    takes; sdcMicro calls the first localSupp, and stops there.

    With nulls_match `wildcard` a record counts the records that may be the same, as the R package sdcMicro does. An
    attacker who knows that a value was rare may still tell records apart, so that such a release is not called
    k-anonymous.

    Greedy, on the combinations that occur: for every set of one column, then two, and so on, the rare records are
    grouped by the other columns; what costs least per rescued record is done first. Rare records join each other, a
    combination that lacks these values already, or records borrowed from frequent combinations, or else a whole one.
    O(rounds · sets of columns · c p) time for c combinations of p columns; of the sets of more than 8 columns only the
    most helpful are looked at. Not the optimum, which is NP-hard (Meyerson & Williams 2004).

    Who asks for less loses no more: the searches for combinations of more columns are made too while these are few,
    that over all columns always, and with `wildcard` those of the other reading. What costs least is taken.

    With `wildcard`, k - 1 records of a group without the values in which it differs are company for all the others,
    which stay as they are: k - 1 records without any value would do for a whole table. Values are given back in the
    end where every record keeps its k.
    """
    asked = _in_population(
        work, max_risk, weight, subsets, nulls_match, everybody.asked_of(work, min_k_map, population)
    )
    cost, members = _weights(work, importance), None
    if where_risk is not None:
        _take_out(work, at_risk.AtRisk(where_risk, risk, risk_table))
    if asked.limits or work.demand.more_than_k:
        members = everybody.read(work, asked) if asked.population else None
        _keep(work, k, cost, asked, members)
    else:
        _only_k(work, k, cost, subsets, nulls_match)
    work.outcome.account.everybody = members
    return work.outcome


def _take_out(work: Work, asked: at_risk.AtRisk) -> None:
    """Take all values of the columns out of the records at risk."""
    chosen, whole = asked.records(work), dict(work.warehouse.describe(work.relation))
    own = [column.staged for column in work.columns]
    others = [name for name in whole if name not in (*own, "row_id", "record")]
    work.relation = work.run("mask/taken_out.sql", "taken_out", relation=work.relation, chosen=chosen,
                             columns=work.columns, others=others)  # fmt: skip


def _in_population(
    work: Work, max_risk: float | None, weight: str | None, subsets: int | None, nulls_match: str, counted: InPopulation
) -> InPopulation:
    """Return what is asked of the population; refuse options that do not go together."""
    if (max_risk is None) != (weight is None):
        given, other = ("max_risk", "weight") if weight is None else ("weight", "max_risk")
        shown = "--" + other.replace("_", "-")
        raise ParameterError(f"{work.where}, {given}", f"goes with {shown}", "none", f"Give {shown}")
    if max_risk is not None and work.demand.person:
        raise ParameterError(f"{work.where}, max_risk", "is the risk of a record, not of a person", "--person")
    if max_risk is not None or work.demand.more_than_k or work.records.classes or counted.limits:
        must = "does not go with guarantees, which hold of classes over all columns, NULL being a value"
        if subsets is not None:
            raise ParameterError(f"{work.where}, subsets", must, str(subsets))
        if nulls_match != "own-value":
            raise ParameterError(f"{work.where}, nulls_match", must, nulls_match)
    return replace(counted, weight=weight, max_risk=max_risk, nulls="wildcard")


def _only_k(work: Work, k: int, cost: np.ndarray, subsets: int | None, nulls_match: str) -> None:
    """Suppress values until every combination occurs k times."""
    import numpy as np

    key = [*work.columns, *everybody.strata(work)]
    cells, codes, n = _occurring(work, key)
    _refuse_few(work, codes[:, len(work.columns) :], n, k)
    entries = Entries(np.arange(len(n)), codes.copy(), n.copy())
    with work.warehouse.progress.kernel("suppress", int(n.sum())) as progress:
        search(entries, len(work.columns), k, cost, subsets, nulls_match, progress.tick)
    _note_rarest(work, entries, f", over all {len(key)} columns" if subsets else "")
    _take(work, cells, key, codes, entries)


def _keep(work: Work, k: int, cost: np.ndarray, asked: InPopulation, members: Name | None) -> None:
    """Suppress values until every class keeps what is asked."""
    import numpy as np

    key, p = [*work.columns, *everybody.strata(work)], len(work.columns)
    weights = [_numbers(work, asked.weight)] if asked.weight else []
    cells, codes, _ = _occurring(work, key)
    found = work.warehouse.arrays(
        "mask/cells_of_records.sql", relation=work.relation, cells=work.warehouse.hand_over(cells), columns=key,
        weights=weights,
    )  # fmt: skip
    held, codes = None, codes[found["cell"].astype(np.int64)]
    if members is not None:
        codes, held = _with_population(work, key, members, asked)
    n = len(codes)
    _refuse_few(work, codes[:, p:], np.ones(n, dtype=np.int64), k)
    heavy = found["weight"].astype(float) if weights else np.zeros(n)
    if (heavy < 0).any():
        got = f"{int((heavy < 0).sum()):,} below 0"
        raise InputError(f"{work.where}, weight", "says for how many members of the population a record stands", got)
    strata = keys(codes[:, p:])
    demand = Demand(read.rules(work, k).asked, heavy, np.inf if asked.max_risk is None else asked.max_risk, held)
    refuse_impossible(work, demand, strata)
    if held is not None:
        _refuse_small_population(work, held, asked, np.where(np.arange(len(key)) < p, MISSING, codes), strata)
    with work.warehouse.progress.kernel("suppress", n) as progress:
        search = KeptSuppression(codes, demand, cost, progress.tick)
        search.run()
    left, count = np.unique(search.released, axis=0, return_counts=True)
    _note_rarest(work, Entries(np.arange(len(left)), left, count))
    hidden = (search.released != codes)[:, :p]
    _take_records(work, found["row_id"], hidden)
    _note_lost(work, hidden.sum(axis=0))


def _occurring(work: Work, key: list[Column]) -> tuple[Name, np.ndarray, np.ndarray]:
    """Return the combinations that occur: where they are, their values as numbers, and how many records have each."""
    import numpy as np

    cells = occurring(work, work.relation, key, "cells")
    read = work.warehouse.small.arrays("mask/cell_codes.sql", cells=cells, counted=["n"], columns=key)
    codes = np.array([read[column.staged] for column in key], dtype=np.int64).T
    return cells, codes, read["n"].astype(np.int64)


def _with_population(
    work: Work, key: list[Column], members: Name, asked: InPopulation
) -> tuple[np.ndarray, PopulationMatches]:
    """Return the records and the population by the same numbers."""
    import numpy as np

    both = work.run("mask/with_population.sql", "everybody_and_records", relation=work.relation, population=members,
                    columns=key)  # fmt: skip
    found = work.warehouse.arrays("mask/record_codes.sql", relation=both, columns=key, weights=[])
    codes, records = np.array([found[column.staged] for column in key], dtype=np.int64).T, found["row_id"] >= 0
    theirs, count = np.unique(codes[~records], axis=0, return_counts=True)
    return codes[records], PopulationMatches(theirs, count, asked.min_k_map or 1)


def _refuse_small_population(
    work: Work, held: PopulationMatches, asked: InPopulation, hidden: np.ndarray, strata: np.ndarray
) -> None:
    """Refuse strata that too few of the population are in: no combination has more than the one without values."""
    import numpy as np

    first = np.unique(strata, return_index=True)[1]
    whole = Tally(1, np.bincount(strata), members=Members(held.members(hidden[first]), held.least))
    everybody.refuse_impossible(work, asked, whole, 0)


def _numbers(work: Work, weight: str) -> Column:
    column = work.kept(weight, "weight")
    if column.family not in ARITHMETIC:
        raise ParameterError(f"{work.where}, weight", "must be a column of numbers", f"{column.name} ({column.type})")
    return column


def _note_rarest(work: Work, entries: Entries, over: str = "") -> None:
    import numpy as np

    everything = np.arange(len(entries.count))
    both = int(class_sizes(entries).min()), int(matches(entries, everything).min())
    work.note(
        f"the rarest record occurs {both[0]} times with a missing value as a value of its own, {both[1]} times where "
        f"it may be any value{over}"
    )


def _weights(work: Work, importance: tuple[str, ...]) -> np.ndarray:
    import numpy as np

    must = "is written COLUMN=COST, where COST must be a number above 0"
    found = numbers_by_column(work.step.columns, importance, f"{work.where}, importance", must)
    return np.array([found.get(column, 1.0) for column in work.columns])


def _refuse_few(work: Work, strata: np.ndarray, n: np.ndarray, k: int) -> None:
    import numpy as np

    sizes = np.bincount(keys(strata), n)
    work.refuse_small_strata(k, int(sizes.min()), int((sizes < k).sum()), len(sizes))


def _take(work: Work, cells: Name, key: list[Column], codes: np.ndarray, entries: Entries) -> None:
    """Hand the records of every combination to its entries, and take the values that are left."""
    import numpy as np
    import pyarrow as pa

    labels = np.arange(len(entries.count))
    hidden = (entries.codes != codes[entries.source])[:, : len(work.columns)]
    flags = {f"hidden_{i}": hidden[:, i] for i in range(len(work.columns))}
    there = at_driver(work)
    members = there.load(
        pa.table({"cell": entries.source, "label": labels, "n": entries.count}), "members", "filled by suppress"
    )
    chosen = there.load(pa.table({"label": labels, "cell": entries.source, **flags}), "chosen", "filled by suppress")
    released = there.run(
        "mask/suppressed_cells.sql",
        "released_cells",
        cells=cells,
        chosen=chosen,
        columns=[(column, f"hidden_{i}") for i, column in enumerate(work.columns)],
    )
    groups = assigned(work, cells, members, key, "groups")
    released = work.warehouse.hand_over(released)
    values = work.run("replace/by_label.sql", "values", groups=groups, representatives=released, columns=work.columns)
    work.replace_all(work.columns, values, "nominal")
    _note_lost(work, (hidden * entries.count[:, None]).sum(axis=0))


def _take_records(work: Work, row_id: np.ndarray, hidden: np.ndarray) -> None:
    """Take the values of every record that are left."""
    import pyarrow as pa

    flags = {f"hidden_{i}": hidden[:, i] for i in range(len(work.columns))}
    chosen = work.load(pa.table({"row_id": row_id, **flags}), "chosen", "filled by suppress")
    values = work.run(
        "mask/suppressed_records.sql",
        "values",
        relation=work.relation,
        chosen=chosen,
        columns=[(column, f"hidden_{i}") for i, column in enumerate(work.columns)],
    )
    work.replace_all(work.columns, values, "nominal")


def _note_lost(work: Work, lost: np.ndarray) -> None:
    by_column = ", ".join(f"{column.name} {count:,}" for column, count in zip(work.columns, lost, strict=True) if count)
    work.note(f"{int(lost.sum()):,} values suppressed" + (f": {by_column}" if by_column else ""))
