"""Individual ranking against a naive implementation, and against the results of another program."""

from __future__ import annotations

import csv
from statistics import fmean, median
from typing import Any

import numpy as np
import pytest
import world
from conftest import tie_order

REMAINDERS = ("spread-from-both-ends", "last")
PUBLISHED = {"census": "census", "tarragona": "tarragona", "eia": "eia11"}


def naive_groups(n: int, k: int, remainder: str) -> list[range]:
    """Return the positions of every group in the sorted order."""
    if remainder == "last":
        starts = [i * k for i in range(n // k)]
        return [range(start, end) for start, end in zip(starts, [*starts[1:], n], strict=True)]
    low, high = 0, n
    below: list[range] = []
    above: list[range] = []
    # From both ends inward, the lower end first, until what is left makes one group only.
    while high - low >= 2 * k:
        if len(below) <= len(above):
            below.append(range(low, low + k))
            low += k
        else:
            above.append(range(high - k, high))
            high -= k
    return [*below, range(low, high), *reversed(above)]


def naive_ranking(values: list[float | None], k: int, remainder: str, representative: str) -> list[float | None]:
    """Return the released values; the place of a value is the row key of its record."""
    present, place = [i for i, value in enumerate(values) if value is not None], tie_order(range(len(values)))
    order = sorted(present, key=lambda i: (values[i], place[i]))
    released: list[float | None] = [None] * len(values)
    for group in naive_groups(len(order), k, remainder):
        members = [order[position] for position in group]
        of_group = [values[i] for i in members]
        for i in members:
            released[i] = fmean(of_group) if representative == "mean" else median(of_group)
    return released


def _compare(workbench: Any, columns: dict[str, list[float | None]], k: int, **settings: str) -> None:
    n = len(next(iter(columns.values())))
    db = workbench.make(
        {"number": ("INTEGER", range(n)), **{name: ("DOUBLE", values) for name, values in columns.items()}}
    )
    release = workbench.release(
        "individual-ranking",
        db,
        k=k,
        columns=list(columns),
        keep=["number"],
        row_key=["number"],
        nulls="keep",
        decimals=True,
        **settings,
    )
    assert sorted(release.columns["number"]) == list(range(n))
    for name, values in columns.items():
        expected = naive_ranking(values, k, settings["remainder"], settings["representative"])
        for number, found in zip(release.columns["number"], release.columns[name], strict=True):
            assert found == (
                None if expected[number] is None else pytest.approx(expected[number], rel=1e-12, abs=1e-12)
            )


def test_the_naive_groups_hold_the_median_in_the_group_with_the_remainder() -> None:
    assert [len(group) for group in naive_groups(11, 3, "spread-from-both-ends")] == [3, 5, 3]
    assert [len(group) for group in naive_groups(14, 3, "spread-from-both-ends")] == [3, 3, 5, 3]
    assert [len(group) for group in naive_groups(11, 3, "last")] == [3, 3, 5]


@pytest.mark.slow
@pytest.mark.parametrize("remainder", REMAINDERS)
@pytest.mark.parametrize("representative", ["mean", "median"])
@pytest.mark.parametrize("k", [3, 9])
def test_values_equal_the_naive_ones(workbench: Any, k: int, representative: str, remainder: str) -> None:
    """k = 9 takes the other way to the means: by GROUP BY and JOIN."""
    rng = np.random.default_rng(k)
    for n in (2 * k - 1, 3 * k, 71):
        _compare(
            workbench,
            {"continuous": rng.normal(0, 100, n).tolist(), "ties": rng.integers(0, 5, n).astype(float).tolist()},
            k,
            remainder=remainder,
            representative=representative,
        )


@pytest.mark.parametrize("remainder", REMAINDERS)
def test_missing_values_stay_missing_and_take_no_place(workbench: Any, remainder: str) -> None:
    rng = np.random.default_rng(4)
    values: list[float | None] = rng.normal(size=50).tolist()
    gaps = [None if i % 4 == 0 else value for i, value in enumerate(values)]
    _compare(workbench, {"x": gaps, "whole": values}, 4, remainder=remainder, representative="mean")


@pytest.mark.parametrize("remainder", REMAINDERS)
def test_strata_are_ranked_each_on_its_own(workbench: Any, remainder: str) -> None:
    rng = np.random.default_rng(5)
    n = 40
    x, region = rng.normal(size=n).tolist(), [("north", "south", None)[int(i)] for i in rng.integers(0, 3, n)]
    db = workbench.make({"number": ("INTEGER", range(n)), "x": ("DOUBLE", x), "region": ("VARCHAR", region)})
    release = workbench.release(
        "individual-ranking", db, k=3, columns=["x"], by=["region"], keep=["number"], remainder=remainder
    )
    released = dict(zip(release.columns["number"], release.columns["x"], strict=True))
    for stratum in ("north", "south", None):
        inside = [i for i in range(n) if region[i] == stratum]
        expected = naive_ranking([x[i] for i in inside], 3, remainder, "mean")
        assert [released[i] for i in inside] == pytest.approx(expected, rel=1e-12)


def _numbers(path: Any) -> tuple[list[str], np.ndarray]:
    with path.open(newline="") as file:
        names = next(csv.reader(file))
    return names, np.genfromtxt(path, delimiter=",", skip_header=1)


@pytest.mark.parametrize(
    ("data", "k"),
    [
        pytest.param(data, k, marks=[] if (data, k) == ("tarragona", 3) else [pytest.mark.slow])
        for data in PUBLISHED
        for k in (3, 4, 5, 10)
    ],
)
def test_losses_are_those_of_another_program(
    workbench: Any, data_folder: Any, reference_folder: Any, data: str, k: int
) -> None:
    with (reference_folder / "il_table.csv").open(newline="") as file:
        expected = {
            (row["data"], int(row["k"])): float(row["IL"]) for row in csv.DictReader(file) if row["method"] == "onedims"
        }
    names, X = _numbers(data_folder / f"{data}.csv")
    db = workbench.make({name: ("DOUBLE", X[:, j]) for j, name in enumerate(names)})
    release = workbench.release("individual-ranking", db, k=k, columns=names, remainder="last", decimals=True)
    assert release.report["IL"] == pytest.approx(expected[PUBLISHED[data], k], rel=1e-9)


def test_values_are_those_of_another_program(workbench: Any, data_folder: Any, reference_folder: Any) -> None:
    """Where equal values fall into two groups, the programs may deal them out differently: the others are compared."""
    names, X = _numbers(data_folder / "tarragona.csv")
    _, expected = _numbers(reference_folder / "ma_tarragona_onedims_k3.csv")
    db = workbench.make(
        {"number": ("INTEGER", range(len(X))), **{name: ("DOUBLE", X[:, j]) for j, name in enumerate(names)}}
    )
    release = workbench.release(
        "individual-ranking", db, k=3, columns=names, keep=["number"], remainder="last", decimals=True
    )
    order = np.argsort(release.columns["number"])
    compared = 0
    for j, name in enumerate(names):
        found = np.array(release.columns[name])[order]
        np.testing.assert_allclose(np.sort(found), np.sort(expected[:, j]), rtol=1e-12, atol=1e-9, err_msg=name)
        outcomes: dict[float, set[float]] = {}
        for value, released in zip(X[:, j], found, strict=True):
            outcomes.setdefault(value, set()).add(released)
        clear = np.array([len(outcomes[value]) == 1 for value in X[:, j]])
        np.testing.assert_allclose(found[clear], expected[clear, j], rtol=1e-12, atol=1e-9, err_msg=name)
        compared += int(clear.sum())
    assert compared > 0.9 * X.size


def test_the_report_warns_that_the_record_is_not_k_anonymous(workbench: Any) -> None:
    rng = np.random.default_rng(6)
    db = workbench.make({name: ("DOUBLE", rng.normal(size=200)) for name in "abcdef"})
    release = workbench.release("individual-ranking", db, k=3, columns=list("abcdef"))
    assert release.report["k"] is None
    assert release.report["k_released"] < 3
    assert "No k was promised for the record" in release.report["verdict"]["sentence"]


def _mixed(rows: int) -> world.Columns:
    """Return columns of every kind of number: with ties, with gaps, whole ones, far apart, and without a value."""
    rng = np.random.default_rng(rows)
    gap = rng.random(rows) < 0.2
    return {
        "person": ("INTEGER", [i // 2 for i in range(rows)]),
        "place": ("VARCHAR", [("north", "south", None)[i] for i in rng.integers(0, 3, rows)]),
        "x": ("DOUBLE", rng.normal(0, 1e6, rows).tolist()),
        "ties": ("BIGINT", rng.integers(0, 5, rows).tolist()),
        "gaps": ("DOUBLE", [None if missing else x for missing, x in zip(gap, rng.normal(size=rows), strict=True)]),
        "wide": ("DOUBLE", (rng.choice([-1, 1], rows) * 10.0 ** rng.integers(-300, 149, rows)).tolist()),
        "price": ("DECIMAL(9, 2)", [None if i % 7 == 0 else i * 37 % 101 / 8 for i in range(rows)]),
        "empty": ("DOUBLE", [None] * rows),
    }


@pytest.mark.slow_but("alone", "strata", "median")
@pytest.mark.parametrize(
    ("columns", "more"),
    [
        pytest.param(["x"], {}, id="alone"),
        pytest.param(["gaps"], {}, id="alone with gaps"),
        pytest.param(["x", "ties", "gaps", "wide", "price", "empty"], {"by": ["place"]}, id="strata"),
        pytest.param(["x", "ties", "gaps", "wide", "price"], {"representative": "median"}, id="median"),
        pytest.param(["x", "ties", "wide"], {"remainder": "last", "k": 5, "by": ["place"]}, id="last"),
        pytest.param(["x", "ties", "wide"], {"k": 30}, id="most neighbours"),
        pytest.param(["x", "ties", "wide"], {"k": 31}, id="by GROUP BY"),
        pytest.param(["x", "gaps", "price"], {"nulls": "suppress"}, id="records left out"),
        pytest.param(["x", "gaps", "price"], {"nulls": "pattern", "decimals": True}, id="patterns"),
        pytest.param(["x", "gaps", "ties"], {"person": ["person"]}, id="persons"),
    ],
)
def test_what_is_ranked_in_memory_is_what_the_script_says(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, columns: list[str], more: dict[str, Any]
) -> None:
    """To the last bit; where the table is too large, SQL is run."""
    db = world.warehouse(tmp_path, persons=_mixed(700))
    given: dict[str, Any] = {"columns": columns, "nulls": "keep", "k": 4, "seed": "seed", **more}
    given |= {} if more.get("person") else {"rows_are_persons": True}
    script = world.release("individual-ranking", db, into="by_script", show_sql=True, **given)["sql"]
    in_memory = world.release("individual-ranking", db, into="in_memory", **given)
    monkeypatch.setattr("sqlmicro.group.individual_ranking.has_room", lambda warehouse, size: False)
    in_sql = world.release("individual-ranking", db, into="in_sql", **given)
    if not more.get("person"):  # whose groups a kernel unites
        world.execute(db, script)
        assert world.counted(db, "FROM by_script") == world.counted(db, "FROM in_memory")
    assert world.rows(db, "FROM in_sql") == world.rows(db, "FROM in_memory")
    sizes = ("groups", "smallest_group", "largest_group", "IL")
    assert [in_sql[name] for name in sizes] == [in_memory[name] for name in sizes]


@pytest.mark.parametrize("settings", [{"k": 1}, {"k": 0}, {"representative": "mode"}, {"remainder": "first"}])
def test_wrong_settings_are_refused(workbench: Any, settings: dict[str, Any]) -> None:
    from sqlmicro import ParameterError

    db = workbench.make({"x": ("DOUBLE", [1.0, 2.0, 3.0, 4.0])})
    with pytest.raises(ParameterError):
        workbench.release("individual-ranking", db, columns=["x"], **settings)


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 40])
@pytest.mark.parametrize("method", ["individual_ranking", "single_axis", "mdav", "safe"])
def test_a_mean_does_not_leave_the_range_of_its_values(tmp_path, method, k):
    """Three times 0.1 is not 0.3: a constant would come out as two values that tell who is in which group."""
    import duckdb

    import sqlmicro

    path = str(tmp_path / "constant.duckdb")
    with duckdb.connect(path) as con:
        con.execute("CREATE TABLE t AS SELECT 0.1::DOUBLE AS x FROM range(101)")
    getattr(sqlmicro, method)("t", db=path, columns=["x"], k=k, into="out")
    with duckdb.connect(path, read_only=True) as con:
        assert con.execute("SELECT DISTINCT x FROM out").fetchall() == [(0.1,)]
