"""Recoding, cutting and suppressing, with and without a population that holds every class, against plain Python."""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from naive_rules import groups_of, keeps, random_rules

from sqlmicro.guarantees.limits import TCloseness
from sqlmicro.guarantees.members import Members
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.guarantees.tally import Tally
from sqlmicro.mask import local_recoding
from sqlmicro.mask._guaranteed_cut_kernels import Held
from sqlmicro.mask.combinations import Combinations
from sqlmicro.mask.demand import Demand
from sqlmicro.mask.kept_suppression import KeptSuppression
from sqlmicro.mask.lattice import search
from sqlmicro.mask.local_recoding import recode
from sqlmicro.mask.losses import Metric, loss_of
from sqlmicro.mask.mondrian import held_partition
from sqlmicro.mask.population_matches import PopulationMatches
from sqlmicro.registry import silent

QUICK = 50
TABLES = int(os.environ.get("TABLES", "300"))
"""Random tables of every method in CI; 3 000 by hand."""
METRICS: tuple[Metric, ...] = ("loss", "entropy", "discernibility")
Row = tuple[int, ...]


@dataclass
class Table:
    """Records and members as values with a stratum behind, the class of every value on each level, what is asked."""

    records: list[Row]
    people: list[Row] | None
    levels: list[list[list[int]]]
    rules: Rules
    least: int
    share: float

    def label(self, row: Row, node: Row) -> Row:
        return (row[-1], *(self.levels[c][level][row[c]] for c, level in enumerate(node)))

    def holds(self, rows: list[int], members: int) -> bool:
        """Tell whether a class of these records with so many members keeps everything."""
        present = len(rows) if self.rules.persons is None else len({self.rules.persons[row] for row in rows})
        few = math.isinf(self.share) or present <= members * self.share * (1 + 1e-9)
        return (self.people is None or (members >= self.least and few)) and keeps(self.rules, rows)


