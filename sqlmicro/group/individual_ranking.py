"""Individual ranking: every column grouped on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.group.keeping import united_in_sql
from sqlmicro.options.params import K, Remainder, Representative
from sqlmicro.registry import method

if TYPE_CHECKING:
    from sqlmicro.work import Outcome, Work

NEIGHBOURS_UP_TO = 30
"""Up to this k the first record of a group looks at its neighbours; above, GROUP BY costs less (10 million rows)."""


@method(
    "individual-ranking",
    stage="group",
    engine="sql",
    promise="column",
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
    O(n log n) per column, one sort. Source: Defays & Nanopoulos (1993).
    """
    for column in work.columns:
        ordered = work.sort(column)
        strata = work.strata("group/strata_" + remainder.replace("-", "_") + ".sql", ordered, column, k)
        if work.demand.more_than_k:
            groups = united_in_sql(work, work.groups_by_rank(ordered, strata, k), column, k)
            work.replace_by_rank_group(column, groups, representative)
            work.count_groups(groups)
            continue
        # Where records keep no order, one task would compute what a window over all of them has.
        if representative == "mean" and k <= NEIGHBOURS_UP_TO and work.warehouse.keeps_order:
            placed = work.run(
                "replace/middle_means.sql", f"middle_{column.staged}", sorted=ordered, strata=strata, by=work.by
            )
            values = work.run(
                "replace/rank_means.sql", f"values_{column.staged}", sorted=ordered, strata=placed, by=work.by, k=k
            )
            work.replace(column, values)
            work.outcome.read_once.add(values)
            if not work.sorted_by(column):
                work.warehouse.forget(ordered)  # the values are made: it would take memory until the end
        else:
            groups = work.groups_by_rank(ordered, strata, k)
            work.replace_by_rank_group(column, groups, representative)
        work.count_rank_groups(strata, k)
    return work.outcome
