"""Seats: a series of releases of one table that stays k-anonymous as a whole, night after night.

A night publishes rows, k or more of each class, with one representative each; the rows have no key. A row is a
*seat*.

1. A class opens with at least k *founders* at once. Its representative is the mean of the founders and never changes.
2. Its rows never change in number, nor do their sensitive values. They are all closed on the same night.
3. Who leaves leaves an empty seat, which is published as before. Somebody near, with the same sensitive values, may
   take it. Nothing that is published tells so.
4. Who comes waits, withheld, for a near seat or for k - 1 near ones who wait too. After `patience` days, or where more
   than the share `waiting` of all persons wait, the nearest k - 1 will do. A seat is near where it is better than the
   class that the newcomer could found.
5. At most k // 2 founders of a class have founded another one before, at any time and with any values. Who has
   founded before, or just arrives at the right time, may sit beside the founders of a class that opens; no mean knows
   of it.
6. Without `moves` a person has one class for life, whatever becomes of her values, and may only come back to it. With
   `moves`, who is too far from the representative loses the seat and waits, and the emptiest classes are closed where
   more than the share `empty` of all seats is empty. Too far is a squared distance over `stay` times the reach (the
   median mean squared distance of the first classes), and over n - 1 times that of a class of n rows. No founder is
   ever as far as that from a mean, so no value has to be remembered to see who has changed.

**Theorem.** For an observer who has all releases of one series and epoch:

(a) *Rows.* Every published row has at all times k - 1 others with its values and the same first and last night.

    Proof: by 1 and 2. The releases are a function of the openings and closings of classes alone. (Where two classes
    have the same values, an outsider sees the sum of their rows; `counts` keeps that from changing by less than k.)

(b) *Totals.* Every linear combination of published means or totals that is not zero for all values, per column, over
    all releases, involves the values of at least k persons.

    Proof: of the founders of a class count those who have a value in the column; if they are fewer than k, no mean of
    it is published. All that is published are combinations of the means of classes. Take the classes C_1, …, C_g with
    a coefficient other than 0, in the order of their opening, and m = k // 2. C_1 has at least k founders; of the
    others each has at least k - m who found for the first time. So at least k + (g - 1)(k - m) persons have founded
    one of these classes, and at most (g - 1) m times has somebody founded one who had founded one before. At least k
    + (g - 1)(k - 2m) ≥ k persons have founded just one of them. Their values have a coefficient other than 0, since
    nothing else cancels it.

(c) *Persons*, without `moves` only. All classes that a person was ever published in have at least k rows in common.

    Proof: by 6 it is one class, and by 2 it has the same rows as long as it is there.

Where records have persons (n,), a person may have many records, which is a row each. A class opens with one record each
of k persons, and counts in rule 5 are of persons: of these at most k // 2 have founded another class with any record.
Her other records sit beside founders or take empty seats. So (a) says that a class had k persons when it opened, (b)
is about k persons, by the same proof, and (c) says of a record that it has one class for life, which opened with k
persons. A record that founded a class stays that of the person whose it was then, whoever it is given to later. Where a
representative is true of all in its class and no mean, (b) is not said, and founders may have founded before
(`Rules.again`).

Where households are counted, all of this holds of them in place of persons. What a unit is may change: a record is
given to another person, a household splits or gets another number. So whoever has a record that was of somebody who
had founded counts as one who has founded, until the record has left; else the same people would found twice.

With sensitive values every class opens with at least `distinct` of them and keeps each of its seats with its value,
so that the values a person may have do not become fewer: m-invariance (Xiao & Tao 2007), where empty seats are what
they call counterfeits. Nobody moves then, since a class with the same set of values would have to be found.

**Not promised.** k *living* companions: who knows which persons have left knows which seats may be empty. Anything
against who knows the values of k - 1 founders of a class. Anything across two epochs or two series, or beside a
single release of the same persons. (b) where the representative is no mean: a mode, a medoid. (c) for persons who
move. What the choice of who shares a class tells; or the numbers of withheld persons and of empty seats, where a
report shows them. That a person is published by a certain night: while fewer than k wait in a stratum, or fewer than
`distinct` values, or too few who have never founded a class, they wait; who has lost her class waits for ever.

Source: the seats are ours; counterfeits and invariant classes are those of Xiao & Tao (2007), m-invariance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.history.seat_memory import WAITS, Memory, Night, Rules, nothing
from sqlmicro.history.tonight import Tonight

if TYPE_CHECKING:
    import numpy as np

__all__ = ["WAITS", "Memory", "Night", "Rules", "begin", "erase", "go_on"]


def begin(
    who: np.ndarray,
    X: np.ndarray,
    labels: np.ndarray,
    day: int,
    rules: Rules,
    strata: np.ndarray | None = None,
    sensitive: np.ndarray | None = None,
    person: np.ndarray | None = None,
) -> tuple[Memory, Night]:
    """Open the first classes of a series from groups of any method; a label of -1 waits."""

    return opened(Tonight(nothing(X.shape[1]), who, X, day, rules, strata, sensitive, person=person), labels)


def opened(tonight: Tonight, labels: np.ndarray) -> tuple[Memory, Night]:
    """Open the first classes of a night, of whatever kind it is."""
    tonight.open_groups(labels)
    tonight.settle()
    return tonight.remembered(), tonight.night()


def go_on(
    memory: Memory,
    who: np.ndarray,
    X: np.ndarray,
    day: int,
    rules: Rules,
    strata: np.ndarray | None = None,
    sensitive: np.ndarray | None = None,
    taken: np.ndarray | None = None,
    person: np.ndarray | None = None,
) -> tuple[Memory, Night]:
    """Continue a series with the records of a night; the memory given is not changed.

    Who has a seat and stays as she was need be neither in the memory nor among the records, where nobody moves and
    nothing is sensitive: nothing but her seat counts. Of each class so many seats are `taken` (G,). The same night
    again, or a night without news on the same day, changes nothing.
    """
    _check(memory, X, day, rules, sensitive)
    return continued(Tonight(memory, who, X, day, rules, strata, sensitive, taken, person), memory.day)


def continued(tonight: Tonight, last: int) -> tuple[Memory, Night]:
    """Continue with a night, of whatever kind it is, after that of the day `last`."""
    tonight.keep_seats()
    if tonight.day > last or tonight.brings_news():
        tonight.settle()
    return tonight.remembered(), tonight.night()


def erase(memory: Memory, who: np.ndarray) -> Memory:
    """Forget persons altogether; their seats are empty ones.

    That they have founded a class is forgotten too. Should one of them come back, the theorem takes her for somebody
    else. The means of their classes stay, as in the releases that are out. Where a person has more records that are not
    erased, `written.erase` leaves a record of nobody.
    """
    import numpy as np

    left = ~np.isin(memory.who, who)
    names = ("who", "seat", "here", "since", "founded", "person")
    return replace(memory, **{name: getattr(memory, name)[left] for name in names})


def _check(memory: Memory, X: np.ndarray, day: int, rules: Rules, sensitive: np.ndarray | None) -> None:
    import numpy as np

    again = "Start a new epoch"
    if day < memory.day:
        raise InputError(
            "series", "nights are published in their order", f"a night {memory.day - day} days before the last one"
        )
    if X.shape[1] != memory.centre.shape[1]:
        raise InputError("series", "the columns stay the same", f"{X.shape[1]} after {memory.centre.shape[1]}", again)
    rows = memory.rows[memory.closed < 0]
    if not len(rows):
        return
    if rows.min() < rules.k:
        raise InputError("series", f"k stays at most {rows.min()}, the rows of the smallest class", f"{rules.k}", again)
    if (sensitive is None) != (len(memory.values) == 0):
        raise InputError("series", "the same columns stay sensitive", "others", again)
    values = np.unique(memory.values[:, 0], return_counts=True)[1]
    if sensitive is not None and values.min() < rules.distinct:
        most = f"the classes keep the {values.min()} sensitive values that they opened with"
        raise InputError("series", most, f"{rules.distinct} to be kept", again)
