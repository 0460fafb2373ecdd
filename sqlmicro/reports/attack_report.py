"""The report of `sqlmicro attack`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlmicro.attacks.registry import AttackRow
from sqlmicro.audits.verdict import VerdictReport
from sqlmicro.registry import Promise


@dataclass(frozen=True)
class NotTried:
    """An attack that was not tried, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class AttackReport:
    """How far attacks on a release got, with its original in hand."""

    original: str
    release: list[str]
    columns: list[str]
    """What the attacker knows."""
    match: list[str]
    """The columns that identify a record in both tables."""
    person: list[str]
    """The columns that say whose record it is: then persons are looked for."""
    truth: Literal["match", "assumed"]
    """`assumed`: nothing tells which record became which, so that rates of linkage are upper bounds."""
    tried: int
    """Records of the original."""
    persons: int | None
    """How many persons these are of, where persons are looked for."""
    records: list[int]
    """How many there are in the original and in the release."""
    interval: str
    recorded: int | None
    """The number of the release in sqlmicro.releases."""
    promise: Promise | None
    """The least of what its steps promise."""
    k: int | None
    promises: str | None
    """The promise in words."""
    notes: list[str]
    attacks: list[AttackRow]
    not_tried: list[NotTried]
    passed: bool | None
    verdict: VerdictReport
