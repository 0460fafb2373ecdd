"""Classes as counts: which of them keep their guarantees, measured as the audits measure it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sqlmicro.guarantees.members import Members
from sqlmicro.guarantees.rules import SLACK, Rules, Sensitive

if TYPE_CHECKING:
    import numpy as np

_DENSE = 1 << 22
"""Up to this many pairs of class and value are counted in a table of all pairs, more are sorted."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many records of every class have every value: the pairs that occur, ordered by class, then by value.

    Parameters
    ----------
    classes : int
        Number of classes; every class has a pair.
    values : int
        Number of values there may be.
    label, value, count : ndarray of shape (pairs,)
        Class from 0, value from 0, and records of every pair.
    """

    classes: int
    values: int
    label: np.ndarray
    value: np.ndarray
    count: np.ndarray

    @classmethod
    def of(
        cls, label: np.ndarray, value: np.ndarray, classes: int, values: int, count: np.ndarray | None = None
    ) -> Histogram:
        """Count pairs that may occur several times; without `count` each is one record."""
        import numpy as np

        key = label.astype(np.int64) * values + value
        weights = np.ones(len(key), dtype=np.int64) if count is None else count
        if classes * values <= max(_DENSE, 4 * len(key)):
            table = np.bincount(key, weights, minlength=classes * values)
            found = np.flatnonzero(table)
            counted = table[found].astype(np.int64)
        else:
            order = np.argsort(key, kind="stable")
            ordered = key[order]
            first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
            found, counted = ordered[first], np.add.reduceat(weights[order], first)
            found, counted = found[counted != 0], counted[counted != 0]
        return cls(classes, values, found // values, found % values, counted)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The records of every class."""
        import numpy as np

        return np.bincount(self.label, self.count, minlength=self.classes)

    @cached_property
    def first(self) -> np.ndarray:
        """The first pair of every class."""
        import numpy as np

        return np.searchsorted(self.label, np.arange(self.classes))

    @cached_property
    def shares(self) -> np.ndarray:
        """The share that the value of every pair has of its class."""
        found: np.ndarray = self.count / self.sizes[self.label]
        return found

    def merged(self, into: np.ndarray, classes: int) -> Histogram:
        """Return the histogram of the classes that the present ones become: `into` has the new class of each."""
        return Histogram.of(into[self.label], self.value, classes, self.values, self.count)

    def without(self, other: Histogram, some: np.ndarray, into: np.ndarray) -> Histogram:
        """Return what is left of the classes without some classes of another histogram; `into` has ours of each."""
        import numpy as np

        out = some[other.label]
        label = np.concatenate([self.label, into[other.label[out]]])
        value = np.concatenate([self.value, other.value[out]])
        return Histogram.of(label, value, self.classes, self.values, np.concatenate([self.count, -other.count[out]]))

    def joined(self, one: int, others: np.ndarray) -> Histogram:
        """Return the histogram of some other classes, each united with class `one`."""
        import numpy as np

        some = np.zeros(self.classes, dtype=bool)
        some[others] = True
        own, added = self.only(some), self.label == one
        m = len(others)
        return Histogram.of(
            np.concatenate([own.label, np.repeat(np.arange(m), added.sum())]),
            np.concatenate([own.value, np.tile(self.value[added], m)]),
            m, self.values, np.concatenate([own.count, np.tile(self.count[added], m)]),
        )  # fmt: skip

    def only(self, kept: np.ndarray) -> Histogram:
        """Return the histogram of some classes, numbered anew."""
        import numpy as np

        pairs = kept[self.label]
        number = np.cumsum(kept) - 1
        return Histogram(int(kept.sum()), self.values, number[self.label[pairs]], self.value[pairs], self.count[pairs])


def distinct(h: Histogram) -> np.ndarray:
    """Return the number of values of every class: distinct l-diversity."""
    import numpy as np

    return np.bincount(h.label, minlength=h.classes)


def entropy(h: Histogram) -> np.ndarray:
    """Return the exponential of the entropy of every class: entropy l-diversity."""
    import numpy as np

    spread = np.bincount(h.label, h.count * np.log(h.count), minlength=h.classes)
    found: np.ndarray = np.maximum(np.exp(np.log(h.sizes) - spread / h.sizes), 1.0)
    return found


