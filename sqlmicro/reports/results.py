"""What the smaller verbs return: tables registered, methods listed, macros, drafts, jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlmicro.audits.row import AuditReport
from sqlmicro.identifiers.scan import ProfileReport
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.system.reporting import INLINE, OMITTED, WHOLE


@dataclass(frozen=True)
class RegisterReport:
    """A table or view that was made of files."""

    table: str
    kind: Literal["table", "view"]
    db: str
    rows: int
    columns: list[str]


@dataclass(frozen=True)
class MethodSummary:
    """A method in a line."""

    name: str
    summary: str
    promise: str
    source: str


@dataclass(frozen=True)
class Methods:
    """The methods there are."""

    methods: list[MethodSummary]


@dataclass(frozen=True)
class ParameterReport:
    """A parameter of a method."""

    name: str
    option: str
    default: Any
    choices: list[str]
    help: str


@dataclass(frozen=True)
class MethodReport:
    """A method: what it does and promises, where it is from, its parameters."""

    name: str
    summary: str
    promise: str
    source: str
    module: str
    engine: str
    templates: list[str]
    parameters: list[ParameterReport]
    description: str = field(metadata=WHOLE)


@dataclass(frozen=True)
class MacroReport:
    """A macro, and what it returns."""

    call: str
    title: str


@dataclass(frozen=True)
class MacrosReport:
    """The audits as macros: installed in a database, or as a script."""

    db: str | None
    macros: list[MacroReport]
    script: str | None = field(metadata=WHOLE)


@dataclass(frozen=True)
class Compiled:
    """What was compiled: functions, the folders they are kept in, and seconds; `left_out` needs what is not installed.

    No folder means that nothing can be kept.
    """

    functions: int
    folders: tuple[str, ...]
    left_out: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Draft:
    """The draft of a job file."""

    table: str
    toml: str = field(metadata=WHOLE)


@dataclass(frozen=True)
class Policy:
    """A proposed job file for all tables of a warehouse."""

    db: str
    tables: int
    columns: int
    released: int
    """How many tables are about persons."""
    toml: str = field(metadata=WHOLE)


@dataclass(frozen=True)
class Explanation:
    """What a job file will do."""

    job: str
    paragraphs: list[str]
    not_looked_up: list[str]
    """Tables of which nothing could be known beforehand, and why."""


@dataclass(frozen=True)
class SchemaReport:
    """A JSON Schema."""

    schema: Mapping[str, Any] = field(metadata={**INLINE, **WHOLE})


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
