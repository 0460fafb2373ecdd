"""Records that change seats, and groups of neighbours that are united: random tables against plain Python."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from naive_rules import groups_of, keeps, random_rules

from sqlmicro.errors import InputError
from sqlmicro.group.keeping import neighbours_united
from sqlmicro.guarantees.state import missing
from sqlmicro.safe_method.seats import seated
from sqlmicro.system.progress import Progress

TABLES = int(os.environ.get("TABLES", "50"))


def work(number):
    """Return what a step is to the functions tested: a name, a generator, and nobody to tell."""
    warehouse = SimpleNamespace(progress=Progress(enabled=False))
    return SimpleNamespace(where="test", rng=lambda: np.random.default_rng(number), warehouse=warehouse)


def test_neighbours_are_united_until_every_group_keeps_all_rules():
    united = refused = 0
    for number in range(TABLES):
        rng = np.random.default_rng(number)
        n = int(rng.integers(2, 80))
        rules = random_rules(rng, n)
        labels = np.sort(rng.integers(0, max(1, n // 3), n))
        if not keeps(rules, range(n)):
            with pytest.raises(InputError):
                neighbours_united(work(number), labels, rules)
            refused += 1
            continue
        found = neighbours_united(work(number), labels, rules)
        groups = groups_of(found)
        assert (np.diff(found) >= 0).all() and set(groups) == set(range(len(groups))), number
        assert all(keeps(rules, rows) for rows in groups.values()), number
        assert all(len(set(found[labels == label].tolist())) == 1 for label in set(labels.tolist())), number
        united += len(groups) > 1
    assert united > TABLES / 20 and refused


@pytest.mark.long
@pytest.mark.slow
def test_seats_change_within_strata_and_every_class_keeps_its_size():
    settled, tables = 0, TABLES * 2 // 5
    for number in range(tables):
        rng = np.random.default_rng(number)
        n = int(rng.integers(20, 60))
        rules = random_rules(rng, n)
        strata = np.sort(rng.integers(0, 2, n))
        labels = np.unique(strata * 100 + rng.integers(0, max(1, n // 20), n), return_inverse=True)[1]
        X, codes = rng.normal(size=(n, 2)), rng.integers(0, 3, (n, 2))
        found = seated(work(number), X, codes, strata, labels, rules)
        assert (np.bincount(found) == np.bincount(labels)).all(), number
        assert all(len(set(strata[found == label])) == 1 for label in set(labels.tolist())), number
        before, after = missing(labels, rules), missing(found, rules)
        assert after.sum() <= before.sum() + 1e-9, number
        kept = {label: keeps(rules, rows) for label, rows in groups_of(found).items()}
        assert all(kept[label] == (after[label] == 0) for label in kept), number
        settled += before.any() and not after.any()
    assert settled > tables / 50
