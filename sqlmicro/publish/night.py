"""What is told of a night of a series, whoever asks: nothing of its source but what the release itself tells.

A figure of the source (its rows, those who wait, what was lost) differs between two nights by whoever is new. So what
is printed, recorded, or written beside a night has none: what follows is all that is left out or made coarser. A call
from Python returns the figures to the program, which has the source; `sqlmicro series` tells the data holder who waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlmicro.audits.row import AuditRow, Check
from sqlmicro.audits.verdict import judge
from sqlmicro.audits.verdict_words import told as in_words
from sqlmicro.history.series_report import SeriesReport
from sqlmicro.pipeline import StepReport
from sqlmicro.system.sentences import say

if TYPE_CHECKING:
    from sqlmicro.audits.verdict_report import VerdictReport

OF_RELEASE = ("k-anonymity", "l-diversity", "value frequency", "rows", "series-rows", "series-records")
"""The checks that anybody can make who has the releases: their values are told."""


class OfJob(str):
    """A note that depends on the job alone, so that it may be told of a night."""

    __slots__ = ()


def checks(made: Iterable[Check | AuditRow]) -> list[Check]:
    """Return checks whose values are of the released rows; of others, no more than that they passed.

    >>> checks([Check("union-k", [], 17, 5, True, True), Check("k-anonymity", ["age"], 6, 5, True, True)])[0].value
    5
    """
    return [
        one if one.check in OF_RELEASE
        else Check(one.check, one.columns, _bound(one), one.threshold, one.at_least, one.passed)
        for one in made
    ]  # fmt: skip


def _bound(check: Check) -> float | None:
    """Return the threshold of a check that passed: it is met, and by how much is not told.

    What was passed over, as `--alone-because` does, is told as it was found: the release says that it does not hold.
    """
    if check.passed is None:
        return check.value if check.threshold is not None else None
    return check.threshold if check.passed else None


def verdict(found: VerdictReport, audited: Sequence[Check], headline: str) -> VerdictReport:
    """Return the verdict on what is told, or that of the release where an attack has lowered it."""
    if not audited:
        return found
    told = in_words(judge(audited, found.apart, "", headline))
    if told.status == found.status:
        return told
    said = say("an attack that the job measures lowers it; by how much is not told of a night")
    return replace(told, status=found.status, colour=found.colour, passed=found.passed, headline=said, sentence=said)


def step(made: StepReport) -> StepReport:
    """Return a step without what it measured on its source."""
    return replace(made, safe_distance=None, candidates=[], chosen=None, levels=None, above_optimum=None)


def series(night: SeriesReport) -> SeriesReport:
    """Return the night without those who wait, and without empty seats; what changed stays where all rows show it."""
    if night.raw is not None:
        return night  # whoever has the table sees them
    shown = night.changed if night.went is not None else None
    return replace(night, withheld=None, longest_wait=None, empty=None, changed=shown)


def notes(made: Sequence[str], night: SeriesReport) -> list[str]:
    """Return the notes that depend on the job alone, and what is said of the night."""
    said = "how many rows were read, who waits and what was lost would differ by whoever is new, and is not told"
    if night.raw is not None:
        return [*(note for note in made if isinstance(note, OfJob)), *night.notes]
    told = f"{'. '.join(series(night).notes)}. {said[0].upper()}{said[1:]}; sqlmicro series says it to you alone"
    return [*(note for note in made if isinstance(note, OfJob)), told]
