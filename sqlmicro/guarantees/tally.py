"""Classes by what is asked of them: which keep it, and what the others miss, measured as the audits measure it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.guarantees.histogram import Histogram
from sqlmicro.guarantees.members import Members
from sqlmicro.guarantees.rules import Rules, Sensitive

if TYPE_CHECKING:
    import numpy as np


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
            found = found & (self.persons.distinct >= self.k)
        for of, h in self.sensitive:
            for one in of.binding:
                found = found & one.kept(of, h) if one.grows else found
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
            found = found & self.members.kept(self.present)
        for one, h in self.sensitive:
            found = found & one.kept(h)
        return found

    def missed(self) -> np.ndarray:
        """Return what every class misses of all that is asked, in records; 0 where it keeps it."""
        import numpy as np

        found: np.ndarray = np.maximum(self.k - self.sizes, 0.0)
        if self.persons is not None:
            found += np.maximum(self.k - self.persons.distinct, 0.0)
        if self.members is not None:
            found += self.members.missed(self.present)
        for one, h in self.sensitive:
            found += one.missed(h)
        return found

    @property
    def present(self) -> np.ndarray:
        """How many members of the population each class has: records, or persons where it counts these.

        Persons of a union are at most those of its parts, so that a share that these keep is kept by it.
        """
        return self.sizes if self.persons is None else self.persons.distinct

    @property
    def only_enough(self) -> bool:
        """Whether nothing is asked but what a class keeps that takes in any other."""
        if self.members is not None and self.members.share < float("inf"):
            return False
        return all(one.grows for of, _ in self.sensitive for one in of.binding)
