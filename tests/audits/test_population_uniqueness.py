"""How many records nobody else of the population has: ARX's figures, by hand, and populations that are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from math import comb, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sqlmicro
from sqlmicro.audits.population_uniqueness import Estimates, estimates
from sqlmicro.errors import ParameterError

from .conftest import Audit

ADULT = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip


def of_adult(folder: Path, fraction: float) -> Mapping[str, float]:
    (row,) = sqlmicro.audit(
        str(folder / "adult" / "adult.csv"), quasi=ADULT, sampling_fraction=fraction, delimiter=";",
        measure="population-uniqueness",
    )["audits"]  # fmt: skip
    found: Mapping[str, float] = row
    return found


@pytest.mark.slow_but("0.1-zayatz-0.3207402393466189", "0.1-pitman-0.27684993883653597")
@pytest.mark.parametrize(
    ("fraction", "model", "value"),
    [(0.2, "zayatz", 0.3577099234829125), (0.1, "zayatz", 0.3207402393466189), (0.1, "pitman", 0.27684993883653597),
     (0.01, "pitman", 0.1446083531167384)],
)  # fmt: skip
def test_figures_of_arx_on_adult(data_folder: Path, fraction: float, model: str, value: float) -> None:
    """ARX, TestRiskMetrics.testDecisionRule2. Its Newton steps stop at an accuracy of 1e-6."""
    assert of_adult(data_folder, fraction)[model] == pytest.approx(value, rel=1e-7)


@pytest.mark.slow
def test_what_arx_takes_on_adult(data_folder: Path) -> None:
    """Pitman up to 0.1, and the sample uniques where the sample is the population. Here SNB converges at 0.2."""
    taken = {fraction: of_adult(data_folder, fraction) for fraction in (0.01, 0.1, 0.2, 1.0)}
    assert [row["model"] for row in taken.values()] == ["pitman", "pitman", "snb", "counted"]
    assert taken[1.0]["value"] == 0.5142895033485844
    assert taken[0.2]["value"] == min(taken[0.2]["snb"], taken[0.2]["zayatz"])


def naive_zayatz(histogram: Mapping[int, int], everybody: int) -> float:
    """Count the draws with whole numbers."""
    n = sum(size * classes for size, classes in histogram.items())
    one = {j: comb(j, 1) * comb(everybody - j, n - 1) / comb(everybody, n) for j in histogram}
    chance = histogram[1] * one[1] / sum(classes * one[j] for j, classes in histogram.items())
    return histogram[1] * chance / n


@pytest.mark.parametrize("histogram", [{1: 3, 2: 2, 5: 1}, {1: 1}, {1: 4, 30: 2}, {1: 1, 2: 1, 3: 1}])
@pytest.mark.parametrize("times", [2, 3, 50])
def test_zayatz_by_whole_numbers(histogram: dict[int, int], times: int) -> None:
    n = sum(size * classes for size, classes in histogram.items())
    expected = naive_zayatz(histogram, n * times)
    assert estimates(histogram, 1 / times).zayatz == pytest.approx(expected, rel=1e-9)


def naive_likelihood(histogram: Mapping[int, int], t: float, a: float) -> float:
    """Pitman's sampling formula as a product, without what does not depend on the parameters."""
    n, u = sum(s * c for s, c in histogram.items()), sum(histogram.values())
    found = sum(log(t + i * a) for i in range(1, u)) - sum(log(t + i) for i in range(1, n))
    return found + sum(c * sum(log(i - a) for i in range(1, s)) for s, c in histogram.items())


def test_pitman_is_where_the_likelihood_is_largest() -> None:
    """On a grid of 0.001 and 0.1 nothing is likelier than what the estimate comes from."""
    histogram = {1: 60, 2: 20, 3: 10, 5: 6, 12: 2}
    best = max(
        (naive_likelihood(histogram, t / 10, a / 1000), t / 10, a / 1000)
        for t in range(200, 600, 5)
        for a in range(200, 600, 5)
    )
    from scipy.special import gammaln

    _, t, a = best
    n = sum(size * classes for size, classes in histogram.items())
    share = np.exp(gammaln(t + 1) - gammaln(t + a) + (a - 1) * np.log(n / 0.05))
    assert estimates(histogram, 0.05).pitman == pytest.approx(share, rel=0.01)


def negative_binomial(rng: np.random.Generator) -> np.ndarray:
    """Classes of 1 + a negative binomial number: the model of SNB."""
    found: np.ndarray = np.repeat(np.arange(20_000), 1 + rng.negative_binomial(0.5, 0.08, 20_000))
    return found


def pitman_population(rng: np.random.Generator, t: float = 200.0, a: float = 0.6, n: int = 60_000) -> np.ndarray:
    """Members that join one after the other: a new class with (t + u a)/(t + i), else one by its size less a."""
    who, first = np.empty(n, dtype=np.int64), []
    for i in range(n):
        if rng.random() * (t + i) < t + len(first) * a:
            who[i] = len(first)
            first.append(i)
            continue
        while True:  # a member at random; the first of its class stands for its size less a only with 1 - a
            j = int(rng.integers(i))
            if first[who[j]] != j or rng.random() >= a:
                who[i] = who[j]
                break
    return who


