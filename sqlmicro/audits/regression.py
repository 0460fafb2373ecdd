"""What a release does to a regression: least squares coefficients before and after.

The means of subgroups before and after, such as the income by sex and region.

pMSE: how well a model tells the records of a release from those of the original.

The SAFE distance: by how much the contingency tables of a release differ from those of the original.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import sqrt
from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.information_loss import Comparison, comparison, values_of
from sqlmicro.audits.registry import Detail, Found, audit
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.params import Param
from sqlmicro.safe_method.compare import DistanceOptions, compare
from sqlmicro.safe_method.distance import Deviations
from sqlmicro.safe_method.means import LEAST_RECORDS, ShiftedMeans, asked, measure, total

if TYPE_CHECKING:
    import numpy as np

_WHERE = "audit, --regress"
_SINGULAR = 1e-12
_NAME = re.compile(r"""\s*(?:"((?:[^"]|"")+)"|([^"~+\s](?:[^~+]*[^~+\s])?))\s*""")
_FORMULA = re.compile(rf"{_NAME.pattern}~{_NAME.pattern}(?:\+{_NAME.pattern})*")


@dataclass(frozen=True)
class Coefficient:
    """A coefficient before and after; the intercept has no standard error."""

    before: float
    standard_error: float | None
    after: float


@dataclass(frozen=True)
class Regression(Detail):
    """The coefficient of every term of a formula."""

    formula: str
    coefficients: dict[str, Coefficient]


@audit(
    "regression",
    needs=("original",),
    gate="max_coefficient_change",
    source="Schmid, Schneeweiss & Kuechenhoff (2007)",
    templates=("audit/values.sql", "audit/least_squares.sql"),
)
def regression(
    audited: AuditedRelease,
    limit: float | None,
    *,
    regress: Annotated[
        str | None, Param("Linear regression to compare before and after.", metavar='"Y ~ X1 + X2"')
    ] = None,
) -> Found:
    """The largest change of a coefficient of a linear regression, in standard errors of the original.

    Returns
    -------
    Found
        The value over the coefficients but the intercept; `coefficients` has for each term the one before, its standard
        error, and the one after.

    Raises
    ------
    ParameterError
        When the formula cannot be read, or names a column that is missing or not a number.
    InputError
        When the terms determine each other, or too few records have all values.

    Notes
    -----
    Whoever names a column in a formula says that it is a number: codes are taken as they are. Microaggregation of y and
    x changes what least squares estimates: the attenuation is not noise that more records average out. From means and
    covariances of the records that have all values: one pass, then O(p^3).
    """
    if not regress:
        return Found(None, reason="needs --regress")
    y, terms = formula(regress)
    columns = _variables(audited, [y, *terms])
    before, errors = _fit(audited, "original", columns)
    after, _ = _fit(audited, "release", columns)
    names = ["intercept", *(column.name for column in columns[1:])]
    coefficients = {
        name: Coefficient(b, e, a) for name, b, e, a in zip(names, before, [None, *errors], after, strict=True)
    }
    changes = [abs(a - b) / e if e else None for a, b, e in zip(after[1:], before[1:], errors, strict=True)]
    known = [change for change in changes if change is not None]
    reason = None if known else "the original leaves no residual, so that there is no standard error"
    names_ = tuple(column.name for column in columns)
    return Found(max(known, default=None), names_, Regression(regress, coefficients), reason)


def formula(text: str) -> tuple[str, list[str]]:
    """Return the dependent variable and the terms of a formula.

    A name that has a ~ or + in it, or begins with a double quote, is written in double quotes, as in SQL.

    Raises
    ------
    ParameterError
        When the text is no formula.

    >>> formula('income ~ age + "years of school"')
    ('income', ['age', 'years of school'])
    >>> formula('net "income" ~ "a+b"')
    ('net "income"', ['a+b'])
    """
    found = _FORMULA.fullmatch(text)
    if not found:
        raise ParameterError(_WHERE, 'must read like "y ~ x1 + x2"', repr(text))
    y, *terms = (quoted.replace('""', '"') or plain for quoted, plain in _NAME.findall(text))
    return y, terms


def staged(settings: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """Return the settings of audits for a relation whose columns have other names: those in the formula too."""
    asked = settings.get("regress")
    return {**settings, "regress": renamed(str(asked), names)} if asked else dict(settings)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a formula with other names for its variables, case aside.

    >>> renamed("Weight ~ age", {"weight": "weight_"})
    '"weight_" ~ "age"'
    """
    y, terms = formula(text)
    other = ['"' + names.get(name.lower(), name).replace('"', '""') + '"' for name in (y, *terms)]
    return f"{other[0]} ~ {' + '.join(other[1:])}"