def recursive(h: Histogram, c: float) -> np.ndarray:
    """Return the largest l of every class for which r1 < c (rl + ... + rm): recursive (c, l)-diversity."""
    import numpy as np

    order = np.lexsort((-h.count, h.label))
    count = h.count[order]
    before = np.cumsum(count) - count
    remainder = h.sizes[h.label] - (before - before[h.first][h.label])
    highest = count[h.first][h.label]
    return np.bincount(h.label, highest < c * remainder, minlength=h.classes).astype(np.int64)


def closeness(one: Sensitive, h: Histogram) -> np.ndarray:
    """Return how far the distribution of every class is from that of the table (Earth Mover's Distance)."""
    import numpy as np

    shares = one.shares
    if not one.ordered:
        total = np.bincount(h.label, np.maximum(h.shares - shares[h.value], 0.0), minlength=h.classes)
        for level in one.levels:
            branches = Histogram.of(h.label, level[h.value], h.classes, int(level.max()) + 1, h.count)
            over = np.maximum(branches.shares - np.bincount(level, shares)[branches.value], 0.0)
            total += np.bincount(branches.label, over, minlength=h.classes)
        distance: np.ndarray = total / (1 + len(one.levels))
        return distance
    cumulated = np.cumsum(shares)
    total = np.r_[0.0, np.cumsum(cumulated)]
    m = len(shares)
    running = np.cumsum(h.shares)
    level = running - (running - h.shares)[h.first][h.label]
    # Between two values of a class its cumulated share stays at `level`; that of the table passes it at `place`.
    low, high = h.value, np.r_[h.value[1:], 0]
    last = np.r_[h.first[1:], len(h.label)] - 1
    high[last] = m
    place = np.clip(np.searchsorted(cumulated, level, side="right"), low, high)
    moved = (place - low) * level - (total[place] - total[low]) + (total[high] - total[place]) - (high - place) * level
    found: np.ndarray = (np.bincount(h.label, moved, minlength=h.classes) + total[h.value[h.first]]) / max(m - 1, 1)
    return found


def highest_share(h: Histogram) -> np.ndarray:
    """Return the share of the most frequent value of every class: alpha."""
    import numpy as np

    return np.maximum.reduceat(h.shares, h.first)


def highest_gain(h: Histogram, shares: np.ndarray) -> np.ndarray:
    """Return by how much the value that gains most is more frequent in every class than given: beta."""
    import numpy as np

    found: np.ndarray = np.maximum.reduceat(h.shares / shares[h.value], h.first) - 1.0
    return found


def kept(one: Sensitive, h: Histogram) -> np.ndarray:
    """Tell which classes keep what is asked of a sensitive column."""
    import numpy as np

    found = np.ones(h.classes, dtype=bool)
    if one.l > 1:
        found &= distinct(h) >= one.l
    if one.entropy_l > 1:
        found &= entropy(h) >= one.entropy_l - SLACK
    if one.recursive_l:
        found &= recursive(h, one.c) >= one.recursive_l
    if one.t < 1:
        found &= closeness(one, h) <= one.t + SLACK
    if one.alpha < 1:
        found &= highest_share(h) <= one.alpha + SLACK
    if np.isfinite(one.beta):
        found &= highest_gain(h, one.shares) <= one.beta + SLACK
    return found


def missed(one: Sensitive, h: Histogram) -> np.ndarray:
    """Return what every class misses of what is asked of a sensitive column, in records; see `state.missing`."""
    import numpy as np

    found = np.maximum(one.l - distinct(h), 0.0)
    if one.entropy_l > 1:
        found += h.sizes * np.maximum(np.log(one.entropy_l) - np.log(entropy(h)), 0.0)
    if one.recursive_l:
        found += recursive(h, one.c) < one.recursive_l
    if one.t < 1:
        found += h.sizes * np.maximum(closeness(one, h) - one.t, 0.0)
    for most in (one.alpha, (1 + one.beta) * one.shares[h.value]):
        over = np.maximum(h.count - most * h.sizes[h.label], 0.0)
        found += np.bincount(h.label, over, minlength=h.classes)
    misses: np.ndarray = np.where(kept(one, h), 0.0, np.maximum(found, SLACK))
    return misses


