"""C20: weights are never averaged without a word; what is released of them keeps the totals, and k."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlmicro
from sqlmicro import AuditFailed, SqlmicroError
from sqlmicro.safe_method.calibration import Margin, categories, raked

HEAVIER = {"a": 10.0, "b": 20.0, "c": 40.0}
Rows = list[tuple[Any, ...]]


def _survey(n: int = 120, *, rare: bool = False) -> dict[str, tuple[str, list[Any]]]:
    """Return a survey whose weights follow the region; nobody has the weight of another, one has a region alone."""
    r = random.Random(11)
    region = r.choices("abc", [5, 3, 2], k=n)
    weights = [HEAVIER[one] * r.uniform(0.5, 2) for one in region]
    if rare:
        region[0] = "z"
    return {
        "region": ("VARCHAR", region),
        "sex": ("VARCHAR", r.choices("mf", k=n)),
        'net "income"': ("DOUBLE", [r.lognormvariate(7, 0.5) for _ in range(n)]),
        "pweight": ("DOUBLE", weights),
    }


def _totals(rows: Rows, place: int) -> dict[Any, float]:
    """Add up the weights, which stand last, by the values of a column."""
    found: defaultdict[Any, float] = defaultdict(float)
    for row in rows:
        found[row[place]] += row[-1]
    return dict(found)


def _before_and_after(
    workbench: Any, table: dict[str, tuple[str, list[Any]]], **options: Any
) -> tuple[Rows, Rows, Any]:
    release = workbench.release("safe", workbench.make(table), **{"k": 3, "seed": "1", "effort": "fast", **options})
    return list(zip(*(values for _, values in table.values()), strict=True)), release.records([*table]), release.report


def test_weights_that_nobody_names_keep_their_totals_and_are_those_of_k(workbench: Any) -> None:
    before, after, report = _before_and_after(workbench, _survey())
    assert sum(row[-1] for row in after) == pytest.approx(sum(row[-1] for row in before), rel=1e-12)
    for place in (0, 1):
        assert _totals(after, place) == pytest.approx(_totals(before, place), rel=1e-9)
    # The weight is known too: k holds all the same, and nobody's own is there.
    assert min(Counter(after).values()) >= 3
    assert not {row[-1] for row in before} & {row[-1] for row in after}
    said = [note for note in report["notes"] if note.startswith("weights: pweight ")]
    assert len(said) == 1 and "totals by region, sex are as before" in said[0]
    assert report["steps"][0]["parameters"]["weights"] == "pweight"


def test_the_total_of_a_value_that_one_person_has_is_not_released(workbench: Any) -> None:
    """All others at their exact totals would leave that person's weight as the difference to the whole."""
    before, after, report = _before_and_after(workbench, _survey(rare=True))
    had, has = _totals(before, 0), _totals(after, 0)
    smallest = min((Counter(row[0] for row in before) - Counter("z")).items(), key=lambda one: one[1])[0]
    assert "z" not in has
    for value in {"a", "b", "c"} - {smallest}:
        assert has[value] == pytest.approx(had[value], rel=1e-9)
    assert has[smallest] == pytest.approx(had[smallest] + had["z"], rel=1e-9)
    assert any("count as one in region" in note for note in report["notes"])


@pytest.mark.parametrize(
    ("name", "options", "asked"),
    [
        ("weight", {}, "--weights weight: sampling weights"),
        ("poids", {}, "--weights poids: sampling weights"),
        ("pweight", {"sensitive": ["sex"], "min_l": 2}, "Leave sampling weights out with --drop"),
    ],
)
def test_where_it_is_not_clear_what_a_weight_is_the_run_asks(
    workbench: Any, name: str, options: dict[str, Any], asked: str
) -> None:
    table = _survey(30)
    table[name] = table.pop("pweight")
    db = workbench.make(table)
    with pytest.raises(SqlmicroError, match=asked) as refused:
        workbench.release("safe", db, **{"k": 3, **options})
    assert refused.value.exit_code == 2 and f"Got {name}. " in str(refused.value)


def test_of_two_weights_the_run_asks(workbench: Any) -> None:
    table = _survey(30)
    table["household_weight"] = table["pweight"]
    with pytest.raises(SqlmicroError, match="Got pweight, household_weight"):
        workbench.release("safe", workbench.make(table), k=3)


@pytest.mark.slow
def test_each_answer_is_understood(workbench: Any) -> None:
    table = _survey(60)
    table["weight"] = table.pop("pweight")
    db, given = workbench.make(table), {"k": 3, "effort": "fast"}
    dropped = workbench.release("safe", db, drop=["weight"], **given)
    assert "weight" not in dropped.columns
    measured = workbench.release("safe", db, numeric=["weight", 'net "income"'], **given)
    assert not [note for note in measured.report["notes"] if "weights" in note]
    kept = workbench.release("safe", db, weights="weight", **given)
    assert sum(kept.columns["weight"]) == pytest.approx(sum(table["weight"][1]), rel=1e-12)


