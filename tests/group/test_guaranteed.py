"""Groups that keep guarantees: what comes out keeps every rule, whatever the table."""

import os

import numpy as np
import pytest
from naive_rules import groups_of, keeps, random_rules

from sqlmicro.errors import InputError
from sqlmicro.group.guaranteed import keep
from sqlmicro.registry import silent

TABLES = int(os.environ.get("TABLES", "50"))


def test_every_group_keeps_all_rules_and_what_cannot_be_kept_is_refused():
    kept = 0
    for number in range(TABLES):
        rng = np.random.default_rng(number)
        n = int(rng.integers(1, 90))
        X, rules = rng.normal(size=(n, int(rng.integers(1, 4)))), random_rules(rng, n)
        labels = rng.integers(0, max(1, n // rules.k), n)
        effort = ("fast", "fast", "balanced")[number % 3]
        if not keeps(rules, range(n)):
            with pytest.raises(InputError):
                keep(X, labels, rules, rng, silent, effort=effort)
            continue
        found = keep(X, labels, rules, rng, silent, effort=effort)
        groups = groups_of(found)
        assert set(groups) == set(range(len(groups))), number
        assert all(keeps(rules, rows) for rows in groups.values()), number
        kept += len(groups) > 1
    assert kept > TABLES / 10
