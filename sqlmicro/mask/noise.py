"""Noise addition: normal noise that keeps moments or distributions, and noise of a known privacy for bounded values."""

from __future__ import annotations

from math import ceil, exp, log2
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sqlmicro.database import risk_tables
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask import at_risk
from sqlmicro.missing.standardise import steady
from sqlmicro.options.params import Param
from sqlmicro.options.risks import RiskTable, WhereRisk, WhichRisk
from sqlmicro.registry import method
from sqlmicro.work import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work

BOUNDED = ("laplace", "geometric")
_WIDEST = 2**46


@method(
    "noise",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    source="Brand (2002); Kim (1986); Sullivan (1989); Dwork et al. (2006); Mironov (2012); Ghosh et al. (2009)",
    templates=(
        "load/complete_rows.sql",
        "mask/extents.sql",
        "group/cross_moments.sql",
        "mask/draws.sql",
        "mask/normal_noise.sql",
        "mask/normal_scores.sql",
        "mask/values_by_rank.sql",
        "mask/laplace_noise.sql",
        "mask/geometric_noise.sql",
        *at_risk.ONLY,
    ),
    takes_strata=False,
    draws=True,
)
def noise(
    work: Work,
    *,
    kind: Annotated[
        Literal["uncorrelated", "correlated", "linear", "nonlinear", "laplace", "geometric"],
        Param("What the noise keeps: see sqlmicro methods noise."),
    ] = "correlated",
    amount: Annotated[
        float | None, Param("Standard deviation of the noise, in those of the column; not for laplace, geometric.")
    ] = None,
    epsilon: Annotated[float | None, Param("With laplace, geometric: privacy loss of one released value.")] = None,
    lower: Annotated[float | None, Param("With laplace, geometric: smallest possible value.")] = None,
    upper: Annotated[float | None, Param("With laplace, geometric: largest possible value.")] = None,
    where_risk: WhereRisk = None,
    risk: WhichRisk = "individual",
    risk_table: RiskTable = risk_tables.DEFAULT,
) -> Outcome:
    """Add random noise to numbers, dates and timestamps.

    Returns
    -------
    Outcome
        New values of all columns.

    Raises
    ------
    ParameterError
        For an option that is missing, out of bounds, or belongs to another kind.
    InputError
        For columns that have no numbers; with laplace for dates, with geometric for what is not whole numbers.

    Notes
    -----
    Amount a and epsilon are above 0. The bounds should be known without looking at the data; values beyond are moved to
    them.

    With x a value, S the sample covariance of the columns, e normal noise of mean 0, a the amount:

    uncorrelated: y = x + e, variance of e = a² s², columns independent of each other. Means are kept, variances grow by
    1 + a², correlations shrink.

    correlated: y = x + e, covariance of e = a² S. Means and correlations are kept, variances grow by 1 + a².

    linear (Kim 1986): y = c (x + e) + (1 - c) mean(x), covariance of e = a² S, c = 1 / sqrt(1 + a²) but for rounding.
    In expectation sample mean and variances are those of the original, and correlations nearly.

    nonlinear (Sullivan 1989): x becomes its normal score, correlated noise is added to the scores, and the record with
    the r-th smallest sum gets the r-th smallest value. Every column has exactly the values it had; works for columns
    with few distinct values, which are spread over their scores at random. Ours: going back by rank instead of by the
    distribution function keeps the univariate distribution exactly; no iteration restores the correlations.

    laplace: y = the value within its bounds + Laplace noise of scale b = (upper - lower) / epsilon, rounded to
    multiples of the smallest power of two that is at least b (the snapping of Mironov 2012, so that no low bit of the
    original shines through). geometric: whole numbers + two-sided geometric noise, P(z) proportional to exp(-epsilon
    |z| / (upper - lower)). What they promise: one released value changes the odds between any two originals by a factor
    of at most about exp(epsilon), p columns by exp(p epsilon). What they do not: this is no differentially private
    pipeline. That a value is missing is not hidden, columns that are kept are not protected, releases add up, the
    deviates are pseudo-random, made of 59 bits, and the logarithm is the machine's and not correctly rounded as
    Mironov's proof wants it. Released values may lie beyond the bounds.

    With `where_risk` only the records at risk get noise, of the same size as if all got it: means and variances then
    change by less than is said above. Not with nonlinear, which moves values between records.

    What repeats: under one secret the same value of the same person gets the same noise in every release with
    these settings, as long as its size is the same; other settings, columns or sources get noise that has nothing to do
    with it. With kinds that keep correlations a record counts as a whole: one changed value draws all of it anew. So
    that a few changed records do not change the size, standard deviations are rounded to powers of 2^(1/8), by at most
    4.4 %, and correlations to tenths. Linear noise corrects the factor, so that variances are exact. Correlations are
    off by at most 0.05 a² / (1 + a²), and by more only where columns nearly determine each other. A larger change draws
    all noise anew: then the mean of two releases has less noise than one.

    The amount is a ratio of standard deviations in every kind, so that kinds compare; where others give the noise as a
    share of the covariance, d = a². sdcMicro's noise = 50 is a = 0.5 for its additive and a² = 0.5 for its correlated
    noise. Sums are exact, so that the result does not depend on threads. Moments are those of the complete records
    (uncorrelated: of the values). NULL stays NULL. O(n p²); nonlinear O(p n log n).
    """
    _settle(work, kind, amount, epsilon, lower, upper)
    if kind == "nonlinear" and where_risk is not None:
        raise ParameterError(
            f"{work.where}, where_risk", "does not go with --kind nonlinear, which moves values", "both"
        )
    asked = at_risk.asked_for(where_risk, risk, risk_table)
    at_risk.only(work, asked, lambda: _add_noise(work, kind, amount, (epsilon, lower, upper)), apart=False)
    return work.outcome


