"""Groups that a search starts from: MDAV of persons is that of a plain one, and every group is of k persons."""

import numpy as np
import pytest
from naive_rules import groups_of

from sqlmicro.errors import InputError
from sqlmicro.group.guaranteed import keep
from sqlmicro.group.starts import persons_can_be_first, persons_first
from sqlmicro.guarantees.rules import Rules
from sqlmicro.registry import silent


def plain(X, persons, k):
    """Return the groups of MDAV in which the nearest records are taken until they are of k persons."""
    left, groups, last = list(range(len(X))), [], None
    while len(set(persons[left])) >= k:
        centre = X[left].mean(axis=0) if len(groups) % 2 == 0 else X[last]
        last = left[((X[left] - centre) ** 2).sum(axis=1).argmax()]
        taken, seen = [], set()
        for i in np.argsort(((X[left] - X[last]) ** 2).sum(axis=1), kind="stable"):
            taken.append(left[i])
            seen.add(persons[left[i]])
            if len(seen) == k:
                break
        groups.append(taken)
        left = [i for i in left if i not in set(taken)]
    means = np.array([X[group].mean(axis=0) for group in groups])
    for i in left:
        groups[((means - X[i]) ** 2).sum(axis=1).argmin()].append(i)
    return groups


@pytest.mark.parametrize("records, people, k", [(40, 12, 3), (300, 90, 4), (600, 300, 5), (200, 4, 4), (60, 60, 2)])
def test_groups_are_those_of_a_plain_algorithm(records, people, k):
    rng = np.random.default_rng(records)
    X = rng.normal(size=(records, 3))
    persons = np.concatenate([np.arange(people), rng.integers(0, people, records - people)])
    labels = persons_first(X.copy(), persons, k, lambda: None)
    assert [sorted(rows) for _, rows in sorted(groups_of(labels).items())] == [
        sorted(group) for group in plain(X, persons, k)
    ]


def test_a_person_with_most_of_the_records_is_one_person():
    X = np.repeat(np.arange(20.0), [481, *[1] * 19])[:, None] / 100
    persons = np.repeat(np.arange(20), [481, *[1] * 19])
    groups = groups_of(persons_first(X, persons, 4, lambda: None))
    assert min(len(set(persons[list(rows)])) for rows in groups.values()) >= 4


def test_records_without_columns_or_with_too_many_start_elsewhere():
    assert not persons_can_be_first(np.zeros((30, 0)))
    assert persons_can_be_first(np.zeros((30, 4)))
    assert not persons_can_be_first(np.zeros((1000, 200)))


def test_no_record_could_move_to_the_group_of_a_near_one_for_less():
    """The descent ends where no record can leave its group for another, or be exchanged, and less is lost."""
    rng = np.random.default_rng(1)
    persons = np.repeat(np.arange(60), 4)
    X = rng.normal(size=(60, 2))[persons] + 0.3 * rng.normal(size=(240, 2))
    labels = keep(X, np.zeros(240, dtype=int) + np.arange(240) // 5, Rules(5, persons), rng, silent)
    assert min(len(set(persons[list(rows)])) for rows in groups_of(labels).values()) >= 5
    before = loss(X, labels)
    near = ((X[:, None] - X[None]) ** 2).sum(axis=2).argsort(axis=1)[:, 1:7]
    for i in range(0, 240, 12):
        for other in set(labels[near[i]].tolist()) - {int(labels[i])}:
            for j in (None, *np.flatnonzero(labels == other)):
                moved = labels.copy()
                moved[i] = other
                if j is not None:
                    moved[j] = labels[i]
                of = [len(set(persons[moved == group].tolist())) for group in (labels[i], other)]
                assert min(of) < 5 or loss(X, moved) > before - 1e-9


def loss(X, labels):
    return sum(((X[labels == group] - X[labels == group].mean(axis=0)) ** 2).sum() for group in np.unique(labels))


def test_too_few_persons_are_refused():
    with pytest.raises(InputError, match="person"):
        keep(
            np.arange(20.0)[:, None], np.arange(20) // 5, Rules(5, np.arange(20) % 4), np.random.default_rng(0), silent
        )