@pytest.mark.parametrize(
    ("population", "fraction", "model"),
    [(pitman_population, 0.05, "pitman"), (pitman_population, 0.1, "pitman"), (negative_binomial, 0.3, "snb")],
)
def test_populations_that_are_known(
    population: Callable[[np.random.Generator], np.ndarray], fraction: float, model: str
) -> None:
    """From samples of a population of the model, its estimate is within 10 % of the uniques there are."""
    rng = np.random.default_rng(7)
    everybody = population(rng)
    truth = (np.bincount(everybody) == 1).sum() / len(everybody)
    found = []
    for _ in range(5):
        sample = rng.choice(everybody, round(fraction * len(everybody)), replace=False)
        counts = Counter(Counter(sample.tolist()).values())
        found.append(getattr(estimates(counts, fraction), model))
    assert np.mean(found) == pytest.approx(truth, rel=0.1)


def test_what_does_not_converge_is_none() -> None:
    assert estimates({1: 10}, 0.1) == Estimates(pytest.approx(1.0), None, None)
    assert estimates({1: 1}, 0.1) == Estimates(pytest.approx(1.0), None, None)
    assert estimates({3: 4}, 0.5) == Estimates(0.0, 0.0, 0.0)
    assert estimates({1: 2, 1_000_000: 3}, 1e-9).zayatz <= 1


ROWS: list[tuple[object, ...]] = [(1, 10.0), (2, 10.0), (2, 10.0), (None, 10.0)]


@pytest.fixture
def measured(audit: Audit) -> Callable[..., Mapping[str, Any]]:
    """Return a function that measures the uniqueness of records of a value and a weight."""

    def run(rows: list[tuple[object, ...]], **given: object) -> Mapping[str, Any]:
        types = {'net "income"': "INTEGER", "w": "DOUBLE"}
        found: Mapping[str, Any] = audit(
            {"release": (types, rows)}, ["population-uniqueness"], quasi=['net "income"'], **given
        )["population-uniqueness"][0]
        return found

    return run


def test_the_fraction_is_that_of_the_weights(measured: Callable[..., Mapping[str, Any]]) -> None:
    """Missing and vanishing weights make the fraction larger, never smaller: more would be unique, not fewer."""
    found = measured(ROWS, weight="w")
    assert (found["sampling_fraction"], found["model"]) == (0.1, "zayatz")
    assert found["value"] == pytest.approx(naive_zayatz({1: 2, 2: 1}, 40), rel=1e-9)
    lacking: list[tuple[object, ...]] = [(value, None if value == 1 else weight) for value, weight in ROWS]
    assert measured(lacking, weight="w")["sampling_fraction"] == pytest.approx(4 / 30)
    assert measured([(value, 0.0) for value, _ in ROWS], weight="w")["value"] == 0.5
    assert measured(ROWS, weight="w", sampling_fraction=0.5)["sampling_fraction"] == 0.5


def test_without_a_fraction_nothing_is_said(measured: Callable[..., Mapping[str, Any]]) -> None:
    assert measured(ROWS)["reason"] == "needs --sampling-fraction or --weight"
    assert "in several classes" in measured(ROWS, sampling_fraction=0.1, nulls="wildcard")["reason"]
    assert measured(ROWS, sampling_fraction=0.1, nulls="exclude")["status"] == "measured"
    assert measured([], sampling_fraction=0.1)["reason"] == "there are no records"
    assert measured(ROWS[:1], sampling_fraction=0.1)["value"] == pytest.approx(1.0)
    with pytest.raises(ParameterError, match="must be above 0"):
        measured(ROWS, sampling_fraction=0)


def test_the_gate(measured: Callable[..., Mapping[str, Any]]) -> None:
    assert measured(ROWS, sampling_fraction=1.0, max_population_uniqueness=0.5)["passed"] is True
    assert measured(ROWS, sampling_fraction=1.0, max_population_uniqueness=0.49)["passed"] is False
    assert measured(ROWS, max_population_uniqueness=0.5)["passed"] is False


@pytest.mark.parametrize(
    ("found", "fraction", "taken"),
    [((0.2, 0.1, 0.3), 0.1, "pitman"), ((0.2, None, 0.3), 0.1, "zayatz"), ((0.2, 0.1, 0.3), 0.5, "zayatz"),
     ((0.2, 0.1, 0.15), 0.5, "snb"), ((0.2, 0.1, None), 0.5, "zayatz")],
)  # fmt: skip
def test_which_estimate_is_taken(found: tuple[float, float | None, float | None], fraction: float, taken: str) -> None:
    """Dankar et al. (2012): Pitman's for small samples; else the smaller of Zayatz's and SNB."""
    assert Estimates(*found).taken(fraction)[0] == taken
