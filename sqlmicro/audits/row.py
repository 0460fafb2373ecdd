"""What is told of an audit: a row for every check, and the report of `sqlmicro audit`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sqlmicro.system.reporting import INLINE, OMITTED

Status = Literal["measured", "passed", "failed", "unknown"]


@dataclass(frozen=True)
class Detail:
    """What an audit tells besides its value; every audit that has more to say has a class of its own."""

    def released(self) -> Detail:
        """Return what of it may leave with a release."""
        return self

    def under(self, names: Mapping[str, str]) -> Detail:
        """Return it with columns under other names."""
        return self


@dataclass(frozen=True)
class Found:
    """What an audit found: its value, the columns it is about, and what else it has to say.

    `value` is None where there is nothing to measure, such as a correlation of one column; `reason` says why.
    """

    value: float | None
    columns: tuple[str, ...] = ()
    detail: Detail | None = None
    reason: str | None = None
    free: float = 0.0
    """What nobody needs the release for: a gate from above does not ask for less."""


@dataclass(frozen=True)
class ByColumn(Detail):
    """The value of every column, or pair of columns, alone."""

    by_column: dict[str, float | None]
    """None where a column has nothing to compare."""
    more: Detail | None = field(default=None, metadata=INLINE)


@dataclass(frozen=True)
class Linked(Detail):
    """How sure a rate of record linkage is."""

    attack: ClassVar[str] = "linkage"

    ci: list[float]
    """The interval at 95 %."""
    chance: float
    """What taking any released record would give."""
    n: int
    """Records tried."""
    truth: Literal["match", "assumed"]
    """`assumed`: the true record is taken to be among the nearest, which is the worst case."""


@dataclass(frozen=True)
class Check:
    """A check of a release: a value, and the threshold that it is held to."""

    check: str
    columns: list[str]
    value: float | None
    """None where there is nothing to measure."""
    threshold: float | None
    """None where nothing is demanded."""
    at_least: bool
    """Whether the value must be at least the threshold, or at most."""
    passed: bool | None
    """None where nothing is demanded."""

    @property
    def label(self) -> str:
        """How the check is called in sqlmicro.audits.

        >>> Check("k-anonymity", ["age", "sex"], 3, None, True, None).label
        'k-anonymity (age, sex)'
        """
        return f"{self.check} ({', '.join(self.columns)})" if self.columns else self.check

    @property
    def told(self) -> str:
        """The check as a clause of a sentence.

        >>> Check("t-closeness", ["a"], 0.5, 0.2, False, False).told
        't-closeness (a) is 0.5, needed at most 0.2'
        """
        value = self._unknown() if self.value is None else f"{self.value:.6g}"
        if self.threshold is None:
            return f"{self.label} is {value}"
        return f"{self.label} is {value}, needed {'at least' if self.at_least else 'at most'} {self.threshold:g}"

    def _unknown(self) -> str:
        return "unknown"


@dataclass(frozen=True)
class AuditRow(Check):
    """What an audit found, of the quasi-identifiers or of some columns."""

    status: Status
    nulls: str
    """How NULL was read: own_value, wildcard or exclude."""
    reason: str | None = field(default=None, metadata=OMITTED)
    """Why the value is unknown."""
    detail: Detail | None = field(default=None, metadata=INLINE)
    asked: bool = True
    """Whether the audit was named, or held to a threshold."""

    def _unknown(self) -> str:
        return f"unknown: {self.reason}"


@dataclass(frozen=True)
class RecordRiskTable:
    """The table with the risk of every record, which is as private as the originals."""

    table: str
    records: int
    key: list[str]
    """What tells which record a row is of."""
    lasts: bool
    """Whether it is a key; else the number of the record in the table as it was read, which another order changes."""


@dataclass(frozen=True)
class AuditReport:
    """What `sqlmicro audit` found."""

    table: str
    nulls: str
    quasi: list[str]
    sensitive: list[str]
    weight: str | None
    person: list[str]
    """The columns that say whose record it is: then figures of classes count distinct persons."""
    household: list[str]
    """The columns that say which household a record belongs to."""
    audits: list[AuditRow]
    passed: bool | None
    """Whether every gate held; None where none was given."""
    classes_shown: list[list[object]] | None = field(default=None, metadata=OMITTED)
    """With `--show-values`: the values of the smallest classes, and how many records or persons each has."""
    notes: list[str] = field(default_factory=list)
    release: int | None = None
    """The number of the release that the table was recorded as."""
    recorded: bool = False
    """Whether the rows were added to sqlmicro.audits."""
    record_risks: RecordRiskTable | None = field(default=None, metadata=OMITTED)
    """With `--per-record`: where the risk of every record is."""


def demanded(rows: Sequence[AuditRow]) -> Iterable[bool | None]:
    """Return whether the checks passed that were asked for."""
    return (row.passed for row in rows if row.asked)
