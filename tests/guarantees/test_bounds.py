"""Bounds: they refuse what is impossible, never what some grouping reaches."""

import itertools
import os

import numpy as np
import pytest
from naive_rules import distance, keeps, limits_of, random_rules

from sqlmicro.guarantees.bounds import bound, least_loss
from sqlmicro.guarantees.rules import Rules, Sensitive

TABLES = int(os.environ.get("TABLES", "60"))


def column(counts, *, ordered=False, **rules):
    codes = np.repeat(np.arange(len(counts)), counts)
    return Sensitive("drug", codes, np.array(counts) / sum(counts), ordered, limits=limits_of(**rules))


def test_a_request_is_infeasible_exactly_if_the_whole_table_breaks_it():
    refused = 0
    for number in range(10 * TABLES):
        rng = np.random.default_rng(number)
        n = int(rng.integers(1, 40))
        rules = random_rules(rng, n)
        found = bound(rules, n)
        assert (found.infeasible is None) == keeps(rules, range(n)), number
        refused += found.infeasible is not None
    assert TABLES < refused < 9 * TABLES


def test_no_group_of_a_small_table_that_keeps_all_rules_is_below_the_bound():
    tight = 0
    for number in range(TABLES):
        rng = np.random.default_rng(1000 + number)
        n = int(rng.integers(4, 10))
        rules = random_rules(rng, n, many=4)
        least = bound(rules, n).size
        sizes = range(1, n + 1)
        reached = [size for size in sizes if any(keeps(rules, rows) for rows in itertools.combinations(range(n), size))]
        if reached:
            assert least <= reached[0], number
            tight += least == reached[0]
    assert tight > TABLES / 4


def test_the_bound_of_t_is_that_of_all_histograms():
    """Against every histogram of so many records, whether the table has them or not."""
    for number in range(TABLES // 3):
        rng = np.random.default_rng(number)
        counts, t = rng.integers(1, 9, int(rng.integers(2, 5))), float(rng.uniform(0.02, 0.4))
        one = column(counts, ordered=bool(number % 2), t=t)
        n, m = int(counts.sum()), len(counts)
        found = bound(Rules(1, None, (one,)), n).size
        for size in range(1, found + 1):
            groups = itertools.combinations_with_replacement(range(m), size)
            least = min(distance(one, group) for group in groups)
            assert (least <= t + 1e-9) == (size == found), (number, size)


def test_what_the_rules_need_is_said_with_counts_and_shares():
    one = column([50, 30, 20], t=0.1)
    assert bound(Rules(2, None, (one,)), 100) == bound(Rules(1, None, (one,)), 100)
    assert bound(Rules(2, None, (one,)), 100).size == 4
    assert bound(Rules(2, None, (one,)), 100).why == (
        't = 0.1 of "drug" needs groups of at least 4: its most frequent value has 50.0 % of 100 records'
    )
    assert bound(Rules(7, None, (one,)), 100).why == "k = 7 needs groups of at least 7"


@pytest.mark.parametrize(
    ("one", "size"),
    [
        (column([5, 5, 5], l=3), 3),
        (column([5, 5, 5], entropy_l=2.5), 3),
        (column([5, 5, 5], recursive_l=2, c=1.0), 3),  # 1 < 1 · (3 - 1)
        (column([5, 5, 5], recursive_l=2, c=0.5), 4),  # 1 < 0.5 · (4 - 1)
        (column([5, 5, 5], alpha=0.4), 3),  # two records give 0.5; three have a third each
        (column([6, 3, 1], beta=0.0), 10),  # no value may be more frequent than in the table
        (column([6, 3, 1], beta=0.5), 3),  # caps of 3 records: 2.7, 1.35, 0.45; of 2: 1.8, 0.9
    ],
)
def test_least_sizes_by_hand(one, size):
    assert bound(Rules(1, None, (one,)), len(one.codes)).size == size


def test_why_a_table_cannot_keep_the_rules():
    rules = Rules(5, np.array([0, 0, 1, 1]), (column([3, 1], l=3, alpha=0.5),))
    assert bound(rules, 4).infeasible == (
        "4 records, k = 5; 2 persons, k = 5; "
        'l = 3 of "drug" does not hold of all 4 records together: '
        "they have 2 values, the most frequent 75.0 % of them; "
        'alpha = 0.5 of "drug" does not hold of all 4 records together: '
        "they have 2 values, the most frequent 75.0 % of them"
    )


def test_the_least_loss_is_that_of_one_column_that_is_the_rank_itself():
    """Groups whose mean rank is within t of the middle lose all but t² of the variance."""
    codes = np.arange(101)
    X = (codes[:, None] - 50) / codes.std()
    for t in (0.05, 0.1, 0.2):
        assert least_loss(X, codes, t) == pytest.approx(100 * (1 - t**2 / np.var(codes / 100)), abs=0.05)
    assert least_loss(X, codes, 0.5) == 0.0
