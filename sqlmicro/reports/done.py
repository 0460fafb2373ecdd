"""What a job file returns: its releases, what its other steps found, and what is found of all that it released."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlmicro.audits.registry import AuditReport
from sqlmicro.identifiers.scan import ProfileReport
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.reports.results import RegisterReport
from sqlmicro.system.reporting import INLINE, OMITTED


@dataclass(frozen=True)
class StepDone:
    """A step of a job file that is a command of its own."""

    do: str
    report: RegisterReport | ProfileReport | AuditReport = field(metadata=INLINE)


@dataclass(frozen=True)
class ReleasingJob:
    """A job file that releases one table: the report of the release, and what was done before."""

    release: ReleaseReport = field(metadata=INLINE)
    before: list[StepDone]

    @property
    def printed(self) -> ReleasingJob:
        """What is told of it."""
        return replace(self, release=self.release.printed)

    @property
    def passed(self) -> bool | None:
        """Whether the promise was kept; None where no k was promised."""
        return self.release.passed

    @property
    def warned(self) -> str | None:
        """What nobody should overlook."""
        return self.release.warned

    @property
    def left_unpurged(self) -> bool:
        """Whether a purge failed."""
        return self.release.left_unpurged

    @property
    def sql(self) -> str | None:
        """Every statement that was run."""
        return self.release.sql


@dataclass(frozen=True)
class ReleasingJobs:
    """A job file that releases several tables together."""

    job: str
    before: list[StepDone]
    tables: list[ReleaseReport]
    passed: bool | None
    """Whether every promise was kept; None where none was made."""
    sql: str | None = field(metadata=OMITTED)
    purge_failed: bool | None = field(metadata=OMITTED)
    """True where a purge failed."""
    warning: str | None = field(metadata=OMITTED)

    @property
    def printed(self) -> ReleasingJobs:
        """What is told of them."""
        return replace(self, tables=[report.printed for report in self.tables])

    @property
    def warned(self) -> str | None:
        """What nobody should overlook."""
        return self.warning

    @property
    def left_unpurged(self) -> bool:
        """Whether a purge failed."""
        return bool(self.purge_failed)


@dataclass(frozen=True)
class LookingJob:
    """A job file that releases nothing: what its steps found."""

    job: str
    results: list[StepDone]
    passed: bool | None
    """Whether every gate held; None where none was given."""


@dataclass(frozen=True)
class OfRelease:
    """What was found of one release."""

    table: str
    release: str
    rows: int | None
    """None where the release could not be read."""
    found: str
    file: str | None
    """The file that was written of it."""
    exit_code: int
    """0: fine; 1: something does not hold; 2: it could not be looked at."""


@dataclass(frozen=True)
class OverPolicy:
    """What a command found of all releases of a policy."""

    policy: str
    done: str
    """What those do that are fine, such as `are certified`."""
    releases: list[OfRelease]
    exit_code: int
    """The worst of them."""
    next: list[str]
    """The words of the command that usually comes next; none where something is not fine."""


def over_policy(policy: str, done: str, releases: list[OfRelease], then: list[str]) -> OverPolicy:
    """Return what was found of all releases, with the worst exit code."""
    worst = max(one.exit_code for one in releases)
    return OverPolicy(policy, done, releases, worst, then if worst == 0 else [])
