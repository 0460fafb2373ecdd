"""One night of a series of seats while it is made: see `seats`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlmicro.errors import InputError
from sqlmicro.history.seat_memory import WAITS, Memory, Night, Rules, carried
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np


FIRST_SHARE, LAST_SHARE = 0.1, 0.4
"""The share of the loss of a class of newcomers that one of them bears alone to have a seat: at first, in the end."""


class Tonight:
    """A night while it is made: persons sorted by `who`, seats of a kind (class and sensitive value).

    Neither they nor the memory need have those who stay as they are: of each class so many seats are `taken` (G,).
    """

    def __init__(
        self,
        memory: Memory,
        who: np.ndarray,
        X: np.ndarray,
        day: int,
        rules: Rules,
        strata: np.ndarray | None,
        sensitive: np.ndarray | None,
        taken: np.ndarray | None = None,
        person: np.ndarray | None = None,
    ) -> None:
        import numpy as np

        self.memory, self.day, self.rules = memory, day, rules
        self.is_sensitive = sensitive is not None
        self.moves = rules.moves and not self.is_sensitive
        self.distinct = rules.distinct if self.is_sensitive else 1
        self.size = max(rules.k, self.distinct)
        who = np.asarray(who, np.int64)
        self.order = np.argsort(who, kind="stable")
        self.who = who[self.order]
        if (self.who[1:] == self.who[:-1]).any():
            raise InputError("series", "the row key names a row", "the same key several times")
        self.X = np.asarray(X, np.float64)[self.order]
        if not np.isfinite(self.X).all():
            raise InputError("series", "features are finite numbers", "others")
        none = np.zeros(len(who), np.int64)
        self.strata = none if strata is None else np.asarray(strata, np.int64)[self.order]
        self.sensitive = none if sensitive is None else np.asarray(sensitive, np.int64)[self.order]
        self.person = np.zeros(len(who), np.int64) if person is None else np.asarray(person, np.int64)[self.order]
        self.several = person is not None
        at, known = _find(memory.who, self.who)
        self.seat = np.full(len(who), WAITS, np.int32)
        self.seat[known] = memory.seat[at]
        self.here, self.founded, self.founding = np.zeros((3, len(who)), bool)
        self.here[known], self.founded[known] = memory.here[at], memory.founded[at]
        self.spent = self.founded.copy()
        self.whose = self.person
        if self.several:
            # A record may be given to somebody else, or its household may split: of a record of somebody who founded a
            # class it stays remembered whose it was, and whose it is now counts as one who has founded, too.
            was, now, founders = memory.person[at], self.person[known], memory.person[memory.founded]
            stays = np.isin(was, founders)
            self.spent = np.isin(self.person, np.r_[founders, now[stays]])
            self.whose = self.person.copy()
            self.whose[known] = np.where(stays, was, now)
            self.person[known] = np.where(self.founded[known], was, now)
        self.since = np.full(len(who), day, np.int32)
        self.since[known] = np.where(memory.here[at], memory.since[at], day)
        self.centre, self.rows, self.radius = memory.centre, memory.rows.copy(), memory.radius
        self.stratum, self.opened, self.closed = memory.stratum, memory.opened, memory.closed.copy()
        self.reach, self.before = memory.reach, len(memory.rows)
        self.kinds = memory.values
        if not self.is_sensitive:
            open_ = np.flatnonzero(self.rows)
            self.kinds = np.stack([open_, np.zeros_like(open_), self.rows[open_]], 1).astype(np.int64)
        self.taken = np.zeros(len(self.rows), np.int64) if taken is None else taken
        self.free = self.kinds[:, 2] - self.taken[self.kinds[:, 0]]

    def open_groups(self, labels: np.ndarray) -> None:
        """Open the groups that may be classes; the others wait."""
        import numpy as np

        labels = np.asarray(labels, np.int64)[self.order]
        _, first, group, rows = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
        mixed = np.bincount(group, self.strata != self.strata[first][group]) > 0
        values = np.bincount(np.unique(np.stack([group, ranked((self.sensitive,))[0]], 1), axis=0)[:, 0])
        good = (labels[first] >= 0) & (rows >= self.rules.k) & ~mixed & (values >= self.distinct)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(np.where(good, first, len(labels)), kind="stable")] = np.arange(len(first))
        members = np.flatnonzero(good[group])
        members = members[np.argsort(rank[group[members]], kind="stable")]
        if self.several:
            self.open_with_persons(members, rank[group[members]])
        else:
            self.open(members, rank[group[members]])
        self.find_reach()

    def open_with_persons(self, members: np.ndarray, group: np.ndarray) -> None:
        """Open groups (ascending) with one record each of k persons, the nearest to the mean; the others sit beside."""
        import numpy as np

        choose_founders = late("sqlmicro.history._seat_kernels", "choose_founders")

        if not len(members):
            return
        first = np.flatnonzero(np.diff(group, prepend=-1, append=group[-1] + 1))
        mean = np.add.reduceat(self.X[members], first[:-1], axis=0) / np.diff(first)[:, None]
        near = np.lexsort((((self.X[members] - mean[group]) ** 2).sum(1), group))
        one, person = np.unique(self.person, return_inverse=True)
        spent = np.zeros(len(one), bool)
        spent[person[self.spent]] = True
        chosen = choose_founders(first, members[near], person, spent, self.rules.k, self.rules.repeated)
        opens, at = np.unique(group[chosen], return_inverse=True)
        self.open(members[near][chosen], at)
        beside = np.isin(group, opens) & ~self.founding[members[near]]
        self.seat[members[near][beside]] = self.before + np.searchsorted(opens, group[beside])

    def keep_seats(self) -> None:
        """Leave the seats of who has left or changed; let who comes back have a seat of her class again."""
        import numpy as np

        sat = self.here & (self.seat >= 0)
        own = np.where(self.seat >= 0, self.seat, -2 - self.seat)
        kind = self.kind_of(own)
        if self.moves and len(self.rows):
            c = np.maximum(own, 0)
            stays = ((self.X - self.centre[c]) ** 2).sum(1) <= self.bound()[c]
            kind[~stays | (self.strata != self.stratum[c]) | (self.seat < 0)] = -1
        claims = np.bincount(kind[kind >= 0], minlength=len(self.kinds))
        among = np.flatnonzero(kind >= 0)
        among = among[(claims > self.free)[kind[among]]]
        among = among[np.lexsort((among, ~sat[among], kind[among]))]
        late_ = np.arange(len(among)) - np.searchsorted(kind[among], kind[among]) >= self.free[kind[among]]
        kind[among[late_]] = -1
        self.seat = np.where(kind >= 0, own, WAITS if self.moves else np.minimum(-2 - own, WAITS)).astype(np.int32)
        self.since[(kind < 0) & sat] = self.day
        self.free -= np.bincount(kind[kind >= 0], minlength=len(self.kinds))

    def brings_news(self) -> bool:
        """Tell whether somebody came, left or lost a seat since the last night."""
        before = self.memory.here
        seated = int((self.memory.seat[before] >= 0).sum())
        return not self.here.all() or int(before.sum()) != len(self.who) or int((self.seat >= 0).sum()) != seated

    def kind_of(self, own: np.ndarray) -> np.ndarray:
        """Return the kind of seat that persons of some class could have there, -1 where there is none."""
        import numpy as np

        kind = np.full(len(own), -1)
        inside = np.flatnonzero(own >= 0)
        if self.is_sensitive:
            seats, persons = ranked((self.kinds[:, 0], self.kinds[:, 1]), (own[inside], self.sensitive[inside]))
            at, known = _find(seats, persons)
            kind[inside[known]] = at
        else:
            place = np.full(len(self.rows), -1)
            place[self.kinds[:, 0]] = np.arange(len(self.kinds))
            kind[inside] = place[own[inside]]
        return kind

    def bound(self) -> np.ndarray:
        """Return the squared distance from every centre (G,) beyond which nobody sits; no founder ever is."""
        import numpy as np

        of_founders = np.maximum(self.rows - 1, 1) * self.radius * (1 + 1e-9)
        bound: np.ndarray = np.maximum(self.rules.stay * self.reach, of_founders)
        return bound

    def settle(self) -> None:
        """Close, refill and open classes."""
        import numpy as np

        self.close()
        self.look_around()
        self.refill()
        self.open_near()
        self.find_reach()
        first = self.several and not self.before  # most records are of persons who found a class with another one
        self.alone[first | (self.day - self.since >= self.rules.patience)] = np.nan
        self.refill()
        self.ride()
        seated = np.flatnonzero(self.seat >= self.before)
        self.rows[self.before :] = np.bincount(self.seat[seated] - self.before, minlength=len(self.rows) - self.before)
        rank = ranked((self.seat[seated], self.sensitive[seated]))[0]
        _, one, seats = np.unique(rank, return_index=True, return_counts=True)
        new = np.column_stack([self.seat[seated[one]], self.sensitive[seated[one]], seats])
        self.kinds = np.concatenate([self.kinds, new.astype(np.int64)])
        self.free = np.concatenate([self.free, np.zeros(len(new), np.int64)])

    def find_reach(self) -> None:
        """Take the measure of near and far from the first classes there are."""
        import numpy as np

        if self.reach == np.inf and len(self.radius):
            self.reach = float(np.median(self.radius)) or float(self.radius.mean())

    def waiting(self) -> np.ndarray:
        """Return who may sit anywhere."""
        import numpy as np

        return np.flatnonzero(self.seat == WAITS)

    def newcomers(self) -> np.ndarray:
        """Return who of these may found a class."""
        return self.waiting()

    def limit(self, pool: np.ndarray) -> np.ndarray:
        """Return how wide a class they enter may be."""
        import numpy as np

        wait = self.day - self.since[pool]
        if self.reach == np.inf:
            return np.full(len(pool), np.inf)
        wide = self.rules.near * self.reach * (1 + wait / max(self.rules.patience, 1))
        return np.where(wait >= self.rules.patience, np.inf, wide)

    def close(self) -> None:
        """Close wholly empty classes and, where persons move, the emptiest ones."""
        import numpy as np

        free = np.bincount(self.kinds[:, 0], self.free, minlength=len(self.rows))
        shut = (self.rows > 0) & (free == self.rows)
        excess = np.where(shut, 0, free - self.rules.empty * self.rows)
        if self.moves and excess.sum() > 0:
            order = np.argsort(-free / np.maximum(self.rows, 1) * ~shut, kind="stable")
            shut[order[: np.searchsorted(np.cumsum(excess[order]), excess.sum()) + 1]] = True
            shut &= self.rows > 0
        lost = np.flatnonzero(self.seat >= 0)
        lost = lost[shut[self.seat[lost]]]
        self.seat[lost], self.since[lost] = WAITS, self.day
        self.rows[shut], self.closed[shut] = 0, self.day
        self.free[shut[self.kinds[:, 0]]] = 0

    def refill(self) -> None:
        """Let who waits take an empty seat near her."""
        import numpy as np

        pool, kinds = self.waiting(), np.flatnonzero(self.free > 0)
        c = self.kinds[kinds, 0]
        blocks = ranked((self.strata[pool], self.sensitive[pool]), (self.stratum[c], self.kinds[kinds, 1]))
        taken = self.take_seats(pool, c, self.free[kinds], blocks)
        np.subtract.at(self.free, kinds[taken], 1)

    def ride(self) -> None:
        """Let who waits sit beside the founders of a near class of tonight."""
        import numpy as np

        new, pool = np.arange(self.before, len(self.rows)), self.waiting()
        blocks = ranked((self.strata[pool],), (self.stratum[new],))
        self.take_seats(pool, new, np.full(len(new), len(pool)), blocks)

    def take_seats(self, pool: np.ndarray, c: np.ndarray, free: np.ndarray, blocks: list[np.ndarray]) -> np.ndarray:
        """Let who waits take a free seat near her in classes c; return which were taken."""
        import numpy as np

        seat_all = late("sqlmicro.history._seat_kernels", "seat_all")

        if not len(pool) or not len(c):
            return np.empty(0, np.int64)
        (points, seats), most = _apart((self.X[pool], self.centre[c]), blocks)
        farthest = np.minimum(self.bound()[c], most) if self.moves else np.full(len(c), most)
        taken: np.ndarray = seat_all(points, self.worth(pool), seats, farthest, free)
        got = taken >= 0
        self.seat[pool[got]] = c[taken[got]]
        seats_got: np.ndarray = taken[got]
        return seats_got

    def look_around(self) -> None:
        """Find how wide a class is that each of those who wait could found."""
        import numpy as np

        radii = late("sqlmicro.history._seat_kernels", "radii")

        pool = self.newcomers()
        self.alone = np.full(len(self.who), np.nan)
        if len(pool):
            self.alone[pool] = radii(self.founders_among(pool))

    def worth(self, pool: np.ndarray) -> np.ndarray:
        """Return the squared distance up to which a seat is better than the class that a person could found."""
        import numpy as np

        share = np.where(self.day - self.since[pool] >= self.rules.patience, LAST_SHARE, FIRST_SHARE)
        loss = share * self.size * self.alone[pool]
        # She can found none, or is left over after patience has ended. Whose persons have founded, mostly never can.
        none = np.inf if self.several else self.rules.stay * self.reach
        enough = max(1.0, 0.8 * self.rules.empty * float(self.rows.sum()))
        pressing = max(1.0, float(self.free.sum()) / enough) ** 3  # where many seats are empty, farther ones are taken
        distance: np.ndarray = pressing * np.maximum(self.reach, np.where(np.isnan(loss), none, loss))
        return distance

    def open_near(self) -> None:
        """Open classes of near ones who wait; and of others, nearest first, where too many wait."""
        import numpy as np

        form = late("sqlmicro.history._seat_kernels", "form")

        may_wait = int(self.rules.waiting * (len(self.who) + int(self.taken.sum())))
        for limited in (True, False):
            pool = self.newcomers()
            most = (len(pool) - (0 if limited else may_wait)) // self.size
            if most > 0:
                limit = self.limit(pool) if limited else np.full(len(pool), np.inf)
                groups = np.sort(form(self.founders_among(pool), limit, most), axis=1)
                self.open(pool[groups].reshape(-1), np.repeat(np.arange(len(groups)), self.size))

    def founders_among(self, pool: np.ndarray) -> Any:
        """Return those who wait as the kernels take them."""
        gather = late("sqlmicro.history._seat_kernels", "gather")

        blocks = ranked((self.strata[pool],))
        (points,), _ = _apart((self.X[pool],), blocks)
        values = ranked((self.sensitive[pool],))[0]
        person = self.person[pool] if self.several else pool
        most = self.rules.repeated
        return gather(points, blocks[0], self.spent[pool], values, self.size, most, self.distinct, person)

    def open(self, members: np.ndarray, group: np.ndarray) -> None:
        """Open a class for each group of founders: group 0 first, in ascending order."""
        import numpy as np

        if not len(members):
            return
        first = np.flatnonzero(np.diff(group, prepend=-1))
        rows, X, c = np.bincount(group), self.X[members], len(self.rows) + group
        mean = np.add.reduceat(X, first, axis=0) / rows[:, None]
        apart = ((X - mean[group]) ** 2).sum(1)
        self.centre = np.concatenate([self.centre, mean])
        self.radius = np.concatenate([self.radius, np.add.reduceat(apart, first) / rows])
        self.stratum = np.concatenate([self.stratum, self.strata[members[first]]])
        self.rows = np.concatenate([self.rows, rows.astype(np.int32)])
        self.opened = np.concatenate([self.opened, np.full(len(rows), self.day, np.int32)])
        self.closed = np.concatenate([self.closed, np.full(len(rows), -1, np.int32)])
        self.seat[members], self.founded[members], self.founding[members] = c, True, True
        self.whose[members] = self.person[members]
        self.spent |= np.isin(self.person, self.person[members]) if self.several else self.founded

    def remembered(self) -> Memory:
        """Return what is remembered of all that happened."""
        import numpy as np

        who = carried(self.memory, self.who, self.seat, self.since, self.founded, self.whose)
        kept = self.kinds[self.rows[self.kinds[:, 0]] > 0] if self.is_sensitive else np.empty((0, 3), np.int64)
        return Memory(
            **who,
            centre=self.centre,
            rows=self.rows,
            radius=self.radius,
            stratum=self.stratum,
            opened=self.opened,
            closed=self.closed,
            values=kept,
            reach=self.reach,
            day=self.day,
        )

    def night(self) -> Night:
        """Return what is published."""
        import numpy as np

        labels, founders = np.empty(len(self.who), np.int32), np.empty(len(self.who), bool)
        labels[self.order], founders[self.order] = np.maximum(self.seat, -1), self.founding
        empty = np.column_stack([self.kinds[:, :2], self.free])[self.free > 0]
        return Night(labels, empty, np.arange(self.before, len(self.rows), dtype=np.int32), founders)


def _find(sorted_: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where those of the wanted that are there stand in ascending numbers, and which of the wanted they are."""
    import numpy as np

    at = np.searchsorted(sorted_, wanted)
    known = at < len(sorted_)
    known[known] = sorted_[at[known]] == wanted[known]
    return at[known], known


def ranked(*tables: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Number records of some tables by their columns, in ascending order; equal records have one number."""
    import numpy as np

    rank = np.zeros(sum(len(table[0]) for table in tables), np.int64)
    for column in zip(*tables, strict=True):
        _, one = np.unique(np.concatenate(column), return_inverse=True)
        _, rank = np.unique(rank * (one.max(initial=0) + 1) + one, return_inverse=True)
    return np.split(rank, np.cumsum([len(table[0]) for table in tables])[:-1])


def _apart(points: tuple[np.ndarray, ...], blocks: list[np.ndarray]) -> tuple[list[np.ndarray], float]:
    """Add a column that puts points of different blocks farther apart than any of one block, and say how far."""
    import numpy as np

    every = np.concatenate(points)
    most = float((np.ptp(every, axis=0) ** 2).sum()) if len(every) else 0.0
    step = 2 * np.sqrt(most) + 1
    return [np.column_stack([x, block * step]) for x, block in zip(points, blocks, strict=True)], most + 0.5
