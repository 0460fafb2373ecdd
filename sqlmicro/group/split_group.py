"""Split groups: every group becomes two values that keep its mean and variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.errors import InputError
from sqlmicro.options.params import Param
from sqlmicro.registry import method
from sqlmicro.work import Stream

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work


@method(
    "split-group",
    no_series="groups keep their mean and variance, and change with whoever comes",
    stage="group",
    engine="sql",
    promise="moments",
    on_clusters=True,
    source="Höhne, univariate split groups with fixed and variable group size",
    templates=(
        "group/sorted.sql",
        "group/in_order.sql",
        "group/strata_merged.sql",
        "group/strata_as_documented.sql",
        "group/groups_by_rank.sql",
        "group/variance_sum.sql",
        "replace/split_values.sql",
        "mask/draws.sql",
        "replace/shuffled.sql",
    ),
    draws=True,
    sorts=True,
)
def split_group(
    work: Work,
    *,
    k: Annotated[int, Param("Number of records in a group (m in the source).", min=2)] = 3,
    variable: Annotated[
        bool, Param("Try every size from k to 2k-1, take the one with the smallest sum of variances within groups.")
    ] = False,
    shuffle: Annotated[
        Literal["none", "group", "column"], Param("Permute the new values within every group, or the whole column.")
    ] = "none",
    remainder: Annotated[
        Literal["merge", "as-documented"],
        Param("The last group, if below k: merge it into its neighbour, or keep it (it is released almost verbatim)."),
    ] = "merge",
) -> Outcome:
    """Replace every group of neighbours by two values that keep its mean and its variance.

    Each column is sorted descending and cut into groups of k. In a group of size g the larger half, b = g/2 rounded
    half to even and at least 1, becomes mean + sd sqrt((g-b)/b), the rest mean - sd sqrt(b/(g-b)), sd with divisor g.

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
    With `variable` the size is chosen for each column. New values are permuted inside each group, or over the whole
    column within strata.

    The documentation of the method has a worked example (k = 3; 916 815 670 | 613 538 401 | 396 356 348 | 132 3) and
    prints the larger values as 800.33, 517.33, 366.66 and the last group as 158.71 / 67.5. Both are errors of its
    program (integer division; the nominal instead of the actual size of the last group). Its own formula gives 871.73,
    579.40, 381.51 and 132 / 3, which is what is computed here. The last figures also show why a last group below k is
    merged by default: two records come out exactly as they went in.

    Neither record nor value is k-anonymous: a group has two values, each of about half its records. O(n log n).
    """
    rule = "group/strata_merged.sql" if remainder == "merge" else "group/strata_as_documented.sql"
    for column in work.columns:
        ordered = work.sort(column)
        size = _best_size(work, column, ordered, rule, k) if variable else k
        strata = work.strata(rule, ordered, column, size)
        groups = work.groups_by_rank(ordered, strata, size)
        values = work.run("replace/split_values.sql", f"values_{column.staged}", groups=groups, by=work.by)
        if shuffle != "none":
            within = ["label"] if shuffle == "group" else work.by
            drawn = work.drawn(Stream((column,), draws=2))
            values = work.run(
                "replace/shuffled.sql", f"shuffled_{column.staged}", relation=values, drawn=drawn, within=within
            )
        work.replace(column, values)
        smallest = work.count_rank_groups(strata, size)
        if variable:
            work.note(f"{column.name}: groups of {size} (of sizes {k} to {2 * k - 1}, the smallest sum of variances)")
        if remainder == "as-documented" and smallest < k:
            work.note(
                f"{column.name}: a last group of {smallest} is below k = {k}; its values are released almost "
                "as they were (--remainder merge prevents that)"
            )
    return work.outcome


def _best_size(work: Work, column: Column, ordered: Name, rule: str, k: int) -> int:
    """Return the group size in [k, 2k-1] with the smallest sum of within-group variances."""
    sums: dict[int, float] = {}
    for size in range(k, 2 * k):
        try:
            strata = work.strata(rule, ordered, column, size)
        except InputError:
            if size == k:
                raise
            break
        groups = work.groups_by_rank(ordered, strata, size)
        sums[size] = float(work.record("group/variance_sum.sql", groups=groups)["variance_sum"])
    return min(sums, key=lambda size: (sums[size], size))
