"""Differences of means, variances, covariances, correlations and quantiles between a release and its original.

How far the distribution of every column of a release is from that of the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.information_loss import comparison, largest
from sqlmicro.audits.registry import Detail, Found, NothingToMeasure, audit

_SOURCE = "Hundepool et al. (2012)"
_LEVELS = ("5 %", "25 %", "50 %", "75 %", "95 %")
_SUMMARIES = ("audit/values.sql", "audit/numeric_summaries.sql")
_PAIRS = ("audit/values.sql", "audit/comoments.sql")


@dataclass(frozen=True)
class Summary:
    """The moments of a column, and its quantiles."""

    mean: float | None
    variance: float | None
    quantiles: Sequence[float | None] | None


Summaries = dict[str, Summary]
Figures = dict[str, float | None]


@dataclass(frozen=True)
class Levels(Detail):
    """The quantile of each column that differs most."""

    level: dict[str, str]


@dataclass(frozen=True)
class Correlated(Detail):
    """The correlation of every pair of columns before and after; None where one does not vary."""

    before_and_after: dict[str, list[float | None]]


def _summaries(audited: AuditedRelease) -> tuple[Summaries, Summaries]:
    """Return mean, variance and quantiles of the numeric columns, before and after."""

    def measure() -> tuple[Summaries, Summaries]:
        found = comparison(audited)
        if not found.numeric:
            raise NothingToMeasure(
                "audit", "needs a numeric column that both tables have", "none", "Name it with --numeric"
            )
        before, after = (
            {
                name: Summary(mean, variance, quantiles)
                for name, _, mean, variance, quantiles in audited.warehouse.rows(
                    "audit/numeric_summaries.sql", relation=relation, columns=found.numeric
                )
            }
            for relation in (found.original, found.released)
        )
        return before, after

    return audited.once("summaries", measure)


def _pairs(audited: AuditedRelease) -> tuple[list[tuple[str, str]], Figures, Figures]:
    """Return the pairs of numeric columns, and their covariances and correlations before and after."""

    def measure() -> tuple[list[tuple[str, str]], Figures, Figures]:
        found = comparison(audited)
        pairs = list(combinations(found.numeric, 2))
        if not pairs:
            raise NothingToMeasure("audit", "needs two numeric columns that both tables have", "fewer")
        before, after = (
            audited.warehouse.record("audit/comoments.sql", relation=relation, pairs=pairs)
            for relation in (found.original, found.released)
        )
        return [(first.name, second.name) for first, second in pairs], before, after

    return audited.once("pairs", measure)


def _apart(before: float | None, after: float | None, unit: float | None) -> float | None:
    """Return |after - before| in a unit: 0 where they are alike, None where one is missing or the unit is nothing."""
    if before is None or after is None:
        return None if before is not after else 0.0
    if before == after:
        return 0.0
    return abs(after - before) / unit if unit else None


@audit("means", needs=("original",), gate="max_mean_difference", source=_SOURCE, templates=_SUMMARIES)
def means(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest difference between the means of a column before and after, in standard deviations of the original.

    Returns
    -------
    Found
        The value over the numeric columns both tables have, and `by_column`.
    """
    before, after = _summaries(audited)
    return largest({n: _apart(b.mean, after[n].mean, sqrt(b.variance or 0)) for n, b in before.items()})