def test_other_methods_warn_that_they_change_a_weight_and_keep_is_heeded(workbench: Any) -> None:
    db = workbench.make(_survey(30))
    warned = workbench.release("mdav", db, columns=["pweight"], rest="drop", k=3)
    assert [note for note in warned.report["notes"] if note.startswith("warning: pweight: weights by the name")]
    kept = workbench.release(
        "mdav", db, columns=['net "income"'], keep=["pweight"], rest="drop", k=3, accept_unique=["pweight"]
    )
    assert sorted(kept.columns["pweight"]) == sorted(_survey(30)["pweight"][1])
    assert not [note for note in kept.report["notes"] if note.startswith("warning: ")]


def test_raking_finds_the_weights_of_an_example_worked_by_hand() -> None:
    """Rows 30 and 70, columns 40 and 60; of independent weights 1 the product of the margins is the answer."""
    rows = Margin(np.array([0, 0, 1, 1]), np.array([30.0, 70.0]), joined=False)
    columns = Margin(np.array([0, 1, 0, 1]), np.array([40.0, 60.0]), joined=False)
    assert raked(np.ones(4), [rows, columns]).weight == pytest.approx([12, 18, 28, 42])


def test_totals_that_no_weights_have_are_said() -> None:
    """Both values of one column are in one value of the other, whose total is theirs and half of it."""
    one = Margin(np.array([0, 1]), np.array([10.0, 20.0]), joined=False)
    other = Margin(np.array([0, 1]), np.array([20.0, 10.0]), joined=False)
    whole = Margin(np.array([0, 0]), np.array([30.0]), joined=False)
    found = raked(np.ones(2), [one, other, whole])
    assert found.weight.sum() == pytest.approx(30) and max(found.off) > 0.4


def test_categories_hide_every_total_of_fewer_than_k() -> None:
    """Naively: any category, and the rest, has k records and is shown."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        records, shown = rng.integers(0, 8, 6), rng.random(6) < 0.8
        shown[rng.integers(6)] = True
        records[0] += 3
        found = categories(records, shown, 3)
        for category in set(found.tolist()):
            members = [v for v in range(6) if found[v] == category]
            had = sum(int(records[v]) for v in members)
            whole = len(set(found.tolist())) == 1
            assert whole or had == 0 or (had >= 3 and any(shown[v] for v in members)), (records, shown, found)


def test_in_place_no_column_rounds_calibrated_weights(workbench: Any) -> None:
    """Their totals would not be those that the output names."""
    table = _survey(30)
    table["pweight"] = ("INTEGER", [round(weight) for weight in table["pweight"][1]])
    db = workbench.make(table)
    with pytest.raises(SqlmicroError, match=r"must be DOUBLE, which rounds none. Got pweight \(INTEGER\)") as refused:
        sqlmicro.safe("records", db=db, in_place=True, k=3)
    assert refused.value.exit_code == 2
    assert sorted(workbench.read(db, "records")["pweight"]) == sorted(table["pweight"][1])


def test_the_exact_totals_of_two_releases_do_not_tell_who_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two releases that differ by one person the totals do so by her weight, in each category that she is in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    survey = {name: values for name, (_, values) in _survey().items()}
    given = {"columns": ["region", "sex", 'net "income"'], "weights": "pweight", "keep": ["pweight"], "rest": "drop"}
    for day, people in (("01", 119), ("02", 120)):
        table = pa.table({name: values[:people] for name, values in survey.items()})
        pq.write_table(table, tmp_path / f"p-2026-11-{day}.parquet")
    first, second = (str(tmp_path / f"p-2026-11-{day}.parquet") for day in ("01", "02"))
    sqlmicro.safe(first, to=str(tmp_path / "one.parquet"), k=3, seed="1", effort="fast", **given)
    with pytest.raises(AuditFailed, match="differences of totals about fewer than 3 persons"):
        sqlmicro.safe(second, to=str(tmp_path / "two.parquet"), k=3, seed="1", effort="fast", **given)
    assert not (tmp_path / "two.parquet").exists()


def test_records_without_a_weight_are_refused_with_what_to_do(workbench: Any) -> None:
    survey = _survey()
    survey["pweight"][1][3] = None
    with pytest.raises(SqlmicroError, match=r"1 of 120 records without one\. Give every record a weight, or leave"):
        _before_and_after(workbench, survey)
