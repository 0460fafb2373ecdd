"""A sample: simple random, or stratified with proportional allocation."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, Annotated

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.params import Param
from sqlmicro.registry import method
from sqlmicro.work import Rows, Stream

if TYPE_CHECKING:
    from sqlmicro.work import Outcome, Work

_ALL = 2**60
"""The numbers that may be drawn."""


@method(
    "sample",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    source="Hundepool et al. (2012); Cochran (1977), proportional allocation",
    templates=(
        "mask/sample_sizes.sql",
        "mask/draws.sql",
        "mask/sampled.sql",
        "mask/sampled_alone.sql",
        "replace/grouped_only.sql",
    ),
    takes_columns=False,
    draws=True,
)
def sample(
    work: Work,
    *,
    fraction: Annotated[float | None, Param("Share of the records to draw.", min=0, max=1)] = None,
    size: Annotated[int | None, Param("Number of records to draw.", min=1)] = None,
    weight_column: Annotated[
        str | None, Param("Add a column of this name with the sampling weight N/n.", metavar="NAME")
    ] = None,
) -> Outcome:
    """Release a random sample of the records, of exactly the size asked for; with --by every stratum in proportion.

    Returns
    -------
    Outcome
        The records that stay, and the weight as a new column.

    Raises
    ------
    ParameterError
        When none or both of `fraction` and `size` are given, or the new column has a name the table has.
    InputError
        When the sample is empty or larger than the table.

    Notes
    -----
    The size of a fraction is the nearest whole number, halves upward. One of `fraction` and `size` is needed.

    Without replacement: the records with the smallest keyed hashes. Strata get n N_h/N records, rounded by largest
    remainder so that the total is exact. The weight is the inverse of the inclusion probability n_h/N_h, so that
    weighted totals of the sample estimate those of the table. O(n log n).

    In a series each person is drawn by herself: a number that her row key draws is below `fraction`, however many
    others there are. The size is what comes of it, and the weight 1 / fraction (Bernoulli sampling). Whoever is not
    drawn is in no night of the epoch; whoever is, is released as she is in each.

    What repeats: under one secret the same persons are drawn again, so that nightly releases do not add up to the
    whole table; give a row key, or a changed record is another one. Any other setting, a larger fraction too, draws a
    sample that has nothing to do with the first: the small one is no part of the large one.
    """
    if (fraction is None) == (size is None):
        got = "none of them" if size is None else "both"
        raise ParameterError(f"{work.where}, size", "needs one of --fraction and --size", got)
    if work.demand.each_alone:
        return _of_nights(work, fraction or 0.0, weight_column)
    rows = work.warehouse.count(work.relation)
    wanted = size if size is not None else floor((fraction or 0) * rows + 0.5)
    if not 1 <= wanted <= rows:
        raise InputError(work.where, f"the sample must have 1 to {rows:,} records", f"{wanted:,}")
    weight = work.new_column(weight_column or "sampling_weight_", "DOUBLE")
    sizes = work.run("mask/sample_sizes.sql", "sizes", relation=work.relation, by=work.by, size=wanted)
    drawn = work.run(
        "mask/sampled.sql",
        "sampled",
        drawn=work.drawn(Stream()),
        sizes=sizes,
        by=work.by,
        weight=weight,
    )
    outcome = work.outcome
    outcome.rows = Rows(drawn)
    if weight_column is not None:
        work.add_column(weight, drawn)
    _note_empty_strata(work, sizes)
    return outcome


def _of_nights(work: Work, fraction: float, weight_column: str | None) -> Outcome:
    """Draw each record by itself, so that who is drawn depends on nobody who comes or leaves."""
    if not fraction:
        raise ParameterError(f"{work.where}, fraction", "is above 0", "0", "Give a larger --fraction")
    weight = work.new_column(weight_column or "sampling_weight_", "DOUBLE")
    drawn = work.run(
        "mask/sampled_alone.sql", "sampled", drawn=work.drawn(Stream()), high=round(fraction * _ALL), share=fraction,
        weight=weight,
    )  # fmt: skip
    if not work.warehouse.count(drawn):
        raise InputError(work.where, "the sample must have a record", "none", "Give a larger --fraction")
    work.outcome.rows = Rows(drawn)
    if weight_column is not None:
        work.add_column(weight, drawn)
    return work.outcome


def _note_empty_strata(work: Work, sizes: object) -> None:
    strata, empty, smallest = work.warehouse.query(
        "strata",
        "SELECT count(*), count(*) FILTER (WHERE size = 0), min(size) FROM {{ sizes | ident }}",
        sizes=sizes,
    )[0]
    if work.by:
        work.note(
            f"{strata:,} strata, the smallest has {smallest:,} records in the sample"
            + (f"; {empty:,} strata are too small for one and are not represented" if empty else "")
        )
