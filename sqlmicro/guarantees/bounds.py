"""What is impossible, told before the work: the least size of a group that can keep the rules, and why."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.errors import InputError
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.guarantees.state import missing
from sqlmicro.work import Work


@dataclass(frozen=True)
class Bound:
    """What no grouping of some records can go below."""

    size: int
    """The least size of a group."""
    infeasible: str | None
    """Why not even all records in one group keep the rules, or nothing."""
    why: str
    """What needs groups of that size, as a sentence."""


def bound(rules: Rules, n: int) -> Bound:
    """Return the least size of a group of n records that can keep the rules, or why there is none."""
    import numpy as np

    infeasible = None
    if n < rules.k or missing(np.zeros(n, dtype=np.int64), rules)[0] > 0:
        infeasible = _reason(rules, n)
    found = [(rules.k, f"k = {rules.k}")]
    found += [least_size(one, n) for one in rules.sensitive]
    size, cause = max(found, key=lambda pair: pair[0])
    return Bound(size, infeasible, f"{cause} needs groups of at least {size}")


def least_size(one: Sensitive, n: int) -> tuple[int, str]:
    """Return the least size of a group that can keep what is asked of a sensitive column, and what asks for it."""
    return max(1, one.l), f"l = {one.l}"


def _reason(rules: Rules, n: int) -> str:
    return "all records in one group do not keep the rules"


def refuse_impossible(work: Work, rules: Rules) -> None:
    """Refuse what the whole table, or a stratum of it, cannot keep.

    Raises
    ------
    InputError
        It says what is impossible and why, before any work is done.
    """
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
