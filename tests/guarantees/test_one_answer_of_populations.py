"""What the population holds is the same everywhere: arrays, kernels and audits agree on random groupings."""

import os

import numpy as np
import pytest

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import audits
from sqlmicro.audits.risk import _in_population
from sqlmicro.database.columns import Column
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.guarantees.members import Members
from sqlmicro.mask._guaranteed_cut_kernels import Held, inside
from sqlmicro.mask.population_matches import PopulationMatches

GROUPINGS = int(os.environ.get("GROUPINGS", "50"))
"""Groups that are compared for every guarantee; 5 000 by hand."""
INCOME = Column('net "income"', "DOUBLE", 'net "income"')
LABEL, AGE, TOWN = Column("label", "BIGINT", "label"), Column("age", "BIGINT", "age"), Column("town", "VARCHAR", "town")
NUMBER = Column("row_id", "BIGINT", "row_id")


@pytest.fixture
def warehouse():
    with open_warehouse(None) as opened:
        yield opened


def loaded(warehouse, into, columns, rows):
    import pyarrow as pa

    kinds = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "VARCHAR": pa.string()}
    table = pa.table({
        column.name: pa.array([row[i] for row in rows], kinds[column.type]) for i, column in enumerate(columns)
    })  # fmt: skip
    return Source(warehouse.load(table, into, "test"), "test", tuple(columns), is_table=False)


def of(warehouse, release, population, quasi, nulls="own_value"):
    return AuditedRelease(warehouse=warehouse, release=release, population=population, quasi=quasi, nulls=nulls)


def numbered(rows):
    return [(number, *row) for number, row in enumerate(rows)]


