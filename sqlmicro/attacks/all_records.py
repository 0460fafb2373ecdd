"""All records of a person together: a release that tells which of its records belong together is linked by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import LINKED, AttackedRelease
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Detail, Measured, attack
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

_MOST_RECORDS = 100
"""So many records of a person are compared at most."""
_MOST_WORK = 3_000_000_000
"""Values compared: beyond that fewer persons are tried, spread evenly over all."""
_FEWEST = 200


@dataclass(frozen=True)
class Together(Detail):
    """What the persons were found by."""

    records_of_a_person: float
    """How many are known, on average."""
    candidates: float
    """How many persons of the release are equally near, on average."""


@attack(
    "all-records",
    needs=("columns", "told"),
    source="Narayanan & Shmatikov (2008); de Montjoye, Hidalgo, Verleysen & Blondel (2013)",
    templates=LINKED,
)
def all_records(knowledge: Knowledge) -> Measured:
    """Take the person of the release whose records together are nearest to all that is known of a person.

    The release tells which of its records belong together, by a pseudonym for example.

    Returns
    -------
    Measured
        The rate is the mean of 1/ties over the persons tried, 0 where the true one is not among the nearest; without
        --match she is assumed to be. Chance is 1/m for m persons in the release. `candidates` is the mean of ties, and
        `records_of_a_person` how many records are known of one.

    Notes
    -----
    The distance of two persons is the sum over the records of one of the squared distance to the nearest record of the
    other, in both directions. Up to 100 records of a person are compared. A k of persons over single records bounds no
    such attack: k persons share each record, but few share all of them. The defence is to release fewer columns, fewer
    records of a person, or no pseudonym. O(n m p) for n records tried and m distinct released ones; where that is too
    much, fewer persons are tried.
    """
    import numpy as np

    attacked = knowledge.first
    kernels = late("sqlmicro.attacks._linkage_kernels")
    assert attacked.persons is not None
    assert attacked.persons.told is not None
    features, told = attacked.features, attacked.persons.told
    points, _, which = kernels.distinct(features.Y)
    candidates = kernels.listed(told, which, int(told.max()) + 1)
    rows, begin = _known(attacked, len(points) * features.Y.shape[1] + len(candidates.who))
    X, n = np.ascontiguousarray(features.X[rows]), len(begin) - 1
    target = np.repeat(np.arange(n), np.diff(begin))
    truth = attacked.truth
    right = kernels.listed(target, np.zeros(len(rows), np.int64) if truth is None else told[truth[rows]], n)
    ties, hits = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    gaps = np.empty((int(np.diff(begin).max()), len(points)))
    marked = np.full(len(candidates.begin) - 1, -1)
    with attacked.warehouse.progress.kernel("persons by all their records", n) as progress:
        person = 0
        while person < n:
            person = kernels.persons_by_all(
                points, X, begin, candidates, right, features.weight, features.kind, person, gaps, marked, ties, hits
            )
            progress.tick(person, n)
    share = (1 if truth is None else hits) / ties
    found = Together(float(np.diff(begin).mean()), float(ties.mean()))
    return Measured(float(share.mean()), 1 / len(np.unique(told)), n, found, "persons")


def _known(attacked: AttackedRelease, work: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the records that are known of the persons tried, person after person, and where those of each begin.

    `work` is that of one record.
    """
    import numpy as np

    assert attacked.persons is not None
    who = attacked.persons.original[attacked.tried]
    order = np.argsort(who, kind="stable")
    begin = np.append(np.flatnonzero(np.diff(who[order], prepend=-1)), len(order))
    stop = np.minimum(begin[1:], begin[:-1] + _MOST_RECORDS)
    n = len(stop)
    each = work * float((stop - begin[:-1]).mean())
    most = max(_FEWEST, int(_MOST_WORK / each))
    chosen = np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).astype(np.int64))
    rows = np.concatenate([order[begin[i] : stop[i]] for i in chosen])
    sizes = (stop - begin[:-1])[chosen]
    return attacked.tried[rows], np.append(0, np.cumsum(sizes))
