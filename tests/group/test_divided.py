"""Groups inside the classes of a level above, and groups of units whose records keep what is asked, by definition."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_rules import limits_of

from sqlmicro.errors import InputError
from sqlmicro.group.divided import divided
from sqlmicro.group.united_units import united_units
from sqlmicro.guarantees.rules import Members, Rules, Sensitive
from sqlmicro.registry import silent


def diagnosis(codes: np.ndarray, l: int, t: float = np.inf) -> Sensitive:  # noqa: E741
    values = int(codes.max()) + 1
    return Sensitive(
        "diagnosis", codes, np.bincount(codes, minlength=values) / len(codes), ordered=False, limits=limits_of(l=l, t=t)
    )


@given(seed=st.integers(0, 2**32), k=st.integers(2, 4), least=st.integers(0, 3))
def test_every_group_keeps_the_rules_inside_its_class(seed: int, k: int, least: int) -> None:
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(4), rng.integers(6 * k, 9 * k, 4))
    classes = classes[rng.permutation(len(classes))]
    n = len(classes)
    X, person = rng.normal(size=(n, 2)), rng.integers(0, n // 3 + k, n)
    for one in range(4):  # every class has k persons and three diagnoses
        person[np.flatnonzero(classes == one)[:k]] = n + np.arange(k)
    codes = rng.integers(0, 3, n)
    for one in range(4):
        codes[np.flatnonzero(classes == one)[:3]] = np.arange(3)
    sensitive = (diagnosis(codes, least),) if least else ()
    persons = np.unique(person, return_inverse=True)[1]
    before = X.copy()
    labels = divided(X, classes, Rules(k, persons, sensitive), np.random.default_rng(0), silent)
    assert (before == X).all()
    assert set(labels.tolist()) == set(range(labels.max() + 1))
    members = defaultdict(list)
    for at, label in enumerate(labels.tolist()):
        members[label].append(at)
    for group in members.values():
        assert len({classes[at] for at in group}) == 1
        assert len({persons[at] for at in group}) >= k
        assert len({codes[at] for at in group}) >= least
    assert len(members) > 4 or k > 2  # classes of so many persons are divided


def test_a_class_that_does_not_keep_the_rules_is_refused() -> None:
    rules = Rules(3, np.array([0, 0, 0, 1, 2, 3]))
    with pytest.raises(InputError, match="every class of the level above"):
        divided(np.zeros((6, 1)), np.array([0, 0, 0, 1, 1, 1]), rules, np.random.default_rng(0), silent)


def test_one_class_of_alike_records_is_divided_among_persons() -> None:
    person = np.arange(12) // 2
    labels = divided(np.zeros((12, 1)), np.zeros(12, int), Rules(3, person), np.random.default_rng(0), silent)
    for label in set(labels.tolist()):
        assert len(set(person[labels == label].tolist())) >= 3


@given(seed=st.integers(0, 2**32), t=st.sampled_from([0.2, 0.5, np.inf]))
def test_units_are_united_until_their_records_keep_the_rules(seed: int, t: float) -> None:
    rng = np.random.default_rng(seed)
    units = int(rng.integers(8, 40))
    unit = np.sort(np.r_[np.arange(units), rng.integers(0, units, units)])
    codes = rng.integers(0, 4, len(unit))
    codes[:2] = [0, 3]
    one = diagnosis(codes, 2, t)
    rules = Rules(2, None, (), Members(unit, (one,)))
    start, classes = np.arange(units) // 2 % (units // 2), np.zeros(units, int)
    labels = united_units(rng.normal(size=(units, 2)), start, rules, classes)
    for label in set(labels.tolist()):
        assert (labels == label).sum() >= 2
        found = codes[labels[unit] == label]
        assert len(set(found.tolist())) >= 2
        shares = np.bincount(found, minlength=len(one.shares)) / len(found)
        assert np.abs(shares - one.shares).sum() / 2 <= t + 1e-9
    for label in set(start.tolist()):  # groups are united, never torn apart
        assert len(set(labels[start == label].tolist())) == 1


def test_units_of_different_classes_stay_apart() -> None:
    unit, codes = np.arange(8), np.array([0, 0, 0, 1, 1, 1, 1, 0])
    rules = Rules(2, None, (), Members(unit, (diagnosis(codes, 2),)))
    X = np.array([[0.0], [0], [9], [9], [0], [0], [9], [9]])
    labels = united_units(X, np.arange(8) // 2, rules, np.arange(8) // 4)
    assert labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_units_that_cannot_keep_the_rules_are_refused() -> None:
    rules = Rules(1, None, (), Members(np.arange(4), (diagnosis(np.zeros(4, int), 2),)))
    with pytest.raises(InputError, match="l = 2"):
        united_units(np.zeros((4, 1)), np.zeros(4, int), rules)


def test_members_are_numbered_anew_for_some_units() -> None:
    codes = np.array([5, 6, 7, 8, 9])
    one = Sensitive("a", codes, np.ones(10) / 10, ordered=False)
    some = Members(np.array([0, 1, 1, 3, 2]), (one,)).of(np.array([3, 1]))
    assert some.unit.tolist() == [1, 1, 0]
    assert some.sensitive[0].codes.tolist() == [6, 7, 8]
