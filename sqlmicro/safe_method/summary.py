"""What a user of SAFE wants to know of a release, in three lines: its tables, its numbers, what it does not tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sqlmicro.safe_method.distance import Deviations, MomentsBeforeAfter
from sqlmicro.safe_method.means import ShiftedMeans

LEAST_KEPT = 0.75
"""A column that keeps less of its standard deviation is warned of."""
_TOLD = 5  # columns, those that keep least


@dataclass(frozen=True)
class Summary:
    """What a release is worth, for its owner."""

    tables: str
    """How far the tables of counts are off."""
    numbers: str
    """What the columns of numbers keep; the worst is named."""
    not_told: str
    """What nobody can read from the release."""

    @classmethod
    def of(
        cls,
        orders: Mapping[str, Deviations],
        moments: MomentsBeforeAfter,
        means: ShiftedMeans | None,
        unit: str,
        not_told: str,
    ) -> Summary:
        """Return the summary; `unit` is what the tables count."""
        return cls(_tables(orders, unit), _numbers(kept_deviations(moments), means), not_told)


def kept_deviations(moments: MomentsBeforeAfter) -> dict[str, float]:
    """Return the share of its standard deviation that every column of numbers keeps; one without any is left out.

    >>> from sqlmicro.safe_method.distance import Moments
    >>> before, after = Moments(variance={"age": 4.0, "one": 0.0}), Moments(variance={"age": 1.0, "one": 0.0})
    >>> kept_deviations(MomentsBeforeAfter(before, after))
    {'age': 0.5}
    """
    return {
        name: math.sqrt(max(0.0, moments.after.variance.get(name) or 0.0) / variance)
        for name, variance in moments.before.variance.items()
        if variance
    }


def warnings(kept: Mapping[str, float], advice: str) -> list[str]:
    """Return a sentence where columns keep too little of their standard deviation.

    >>> warnings({"age": 0.98, "income": 0.41}, "Try another k.")
    ['warning: income keeps 41 % of its standard deviation. Try another k.']
    >>> warnings({name: 0.5 for name in "abcdefg"}, "Try another k.")[0][-80:]
    ' e keeps 50 % of their standard deviation, 2 more less than 75 %. Try another k.'
    """
    poor = {name: share for name, share in kept.items() if share < LEAST_KEPT}
    if not poor:
        return []
    worst = sorted(poor, key=poor.__getitem__)[:_TOLD]
    some = ", ".join(f"{name} keeps {100 * poor[name]:.0f} %" for name in worst)
    whose = "its" if len(poor) == 1 else "their"
    rest = f", {len(poor) - _TOLD} more less than {100 * LEAST_KEPT:.0f} %" if len(poor) > _TOLD else ""
    return [f"warning: {some} of {whose} standard deviation{rest}. {advice}"]


def _tables(orders: Mapping[str, Deviations], unit: str) -> str:
    """Return how far the tables of every order are off.

    >>> one = Deviations(4, 12.0, 2.0, 0.5, {}, {})
    >>> _tables({"1": one, "2": Deviations(6, 100.0, 3.0, 0.6, {}, {}), "all": one}, "record")
    'a count by 1 column is off by at most 2 records, by 2 by 3'
    """
    parts = [(order, f"{p.count_max:,.10g}") for order, p in orders.items() if order not in ("0", "all")]
    if not parts:
        return "there is no column to count by"
    first = f"a count by {parts[0][0]} column is off by at most {parts[0][1]} {unit}s"
    return ", ".join([first, *(f"by {order} by {off}" for order, off in parts[1:])])


def _numbers(kept: Mapping[str, float], means: ShiftedMeans | None) -> str:
    """Return what columns of numbers keep.

    >>> _numbers({"age": 0.994, "income": 0.981}, None)
    'standard deviations are kept to 98.1 % (income) and better'
    """
    if not kept:
        return "there is no column of numbers"
    worst = min(kept, key=lambda name: kept[name])
    text = f"{worst} keeps {100 * kept[worst]:.1f} % of its standard deviation"
    if len(kept) > 1:
        text = f"standard deviations are kept to {100 * kept[worst]:.1f} % ({worst}) and better"
    return f"{text}; {means.told}" if means and means.subgroups else text
