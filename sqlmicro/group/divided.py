"""Groups that keep guarantees inside the classes of a level above, which are split as far as their groups keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.group.guaranteed import SCHEDULES, Effort, Search
from sqlmicro.guarantees.state import missing
from sqlmicro.registry import Tick

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.guarantees.rules import Rules


def divided(
    X: np.ndarray,
    classes: np.ndarray,
    rules: Rules,
    rng: np.random.Generator,
    tick: Tick,
    *,
    effort: Effort = "fast",
    rounds: int = 2,
    across: bool = False,
) -> np.ndarray:
    """Return groups inside given classes that keep all rules with little loss: classes are split, then searched.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardised records. Not changed.
    classes : ndarray of shape (n,)
        The class of every record, from 0; every one keeps the rules.
    rules : Rules
        What must hold of every group.
    rng : Generator
        Seeds the search.
    tick : callable
        Told (done, total, best loss so far).
    effort : {"fast", "balanced", "best"}
        How long to search.
    rounds : int
        How often groups are split and records moved, until that gains little.
    across : bool
        Whether records may leave their class.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1.

    Raises
    ------
    InputError
        When a class does not keep the rules.
    """
    if missing(classes, rules).any():
        raise InputError("guarantees", "every class of the level above must keep them", "some do not")
    schedule = SCHEDULES[effort]
    search = Search(X, rules, rng, tick, schedule.each, None, within=None if across else classes)
    search.span(0.0, 0.5)
    search.divide(classes, rounds)
    sweeps = int(min(schedule.annealed, max(20, schedule.proposals / len(X))))
    for run in range(schedule.runs):
        search.span(0.5 + 0.5 * run / schedule.runs, 0.5 + 0.5 * (run + 1) / schedule.runs)
        search.anneal(sweeps, None)
    return search.best
