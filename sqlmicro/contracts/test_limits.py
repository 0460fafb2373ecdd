"""What every limit keeps: its SELECT, what is counted of it and the compiled search are of one mind, group by group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import shares
from sqlmicro.database.columns import Column
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.guarantees.rules import Limit, Rules, Sensitive
from sqlmicro.guarantees.state import missing
from sqlmicro.guarantees.tally import Tally
from sqlmicro.options.limits import DeclaredLimit

_GROUPS = 60


def _table() -> tuple[np.ndarray, np.ndarray]:
    """Return the groups of some records, and a value of each; every group has values of its own favour."""
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(_GROUPS), rng.integers(1, 12, _GROUPS))
    values = (rng.integers(0, 6, _GROUPS)[labels] + rng.choice(4, len(labels), p=[0.5, 0.3, 0.1, 0.1])) % 6
    return labels, np.unique(values, return_inverse=True)[1]


def _asked(limit: DeclaredLimit, value: float) -> Limit:
    found: Limit = limit.function(int(value) if limit.whole else float(value))
    return found


def _selected(limit: DeclaredLimit, labels: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return what the SELECT measures of every group."""
    import pyarrow as pa

    own = {parameter.name: parameter.default for parameter in limit.parameters}
    group, value = Column("label", "BIGINT", "label"), Column("value", "BIGINT", "value")
    with open_warehouse(None) as warehouse:
        relation = warehouse.load(pa.table({"label": labels, "value": values}), "records", "filled by a contract")
        release = Source(relation, "contract", (group, value), is_table=False)
        audited = AuditedRelease(warehouse=warehouse, release=release, quasi=(group,), sensitive=(value,))
        read: dict[str, Any] = (
            {"members": audited.members(value)} if limit.at_least else {"shares": shares(audited, value)}
        )
        rows = warehouse.rows(limit.template, columns=audited.quasi, **read, **own)
    return np.array([float(row[-1]) for row in sorted(rows)])


def test_select_counts_and_search_keep_the_same_groups(limit: DeclaredLimit) -> None:
    """At every value that some group has, and of unions of groups that keep it."""
    if not limit.template:
        pytest.skip("its audit has several SELECTs, tests/guarantees/test_one_answer.py has all of them")
    labels, values = _table()
    measured = _selected(limit, labels, values)
    of = Sensitive("value", values, np.bincount(values) / len(values), ordered=False)
    for value in np.unique(measured[np.isfinite(measured)].round(12)):
        one = _asked(limit, value)
        rules = Rules(1, None, (Sensitive("value", values, of.shares, ordered=False, limits=(one,)),))
        tally = Tally.of(rules, labels, _GROUPS)
        assert one.measure(of, tally.sensitive[0][1]) == pytest.approx(measured, abs=1e-9)
        holds = measured >= value * (1 - 1e-9) if limit.at_least else measured <= value * (1 + 1e-9)
        missed = missing(labels, rules)
        assert ((missed == 0) == holds).all(), value
        assert (tally.kept() == holds).all(), value
        assert (tally.missed() > 0).tolist() == (~holds).tolist(), value
        united = missing(labels // 2, rules)
        assert (united <= missed[::2] + missed[1::2] + 1e-9).all(), "two groups united miss more than both together"


def test_no_group_is_below_the_least_size(limit: DeclaredLimit) -> None:
    """A bound refuses before the work, and must not refuse what some group reaches."""
    labels, values = _table()
    sizes = np.bincount(labels)
    of = Sensitive("value", values, np.bincount(values) / len(values), ordered=False)
    h = Tally.of(Rules(1, None, (of,)), labels, _GROUPS).sensitive[0][1]
    for value in (1, 2, 3) if limit.at_least else (0.2, 0.5, 0.8):
        one = _asked(limit, value)
        kept = one.kept(of, h)
        assert not kept.any() or one.least_size(of, len(values)) <= sizes[kept].min(), value
