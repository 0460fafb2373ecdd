"""What a grouping method does besides k: groups that keep the guarantees that were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.group.class_size import settle
from sqlmicro.group.records import Keeper
from sqlmicro.group.united_units import united_units
from sqlmicro.guarantees import read
from sqlmicro.guarantees.bounds import bound, refuse_impossible
from sqlmicro.guarantees.rules import Rules
from sqlmicro.guarantees.state import missing
from sqlmicro.missing.standardise import standardise
from sqlmicro.options.common import RecordOptions
from sqlmicro.options.params import filled
from sqlmicro.registry import Method, Tick, late
from sqlmicro.safe_method.gathered import points
from sqlmicro.work import Work

if TYPE_CHECKING:
    import numpy as np


def keeper(work: Work, k: int, effort: str = "fast", size: int = 0) -> Keeper | None:
    """Return what makes the groups of a method keep its guarantees, None where none is asked for but k.

    Groups that were made of `size` records, more than k, stay so large: those that miss something are united.

    Raises
    ------
    InputError
        When no groups can keep them: it says what is impossible and why, before any work is done.
    """
    rules = read.rules(work, k)
    if rules.only_k:
        return None
    refuse_impossible(work, rules)
    within = bool(work.records.classes)

    def keep(X: np.ndarray, labels: np.ndarray, rows: np.ndarray, rng: np.random.Generator, tick: Tick) -> np.ndarray:
        own = rules.of(rows)
        if size > k:
            return united_units(X, labels, own)
        function = late("sqlmicro.group.divided", "divided") if within else late("sqlmicro.group.guaranteed", "keep")
        found: np.ndarray = function(X, labels, own.alone, rng, tick, effort=effort)
        return found if own.members is None else united_units(X, found, own, labels if within else None)

    return keep


def keeper_of(work: Work, method: Method, settings: Mapping[str, Any], k: int) -> tuple[Keeper | None, int]:
    """Return what makes the groups of a kernel keep its guarantees, as its settings say, and how large they are made.

    Raises
    ------
    ParameterError
        With a setting that guarantees do not go with.
    """
    more = work.demand.more_than_k or work.records.classes
    if more and filled(RecordOptions, settings).block_attributes:
        must = "groups whole records where guarantees are given"
        raise ParameterError(f"{work.where}, block_attributes", must, "blocks")
    if more and method.told("certified", settings):
        raise ParameterError(f"{work.where}, certify", "proves the loss of groups that only keep k", "guarantees")
    size = settle(work, k)
    return keeper(work, k, method.told("effort", settings) or "fast", size), size


def regrouped(work: Work, groups: Name, k: int, size: int) -> Name:
    """Return groups (row_id, label) that SQL made, changed so that they keep the guarantees of the step."""
    import numpy as np

    keep = keeper(work, k, size=size)
    if keep is None:
        return groups
    found = points(work, numeric=work.columns)
    raw = np.column_stack([found.values[column.staged].astype(float) for column in work.columns])
    labels = work.warehouse.arrays("group/labels.sql", relation=work.relation, groups=groups)["label"]
    strata, rng, X = found.strata, work.rng(), np.nan_to_num(standardise(raw))

    def kernel(rows: np.ndarray, tick: Tick, number: int) -> np.ndarray:
        own = np.unique(labels[rows], return_inverse=True)[1]
        kept: np.ndarray = keep(X[rows], own, rows, rng, tick)
        return kept

    if work.records.classes and size <= k:  # these are divided, whatever the order of groups
        with work.warehouse.progress.kernel(f"divide the classes by {work.where}", len(X)) as progress:
            divided = keep(X, strata, np.arange(len(X)), rng, progress.tick)
        return found.groups(divided, work.where, "kept_groups")[0]
    made = work.group_strata(strata, k, f"keep the guarantees of {work.where}", kernel)
    return found.groups(made, work.where, "kept_groups")[0]


def united(work: Work, labels: np.ndarray, rows: np.ndarray, strata: np.ndarray, k: int) -> np.ndarray:
    """Return groups of consecutive values of one column, in which those that miss something are united with others.

    Parameters
    ----------
    work : Work
        The step.
    labels : ndarray of shape (n,)
        The group of every record with a value, those of a stratum in the order of the values.
    rows, strata : ndarray of shape (n,)
        Its place among all records in the order of row_id, and its stratum.
    k : int
        Records, or persons, of every group.

    Raises
    ------
    InputError
        When not even all values of a stratum in one group keep the guarantees of the step.

    Notes
    -----
    Groups are of consecutive values, and stay so. O(n log n) for every round; a round unites at least every other group
    that misses something.
    """
    import numpy as np

    rules = read.rules(work, k)
    if rules.only_k:
        return labels
    refuse_impossible(work, rules)
    labels = np.unique(labels, return_inverse=True)[1]
    for stratum in np.unique(strata):
        inside = np.flatnonzero(strata == stratum)
        first = labels[inside].min()
        labels[inside] = first + neighbours_united(work, labels[inside] - first, rules.of(rows[inside]))
    return labels


def united_in_sql(work: Work, groups: Name, column: Column, k: int) -> Name:
    """Return groups (row_id, label, value) that SQL made of one column, united as `united` does.

    Raises
    ------
    InputError
        As `united`.
    """
    import numpy as np
    import pyarrow as pa

    everybody = work.warehouse.arrays("group/labels.sql", relation=work.relation, groups=groups)["label"]
    rows = np.flatnonzero(everybody >= 0)
    made = united(work, everybody[rows], rows, work.stratum_numbers(len(everybody))[rows], k)
    label, first = np.unique(everybody[rows], return_index=True)
    told = f"filled with the groups that those of {work.where} are part of"
    parts = work.load(pa.table({"label": label, "united": made[first]}), f"united_{column.staged}", told)
    return work.run("group/united.sql", f"kept_groups_{column.staged}", groups=groups, united=parts)


def neighbours_united(work: Work, labels: np.ndarray, rules: Rules) -> np.ndarray:
    """Return groups 0, 1, … of consecutive values that keep their rules, united from groups of which some do not.

    A group that misses something is united with the next one, the last with the one before.
    """
    import numpy as np

    labels = np.unique(labels, return_inverse=True)[1]
    while len(missed := np.flatnonzero(missing(labels, rules) > 0)):
        groups = int(labels.max()) + 1
        if groups == 1:
            reason = bound(rules, len(labels)).infeasible or "all records in one group miss something"
            raise InputError(work.where, "some groups must keep what was asked for", reason, "Ask for less")
        begins, joined = np.ones(groups, dtype=np.int64), -1
        begins[0] = 0
        for group in missed.tolist():
            if group != joined:
                joined = group + 1 if group + 1 < groups else group
                begins[joined] = 0
        labels = np.cumsum(begins)[labels]
    return labels
