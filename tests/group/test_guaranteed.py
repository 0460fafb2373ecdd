"""Groups that keep guarantees: every rule holds of every group, whatever the table, and the loss is small."""

import math
import os
import time
from functools import partial

import numpy as np
import pytest
from brute_force import best_grouping, sse
from naive_rules import groups_of, keeps, limits_of, random_rules

from sqlmicro.errors import InputError
from sqlmicro.group.guaranteed import keep
from sqlmicro.group.mdav import mdav_labels
from sqlmicro.group.starts import t_first_size
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.guarantees.state import missing
from sqlmicro.registry import silent

TABLES = int(os.environ.get("TABLES", "50"))


def sensitive(values, ordered=False, **rules):
    codes = np.unique(values, return_inverse=True)[1]
    return Sensitive("s", codes, np.bincount(codes) / len(codes), ordered, limits=limits_of(**rules))


def kept(X, labels, rules, seed=0, **options):
    return keep(X, labels, rules, np.random.default_rng(seed), silent, **options)


def partition(labels):
    return sorted(groups_of(labels).values())


def persons_table(n, seed=0):
    """Return records, a nominal column and an ordered one that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    nominal = (X[:, [0]] * [0, 1, -1, 0.5] + [1, 0, 0, 0] + rng.gumbel(size=(n, 4))).argmax(axis=1)
    return X, nominal, np.round(20 * np.exp(0.7 * X[:, 0] + 0.6 * rng.normal(size=n)))


def test_every_group_keeps_all_rules_and_what_cannot_be_kept_is_refused():
    parted = 0
    for number in range(TABLES):
        rng = np.random.default_rng(number)
        n = int(rng.integers(1, 90))
        X, rules = rng.normal(size=(n, int(rng.integers(1, 4)))), random_rules(rng, n)
        if number % 5 == 0:
            X = np.round(X)  # duplicates
        labels = rng.integers(0, max(1, n // rules.k), n)
        effort = ("fast", "fast", "balanced")[number % 3]
        if not keeps(rules, range(n)):
            with pytest.raises(InputError):
                keep(X, labels, rules, rng, silent, effort=effort)
            continue
        before = X.copy()
        groups = groups_of(keep(X, labels, rules, rng, silent, effort=effort))
        assert (before == X).all()
        assert set(groups) == set(range(len(groups))), number
        assert all(keeps(rules, rows) for rows in groups.values()), number
        parted += len(groups) > 1
    assert parted > TABLES / 10


def test_the_loss_is_near_the_least_of_all_groupings_of_a_small_table():
    ratios = []
    for number in range(max(5, TABLES // 5)):
        rng = np.random.default_rng(number)
        X = rng.normal(size=(8, 2))
        columns = (sensitive(rng.integers(0, 3, 8), l=2, t=0.4), sensitive(rng.permutation(8), True, t=0.3))
        rules = Rules(2, None, columns)
        least, _ = best_grouping(X, 2, partial(keeps, rules))
        found = sse(X, kept(X, np.arange(8), rules, effort="balanced"))
        assert found >= least - 1e-9
        ratios.append(found / least)
    assert np.median(ratios) < 1.1
    assert max(ratios) < 1.6


def test_groups_that_keep_all_are_not_changed():
    X, nominal, _ = persons_table(200)
    labels = mdav_labels(X, 20)
    rules = Rules(20, np.arange(200), (sensitive(nominal, l=2),))
    assert not missing(labels, rules).any()
    assert (kept(X, labels, rules) == labels).all()
    assert (kept(X, labels, Rules(5)) == labels).all()


def test_one_seed_gives_one_grouping():
    X, nominal, amount = persons_table(300)
    rules = Rules(3, None, (sensitive(nominal, l=3), sensitive(amount, True, t=0.2)))
    labels = mdav_labels(X, 3)
    first = kept(X, labels, rules, 1, effort="balanced")
    assert (kept(X, labels, rules, 1, effort="balanced") == first).all()
    assert partition(kept(X, labels, rules, 2, effort="balanced")) != partition(first)


def test_the_order_of_the_rows_does_not_matter():
    X, nominal, amount = persons_table(300)
    persons = np.arange(300) // 2
    order = np.random.default_rng(0).permutation(300)
    labels = mdav_labels(X, 4)
    rules = Rules(4, persons, (sensitive(nominal, t=0.25), sensitive(amount, True, t=0.2)))
    one, other = kept(X, labels, rules), kept(X[order], labels[order], rules.of(order))
    assert partition(one[order]) == partition(other)


def test_several_rows_of_a_person_are_one_person():
    X = np.repeat(np.random.default_rng(0).normal(size=(60, 2)), 4, axis=0)
    persons = np.repeat(np.arange(60), 4)
    groups = groups_of(kept(X, mdav_labels(X, 5), Rules(5, persons)))
    assert min(len(set(persons[rows])) for rows in groups.values()) == 5
    assert len(groups) >= 8  # as the records of a person are alike


def test_one_person_with_half_of_the_records():
    X = np.random.default_rng(0).normal(size=(400, 2))
    persons = np.maximum(np.arange(400) - 200, 0)
    labels = kept(X, mdav_labels(X, 5), Rules(5, persons))
    assert min(len(set(persons[rows])) for rows in groups_of(labels).values()) >= 5


@pytest.mark.parametrize("X", [np.zeros((30, 2)), np.zeros((30, 0)), np.repeat([[0.0], [1.0]], 15, axis=0)])
def test_records_that_are_alike(X):
    rules = Rules(3, None, (sensitive(np.arange(30) % 3, l=3),))
    groups = groups_of(kept(X, np.arange(30) // 3 % 10, rules))
    assert all(keeps(rules, rows) for rows in groups.values())


def test_a_single_record():
    assert kept(np.zeros((1, 2)), np.zeros(1, int), Rules(1)).tolist() == [0]
    with pytest.raises(InputError, match="1 record, k = 2"):
        kept(np.zeros((1, 2)), np.zeros(1, int), Rules(2))
    with pytest.raises(InputError, match="l = 2"):
        kept(np.zeros((1, 2)), np.zeros(1, int), Rules(1, None, (sensitive([0], l=2),)))


def test_t_0_is_one_group_or_copies_of_the_table():
    values = np.tile([0, 0, 1, 2], 10)
    X = np.random.default_rng(0).normal(size=(40, 2))
    rules = Rules(2, None, (sensitive(values, t=0.0),))
    labels = kept(X, mdav_labels(X, 2), rules, effort="balanced")
    assert not missing(labels, rules).any()
    assert set(np.bincount(labels) % 4) == {0}


@pytest.mark.slow
def test_a_deadline_that_is_over_still_gives_groups_that_keep_all():
    X, nominal, amount = persons_table(2000)
    rules = Rules(5, None, (sensitive(nominal, l=3, t=0.15), sensitive(amount, True, t=0.15)))
    began = time.process_time()
    labels = kept(X, mdav_labels(X, 5), rules, effort="best", deadline=time.monotonic())
    assert not missing(labels, rules).any()
    labels = kept(X, mdav_labels(X, 5), rules, effort="best", deadline=time.monotonic() + 1)
    assert not missing(labels, rules).any()
    assert time.process_time() - began < 10


@pytest.mark.slow
def test_ctrl_c_is_heard_soon():
    """The kernels come back at least every 0.3 s, here where one column has many values and groups are large."""
    X, _, amount = persons_table(8_000)
    rules = Rules(5, None, (sensitive(amount + np.arange(8_000) / 1e6, True, t=0.01),))
    heard = [time.process_time()]

    def tick(done, total, best=""):
        heard.append(time.process_time())
        if len(heard) > 25:
            raise KeyboardInterrupt

    few = Rules(5, None, (sensitive(amount[:100], True, t=0.3),))
    kept(X[:100], mdav_labels(X[:100], 5), few)  # compiled before
    with pytest.raises(KeyboardInterrupt):
        keep(X, mdav_labels(X, 5), rules, np.random.default_rng(0), tick)
    assert max(np.diff(heard)[1:]) < 0.6


def test_progress_ends_where_it_should():
    X, nominal, _ = persons_table(300)
    said = []
    keep(
        X, mdav_labels(X, 3), Rules(3, None, (sensitive(nominal, t=0.2),)), np.random.default_rng(0),
        lambda done, total, best="": said.append((done / total, best)), effort="balanced",
    )  # fmt: skip
    shares = [share for share, _ in said]
    assert shares == sorted(shares)
    assert 0.9 < shares[-1] <= 1
    assert said[-1][1].startswith("IL ")


def test_the_size_of_t_first_is_that_of_the_source():
    """Soria-Comas et al. (2015), section 6: n = 1080, t = 0.25 has k = 2, 0.05 has 10; what is left is shared out."""
    assert [t_first_size(1080, 2, t) for t in (0.25, 0.05)] == [2, 10]
    assert t_first_size(1080, 5, 0.25) == 5
    assert t_first_size(10, 4, math.inf) == 5  # two groups of 4 and two records left: one for each
