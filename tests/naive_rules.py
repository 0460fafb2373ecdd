"""Every rule from its definition, in plain Python: what the compiled kernels are held to; random tables with rules."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from sqlmicro.guarantees.limits import Alpha, Beta, Distinct, Entropy, Recursive, TCloseness
from sqlmicro.guarantees.rules import Members, Rules, Sensitive

ROUNDING = 2e-9
KINDS = {
    "l": Distinct, "entropy_l": Entropy, "recursive_l": Recursive, "t": TCloseness, "alpha": Alpha, "beta": Beta,
}  # fmt: skip


def limits_of(c=2.0, **values):
    """Return limits by the names that the definitions give them, without those that say nothing."""
    return tuple(
        kind(value, **({"c": c} if kind is Recursive else {}))
        for name, kind in KINDS.items()
        if (value := values.get(name, math.inf)) < math.inf and (value or kind in (TCloseness, Beta))
    )


def asked(one, name, nothing):
    """Return what is asked of a column, or what says nothing."""
    return next((limit.value for limit in one.limits if type(limit) is KINDS[name]), nothing)


def distance(one, values):
    """Return how far the values of a group are from the table (Li, Li & Venkatasubramanian 2007)."""
    m, count = len(one.shares), Counter(values)
    gaps = [count[q] / len(values) - one.shares[q] for q in range(m)]
    if one.levels:
        return tree_distance(one.levels, gaps)
    if not one.ordered:
        return sum(abs(gap) for gap in gaps) / 2
    total = carried = 0.0
    for gap in gaps[:-1]:
        carried += gap
        total += abs(carried)
    return total / (m - 1) if m > 1 else 0.0


def tree_distance(levels, gaps):
    """Return what it costs to move earth up and down a tree, as the paper says: what is too much in every class.

    A class N on a level costs level/H times the lesser of what its children have too much and what they lack.
    """
    height = len(levels) + 1
    extra, total = dict(enumerate(gaps)), 0.0
    for level, above in enumerate([*levels, np.zeros(len(gaps), dtype=int)], 1):
        below = np.arange(len(gaps)) if level == 1 else levels[level - 2]
        children = {}
        for child, parent in set(zip(below.tolist(), above.tolist(), strict=True)):
            children.setdefault(parent, []).append(extra[child])
        for own in children.values():
            total += level / height * min(sum(max(x, 0) for x in own), sum(max(-x, 0) for x in own))
        extra = {parent: sum(own) for parent, own in children.items()}
    return total


def random_levels(rng, m, height):
    """Return the classes of m values on some levels: consecutive ones have one in common, every class is in one."""
    levels, now = [], np.arange(m)
    for _ in range(height):
        now = np.cumsum(np.r_[0, rng.random(now.max()) < 0.5])[now]
        levels.append(now)
    return tuple(levels)


def keeps_column(one, values):
    """Tell whether a group with these values of a sensitive column keeps all that is asked of it."""
    size, count = len(values), Counter(values)
    if len(count) < asked(one, "l", 0):
        return False
    entropy = -sum(x / size * math.log(x / size) for x in count.values())
    if math.exp(entropy) < asked(one, "entropy_l", 0) * (1 - ROUNDING):
        return False
    for limit in (limit for limit in one.limits if isinstance(limit, Recursive)):
        ordered = sorted(count.values(), reverse=True)
        if not ordered[0] < limit.c * sum(ordered[limit.value - 1 :]):
            return False
    if max(count.values()) / size > asked(one, "alpha", math.inf) * (1 + ROUNDING):
        return False
    if max(x / size / one.shares[q] - 1 for q, x in count.items()) > asked(one, "beta", math.inf) + ROUNDING:
        return False
    return distance(one, values) <= asked(one, "t", math.inf) + ROUNDING


def keeps(rules, rows):
    """Tell whether a group of these rows keeps all rules."""
    if len(rows) < rules.k:
        return False
    if rules.persons is not None and len({int(rules.persons[i]) for i in rows}) < rules.k:
        return False
    if not all(keeps_column(one, [int(one.codes[i]) for i in rows]) for one in rules.sensitive):
        return False
    if rules.members is None:
        return True
    inside = [m for m, unit in enumerate(rules.members.unit) if int(unit) in set(rows)]
    return all(keeps_column(one, [int(one.codes[m]) for m in inside]) for one in rules.members.sensitive)


def groups_of(labels):
    """Return the rows of every group."""
    found = {}
    for i, label in enumerate(labels):
        found.setdefault(int(label), []).append(i)
    return found


def random_sensitive(rng, n, *, many=6):
    """Return a sensitive column of n records with random rules, some of them none."""
    kind = rng.integers(3)
    values = rng.integers(0, rng.integers(2, many + 1), n) if kind else np.minimum(rng.geometric(0.4, n), many)
    codes = np.unique(values, return_inverse=True)[1]
    shares = np.bincount(codes) / n
    top = len(shares)

    def maybe(value, otherwise):
        return value if rng.random() < 0.35 else otherwise

    ordered = bool(rng.integers(2))
    own = np.random.default_rng(n + top)
    levels = () if ordered or top % 2 else random_levels(own, top, int(own.integers(1, 3)))
    limits = limits_of(
        l=int(maybe(rng.integers(1, top + 1), 0)),
        entropy_l=float(maybe(rng.uniform(1, top), 0.0)),
        recursive_l=int(maybe(rng.integers(1, top + 1), 0)),
        c=float(rng.choice([0.5, 1, 2, 3])),
        t=float(maybe(rng.uniform(0.02, 0.6), math.inf)),
        alpha=float(maybe(rng.uniform(0.3, 1), math.inf)),
        beta=float(maybe(rng.uniform(0.2, 4), math.inf)),
    )
    return Sensitive("s", codes, shares, ordered, levels, limits)


def random_rules(rng, n, *, many=6):
    """Return random rules for n records: k, persons or none, up to three sensitive columns."""
    persons = np.unique(rng.integers(0, max(2, n // 2), n), return_inverse=True)[1] if rng.random() < 0.4 else None
    columns = tuple(random_sensitive(rng, n, many=many) for _ in range(rng.integers(0, 4)))
    return Rules(int(rng.integers(1, 5)), persons, columns)


def random_units(rng, n, *, many=6):
    """Return the same for n units of up to four records each, whose sensitive columns hold of the records."""
    unit = rng.permutation(np.repeat(np.arange(n), rng.integers(1, 5, n)))
    of_records = tuple(random_sensitive(rng, len(unit), many=many) for _ in range(rng.integers(1, 3)))
    return replace(random_rules(rng, n, many=many), members=Members(unit, of_records))