def random_table(rng: np.random.Generator, *, population: bool = True) -> Table:
    n, columns = int(rng.integers(3, 40)), int(rng.integers(1, 4))
    levels = []
    domain = [int(rng.integers(1, 7)) for _ in range(columns)]
    for size in domain:
        own, classes = [list(range(size))], size
        for _ in range(int(rng.integers(0, 3))):
            joined = rng.integers(0, max(1, (classes + 1) // 2), classes)
            own.append([int(joined[value]) for value in own[-1]])
            classes = max(own[-1]) + 1
        levels.append([*own, [0] * size])
    if not population:
        values = [tuple(int(rng.integers(size)) for size in domain) for _ in range(n)]
        stratum = rng.integers(0, 2, n) if rng.random() < 0.3 else np.zeros(n, dtype=int)
        own_stratum = [(*row, int(one)) for row, one in zip(values, stratum, strict=True)]
        return Table(own_stratum, None, levels, random_rules(rng, n, many=4), 0, math.inf)
    strata = int(rng.integers(1, 3))

    def rows(count: int) -> list[Row]:
        found = [rng.integers(0, size, count) for size in [*domain, strata]]
        return [tuple(map(int, row)) for row in zip(*found, strict=True)]

    records = rows(n)
    people = [*rows(int(rng.integers(0, 60))), *(records if rng.random() < 0.7 else [])]
    rules = Rules(int(rng.integers(1, 4))) if rng.random() < 0.6 else random_rules(rng, n, many=4)
    share = float(rng.choice([math.inf, rng.uniform(0.2, 1.0), 1.0]))
    return Table(records, people, levels, rules, int(rng.integers(1, 9)), share)


def arrays(table: Table) -> tuple[Combinations, list[list[np.ndarray]], list[Row]]:
    """Return the combinations as the SELECTs number them, those of the records first."""
    own = sorted(set(table.records))
    cells = [*own, *sorted(set(table.people or ()) - set(own))]
    number, members = {cell: i for i, cell in enumerate(cells)}, Counter(table.people)
    tally = Tally.of(table.rules, np.array([number[row] for row in table.records]), len(cells))
    count = np.array([members[cell] for cell in cells])
    codes = [
        [np.array([level[cell[c]] for cell in cells]) for level in levels] for c, levels in enumerate(table.levels)
    ]
    shares = [
        [np.array([(level.count(level[cell[c]]) - 1) / max(1, len(level) - 1) for cell in cells]) for level in levels]
        for c, levels in enumerate(table.levels)
    ]
    stratum = np.array([cell[-1] for cell in cells])
    if table.people is not None:
        tally = replace(tally, members=Members(count, table.least, table.share))
    return Combinations(tally, codes, stratum), shares, cells


def lost(table: Table, nodes: list[Row | None], metric: Metric, sizes: list[int]) -> float:
    """Return what is lost where every record has its own node, or none: covered values, bits, or sizes of classes."""
    n, columns, total, whole = len(table.records), len(table.levels), 0.0, 0.0
    if metric == "discernibility":
        return sum(n if node is None else size for node, size in zip(nodes, sizes, strict=True)) / n**2
    for c, levels in enumerate(table.levels):
        column = Counter(row[c] for row in table.records)
        for row, node in zip(table.records, nodes, strict=True):
            level = levels[node[c]] if node else []
            if metric == "loss":
                total += (level.count(level[row[c]]) - 1) / max(1, len(level) - 1) if node else 1.0
                continue
            bits = math.log2(n / column[row[c]])
            whole += bits
            same = sum(x for value, x in column.items() if node and level[value] == level[row[c]])
            total += math.log2(same / column[row[c]]) if node else bits
    return total / (n * columns) if metric == "loss" else total / (whole or 1.0)


def brute_force(table: Table, metric: Metric, allowed: int) -> float | None:
    best = None
    for node in itertools.product(*(range(len(levels)) for levels in table.levels)):
        labels = [table.label(row, node) for row in table.records]
        rows = defaultdict(list)
        for i, label in enumerate(labels):
            rows[label].append(i)
        members = Counter(table.label(row, node) for row in table.people or ())
        fine = {label for label, own in rows.items() if table.holds(own, members[label])}
        if sum(label not in fine for label in labels) <= allowed:
            nodes = [node if label in fine else None for label in labels]
            now = lost(table, nodes, metric, [len(rows[label]) for label in labels])
            best = now if best is None else min(best, now)
    return best


def optima(seeds: Iterable[int], *, population: bool) -> tuple[int, int, int]:
    """Hold the search to all nodes; return how many tables had a node, had none, and had records left out."""
    some = none = fewer = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        table, metric = random_table(rng, population=population), METRICS[seed % 3]
        n = len(table.records)
        allowed = int((0, rng.integers(0, n + 1), n)[seed % 5 % 3])
        combinations, shares, _ = arrays(table)
        found = search(combinations, loss_of(metric, combinations, shares), allowed, silent)
        best = brute_force(table, metric, allowed)
        assert (found is None) == (best is None), seed
        if held := combinations.of_strata.members:
            at_least = int(held.too_many(combinations.of_strata.present).sum())
            assert best is None or at_least <= allowed, f"{seed}: what is refused beforehand cannot be"
        if found is None or best is None:
            none += 1
            continue
        assert found.loss == pytest.approx(best, abs=1e-9), seed
        assert found.suppressed == combinations.n[~found.kept].sum() <= allowed, seed
        some, fewer = some + 1, fewer + (found.suppressed > 0)
    return some, none, fewer


def test_the_optimum_is_that_of_all_nodes() -> None:
    some, none, fewer = optima(range(QUICK), population=True)
    assert some > QUICK / 4 and none > QUICK / 10 and fewer > 2
    # 392 has strata, each with classes of its own: what is known of discernibility beforehand has to count them.
    some, _, fewer = optima((*range(QUICK), 392), population=False)
    assert some > QUICK / 2 and fewer > QUICK / 20


@pytest.mark.slow
def test_the_optimum_is_that_of_all_nodes_of_many_tables() -> None:
    optima(range(1000, 1000 + TABLES), population=True)
    optima(range(1000, 1000 + TABLES), population=False)


def local(seeds: Iterable[int], *, population: bool) -> tuple[int, int]:
    """Count the classes of local recoding; return how many tables had some, and where less was lost than by a node."""
    done = better = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        table, metric = random_table(rng, population=population), METRICS[seed % 2]
        n = len(table.records)
        allowed = int(rng.choice([0, rng.integers(0, n + 1)])) if population else 0
        if not population:
            allowed = int((0, rng.integers(0, n + 1))[seed % 3 == 2])
        combinations, shares, cells = arrays(table)
        loss = loss_of(metric, combinations, shares)
        found = recode(combinations, loss, allowed, silent)
        everybody = table.people or []
        members: Counter[Any] = Counter(row[-1] for row in everybody)
        strata = groups_of([row[-1] for row in table.records])
        whole = all(table.holds(rows, members[stratum]) for stratum, rows in strata.items())
        if found is None:
            assert not whole, seed
            continue
        node = {
            cell: tuple(map(int, levels)) if kept else None
            for cell, levels, kept in zip(cells, found.levels, found.kept, strict=True)
        }
        rows, members = defaultdict(list), Counter()
        for i, row in enumerate(table.records):
            if (at := node[row]) is not None:
                rows[at, table.label(row, at)].append(i)
        members.update((at, table.label(row, at)) for row in everybody if (at := node[row]) is not None)
        assert all(table.holds(own, members[at, label]) for (at, label), own in rows.items()), seed
        assert n - sum(map(len, rows.values())) <= allowed, seed
        for at, label in rows if population else ():
            matching = sum(table.label(row, at) == label for row in everybody)
            assert matching >= members[at, label], "who sees a class finds everybody in it, and maybe more"
        now = lost(table, [node[row] for row in table.records], metric, [0] * n)
        assert loss.mixed(found.levels, found.kept) == pytest.approx(now, abs=1e-9), seed
        best = None if population else brute_force(table, metric, 0)
        done, better = done + 1, better + (best is not None and now < best - 1e-9)
    return done, better


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_recoding, "FEW", (0.0, 0.3))


@pytest.mark.usefixtures("_few")
def test_local_recoding_keeps_what_is_asked_and_finds_something_whenever_the_whole_table_does() -> None:
    assert local(range(QUICK), population=True)[0] > QUICK / 4
    assert local(range(QUICK), population=False)[1] > QUICK / 10


@pytest.mark.slow
@pytest.mark.usefixtures("_few")
def test_local_recoding_is_held_by_the_population_on_many_tables() -> None:
    assert local(range(1000, 1000 + 4 * TABLES), population=True)[0] >= TABLES


def fits(box: list[Any], member: np.ndarray, nominal: list[bool]) -> bool:
    """Tell whether a member is in the ranges and sets of some records."""
    for c, values in enumerate(box):
        own = float(member[c])
        if math.isnan(own):
            if not any(map(math.isnan, values)):
                return False
        elif nominal[c]:
            if own not in values:
                return False
        elif not any(v <= own for v in values) or not any(v >= own for v in values):
            return False
    return True


def boxes(seeds: range) -> tuple[int, int]:
    """Count members in the boxes of Mondrian; return how many tables there were, and groups beyond the first."""
    tables = cuts = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(2, 60)), int(rng.integers(1, 4))
        nominal = rng.random(p) < 0.4
        both = np.where(nominal, rng.integers(0, 5, (n + 80, p)), np.round(rng.normal(size=(n + 80, p)), 1))
        both[(rng.random(both.shape) < 0.05) & ~nominal] = np.nan
        values, people = both[:n], both[n : n + int(rng.integers(0, 81))]
        if rng.random() < 0.6:
            people = np.concatenate([people, values])
        least, share = int(rng.integers(1, 9)), float(rng.choice([math.inf, 1.0, rng.uniform(0.2, 1)]))
        rules = Rules(int(rng.integers(1, 4))) if rng.random() < 0.6 else random_rules(rng, n, many=4)
        table = Table([], [], [], rules, least, share)
        everything = [values[:, c].tolist() for c in range(p)]
        inside = [fits(everything, member, nominal.tolist()) for member in people]
        if not table.holds(list(range(n)), sum(inside)):
            continue
        tables += 1
        held = Held(values, people, nominal, np.where(nominal, 5, 0), least, share, np.zeros(0, dtype=np.int64))
        labels, of_people = held_partition(np.where(np.isnan(values), 9.0, values), rules, True, held, silent)
        groups = groups_of(labels)
        found = np.full(len(people), -1)
        for label, rows in groups.items():
            box = [values[rows, c].tolist() for c in range(p)]
            in_box = [q for q, member in enumerate(people) if fits(box, member, nominal.tolist())]
            assert (found[in_box] == -1).all(), f"{seed}: nobody is in two groups"
            found[in_box] = label
            assert table.holds(rows, len(in_box)), seed
        assert (found == of_people).all(), seed
        cuts += len(groups) - 1
    return tables, cuts


