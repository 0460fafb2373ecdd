"""Mondrian: the records are cut in halves, column by column, as long as k are left on both sides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from sqlmicro.database.columns import Column
from sqlmicro.guarantees import read
from sqlmicro.guarantees.bounds import refuse_impossible
from sqlmicro.guarantees.rules import Rules
from sqlmicro.guarantees.state import columns_of
from sqlmicro.options.params import K, Param
from sqlmicro.registry import Tick, late, method
from sqlmicro.work import Claim

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work

_SLICE = 2_000_000


@method(
    "mondrian",
    stage="mask",
    engine="sql",
    promise="record",
    keeps_guarantees=True,
    source="LeFevre, DeWitt & Ramakrishnan (2006), Mondrian multidimensional k-anonymity, ICDE",
    templates=(
        "load/features.sql",
        "mask/group_ranges.sql",
        "mask/group_date_ranges.sql",
        "mask/group_timestamp_ranges.sql",
        "mask/group_sets.sql",
        "replace/grouped.sql",
        "replace/representatives.sql",
        "replace/by_label.sql",
    ),
)
def mondrian(
    work: Work,
    *,
    k: K = 3,
    relaxed: Annotated[bool, Param("Records with one value may go to both sides of a cut.")] = False,
) -> Outcome:
    """Replace values by ranges and sets, cut as finely as k records allow (multidimensional local recoding).

    Returns
    -------
    Outcome
        Every numeric column or date as a range such as [20, 34], every other as a value or a set such as {a, b}.

    Raises
    ------
    InputError
        When there are fewer than k records, or a guarantee that not even all records together keep.

    Notes
    -----
    With `relaxed` a cut lies exactly in the middle, through equal values. By default it lies between two values.

    A group is cut along the column in which it is spread widest, relative to the column; if no cut there leaves k
    records on both sides, along the next. Deviations: where the source cuts at the median only, the cut nearest to the
    middle that leaves k on both sides is taken; nominal columns are cut in the order of their values, ENUMs in that of
    their type. Missing values lie behind all others. A range shows the smallest and largest value of its group.
    O(n p log n) time, O(n p) memory.

    With guarantees a cut has to keep them on both sides; of the cuts along a column the one nearest to the middle that
    does is taken, with `relaxed` as well. Up to O(n p m log n) time for m sensitive values in a group.
    """
    row_id, X = _coordinates(work)
    strata = work.stratum_numbers(len(row_id))
    rules = read.rules(work, k)
    if not rules.only_k:
        refuse_impossible(work, rules)
    labels = work.group_strata(
        strata, k, "cut", lambda rows, tick: partition(X[rows], rules.of(rows), not relaxed, tick)
    )
    table = work.load_labels(row_id, labels, "mondrian")
    work.count_groups(table)
    _replace(work, table)
    strata_columns = [column for column in work.by if isinstance(column, Column)]
    work.outcome.claims = [Claim((*work.columns, *strata_columns), "record", k)]
    return work.outcome


def partition(X: np.ndarray, rules: Rules, strict: bool, tick: Tick) -> np.ndarray:
    """Return the group of every record (n,), at least k in each; all keep the rules, if all records together do.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.0], [1.0], [9.0], [9.0]])
    >>> partition(X, Rules(2), True, lambda done, total: None).tolist()
    [0, 0, 0, 0, 1, 1]
    >>> partition(X, Rules(2), False, lambda done, total: None).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    import numpy as np

    n = len(X)
    order, labels = np.arange(n), np.full(n, -1, dtype=np.int64)
    # A range is at least k long, so that the stack of ranges never grows beyond n.
    starts, ends = np.zeros(n + 2, dtype=np.int64), np.zeros(n + 2, dtype=np.int64)
    ends[0] = n
    state = np.array([1, 0], dtype=np.int64)
    if rules.only_k:
        kernel = late("sqlmicro.mask._mondrian_kernels", "partition")
    else:
        kernel = partial(late("sqlmicro.mask._guaranteed_cut_kernels", "partition"), columns_of(rules, n))
    while state[0]:
        kernel(X, order, starts, ends, labels, state, rules.k, strict, _SLICE)
        tick(int(np.count_nonzero(labels >= 0)), n)
    return labels


def _coordinates(work: Work) -> tuple[np.ndarray, np.ndarray]:
    """Return row_id (n,) and the columns (n, p), each from 0 to 1, missing values beyond."""
    import numpy as np

    numeric = [column for column in work.columns if column.numeric]
    ordinal = [(column, column.type) for column in work.columns if column.family == "enum"]
    others = [column for column in work.columns if not column.numeric and column.family != "enum"]
    arrays = work.warehouse.arrays(
        "load/features.sql", relation=work.relation, numeric=numeric, ordinal=ordinal, nominal=others
    )
    X = np.empty((len(arrays["row_id"]), len(work.columns)))
    for j, column in enumerate(work.columns):
        values = arrays[column.staged].astype(float)
        low, high = (np.nanmin(values), np.nanmax(values)) if not np.isnan(values).all() else (0.0, 0.0)
        scaled = (values - low) / (high - low if high > low else 1.0)
        X[:, j] = np.where(np.isnan(values), 1.5, scaled)
    return arrays["row_id"], X


def _replace(work: Work, groups: Name) -> None:
    """Replace every column by the range or the set of its group."""
    grouped = work.run(
        "replace/grouped.sql", "grouped", view=True, groups=groups, relation=work.relation, columns=work.columns
    )
    templates = {"date": "date_ranges", "timestamp": "timestamp_ranges", "timestamptz": "timestamp_ranges"}
    others = []
    for number, column in enumerate(work.columns, 1):
        kind = templates.get(column.family, "ranges" if column.numeric else "sets")
        made = work.run(f"mask/group_{kind}.sql", f"recoded_{column.staged}", grouped=grouped, column=column)
        others.append((f"o{number}", made, column))
    representatives = work.run(
        "replace/representatives.sql", "representatives", means=others[0][1], numeric=[], others=others
    )
    values = work.run(
        "replace/by_label.sql", "values", groups=groups, representatives=representatives, columns=work.columns
    )
    work.replace_all(work.columns, values)
    work.outcome.text = work.outcome.nominal = list(work.columns)
