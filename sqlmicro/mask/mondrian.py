"""Mondrian: the records are cut in halves, column by column, as long as k are left on both sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

from sqlmicro.errors import Need, ParameterError, demand
from sqlmicro.group import class_size
from sqlmicro.group.united_units import united_units
from sqlmicro.group.value_order import in_order
from sqlmicro.guarantees import read
from sqlmicro.guarantees.bounds import refuse_impossible
from sqlmicro.guarantees.rules import Rules
from sqlmicro.guarantees.state import columns_of
from sqlmicro.mask import boxes, decided
from sqlmicro.mask import population as everybody
from sqlmicro.mask.decided import RecodingTo
from sqlmicro.options.guarantees import InPopulation, MaxDelta, MinKMap, Population
from sqlmicro.options.params import K, Param
from sqlmicro.registry import Assurance, Tick, late, method
from sqlmicro.safe_method import gathered
from sqlmicro.safe_method.gathered import Point, Points, points

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.mask._guaranteed_cut_kernels import Held
    from sqlmicro.work import Outcome, Work

_SLICE = 2_000_000


class _Released(NamedTuple):
    """The records with their group, what every group is released as, and that of every column alone."""

    grouped: Name
    representatives: Name
    recoded: dict[Column, Name]


@method(
    "mondrian",
    stage="mask",
    engine="sql",
    promise="record",
    on_clusters=True,
    assures=lambda settings, where: Assurance("record", in_population=InPopulation.of(settings)),
    keeps_guarantees=True,
    recodes=True,
    source="LeFevre, DeWitt & Ramakrishnan (2006), Mondrian multidimensional k-anonymity, ICDE",
    templates=(
        "load/features.sql",
        *gathered.TEMPLATES,
        "mask/group_ranges.sql",
        "mask/group_rounded_ranges.sql",
        "mask/group_date_ranges.sql",
        "mask/group_timestamp_ranges.sql",
        "mask/group_sets.sql",
        "replace/grouped.sql",
        "replace/representatives.sql",
        "replace/by_label.sql",
        "mask/group_boxes.sql",
        *boxes.TEMPLATES,
    ),
)
def mondrian(
    work: Work,
    *,
    k: K = 3,
    relaxed: Annotated[bool, Param("Records with one value may go to both sides of a cut.")] = False,
    min_k_map: MinKMap = None,
    max_delta: MaxDelta = None,
    population: Population = None,
    recoding_to: RecodingTo = None,
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
    ParameterError
        For options that do not go together.

    Notes
    -----
    With `relaxed` a cut lies exactly in the middle, through equal values. By default it lies between two values.

    A group is cut along the column in which it is spread widest, relative to the column; if no cut there leaves k
    records on both sides, along the next. Deviations: where the source cuts at the median only, the cut nearest to the
    middle that leaves k on both sides is taken; nominal columns are cut in the order of their values, ENUMs in that of
    their type. Missing values lie behind all others. A range shows the smallest and largest value of its group. In a
    DOUBLE column these are rounded outwards where that takes fewer digits, by less than half of the way to the next
    value of the table, so that ranges which were apart stay apart; how many digits are left tells about how near that
    value is. The smallest and the largest value of the table stay; with a population all do.
    O(n p log n) time, O(n p) memory.

    With guarantees a cut has to keep them on both sides; of the cuts along a column the one nearest to the middle that
    does is taken, with `relaxed` as well. Up to O(n p m log n) time for m sensitive values in a group.

    With a `population` both sides have to be held by it too: by `min_k_map` members whose values are all in the ranges
    and sets of the group, of whom at most the share `max_delta` is in it. Who has a value between two ranges is in no
    group. So groups must not overlap: this does not go with `relaxed`.
    """
    asked = everybody.asked_of(work, min_k_map, population, max_delta)
    if asked.limits and relaxed:
        must = "does not go with a population: a member of it must be in one group only"
        raise ParameterError(f"{work.where}, relaxed", must, "both", "Leave one of them out")
    if asked.limits:  # members of a population have no columns of the levels below; the classes they hold are of k
        work.records, size = replace(work.records, guides=()), k
    else:
        size = class_size.settle(work, k)
    if recoding_to:
        demand([decided.sayable(work, population=population is not None, relaxed=relaxed, by_class=True)])
    found, X = _coordinates(work, of="record" if relaxed else "combination")
    strata = found.strata
    rules = read.rules(work, k)
    if not rules.only_k:
        refuse_impossible(work, rules)
    held = boxes.read(work, asked) if asked.limits else None
    if held is not None:
        united = Need(
            rules.members is None, f"{work.where}, sensitive", "goes with a population where columns belong to records",
            "columns of a person or household", "Leave the population out, or use suppress --min-k-map",
        )  # fmt: skip
        demand([united])  # a class that is united with another is held by others
        held.refuse_impossible(work, strata, rules.persons)

    def cut(rows: np.ndarray, tick: Tick, number: int) -> np.ndarray:
        own = rules.of(rows)
        if held is not None:
            people, some = held.held(rows, own.persons)
            labels, of_people = held_partition(X[rows], own, True, people, tick)
            held.note(rows, some, labels, of_people)
            return labels
        made = _partition_by_value(X[rows], replace(own.alone, k=size), not relaxed, tick, found.records[rows])
        return made if own.members is None else united_units(X[rows], made, own)

    labels = work.group_strata(strata, k, "cut", cut, records=found.records)
    groups, of_values = found.groups(labels, "mondrian")
    work.count_groups(groups)
    released = _replace(work, found.here, groups, of_values, rounded=held is None)
    if held is not None:
        work.outcome.account.everybody = held.recoded(work, labels, released.grouped, released.representatives)
    if recoding_to:
        work.outcome.account.recoding = decided.of_boxes(work, groups, released.recoded, k)
    return work.outcome


