"""Individual ranking: every column grouped on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.database.places import has_room, in_place_of, numbers_of
from sqlmicro.group.keeping import united_in_sql
from sqlmicro.group.ranked import Ranking
from sqlmicro.options.params import K, Remainder, Representative
from sqlmicro.registry import method

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work

NEIGHBOURS_UP_TO = 30
"""Up to this k the first record of a group looks at its neighbours; above, GROUP BY costs less (10 million rows)."""
_BYTES = 48
"""Of a record while a column is ranked in memory."""


@method(
    "individual-ranking",
    stage="group",
    engine="sql",
    promise="column",
    on_clusters=True,
    source="Defays & Nanopoulos (1993); remainder as in Fink (2009)",
    templates=(
        "load/guaranteed.sql",
        "group/labels.sql",
        "group/united.sql",
        "group/sorted.sql",
        "group/in_order.sql",
        "group/strata_spread_from_both_ends.sql",
        "group/strata_last.sql",
        "group/groups_by_rank.sql",
        "replace/middle_means.sql",
        "replace/rank_means.sql",
        "replace/group_means.sql",
        "replace/group_medians.sql",
        "replace/by_label.sql",
    ),
    keeps_guarantees=True,
    sorts=True,
)
def individual_ranking(
    work: Work,
    *,
    k: K = 3,
    representative: Representative = "mean",
    remainder: Remainder = "spread-from-both-ends",
) -> Outcome:
    """Sort each column on its own and replace the values of every k neighbours by their mean or median.

    Groups have k records but for one, which takes the remainder and has k to 2k-1. NULL stays NULL. Equal values may
    fall into different groups; ties go by a keyed order. With guarantees, a group that misses something is united with
    the next one.

    Returns
    -------
    Outcome
        A relation of new values per column.

    Raises
    ------
    InputError
        When a stratum has fewer than k values in a column.

    Notes
    -----
    The *record* is not k-anonymous: every column has groups of its own, so that combinations of values stay distinct.
    O(n log n) per column, one sort, which is done in memory where there is room; a script has the SQL that says the
    same. Source: Defays & Nanopoulos (1993).
    """
    by_neighbours = representative == "mean" and k <= NEIGHBOURS_UP_TO and work.warehouse.keeps_order
    in_memory = (
        (by_neighbours or representative == "median")
        and not work.demand.more_than_k
        and has_room(work.warehouse, _BYTES * work.warehouse.count(work.relation))
    )
    for column in work.columns:
        if in_memory:
            _in_sql(work.shown(), column, k, representative, remainder, by_neighbours=by_neighbours)
            _in_memory(work, column, k, representative, spread=remainder != "last")
            continue
        ordered = _in_sql(work, column, k, representative, remainder, by_neighbours=by_neighbours)
        if by_neighbours and not work.demand.more_than_k and not work.sorted_by(column):
            work.warehouse.forget(ordered)  # the values are made: it would take memory until the end
    return work.outcome


def _in_sql(work: Work, column: Column, k: int, representative: str, remainder: str, *, by_neighbours: bool) -> Name:
    """Replace a column by SELECTs, whatever the size of the table; return its values in their order."""
    ordered = work.sort(column)
    strata = work.strata("group/strata_" + remainder.replace("-", "_") + ".sql", ordered, column, k)
    if work.demand.more_than_k:
        groups = united_in_sql(work, work.groups_by_rank(ordered, strata, k), column, k)
        work.replace_by_rank_group(column, groups, representative)
        work.count_groups(groups)
        return ordered
    # Where records keep no order, one task would compute what a window over all of them has.
    if by_neighbours:
        into, by = column.staged, work.by
        placed = work.run("replace/middle_means.sql", f"middle_{into}", sorted=ordered, strata=strata, by=by)
        values = work.run("replace/rank_means.sql", f"values_{into}", sorted=ordered, strata=placed, by=by, k=k)
        work.replace(column, values, read_once=True)
    else:
        work.replace_by_rank_group(column, work.groups_by_rank(ordered, strata, k), representative)
    work.count_rank_groups(strata, k)
    return ordered


def _in_memory(work: Work, column: Column, k: int, representative: str, *, spread: bool) -> None:
    """Make what the SELECTs would make that replace a column."""
    import numpy as np

    row_id, numbers = numbers_of(work.warehouse, work.relation, column)
    there = np.flatnonzero(~np.isnan(numbers))
    if len(there):
        strata = work.stratum_numbers(len(numbers))[there]
        sizes = (counts := np.bincount(strata))[counts > 0]
        work.refuse_small_strata(k, int(sizes.min()), int((sizes < k).sum()), len(sizes), column.name)
        ranking = Ranking.of(numbers[there], strata, k, spread=spread)
        numbers[there] = ranking.of_values(ranking.means if representative == "mean" else ranking.medians)
        work.count_sizes(len(ranking.sizes), int(ranking.sizes.min()), int(ranking.sizes.max()))
    shown = work.outcome.values[column].relation
    work.replace(column, in_place_of(work.warehouse, shown, work.relation, row_id, numbers))