def _add_noise(
    work: Work, kind: str, amount: float | None, bounded: tuple[float | None, float | None, float | None]
) -> None:
    if kind in BOUNDED:
        epsilon, lower, upper = bounded
        assert epsilon is not None
        assert lower is not None
        assert upper is not None
        _bounded(work, kind, epsilon, lower, upper)
        return
    assert amount is not None
    if kind == "nonlinear":
        _nonlinear(work, amount)
        return
    import numpy as np

    if kind == "uncorrelated":
        found = work.once(f"{work.prefix} variances", lambda: [_variance(work, c) for c in work.columns])
        sizes = [steady(np.array([[size]]))[0, 0] for size in found]
        streams = [Stream((column,), also=size) for column, size in zip(work.columns, sizes, strict=True)]
        work.replace_all(work.columns, _add(work, work.drawn(*streams), np.diag(amount * np.sqrt(sizes))))
        return
    moments = work.once(f"{work.prefix} moments", lambda: _moments_told(work))
    means, covariance = np.array(moments["means"]), np.array(moments["covariance"])
    size = steady(covariance)
    weights, factors = amount * root(size), np.ones(len(means))
    if kind == "linear":
        variances = np.diag(covariance)
        grown = variances + (weights**2).sum(axis=1)
        factors = np.sqrt(np.divide(variances, grown, out=np.ones_like(grown), where=grown > 0))
    drawn = work.drawn(Stream(tuple(work.columns), len(work.columns), size.tolist()))
    work.replace_all(work.columns, _add(work, drawn, weights, factors, (1 - factors) * means))


def _settle(
    work: Work, kind: str, amount: float | None, epsilon: float | None, lower: float | None, upper: float | None
) -> None:
    given = {"amount": amount, "epsilon": epsilon, "lower": lower, "upper": upper}
    needed = ("epsilon", "lower", "upper") if kind in BOUNDED else ("amount",)
    for name, value in given.items():
        if name in needed and value is None:
            raise ParameterError(f"{work.where}, {name}", f"--kind {kind} needs --{name}", "none")
        if name not in needed and value is not None:
            raise ParameterError(f"{work.where}, {name}", f"--{name} does not go with --kind {kind}", f"{value:g}")
        if name in ("amount", "epsilon") and value is not None and not 0 < value <= 1e6:
            raise ParameterError(f"{work.where}, {name}", "must be a number above 0, up to 1e6", f"{value:g}")
    if lower is not None and upper is not None:
        if not -1e150 <= lower < upper <= 1e150:
            raise ParameterError(f"{work.where}, lower", "must be below --upper", f"{lower:g} and {upper:g}")
        whole = lower.is_integer() and upper.is_integer()
        narrow = max(abs(lower), abs(upper), (upper - lower) / (epsilon or 1)) <= _WIDEST
        if kind == "geometric" and not (whole and narrow):
            must = "--kind geometric takes whole numbers, and no more than 2^46 for (upper - lower) / epsilon"
            raise ParameterError(f"{work.where}, lower", must, f"{lower:g} and {upper:g}")
    fits = {"laplace": ("integer", "float", "decimal"), "geometric": ("integer",)}
    wrong = [
        f"{column.name} ({column.type})"
        for column in work.columns
        if not column.numeric or column.family not in fits.get(kind, (column.family,))
    ]
    if wrong:
        what = {"laplace": "numbers", "geometric": "whole numbers"}.get(kind, "numbers, dates and timestamps")
        raise InputError(work.where, f"--kind {kind} works on {what}", ", ".join(wrong))


