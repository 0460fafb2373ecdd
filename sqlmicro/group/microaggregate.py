"""Microaggregation with little loss: several starts, local search, annealing; the method most users should call."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.group.certify import annealed, improve, ready
from sqlmicro.group.certify import certify as certified
from sqlmicro.group.consecutive_groups import optimal_groups
from sqlmicro.group.local_search import Search
from sqlmicro.options.params import K, Param, Target
from sqlmicro.registry import Grouping, Loss, Tick, method

if TYPE_CHECKING:
    import numpy as np

_WHERE = "microaggregate"
_MDAV_MOST = 50_000  # records for which exact MDAV is a start
_PATH_MOST = 20_000  # records for which the nearest-point path is one
_GENERATED_MOST = 5000  # records for which best generates columns: it would take minutes above
_BALANCED = (12_000, 9_600_000, 200)  # proposals: per record, at most; but at least per record
_BEST = (250_000, 200_000_000, 2000)
_RUNS = 4  # annealings that share the budget of best
_HOT = 10.0  # temperature at the start, in SSE/n of the start
_SEARCH_SHARE = 0.25  # of the time limit, where the groups are certified after the search
_LEAST = "The loss is the least possible"  # one group, or one column: then the shortest path is exact
_WITHOUT = "Found by annealing alone: with highspy (pip install 'sqlmicro[optimal]') quality best finds less loss"
_LIMITED = "The search took the time it was given, so that the run cannot be repeated exactly"
_RATE = 10_000_000  # proposals in a second, about; it only plans a search with a time limit


@method(
    "microaggregate",
    stage="group",
    engine="numpy",
    promise="record",
    source="Domingo-Ferrer & Torra (2005) for the start; Kirkpatrick, Gelatt & Vecchi (1983), Science 220",
)
def microaggregate(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
    quality: Annotated[
        Literal["fast", "balanced", "best"], Param("How long to search for groups with little loss.", part="effort")
    ] = "balanced",
    time_limit: Annotated[
        float | None, Param("Seconds that --quality best searches; releases then differ from run to run.", min=0)
    ] = None,
    certify: Annotated[
        bool,
        Param(
            "With quality best, say how far the loss may be above the least possible; needs the extra `optimal`.",
            part="certified",
        ),
    ] = False,
    target: Target = None,
) -> Grouping:
    """Group records with less loss than any single heuristic: start groups, local search, annealing.

    Returns
    -------
    Grouping
        Labels (n,), 0..G-1, of groups of k to 2k-1 records, and a note where a time limit was given.

    Raises
    ------
    InputError
        When there are fewer than k records.
    ParameterError
        When time_limit or certify is given without quality best.

    Notes
    -----
    quality: fast is MDAV inside blocks of near records, local search across their borders, and 20 random moves per
    record (10p for p above 4). balanced starts from that without the moves, from exact MDAV (n up to 50 000) and from
    MHM (n up to 20 000), whichever has the least loss after local search. Then it anneals 8 million moves (below 800
    records 10 000 for each), or 200 per record from 40 000 records on, at 0.1 µs or so per move, several times that in
    far memory. best, up to 5000 records and where the extra `optimal` is installed: four annealings, the first from a
    temperature at which even records far from all others move, then the linear programme over the groups found and
    those that its prices suggest. Its solution is rounded in 15 ways, each is annealed from a low temperature, and a
    MILP chooses among all groups; three times, or until less than 0.001 % is gained. That takes 40 to 95 CPU seconds
    with 800 to 5000 records and k of 3 to 10; see `sqlmicro.group.certify`. Otherwise
    best makes four annealings that share 200 million moves, or 2000 per record from 100 000 records on. With a time
    limit it takes so many seconds, the starts included, and returns the best groups so far. certify then proves a lower
    bound on the loss; see `sqlmicro.group.certify`. The same seed gives the same groups unless a time limit is given.

    One column is grouped by the exact shortest path of `optimal-univariate`, whatever the quality.

    Local search makes the best relocation or exchange of each record with the 12 groups whose means are nearest to that
    of its own. Annealing proposes relocations, exchanges, chains and cycles over three groups, each with the group of a
    record from the list of near records, and in 5 % of proposals dissolves a group or forms one. The temperature falls
    from 10 to 0.001 SSE/n of the start; where there are fewer than 2000 moves per record it starts lower, so that the
    start is not undone. Five of six proposals are about records for which they matter now: the mean squared distance to
    their near records lies between 4 and 120 temperatures. Records in sparser places have settled, those in denser ones
    would be shuffled for nothing.

    The records are searched in the order of their values, so the groups do not depend on the order of the rows, and
    rows at equal distances are told apart by their values first, then by their order. Near records are the 3k nearest,
    at least 16 and at most 48, so that no groups are formed anew for k above 48; 6 for fast, 8 for p above 4. They are
    nearly the nearest where more than 64 leaves of a tree (6 or 16 for fast) would have to be looked into.

    O(n (p + k) log n) time for fast, times the number of moves per record for the others; O(n p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0], [1, 0], [10, 1], [11, 0], [0.5, 1], [10.5, 0]])
    >>> microaggregate(X, np.random.default_rng(0), lambda done, total, best="": None, k=3).labels.tolist()
    [0, 0, 1, 1, 0, 1]
    """
    import numpy as np

    n, p = X.shape
    if n < k:
        raise InputError(_WHERE, f"there must be at least k = {k} records", f"{n}", "Use a smaller k")
    if time_limit is not None and quality != "best":
        raise ParameterError(f"{_WHERE}, time_limit", "goes with quality best only", f"quality {quality}")
    if certify and quality != "best":
        raise ParameterError(f"{_WHERE}, certify", "goes with quality best only", f"quality {quality}")
    if n < 2 * k:
        return _exactly(X, np.zeros(n, dtype=np.int64), certify)
    if p == 1:
        order = np.argsort(X[:, 0], kind="stable")
        labels = np.empty(n, dtype=np.int64)
        labels[order] = optimal_groups(X[order, 0], k, tick)
        return _exactly(X, labels, certify)
    notes: list[str] = []
    if certify:
        ready(n)
    began = time.monotonic()
    end = None if time_limit is None else began + time_limit
    deadline = None if time_limit is None else began + (_SEARCH_SHARE if certify else 1.0) * time_limit
    reach, leaves = ((6, 6) if p <= 4 else (8, 16)) if quality == "fast" else (min(48, max(16, 3 * k)), 64)
    search = Search(X, k, rng, tick, reach=reach, leaves=leaves, deadline=deadline)
    generating = quality == "best" and n <= _GENERATED_MOST
    if generating and find_spec("highspy") is None:
        generating, notes = False, [_WITHOUT]
    _run(search, n, p, quality, deadline, generating)
    if time_limit is not None:
        notes.append(_LIMITED)
    if certify:
        return _certified(X, search, k, rng, tick, end, notes)
    if generating:
        found = improve(X, search.best, k, rng, tick, least=search.least, deadline=deadline)
        return Grouping(found.labels, tuple(notes), found.lower_bound or search.least)
    return Grouping(search.best, tuple(notes), search.least)


def _exactly(X: np.ndarray, labels: np.ndarray, certify: bool) -> Grouping:
    """Return groups that are known to be the best."""
    loss = Loss.of(X, labels, [0.0])
    return Grouping(labels, (_LEAST,) if certify else (), loss.sse if loss else None)


def _certified(
    X: np.ndarray,
    search: Search,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    end: float | None,
    notes: list[str],
) -> Grouping:
    """Return groups at least as good, and a note that says how far they may be from the optimum."""
    left = None if end is None else end - time.monotonic()
    pool = annealed(X, k, rng, end)
    found = certified(X, search.best, k, rng, tick, pool=pool, least=search.least, time_limit=left)
    return Grouping(found.labels, (found.note, *notes), found.lower_bound or search.least)


def _run(search: Search, n: int, p: int, quality: str, deadline: float | None, generating: bool) -> None:
    """Search from the starts that n allows, with the budget of the quality; column generation anneals on its own."""
    if quality == "fast":
        search.start(search.blocks())
        search.descend()
        search.span(0.5, 1.0)
        each = 20 if p <= 4 else 10 * p
        search.anneal(each * n, _hot(each))
        return
    starts = [search.blocks]
    starts += [search.mdav] if n <= _MDAV_MOST else []
    starts += [search.path] if n <= _PATH_MOST else []
    for start in starts:
        if not (search.found and search.over):  # one grouping is always made
            search.start(start())
            search.descend()
    if generating:
        return
    each, most, least = _BALANCED if quality == "balanced" else _BEST
    proposals = max(min(each * n, most), least * n)
    if deadline is not None:
        proposals = max(1, int(_RATE * (deadline - time.monotonic())))
    if quality == "balanced":
        search.span(0.0, 1.0)
        search.start(search.best)
        search.anneal(proposals, _hot(proposals / n))
        return
    began = time.monotonic()
    for run in range(_RUNS):
        search.span(run / _RUNS, (run + 1) / _RUNS)
        search.start(search.best)
        until = None if deadline is None else began + (run + 1) / _RUNS * (deadline - began)
        search.anneal(proposals // _RUNS, _hot(proposals / _RUNS / n), until=until)


def _hot(each: float) -> float:
    """Return the temperature to start from with so many proposals per record: the fewer, the less is undone."""
    return min(_HOT, each / 200)
