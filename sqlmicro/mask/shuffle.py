"""Shuffling: the values of a column permuted among all records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from sqlmicro.options.params import Param
from sqlmicro.registry import method
from sqlmicro.work import Stream, kinds_of

if TYPE_CHECKING:
    from sqlmicro.work import Outcome, Work


@method(
    "shuffle",
    no_series="records get the values of others, and who these are changes with whoever comes",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    source="sqlmicro",
    templates=("mask/draws.sql", "mask/shuffled.sql"),
    draws=True,
)
def shuffle(
    work: Work,
    *,
    together: Annotated[bool, Param("Move the values of all columns of a record to the same other record.")] = False,
) -> Outcome:
    """Permute the values of every column among the records, each column on its own or all together.

    Returns
    -------
    Outcome
        New values of all columns.

    Notes
    -----
    Groups of columns that stay together are a step each. No value leaves its stratum.

    Every permutation is equally likely; values stay exactly as often as they were. What is missing stays missing:
    records with the same columns missing are permuted among themselves. A value that only one person has still tells
    that this person is in the table. O(n log n), two sorts and a join.

    What repeats: under one secret the same table is shuffled in the same way. Other columns, settings and sources
    are shuffled in ways that have nothing to do with it. Where records come, go or change, most values move on to
    another record: who has the releases from before and after learns which values came and went, and no more.
    """
    groups = [work.columns] if together else [[column] for column in work.columns]
    for number, columns in enumerate(groups, 1):
        values = work.run(
            "mask/shuffled.sql",
            f"values_{number}",
            drawn=work.drawn(Stream(tuple(columns), draws=2)),
            by=work.by,
            columns=columns,
        )
        work.replace_all(columns, values, kinds_of(columns))
    return work.outcome
