"""What a guarantee means is the same everywhere: kernels, histograms and audits agree on random groupings."""

import os
from dataclasses import replace

import numpy as np
import pytest
from naive_rules import distance

from sqlmicro.audits import runner
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import reference, shares
from sqlmicro.database.columns import Column
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.guarantees.hierarchies import tree
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.guarantees.state import missing
from sqlmicro.guarantees.tally import Tally
from sqlmicro.options.limits import limits

GROUPINGS = int(os.environ.get("GROUPINGS", "400"))
"""Groups that are compared for every guarantee; 5 000 by hand."""
C = 1.3


@pytest.fixture(scope="module")
def grouped():
    """Return random groups of one table: labels, a nominal column, a numeric one, persons; and their audit."""
    import pyarrow as pa

    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 12, GROUPINGS)
    labels = np.repeat(np.arange(GROUPINGS), sizes)
    n = len(labels)
    # Every group has values of its own favour, so that the measures of the groups differ.
    illness = (rng.integers(0, 6, GROUPINGS)[labels] + rng.choice(4, n, p=[0.5, 0.3, 0.1, 0.1])) % 6
    income = np.round(rng.normal(size=GROUPINGS)[labels] + rng.normal(size=n), 1)
    persons = rng.integers(0, 1 + n // 3, n)
    for group in range(0, GROUPINGS, 4):
        persons[labels == group] = persons[np.argmax(labels == group)]
    table = pa.table({
        "label": labels, "person": persons, "income": pa.array(income, mask=rng.random(n) < 0.05),
        "illness": pa.array([None if value == 5 else "abcde"[value] for value in illness]),
    })  # fmt: skip
    with open_warehouse(None) as warehouse:
        relation = warehouse.load(table, "records_of_the_test", "test")
        kinds = {"label": "BIGINT", "person": "BIGINT", "income": "DOUBLE", "illness": "VARCHAR"}
        columns = {name: Column(name, kind, name) for name, kind in kinds.items()}
        audited = AuditedRelease(
            warehouse=warehouse, release=Source(relation, "test", tuple(columns.values()), is_table=False),
            quasi=(columns["label"],), sensitive=(columns["illness"], columns["income"]), numeric=("income",),
        )  # fmt: skip
        yield labels, table, audited


def _codes(values):
    in_order = sorted(set(values), key=lambda value: (1, 0) if value is None else (0, value))
    places = {value: place for place, value in enumerate(in_order)}
    codes = np.array([places[value] for value in values])
    return codes, np.bincount(codes) / len(codes)


def _measured(audited, declared, column):
    """Return what the SELECT of a limit says of every group, in the order of the labels."""
    params = {"columns": audited.quasi, **({"c": C} if declared.parameters[:1] and declared.at_least else {})}
    params |= {"members": audited.members(column)} if declared.at_least else {"shares": shares(audited, column)}
    name = declared.template
    if declared.name == "max_t":
        name = f"audit/closeness_{'numeric' if column.name == 'income' else 'nominal'}.sql"
        params |= {"reference": reference(audited, column), "value": column} if column.name == "income" else {}
    rows = audited.warehouse.rows(name, **params)
    return np.array([float(row[-1]) for row in sorted(rows)])


@pytest.mark.parametrize("column", ["illness", "income"])
@pytest.mark.parametrize("name", list(limits()))
def test_kernel_and_select_agree_on_every_group(grouped, name, column):
    labels, table, audited = grouped
    declared = limits()[name]
    measured = _measured(audited, declared, next(c for c in audited.sensitive if c.name == column))
    assert len(measured) == GROUPINGS and len(set(measured.round(9))) > 3
    codes, of_table = _codes(table[column].to_pylist())
    one = Sensitive(column, codes, of_table, ordered=column == "income")
    _hold_to(measured, one, declared, labels)


def test_kernel_and_select_agree_on_the_distance_in_a_hierarchy(grouped):
    import pyarrow as pa

    labels, table, audited = grouped
    illness = audited.sensitive[0]
    found = tree([["a", "x", "u"], ["b", "x", "u"], ["c", "y", "u"], ["d", "y", "u"], ["e", "z", "v"]])
    rows = [(value, level, place) for value, places in found.items() for level, place in enumerate(places)]
    columns = dict(zip(("value", "level", "place"), map(list, zip(*rows, strict=True)), strict=True))
    rows = audited.warehouse.rows(
        "audit/closeness_hierarchical.sql", columns=audited.quasi, shares=shares(audited, illness), value=illness,
        reference=reference(audited, illness), tree=audited.load(pa.table(columns), "tree", "test"),
    )  # fmt: skip
    measured = np.array([float(row[-1]) for row in sorted(rows)])
    assert len(measured) == GROUPINGS and len(set(measured.round(9))) > 100
    codes, of_table = _codes(table["illness"].to_pylist())
    levels = (np.array([0, 0, 1, 1, 2, 3]), np.array([0, 0, 0, 0, 1, 2]))
    one = Sensitive("illness", codes, of_table, False, levels)
    naive = [distance(one, codes[labels == group].tolist()) for group in range(GROUPINGS)]
    assert measured == pytest.approx(naive)
    _hold_to(measured, one, limits()["max_t"], labels)


def _hold_to(measured, of, declared, labels):
    """Assert that kernels and counts keep exactly the groups whose measure is within a limit, at every limit."""
    settings = {"c": C} if declared.at_least and declared.parameters else {}
    for value in np.unique(measured.round(12)):
        one = declared.function(int(value) if declared.whole else float(value), **settings)
        rules = Rules(1, None, (replace(of, limits=(one,)),))
        held = missing(labels, rules) == 0
        tally = Tally.of(rules, labels, GROUPINGS)
        assert (tally.kept() == held).all(), value
        assert one.measure(of, tally.sensitive[0][1]) == pytest.approx(measured, abs=1e-9)
        assert ((tally.missed() == 0) == held).all(), value
        holds = measured >= value * (1 - 1e-9) if declared.at_least else measured <= value * (1 + 1e-9)
        assert (held == holds).all(), (value, np.flatnonzero(held != holds)[:5])


def test_kernel_and_select_count_the_same_persons(grouped):
    labels, table, audited = grouped
    of_persons = replace(audited, person=(Column("person", "BIGINT", "person"),), sensitive=(), _made={})
    text = "SELECT label, size FROM {{ cells | ident }} ORDER BY label"
    counted = np.array([size for _, size in of_persons.warehouse.query("test", text, cells=of_persons.cells)])
    assert len(counted) == GROUPINGS and counted.min() == 1
    for k in range(1, counted.max() + 1):
        rules = Rules(k, table["person"].to_numpy())
        held = missing(labels, rules) == 0
        assert (Tally.of(rules, labels, GROUPINGS).kept() == held).all(), k
        assert (held == (counted >= k)).all(), k


def test_every_limit_is_the_gate_of_its_audit():
    assert {one.audit for one in limits().values()} == {
        found.name for found in runner.audits().values() if found.gate in limits()
    }
    assert len(limits()) >= 6
