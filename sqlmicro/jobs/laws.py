"""How the time of each method grows, in seconds of the machine these were measured on; others are faster or slower.

A law is about right in its shape. What a machine makes of it is measured by its runs, see `calibration`. Every law
grows with the number of records, and so does every estimate. A method that is not listed is taken to grow like one
sort.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sqlmicro.jobs.sizes import Sizes
from sqlmicro.registry import Method

Law = Callable[[Sizes, str], float]
"""Seconds by the sizes of a step and the effort it is made with."""
AROUND = "around"
"""What is done around the steps: loading, replacing, measuring, publishing."""
EFFORTS = ("fast", "balanced", "full", "best")
"""What methods call how long they search, the shortest first."""


def law_of(work: str) -> Law:
    """Return the law of a method, or of what is done around it."""
    return _LAWS.get(work, _sort())


def seconds(work: str, sizes: Sizes, effort: str) -> float:
    """Return what a law says.

    >>> seconds("mdav", Sizes(20_000, 2), "") > seconds("mdav", Sizes(10_000, 2), "")
    True
    """
    return law_of(work)(sizes, effort)


def bytes_of(work: str, sizes: Sizes) -> float:
    """Return about how much memory a step takes beyond what the program takes anyway."""
    coordinates = sizes.combinations * sizes.width if work == "safe" else sizes.rows * sizes.width
    return 8.0 * (3 * sizes.rows * sizes.columns + 2 * coordinates) + 60.0 * sizes.rows


def effort_of(method: Method, settings: Mapping[str, Any]) -> str:
    """Return how long a step searches, as far as its settings say it in one word."""
    return str(method.told("effort", settings) or "")


def told_apart(method: Method, settings: Mapping[str, Any], *, guaranteed: bool) -> str:
    """Return what is measured apart from other runs of the same method: names of ours, never a column or a value."""
    words = [effort_of(method, settings)]
    words += [str(settings[name]) for name in ("method", "kind") if name in settings]
    words += ["certified"] if method.told("certified", settings) else []
    words += ["local"] if method.told("local", settings) else []
    words += ["algorithms"] if settings.get("algorithm") else []
    words += ["guaranteed"] if guaranteed else []
    return " ".join(filter(None, words))


def _sort(each: float = 0.8) -> Law:
    """Return the law of one sort per column; `each` is microseconds for a record and column, around 10⁵ records."""

    def law(sizes: Sizes, effort: str) -> float:
        return 1e-6 * each * sizes.rows * sizes.columns * _log(sizes.stratum) / _log(100_000)

    return law


def _power(each: float, rows: float, width: float = 1.0, k: float = 0.0) -> Law:
    """Return a law with powers; `each` is microseconds for a record of 10⁴ with one column and k = 5."""

    def law(sizes: Sizes, effort: str) -> float:
        grows: float = (sizes.stratum / 10_000) ** (rows - 1) * sizes.width**width * (max(2, sizes.k) / 5) ** k
        return 1e-6 * each * sizes.rows * grows

    return law


def _log(n: float) -> float:
    return math.log2(max(2.0, n))


def _microaggregate(sizes: Sizes, effort: str) -> float:
    """Return the seconds of its starts and of its random moves, of which there are as many as the method says."""
    if sizes.width == 1:
        return _sort(1.5)(sizes, effort)
    n, p = sizes.stratum, sizes.width
    if effort == "fast":
        return sizes.rows * 1e-6 * (5 + 2 * p)
    each, most, least = (12_000, 9_600_000, 200) if effort == "balanced" else (250_000, 200_000_000, 2000)
    moves = max(min(each * n, most), least * n)
    far = 1 + min(3.0, n * p / 1_000_000)
    found: float = sizes.strata * moves * 6e-8 * (1 + 0.05 * p) * far + sizes.rows * 3e-5 * p**0.5
    return found


def _safe(sizes: Sizes, effort: str) -> float:
    """Return the seconds of its tables, of the search and the dealing, which end after some attempts, and of audits."""
    cells, kept = sizes.combinations, min(sizes.columns**2 / 2, 500 + sizes.columns)
    tables = kept * (6e-8 * cells + 4e-5 * sizes.columns) + 2e-6 * sizes.rows
    most = 25.0 if effort == "full" else 6.0
    attempts = sizes.strata * min(most, most * cells / sizes.strata / 3_000)
    audits = 3e-4 * sizes.columns**2  # what is guessed from up to 500 sets of each size, of every column
    return 1.0 + tables + attempts + audits


_LAWS: dict[str, Law] = {
    AROUND: _sort(1.6),
    "safe": _safe,
    "microaggregate": _microaggregate,
    "mdav": _power(1.3, 1.2, 1.0, -0.3),
    "mdav-plus": _power(0.8, 1.2, 1.0, -0.3),
    "mdav-star": _power(1.0, 1.2, 1.0, -0.3),
    "v-mdav": _power(1.2, 1.2, 1.0, -0.3),
    "mhm": _power(0.9, 1.2),
    "max-distance": _power(4.0, 1.5),
    "kanonymeans": _power(5.0, 1.3),
    "kanonymeans-star": _power(300.0, 1.3),
    "k-ward": _power(28.0, 1.9, 0.5),
    "recursive-k-ward": _power(9.0, 1.1),
    "secure-k-ward": _power(14.0, 2.0),
}
