"""What a grouping method does besides k: groups that keep the guarantees that were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.guarantees import read
from sqlmicro.guarantees.bounds import bound
from sqlmicro.guarantees.rules import Rules
from sqlmicro.options.common import RecordOptions
from sqlmicro.options.params import filled
from sqlmicro.records import Keeper
from sqlmicro.registry import Method, Tick, late
from sqlmicro.work import Work

if TYPE_CHECKING:
    import numpy as np


def keeper(work: Work, method: Method, settings: Mapping[str, Any], k: int) -> Keeper | None:
    """Return what makes the groups of a method keep its guarantees, None where none is asked for but k.

    Raises
    ------
    ParameterError
        With a setting that guarantees do not go with.
    InputError
        When no groups can keep them: it says what is impossible and why, before any work is done.
    """
    if work.guaranteed is None or not work.guaranteed.options.asked:
        return None
    if filled(RecordOptions, settings).block_attributes:
        raise ParameterError(
            f"{work.where}, block_attributes", "groups whole records where guarantees are given", "blocks"
        )
    if method.told("certified", settings):
        raise ParameterError(f"{work.where}, certify", "proves the loss of groups that only keep k", "guarantees")
    rules = read.rules(work, k)
    _refuse_impossible(work, rules)
    effort = method.told("effort", settings) or "fast"

    def keep(X: np.ndarray, labels: np.ndarray, rows: np.ndarray, rng: np.random.Generator, tick: Tick) -> np.ndarray:
        function = late("sqlmicro.group.guaranteed", "keep")
        found: np.ndarray = function(X, labels, rules.of(rows), rng, tick, effort=effort)
        return found

    return keep


def _refuse_impossible(work: Work, rules: Rules) -> None:
    """Refuse what the whole table, or a stratum of it, cannot keep."""
    import numpy as np

    n = len(rules.persons) if rules.persons is not None else len(rules.sensitive[0].codes)
    strata = work.stratum_numbers(n)
    sizes = np.bincount(strata)
    whole = bound(rules, n)
    if whole.infeasible:
        raise InputError(work.where, "some groups must keep what was asked for", whole.infeasible, "Ask for less")
    if len(sizes) > 1:
        failed = [
            found.infeasible
            for rows in np.split(np.argsort(strata, kind="stable"), np.cumsum(sizes)[:-1])
            if len(rows) and (found := bound(rules.of(rows), len(rows))).infeasible
        ]
        if failed:
            raise InputError(
                work.where, "the groups of every stratum must keep what was asked for",
                f"{len(failed)} of {len(sizes)} strata cannot; of the first: {failed[0]}",
                "Ask for less, or use fewer or coarser --by columns",
            )  # fmt: skip
    if whole.size > rules.k:
        work.note(whole.why)
