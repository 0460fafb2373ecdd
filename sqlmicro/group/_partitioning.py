"""Set partitioning with HiGHS: the groups found so far, and the programmes that choose among them."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any

from sqlmicro.errors import InputError

if TYPE_CHECKING:
    import numpy as np

_MILP_NODES = 30
_TRIPLES = 300  # added at once
_PER_RECORD = 5
_VIOLATED = 0.02
_ONE_AT_A_TIME = threading.Lock()


def needed() -> Any:
    """Return highspy, the extra `optimal`.

    Raises
    ------
    InputError
        When it is not installed.
    """
    try:
        return import_module("highspy")
    except ImportError:
        raise InputError(
            "certify", "needs highspy, which is not installed", do="Install it by: pip install 'sqlmicro[optimal]'"
        ) from None


def _solver(highspy: Any) -> Any:
    """Return a solver. Making the first one prints a banner, which must not be among the data on stdout."""
    flush = ctypes.CDLL(None).fflush
    with _ONE_AT_A_TIME:  # else another thread would keep what is nowhere for stdout
        flush(None)
        kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 1)
            solver = highspy.Highs()
            flush(None)
        finally:
            os.dup2(kept, 1)
            os.close(kept)
            os.close(nowhere)
    return solver


class TimeOver(Exception):  # noqa: N818
    """The time limit is reached."""


class Columns:
    """The groups found so far, each once, with its SSE."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        self.groups: list[tuple[int, ...]] = []
        self.costs: list[float] = []
        self.position: dict[tuple[int, ...], int] = {}

    def add(self, groups: Iterable[Iterable[int]]) -> list[int]:
        """Add groups; return the position of each."""
        import numpy as np

        positions = []
        for group in groups:
            members = tuple(sorted(group))
            if members not in self.position:
                self.position[members] = len(self.groups)
                self.groups.append(members)
                Y = self.X[list(members)]
                self.costs.append(float(np.square(Y - Y.mean(axis=0)).sum()))
            positions.append(self.position[members])
        return positions

    def add_rows(self, members: np.ndarray, sizes: np.ndarray) -> None:
        """Add groups that the kernels found: the first `sizes` entries of the rows."""
        self.add(row[:size] for row, size in zip(members.tolist(), sizes.tolist(), strict=True))

    def of_labels(self, labels: np.ndarray) -> list[int]:
        """Add the groups of a grouping; return their positions."""
        import numpy as np

        order = np.argsort(labels, kind="stable")
        borders = np.flatnonzero(np.diff(labels[order])) + 1
        return self.add(group.tolist() for group in np.split(order, borders))

    def reduced_costs(self, prices: np.ndarray, triples: Triples, first: int = 0) -> np.ndarray:
        """Return the SSE less the prices of every group from position `first` on, plus its fines."""
        import numpy as np

        fines = prices[len(self.X) :]
        groups = self.groups[first:]
        reduced: np.ndarray = np.array(self.costs[first:]) - [prices[list(group)].sum() for group in groups]
        if fines.any():
            reduced += [fines[triples.of(group)].sum() for group in groups]
        return reduced


