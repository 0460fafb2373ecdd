"""The facts of a report: what is recorded of a release, and what is measured on it and its original, as aggregates.

They are what `sqlmicro report --json` prints, and all that the page and the text are made from. `disclosure.py` says
what may be among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from sqlmicro.attacks.criteria import Criteria
from sqlmicro.audits.inputs import AuditedOptions
from sqlmicro.audits.registry import Check, Status
from sqlmicro.audits.verdict import Verdict, VerdictReport
from sqlmicro.audits.verdict_words import told
from sqlmicro.options.common import AttachOption, DbOption, LedgerOption, MachineOptions
from sqlmicro.options.params import Param
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.reports import disclosure
from sqlmicro.reports.attack_report import NotTried
from sqlmicro.reports.charts import Correlation, Point
from sqlmicro.reports.distributions import ColumnFacts, TableFacts
from sqlmicro.reports.language import Lang, LanguageOption
from sqlmicro.reports.recorded import RecordedCandidate, RecordedCheck, StepFacts
from sqlmicro.system.reporting import WHOLE, named

SMALLEST_K = 3
"""Fewest records behind a figure where no k was promised or asked for."""


@dataclass(frozen=True, kw_only=True)
class ReportOptions(
    DbOption, LedgerOption, AttachOption, AuditedOptions, MachineOptions, ReaderOptions, LanguageOption
):
    """What `sqlmicro report` takes."""

    policy: Annotated[
        str | None,
        Param(
            "Policy, .toml, or plan of one, .plan.json: all of its releases. Else one release, as by --release.",
            metavar="POLICY|ID|TABLE",
            positional=True,
        ),
    ] = None
    release: Annotated[
        str,
        Param(
            "Release: its number in sqlmicro.releases, or the table or file it was published as.", metavar="ID|TABLE"
        ),
    ] = ""
    to: Annotated[
        str | None, Param("File to write: .html, or .md for text. Of a policy the folder for them.", metavar="FILE")
    ] = None
    markdown: Annotated[bool, Param("Write Markdown, for a pull request; without --to print it.")] = False
    overwrite: Annotated[bool, Param("Replace the file if it exists.")] = False
    min_k: Annotated[
        int | None,
        Param(
            "k that must hold, and fewest records behind any figure. Default: the k that was promised, else 3.", min=2
        ),
    ] = None
    sample: Annotated[int, Param("Records of the original that attacks try; 0 for no attacks.", min=0)] = 1000
    order: Annotated[int, Param("SAFE deviations: tables of up to this many nominal columns.", min=1, max=10)] = 2


@dataclass(frozen=True)
class RecordsBefore:
    """How many records there were: as recorded, and as the original has them now."""

    recorded: int | None
    now: int | None


@dataclass(frozen=True)
class AuditFacts(Check):
    """What a report says of an audit."""

    status: Status
    meaning: str
    reason: str | None = None
    """Why the value is unknown."""


@dataclass(frozen=True)
class ClassFacts:
    """Classes of neighbouring sizes."""

    size: str
    classes: int
    records: int


@dataclass(frozen=True)
class AttackFacts:
    """How far an attack got, beside chance."""

    name: str
    rate: float
    ci: list[float]
    chance: float
    n: int


@dataclass(frozen=True)
class LossFacts:
    """IL: as it is measured record by record, else as it was recorded when the release was made."""

    il: float | None = field(metadata=named("IL"))
    by_column: dict[str, float | None]
    changed: dict[str, float | None]
    measured: bool


@dataclass(frozen=True)
class LeftOut:
    """A release of the same source that is not on the map, and why."""

    label: str
    why: str


@dataclass(frozen=True)
class Claims:
    """What the release rests on and only whoever made it says: nothing in the rows can show it."""

    apart: dict[str, str]
    """Released columns that nobody is to know from elsewhere, and why."""
    rows_are_persons: bool
    of_person: list[str]
    """Columns that are said to have one value for each person."""
    identifier_ok: list[str]
    """Columns that look like identifiers, and are said to be none."""
    accepted: dict[int, str]
    """Releases that do not keep their k together with others, and why they were published."""
    withdrawn: str | None
    """Why nobody is to have the release any more."""


@dataclass(frozen=True)
class Nothing:
    """What could not be compared."""


@dataclass
class Facts:
    """The facts about a release: first what it is, then what was measured, then what an intruder makes of it."""

    release: int | None
    """Its number in sqlmicro.releases."""
    table: str
    source: str | None
    original: str | None
    no_original: str
    """Why there is no original to compare with."""
    unit: str | None
    """The column that says whose record it is."""
    nulls: str
    sensitive: list[str]
    records: int
    records_before: RecordsBefore
    started: str | None
    steps: list[StepFacts]
    kept: list[str]
    """Columns released as they were."""
    dropped: list[str]
    versions: dict[str, str]
    recorded_audits: list[RecordedCheck]
    attacks: list[AttackFacts]
    attacked: list[str]
    """The columns that the attacker knows."""
    attacks_assume: bool
    """Whether rates of linkage are upper bounds, since nothing tells which record became which."""
    no_attacks: str
    """Why none was made."""
    not_tried: list[NotTried]
    candidates: list[Point]
    """The recorded releases of the same source, measured alike, on an R-U map."""
    other_candidates: list[LeftOut]
    safe_candidates: list[RecordedCandidate]
    claims: Claims
    household: list[str]
    """The columns that said of which household a person is."""
    series: str | None
    """The series that it is a night of."""
    with_others: int | None
    """The fewest persons who share their classes in this and other releases, as it was recorded when it or a later one
    was published; 0 where that could not be measured, None where there were no others."""
    made: str
    """The day of the report."""
    lang: Lang
    """The language of the page and the text; what JSON has is English."""
    map_of: list[str] = field(default_factory=list)
    """The columns that risk and loss on the map are over; those whose loss is IL are `map_numeric`."""
    map_numeric: list[str] = field(default_factory=list)
    criteria: Criteria | None = None
    """Singling out, linkability and inference against a control group; None where no attack was asked for."""
    quasi: list[str] = field(default_factory=list)
    min_k: int = SMALLEST_K
    """Fewest records behind a figure."""
    audits: list[AuditFacts] = field(default_factory=list)
    verdict: VerdictReport = field(default_factory=lambda: told(Verdict((), (), None, {})))
    class_sizes: list[ClassFacts] = field(default_factory=list)
    below_k: int = 0
    """Records, or different persons, in classes of fewer than `min_k`."""
    columns: list[ColumnFacts] = field(default_factory=list)
    correlations: list[Correlation] = field(default_factory=list)
    distances: dict[str, dict[str, float | None]] = field(default_factory=dict)
    """The distance of every column before and after, by its measure."""
    loss: LossFacts = field(default_factory=lambda: LossFacts(None, {}, {}, False))
    missing: list[disclosure.MissingShare] = field(default_factory=list)
    """Of every column that lacks values in either."""
    deviations: TableFacts | Nothing = field(default_factory=Nothing)
    passed: bool | None = None
    """Whether the promise was kept; None where no k was promised."""
    to: str | None = None
    """The file that was written."""
    markdown: str | None = field(default=None, metadata=WHOLE)
