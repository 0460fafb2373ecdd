"""What guarantees make impossible, known before any work is done."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.guarantees.rules import Rules


@dataclass(frozen=True)
class Bound:
    """What is impossible: groups smaller than `size`; anything, where `infeasible` says why."""

    size: int
    infeasible: str | None
    why: str


def bound(rules: Rules, n: int) -> Bound:
    """Return what is impossible for n records under some rules."""
    return Bound(rules.k, None, "")