@audit("variances", needs=("original",), gate="max_variance_change", source=_SOURCE, templates=_SUMMARIES)
def variances(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest change of the variance of a column, relative to the original.

    Returns
    -------
    Found
        The largest |after/before - 1|, and `by_column`; microaggregation makes variances smaller.
    """
    before, after = _summaries(audited)
    return largest({n: _apart(b.variance, after[n].variance, b.variance) for n, b in before.items()})


@audit("quantiles", needs=("original",), gate="max_quantile_difference", source=_SOURCE, templates=_SUMMARIES)
def quantiles(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest difference of a quantile of a column before and after, in standard deviations of the original.

    Returns
    -------
    Found
        The value over the quantiles 5, 25, 50, 75 and 95 % of all numeric columns, and `by_column` the largest of each
        with its `level`.
    """
    before, after = _summaries(audited)
    by_column: dict[str, float | None] = {}
    levels: dict[str, str] = {}
    for name, b in before.items():
        old, new = b.quantiles or [None] * len(_LEVELS), after[name].quantiles or [None] * len(_LEVELS)
        gaps = [_apart(x, y, sqrt(b.variance or 0)) for x, y in zip(old, new, strict=True)]
        known = [(gap, level) for gap, level in zip(gaps, _LEVELS, strict=True) if gap is not None]
        by_column[name], levels[name] = max(known, key=lambda pair: pair[0]) if known else (None, "")
    return largest(by_column, Levels(levels))


@audit("covariances", needs=("original",), gate="max_covariance_difference", source=_SOURCE, templates=_PAIRS)
def covariances(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest difference of a covariance before and after, in products of the standard deviations of the original.

    Returns
    -------
    Found
        The value over all pairs of numeric columns, and `by_column` under the names "a, b".
    """
    pairs, before, after = _pairs(audited)
    summaries, _ = _summaries(audited)
    by_pair: dict[str, float | None] = {}
    for number, (first, second) in enumerate(pairs, 1):
        unit = sqrt((summaries[first].variance or 0) * (summaries[second].variance or 0))
        key = f"covariance_{number}"
        by_pair[f"{first}, {second}"] = _apart(before[key], after[key], unit)
    return largest(by_pair)


@audit("correlations", needs=("original",), gate="max_correlation_difference", source=_SOURCE, templates=_PAIRS)
def correlations(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest difference of a correlation before and after.

    Returns
    -------
    Found
        The value over all pairs of numeric columns that vary in both tables, from 0 to 2, `by_column` under the names
        "a, b", and `before_and_after`.
    """
    pairs, before, after = _pairs(audited)
    by_pair: dict[str, float | None] = {}
    both: dict[str, list[float | None]] = {}
    for number, (first, second) in enumerate(pairs, 1):
        old, new = before[f"correlation_{number}"], after[f"correlation_{number}"]
        if old is None or new is None or old != old or new != new:
            by_pair[f"{first}, {second}"], both[f"{first}, {second}"] = None, [None, None]
        else:
            by_pair[f"{first}, {second}"], both[f"{first}, {second}"] = abs(new - old), [old, new]
    return largest(by_pair, Correlated(both))


@audit(
    "hellinger",
    needs=("original",),
    gate="max_hellinger",
    source="Hellinger (1909)",
    templates=("audit/values.sql", "audit/hellinger.sql"),
)
def hellinger(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest Hellinger distance between a nominal column before and after.

    Returns
    -------
    Found
        The value over the nominal columns both tables have, from 0 (alike) to 1 (no value in common), and `by_column`.
        A missing value counts as a value.
    """
    found = comparison(audited)
    if not found.nominal:
        return Found(None, reason="no nominal column is in both tables")
    return largest(dict(audited.warehouse.rows("audit/hellinger.sql", **found.of(found.nominal))))


@audit(
    "emd",
    needs=("original",),
    gate="max_emd",
    source="Vallender (1974)",
    templates=("audit/values.sql", "audit/earth_movers.sql"),
)
def earth_movers(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest Earth Mover's Distance between a numeric column before and after, in standard deviations.

    Returns
    -------
    Found
        The value over the numeric columns both tables have, and `by_column`: the area between the cumulated shares,
        over the standard deviation of the original. Missing values take no part.
    """
    found = comparison(audited)
    if not found.numeric:
        return Found(None, reason="no numeric column is in both tables")
    return largest(dict(audited.warehouse.rows("audit/earth_movers.sql", **found.of(found.numeric))))
