"""SAFE with weights: counts and sums are weighted, the k-rule is not."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from sqlmicro import SqlmicroError
from sqlmicro.safe_method.calibration import Margin, raked
from sqlmicro.safe_method.weight_exchange import exchanged
from sqlmicro.system import secrets

COLUMNS = ["region", "sex", "age"]
OPTIONS: dict[str, Any] = {"k": 3, "nominal": ["region", "sex"], "numeric": ["age"], "weights": "w", "seed": "1"}


def _survey(n: int, seed: int, weights: list[Any] | None = None) -> dict[str, tuple[str, list[Any]]]:
    rng = np.random.default_rng(seed)
    return {
        "region": ("VARCHAR", rng.choice(["a", "b", "c", "d"], n).tolist()),
        "sex": ("VARCHAR", rng.choice(["m", "f"], n).tolist()),
        "age": ("INTEGER", rng.integers(20, 60, n).tolist()),
        "w": ("DECIMAL(9,3)", weights or (rng.integers(500, 20_000, n) / 1000).tolist()),
        "id": ("INTEGER", list(range(n))),
    }


def _release(workbench: Any, table: dict[str, tuple[str, list[Any]]], /, **options: Any) -> Any:
    return workbench.release("safe", workbench.make(table), **{"keep": ["id"], **OPTIONS, **options})


def _distance(before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]) -> tuple[float, float]:
    """Return (count part, sum part) over (region, sex | age, w), with Z'WZ and Z'WX counted record by record."""
    counts, sums = [], []
    for chosen in [s for size in (1, 2) for s in combinations((0, 1), size)]:
        count: Counter[Any] = Counter()
        total: Counter[Any] = Counter()
        for sign, file in ((1, before), (-1, after)):
            for row in file:
                cell, weight = tuple(row[j] for j in chosen), float(row[3])
                count[cell] += sign * weight
                total[cell] += sign * weight * row[2]
        counts.append(sum(map(abs, count.values())) / (2 * sum(float(row[3]) for row in before)))
        sums.append(sum(map(abs, total.values())) / sum(float(row[3]) * row[2] for row in before))
    return float(np.mean(counts)), float(np.mean(sums))


@pytest.mark.parametrize("method", ["cluster", "search"])
def test_the_reported_distance_is_the_weighted_one_before_calibration(workbench: Any, method: str) -> None:
    table = _survey(80, 3)
    release = _release(
        workbench, table, method=method, algorithm=["kmeans++(clusters=9)"] if method == "cluster" else []
    )
    before = list(zip(*(table[name][1] for name in [*COLUMNS, "w"]), strict=True))
    own = dict(zip(table["id"][1], table["w"][1], strict=True))
    after = [(*row, own[who]) for *row, who in release.records([*COLUMNS, "id"])]
    counts, sums = _distance(before, after)
    assert release.report["safe_parts"]["counts"] == pytest.approx(counts, abs=1e-9)
    assert release.report["safe_parts"]["sums"] == pytest.approx(sums, abs=1e-9)
    assert min(Counter(tuple(row[:3]) for row in after).values()) == release.report["k"] >= 3


def test_means_are_weighted_and_so_the_weighted_total_stays(workbench: Any) -> None:
    """Without nominal columns there is nothing to calibrate by but the total, which means of weights keep."""
    table = _survey(40, 4)
    release = _release(
        workbench, table, method="cluster", algorithm=["kmeans++(clusters=6)"], unify_numeric=["mean"], decimals=True,
        columns=["age"], nominal=[], drop=["region", "sex"],
    )  # fmt: skip
    expected = sum(age * w for age, w in zip(table["age"][1], table["w"][1], strict=True))
    assert sum(age * float(w) for age, w in release.records(["age", "w"])) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_the_mode_of_a_group_is_by_weight(workbench: Any) -> None:
    """Of three records two are a; the one b weighs more than both. Unweighted the group would become a."""
    table: dict[str, tuple[str, list[Any]]] = {
        "region": ("VARCHAR", ["a", "a", "b"]), "sex": ("VARCHAR", ["m"] * 3), "age": ("INTEGER", [1, 1, 2]),
        "w": ("DOUBLE", [1.0, 1.5, 3.0]), "id": ("INTEGER", [0, 1, 2]),
    }  # fmt: skip
    options = {"method": "cluster", "algorithm": ["mdav"], "identifier_ok": ["region", "sex"]}
    assert {row[0] for row in _release(workbench, table, **options).records(COLUMNS)} == {"b"}
    unweighted = _release(workbench, table, **options, weights=None, keep=["w", "id"])
    assert {row[0] for row in unweighted.records(COLUMNS)} == {"a"}


@pytest.mark.slow
def test_a_heavy_record_is_one_record(workbench: Any) -> None:
    """Weights of 100 make no group of one record: the k-rule counts records."""
    release = _release(workbench, _survey(60, 5, [100.0] * 60))
    assert min(Counter(release.records(COLUMNS)).values()) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1, 7.5])
def test_equal_weights_change_nothing(workbench: Any, monkeypatch: pytest.MonkeyPatch, weight: float) -> None:
    """But the draws: those of other settings, which are taken from them here."""
    monkeypatch.setattr(secrets.Key, "draws", lambda self, *scope: self.value)
    table = _survey(150, 6, [weight] * 150)
    options = {"method": "search", "deal": "none"}
    weighted = _release(workbench, table, **options)
    plain = _release(workbench, table, **options, weights=None, keep=["w", "id"])
    assert sorted(weighted.records([*COLUMNS, "id"])) == sorted(plain.records([*COLUMNS, "id"]))
    assert weighted.report["safe_distance"] == pytest.approx(plain.report["safe_distance"], abs=1e-9)


def test_exchanges_bring_the_weighted_tables_nearer() -> None:
    """How often a combination becomes another stays; the weighted deviation of the one table shrinks by nine tenths."""
    rng = np.random.default_rng(7)
    n = np.array([40, 30, 20, 10])
    source = np.repeat(np.arange(4), n)
    target = np.where(rng.random(100) < 0.3, rng.integers(0, 4, 100), source)
    weight = rng.integers(1, 100, 100) / 50
    codes = np.arange(4)[:, None]
    found = exchanged(codes, np.zeros((4, 0)), n, 3, (source, target, weight), rng, lambda done, total, best="": None)
    assert Counter(zip(source, found, strict=True)) == Counter(zip(source, target, strict=True))

    def deviation(goes: np.ndarray) -> float:
        apart = np.bincount(goes, weight, 4) - np.bincount(source, weight, 4)
        return float(np.abs(apart).sum())

    assert deviation(found) < deviation(target) / 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        (
            [None] + [1.0] * 19,
            {},
            "every record must have a weight from 0.000001 to 1,000,000,000. Got 1 of 20 records",
        ),
        ([0.0, -1.0] + [1.0] * 18, {}, "Got 2 of 20 records"),
        ([1.0] * 20, {"weights": "region"}, r"must be a column of numbers. Got region \(VARCHAR\)"),
        ([1.0] * 20, {"weights": "age", "columns": COLUMNS, "rest": "drop"}, "age in both --columns/--by and --keep"),
        ([1.0] * 20, {"weights": "nowhere"}, "no column 'nowhere'"),
        ([1.0] * 20, {"drop": ["w"]}, "w in both --keep and --drop"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(
    workbench: Any, weights: list[Any], options: dict[str, Any], message: str
) -> None:
    table = _survey(20, 8, weights)
    table["w"] = ("DOUBLE", weights)
    table["name"] = ("VARCHAR", ["x"] * 20)
    db = workbench.make(table)
    before = workbench.relations(db)
    with pytest.raises(SqlmicroError, match=message) as refused:
        workbench.release("safe", db, **{"keep": ["id"], "drop": [], "rest": None, **OPTIONS, **options})
    assert refused.value.exit_code == 2
    assert workbench.relations(db) == before


@pytest.mark.slow
def test_records_with_weights_are_dealt_anew(workbench: Any) -> None:
    """Weights grow with age and by region: they, their sums by two columns, and the weighted spread of ages stay."""
    rng = np.random.default_rng(8)
    table = _survey(400, 8)
    region, age = ([*table[name][1]] for name in ("region", "age"))
    table["w"] = ("DECIMAL(9,3)", [round(9.0 * np.exp(0.4 * "abcd".index(r) + a / 60 + rng.normal(0, 0.4)), 3)
                                   for r, a in zip(region, age, strict=True)])  # fmt: skip
    before = np.array([float(w) for w in table["w"][1]])
    found = {}
    for deal in ("none", "anew"):
        records = {who: row for *row, who in _release(workbench, table, deal=deal).records([*COLUMNS, "w", "id"])}
        assert min(Counter(map(tuple, records.values())).values()) >= 3
        after = np.array([float(records[who][3]) for who in range(400)])
        sums: Counter[Any] = Counter()
        for who in range(400):
            sums[table["region"][1][who], table["sex"][1][who]] += before[who]
            sums[records[who][0], records[who][1]] -= after[who]
        ages = np.array([float(records[who][2]) for who in range(400)])
        moments = [
            (np.average(x, weights=w), np.cov(x, aweights=w)) for x, w in ((np.array(age), before), (ages, after))
        ]
        assert after.sum() == pytest.approx(before.sum(), rel=1e-6)
        found[deal] = (
            float(((after - before) ** 2).sum() / ((before - before.mean()) ** 2).sum()),
            sum(map(abs, sums.values())) / before.sum() / 2,
            abs(float(moments[1][1] / moments[0][1]) - 1),
        )
    assert found["anew"][0] < 0.2 < found["none"][0], found
    assert found["anew"][1] < found["none"][1], found
    assert found["anew"][2] < 0.1, found


def test_where_no_weights_have_all_totals_those_of_fewer_categories_are_kept() -> None:
    """Rows of 4 regions have the totals of sex and region; employers ask for others, which only nothing would meet."""
    rng, groups = np.random.default_rng(5), 200
    region, sex, employer = (rng.integers(0, size, groups) for size in (4, 2, 20))
    weight = rng.uniform(50, 150, groups)
    true = weight * rng.uniform(0.8, 1.25, groups)
    totals = [np.bincount(codes, true) for codes in (employer, region, sex)]
    # All who work for employer 0 are of region 0, whose total is below that of the employer.
    region[employer == 0] = 0
    totals[0] = totals[0] * 0.5
    totals[0][0] += true.sum() - totals[0].sum()
    codes = [employer, region, sex, np.zeros(groups, dtype=np.int64)]
    margins = [
        Margin(of, total, joined=False) for of, total in zip(codes, [*totals, np.array([true.sum()])], strict=True)
    ]
    assert totals[0][0] > totals[1][0]
    made = raked(weight, margins)
    for of, total in zip(codes[1:], [*totals[1:], np.array([true.sum()])], strict=True):
        assert np.bincount(of, made.weight) == pytest.approx(total, rel=1e-9)
    assert made.off[0] > 0.1 and max(made.off[1:]) <= 1e-9
    assert 0.3 < made.low <= made.high < 3  # raking all of them goes on until some weights are nothing
    assert raked(weight, margins[1:]).weight == pytest.approx(made.weight)
