"""What a report may show: nothing that fewer than k records have in common.

The rules, which `tests/reports/test_disclosure.py` holds:

- A bar, and a row of a table, stands for at least k records in the original and in the release. What is rarer is
  merged: a bin with its neighbours, a value into "other".
- A quantile is the mean of the k values around its rank, and left out where one of these is among the k smallest or
  largest (`sql/report/quantiles.sql`). The edges of bins are round numbers between the 5 % and the 95 % quantile, or
  between the quartiles.
- Means, standard deviations, correlations and distances are over all records.
- Of classes smaller than k only the number of their records is shown.
- A share of missing values is left out where fewer than k records lack the value, or have one.
- Shares are of the records that have a value, with three significant digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import NamedTuple

from sqlmicro.audits.information_loss import MissingRates
from sqlmicro.system.sentences import figure, say

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_BINS = 10
_CLASS_EDGES = (1, 2, 3, 4, 5, 6, 11, 21, 51, 101, 1001, 10001)


class Counted(NamedTuple):
    """A row of a distribution: its label and how many records it stands for, before and after."""

    label: str
    before: int
    after: int


class ClassStep(NamedTuple):
    """Equivalence classes of neighbouring sizes, `last` None for the open end: how many, and records in them."""

    first: int
    last: int | None
    classes: int
    records: int

    @property
    def label(self) -> str:
        """The sizes in words."""
        if self.last is None:
            return say("{low} and more", low=figure(self.first, ","))
        if self.first == self.last:
            return figure(self.first, ",")
        return say("{low} to {high}", low=figure(self.first, ","), high=figure(self.last, ","))


def edges(low: float | None, high: float | None) -> list[float]:
    """Return about ten round numbers from `low` to `high`, none where there is nothing between them.

    >>> edges(3.2, 71), edges(5, 5)
    ([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0], [])
    """
    if low is None or high is None or not high > low:
        return []
    rough = (high - low) / _BINS
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    digits = max(0, -floor(log10(step)))
    return [round(i * step, digits) for i in range(ceil(low / step), floor(high / step) + 1)]


def merged(counts: Sequence[tuple[int, int]], k: int) -> list[tuple[int, int, int, int]]:
    """Return runs of neighbouring bins with at least k records in both files: first, last, before, after.

    Parameters
    ----------
    counts : sequence of (int, int)
        Records of every bin in both files.
    k : int
        Fewest records of a run.

    Returns
    -------
    list
        What is left over at the end joins the last run; nothing where all bins together have fewer than k. O(bins).

    >>> merged([(1, 0), (4, 3), (9, 9), (2, 5)], 3)
    [(0, 1, 5, 3), (2, 3, 11, 14)]
    """
    runs: list[tuple[int, int, int, int]] = []
    first = before = after = 0
    for last, (old, new) in enumerate(counts):
        before, after = before + old, after + new
        if min(before, after) >= k:
            runs.append((first, last, before, after))
            first, before, after = last + 1, 0, 0
    if runs and first < len(counts):
        start, _, old, new = runs[-1]
        runs[-1] = (start, len(counts) - 1, old + before, new + after)
    return runs


def pooled(shown: Sequence[Counted], other: tuple[int, int], k: int) -> tuple[list[Counted], tuple[int, int]]:
    """Return the values to show and the records of all others, which are none or at least k in both files.

    Values are given by falling frequency; the rarest join the others until these are enough.

    >>> pooled([Counted("a", 9, 9), Counted("b", 5, 4)], (1, 0), 3)
    ([Counted(label='a', before=9, after=9)], (6, 4))
    """
    kept, (before, after) = list(shown), other
    while kept and (before or after) and min(before, after) < k:
        rarest = kept.pop()
        before, after = before + rarest.before, after + rarest.after
    return kept, (before, after) if min(before, after) >= k else (0, 0)


def class_steps(sizes: Mapping[int, int], k: int | None) -> list[ClassStep]:
    """Return the classes, given as {size: classes}, by steps of their size; one of the steps begins at k.

    >>> [(step.label, step.classes, step.records) for step in class_steps({1: 2, 7: 1, 9: 1}, 8)]
    [('1', 2, 2), ('6 to 7', 1, 7), ('8 to 10', 1, 9)]
    """
    starts = sorted({*_CLASS_EDGES, *([k] if k else [])})
    steps = []
    for low, after in zip(starts, [*starts[1:], None], strict=True):
        inside = {size: n for size, n in sizes.items() if size >= low and (after is None or size < after)}
        if inside:
            records = sum(size * n for size, n in inside.items())
            steps.append(ClassStep(low, after and after - 1, sum(inside.values()), records))
    return steps


@dataclass(frozen=True)
class MissingShare:
    """The share of missing values of a column; None where it would tell of fewer than k records."""

    column: str
    before: float | None
    after: float | None


def missing(found: MissingRates, k: int) -> list[MissingShare]:
    """Return the share of missing values of every column that lacks some, before and after; None below k records.

    >>> from sqlmicro.audits.information_loss import BeforeAfter
    >>> missing(MissingRates({"age": BeforeAfter(5, 1)}, BeforeAfter(10, 10)), 3)
    [MissingShare(column='age', before=0.5, after=None)]
    """

    def share(count: int, records: int) -> float | None:
        return None if 0 < count < k or 0 < records - count < k else count / records

    of = found.records
    return [
        MissingShare(name, share(counts.before, of.before), share(counts.after, of.after))
        for name, counts in found.by_column.items()
    ]
