"""Secure k-Ward: groups whose representative is not close to most of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from sqlmicro.errors import ParameterError
from sqlmicro.group import class_size
from sqlmicro.group.keeping import keeper
from sqlmicro.group.records import run_kernel
from sqlmicro.missing.standardise import standardise
from sqlmicro.options.params import K, Param
from sqlmicro.registry import find, late, method, methods

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from sqlmicro.database.columns import Column
    from sqlmicro.work import Outcome, Work


@method(
    "secure-k-ward",
    no_series="a value is kept away from those of its group, and whoever takes a seat there later may be near it",
    stage="group",
    engine="sql",
    promise="record",
    source="Li, Zhu, Wang & Jajodia (2002), IFIP Database Security XVI",
    templates=("load/features.sql", "load/stratum_numbers.sql", "replace/by_label.sql"),
    keeps_guarantees=True,
)
def secure_k_ward(
    work: Work,
    *,
    k: K = 3,
    tolerance: Annotated[
        float, Param("How near to a value its representative tells too much, in standard deviations.", min=0)
    ] = 0.01,
    ratio: Annotated[
        float, Param("Share of a group that must be at least the tolerance away from its representative.", min=0, max=1)
    ] = 0.5,
    grouping: Annotated[
        str, Param("The method that makes the groups, with its default settings.", metavar="METHOD")
    ] = "k-ward",
) -> Outcome:
    """Group records by k-Ward, or another method, and move a mean that is too close to most values of its group.

    In a group of nearly equal values the mean tells every one of them. The representative is the mean only where at
    least the share `ratio` of the values is at least `tolerance` away from it, else the nearest place above or below
    the mean for which that holds; see `secure_values`.

    Returns
    -------
    Outcome
        New values of all columns; a note per column says how many groups were changed, and what it cost.

    Raises
    ------
    ParameterError
        When `grouping` is no such method.
    InputError
        When a stratum has fewer than k records, or the method refuses them.

    Notes
    -----
    The tolerance is in standard deviations of the column, so that one figure serves columns of any unit. A ratio of 0
    leaves all means as they are. The grouping is a method that groups records by a kernel: k-ward, mdav and others, not
    one that works in SQL.

    Columns are standardised over all records, grouped inside every stratum, and secured on their own. Group after group
    is taken in the order of its number, through all strata. A constant column has no standard deviation, hence no
    tolerance: it stays as it is. Whole numbers get whole representatives, the nearest ones that are safe; dates are
    rounded to days, which may take a representative back into the tolerance where that is less than a day. Where most
    records of a group have no value, it has none, as with the mean. The notes are for the data holder: the deviation of
    a column and the representative of the only group that was changed give its mean away.
    """
    kernel = find(grouping)
    if kernel.engine != "numpy" or kernel.stage != "group":
        known = [name for name, other in methods().items() if (other.engine, other.stage) == ("numpy", "group")]
        raise ParameterError(
            f"{work.where}, grouping",
            "must be a method with a kernel",
            repr(grouping),
            f"There are: {', '.join(known)}",
        )
    row_id, raw = work.matrix(work.columns)
    strata, size = work.stratum_numbers(len(raw)), class_size.settle(work, k)
    labels = run_kernel(work, kernel, {"k": k}, standardise(raw), strata, keeper(work, k, size=size), size)
    groups = work.load_labels(row_id, labels, f"{kernel.name} ({kernel.module})")
    work.count_groups(groups)
    table = _representatives(work, raw, labels, tolerance, ratio)
    representatives = work.load(table, "representatives", f"filled with the representatives that {__name__} chose")
    values = work.run(
        "replace/by_label.sql", "values", groups=groups, representatives=representatives, columns=work.columns
    )
    work.replace_all(work.columns, values)
    return work.outcome


def _representatives(work: Work, raw: np.ndarray, labels: np.ndarray, tolerance: float, ratio: float) -> pa.Table:
    """Return the representatives of every group, a row each: label and a column per column of the data."""
    import numpy as np
    import pyarrow as pa

    sizes = np.bincount(labels)
    columns = {"label": pa.array(np.arange(len(sizes)))}
    for j, column in enumerate(work.columns):
        present = ~np.isnan(raw[:, j])
        x = raw[present, j]
        deviation = _deviation(x)
        secured = secure_whole_values if column in work.whole else secure_values
        found = secured(x, labels[present], tolerance * deviation, ratio, groups=len(sizes))
        scarce = 2 * np.bincount(labels[present], minlength=len(sizes)) < sizes
        columns[column.staged] = pa.array(found.representatives, mask=scarce)
        if found.changed:
            work.note(_note(column, found, deviation, len(x)))
    return pa.table(columns)


def _deviation(x: np.ndarray) -> float:
    """Return the sample standard deviation of a column, 0 where it is constant."""
    if len(x) < 2 or x.min() == x.max():
        return 0.0
    # From a value, so that nothing cancels far from 0.
    return float((x - x[0]).std(ddof=1))


def _note(column: Column, found: Secured, deviation: float, n: int) -> str:
    loss = 100 * found.loss / ((n - 1) * deviation**2)
    return (
        f"{column.name}: the mean of {found.changed:,} of {len(found.representatives):,} groups was too close to their "
        f"values; moving it changes the sum by {found.deviation / deviation:.3g} standard deviations and adds "
        f"{loss:.3g} % of the variance to the loss"
    )


@dataclass(frozen=True)
class Secured:
    """What `secure_values` found.

    Attributes
    ----------
    representatives : ndarray of shape (G,)
        What stands for each group; NaN for a group without values.
    changed : int
        Groups whose representative is not the mean.
    deviation : float
        What the sum of the column changes by, in its unit.
    loss : float
        What the sum of squared errors grows by, in the unit squared.
    """

    representatives: np.ndarray
    changed: int
    deviation: float
    loss: float


def secure_values(
    x: np.ndarray, labels: np.ndarray, tolerance: float, ratio: float, groups: int | None = None
) -> Secured:
    """Return representatives that are not too close to the values of their groups, for one column and any groups.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Finite values.
    labels : ndarray of shape (n,)
        Group of every value, 0..G-1.
    tolerance : float
        ε, in the unit of x.
    ratio : float
        γ0, from 0 to 1. A place c is safe for a group if γ(c, ε) = |{x: |x - c| ≥ ε}| / |group| ≥ γ0.
    groups : int, optional
        G; by default the largest label and 1.

    Returns
    -------
    Secured
        The representatives, how many groups were changed, the total deviation and the loss added.

    Notes
    -----
    The mean stays where it is safe. Elsewhere the representative is one of the two nearest safe places, c← below and
    c→ above the mean. The loss grows with the distance from the mean only, and what keeps a place from being nearer is
    a value exactly ε away, so that they are found among the ends x_j ± ε: exact, O(n log n) for all groups. A constant
    group, the most dangerous one, is no exception: its representative is its value plus or minus ε.

    Groups are taken in the order of their labels. With s⁺ and s⁻ the sums so far of what the records of changed groups
    gained and lost, the **right** place c→ is taken when s⁺ ≤ -s⁻, else the left one: so that the sum of the column
    stays within the largest single change. The lecture notes this is taken from print the two branches swapped; they
    then always pick the left one and the sums drift apart. The changes of a group count as often as it has records,
    since that is what the sum of the column sees. Source: Li, Zhu, Wang & Jajodia (2002).

    Examples
    --------
    >>> import numpy as np
    >>> found = secure_values(np.array([5.0, 5.0, 5.0, 1.0, 5.0, 9.0]), np.array([0, 0, 0, 1, 1, 1]), 2.0, 0.5)
    >>> found.representatives.tolist(), found.changed, found.deviation, found.loss
    ([7.0, 5.0], 1, 6.0, 12.0)
    """
    import numpy as np

    secure = late("sqlmicro.group._univariate_kernels", "secure")

    count = int(labels.max(initial=-1)) + 1 if groups is None else groups
    order = np.lexsort((x, labels))
    sizes = np.bincount(labels, minlength=count)
    means, representatives, sums = np.empty(count), np.empty(count), np.zeros(2)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    secure(x[order], starts, float(tolerance), float(ratio), means, representatives, sums)
    moved = np.where(sizes > 0, representatives - means, 0.0)
    return Secured(
        representatives, int((moved != 0).sum()), float((sizes * moved).sum()), float((sizes * moved**2).sum())
    )


def secure_whole_values(
    x: np.ndarray, labels: np.ndarray, tolerance: float, ratio: float, groups: int | None = None
) -> Secured:
    """Return whole representatives that are not too close to the values of their groups: as `secure_values`.

    The rounded mean stays where it is safe. A whole number next to one that is not safe is as near to a value as it may
    be, so that the nearest safe ones are found among x_j - ε rounded down and x_j + ε rounded up.

    Examples
    --------
    >>> import numpy as np
    >>> found = secure_whole_values(np.array([5.0, 5.0, 5.0, 1.0, 5.0, 9.0]), np.array([0, 0, 0, 1, 1, 1]), 1.5, 0.5)
    >>> found.representatives.tolist(), found.changed
    ([7.0, 5.0], 1)
    """
    import numpy as np

    count = int(labels.max(initial=-1)) + 1 if groups is None else groups
    sizes = np.bincount(labels, minlength=count)
    representatives, means, gained, lost, changed = np.full(count, np.nan), np.zeros(count), 0.0, 0.0, 0
    for group, members in enumerate(np.split(x[np.lexsort((x, labels))], np.cumsum(sizes)[:-1])):
        if not len(members):
            continue
        means[group] = mean = members.mean()
        place = np.rint(mean)
        ends = np.concatenate([np.floor(members - tolerance), np.ceil(members + tolerance)])
        ends = np.unique([place, *ends, ends.min() - 1, ends.max() + 1])
        away = (np.abs(members[:, None] - ends) >= tolerance).sum(axis=0)
        safe = ends[away >= ratio * len(members)]
        if place not in safe:
            changed += 1
            place = safe[safe >= mean].min() if gained <= lost else safe[safe <= mean].max()
        representatives[group] = place
        move = len(members) * (place - mean)
        gained, lost = gained + max(move, 0.0), lost + max(-move, 0.0)
    moved = np.where(sizes > 0, representatives - means, 0.0)
    return Secured(representatives, changed, float((sizes * moved).sum()), float((sizes * moved**2).sum()))
