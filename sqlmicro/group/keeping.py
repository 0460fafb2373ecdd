"""What a grouping method does besides k: groups that keep the guarantees that were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlmicro.errors import ParameterError
from sqlmicro.guarantees import read
from sqlmicro.guarantees.bounds import refuse_impossible
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
    refuse_impossible(work, rules)
    effort = method.told("effort", settings) or "fast"

    def keep(X: np.ndarray, labels: np.ndarray, rows: np.ndarray, rng: np.random.Generator, tick: Tick) -> np.ndarray:
        function = late("sqlmicro.group.guaranteed", "keep")
        found: np.ndarray = function(X, labels, rules.of(rows), rng, tick, effort=effort)
        return found

    return keep
