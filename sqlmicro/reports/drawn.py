"""What is drawn in a chart: bars, correlations, and points of an R-U map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Bar:
    """A bar, and behind it the one before; None where there is none."""

    label: str
    before: float | None
    after: float


@dataclass(frozen=True)
class Correlation:
    """The correlation of a pair of columns."""

    pair: str
    before: float
    after: float


@dataclass(frozen=True)
class Point:
    """A release, or a candidate for one, on an R-U map."""

    label: str
    risk: float
    loss: float
    command: str = ""
    """What made it."""
    chosen: bool = False
    front: bool = False
    """Whether no other point has less risk and no more loss, or less loss and no more risk."""


def pareto(points: Sequence[Point]) -> list[Point]:
    """Return the points with `front` found.

    >>> [p.front for p in pareto([Point("a", 1, 1), Point("b", 0, 2), Point("c", 1, 2)])]
    [True, True, False]
    """

    def better(other: Point, point: Point) -> bool:
        mine, theirs = (point.risk, point.loss), (other.risk, other.loss)
        return mine != theirs and theirs[0] <= mine[0] and theirs[1] <= mine[1]

    return [replace(point, front=not any(better(other, point) for other in points)) for point in points]
