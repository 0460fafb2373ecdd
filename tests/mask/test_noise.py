"""Noise: moments, distributions and what stays exactly as it was, over 100 000 records, within 5 standard errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from world import refused, release, rows, warehouse

from sqlmicro import InputError, ParameterError

N = 100_000
COVARIANCE = np.array([[4.0, 1.8, 0.0], [1.8, 9.0, -2.0], [0.0, -2.0, 1.0]])
MEANS = np.array([10.0, -3.0, 0.5])
NAMES = ["x", "y", "z"]


@pytest.fixture(scope="module")
def original() -> np.ndarray:
    """Return correlated normal records (N, 3)."""
    return np.random.default_rng(1).multivariate_normal(MEANS, COVARIANCE, N)


@pytest.fixture(scope="module")
def db(workbench: Any, original: np.ndarray) -> str:
    """Return a database with these records and their number."""
    columns = {name: ("DOUBLE", original[:, j].tolist()) for j, name in enumerate(NAMES)}
    return str(workbench.make({"i": ("INTEGER", range(N)), **columns}))


def _released(workbench: Any, db: str, columns: list[str] = NAMES, **options: Any) -> np.ndarray:
    """Return the released columns (N, p) in the order of the original records."""
    release = workbench.release("noise", db, columns=columns, rest="keep", seed="noise", **options)
    order = np.argsort(release.columns["i"])
    return np.column_stack([np.array(release.columns[name], dtype=float)[order] for name in columns])


def _within(found: np.ndarray, expected: np.ndarray, errors: np.ndarray) -> None:
    assert (np.abs(found - expected) <= 5 * errors).all(), (found - expected) / errors


def rounded(S: np.ndarray) -> np.ndarray:
    """Return a covariance with deviations that are powers of 2^(1/8) and correlations in tenths, as noise has it.

    Noise of one deviate in two sizes gives the value away, so that its size must not follow every changed record.
    """
    sizes = 2 ** (np.round(8 * np.log2(np.sqrt(np.diag(S)))) / 8)
    deviations = np.sqrt(np.diag(S))
    return np.asarray(np.round(S / np.outer(deviations, deviations), 1) * np.outer(sizes, sizes))


def _check_covariance(sample: np.ndarray, expected: np.ndarray) -> None:
    """Hold a sample covariance of normal records to the expected one; its variance is (s_ij² + s_ii s_jj) / n."""
    variances = np.diag(expected)
    errors = np.sqrt((expected**2 + np.outer(variances, variances)) / N) + 1e-9
    _within(np.cov(sample, rowvar=False), expected, errors)


@pytest.mark.slow
def test_uncorrelated_noise_is_independent_with_a_share_of_the_deviation(
    workbench: Any, db: str, original: np.ndarray
) -> None:
    from scipy import stats

    noise = _released(workbench, db, kind="uncorrelated", amount=0.3) - original
    S = np.cov(original, rowvar=False)
    expected = 0.09 * np.diag(np.diag(rounded(S)))
    _within(noise.mean(axis=0), np.zeros(3), np.sqrt(np.diag(expected) / N))
    _check_covariance(noise, expected)
    for j in range(3):
        assert stats.kstest(noise[:, j] / np.sqrt(expected[j, j]), "norm").pvalue > 1e-4
        assert abs(np.corrcoef(noise[:, j], original[:, j])[0, 1]) < 5 / np.sqrt(N)


def test_correlated_noise_has_the_covariance_of_the_columns(workbench: Any, db: str, original: np.ndarray) -> None:
    released = _released(workbench, db, kind="correlated", amount=0.5)
    noise = released - original
    S = np.cov(original, rowvar=False)
    _within(noise.mean(axis=0), np.zeros(3), np.sqrt(0.25 * np.diag(S) / N))
    _check_covariance(noise, 0.25 * rounded(S))
    correlations = np.corrcoef(original, rowvar=False)
    # Off by at most 0.25 / 1.25 of what rounding to tenths takes.
    assert np.abs(np.corrcoef(released, rowvar=False) - correlations).max() <= 0.01 + 5 / np.sqrt(N)


@pytest.mark.slow
def test_linear_noise_restores_means_and_covariance(workbench: Any, db: str, original: np.ndarray) -> None:
    """Kim: given the records, the moments of y differ from theirs only by those of the noise; variances exactly."""
    released = _released(workbench, db, kind="linear", amount=0.5)
    S = np.cov(original, rowvar=False)
    size = rounded(S)
    c = np.sqrt(np.diag(S) / np.diag(S + 0.25 * size))
    _within(released.mean(axis=0), original.mean(axis=0), c * np.sqrt(0.25 * np.diag(size) / N))
    expected = (S + 0.25 * size) * np.outer(c, c)
    assert np.diag(expected) == pytest.approx(np.diag(S), rel=1e-12)
    _check_covariance(released, expected)
    correlations = [M / np.sqrt(np.outer(np.diag(M), np.diag(M))) for M in (expected, S)]
    assert np.abs(correlations[0] - correlations[1]).max() <= 0.01
    e = (released - (1 - c) * original.mean(axis=0)) / c - original
    _check_covariance(e, 0.25 * size)


@pytest.mark.slow
def test_nonlinear_noise_keeps_every_distribution_exactly(workbench: Any) -> None:
    """Sullivan: on what is not normal, has few distinct values, and is missing in places."""
    from scipy import stats

    rng = np.random.default_rng(2)
    skewed, codes = rng.lognormal(0, 1, N), rng.integers(0, 5, N)
    latent = np.log(skewed) + rng.normal(0, 1, N)
    given: dict[str, tuple[str, Any]] = {
        "i": ("INTEGER", range(N)),
        "skewed": ("DOUBLE", skewed.tolist()),
        "codes": ("INTEGER", [None if i % 10 == 0 else int(c) for i, c in enumerate(codes)]),
        "latent": ("DOUBLE", latent.tolist()),
    }
    db = workbench.make(given)
    names = ["skewed", "codes", "latent"]
    release = workbench.release("noise", db, columns=names, kind="nonlinear", amount=0.3, rest="keep", seed="s")
    order = np.argsort(release.columns["i"])
    for name in names:
        before, after = list(given[name][1]), [release.columns[name][i] for i in order]
        assert [v is None for v in before] == [v is None for v in after]
        assert sorted(v for v in after if v is not None) == sorted(v for v in before if v is not None)
        assert type(after[1]) is type(before[1]), "the type stays"
    after = np.array(release.columns["skewed"])[order]
    assert (after != skewed).mean() > 0.99
    # Normal scores s and s + 0.3 e are correlated by 1 / sqrt(1.09); ranks of normal pairs by 6/pi asin(r/2).
    expected = 6 / np.pi * np.arcsin(1 / np.sqrt(1.09) / 2)
    assert stats.spearmanr(skewed, after)[0] == pytest.approx(expected, abs=0.005)
    correlation = np.corrcoef(np.log(after), np.array(release.columns["latent"])[order])[0, 1]
    assert correlation == pytest.approx(np.corrcoef(np.log(skewed), latent)[0, 1], abs=5 / np.sqrt(N))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_laplace_noise_is_that_of_a_snapped_laplace_distribution(workbench: Any, epsilon: float) -> None:
    """All records are 37, so that the release is a sample of one distribution, on multiples of a power of two."""
    from scipy import stats

    db = workbench.make(
        {"i": ("INTEGER", range(N)), "x": ("DOUBLE", [37.0] * N), "y": ("DOUBLE", [1e9, -1e9] * (N // 2))}
    )
    released = _released(workbench, db, ["x", "y"], kind="laplace", epsilon=epsilon, lower=0, upper=100)
    scale = 100 / epsilon
    grid = 2.0 ** np.ceil(np.log2(scale))
    assert (released % grid == 0).all(), "no low bit of the original"
    edges = grid * (np.arange(-40, 40) + 0.5)
    empirical = np.searchsorted(np.sort(released[:, 0]), edges) / N
    distance = np.abs(empirical - stats.laplace.cdf(edges, 37, scale)).max()
    assert distance < stats.kstwo.isf(1e-6, N), "Kolmogorov-Smirnov, at the edges of the grid"
    far = np.searchsorted(np.sort(released[::2, 1]), edges) / (N // 2)
    assert np.abs(far - stats.laplace.cdf(edges, 100, scale)).max() < stats.kstwo.isf(1e-6, N // 2), (
        "moved to the bound"
    )


@pytest.mark.slow
def test_laplace_noise_is_independent_between_columns(workbench: Any) -> None:
    from scipy import stats

    db = workbench.make({"i": ("INTEGER", range(N)), "x": ("DOUBLE", [0.0] * N), "y": ("DOUBLE", [0.0] * N)})
    released = _released(workbench, db, ["x", "y"], kind="laplace", epsilon=1, lower=0, upper=1)
    assert abs(stats.spearmanr(released[:, 0], released[:, 1])[0]) < 5 / np.sqrt(N)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 20.0])
def test_geometric_noise_is_two_sided_geometric(workbench: Any, epsilon: float) -> None:
    from scipy import stats

    db = workbench.make({"i": ("INTEGER", range(N)), "x": ("INTEGER", [7] * N)})
    z = _released(workbench, db, ["x"], kind="geometric", epsilon=epsilon, lower=0, upper=10)[:, 0] - 7
    a = np.exp(-epsilon / 10)
    values = np.arange(-400, 401)
    distribution = np.cumsum((1 - a) / (1 + a) * a ** np.abs(values))
    empirical = np.searchsorted(np.sort(z), values, side="right") / N
    assert np.abs(empirical - distribution).max() < stats.kstwo.isf(1e-6, N)
    share = (1 - a) / (1 + a)
    assert abs((z == 0).mean() - share) < 5 * np.sqrt(share * (1 - share) / N)


@pytest.mark.slow
def test_figures_of_sdcmicro(workbench: Any, reference_folder: Path) -> None:
    """sdcMicro's noise = 50: additive is a = 0.5, correlated is a² = 0.5; its records have these moments.

    Its restricted figures come of one draw of some thousand records, hence the tolerance of 5 %.
    """
    reference = json.loads((reference_folder / "addNoise_methods.json").read_text())
    sd, cor = np.array(reference["original"]["sd"]), np.array(reference["original"]["cor"])
    given = np.random.default_rng(3).multivariate_normal(np.zeros(3), cor * np.outer(sd, sd), N)
    columns = {name: ("DOUBLE", given[:, j].tolist()) for j, name in enumerate(NAMES)}
    db = workbench.make({"i": ("INTEGER", range(N)), **columns})
    additive = _released(workbench, db, kind="uncorrelated", amount=0.5)
    assert (additive - given).std(axis=0) == pytest.approx(reference["additive"]["sd_noise"], rel=0.05)
    assert additive.std(axis=0) == pytest.approx(reference["additive"]["sd_after"], rel=0.05)
    correlated = _released(workbench, db, kind="correlated", amount=0.5**0.5)
    assert (correlated - given).std(axis=0) == pytest.approx(reference["correlated"]["sd_noise"], rel=0.05)
    assert correlated.std(axis=0) == pytest.approx(reference["correlated"]["sd_after"], rel=0.05)
    assert np.corrcoef(correlated, rowvar=False) == pytest.approx(
        np.array(reference["correlated"]["cor_after"]), abs=0.05
    )


def test_missing_values_do_not_move_the_moments(workbench: Any) -> None:
    """Half of x is missing: its deviation is that of the other half; a constant column stays as it is."""
    x = [None if i % 2 else float(i % 20) for i in range(2000)]
    db = workbench.make({"i": ("INTEGER", range(2000)), "x": ("DOUBLE", x), "c": ("DOUBLE", [5.0] * 2000)})
    release = workbench.release("noise", db, columns=["x", "c"], kind="uncorrelated", amount=1.0, rest="keep", seed="a")
    order = np.argsort(release.columns["i"])
    found = [release.columns["x"][i] for i in order]
    noise = [y - v for y, v in zip(found, x, strict=True) if v is not None]
    sd = np.std([v for v in x if v is not None], ddof=1)
    assert np.std(noise) == pytest.approx(float(np.sqrt(rounded(np.array([[sd**2]])))[0, 0]), rel=5 / np.sqrt(2 * 1000))
    assert set(release.columns["c"]) == {5.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "uncorrelated", "amount": -0.1}, "amount: must be a number above 0"),
        ({"kind": "uncorrelated", "amount": 0.0}, "amount: must be a number above 0"),
        ({"kind": "linear"}, "--kind linear needs --amount"),
        ({"kind": "laplace", "epsilon": 1.0}, "needs --lower"),
        ({"kind": "laplace", "epsilon": 0.0, "lower": 0.0, "upper": 1.0}, "epsilon: must be a number above 0"),
        ({"kind": "laplace", "epsilon": 1.0, "lower": 1.0, "upper": 1.0}, "must be below --upper"),
        ({"kind": "laplace", "epsilon": 1.0, "lower": 0.0, "upper": 1.0, "amount": 1.0}, "--amount does not go with"),
        ({"kind": "correlated", "amount": 1.0, "lower": 1.0}, "--lower does not go with"),
        ({"kind": "geometric", "epsilon": 1.0, "lower": 0.5, "upper": 9.0}, "takes whole numbers"),
    ],
)
def test_options_that_cannot_be_are_refused(workbench: Any, options: dict[str, Any], message: str) -> None:
    db = workbench.make({"x": ("INTEGER", range(10))})
    with refused(message, db, kind=ParameterError):
        workbench.release("noise", db, columns=["x"], **options)


def test_infinite_values_are_refused(workbench: Any) -> None:
    db = workbench.make({"x": ("DOUBLE", [1.0, float("inf"), 2.0])})
    with pytest.raises(InputError, match="must be finite"):
        workbench.release("noise", db, columns=["x"], kind="correlated", amount=0.1)


def test_the_scale_of_laplace_noise_is_the_width_over_epsilon(tmp_path: Path) -> None:
    """The mean distance from the value is the scale; its standard error is the scale over the root of n."""
    warehouse(tmp_path, persons={"x": ("DOUBLE", [50.0] * 2000)})
    release("noise", tmp_path, columns=["x"], kind="laplace", epsilon=0.5, lower=0.0, upper=100.0, seed="a seed")
    assert np.mean([abs(x - 50) for (x,) in rows(tmp_path)]) == pytest.approx(200, abs=5 * 200 / np.sqrt(2000))


def test_linear_noise_is_about_the_mean(tmp_path: Path) -> None:
    values = [1000.0 + i % 7 for i in range(300)]
    warehouse(tmp_path, persons={"x": ("DOUBLE", values)})
    release("noise", tmp_path, columns=["x"], kind="linear", amount=0.5, seed="a seed")
    found = [x for (x,) in rows(tmp_path)]
    assert np.mean(found) == pytest.approx(np.mean(values), abs=1)
    assert np.std(found) == pytest.approx(np.std(values), rel=0.2)