def _variables(audited: AuditedRelease, names: Sequence[str]) -> list[Column]:
    """Return the columns of a formula, numbers in both tables; `profile` is not asked what they look like."""
    assert audited.original is not None
    columns = pick(audited.release.columns, names, _WHERE)
    theirs = {column.name: column for column in audited.original.columns}
    for column in columns:
        if column.name not in theirs:
            raise ParameterError(_WHERE, f"the original has no column {column.name!r}")
        if column.name in audited.nominal:
            raise ParameterError(_WHERE, f"column {column.name!r} must be a number", "a column named in --nominal")
        for side, one in (("release", column), ("original", theirs[column.name])):
            if not one.numeric:
                raise ParameterError(_WHERE, f"column {column.name!r} must be a number in the {side}", one.type)
    return columns


def _fit(
    audited: AuditedRelease, side: Literal["original", "release"], columns: list[Column]
) -> tuple[list[float], list[float]]:
    """Return the coefficients, intercept first, and the standard errors of the others."""
    import numpy as np

    relation = values_of(audited, getattr(audited, side), f"regression_{side}", columns)
    p = len(columns)
    pairs = list(combinations_with_replacement(range(p), 2))
    row = audited.warehouse.record(
        "audit/least_squares.sql",
        relation=relation,
        columns=columns,
        pairs=[(columns[i], columns[j]) for i, j in pairs],
    )
    n = row["records"]
    if n <= p:
        raise InputError(_WHERE, f"needs more than {p} records that have all values", f"{n}")
    S = np.empty((p, p))
    for number, (i, j) in enumerate(pairs, 1):
        S[i, j] = S[j, i] = row[f"covariance_{number}"]
    mean = np.array([row[f"mean_{number}"] for number in range(1, p + 1)])
    scale = np.sqrt(np.diag(S))
    if not scale.all() or np.linalg.eigvalsh(S[1:, 1:] / np.outer(scale[1:], scale[1:]))[0] < _SINGULAR:
        raise InputError(_WHERE, "the variables must vary, and no term may follow from the others", "some that do not")
    slopes = np.linalg.solve(S[1:, 1:], S[1:, 0])
    residual = max(float(S[0, 0] - slopes @ S[1:, 0]), 0.0) * (n - 1) / (n - p)
    inverse = np.linalg.inv(S[1:, 1:]) / (n - 1)
    errors = [sqrt(residual * float(v)) for v in np.diag(inverse)]
    return [float(mean[0] - slopes @ mean[1:]), *map(float, slopes)], errors


_MEANS = "audit, --means"


@dataclass(frozen=True)
class ShiftedByTable(Detail):
    """The shifts of all means, and those of every table."""

    means: ShiftedMeans
    tables: dict[str, ShiftedMeans]
    """By the column and those that make the subgroups, as in "income by sex, region"."""


@audit(
    "subgroup-means",
    needs=("original",),
    gate="max_means_shifted",
    on_request=True,
    source="the standard error of a mean, s / sqrt(n)",
    templates=("audit/values.sql", "safe/subgroup_means.sql"),
)
def subgroup_means(
    audited: AuditedRelease,
    limit: float | None,
    *,
    means: Annotated[
        tuple[str, ...],
        Param(
            "Means of subgroups to compare before and after, any number. Default: every numeric column by every pair "
            "of nominal ones.",
            metavar='"COLUMN by A,B"',
            whole=True,
        ),
    ] = (),
) -> Found:
    """The share of the means of subgroups that are off by more than their standard error in the original.

    Returns
    -------
    Found
        The share, from 0 to 1, and of all means together and of every table the number of subgroups, how many shifted,
        how many are gone, and the largest shift in standard errors.

    Raises
    ------
    ParameterError
        When the means cannot be read, or name a column that is missing or of the other scale.

    Notes
    -----
    Subgroups of at least 30 records whose values differ count; one that is gone has shifted. A mean that is off by its
    standard error is off by what another sample of the same size would show.
    """
    found = comparison(audited)
    tables = asked(found.numeric, found.nominal, (), means, _MEANS)
    shifted = measure(audited.warehouse, found.original, found.released, tables)
    every = total(list(shifted.values()))
    names = tuple(dict.fromkeys(column.name for table in tables for column in (table.column, *table.by)))
    if every is None or every.share is None:
        reason = f"no subgroup has {LEAST_RECORDS} records and a numeric column whose values differ"
        return Found(None, names, reason=reason)
    by_table = {f"{t.column.name} by {', '.join(c.name for c in t.by)}": one for t, one in shifted.items()}
    return Found(every.share, names, ShiftedByTable(every, by_table))


_MOST_VALUES = 20
_MOST_CELLS = 200_000_000
_STEPS = 25
_RIDGE = 1e-6


@dataclass(frozen=True)
class Propensity(Detail):
    """The value over what it would be for another sample, and how many coefficients the model has."""

    ratio: float | None
    coefficients: int


