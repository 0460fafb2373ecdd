"""A report shows nothing that fewer than k records have in common: its rules, and a search for what must not leak."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlmicro.audits.information_loss import BeforeAfter, MissingRates
from sqlmicro.reports.disclosure import Counted, class_steps, edges, merged, missing, pooled
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.language import number, plain
from sqlmicro.reports.page import markdown

from .conftest import HIGHEST, INCOME, LOWEST, RARE, K, World

COUNTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12)


@given(COUNTS, st.integers(2, 6))
def test_merged_bins_have_k_records_in_both_files_and_lose_none(counts: list[tuple[int, int]], k: int) -> None:
    runs = merged(counts, k)
    assert all(before >= k and after >= k for _, _, before, after in runs)
    if runs:
        assert [bin for first, last, _, _ in runs for bin in range(first, last + 1)] == list(range(len(counts)))
        assert [sum(run[side] for run in runs) for side in (2, 3)] == [sum(c[side] for c in counts) for side in (0, 1)]
    else:
        assert min(sum(c[0] for c in counts), sum(c[1] for c in counts)) < k


@given(
    st.lists(st.tuples(st.integers(3, 9), st.integers(3, 9)), max_size=8),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_pooled_values_have_k_records_in_both_files(counts: list[tuple[int, int]], other: tuple[int, int]) -> None:
    shown = [Counted(str(i), *pair) for i, pair in enumerate(counts)]
    kept, rest = pooled(shown, other, 3)
    assert rest == (0, 0) or min(rest) >= 3
    assert kept == shown[: len(kept)]
    if rest != (0, 0):
        totals = [sum(bar[side] for bar in kept) + rest[side - 1] for side in (1, 2)]
        assert totals == [sum(bar[side] for bar in shown) + other[side - 1] for side in (1, 2)]


def test_a_value_that_stands_alone_takes_the_next_one_with_it() -> None:
    """With one record left over, its share would be what the shown ones leave of the total."""
    shown = [Counted("a", 50, 50), Counted("b", 9, 9)]
    assert pooled(shown, (1, 1), 3) == ([shown[0]], (10, 10))
    assert pooled(shown[:1], (0, 0), 3) == (shown[:1], (0, 0))


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_edges_are_few_round_numbers_between_the_quantiles(low: float, width: float) -> None:
    found = edges(low, low + width)
    assert 4 <= len(found) <= 12
    rounding = 1e-9 * max(abs(low), width)
    assert low - rounding <= found[0]
    assert found[-1] <= low + width + rounding
    step = found[1] - found[0]
    assert f"{step:.3e}"[0] in "1259"  # 9.999e-01 is a step of 1


def test_class_steps_begin_at_k() -> None:
    steps = class_steps({2: 1, 3: 2, 7: 1, 8: 1, 20000: 1}, 8)
    assert [(step.label, step.classes, step.records) for step in steps] == [
        ("2", 1, 2), ("3", 2, 6), ("6 to 7", 1, 7), ("8 to 10", 1, 8), ("10,001 and more", 1, 20000),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def written(found: Facts, facts: dict[str, Any], page: str) -> dict[str, str]:
    """The report in every form."""
    return {"page": page, "markdown": markdown(found), "json": json.dumps(facts, default=str, ensure_ascii=False)}


def spellings(value: Any) -> set[str]:
    """Return how a value may be written, as far as it can be told from other numbers."""
    if isinstance(value, str):
        return {value, value.split()[0]}
    texts = {str(value), f"{value:,}"}
    if isinstance(value, float):
        texts |= {f"{value:.1f}", f"{value:,.2f}", f"{value:.6g}"}
    return {text for text in texts if len(re.sub(r"\D", "", text)) >= 5}


def test_no_value_of_fewer_than_k_records_is_in_the_report(world: World, written: dict[str, str]) -> None:
    searched = 0
    for values in world.original.values():
        rare = [value for value, times in Counter(values).items() if times < K and value is not None]
        for text in {text for value in rare for text in spellings(value)}:
            searched += 1
            for form, report in written.items():
                assert text not in report, f"a value of fewer than k records is in the {form}"
    assert searched > 1000


@pytest.mark.parametrize("extreme", [HIGHEST, LOWEST])
def test_no_extreme_value_is_in_the_report_not_even_rounded(extreme: float, written: dict[str, str]) -> None:
    for text in (number(extreme), plain(extreme), f"{extreme:.3g}", number(extreme / K), str(abs(int(extreme)))):
        for form, report in written.items():
            assert text.lstrip("-") not in report, form


def test_the_search_would_find_a_value(written: dict[str, str]) -> None:
    """What k records and more have in common is shown, also in the spellings that are searched for."""
    assert all("Bonn" in report for report in written.values())
    assert all("Kanarienwerder" not in report for report in written.values())
    assert spellings(RARE) >= {"Kanarienwerder"}


def test_bars_stand_for_k_records(world: World, facts: dict[str, Any]) -> None:
    for column in facts["columns"]:
        for bar in column["bars"]:
            for side in ("before", "after"):
                assert bar[side] * len(world.original["age"]) >= K - 1e-9


def test_quantiles_are_means_of_k_values(world: World, facts: dict[str, Any]) -> None:
    """The median of 400 values: rank 200.5, so that the ranks 200 to 202 are averaged for k = 3 (199.5 rounded up)."""
    values = sorted(world.original[INCOME])
    (column,) = [column for column in facts["columns"] if column["name"] == INCOME]
    summary = {row["label"]: row["before"] for row in column["summary"]}
    assert summary["50 % quantile"] == number(sum(values[199:202]) / 3)


def test_classes_below_k_are_one_number(world: World) -> None:
    import sqlmicro

    found = sqlmicro.report(release="by column", db=world.db, sample=0)
    assert found["below_k"] > 0
    assert all(int(row["size"].split()[0]) >= K for row in found["class_sizes"])
    assert found["below_k"] + sum(row["records"] for row in found["class_sizes"]) == found["records"]


def test_a_share_of_missing_values_is_of_k_who_lack_one_and_k_who_do_not() -> None:
    def shown(count: int) -> float | None:
        (one,) = missing(MissingRates({"a": BeforeAfter(count, count)}, BeforeAfter(10, 10)), 3)
        assert one.before == one.after
        return one.before

    assert [shown(count) for count in (0, 1, 2, 3, 7, 8, 9, 10)] == [0.0, None, None, 0.3, 0.7, None, None, 1.0]