class Triples:
    """Triples of records of which at most one group may hold two or three.

    Subset-row inequalities (Jepsen, Petersen, Spoorendonk & Pisinger 2008): every partition keeps them, fractional
    solutions of the linear programme often do not. Their dual values are the fines of the groups that count.
    """

    def __init__(self) -> None:
        self.members: list[tuple[int, int, int]] = []
        self.at: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, triples: Iterable[tuple[int, int, int]]) -> None:
        """Add triples."""
        for triple in triples:
            for i in triple:
                self.at[i].append(len(self.members))
            self.members.append(triple)

    def of(self, group: Sequence[int]) -> list[int]:
        """Return the triples of which the group holds two records or three."""
        once: set[int] = set()
        twice: set[int] = set()
        for i in group:
            for triple in self.at.get(i, ()):
                (twice if triple in once else once).add(triple)
        return sorted(twice)

    def arrays(self, n: int, fines: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return start, second, third and fine of the triples with a fine, for the kernels."""
        import numpy as np

        entries = [
            (i, *(other for other in self.members[triple] if other != i), fines[triple])
            for i in range(n)
            for triple in self.at.get(i, ())
            if fines[triple] > 0
        ]
        start = np.searchsorted([entry[0] for entry in entries], np.arange(n + 1)).astype(np.int64)
        second, third = (np.array([entry[c] for entry in entries], dtype=np.int64) for c in (1, 2))
        return start, second, third, np.array([entry[3] for entry in entries], dtype=float)

    def violated(self, groups: Sequence[Sequence[int]], used: Sequence[float]) -> list[tuple[int, int, int]]:
        """Return triples that a fractional solution uses more than once, the most violated first."""
        pair: defaultdict[tuple[int, int], float] = defaultdict(float)
        whole: defaultdict[tuple[int, int, int], float] = defaultdict(float)
        near: defaultdict[int, set[int]] = defaultdict(set)
        for group, share in zip(groups, used, strict=True):
            for a, b in combinations(group, 2):
                pair[a, b] += share
                near[a].add(b)
                near[b].add(a)
            for triple in combinations(group, 3):
                whole[triple] += share
        known, found = set(self.members), {}
        for i, others in near.items():
            for second, third in combinations(sorted(others), 2):
                a, b, c = sorted((i, second, third))
                total = pair.get((a, b), 0.0) + pair.get((a, c), 0.0) + pair.get((b, c), 0.0)
                total -= 2 * whole.get((a, b, c), 0.0)
                if total > 1 + _VIOLATED and (a, b, c) not in known:
                    found[a, b, c] = total
        taken: list[tuple[int, int, int]] = []
        times: defaultdict[int, int] = defaultdict(int)
        for triple in sorted(found, key=lambda triple: (-round(found[triple], 9), triple)):
            if len(taken) < _TRIPLES and all(times[i] < _PER_RECORD for i in triple):
                taken.append(triple)
                for i in triple:
                    times[i] += 1
        return taken


class Programme:
    """The linear or integer programme over columns: every record in exactly one group, least SSE."""

    def __init__(self, n: int, deadline: float, *, seed: int = 0) -> None:
        import numpy as np

        self.highspy = needed()
        self.highs = _solver(self.highspy)
        self.deadline = deadline
        options = {"output_flag": False, "threads": 1, "random_seed": seed, "mip_rel_gap": 1e-9}
        for name, value in options.items():
            self.highs.setOptionValue(name, value)
        self.highs.HandleUserInterrupt = True
        empty = np.empty(0, dtype=np.int32)
        self.highs.addRows(n, np.ones(n), np.ones(n), 0, np.zeros(n, dtype=np.int32), empty, np.empty(0))
        self.n, self.size = n, 0
        self.triples = Triples()

    def add(self, groups: list[tuple[int, ...]], costs: list[float]) -> None:
        """Add columns."""
        import numpy as np

        rows = [[*group, *(self.n + triple for triple in self.triples.of(group))] for group in groups]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])[:-1]]).astype(np.int32)
        members = np.array([i for row in rows for i in row], dtype=np.int32)
        count = len(groups)
        upper = np.full(count, np.inf)
        self.highs.addCols(
            count, np.array(costs), np.zeros(count), upper, len(members), starts, members, np.ones(len(members))
        )
        self.size += count

    def cut(self, triples: list[tuple[int, int, int]], groups: list[tuple[int, ...]]) -> None:
        """Forbid that more than one group holds two records of a triple; `groups` are all columns, in their order."""
        import numpy as np

        if not triples:
            return
        first = len(self.triples.members)
        self.triples.add(triples)
        columns: list[list[int]] = [[] for _ in triples]
        for j, group in enumerate(groups):
            for triple in self.triples.of(group):
                if triple >= first:
                    columns[triple - first].append(j)
        starts = np.concatenate([[0], np.cumsum([len(row) for row in columns])[:-1]]).astype(np.int32)
        entries = np.array([j for row in columns for j in row], dtype=np.int32)
        count = len(triples)
        self.highs.addRows(
            count, np.full(count, -np.inf), np.ones(count), len(entries), starts, entries, np.ones(len(entries))
        )

    def run(self) -> None:
        """Solve; on Ctrl-C or at the deadline stop the solver and raise."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeOver
        try:
            self.highs.startSolve()  # within: a signal that comes while its thread begins must stop it too
            while not self.highs.wait(min(0.2, left))[0]:
                left = self.deadline - time.monotonic()
                if left <= 0:
                    raise TimeOver
        except BaseException:
            self.highs.cancelSolve()
            self.highs.wait()
            raise

    def solve(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the least SSE of the linear programme, prices and fines (n + triples,), and the use of each column."""
        import numpy as np

        self.run()
        solution = self.highs.getSolution()
        value = self.highs.getInfo().objective_function_value
        prices = np.array(solution.row_dual)
        prices[self.n :] = np.maximum(-prices[self.n :], 0.0)
        return value, prices, np.array(solution.col_value)

    def choose(self, start: list[int]) -> tuple[list[int], float]:
        """Return the columns of a good grouping, and a lower bound on the SSE of every grouping of these columns.

        `start` holds the columns of a grouping to begin with.
        """
        import numpy as np

        whole = np.full(self.size, self.highspy.HighsVarType.kInteger)
        self.highs.changeColsIntegrality(self.size, np.arange(self.size, dtype=np.int32), whole)
        self.highs.setOptionValue("mip_max_nodes", _MILP_NODES)
        solution = self.highspy.HighsSolution()
        value = np.zeros(self.size)
        value[start] = 1.0
        solution.col_value = value.tolist()
        self.highs.setSolution(solution)
        self.run()
        bound = self.highs.getInfo().mip_dual_bound
        used = np.array(self.highs.getSolution().col_value)
        return (np.flatnonzero(used > 0.5).tolist() if len(used) else start), bound