def test_arrays_and_selects_count_the_same_members(warehouse):
    """As generalize reads them: the combinations of both, numbered in SQL, missing values among them."""
    rng = np.random.default_rng(1)

    def rows(n):
        towns = [None if town == 3 else "abc"[town] for town in rng.integers(0, 4, n)]
        labels = rng.integers(0, max(1, GROUPINGS // 3), n).tolist()
        return [(label if label else None, town) for label, town in zip(labels, towns, strict=True)]

    quasi = (LABEL, TOWN)
    everybody = rows(6 * GROUPINGS)
    records = [everybody[i] for i in rng.permutation(len(everybody))[: 3 * GROUPINGS]] + rows(GROUPINGS // 5)
    release = loaded(warehouse, "records_of_the_test", (NUMBER, *quasi), numbered(records))
    population = loaded(warehouse, "everybody_of_the_test", (NUMBER, *quasi), numbered(everybody))
    audited = of(warehouse, release, population, quasi)
    cells = warehouse.run("mask/population_cells.sql", "cells", relation=release.relation,
                          population=population.relation, columns=quasi)  # fmt: skip
    found = warehouse.arrays("mask/cell_codes.sql", cells=cells, counted=["n", "members"], columns=quasi)
    n, members = found["n"].astype(int), found["members"].astype(int)
    shown = warehouse.query("test", "SELECT label, town FROM {{ cells | ident }} ORDER BY cell", cells=cells)
    sizes = {(a, b): total for a, b, *_, total in warehouse.rows(
        "audit/population_members.sql", sizes=_in_population(audited), columns=quasi)}  # fmt: skip
    presence = {(a, b): share for a, b, _, share in warehouse.rows(
        "audit/presence.sql", cells=audited.cells, population=audited.population_cells, columns=quasi)}  # fmt: skip
    of_records = n > 0
    assert len(sizes) == of_records.sum() >= GROUPINGS and len(set(sizes.values())) > 3
    assert [sizes[row] for row, own in zip(shown, of_records, strict=True) if own] == members[of_records].tolist()
    assert len(presence) == (members > 0).sum()
    for least in range(1, members.max() + 2):
        kept = Members(members, least).kept(n)
        assert all(kept[i] == (sizes[shown[i]] >= least) for i in np.flatnonzero(of_records)), least
    gate = audits()["delta-presence"]
    both = np.flatnonzero(of_records & (members > 0))
    for share in np.unique(n[both] / members[both]):
        kept = Members(members, 1, float(share)).kept(n)
        assert all(kept[i] == gate.holds(presence[shown[i]], float(share)) for i in both), share
        assert not kept[of_records & (members == 0)].any(), "nobody there is no presence of 0"


def test_kernel_and_select_match_the_same_members_where_a_missing_value_may_be_any(warehouse):
    """As suppress counts them."""
    rng = np.random.default_rng(2)
    quasi = (LABEL, AGE, TOWN)

    def rows(n, gaps):
        codes = rng.integers(0, (8, 5, 3), (n, 3))
        codes[rng.random(codes.shape) < gaps] = -1
        return codes

    def shown(codes):
        return [
            (a if a >= 0 else None, b if b >= 0 else None, "abc"[c] if c >= 0 else None) for a, b, c in codes.tolist()
        ]

    done = 0
    while done < GROUPINGS:
        released, people = rows(40, 0.4), rows(int(rng.integers(20, 300)), rng.choice([0.0, 0.1]))
        release = loaded(warehouse, "records_of_the_test", quasi, shown(released))
        population = loaded(warehouse, "everybody_of_the_test", quasi, shown(people))
        audited = of(warehouse, release, population, quasi, "wildcard")
        found = warehouse.rows("audit/population_members.sql", sizes=_in_population(audited), columns=quasi)
        own, count = np.unique(people, axis=0, return_counts=True)
        matches = PopulationMatches(own, count, 7)
        codes = {value: code for code, value in enumerate("abc")}
        numbers = np.array([
            [-1 if a is None else a, -1 if b is None else b, codes.get(c, -1)] for a, b, c, *_ in found
        ])  # fmt: skip
        measured = np.array([total for *_, total in found])
        assert matches.members(numbers).tolist() == measured.tolist()
        assert (matches.held(numbers) == (measured >= 7)).all()
        done += len(found)


def test_kernel_and_select_find_the_same_members_in_boxes(warehouse):
    """As mondrian counts them: everybody against the ranges and sets of every group of records."""
    rng = np.random.default_rng(3)
    n, m = 4 * GROUPINGS, 60

    def rows(count):
        incomes = np.round(rng.normal(size=count), 1)
        incomes[rng.random(count) < 0.1] = np.nan
        return np.column_stack([incomes, rng.integers(0, 6, count)])

    def shown(numbers):
        return [(None if np.isnan(a) else a, None if b == 5 else "abcde"[int(b)]) for a, b in numbers.tolist()]

    quasi = (INCOME, TOWN)
    values, people, labels = rows(n), rows(m), rng.integers(0, GROUPINGS, n)
    labels[:GROUPINGS] = np.arange(GROUPINGS)
    pairs = [(q, label) for label in range(GROUPINGS) for q in range(m)]
    grouped = [(label, *row) for label, row in zip(labels.tolist(), shown(values), strict=True)]
    found = warehouse.rows(
        "mask/members_in_groups.sql", ranges=[INCOME], sets=[TOWN],
        members=loaded(warehouse, "members_of_the_test", (NUMBER, LABEL), pairs).relation,
        population=loaded(warehouse, "everybody_of_the_test", (NUMBER, *quasi), numbered(shown(people))).relation,
        grouped=loaded(warehouse, "groups_of_the_test", (LABEL, *quasi), grouped).relation,
    )  # fmt: skip
    held = Held(values, people, np.array([False, True]), np.array([0, 6]), 1, np.inf, np.zeros(0, dtype=np.int64))
    expected = set(found)
    assert GROUPINGS < len(expected) < len(pairs)
    for label in range(GROUPINGS):
        is_in = inside(held, np.flatnonzero(labels == label), np.arange(m))
        assert [(q, label) in expected for q in range(m)] == is_in.tolist(), label
