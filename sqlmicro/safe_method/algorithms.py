"""The algorithms that group cells for SAFE, and the one syntax they are written in: `name(parameter=value, …)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from sqlmicro.errors import ParameterError, did_you_mean
from sqlmicro.group.mdav import mdav
from sqlmicro.params import Param, parameters, settle
from sqlmicro.registry import Tick
from sqlmicro.safe_method.kmeans import kmeans

if TYPE_CHECKING:
    import numpy as np

DEFAULT = ("kmeans++(clusters=50)", "kmeans++(clusters=500)", "mdav")
MDAV_UP_TO = 30_000
"""MDAV is left out of the default algorithms above so many records: its time grows with their square."""


@dataclass(frozen=True)
class Algorithm:
    """One algorithm with its parameters, as it is written."""

    text: str
    name: str
    values: dict[str, object]

    def group(
        self, X: np.ndarray, n: np.ndarray, k: int, rng: np.random.Generator, tick: Tick
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (row, label, records): how many records of each row of X went into which group.

        X has shape (rows, p), n the number of records of each row; groups may be below k.
        """
        rows, labels, counts = _ALGORITHMS[self.name](X, n, k, rng, tick, **self.values)
        return rows, labels, counts


def _kmeans(
    X: np.ndarray,
    n: np.ndarray,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    *,
    clusters: Annotated[int, Param("Number of clusters.", min=1)] = 50,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import numpy as np

    most = max(1, int(n.sum()) // k)
    labels = kmeans(X, n.astype(float), min(clusters, most), rng, tick)
    return np.arange(len(X)), labels, n


def _mdav(
    X: np.ndarray, n: np.ndarray, k: int, rng: np.random.Generator, tick: Tick
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import numpy as np

    row_of_record = np.repeat(np.arange(len(X)), n)
    labels = mdav(X[row_of_record], rng, tick, k=k)
    pairs, counts = np.unique(np.stack([row_of_record, labels], axis=1), axis=0, return_counts=True)
    return pairs[:, 0], pairs[:, 1], counts


_ALGORITHMS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]] = {"kmeans++": _kmeans, "mdav": _mdav}


def parse(text: str, where: str) -> Algorithm:
    """Return the algorithm that `text` names.

    >>> parse("kmeans++(clusters=20)", "safe").values
    {'clusters': 20}
    """
    found = re.fullmatch(r"\s*([A-Za-z+_-]+)\s*(?:\(([^()]*)\))?\s*", text)
    if found is None:
        raise ParameterError(where, "an algorithm reads name or name(parameter=value, …)", repr(text))
    name, inside = found.group(1), found.group(2) or ""
    if name not in _ALGORITHMS:
        raise ParameterError(where, f"{name!r} is no algorithm", do=did_you_mean(name, _ALGORITHMS))
    given: dict[str, object] = {}
    for item in filter(None, (part.strip() for part in inside.split(","))):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise ParameterError(where, "a parameter of an algorithm reads name=value", repr(item))
        given[key] = _number(value)
    return Algorithm(text.strip(), name, settle(parameters(_ALGORITHMS[name]), given, f"{where}, {name}"))


def _number(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
