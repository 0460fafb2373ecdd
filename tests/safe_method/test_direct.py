"""The direct search through the public API: steps of numeric columns, effort; and its parts by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from sqlmicro import ParameterError
from sqlmicro.safe_method import direct, groupings
from sqlmicro.safe_method.cells import Cells, indicators
from sqlmicro.safe_method.search import search

USED = ["region", "income"]


def _incomes(n: int, seed: int) -> dict[str, tuple[str, list[Any]]]:
    """Return persons whose incomes are all different, most of them near a multiple of 100."""
    rng = np.random.default_rng(seed)
    return {
        "region": ("VARCHAR", rng.choice(["a", "b", "c"], n).tolist()),
        "income": ("DOUBLE", (100.0 * rng.integers(5, 40, n) + rng.uniform(-40, 40, n)).tolist()),
    }


def _release(workbench: Any, table: dict[str, tuple[str, list[Any]]], **options: Any) -> Any:
    settings = {"columns": USED, "numeric": ["income"], "k": 3, "seed": "1", "method": "search"} | options
    return workbench.release("safe", workbench.make(table), **settings)


def _cells(codes: np.ndarray, raw: np.ndarray) -> Cells:
    ones = np.ones(len(codes), dtype=np.int64)
    values = indicators(codes, ones, 3)
    none = raw[:, :0]
    return Cells(
        "cells",
        "cells",
        "cells",
        [],
        [],
        [],
        ones,
        ones * 0,
        codes,
        raw,
        raw,
        None,
        ones,
        values,
        1.0,
        [],
        [],
        none,
        none,
    )  # type: ignore[arg-type]


def test_steps_keep_totals_and_bring_released_incomes_near_to_the_original_ones(workbench: Any) -> None:
    """Without steps, incomes of one region are all the search knows; with them it tells 500 from 3 900."""
    table = _incomes(600, 1)
    release = _release(workbench, table, round=["income=100"], deal="none")
    assert any("and income in steps" in note for note in release.report["notes"])
    assert _changed_steps(table, release) < 0.25


def test_records_dealt_anew_keep_the_counts_by_steps(workbench: Any) -> None:
    """The counts by steps are nearer than those of deciles would be, and the regions are placed without the steps."""
    table = _incomes(600, 1)
    changed = [_changed_steps(table, _release(workbench, table, **more)) for more in ({}, {"round": ["income=100"]})]
    assert changed[1] < 0.75 * changed[0] and changed[1] < 0.12, changed


def _changed_steps(table: dict[str, tuple[str, list[Any]]], release: Any) -> float:
    """Check the records of a release, and return the share that is in another step."""
    records = release.records(USED)
    assert len(records) == 600
    assert min(Counter(records).values()) >= 3
    assert sum(income for _, income in records) == pytest.approx(sum(table["income"][1]), rel=1e-12)

    def by_step(incomes: list[float]) -> Counter[float]:
        return Counter(round(income / 100) for income in incomes)

    before, after = by_step(table["income"][1]), by_step([income for _, income in records])
    return sum(abs(before[step] - after[step]) for step in before | after) / (2 * 600)


@pytest.mark.slow
def test_a_file_with_nothing_but_an_income_can_be_searched_in_steps(workbench: Any) -> None:
    table = _incomes(200, 2)
    for steps in ([], ["income=100"]):
        candidates = _release(workbench, table, columns=["income"], rest="drop", method="best", round=steps).report[
            "candidates"
        ]
        assert (candidates[-1]["algorithm"] == "search") is bool(steps)


def test_steps_are_nearest_multiples_and_leave_missing_values_missing() -> None:
    raw = np.array([[30.0, 151.0], [31.0, -151.0], [32.0, np.nan]])
    np.testing.assert_array_equal(direct.stepped(raw, 1, [100.0]), [[30, 200], [31, -200], [32, np.nan]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (["income"], "column=step"),
        (["income=0"], "column=step"),
        (["income=-5"], "column=step"),
        (["income=inf"], "column=step"),
        (["income=nan"], "column=step"),
        (["=5"], "column=step"),
        (["incme=5"], "Did you mean 'income'"),
        (["region=5"], "must be numeric columns. Got region"),
    ],
)
def test_wrong_steps_are_refused(workbench: Any, steps: list[str], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        _release(workbench, _incomes(20, 3), round=steps)


@pytest.mark.parametrize("effort", ["fast", "full"])
def test_effort_is_handed_on(workbench: Any, monkeypatch: pytest.MonkeyPatch, effort: str) -> None:
    seen = []

    def spy(*arguments: Any, **settings: Any) -> Any:
        seen.append(settings["effort"])
        return search(*arguments, **settings)

    monkeypatch.setattr(direct, "search", spy)
    _release(workbench, _incomes(30, 4), effort=effort)
    assert seen == [effort]


def test_coordinates_are_numbers_and_a_column_per_value() -> None:
    codes, raw = np.array([[0, 1], [2, 0]]), np.array([[0.5], [-0.5]])
    cells = _cells(codes, raw)
    np.testing.assert_array_equal(cells.coordinates("nominal"), [[1, 0, 0, 0, 1], [0, 0, 1, 1, 0]])
    np.testing.assert_array_equal(cells.coordinates("both"), np.hstack([raw, cells.coordinates("nominal")]))
    assert cells.coordinates("numeric") is cells.numbers
    assert cells.width("both") == 6


def test_of_very_many_values_records_are_grouped_by_the_commonest_that_k_records_have() -> None:
    """150 values: of 1 to 150 records each. 2 000 others, each of one record, would be 2 000 coordinates."""
    n = np.concatenate([np.arange(1, 151), np.ones(2_000, dtype=np.int64)])
    codes = np.stack([np.arange(2_150), np.arange(2_150) % 7], axis=1)
    many, few = indicators(codes, n, 3)
    assert many.tolist() == list(range(50, 150))
    assert few.tolist() == list(range(7))
    (none,) = indicators(codes[150:, :1], n[150:], 3)
    assert none.size == 0


@pytest.mark.slow
def test_the_cluster_method_is_left_out_where_its_coordinates_would_fill_the_memory(
    workbench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groupings, "COORDINATES_UP_TO", 10)
    report = _release(workbench, _incomes(30, 5), method="best").report
    assert [one["algorithm"] for one in report["candidates"]] == ["search"]
    assert any("the cluster method was left out" in note for note in report["notes"])
    assert len(_release(workbench, _incomes(30, 5), method="cluster").report["candidates"]) > 1


def test_patterns_of_missing_values_share_the_proposals_of_a_search(
    workbench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen patterns together make twice those of one search at most, or the fewest that each must; none alone more.

    What a search may make at most is set to 30 000 here: one of the records that lack nothing would take it all.
    """
    from sqlmicro.safe_method import annealing

    rng, n = np.random.default_rng(4), 640
    made: list[tuple[int, int]] = []

    def counted(*arguments: Any, **options: Any) -> Any:
        found = search(*arguments, **options)
        made.append((int(arguments[2].sum()), found.proposals))
        return found

    monkeypatch.setattr(direct, "search", counted)
    monkeypatch.setattr(annealing, "_PROPOSALS", {"fast": 30_000, "full": 30_000})
    monkeypatch.setattr(annealing, "_LEAST_PROPOSALS", 100)
    table = {}
    for name, gaps in (("a", 1), ("b", 2), ("c", 4), ("d", 8), ("e", 0)):
        values = [f"{name}{v}" for v in rng.integers(0, 7, n)]
        # Every pattern of gaps has as many records, but that without gaps, which has five times as many.
        table[name] = ("VARCHAR", [None if gaps & max(0, i % 20 - 4) else v for i, v in enumerate(values)])
    release = workbench.release(
        "safe", workbench.make(table), columns=list(table), k=3, seed="1", nulls="pattern", invented=0
    )
    # Few terms: twice as many proposals in the time of one search. What is above its limit at the end gets some more.
    most, more = 2 * 30_000, 1 + annealing._REPAIRS / annealing._CHUNKS
    assert sorted(records for records, _ in made) == [32] * 15 + [160] and len(release.records(list(table))) == n
    for records, proposals in made:
        assert proposals <= more * (2 * most * records / n + annealing._CHUNKS)
    assert sum(proposals for _, proposals in made) > most  # more than one search: the share is taken up
