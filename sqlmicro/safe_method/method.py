"""SAFE, the cluster method: many groupings are tried, the one nearest to the original is released."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.errors import InputError
from sqlmicro.params import Param
from sqlmicro.registry import method
from sqlmicro.safe_method.algorithms import DEFAULT, MDAV_UP_TO, Algorithm, parse
from sqlmicro.safe_method.candidates import Candidate, group_cells, unify
from sqlmicro.safe_method.cells import Cells, make_cells

if TYPE_CHECKING:
    from sqlmicro.work import Outcome, Work

_MUCH_LOST = 25.0


@method(
    "safe",
    stage="safe",
    engine="sql",
    promise="record",
    source="Höhne, SAFE: a method for the anonymization of microdata (German census 2011)",
    templates=(
        "safe/cells.sql",
        "safe/features.sql",
        "safe/means.sql",
        "safe/modes.sql",
        "safe/released_cells.sql",
        "safe/deviations.sql",
        "safe/totals.sql",
        "safe/assigned.sql",
        "replace/by_label.sql",
        "replace/grouped_only.sql",
    ),
    takes_every_column=True,
)
def safe(
    work: Work,
    *,
    k: Annotated[int, Param("How often every record occurs at least.", min=2)] = 3,
    numeric: Annotated[
        tuple[str, ...], Param("Columns to take as numeric, whatever they look like.", metavar="COLUMNS")
    ] = (),
    nominal: Annotated[
        tuple[str, ...], Param("Columns to take as nominal, whatever they look like.", metavar="COLUMNS")
    ] = (),
    algorithm: Annotated[
        tuple[str, ...],
        Param(
            "How to group, any number: kmeans++(clusters=50), mdav. Default: kmeans++ with 50 and 500, and mdav.",
            metavar="SPEC",
        ),
    ] = (),
    order: Annotated[int, Param("Evaluate the tables of up to so many nominal columns.", min=1, max=10)] = 2,
    small_groups: Annotated[
        Literal["merge", "drop"],
        Param("Groups below k: merge them into the nearest group, or drop their records (the original method)."),
    ] = "merge",
) -> Outcome:
    """Make every record occur at least k times while the cross tables stay as close to the original as can be.

    Records are grouped by each algorithm on the numeric columns (standardised), on the nominal ones (a 0/1 column per
    value) and on both. In every group numeric columns become their mean and nominal ones their mode. Each candidate is
    compared with the original by the SAFE distance, and the nearest is released.

    Parameters
    ----------
    work : Work
        The relation, its columns and the strata.
    k : int
        How often every record occurs at least; 3 in the source.
    numeric, nominal : tuple of str
        Columns whose scale is to be other than `profile` proposes.
    algorithm : tuple of str
        `kmeans++(clusters=50)`, `mdav`; any number of them. By default kmeans++ with 50 and with 500 clusters, and mdav
        up to 30 000 records.
    order : int
        Tables of up to so many nominal columns are evaluated.
    small_groups : {"merge", "drop"}
        What becomes of groups below k.

    Returns
    -------
    Outcome
        New values of all columns, the candidates and their distances.

    Raises
    ------
    InputError
        When no group of k can be formed.
    ParameterError
        For a column that is both numeric and nominal, or an unknown algorithm.

    Notes
    -----
    Z, the 0/1 matrix, is not built for the evaluation: cells are combinations that occur, A and T aggregates of them.
    Where two candidates have the same distance, the smaller loss in the numeric columns decides; without nominal
    columns the only table is the total, so that the loss decides alone. The known implementation accepts a candidate
    that improves one distance and worsens the other; here one number decides.
    """
    cells = make_cells(work, numeric, nominal)
    work.refuse_small_strata(k, *_stratum_sizes(cells, k))
    chosen = [parse(text, f"{work.where}, algorithm") for text in algorithm] or _default(work, cells)
    best: Candidate | None = None
    for one in chosen:
        for which in cells.passes():
            started = time.perf_counter()
            grouping = group_cells(work, cells, one, which, k, small_groups)
            if not len(grouping.n):
                work.note(f"{one.text}, {which} columns: no group of {k} records was formed")
                continue
            number = len(work.outcome.candidates) + 1
            candidate = unify(work, cells, grouping, one, which, order, number, started)
            work.outcome.candidates.append(candidate.summary())
            if best is None or candidate.rank < best.rank:
                best = candidate
    if best is None:
        raise InputError(
            work.where,
            f"at least one algorithm must form groups of {k} records",
            "none",
            "Use --small-groups merge, fewer clusters or another algorithm",
        )
    _take(work, cells, best)
    return work.outcome


def _stratum_sizes(cells: Cells, k: int) -> tuple[int, int]:
    """Return the size of the smallest stratum and the number of strata below k."""
    import numpy as np

    sizes = np.bincount(cells.strata, cells.n)
    return int(sizes.min()), int((sizes < k).sum())


def _default(work: Work, cells: Cells) -> list[Algorithm]:
    chosen = [parse(text, work.where) for text in DEFAULT]
    records = int(cells.n.sum())
    if records > MDAV_UP_TO:
        chosen = [one for one in chosen if one.name != "mdav"]
        work.note(
            f"mdav was left out: its time grows with the square of the {records:,} records "
            "(--algorithm mdav tries it all the same)"
        )
    return chosen


def _take(work: Work, cells: Cells, best: Candidate) -> None:
    """Hand the records of every cell to its groups, and take the values of the best candidate."""
    groups = work.run(
        "safe/assigned.sql",
        "groups",
        relation=work.relation,
        cells=cells.relation,
        members=best.members,
        columns=cells.key,
    )
    values = work.run(
        "replace/by_label.sql", "values", groups=groups, representatives=best.released, columns=work.columns
    )
    work.replace_all(work.columns, values)
    work.count_groups(groups)
    outcome = work.outcome
    outcome.nominal = cells.nominal
    outcome.safe_distance = best.distance
    outcome.chosen = best.number
    if best.loss >= _MUCH_LOST:
        work.note(
            f"the numeric columns lost {best.loss:.0f} % of their variance: the SAFE distance looks at counts and "
            "totals of the tables, not at the spread within a cell"
        )
    if best.dropped:
        outcome.only_grouped = groups
        work.note(f"{best.dropped:,} records in groups below k were dropped (--small-groups drop)")
