"""What a published record of a release says of how its numbers were changed, as an attacker uses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import AttackedRelease
from sqlmicro.attacks.candidates import Records
from sqlmicro.attacks.models import Model, Spaces, keep, numeric, swapped
from sqlmicro.missing.standardise import steady
from sqlmicro.system.secrets import Task

if TYPE_CHECKING:
    import numpy as np

_EXACT = 1e-6
"""The variance of noise, in those of a column, that is taken to be there where none was added."""


def published(records: Records, attacked: AttackedRelease, tasks: Sequence[Task]) -> list[Model]:
    """Return the attackers who go by the settings that noise or rank swapping was published with."""
    import numpy as np

    if not numeric(records).any():
        return []
    spaces, found = Spaces(records), []
    names = np.array([name.lower() for name in records.features.names])[numeric(records)]
    for task in tasks:
        worked = np.isin(names, [name.lower() for name in task.columns])
        amount, percent = task.settings.get("amount"), task.settings.get("percent")
        kind = str(task.settings.get("kind") or {"noise": "correlated", "swap": "rank"}.get(task.method))
        if not worked.any():
            continue
        if task.method == "noise" and isinstance(amount, int | float):
            found.append(_noise(spaces, worked, kind, float(amount)))
        if task.method == "swap" and kind == "rank" and isinstance(percent, int | float):
            found.append(swapped(spaces, worked, float(percent) / 100))
    return found


def _noise(spaces: Spaces, worked: np.ndarray, kind: str, amount: float) -> Model:
    """Return the attacker who knows the covariance of the noise, in standard deviations of the original."""
    import numpy as np

    space = "scores" if kind == "nonlinear" else "values"
    X, _ = spaces.numbers(space)
    covariance = np.atleast_2d(np.cov(X.T, aweights=spaces.records.own))
    if kind == "uncorrelated":
        covariance = np.diag(np.diag(covariance))
    noise = np.diag(np.full(len(worked), _EXACT))
    noise[np.ix_(worked, worked)] = amount**2 * steady(covariance[np.ix_(worked, worked)])
    shrunk = np.where(worked & (kind in ("linear", "nonlinear")), 1 / np.sqrt(1 + amount**2), 1.0)
    name = f"noise of {amount:g}, {kind}, as published"
    model = spaces.model(name, space, keep, 1, noise * np.outer(shrunk, shrunk))
    return model.changed(np.diag(shrunk))