few_and_many = pytest.mark.parametrize(
    ("seeds", "least"),
    [(range(2 * QUICK), QUICK // 2), pytest.param(range(1000, 1000 + 3 * TABLES), TABLES, marks=pytest.mark.slow)],
    ids=["few tables", "many tables"],
)


@few_and_many
def test_boxes_are_held_by_the_population(seeds: range, least: int) -> None:
    tables, cuts = boxes(seeds)
    assert tables >= least and cuts > tables


def matching(row: list[int], people: np.ndarray) -> int:
    """Return how many members agree with a combination where both have a value."""
    return sum(all(a < 0 or b < 0 or a == b for a, b in zip(row, one, strict=True)) for one in people.tolist())


def suppressions(seeds: range) -> tuple[int, int]:
    """Count who may be each released combination; return how many tables there were, and values that were left."""
    tables = shown = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, p, strata = int(rng.integers(4, 50)), int(rng.integers(1, 5)), int(rng.integers(2))
        both = rng.integers(0, int(rng.integers(2, 6)), (n + 70, p + strata))
        both[:, p:] %= 2
        both[rng.random(both.shape) < rng.choice([0.0, 0.05])] = -1
        codes, people = both[:n], both[n : n + int(rng.integers(1, 71))]
        if rng.random() < 0.6:
            people = np.concatenate([people, codes])
        rules = Rules(int(rng.integers(1, 4))) if rng.random() < 0.6 else random_rules(rng, n, many=4)
        least = int(rng.integers(1, 12))

        of_stratum = [[-1] * p + list(row) for row in {tuple(row[p:]) for row in codes.tolist()}]
        whole = groups_of(np.unique(codes[:, p:], axis=0, return_inverse=True)[1].ravel() if strata else [0] * n)
        if any(matching(row, people) < least for row in of_stratum) or not all(
            keeps(rules, rows) for rows in whole.values()
        ):
            continue
        tables += 1
        own, count = np.unique(people, axis=0, return_counts=True)
        held = PopulationMatches(own, count, least)
        demand = Demand(rules, np.zeros(n), population=held)
        found = KeptSuppression(codes, demand, rng.choice([1.0, 2.0, 5.0], p), silent)
        found.run()
        assert ((found.released == codes) | (found.released == -1)).all()
        assert (found.released[:, p:] == codes[:, p:]).all()
        for rows in groups_of(np.unique(found.released, axis=0, return_inverse=True)[1].ravel()).values():
            released = found.released[rows[0]].tolist()
            assert matching(released, people) >= least and keeps(rules, rows), seed
            assert held.members(np.array([released]))[0] == matching(released, people)
            shown += len(rows) * sum(value >= 0 for value in released[:p])
    return tables, shown


@few_and_many
def test_suppressed_combinations_are_held_by_the_population(seeds: range, least: int) -> None:
    tables, shown = suppressions(seeds)
    assert tables >= max(QUICK, least) and shown > 10 * tables


def test_t_is_not_monotone_where_records_may_be_suppressed() -> None:
    # One value a class, 4 and 1: at the bottom the small class is left out. Joined, they are too far from the table.
    one = Sensitive("s", np.array([0, 0, 1, 1, 0, 0, 0, 1]), np.array([0.5, 0.5]), False, limits=(TCloseness(0.1),))
    tally = Tally.of(Rules(2, None, (one,)), np.repeat([0, 1], 4), 2)
    combinations = Combinations(tally, [[np.array([0, 1]), np.array([0, 0])]], np.zeros(2, dtype=int))
    loss = loss_of("loss", combinations, [[np.zeros(2), np.ones(2)]])
    found = search(combinations, loss, 4, silent)
    assert found is not None
    assert (found.node, found.suppressed, found.classes, found.loss) == ((0,), 4, 1, 0.5)
    assert search(combinations, loss, 3, silent) is None


def test_far_fewer_nodes_are_counted_than_there_are() -> None:
    # 81 combinations of one record; on the third of four levels a column has one class: k = 27 needs three of four.
    cells = np.array(list(itertools.product(range(3), repeat=4)))
    codes = [[cells[:, c], cells[:, c], np.zeros(81, dtype=int), np.zeros(81, dtype=int)] for c in range(4)]
    shares = [[np.full(81, x) for x in (0.0, 0.1, 0.9, 1.0)] for _ in range(4)]
    combinations = Combinations(Tally(27, np.ones(81, dtype=int)), codes, np.zeros(81, dtype=int))
    found = search(combinations, loss_of("loss", combinations, shares), 0, silent)
    assert found is not None
    assert (sorted(found.node), found.nodes) == ([0, 2, 2, 2], 256) and found.visited < 128


def test_a_share_is_not_monotone_where_records_may_be_suppressed() -> None:
    """3 of 3 are left out at the bottom, and 1 of 4 stays; joined, 4 of 7 are too many: the node above is worse."""
    tally = Tally(1, np.array([3, 1]), members=Members(np.array([3, 4]), 1, 0.3))
    combinations = Combinations(tally, [[np.array([0, 1]), np.array([0, 0])]], np.zeros(2, dtype=int))
    found = search(combinations, loss_of("loss", combinations, [[np.zeros(2), np.ones(2)]]), 3, silent)
    assert found is not None
    assert (found.node, found.suppressed, found.kept.tolist()) == ((0,), 3, [False, True])
    assert search(combinations, loss_of("loss", combinations, [[np.zeros(2), np.ones(2)]]), 2, silent) is None


def test_who_has_no_record_holds_a_class_too() -> None:
    """Two records of different values, and eight members that have a third: all ten are one class on the top."""
    tally = Tally(1, np.array([1, 1, 0]), members=Members(np.array([1, 1, 8]), 10))
    combinations = Combinations(tally, [[np.array([0, 1, 2]), np.zeros(3, dtype=int)]], np.zeros(3, dtype=int))
    for metric in METRICS:
        loss = loss_of(metric, combinations, [[np.zeros(3), np.ones(3)]])
        found = search(combinations, loss, 0, silent)
        assert found is not None
        assert (found.node, found.suppressed, found.classes, found.loss) == ((1,), 0, 1, 1.0)


def test_members_of_united_and_parted_classes() -> None:
    own = Members(np.array([3, 0, 5, 2]), 4, 0.5)
    assert own.merged(np.array([1, 0, 1, 2]), 4).count.tolist() == [0, 8, 2, 0]
    assert own.joined(2, np.array([0, 3])).count.tolist() == [8, 7]
    assert own.only(np.array([True, False, False, True])).count.tolist() == [3, 2]
    rest = Members(np.array([20, 9]), 4, 0.5).without(own, np.array([True, False, True, True]), np.array([0, 0, 0, 1]))
    assert (rest.count.tolist(), rest.least, rest.share) == ([12, 7], 4, 0.5)
    sizes = np.array([1, 1, 3, 1])
    assert own.enough().tolist() == [False, False, True, False] and not own.kept(sizes).any()
    # Of 5 members at most 2 may be there: 3 is one too many. Classes with fewer than 4 lack these.
    assert own.missed(sizes).tolist() == [1.0, 5.0, 0.5, 2.0]
    assert own.too_many(sizes).tolist() == [1, 1, 1, 1]
