"""SAFE through the public API: the candidate nearest to the original is released, small groups, strata."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from sqlmicro import InputError, ParameterError, SqlmicroError

CLUSTERS = ["kmeans++(clusters=4)", "kmeans++(clusters=12)", "mdav"]


def _persons(n: int, seed: int, gaps: bool = False) -> dict[str, tuple[str, list[Any]]]:
    rng = np.random.default_rng(seed)
    texts = np.array(["a", "b", "c", None if gaps else "d"], dtype=object)
    age: list[Any] = rng.integers(0, 99, n).tolist()
    if gaps:
        age = [None if rng.random() < 0.2 else value for value in age]
    return {
        "number": ("INTEGER", list(range(n))),
        "region": ("VARCHAR", rng.choice(texts, n).tolist()),
        "sex": ("VARCHAR", rng.choice(["m", "f"], n).tolist()),
        "age": ("DOUBLE", age),
        "income": ("DOUBLE", np.exp(rng.normal(7, 1, n)).tolist()),
    }


COLUMNS = ["region", "sex", "age", "income"]
SCALES = {"nominal": ["region", "sex"], "numeric": ["age", "income"]}


def _release(workbench: Any, table: dict[str, tuple[str, list[Any]]], /, **options: Any) -> Any:
    settings = {"k": 3, "columns": COLUMNS, "keep": ["number"], "seed": "1", "algorithm": CLUSTERS, **SCALES, **options}
    return workbench.release("safe", workbench.make(table), **settings)


def _distance(before: list[tuple[Any, ...]], after: list[tuple[Any, ...]], order: int) -> float:
    """Return the SAFE distance of two files over (region, sex | age, income), from tables counted in Python."""
    counts, sums = [], []
    for chosen in [s for size in range(1, order + 1) for s in combinations((0, 1), size)]:
        count: Counter[Any] = Counter()
        total: dict[int, Counter[Any]] = {2: Counter(), 3: Counter()}
        for sign, file in ((1, before), (-1, after)):
            for row in file:
                cell = tuple(row[j] for j in chosen)
                count[cell] += sign
                for j in (2, 3):
                    total[j][cell] += sign * (row[j] or 0.0)
        counts.append(sum(map(abs, count.values())) / (2 * len(before)))
        for j in (2, 3):
            sums.append(sum(map(abs, total[j].values())) / sum(abs(row[j] or 0.0) for row in before))
    return float(np.mean(counts) + np.mean(sums))


@pytest.mark.slow
@pytest.mark.parametrize("nulls", ["error", "keep"])
@pytest.mark.parametrize("order", [1, 2])
def test_the_reported_distance_is_that_of_the_published_records(workbench: Any, order: int, nulls: str) -> None:
    columns = _persons(60, seed=order, gaps=nulls == "keep")
    release = _release(workbench, columns, order=order, nulls=nulls)
    before = list(zip(*(columns[name][1] for name in COLUMNS), strict=True))
    expected = _distance(before, release.records(COLUMNS), order)
    assert release.report["safe_distance"] == pytest.approx(expected, abs=1e-9)
    assert min(Counter(map(repr, release.records(COLUMNS))).values()) == release.report["k"] >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_nearest_candidate_is_released(workbench: Any, seed: int) -> None:
    report = _release(workbench, _persons(50, seed)).report
    candidates = report["candidates"]
    assert len(candidates) == len(CLUSTERS) * 3 + 1
    assert [candidate["pass"] for candidate in candidates[:3]] == ["numeric", "nominal", "both"]
    assert candidates[-1]["algorithm"] == "search"
    best = min(candidates, key=lambda c: (c["distance"], c["loss"], c["candidate"]))
    assert report["chosen"] == best["candidate"]
    assert report["safe_distance"] == best["distance"]
    assert (report["groups"], report["smallest_group"], report["largest_group"]) == (
        best["groups"], best["smallest_group"], best["largest_group"],
    )  # fmt: skip
    assert all(candidate["smallest_group"] >= 3 for candidate in candidates)
    for candidate in candidates:
        assert candidate["distance"] == pytest.approx(candidate["counts"] + candidate["sums"], abs=1e-11)


def test_without_nominal_columns_the_loss_decides(workbench: Any) -> None:
    columns = {name: _persons(50, 4)[name] for name in ("number", "age", "income")}
    report = _release(workbench, columns, columns=["age", "income"], nominal=[], method="cluster", decimals=True).report
    assert [candidate["pass"] for candidate in report["candidates"]] == ["numeric"] * 3
    assert {candidate["distance"] for candidate in report["candidates"]} == {0.0}
    losses = {candidate["candidate"]: candidate["loss"] for candidate in report["candidates"]}
    assert losses[report["chosen"]] == min(losses.values())
    assert report["IL"] == pytest.approx(losses[report["chosen"]], rel=1e-6)


def test_without_numeric_columns_there_is_one_pass(workbench: Any) -> None:
    columns = {name: _persons(50, 5)[name] for name in ("number", "region", "sex")}
    release = _release(workbench, columns, columns=["region", "sex"], numeric=[], method="cluster")
    assert [candidate["pass"] for candidate in release.report["candidates"]] == ["nominal"] * 3
    assert release.report["IL"] is None
    assert min(Counter(release.records(["region", "sex"])).values()) >= 3


def test_what_occurs_often_enough_already_is_left_alone(workbench: Any) -> None:
    columns = {
        "number": ("INTEGER", range(40)),
        "region": ("VARCHAR", ["a", "b", "b", "a"] * 10),
        "age": ("DOUBLE", [20.0, 30.0, 40.0, 30.0] * 10),
    }
    release = _release(
        workbench, columns, columns=["region", "age"], nominal=["region"], numeric=["age"],
        algorithm=["kmeans++(clusters=50)"],
    )  # fmt: skip
    assert release.report["safe_distance"] == 0
    assert dict(zip(release.columns["number"], release.records(["region", "age"]), strict=True)) == {
        i: (columns["region"][1][i], columns["age"][1][i]) for i in range(40)
    }


@pytest.mark.parametrize("seed", range(2))
def test_small_groups_can_be_dropped_and_are_counted(workbench: Any, seed: int) -> None:
    columns = {name: _persons(60, 10 + seed)[name] for name in ("number", "age", "income")}
    release = _release(
        workbench, columns, columns=["age", "income"], nominal=[], small_groups="drop", method="cluster",
        algorithm=["kmeans++(clusters=20)"], decimals=True,
    )  # fmt: skip
    report = release.report
    chosen = report["candidates"][report["chosen"] - 1]
    assert 0 < chosen["dropped"] == report["suppressed"] == 60 - release.rows
    assert report["rows"] == release.rows
    assert min(Counter(release.records(["age", "income"])).values()) >= 3
    assert len(set(release.columns["number"])) == release.rows
    assert set(release.columns["number"]) <= set(range(60))
    assert any("dropped" in note and str(chosen["dropped"]) in note for note in report["notes"])
    # Who is left has the mean of those who are left in the group.
    for name in ("age", "income"):
        left = [columns[name][1][number] for number in release.columns["number"]]
        assert sum(release.columns[name]) == pytest.approx(sum(left), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("small_groups", ["merge", "drop"])
def test_groups_do_not_cross_strata(workbench: Any, small_groups: str) -> None:
    columns = _persons(80, 20)
    release = _release(
        workbench, columns, columns=["sex", "age", "income"], by=["region"], nominal=["sex"], small_groups=small_groups,
        decimals=True,
    )  # fmt: skip
    regions = columns["region"][1]
    assert all(
        regions[number] == region
        for number, region in zip(release.columns["number"], release.columns["region"], strict=True)
    )
    assert min(Counter(release.records(COLUMNS)).values()) >= 3
    for region in set(regions):
        inside = [i for i, found in enumerate(release.columns["region"]) if found == region]
        for name in ("age", "income"):
            after = sum(release.columns[name][i] for i in inside)
            before = sum(columns[name][1][release.columns["number"][i]] for i in inside)
            assert after == pytest.approx(before, rel=1e-9)


def test_a_stratum_below_k_is_refused(workbench: Any) -> None:
    columns = {"g": ("VARCHAR", ["a"] * 9 + ["b"] * 2), "x": ("DOUBLE", range(11))}
    db = workbench.make(columns)
    before = workbench.relations(db)
    with pytest.raises(InputError) as refused:
        workbench.release("safe", db, columns=["x"], by=["g"], k=3)
    assert refused.value.exit_code == 2
    assert workbench.relations(db) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"k": 1},
        {"algorithm": ["kmeans"]},
        {"algorithm": ["kmeans++(clusters=0)"]},
        {"algorithm": ["kmeans++(clusters=2.5)"]},
        {"algorithm": ["kmeans++(radius=2)"]},
        {"algorithm": ["mdav(k=3"]},
        {"numeric": ["age", "sex"]},
        {"numeric": ["age", "income"], "nominal": ["region", "sex", "age"]},
        {"nominal": ["number"]},
        {"order": 0},
        {"small_groups": "keep"},
    ],
)
def test_wrong_settings_are_refused(workbench: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as refused:
        _release(workbench, _persons(20, 30), **options)
    assert refused.value.exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({}, {"k": 1}, "k: must be a whole number of at least 2"),
        ({}, {"columns": [], "drop": ["region", "sex", "age", "income", "number"], "keep": []}, "needs columns"),
        ({}, {"k": 21}, "at least k = 21 records"),
        ({}, {"algorithm": ["mdaf"]}, "Did you mean 'mdav'"),
        ({}, {"algorithm": ["mdav(size=4)"]}, "'size' is not a parameter here"),
        ({}, {"numeric": ["age", "income"], "nominal": ["region", "sex", "age"]}, "either numeric or nominal"),
        ({"income": ("DOUBLE", [float("nan")] + [1.0] * 19)}, {}, "numbers must be finite"),
        ({"age": ("FLOAT", [float("inf")] + [1.0] * 19)}, {"nominal": ["region", "sex", "age"], "numeric": ["income"]},
         "numbers must be finite"),
        ({"income": ("DOUBLE", [None] + [1.0] * 19)}, {"nulls": "error"}, "must have no missing values"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["cluster", "search", "best"])
def test_bad_input_is_refused_clearly_and_nothing_is_written(
    workbench: Any, columns: dict[str, Any], options: dict[str, Any], says: str, method: str
) -> None:
    if method == "search" and "algorithm" in options:
        method = "best"
    db = workbench.make({**_persons(20, 30), **columns})
    before = workbench.relations(db)
    settings = {"k": 3, "columns": COLUMNS, "keep": ["number"], "algorithm": CLUSTERS, **SCALES, "method": method}
    with pytest.raises(SqlmicroError) as refused:
        workbench.release("safe", db, **{**settings, **options})
    assert refused.value.exit_code == 2
    assert says in str(refused.value)
    assert "nan" not in str(refused.value)
    assert workbench.relations(db) == before


def test_direct_identifiers_are_dropped_and_named(workbench: Any) -> None:
    columns = {**_persons(40, 31), "email": ("VARCHAR", [f"p{i}@example.org" for i in range(40)])}
    release = workbench.release("safe", workbench.make(columns), k=3, algorithm=["kmeans++(clusters=5)"])
    assert set(release.columns) == set(COLUMNS)
    assert any("email" in note and "number" in note for note in release.report["notes"])


@pytest.mark.slow
def test_more_nominal_columns_than_duckdb_can_group_at_once(workbench: Any) -> None:
    """GROUPING takes 64 columns at most: more are evaluated otherwise, or refused with exit code 2."""
    from sqlmicro import SqlmicroError

    rng = np.random.default_rng(40)
    names = [f"c{j}" for j in range(70)]
    db = workbench.make({name: ("VARCHAR", rng.choice(["a", "b"], 12).tolist()) for name in names})
    try:
        release = workbench.release(
            "safe", db, columns=names, k=3, order=1, algorithm=["kmeans++(clusters=3)"], seed="1"
        )
    except SqlmicroError as refused:
        assert refused.exit_code == 2
    else:
        assert min(Counter(release.records(names)).values()) >= 3


def _people(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "number": ("INTEGER", range(n)),
        "region": ("VARCHAR", rng.choice(["n", "e", "s", None], n).tolist()),
        "sex": ("VARCHAR", rng.choice(["f", "m"], n).tolist()),
        "children": ("INTEGER", rng.integers(0, 5, n).tolist()),
        "income": ("DOUBLE", (rng.lognormal(7, 1, n) + np.arange(n) * 1e-6).tolist()),
    }


@pytest.mark.slow
@pytest.mark.parametrize("by", [[], ["sex"]])
def test_the_search_keeps_values_that_occur_and_gives_means_to_an_income(workbench: Any, by: list[str]) -> None:
    """Rows are kept, every record occurs k times, children keep their values, and the total income is exact."""
    columns = _people(240, 1)
    used = [name for name in ("region", "sex", "children", "income") if name not in by]
    db = workbench.make(columns)
    release = workbench.release(
        "safe", db, columns=used, by=by, keep=["number"], k=4, nulls="keep", method="search", seed="1",
        numeric=["children", "income"],
    )  # fmt: skip
    everything = release.records(["region", "sex", "children", "income"])
    assert len(everything) == 240
    assert min(Counter(everything).values()) >= 4
    combinations_before = set(zip(*(columns[name][1] for name in ("region", "sex", "children")), strict=True))
    assert {record[:3] for record in everything} <= combinations_before
    assert sum(record[3] for record in everything) == pytest.approx(sum(columns["income"][1]), rel=1e-9)
    if by:
        sex = dict(zip(columns["number"][1], columns["sex"][1], strict=True))
        assert all(sex[i] == s for i, s in zip(release.columns["number"], release.columns["sex"], strict=True))
    assert [candidate["algorithm"] for candidate in release.report["candidates"]] == ["search"]


@pytest.mark.slow
def test_the_search_is_nearer_than_every_cluster_method(workbench: Any) -> None:
    columns = _people(120, 2)
    db = workbench.make(columns)
    used = ["region", "sex", "children"]
    release = workbench.release(
        "safe", db, columns=used, nominal=used, rest="drop", k=3, nulls="keep", seed="1",
        algorithm=["kmeans++(clusters=50)", "mdav"],
    )  # fmt: skip
    distances = [candidate["distance"] for candidate in release.report["candidates"]]
    assert distances[-1] < min(distances[:-1])
    assert release.report["chosen"] == len(distances)


def test_a_candidate_is_released_on_request(workbench: Any) -> None:
    columns = _people(100, 3)
    db = workbench.make(columns)
    wanted = {"columns": ["region", "sex", "children"], "keep": ["number"], "rest": "drop", "k": 3, "nulls": "keep"}
    algorithms = ["kmeans++(clusters=5)", "mdav"]
    release = workbench.release("safe", db, **wanted, method="cluster", algorithm=algorithms, candidate=2)
    assert release.report["chosen"] == 2
    with pytest.raises(SqlmicroError, match="must be one of 1 to"):
        workbench.release("safe", db, **wanted, method="cluster", algorithm=algorithms, candidate=99)


def test_a_search_that_is_stopped_says_so_and_keeps_its_promise(workbench: Any) -> None:
    columns = _people(2000, 4) | {"town": ("INTEGER", [i % 61 for i in range(2000)])}
    used = ["region", "sex", "children", "town"]
    db = workbench.make(columns)
    release = workbench.release(
        "safe", db, columns=used, nominal=used, rest="drop", k=5, nulls="keep", method="search", time_limit=0.0
    )
    assert any("stopped early" in note for note in release.report["notes"])
    assert min(Counter(release.records(used)).values()) >= 5


def test_groups_that_are_alike_in_all_nominal_columns_are_split_on_the_numeric_ones(workbench: Any) -> None:
    """Twelve records in two regions: whole regions would do for the tables, groups of three keep the variance."""
    ages = [20.0, 21.0, 22.0, 60.0, 61.0, 62.0]
    columns = {"region": ("VARCHAR", ["a"] * 6 + ["b"] * 6), "age": ("DOUBLE", ages + ages)}
    db = workbench.make(columns)
    release = workbench.release(
        "safe", db, columns=["region", "age"], nominal=["region"], numeric=["age"], k=3, method="cluster",
        algorithm=["kmeans++(clusters=2)"],
    )  # fmt: skip
    assert release.report["safe_distance"] == 0
    assert Counter(release.records(["region", "age"])) == {
        (region, age): 3 for region in ("a", "b") for age in (21.0, 61.0)
    }
    assert release.report["IL"] == pytest.approx(100 * 8 / (8 + 12 * 400), rel=1e-6)


def test_without_columns_to_search_on_there_are_only_groups(workbench: Any) -> None:
    """A continuous column alone has no combinations: the search has nothing to place records on."""
    db = workbench.make({"income": ("DOUBLE", np.random.default_rng(0).normal(size=400).tolist())})
    for method in ("best", "search"):
        release = workbench.release("safe", db, k=3, method=method)
        assert "search" not in [candidate["algorithm"] for candidate in release.report["candidates"]]


@pytest.mark.slow
@pytest.mark.parametrize("nulls", ["keep", "pattern"])
def test_keys_are_never_averaged_beside_a_target_and_weights(workbench: Any, nulls: str) -> None:
    """A mean of employers is another employer; outcomes are everybody's own; the weighted totals stay."""
    rng, n = np.random.default_rng(8), 240
    employers = rng.choice(np.arange(4100, 4160), n).tolist()  # too many for codes by their number
    table: dict[str, tuple[str, list[Any]]] = {
        "employer_id": ("INTEGER", [None if i % 12 == 5 else v for i, v in enumerate(employers)]),
        "sex": ("VARCHAR", rng.choice(["m", "f"], n).tolist()),
        "age": ("INTEGER", [None if i % 8 == 3 else v for i, v in enumerate(rng.integers(18, 80, n).tolist())]),
        "well": ("VARCHAR", rng.choice(["yes", "no"], n).tolist()),
        "pweight": ("DOUBLE", rng.uniform(10, 90, n).tolist()),
        "id": ("INTEGER", list(range(n))),
    }
    release = workbench.release(
        "safe", workbench.make(table), k=3, target="well", nulls=nulls, keep=["id"], accept_unique=["id"], seed="1",
        effort="fast", invented=0,
    )  # fmt: skip
    rows = release.records(["employer_id", "sex", "age", "well", "pweight", "id"])
    assert len(rows) == n and {row[0] for row in rows} <= {*table["employer_id"][1]}
    assert all(table["well"][1][row[5]] == row[3] for row in rows)
    assert sum(row[4] for row in rows) == pytest.approx(sum(table["pweight"][1]), rel=1e-9)
    for sex in "mf":
        total = sum(w for w, who in zip(table["pweight"][1], table["sex"][1], strict=True) if who == sex)
        assert sum(row[4] for row in rows if row[1] == sex) == pytest.approx(total, rel=1e-9)
    assert min(Counter(row[:3] for row in rows).values()) >= 3
    ages = {row[2] for row in rows} - {None}
    assert ages and release.report["steps"][0]["parameters"]["target"] == "well"
