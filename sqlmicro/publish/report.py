"""The report of a release: what `--json` prints, Python calls return, and sqlmicro.releases and the manifest keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmicro.audits import information_loss
from sqlmicro.audits.information_loss import Losses
from sqlmicro.audits.k_anonymity import ClassSizes
from sqlmicro.audits.row import AuditRow, Check
from sqlmicro.audits.verdict import Verdict, VerdictReport, judge
from sqlmicro.erasure.purge import Purging
from sqlmicro.missing import counted
from sqlmicro.pipeline import Run, StepReport
from sqlmicro.publish.sensitive import Sensitive
from sqlmicro.registry import Promise
from sqlmicro.safe_method.candidates import CandidateRow, Released
from sqlmicro.system.reporting import INLINE, OMITTED, Json, as_json, named

_IN_MANIFEST = (
    "release", "source", "target", "target_kind", "method", "parameters", "promise", "k", "k_released", "verdict",
    "passed", "rows_in", "rows", "suppressed", "groups", "IL", "audits", "key", "input_hash", "output_hash",
    "file_hash", "sql_hash", "versions",
)  # fmt: skip
_UNJUDGED = Verdict((), (), None, {}).told()


@dataclass(frozen=True)
class Change:
    """A column that has another type in the release than in its source, without the labels of ENUM types."""

    column: str
    before: str
    after: str


@dataclass(frozen=True)
class KeyReport:
    """Where the secret key of a run came from, and what tells it from others."""

    source: str
    fingerprint: str | None
    """None for a seed in plain text, which it would confirm guesses of."""


@dataclass(frozen=True)
class Hashes:
    """What tells whether input, output and SQL are still the same; that of the input is keyed."""

    input_hash: str
    output_hash: str | None
    file_hash: str | None
    sql_hash: str


@dataclass(frozen=True)
class ChosenCandidate:
    """The candidate of SAFE that was released."""

    algorithm: str
    which: str = field(metadata=named("pass"))
    unification: str


@dataclass(frozen=True)
class StepParameters:
    """What decides what a step makes."""

    method: str
    columns: list[str]
    by: list[str]
    nulls: str
    promise: Promise
    settings: Mapping[str, Any]
    key_fingerprint: str | None = field(default=None, metadata=OMITTED)
    released: ChosenCandidate | None = field(default=None, metadata=OMITTED)


@dataclass(frozen=True)
class Parameters:
    """Everything that decides what was released, but the key."""

    steps: list[StepParameters]
    kept: list[str]
    dropped: list[str]
    row_key: list[str]
    direct_identifiers: list[str]
    apart: dict[str, str]
    """Released columns that nobody knows from elsewhere, and why."""
    identifier_ok: list[str]
    target_kind: str
    widen: bool


@dataclass(frozen=True)
class PreviewRow:
    """A record of a preview: the size of its smallest class, its values, and what became of each."""

    size: int
    values: list[Any]
    marks: list[str]
    """unchanged, changed or suppressed."""


@dataclass(frozen=True)
class Preview:
    """Some records of a release; what is not shown, and why."""

    columns: list[str]
    hidden: dict[str, str]
    rows: list[PreviewRow]
    k: int | None
    """So many records at least share what is shown of one."""


@dataclass
class ReleaseReport:
    """What is known of a release; the audits and what follows are filled in while it is published."""

    release: int | None
    """Its number in sqlmicro.releases."""
    source: str
    target: str | None
    """None for a release of a session that is not published yet."""
    target_kind: str | None
    method: str
    """The methods of all steps."""
    engine: str | None = field(metadata=OMITTED)
    """The engine, where it is not DuckDB."""
    parameters: Parameters | None = field(metadata=OMITTED)
    rows_in: int
    rows: int
    suppressed: int
    """Records that were left out."""
    groups: int
    """Those of the last step, as their sizes."""
    smallest_group: int | None
    largest_group: int | None
    losses: Losses = field(metadata=INLINE)
    safe_distance: float | None
    safe_parts: Released | None
    candidates: list[CandidateRow]
    chosen: int | None
    promise: list[Promise]
    steps: list[StepReport]
    key: KeyReport | None = field(metadata=OMITTED)
    hashes: Hashes | None = field(metadata=INLINE)
    versions: dict[str, str]
    sensitive: list[Sensitive] | None = field(default=None, metadata=OMITTED)
    """What safe has left to learn of sensitive columns that it took with the others."""
    types_changed: list[Change] = field(default_factory=list)
    audits: Sequence[Check | AuditRow] = ()
    """What was measured of what was published; the first is the k over all columns that an attacker may know."""
    dry_run: bool = False
    lost: str | None = field(default=None, metadata={**named("warning"), **OMITTED})
    """A warning: nothing was kept."""
    k: int | None = None
    """The smallest class over the columns of the promise."""
    k_released: int | None = None
    """The smallest class over all released columns that an attacker may know."""
    passed: bool | None = None
    """Whether the promise was kept; None where no k was promised."""
    verdict: VerdictReport = _UNJUDGED
    quasi: list[str] = field(default_factory=list)
    histogram: dict[int, int] = field(default_factory=dict)
    """The number of classes by their size."""
    seconds: dict[str, float] = field(default_factory=dict)
    """By stage."""
    notes: list[str] = field(default_factory=list)
    sql: str | None = field(default=None, metadata=OMITTED)
    """With `--show-sql`: every statement, as one script."""
    preview: Preview | None = field(default=None, metadata=OMITTED)
    """With `--diff`: some records, and which values were changed."""
    purging: Purging | None = field(default=None, metadata=INLINE)

    @property
    def warned(self) -> str | None:
        """What nobody should overlook."""
        return (self.purging and self.purging.warning) or self.lost

    @property
    def left_unpurged(self) -> bool:
        """Whether replaced values are still in the file because a purge failed."""
        return self.purging is not None and self.purging.purge_failed

    def judged(self, audits: Sequence[Check], sizes: ClassSizes | None, apart: Mapping[str, str]) -> None:
        """Take in the audits of what was published, and the verdict on them."""
        found = judge(audits, apart)
        self.audits, self.histogram = list(audits), sizes.histogram if sizes else {}
        self.k, self.k_released, self.passed, self.verdict = found.k, found.k_released, found.passed, found.told()
        self.quasi = list(found.quasi)

    def purged(self, purging: Purging, not_erased: Sequence[str]) -> None:
        """Take in what came of the purge that follows a release in place, and what it does not reach."""
        self.purging = purging
        self.notes += [f"not erased: {note}" for note in not_erased]
        if purging.purge is not None:
            self.seconds["purge"] = purging.purge.seconds

    def manifest(self) -> Json:
        """Return what the manifest keeps of it."""
        told = as_json(self)
        return {name: told[name] for name in _IN_MANIFEST}


def losses(run: Run) -> Losses:
    """Return IL of the numeric columns that were worked on, the share changed of the others, and what is missing.

    A column that is released as it is loses nothing.
    """
    with run.timed("loss"):
        columns = [column for column in run.quasi if column not in run.text]
        lost = information_loss.measure(run.warehouse, run.original, run.current, columns, run.numeric - run.text)
        changed = {name: 100 * share for name, share in lost.changed_by_column.items()}
        loaded = [column for column in run.source.columns if column in set(run.roles.released)]
        missing = counted.measure(run.warehouse, run.original, run.current, loaded)
    by_column = {**lost.il_by_column, **changed}
    return Losses(lost.il, lost.il_by_column, lost.changed_by_column, by_column, missing)
