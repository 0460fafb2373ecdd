"""Thirty nights of a table that grows and changes: a series of seats, and independent fresh releases beside it.

NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 python tests/bench/series.py [--rows 20000] [--nights 30] [--k 5] [--seeds 1 2 3]
… --rows 1000000 --nights 10 --seeds 1 --ways stay moves    # without the outsider's view, which takes long
… --visits --rows 60000 [--nulls pattern] [--l 3]    # whole releases: persons with many rows, missing values, l
"""

import argparse
from collections import defaultdict

import numpy as np
from _measure import Measure, emit
from _visits import lived

from sqlmicro.group.mdav import mdav_labels
from sqlmicro.history.seats import Rules, begin, go_on

INSERTED, DELETED, CHANGED = 0.01, 0.003, 0.005
CORRELATED = np.linalg.cholesky([[1, 0.6, 0.4, 0.2], [0.6, 1, 0.3, 0.1], [0.4, 0.3, 1, 0.5], [0.2, 0.1, 0.5, 1]])
VALUES = [0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--ways", nargs="+", default=["fresh", "stay", "moves", "kept"])
    parser.add_argument("--visits", action="store_true", help="persons with many rows, beside the same without persons")
    parser.add_argument("--nulls", default="keep", choices=["keep", "pattern"])
    parser.add_argument("--l", type=int, default=3)
    given = parser.parse_args()
    k = given.k
    if given.visits:
        for way, figures in lived(given).items():
            emit(
                bench="series",
                way=way,
                rows=given.rows,
                nights=given.nights,
                k=k,
                l=given.l,
                nulls=given.nulls,
                **figures,
            )
        return
    rules = {"stay": Rules(k), "moves": Rules(k, moves=True), "kept": Rules(k, distinct=2)}
    warm_up(rules, k)
    for seed in given.seeds:
        world = list(nights(given.rows, given.nights, seed))
        fresh = Fresh(k)
        for table in world if "fresh" in given.ways else (world[0], world[-1]):
            fresh.night(table)
        if "fresh" in given.ways:
            emit(bench="series", way="fresh", seed=seed, rows=given.rows, k=k, **fresh.figures(), **outside(fresh, k))
        for way in given.ways:
            if way in rules:
                series = Series(rules[way], way == "kept")
                for table in world:
                    series.night(table)
                found = series.figures()
                found["to_fresh"] = found["il_last"] / fresh.il[-1]
                found["cpu_to_fresh"] = found["cpu_a_night"] / np.mean(fresh.cpu)
                emit(bench="series", way=way, seed=seed, rows=given.rows, k=k, **found, **outside(series, k))


def nights(n, count, seed):
    """Yield (key, version, X, sensitive): two normal and two lognormal columns by scales of the first night."""
    rng = np.random.default_rng(seed)
    key, version, latent, value = np.arange(n), np.zeros(n, int), rng.normal(size=(n, 4)), rng.choice(8, n, p=VALUES)
    for night in range(count):
        if night:
            m, left, new = len(key), round(DELETED * len(key)), round(INSERTED * len(key))
            some = rng.choice(m, left + round(CHANGED * m), replace=False)
            gone, changed = some[:left], some[left:]
            column = rng.integers(0, 4, len(changed))
            latent[changed, column] = 0.8 * latent[changed, column] + 0.6 * rng.normal(size=len(changed))
            version[changed] += 1
            born = key.max() + 1 + np.arange(new)
            kept = np.delete(np.arange(m), gone)
            key, version = np.r_[key[kept], born], np.r_[version[kept], np.zeros(new, int)]
            latent = np.r_[latent[kept], rng.normal(size=(new, 4))]
            value = np.r_[value[kept], rng.choice(8, new, p=VALUES)]
        X = latent @ CORRELATED.T
        X[:, 2:] = np.exp(0.6 * X[:, 2:])
        if not night:
            mean, deviation = X.mean(0), X.std(0)
        yield key, version.copy(), (X - mean) / deviation, value


class Way:
    """What a way of releasing publishes, night after night."""

    def __init__(self):
        self.labels, self.keys, self.classes, self.il, self.cpu, self.rows = [], [], [], [], [], []

    def published(self, table, labels, centre, classes, rows):
        """`classes`: who is in each published mean; `rows`: how many rows have it."""
        key, _, X, _ = table
        seen = labels >= 0
        loss = ((X[seen] - centre[labels[seen]]) ** 2).sum()
        self.il.append(100 * loss / ((X[seen] - X[seen].mean(0)) ** 2).sum())
        self.labels.append(labels)
        self.keys.append(key)
        self.classes.append(classes)
        self.rows.append(rows)

    def figures(self):
        return {"il_first": self.il[0], "il_last": self.il[-1], "cpu_a_night": float(np.mean(self.cpu[1:]))}


class Fresh(Way):
    """An independent release every night."""

    def __init__(self, k):
        super().__init__()
        self.k, self.born = k, 0

    def night(self, table):
        key, version, X, _ = table
        with Measure() as measured:
            labels = mdav_labels(X, self.k)
        self.cpu.append(measured.cpu)
        rows = np.bincount(labels)
        centre = np.stack([np.bincount(labels, x) for x in X.T], 1) / rows[:, None]
        order = np.split(np.argsort(labels, kind="stable"), np.cumsum(rows)[:-1])
        persons = list(zip(key.tolist(), version.tolist(), strict=True))
        classes = {self.born + c: [persons[i] for i in group] for c, group in enumerate(order)}
        self.published(table, labels, centre, classes, {self.born + c: int(n) for c, n in enumerate(rows)})
        self.labels[-1] = labels + self.born
        self.born += len(rows)


class Series(Way):
    """A series of seats."""

    def __init__(self, rules, kept):
        super().__init__()
        self.rules, self.kept, self.memory, self.founders = rules, kept, None, {}
        self.withheld, self.empty, self.since, self.longest = [], [], {}, 0

    def night(self, table):
        key, version, X, value = table
        day, given = len(self.il), (None, value if self.kept else None)
        if day == 0:
            labels = mdav_labels(X, self.rules.k)
        with Measure() as measured:
            if day == 0:
                memory, night = begin(key, X, labels, day, self.rules, *given)
            else:
                memory, night = go_on(self.memory, key, X, day, self.rules, *given)
        self.cpu.append(measured.cpu)
        self.memory = memory
        for i in np.flatnonzero(night.founders):
            self.founders.setdefault(int(night.labels[i]), []).append((int(key[i]), int(version[i])))
        rows = {int(c): int(memory.rows[c]) for c in np.flatnonzero(memory.rows)}
        self.published(table, night.labels, memory.centre, {c: self.founders[c] for c in rows}, rows)
        self.withheld.append(float((night.labels < 0).mean()))
        self.empty.append(float(night.empty[:, 2].sum() / memory.rows.sum()))
        waits = key[night.labels < 0].tolist()
        self.since = {p: self.since.get(p, 0) + 1 for p in waits}
        self.longest = max([self.longest, *self.since.values()])

    def figures(self):
        columns = [c for c in vars(self.memory).values() if isinstance(c, np.ndarray)]
        return {
            **super().figures(),
            "withheld_mean": float(np.mean(self.withheld[1:])),
            "withheld_most": max(self.withheld),
            "nights_withheld": self.longest,
            "empty_mean": float(np.mean(self.empty[1:])),
            "empty_most": max(self.empty),
            "bytes_a_person": sum(c.nbytes for c in columns) / len(self.keys[-1]),
        }


def outside(way, k):
    """Return what an outsider gets from all releases together, who knows who is in which class."""
    if len(way.keys[0]) > 100_000:
        return {}
    steps = isolating = 0
    for before, after in zip(way.rows, way.rows[1:], strict=False):
        steps += sum(0 < abs(before.get(c, 0) - after.get(c, 0)) < k for c in {*before, *after})
    for t in range(len(way.classes) - 1):
        isolating += isolated(way, t, k)
    shared = union(way)
    return {
        "classes_changing_by_few": steps,
        "isolating_differences": isolating,
        "union_k": int(shared.min()),
        "below_k": float((shared < k).mean()),
    }


def isolated(way, t, k):
    """Count the differences of totals of two nights, over classes with persons in common, that involve 1 to k - 1."""
    parent = {}

    def find(a):
        while parent.setdefault(a, a) != a:
            parent[a] = a = parent[parent[a]]
        return a

    share = defaultdict(float)
    for sign, night, other in ((-1, t, t + 1), (1, t + 1, t)):
        for c in way.rows[night].keys() - way.rows[other].keys():
            founders = way.classes[night][c]
            for person in founders:
                share[person] += sign * way.rows[night][c] / len(founders)
                parent[find(person)] = find(founders[0])
    involved = defaultdict(int)
    for person, weight in share.items():
        involved[find(person)] += abs(weight) > 1e-9
    return sum(0 < persons < k for persons in involved.values())


def union(way):
    """Return with how many each person shares the classes of all nights: rows where there is just one class."""
    classes, members = defaultdict(dict), []
    for night, (key, labels) in enumerate(zip(way.keys, way.labels, strict=True)):
        members.append(defaultdict(set))
        for person, c in zip(key.tolist(), labels.tolist(), strict=True):
            if c >= 0:
                classes[person][night] = c
                members[night][c].add(person)
    found = []
    for of_person in classes.values():
        if len({*of_person.values()}) == 1:
            found.append(min(way.rows[night][c] for night, c in of_person.items()))
        else:
            found.append(len(set.intersection(*(members[night][c] for night, c in of_person.items()))))
    return np.array(found)


def warm_up(rules, k):
    for table in nights(500, 1, 0):
        key, _, X, value = table
        labels = mdav_labels(X, k)
        for given in rules.values():
            kept = value if given.distinct > 1 else None
            memory, _ = begin(key, X, labels, 0, given, None, kept)
            more = np.r_[key, 1000 + np.arange(50)]
            go_on(memory, more, np.r_[X, X[:50]], 9, given, None, None if kept is None else np.r_[kept, kept[:50]])


if __name__ == "__main__":
    main()
