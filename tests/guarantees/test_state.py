"""What groups miss, against the definitions in plain Python; and the state, while records move."""

import os

import numpy as np
import pytest
from naive_rules import groups_of, keeps, random_rules, random_units

from sqlmicro.guarantees._state_kernels import misses, part, put, settle, take, unite
from sqlmicro.guarantees.state import columns_of, missing, state_of

TABLES = int(os.environ.get("TABLES", "60"))


@pytest.mark.parametrize("part_of", range(3))
def test_what_groups_miss_is_what_the_definitions_say(part_of):
    held = 0
    for number in range(part_of, 10 * TABLES, 3):
        rng = np.random.default_rng(number)
        n = int(rng.integers(1, 60))
        rules = random_units(rng, n) if number % 4 == 0 else random_rules(rng, n)
        labels = rng.integers(0, rng.integers(1, 1 + max(1, n // 4)), n)
        found = missing(labels, rules)
        for label, rows in groups_of(labels).items():
            assert (found[label] == 0) == keeps(rules, rows), (number, label)
            held += found[label] == 0
    assert held > TABLES / 3


def test_the_union_of_two_groups_never_misses_more():
    for number in range(5 * TABLES):
        rng = np.random.default_rng(number)
        n = int(rng.integers(2, 50))
        rules = random_rules(rng, n)
        labels = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
        assert missing(np.zeros(n, int), rules)[0] <= missing(labels, rules).sum() + 1e-9, number


@pytest.mark.slow
def test_a_state_knows_what_is_missed_however_records_moved():
    for number in range(TABLES):
        rng = np.random.default_rng(number)
        n = int(rng.integers(4, 40))
        rules, X = (random_units if number % 2 else random_rules)(rng, n), rng.normal(size=(n, 2))
        columns = columns_of(rules, n)
        labels = np.concatenate([np.arange(4), rng.integers(0, 4, n - 4)])
        state = state_of(X, labels, columns, rules, 9)
        for _ in range(60):
            i = int(rng.integers(n))
            a, b = labels[i], int(rng.integers(8))
            if a == b or state.size[a] < 2:
                continue
            kind = rng.integers(4)
            if kind == 0 and state.size[b]:
                o = int(rng.choice(np.flatnonzero(labels == b)))
                expected = misses(state, columns, rules.k, a, -1, i, o), misses(state, columns, rules.k, b, -1, o, i)
                take(state, columns, i)
                take(state, columns, o)
                put(state, columns, i, b)
                put(state, columns, o, a)
                labels[i], labels[o] = b, a
            elif kind == 1 and state.size[b]:
                expected = misses(state, columns, rules.k, a, b, -1, -1), 0.0
                unite(state, columns, rules.k, a, b)
                labels[labels == b] = a
            elif kind == 2 and not state.size[b]:
                chosen = rng.random(state.size[a]) < 0.5
                moved = state.member[state.start[a] : state.start[a] + state.size[a]][chosen].copy()
                part(state, columns, rules.k, a, b, chosen)
                labels[moved] = b
                expected = state.missed[a], state.missed[b]
            else:
                expected = misses(state, columns, rules.k, a, -1, i, -1), misses(state, columns, rules.k, b, -1, -1, i)
                take(state, columns, i)
                put(state, columns, i, b)
                labels[i] = b
            settle(state, columns, rules.k, a)
            settle(state, columns, rules.k, b)
            assert (state.missed[a], state.missed[b]) == pytest.approx(expected, abs=1e-9), number
            real = np.zeros(9)
            real[: labels.max() + 1] = missing(labels, rules)
            np.testing.assert_allclose(state.missed, real, atol=1e-9)
            np.testing.assert_array_equal(state.label, labels)
            np.testing.assert_allclose(state.sums[b], X[labels == b].sum(axis=0), atol=1e-9)
