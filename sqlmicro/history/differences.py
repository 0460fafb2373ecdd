"""What totals of two releases differ by: whoever is in one and not in the other, where these are few, is told by it.

A total, count or mean of one release less one of the other is about some persons; the values of all others cancel. Let
every class count with a weight. The difference is then about those for whom the weights of their classes do not add up
to 0: of a *cell*, the persons who share their classes in both releases, these are all or none.

Theorem. Where every cell has k persons, and nobody's values have changed, every difference of totals, weighted in any
way, is about k persons or none. It holds for any number of releases, and where a person has one record. Of persons with
several, it is not known which record of one release is which of the other: a difference may be about one person of a
cell.

Of a person whose values have changed a total of one release takes nothing from that of the other: whatever she is in is
about her. So who has changed is a cell apart from the others of her classes. Two things are left out. Where her class
publishes in both releases the same, nothing new is told. Where the releases average other columns nobody can tell, and
everybody would have changed; so what is found with the changes counts, and what is found without them.

What union k keeps, differences keep, as long as nobody changes. Where it fails, they say how much worse it is. Classes
are the places of a graph, a cell leads from its class in one release to that in the other, persons who came or left
lead to a place of their own that is in no total, and who has changed leads to all three. A set of classes is a
difference, and it is about the cells that lead out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.database.templates import Select

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.warehouse import Database


_SEVERAL = "SELECT count(*) > count(DISTINCT (release, who)) FROM {{ members | ident }}"
"""Whether somebody is in several classes of a release: a person with several records, or where candidates are kept."""


@dataclass(frozen=True)
class Differences:
    """How few persons the differences of totals of two releases are about."""

    fewest: int
    """The fewest persons that one was found to be about, single classes included."""
    isolating: int
    """Those about fewer than k persons."""
    persons: int
    """The persons these are about."""


def measured(warehouse: Database, members: Select, k: int) -> Differences:
    """Return how few persons differences of totals of a release and another one are about.

    Parameters
    ----------
    warehouse : Database
        Where the members are.
    members : Select
        release, who and class; the release is 0, the other one has any other number.
    k : int
        What is promised.

    Notes
    -----
    Classes that have a cell of k persons in common cannot be told apart by fewer, and are put together. The differences
    that are looked at are each class, each such set, and each set that is connected by anybody. There may be smaller
    ones where union k fails; where it holds there are none below k. O(n log n).
    """
    import numpy as np

    if warehouse.query("ledger", _SEVERAL, members=members)[0][0]:
        found = warehouse.arrays("history/cells_of_persons.sql", members=members)
        _, at = np.unique(found["cell"], return_index=True)
        persons, changed, own = found["persons"][at], found["changed"][at], found["release"] == 0
        told = [(found["cell"][side], found["class"][side]) for side in (own, ~own)]
    else:
        found = warehouse.arrays("history/cells_of_records.sql", members=members)
        persons, changed, cells = found["persons"], found["changed"], np.arange(len(found["persons"]))
        told = [(cells[found[side] >= 0], found[side][found[side] >= 0]) for side in ("class", "other")]
    cells, vertices = _graph(told, len(persons))
    alone = _fewest(cells, vertices, persons, k)
    if not changed.any():
        return alone
    of = np.flatnonzero(changed)
    others = _fewest(np.r_[cells, of], np.r_[vertices, np.zeros_like(of)], persons, k)
    return min(alone, others, key=lambda one: (one.fewest, -one.persons))


def _graph(told: Sequence[tuple[np.ndarray, np.ndarray]], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return cells and where they lead: the classes of both releases by number, 0 for cells that a release lacks."""
    import numpy as np

    cells, vertices, numbered = list[np.ndarray](), list[np.ndarray](), 1
    for of, classes in told:
        known, number = np.unique(classes, return_inverse=True)
        absent = np.flatnonzero(np.bincount(of, minlength=n) == 0)
        cells += [of, absent]
        vertices += [number + numbered, np.zeros(len(absent), dtype=np.int64)]
        numbered += len(known)
    return np.concatenate(cells), np.concatenate(vertices)


def _fewest(cells: np.ndarray, vertices: np.ndarray, persons: np.ndarray, k: int) -> Differences:
    """Return the fewest persons whose cells leave a set of classes, and what is below k."""
    import numpy as np

    classes = int(vertices.max(initial=0)) + 1
    many, there = persons[cells] >= k, vertices > 0
    merged = _together(cells[many], vertices[many], classes)
    connected = _together(cells[there], vertices[there], classes)
    fewest, isolating, about = int(persons.sum()), 0, np.zeros(len(persons), dtype=bool)
    for sets in (np.arange(classes), merged, connected):
        nowhere = sets[0]
        edges = np.unique(sets[vertices] * len(persons) + cells)
        of, cell = edges // len(persons), edges % len(persons)
        leaves = (np.bincount(cell, minlength=len(persons)) > 1)[cell] & (of != nowhere)
        sizes = np.bincount(of[leaves], weights=persons[cell[leaves]], minlength=classes)
        few = (sizes > 0) & (sizes < k)
        fewest = min(fewest, int(sizes[sizes > 0].min(initial=fewest)))
        isolating = max(isolating, int(few.sum()))
        about[cell[leaves & few[of]]] = True
    return Differences(fewest, isolating, int(persons[about].sum()))


def _together(cells: np.ndarray, vertices: np.ndarray, n: int) -> np.ndarray:
    """Return classes (n,) by the least of those that cells lead between."""
    import numpy as np

    label = np.arange(n)
    while True:
        least = np.full(int(cells.max(initial=-1)) + 1, n)
        np.minimum.at(least, cells, label[vertices])
        found = label.copy()
        np.minimum.at(found, label[vertices], least[cells])
        while (found[found] != found).any():
            found = found[found]
        if (found == label).all():
            return label
        label = found
