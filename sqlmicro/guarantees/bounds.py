"""What is impossible, told before the work: the least size of a group that can keep the rules, and why."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.guarantees.state import missing


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
