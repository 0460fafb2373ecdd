"""pMSE: how well a model tells the records of a release from those of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.comparison import Comparison, comparison
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Detail, Found
from sqlmicro.errors import InputError

if TYPE_CHECKING:
    import numpy as np

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