@audit(
    "pmse",
    needs=("original",),
    gate="max_pmse",
    on_request=True,
    source="Woo, Reiter, Oganian & Karr (2009); Snoke, Raab, Nowok, Dibben & Slavkovic (2018)",
    templates=("audit/values.sql", "audit/propensity_features.sql"),
)
def pmse(audited: AuditedRelease, limit: float | None) -> Found:
    """pMSE: the mean squared difference of the propensity of being released from the share that is.

    Returns
    -------
    Found
        The value is from 0 (the model cannot tell release and original apart) to c(1 - c), where c is the share of
        released records; `ratio` is the value over what it would be for another sample of the same population, near 1
        for a release as good as that.

    Raises
    ------
    InputError
        When the records times the variables of the model are more than 200 million.

    Notes
    -----
    Logistic regression on main effects: numeric columns with their squares, nominal ones by their 20 most frequent
    values, missing numbers by an indicator. The expected value is (k - 1)(1 - c)^2 c/N for k coefficients and N
    records together (Snoke et al., 2018, theorem 1). Newton's method with a ridge of 1e-6, O(N k^2) a step.
    """
    import numpy as np

    X, target = _features(audited, comparison(audited))
    n, k = X.shape
    c = target.mean()
    w = np.zeros(k)
    w[0] = np.log(c / (1 - c))
    ridge = _RIDGE * n * np.eye(k)
    ridge[0, 0] = 0
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(X @ w, -30, 30)))
        gradient = X.T @ (target - p) - ridge @ w
        step = np.linalg.solve((X * (p * (1 - p))[:, None]).T @ X + ridge + 1e-12 * n * np.eye(k), gradient)
        w += step
        if np.abs(step).max() < 1e-8:
            break
    p = 1 / (1 + np.exp(-np.clip(X @ w, -30, 30)))
    value = float(((p - c) ** 2).mean())
    expected = float((k - 1) * (1 - c) ** 2 * c / n)
    return Found(value, detail=Propensity(value / expected if expected else None, k))


def _features(audited: AuditedRelease, found: Comparison) -> tuple[np.ndarray, np.ndarray]:
    """Return the model matrix (N, k), a column of ones first, and 1 for released records (N,)."""
    import numpy as np

    arrays = audited.warehouse.arrays(
        "audit/propensity_features.sql",
        original=found.original,
        released=found.released,
        numeric=found.numeric,
        nominal=found.nominal,
    )
    target = arrays["target"].astype(float)
    n = len(target)
    if not 0 < target.sum() < n:
        raise InputError("audit, --measure pmse", "release and original must have records", "none")
    columns = [np.ones(n)]
    for column in found.numeric:
        x = np.asarray(arrays[column.staged], dtype=float)
        missing = np.isnan(x)
        if missing.any():
            columns.append(missing.astype(float))
            x = np.where(missing, np.nanmean(x) if not missing.all() else 0.0, x)
        if np.ptp(x) > 0:
            x = (x - x.mean()) / x.std()
            columns += [x, x * x]
    for column in found.nominal:
        codes = arrays[column.staged].astype(np.int64)
        frequent = np.argsort(-np.bincount(codes), kind="stable")[:_MOST_VALUES]
        columns += [(codes == code).astype(float) for code in frequent[1:] if (codes == code).any()]
    if n * len(columns) > _MOST_CELLS:
        raise InputError(
            "audit, --measure pmse",
            f"records times variables must be at most {_MOST_CELLS:,}",
            f"{n:,} records and {len(columns)} variables",
            "Compare samples of both tables",
        )
    return np.column_stack(columns), target


@dataclass(frozen=True)
class Deviating(Detail):
    """The deviations by the number of columns of a table, which is at most `order`."""

    orders: dict[str, Deviations]
    order: int


@audit(
    "safe-distance",
    needs=("original",),
    gate="max_safe_distance",
    on_request=True,
    source="Höhne (2003); see sqlmicro safe-distance",
    templates=("safe/cells.sql", "safe/deviations.sql", "safe/moments.sql", "safe/nominal_codes.sql"),
)
def safe_distance(
    audited: AuditedRelease,
    limit: float | None,
    *,
    order: Annotated[int, Param("SAFE distance: tables of up to this many nominal columns.", min=1, max=10)] = 3,
) -> Found:
    """The SAFE distance of release and original over their contingency tables.

    Returns
    -------
    Found
        The value is the distance, `orders` the deviations by the number of columns of a table.
    """
    found = comparison(audited)
    original, release = audited.original, audited.release
    assert original is not None
    result = compare(
        audited.warehouse,
        Source(original.relation, "original", original.columns, is_table=False),
        Source(release.relation, "release", release.columns, is_table=False),
        DistanceOptions(
            columns=tuple(column.name for column in (*found.numeric, *found.nominal)),
            numeric=tuple(column.name for column in found.numeric),
            nominal=tuple(column.name for column in found.nominal),
            order=order,
        ),
    )
    names = tuple(column.name for column in audited.shared)
    return Found(result.parts.distance, names, Deviating(result.parts.orders, order))
