"""Seats in a table that is changed in place: rows come of age night after night, and keep their key.

A row has a seat as soon as it holds the values of a class. The rows of the table are the seats, so there are no empty
ones, and whoever has two copies of the table sees which row took which values when. Rule 3 of `seats` is another one:

    A class gets rows in the night in which it opens, and never again: no empty seat is taken, since the table would
    show who took it. A class that others delete or overwrite so many rows of that fewer than k are left, or fewer than
    `distinct` sensitive values, is given up: what is left of it takes the values of the nearest class, and is emptied
    where there is none.

    Where the job says so, who has waited `joins` the nearest class: the table shows who that is.

    Who had a seat, and holds other values since somebody wrote them, takes the values of her class again once she has
    come of age. If that was given up, she may sit beside the founders of a class that opens. She founds none: she may
    still hold values of her class, which are of its founders. So may a new row that holds all of them, as a copy does.

**Theorem.** For whoever has all copies of the table, and did not see the rows before they came of age:

(a) *Rows.* With every row that took the values of a class for the first time, k - 1 others or more took them in the
    same night; but for what was left of a class that was given up, in which k rows were, and for who `joins` another
    one after waiting. Every class has k rows or more after every night.

(b) *Totals.* Every linear combination of means that is not zero for all values, per column, involves k persons or more.

    Proof: a record founds one class at most, so the founders of classes are k or more others in each; of persons (b) is
    that of `seats`. Who holds values of a class founds none, so that every value of a founder is her own.

(c) *Persons.* A row has one class, until that is given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.history.seat_memory import WAITS, Memory, Rules
from sqlmicro.history.tonight import Tonight, ranked

if TYPE_CHECKING:
    import numpy as np


class TonightInPlace(Tonight):
    """A night while it is made in a table that is changed in place.

    Who has lost a seat in class c has -2 - c; `bars` (n,) are others who found no class, as they hold values of one.
    """

    def __init__(
        self,
        memory: Memory,
        who: np.ndarray,
        X: np.ndarray,
        day: int,
        rules: Rules,
        strata: np.ndarray | None = None,
        sensitive: np.ndarray | None = None,
        person: np.ndarray | None = None,
        bars: np.ndarray | None = None,
        *,
        joins: bool = False,
    ) -> None:
        import numpy as np

        super().__init__(memory, who, X, day, rules, strata, sensitive, person=person)
        self.lost = self.seat < WAITS
        self.own = np.where(self.lost, -2 - self.seat, self.seat)
        self.seat[self.lost] = WAITS
        self.left = np.zeros(len(self.who), bool)
        """Who sat in a class that is given up tonight."""
        self.takes = np.zeros(self.before, bool)
        """Which classes of earlier nights may take them."""
        self.joins, self.anywhere = joins, False
        if bars is not None:
            self.lost |= bars[self.order]

    def keep_seats(self) -> None:
        """Let everybody stay but in the classes that are given up, and let who was overwritten have her class again."""
        import numpy as np

        self.free[:] = 0
        back = np.flatnonzero(self.lost & (self.own >= 0))
        back = back[self.strata[back] == self.stratum[self.own[back]]]
        self.seat[back] = self.own[back]
        sits = np.flatnonzero(self.seat >= 0)
        counted = np.unique(np.stack([self.seat[sits], self.whose[sits] if self.several else sits], 1), axis=0)
        live = np.bincount(counted[:, 0], minlength=self.before)
        kinds = np.unique(np.stack([self.seat[sits], ranked((self.sensitive[sits],))[0]], 1), axis=0)
        values = np.bincount(kinds[:, 0], minlength=self.before)
        self.takes = (live >= self.rules.k) & (values >= self.distinct)
        homeless = sits[~self.takes[self.seat[sits]]]
        self.left[homeless] = ~self.lost[homeless]  # of the others each holds values of her own
        self.lost[homeless] = True
        self.seat[homeless] = WAITS

    def newcomers(self) -> np.ndarray:
        """Return who may found a class: who has never had a seat."""
        pool = self.waiting()
        found: np.ndarray = pool[~self.lost[pool]]
        return found

    def worth(self, pool: np.ndarray) -> np.ndarray:
        """Return how far a seat may be; who founds none, and has waited, takes any."""
        import numpy as np

        due = self.lost[pool] & (self.day - self.since[pool] >= self.rules.patience)
        distance: np.ndarray = np.where(due | self.anywhere, np.inf, super().worth(pool))
        return distance

    def settle(self) -> None:
        """Open classes; what is left of others takes the values of the nearest, as who has waited and `joins`."""
        import numpy as np

        super().settle()
        due = self.day - self.since >= self.rules.patience
        pool = np.flatnonzero((self.left | (self.joins & due)) & (self.seat == WAITS))
        classes = np.flatnonzero(np.r_[self.takes, np.ones(len(self.rows) - self.before, bool)])
        self.anywhere = True
        blocks = ranked((self.strata[pool],), (self.stratum[classes],))
        self.take_seats(pool, classes, np.full(len(classes), len(pool)), blocks)

    def remembered(self) -> Memory:
        """Return what is remembered: also who has lost a seat, and waits."""
        import numpy as np

        waits = self.lost & (self.seat == WAITS) & (self.own >= 0)
        self.seat = np.where(waits, -2 - self.own, self.seat).astype(np.int32)
        return super().remembered()
