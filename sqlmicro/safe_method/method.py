"""SAFE: files in which every record occurs k times are tried, the one nearest to the original is released."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.params import Param
from sqlmicro.registry import method
from sqlmicro.safe_method import direct, distance
from sqlmicro.safe_method.algorithms import DEFAULT, MDAV_UP_TO, Algorithm, NoCluster, parse
from sqlmicro.safe_method.candidates import Candidate, group_cells, measure, unify
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
        "safe/placed_cells.sql",
        "safe/numeric_loss.sql",
        "safe/moments.sql",
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
    method: Annotated[
        Literal["best", "cluster", "search"],
        Param("Group records, search for a file directly, or do both and release the nearest."),
    ] = "best",
    numeric: Annotated[
        tuple[str, ...], Param("Columns to take as numeric, whatever they look like.", metavar="COLUMNS")
    ] = (),
    nominal: Annotated[
        tuple[str, ...], Param("Columns to take as nominal, whatever they look like.", metavar="COLUMNS")
    ] = (),
    algorithm: Annotated[
        tuple[str, ...],
        Param(
            "How to group, any number: kmeans++(clusters=50), mdav, dbscan(eps=1), ward(clusters=50), single, "
            "complete, average. Default: kmeans++ with 50 and 500, and mdav.",
            metavar="SPEC",
        ),
    ] = (),
    order: Annotated[int, Param("Evaluate the tables of up to so many nominal columns.", min=1, max=10)] = 2,
    small_groups: Annotated[
        Literal["merge", "drop"],
        Param("Groups below k: merge them into the nearest group, or drop their records (the original method)."),
    ] = "merge",
    numeric_values: Annotated[
        Literal["auto", "own", "means"],
        Param("Search: numeric columns keep values that occur, or get group means; auto decides by distinct values."),
    ] = "auto",
    max_shift: Annotated[
        int | None,
        Param("Search: combinations that occur k times keep their records, give or take so many. Default: k/2.", min=0),
    ] = None,
    time_limit: Annotated[
        float | None,
        Param("Search: stop after so many seconds, take the best file so far.", min=0, metavar="SECONDS"),
    ] = None,
    candidate: Annotated[
        int | None, Param("Release candidate N of the list instead of the nearest.", min=1, metavar="N")
    ] = None,
) -> Outcome:
    """Make every record occur at least k times while the cross tables stay as close to the original as can be.

    The cluster method groups records by each algorithm on the numeric columns (standardised), on the nominal ones (a
    0/1 column per value) and on both; in every group numeric columns become their mean and nominal ones their mode.
    The direct search places the records on combinations that occur, so that each has none or at least k and the
    deviations cancel in the tables. Each candidate is compared with the original by the SAFE distance, and the nearest
    is released.

    Parameters
    ----------
    work : Work
        The relation, its columns and the strata.
    k : int
        How often every record occurs at least; 3 in the source.
    method : {"best", "cluster", "search"}
        Which candidates are made.
    numeric, nominal : tuple of str
        Columns whose scale is to be other than `profile` proposes.
    algorithm : tuple of str
        `kmeans++(clusters=50)`, `mdav` and others; any number of them. By default kmeans++ with 50 and with 500
        clusters, and mdav up to 30 000 records.
    order : int
        Tables of up to so many nominal columns are evaluated.
    small_groups : {"merge", "drop"}
        What becomes of groups below k.
    numeric_values : {"auto", "own", "means"}
        Whether the search releases numeric values that occur, or group means.
    max_shift : int, optional
        How many records a combination that occurs k times may gain or lose in the search; half of k by default.
    time_limit : float, optional
        Seconds for the search; a run that is stopped by it cannot be repeated exactly.
    candidate : int, optional
        Number of the candidate to release.

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
    Groups made from the nominal columns alone, whose records are alike in all of them, are split on the numeric columns
    by MDAV (ours, not in the source): counts and totals stay what they are, and far less variance is lost.

    Z, the 0/1 matrix, is not built for the evaluation: cells are combinations that occur, A and T aggregates of them.
    Where two candidates have the same distance, the smaller loss in the numeric columns decides; without nominal
    columns the only table is the total, so that the loss decides alone. The known implementation accepts a candidate
    that improves one distance and worsens the other; here one number decides. A count near k in the release may stand
    for an original 1 or 2: no released record is known to be true, which is SAFE's promise.
    """
    cells = make_cells(work, numeric, nominal)
    work.refuse_small_strata(k, *_stratum_sizes(cells, k))
    found: list[Candidate] = []
    if method != "search":
        chosen = [parse(text, f"{work.where}, algorithm") for text in algorithm] or _default(work, cells)
        for one in chosen:
            found += _grouped(work, cells, one, k, order, small_groups, len(found))
    if method != "cluster" and (cells.nominal or direct.own_columns(cells, numeric_values)):
        found.append(_searched(work, cells, k, order, numeric_values, max_shift, time_limit, len(found) + 1))
    if not found:
        raise InputError(
            work.where,
            f"at least one algorithm must form groups of {k} records",
            "none",
            "Use --small-groups merge, fewer clusters or another algorithm",
        )
    work.outcome.candidates = [one.summary() for one in found]
    if candidate is not None and candidate > len(found):
        raise ParameterError(f"{work.where}, candidate", f"must be one of 1 to {len(found)}", str(candidate))
    best = found[candidate - 1] if candidate else min(found, key=lambda one: (one.rank, one.number))
    _take(work, cells, best)
    return work.outcome


def _grouped(
    work: Work, cells: Cells, one: Algorithm, k: int, order: int, small_groups: str, before: int
) -> list[Candidate]:
    """Return a candidate for every pass of an algorithm that forms groups."""
    found: list[Candidate] = []
    passes = [which for which in cells.passes() if which in one.passes]
    if not passes:
        work.note(f"{one.text} was left out: these columns allow the passes {', '.join(cells.passes())} only")
    for which in passes:
        started = time.perf_counter()
        try:
            grouping = group_cells(work, cells, one, which, k, small_groups)
        except NoCluster as none:
            work.note(f"{which} columns: {none}")
            continue
        if not len(grouping.n):
            work.note(f"{one.text}, {which} columns: no group of {k} records was formed")
            continue
        number = before + len(found) + 1
        files = unify(work, cells, grouping, f"{one.text}, {which} columns", number)
        found.append(measure(work, cells, grouping, files, one.text, which, order, number, started))
    return found


def _searched(
    work: Work,
    cells: Cells,
    k: int,
    order: int,
    numeric_values: Literal["auto", "own", "means"],
    max_shift: int | None,
    time_limit: float | None,
    number: int,
) -> Candidate:
    """Return the candidate of the direct search."""
    started = time.perf_counter()
    placement = direct.place(work, cells, k, numeric_values=numeric_values, max_shift=max_shift, time_limit=time_limit)
    files = direct.placed_file(work, cells, placement, number)
    own = ", ".join(column.name for column in placement.own)
    work.note(
        f"search: {placement.moved:,} records moved to another combination of the nominal columns"
        + (f" and {own}" if own else "")
    )
    if placement.stopped:
        work.note("search: stopped early, the best file until then was taken; it cannot be repeated exactly")
    return measure(work, cells, placement.grouping, files, "search", "all", order, number, started)


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
    moments = {
        name: distance.moments(work.warehouse, file, cells.numeric)
        for name, file in (("before", cells.relation), ("after", best.released))
    }
    outcome.safe_distance = {**best.distance, "moments": moments}
    outcome.chosen = best.number
    if best.loss >= _MUCH_LOST:
        work.note(
            f"the numeric columns lost {best.loss:.0f} % of their variance: the SAFE distance looks at counts and "
            "totals of the tables, not at the spread within a cell"
        )
    if best.dropped:
        outcome.only_grouped = groups
        work.note(f"{best.dropped:,} records in groups below k were dropped (--small-groups drop)")
