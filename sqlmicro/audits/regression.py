"""What a release does to a regression: least squares coefficients before and after."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import sqrt
from typing import Annotated, Literal

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.comparison import values_of
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Detail, Found
from sqlmicro.database.columns import Column, pick
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.params import Param

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
