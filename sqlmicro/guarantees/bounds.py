"""What is impossible, told before the work: the least size of a group that can keep the rules, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.guarantees.limits import TCloseness
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.guarantees.state import missing
from sqlmicro.work import Work

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Bound:
    """What no grouping of some records can go below."""

    size: int
    """The least size of a group; there are at most n // size groups."""
    infeasible: str | None
    """Why not even all records in one group keep the rules; nothing where they do."""
    why: str
    """What needs groups of that size."""


def bound(rules: Rules, n: int) -> Bound:
    """Return the least size of a group of n records that can keep the rules, and whether any grouping can.

    Notes
    -----
    All rules are closed under union: there is a grouping that keeps them exactly if one group of all records does. The
    size is a lower bound: every rule alone is kept by some group of that size with values of the table, as often as
    they may be, but groups that keep all rules and cover the table may have to be larger. Texts hold counts, shares and
    names of columns, no value.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 2])
    >>> drug = Sensitive("drug", codes, np.array([0.6, 0.3, 0.1]), False, limits=(TCloseness(0.1),))
    >>> found = bound(Rules(2, None, (drug,)), 10)
    >>> found.size, found.why
    (3, 't = 0.1 of "drug" needs groups of at least 3: its most frequent value has 60.0 % of 10 records')
    """
    found = [(rules.k, f"k = {rules.k} needs groups of at least {rules.k}")]
    for one in rules.sensitive:
        for limit in one.limits:
            size = limit.least_size(one, n)
            found.append((size, f'{limit.told} of "{one.name}" needs groups of at least {size}: {_table(one, n)}'))
    size, why = max(found, key=lambda pair: pair[0])
    return Bound(size, _infeasible(rules, n), why)


def least_loss(X: np.ndarray, codes: np.ndarray, t: float) -> float:
    """Return a lower bound of IL, in per cent, of groups of X (n, p) that are t-close in an ordered column.

    Notes
    -----
    The mean rank of a t-close group differs from that of the table by at most t, in units of the highest rank. So the
    scatter between groups B of records and rank z has 0 <= B <= T, the total one, and B_zz <= t². The trace of T - B
    over the records is least, among all such B, for T - B = √T P √T with P of rank 1; its Lagrange dual has one
    multiplier, and its value at any of them is a lower bound.
    """
    import numpy as np

    p, rank = X.shape[1], codes / max(int(codes.max()), 1)
    centred = np.column_stack([X - X.mean(axis=0), rank - rank.mean()])
    total = centred.T @ centred / len(X)
    needed = total[p, p] - t * t
    if needed <= 0:
        return 0.0
    values, vectors = np.linalg.eigh(total)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    lost, at_rank = root[:, :p] @ root[:p], np.outer(root[:, p], root[p])

    def dual(multiplier: float) -> float:
        return float(multiplier * needed + min(0.0, np.linalg.eigvalsh(lost - multiplier * at_rank)[0]))

    best = max(np.geomspace(1e-4, 1e4, 200) * p, key=dual)
    return 100 * max(dual(best * factor) for factor in np.linspace(1 / 1.2, 1.2, 200)) / float(np.trace(total[:p, :p]))


def _table(one: Sensitive, n: int) -> str:
    """Return what a bound comes from, in counts and shares."""
    top = float(one.shares.max(initial=0.0))
    if one.ordered and any(isinstance(limit, TCloseness) for limit in one.limits):
        return f"it has {len(one.shares)} values in {n} records"
    return f"its most frequent value has {100 * top:.1f} % of {n} records"


def _infeasible(rules: Rules, n: int) -> str | None:
    """Return which rules one group of all records breaks."""
    import numpy as np

    faults = []
    if n < rules.k:
        faults.append(f"{n} {'record' if n == 1 else 'records'}, k = {rules.k}")
    if rules.persons is not None and (persons := len(np.unique(rules.persons))) < rules.k:
        found = "1 person (rows without one count as one)" if persons == 1 else f"{persons} persons"
        faults.append(f"{found}, k = {rules.k}")
    for one in (*rules.sensitive, *(rules.members.sensitive if rules.members else ())) if n else ():
        whole = np.zeros(len(one.codes), dtype=np.int64)
        for limit in one.limits:
            if missing(whole, Rules(1, None, (replace(one, limits=(limit,)),)))[0] > 0:
                what = f'{limit.told} of "{one.name}"'
                faults.append(f"{what} does not hold of all {len(whole)} records together: {_records(one)}")
    return "; ".join(faults) or None


def _records(one: Sensitive) -> str:
    """Return how many values some records have, and the share of the most frequent one."""
    import numpy as np

    counts = np.bincount(one.codes)
    return f"they have {(counts > 0).sum()} values, the most frequent {100 * counts.max() / counts.sum():.1f} % of them"


def records_of(rules: Rules) -> int:
    """Return the number of records that rules are about."""
    if rules.persons is not None:
        return len(rules.persons)
    if rules.sensitive:
        return len(rules.sensitive[0].codes)
    return int(rules.members.unit.max()) + 1 if rules.members else 0


def refuse_impossible(work: Work, rules: Rules) -> None:
    """Refuse what the whole table, or a stratum of it, cannot keep.

    Raises
    ------
    InputError
        It says what is impossible and why, before any work is done.
    """
    import numpy as np

    n = records_of(rules)
    strata = work.stratum_numbers(n)
    sizes = np.bincount(strata)
    whole = bound(rules, n)
    if whole.infeasible:
        raise InputError(work.where, "some groups must keep what was asked for", whole.infeasible, "Ask for less")
    if len(sizes) > 1 and missing(strata, rules).any():
        failed = [
            found.infeasible
            for rows in np.split(np.argsort(strata, kind="stable"), np.cumsum(sizes)[:-1])
            if len(rows) and (found := bound(rules.of(rows), len(rows))).infeasible
        ]
        if failed:
            raise InputError(
                work.where, "the groups of every stratum must keep what was asked for",
                f"{len(failed)} of {len(sizes)} strata cannot; of the first: {failed[0]}",
                work.advised("Ask for less"),
            )  # fmt: skip
    if whole.size > rules.k:
        work.note(whole.why)