def _moments(work: Work, relation: Name, columns: Sequence[Column]) -> tuple[np.ndarray, np.ndarray]:
    """Return means (p,) and sample covariance (p, p) of the complete records, in the columns' own units."""
    import numpy as np

    name = "complete" if len(columns) > 1 else f"complete_{columns[0].staged}"
    complete = work.run("load/complete_rows.sql", name, view=True, typed=relation, columns=columns)
    extents = work.record("mask/extents.sql", relation=complete, columns=columns)
    row = work.record("group/cross_moments.sql", relation=complete, columns=columns)
    p = len(columns)
    low = np.array([extents[f"low_{i + 1}"] or 0.0 for i in range(p)])
    width = np.array([extents[f"width_{i + 1}"] or 0.0 for i in range(p)])
    means = low + width * np.array([row[f"mean_{i + 1}"] or 0.0 for i in range(p)])
    covariance = np.zeros((p, p))
    for i in range(p):
        for j in range(i, p):
            covariance[i, j] = covariance[j, i] = (row[f"sum_{i + 1}_{j + 1}"] or 0.0) / max(row["records"] - 1, 1)
    return means, covariance * np.outer(width, width)


def _variance(work: Work, column: Column) -> float:
    return float(_moments(work, work.relation, [column])[1][0, 0])


def _moments_told(work: Work) -> dict[str, list[Any]]:
    means, covariance = _moments(work, work.relation, work.columns)
    return {"means": means.tolist(), "covariance": covariance.tolist()}


def root(covariance: np.ndarray) -> np.ndarray:
    """Return a matrix L (p, p) with L Lᵀ = covariance, also where that is singular.

    >>> import numpy as np
    >>> L = root(np.array([[4.0, 2.0], [2.0, 1.0]]))
    >>> (L @ L.T).round(9).tolist()
    [[4.0, 2.0], [2.0, 1.0]]
    """
    import numpy as np

    deviations = np.sqrt(np.diag(covariance))
    safe = np.where(deviations > 0, deviations, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(safe, safe))
    return np.asarray(deviations[:, None] * vectors * np.sqrt(np.maximum(values, 0)))


def _add(
    work: Work, drawn: Name, weights: np.ndarray, factors: np.ndarray | None = None, shifts: np.ndarray | None = None
) -> Name:
    """Return factor * (column + weights · deviates) + shift for every column; weights are (p, p)."""
    terms = [
        (
            column,
            1.0 if factors is None else float(factors[j]),
            0.0 if shifts is None else float(shifts[j]),
            weights[j].tolist(),
        )
        for j, column in enumerate(work.columns)
    ]
    return work.run("mask/normal_noise.sql", "noisy", drawn=drawn, draws=_named(work), terms=terms)


def _named(work: Work) -> list[str]:
    """Return the names of the draws: one for every column."""
    return [f"draw_{number}" for number in range(1, len(work.columns) + 1)]


def _nonlinear(work: Work, amount: float) -> None:
    p, columns = len(work.columns), tuple(work.columns)
    terms = list(zip(columns, _named(work), strict=True))
    scores = work.run("mask/normal_scores.sql", "scores", drawn=work.drawn(Stream(columns, p, "ranks")), terms=terms)
    size = steady(_moments(work, scores, columns)[1])
    # The record of a score is the hash of its values, so that they are in these draws too.
    noisy = _add(work, work.drawn(Stream((), p, size.tolist()), relation=scores), amount * root(size))
    for column in work.columns:
        into = f"values_{column.staged}"
        values = work.run("mask/values_by_rank.sql", into, relation=work.relation, scores=noisy, column=column)
        work.replace(column, values)


def _bounded(work: Work, kind: str, epsilon: float, lower: float, upper: float) -> None:
    terms = list(zip(work.columns, _named(work), strict=True))
    drawn = work.drawn(*(Stream((column,)) for column in work.columns))
    if kind == "laplace":
        scale = (upper - lower) / epsilon
        own: dict[str, Any] = {"lower": lower, "upper": upper, "scale": scale, "grid": 2.0 ** ceil(log2(scale))}
    else:
        rate = epsilon / (upper - lower)
        own = {"lower": int(lower), "upper": int(upper), "rate": rate, "half": (1 + exp(-rate)) / 2}
    template = f"mask/{kind}_noise.sql"
    work.replace_all(work.columns, work.run(template, "noisy", drawn=drawn, terms=terms, **own))
    work.note(
        f"each value: about {epsilon:g} of privacy loss towards values between {lower:g} and {upper:g}; the release as "
        "a whole is not differentially private"
    )