def _partition_by_value(X: np.ndarray, rules: Rules, strict: bool, tick: Tick, records: np.ndarray) -> np.ndarray:
    """Return the same for records in any order: which of equal ones go to the left of a cut depends on all columns."""
    import numpy as np

    if strict:
        return partition(X, rules, True, tick, records)
    order = np.lexsort(X.T)
    labels = np.empty(len(X), dtype=np.int64)
    labels[order] = partition(X[order], rules.of(order), False, tick, records)
    return labels


def partition(X: np.ndarray, rules: Rules, strict: bool, tick: Tick, records: np.ndarray | None = None) -> np.ndarray:
    """Return the group of every row (n,), at least k records in each; all keep the rules, if all together do.

    Every row is one record, or where `strict` and only k is asked, as many as `records` (n,) says.

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

    if not rules.only_k:
        held, p = late("sqlmicro.mask._guaranteed_cut_kernels", "Held"), X.shape[1]
        by_nobody = held(
            X,
            np.empty((0, p)),
            np.zeros(p, dtype=bool),
            np.zeros(p, dtype=np.int64),
            0,
            np.inf,
            np.empty(0, dtype=np.int64),
        )
        return held_partition(X, rules, strict, by_nobody, tick)[0]
    n = len(X)
    orders = np.array([in_order(column) for column in X.T] if strict else [np.arange(n)])
    labels = np.full(n, -1, dtype=np.int64)
    records = np.ones(n, dtype=np.int64) if records is None else records
    # A range has a row, so that the stack of ranges never grows beyond n.
    starts, ends = np.zeros(n + 2, dtype=np.int64), np.zeros(n + 2, dtype=np.int64)
    ends[0] = n
    state = np.array([1, 0], dtype=np.int64)
    kernel = late("sqlmicro.mask._mondrian_kernels", "partition")
    while state[0]:
        kernel(X, records, orders, starts, ends, labels, state, rules.k, strict, _SLICE)
        tick(int(np.count_nonzero(labels >= 0)), n)
    return labels


def held_partition(X: np.ndarray, rules: Rules, strict: bool, held: Held, tick: Tick) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of every record (n,), and of every member of the population (m,), -1 for none.

    All groups keep the rules and are held by the population, if all records together are.
    """
    import numpy as np

    kernels = late("sqlmicro.mask._guaranteed_cut_kernels")
    n, m = len(X), len(held.people)
    order, labels, of_people = np.arange(n), np.full(n, -1, dtype=np.int64), np.full(m, -1, dtype=np.int64)
    crowd = np.flatnonzero(kernels.inside(held, order, np.arange(m)))
    stacks = np.zeros((4, n + 2), dtype=np.int64)
    stacks[:, 0] = 0, n, 0, len(crowd)
    state = np.array([1, 0], dtype=np.int64)
    columns = columns_of(rules, n)
    while state[0]:
        kernels.partition(columns, held, crowd, of_people, X, order, stacks, labels, state, rules.k, strict, _SLICE)
        tick(int(np.count_nonzero(labels >= 0)), n)
    return labels, of_people


def _coordinates(work: Work, of: Point) -> tuple[Points, np.ndarray]:
    """Return the points that are cut, and their columns (n, p), each from 0 to 1, missing values beyond."""
    import numpy as np

    columns = [*work.columns, *work.records.guides]
    numeric = [column for column in columns if column.numeric]
    ordinal = [(column, column.type) for column in columns if column.family == "enum"]
    others = [column for column in columns if not column.numeric and column.family != "enum"]
    found = points(work, numeric=numeric, ordinal=ordinal, nominal=others, of=of)
    X = np.empty((len(found.records), len(columns)))
    for j, column in enumerate(columns):
        values = found.values[column.staged].astype(float)
        low, high = (np.nanmin(values), np.nanmax(values)) if not np.isnan(values).all() else (0.0, 0.0)
        scaled = (values - low) / (high - low if high > low else 1.0)
        X[:, j] = np.where(np.isnan(values), 1.5, scaled)
    return found, X


def _replace(work: Work, here: Work, groups: Name, of_values: Name, *, rounded: bool) -> _Released:
    """Replace every column by the range or the set of its group.

    The values are read where they are, `here`: by the group of every record, or that of every combination.
    """
    grouped = here.run(
        "replace/grouped.sql", "grouped", view=True, groups=of_values, relation=here.relation, columns=work.columns
    )
    templates = {"date": "date_ranges", "timestamp": "timestamp_ranges", "timestamptz": "timestamp_ranges"}
    recoded = {}
    for column in work.columns:
        kind = templates.get(column.family, "ranges" if column.numeric else "sets")
        kind = "rounded_ranges" if rounded and column.type == "DOUBLE" else kind
        recoded[column] = here.run(f"mask/group_{kind}.sql", f"recoded_{column.staged}", grouped=grouped, column=column)
    others = [(f"o{number}", made, column) for number, (column, made) in enumerate(recoded.items(), 1)]
    representatives = here.run(
        "replace/representatives.sql", "representatives", means=others[0][1], numeric=[], others=others
    )
    released = work.warehouse.hand_over(representatives)
    values = work.run("replace/by_label.sql", "values", groups=groups, representatives=released, columns=work.columns)
    work.replace_all(work.columns, values, "text")
    return _Released(grouped, representatives, recoded)
