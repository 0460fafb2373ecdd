"""The report of `sqlmicro compare`: what each candidate discloses, and what it loses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlmicro.attacks.inference import Gain
from sqlmicro.audits.usefulness import Usefulness
from sqlmicro.audits.verdict import VerdictReport
from sqlmicro.reports.charts import Point
from sqlmicro.system.reporting import INLINE

RISK, LOSS = "share of records linked", "loss in %"
"""What the axes of the map are called."""


@dataclass(frozen=True)
class Accuracy:
    """How well a model tells the target of records that it has not seen: the share, or R² of a number."""

    of_original: float | None
    """Fitted on the original of the others."""
    of_release: float | None
    """Fitted on what is released of them."""


@dataclass(frozen=True)
class Tried:
    """What was measured of a candidate."""

    columns: list[str]
    """Those that an attacker may know, which the risk was measured over."""
    risk: float
    """The share of the records that the strongest linkage links rightly."""
    loss: float
    """The mean over the columns: IL of numeric ones, the share of values changed of nominal ones, in percent."""
    front: bool = False
    """Whether no other candidate has less risk and less loss."""
    on_map: bool = False
    """Whether its risk was measured over the same columns as that of most others."""
    k_released: int | None = field(kw_only=True)
    """The smallest class over these columns."""
    verdict: VerdictReport = field(kw_only=True)
    promise: str = field(kw_only=True)
    risk_ci: list[float] = field(kw_only=True)
    """The interval of the risk at 95 %."""
    chance: float = field(kw_only=True)
    tried: int = field(kw_only=True)
    """Records that were tried to be linked."""
    loss_by_column: dict[str, float] = field(kw_only=True)
    use: Usefulness = field(kw_only=True)
    """What it is good for."""
    inference: Gain | None = field(default=None, kw_only=True)
    """What being in the table adds to what is guessed of somebody; None where it could not be measured."""
    accuracy: Accuracy | None = field(default=None, kw_only=True)
    """Of models of the target, where there is one."""
    suppressed: int = field(kw_only=True)
    notes: list[str] = field(kw_only=True)
    error: None = None
    seconds: float = field(kw_only=True)

    def worth(self, use: str) -> tuple[float, ...]:
        """Return what candidates are ranked by, the smallest first."""
        found, told = self.use, self.accuracy.of_release if self.accuracy else None
        worst = float("inf")
        if use == "tables":
            return (found.table_loss,)
        if use == "means":
            return tuple(worst if one is None else one for one in (found.means_off, found.bands))
        if self.accuracy:
            return (worst if told is None else -told,)
        return tuple(worst if one is None else one for one in (found.correlation, found.bands))


@dataclass(frozen=True)
class Refused:
    """Why a candidate could not be tried."""

    columns: list[str] = field(default_factory=list)
    risk: None = None
    loss: None = None
    front: bool = False
    on_map: bool = False
    error: str = ""


@dataclass(frozen=True)
class ComparedRow:
    """A candidate: a method with its settings, and what came of it."""

    candidate: int
    """Its number, from 1."""
    label: str
    method: str
    k: object
    """The group size, of a method that has one."""
    parameters: Mapping[str, object]
    found: Tried | Refused = field(metadata=INLINE)
    command: str
    """The command line that makes it."""
    rank: int | None = None
    """Its place by what the release is for, from 1; None where it could not be tried."""

    def placed(self, point: Point | None) -> ComparedRow:
        """Return the row with its place on the map, if it has one."""
        if point is None:
            return self
        return replace(self, found=replace(self.found, front=point.front, on_map=True))


@dataclass(frozen=True)
class Best:
    """The candidate that loses least among those that link few enough."""

    max_risk: float
    """The share of the records that may be linked."""
    best: str | None
    passed: bool
    """Whether there is one."""


@dataclass(frozen=True)
class CompareReport:
    """Methods side by side."""

    table: str
    columns: list[str]
    numeric: list[str]
    nominal: list[str]
    candidates: list[ComparedRow]
    map: str | None
    """The file that the map was drawn to."""
    choice: Best | None = field(metadata=INLINE)
    ranked_by: str
    """What the release is for: tables, means or models."""
    target: str | None
    """What a model tells."""
    weights: list[str]
    """Columns that were left out because they are weights by their names."""

    @property
    def points(self) -> list[Point]:
        """The candidates that have a place on one map."""
        best = self.choice.best if self.choice else None
        return [
            Point(row.label, row.found.risk, row.found.loss, chosen=row.label == best, front=row.found.front)
            for row in self.candidates
            if isinstance(row.found, Tried) and row.found.on_map
        ]

    @property
    def passed(self) -> bool | None:
        """Whether a candidate links few enough; None where no limit was given."""
        return self.choice.passed if self.choice else None
