"""The search of the lattice and local recoding, against all nodes counted in plain Python."""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from naive_rules import keeps, random_rules

from sqlmicro.guarantees.limits import TCloseness
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.guarantees.tally import Tally
from sqlmicro.mask import local_recoding
from sqlmicro.mask.combinations import Combinations
from sqlmicro.mask.lattice import search
from sqlmicro.mask.local_recoding import recode
from sqlmicro.mask.losses import Metric, loss_of
from sqlmicro.registry import silent

TABLES = int(os.environ.get("TABLES", "50"))
"""3 000 by hand."""
METRICS: tuple[Metric, ...] = ("loss", "entropy", "discernibility")


@dataclass
class Table:
    """A random table: its records as values, a list per column of the levels (value to class), strata, rules."""

    records: list[tuple[int, ...]]
    levels: list[list[list[int]]]
    stratum: list[int]
    rules: Rules

    def labels(self, node: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the class of every record at a node."""
        return [
            (stratum, *(self.levels[c][level][record[c]] for c, level in enumerate(node)))
            for record, stratum in zip(self.records, self.stratum, strict=True)
        ]


def _random_table(rng: np.random.Generator) -> Table:
    n, columns = int(rng.integers(3, 40)), int(rng.integers(1, 4))
    domain = [int(rng.integers(1, 7)) for _ in range(columns)]
    levels = []
    for size in domain:
        own, classes = [list(range(size))], size
        for _ in range(int(rng.integers(0, 3))):
            joined = rng.integers(0, max(1, (classes + 1) // 2), classes)
            own.append([int(joined[value]) for value in own[-1]])
            classes = max(own[-1]) + 1
        levels.append([*own, [0] * size])
    records = [tuple(int(rng.integers(size)) for size in domain) for _ in range(n)]
    strata = rng.integers(0, 2, n) if rng.random() < 0.3 else np.zeros(n, dtype=int)
    return Table(records, levels, [int(s) for s in strata], random_rules(rng, n, many=4))


def _arrays(table: Table) -> tuple[Combinations, list[list[np.ndarray]]]:
    keys = [(*record, stratum) for record, stratum in zip(table.records, table.stratum, strict=True)]
    cells = sorted(set(keys))
    number = {key: i for i, key in enumerate(cells)}
    tally = Tally.of(table.rules, np.array([number[key] for key in keys]), len(cells))
    codes = [
        [np.array([level[cell[c]] for cell in cells]) for level in levels] for c, levels in enumerate(table.levels)
    ]
    shares = [
        [np.array([(level.count(level[cell[c]]) - 1) / max(1, len(level) - 1) for cell in cells]) for level in levels]
        for c, levels in enumerate(table.levels)
    ]
    return Combinations(tally, codes, np.array([cell[-1] for cell in cells])), shares


def _lost(table: Table, nodes: list[tuple[int, ...] | None], metric: Metric, sizes: list[int]) -> float:
    """Return what is lost where every record has its own node, or none; `sizes` are those of their classes."""
    n, columns = len(table.records), len(table.levels)
    if metric == "discernibility":
        return sum(n if node is None else size for node, size in zip(nodes, sizes, strict=True)) / n**2
    total = whole = 0.0
    for c, levels in enumerate(table.levels):
        column = Counter(record[c] for record in table.records)
        for record, node in zip(table.records, nodes, strict=True):
            value = record[c]
            if metric == "loss":
                level = levels[node[c]] if node else []
                covered = (level.count(level[value]) - 1) / max(1, len(level) - 1) if node else 1.0
                total += covered / (n * columns)
                continue
            bits = math.log2(n / column[value])
            whole += bits
            if node is None:
                total += bits
            else:
                same = sum(x for other, x in column.items() if levels[node[c]][other] == levels[node[c]][value])
                total += math.log2(same / column[value])
    return total if metric == "loss" else total / (whole or 1.0)


def _all_nodes(table: Table, metric: Metric, allowed: int) -> float | None:
    """Count every node; return the least loss."""
    best = None
    for node in itertools.product(*(range(len(levels)) for levels in table.levels)):
        labels = table.labels(node)
        rows = defaultdict(list)
        for i, label in enumerate(labels):
            rows[label].append(i)
        kept = {label for label, members in rows.items() if keeps(table.rules, members)}
        if sum(label not in kept for label in labels) <= allowed:
            nodes: list[Any] = [node if label in kept else None for label in labels]
            lost = _lost(table, nodes, metric, [len(rows[label]) for label in labels])
            best = lost if best is None else min(best, lost)
    return best


def test_the_optimum_is_that_of_all_nodes() -> None:
    found_some = suppressed = 0
    # 392 has strata, each with classes of its own: what is known of discernibility beforehand has to count them.
    for seed in (*range(TABLES), 392):
        rng = np.random.default_rng(seed)
        table = _random_table(rng)
        metric = METRICS[seed % 3]
        n = len(table.records)
        allowed = int((0, rng.integers(0, n + 1), n)[seed % 5 % 3])
        combinations, shares = _arrays(table)
        found = search(combinations, loss_of(metric, combinations, shares), allowed, silent)
        best = _all_nodes(table, metric, allowed)
        assert (found is None) == (best is None), seed
        if found is None or best is None:
            continue
        assert found.loss == pytest.approx(best, abs=1e-9), seed
        assert found.suppressed == combinations.n[~found.kept].sum() <= allowed, seed
        found_some, suppressed = found_some + 1, suppressed + (found.suppressed > 0)
    assert found_some > TABLES / 2
    assert suppressed > TABLES / 20


def test_local_recoding_keeps_what_is_asked_and_finds_something_whenever_the_whole_table_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local_recoding, "FEW", (0.0, 0.3))
    better = 0
    for seed in range(TABLES):
        rng = np.random.default_rng(seed)
        table = _random_table(rng)
        metric = METRICS[seed % 2]
        n = len(table.records)
        allowed = int((0, rng.integers(0, n + 1))[seed % 3 == 2])
        combinations, shares = _arrays(table)
        loss = loss_of(metric, combinations, shares)
        found = recode(combinations, loss, allowed, silent)
        whole = all(keeps(table.rules, [i for i in range(n) if table.stratum[i] == s]) for s in set(table.stratum))
        if found is None:
            assert not whole, seed
            continue
        cells = sorted({(*record, stratum) for record, stratum in zip(table.records, table.stratum, strict=True)})
        nodes = {
            cell: tuple(int(level) for level in levels) if kept else None
            for cell, levels, kept in zip(cells, found.levels, found.kept, strict=True)
        }
        classes = defaultdict(list)
        of_records = [nodes[(*record, stratum)] for record, stratum in zip(table.records, table.stratum, strict=True)]
        for i, node in enumerate(of_records):
            if node is not None:
                classes[node, table.labels(node)[i]].append(i)
        assert all(keeps(table.rules, members) for members in classes.values()), seed
        assert sum(node is None for node in of_records) <= allowed, seed
        lost = _lost(table, of_records, metric, [0] * n)
        assert loss.mixed(found.levels, found.kept) == pytest.approx(lost, abs=1e-9), seed
        best = _all_nodes(table, metric, 0)
        better += best is not None and lost < best - 1e-9
    assert better > TABLES / 10


def test_t_is_not_monotone_where_records_may_be_suppressed() -> None:
    # One value a class, 4 and 1: at the bottom the small class is left out. Joined, they are too far from the table.
    codes = np.array([0, 0, 1, 1, 0, 0, 0, 1])
    cell = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    one = Sensitive("s", codes, np.array([0.5, 0.5]), False, limits=(TCloseness(0.1),))
    combinations = Combinations(
        Tally.of(Rules(2, None, (one,)), cell, 2), [[np.array([0, 1]), np.array([0, 0])]], np.zeros(2, dtype=int)
    )
    shares = [[np.zeros(2), np.ones(2)]]
    found = search(combinations, loss_of("loss", combinations, shares), 4, silent)
    assert found is not None
    assert (found.node, found.suppressed, found.classes, found.loss) == ((0,), 4, 1, 0.5)
    assert search(combinations, loss_of("loss", combinations, shares), 3, silent) is None


def test_far_fewer_nodes_are_counted_than_there_are() -> None:
    # 81 combinations of one record; on the third of four levels a column has one class: k = 27 needs three of four.
    cells = np.array(list(itertools.product(range(3), repeat=4)))
    codes = [[cells[:, c], cells[:, c], np.zeros(81, dtype=int), np.zeros(81, dtype=int)] for c in range(4)]
    shares = [[np.full(81, x) for x in (0.0, 0.1, 0.9, 1.0)] for _ in range(4)]
    combinations = Combinations(Tally(27, np.ones(81, dtype=int)), codes, np.zeros(81, dtype=int))
    found = search(combinations, loss_of("loss", combinations, shares), 0, silent)
    assert found is not None
    assert sorted(found.node) == [0, 2, 2, 2]
    assert found.nodes == 256
    assert found.visited < 128