@dataclass(frozen=True, eq=False)
class Tally:
    """The classes of some records by what is asked of them: their sizes, persons, sensitive values, and population.

    Whatever is asked, a union of classes that keep it keeps it as well: sizes and numbers of values grow, entropy is
    concave, the distances are convex, the remainders of (c, l)-diversity add up. With a population there may be classes
    without records: they keep nothing, but their members come along when classes are united.
    """

    k: int
    sizes: np.ndarray
    persons: Histogram | None = None
    sensitive: tuple[tuple[Sensitive, Histogram], ...] = ()
    members: Members | None = None

    @classmethod
    def of(cls, rules: Rules, label: np.ndarray, classes: int) -> Tally:
        """Count the records of every class; `label` has that of every record, which may be a unit of several."""
        import numpy as np

        persons, members = rules.persons, rules.members
        kept = [(one, label) for one in rules.sensitive]
        kept += [(one, label[members.unit]) for one in members.sensitive] if members else []
        return cls(
            rules.k,
            np.bincount(label, minlength=classes),
            None if persons is None else Histogram.of(label, persons, classes, int(persons.max(initial=-1)) + 1),
            tuple((one, Histogram.of(own, one.codes, classes, len(one.shares))) for one, own in kept),
        )

    def merged(self, into: np.ndarray, classes: int) -> Tally:
        """Return the counts of the classes that the present ones become."""
        import numpy as np

        return Tally(
            self.k,
            np.bincount(into, self.sizes, minlength=classes).astype(np.int64),
            None if self.persons is None else self.persons.merged(into, classes),
            tuple((one, h.merged(into, classes)) for one, h in self.sensitive),
            None if self.members is None else self.members.merged(into, classes),
        )

    def without(self, other: Tally, some: np.ndarray, into: np.ndarray) -> Tally:
        """Return what is left of the classes without some classes of another tally; `into` has ours of each."""
        import numpy as np

        out = np.bincount(into[some], other.sizes[some], minlength=len(self.sizes)).astype(np.int64)
        return Tally(
            self.k,
            self.sizes - out,
            None if self.persons is None or other.persons is None else self.persons.without(other.persons, some, into),
            tuple(
                (one, mine.without(theirs, some, into))
                for (one, mine), (_, theirs) in zip(self.sensitive, other.sensitive, strict=True)
            ),
            None if self.members is None or other.members is None else self.members.without(other.members, some, into),
        )

    def joined(self, one: int, others: np.ndarray) -> Tally:
        """Return the counts of some other classes, in ascending order, each united with class `one`."""
        return Tally(
            self.k,
            self.sizes[others] + self.sizes[one],
            None if self.persons is None else self.persons.joined(one, others),
            tuple((rule, h.joined(one, others)) for rule, h in self.sensitive),
            None if self.members is None else self.members.joined(one, others),
        )

    def only(self, some: np.ndarray) -> Tally:
        """Return the counts of some classes, numbered anew."""
        return Tally(
            self.k,
            self.sizes[some],
            None if self.persons is None else self.persons.only(some),
            tuple((one, h.only(some)) for one, h in self.sensitive),
            None if self.members is None else self.members.only(some),
        )

    def enough(self) -> np.ndarray:
        """Tell which classes have k records and persons, l values, members: what one keeps that takes in any other."""
        found = self.sizes >= self.k
        if self.members is not None:
            found = found & self.members.enough()
        if self.persons is not None:
            found = found & (distinct(self.persons) >= self.k)
        for one, h in self.sensitive:
            if one.l > 1:
                found = found & (distinct(h) >= one.l)
        return found

    def kept(self) -> np.ndarray:
        """Tell which classes keep all that is asked; one without records does not."""
        import numpy as np

        if not self.sizes.all():
            some = self.sizes > 0
            whole = np.zeros(len(some), dtype=bool)
            whole[some] = self.only(some).kept()
            return whole
        found = self.enough()
        if self.members is not None:
            found = found & self.members.kept(self.sizes)
        for one, h in self.sensitive:
            found = found & kept(one, h)
        return found

    def missed(self) -> np.ndarray:
        """Return what every class misses of all that is asked, in records; 0 where it keeps it."""
        import numpy as np

        found: np.ndarray = np.maximum(self.k - self.sizes, 0.0)
        if self.persons is not None:
            found += np.maximum(self.k - distinct(self.persons), 0.0)
        if self.members is not None:
            found += self.members.missed(self.sizes)
        for one, h in self.sensitive:
            found += missed(one, h)
        return found

    @property
    def only_enough(self) -> bool:
        """Whether nothing is asked but what a class keeps that takes in any other."""
        if self.members is not None and self.members.share < float("inf"):
            return False
        return not any(
            one.entropy_l > 1 or one.recursive_l or one.t < 1 or one.alpha < 1 or one.beta < float("inf")
            for one, _ in self.sensitive
        )
