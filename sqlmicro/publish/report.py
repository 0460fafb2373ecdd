"""The report of a release: what `--json` prints, Python calls return, and sqlmicro.releases and the manifest keep.

What is told of a night of a series, whoever asks: nothing of its source but what the release itself tells.

A figure of the source (its rows, those who wait, what was lost) differs between two nights by whoever is new. So what
is printed, recorded, or written beside a night has none: what follows is all that is left out or made coarser. A call
from Python returns the figures to the program, which has the source; `sqlmicro series` tells the data holder who waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlmicro.audits import information_loss
from sqlmicro.audits.information_loss import Losses
from sqlmicro.audits.k_anonymity import ClassCounts, ClassSizes
from sqlmicro.audits.registry import AuditRow, Check
from sqlmicro.audits.verdict import Verdict, VerdictReport, judge
from sqlmicro.audits.verdict_words import told
from sqlmicro.audits.verdict_words import told as in_words
from sqlmicro.database.warehouse import aligned
from sqlmicro.erasure.purge import Purging
from sqlmicro.history.series_report import SeriesReport
from sqlmicro.pipeline import Run, StepReport
from sqlmicro.publish.gate import Sensitive
from sqlmicro.registry import Promise
from sqlmicro.safe_method.candidates import CandidateRow, Released
from sqlmicro.system.reporting import INLINE, OMITTED, Json, as_json, named
from sqlmicro.system.sentences import say

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


_IN_MANIFEST = (
    "release", "source", "target", "target_kind", "method", "parameters", "promise", "k", "k_released", "verdict",
    "passed", "rows_in", "rows", "suppressed", "groups", "IL", "audits", "key", "input_hash", "output_hash",
    "file_hash", "sql_hash", "chain", "versions",
)  # fmt: skip
_UNJUDGED = told(Verdict((), (), None, {}))


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

    input_hash: str | None
    """None in what is told of a night of a series: whether it changed may tell of one person."""
    output_hash: str | None
    file_hash: str | None
    sql_hash: str | None
    """None as `input_hash`: the statements of a night hold bounds, and whoever knows all but one could try it."""


@dataclass(frozen=True)
class Chain:
    """What ties a release to the one before it in its ledger: an entry that was removed or changed is seen."""

    entry: str
    """The hash of its own entry."""
    previous: str | None
    """The hash of the entry before it; None for the first."""


@dataclass(frozen=True)
class Recounted:
    """A check of a release that anybody can make who has it, and what it found."""

    check: Literal["k-anonymity", "l-diversity", "t-closeness"]
    columns: list[str]
    """Those that make the classes."""
    sensitive: str | None
    distance: Literal["ordered", "equal"] | None
    """Of t-closeness: how far apart two values are taken to be."""
    value: float | None
    threshold: float | None
    """None where nothing was promised."""
    classes: dict[str, int] | None
    """Of k-anonymity: the number of classes by their size."""


@dataclass(frozen=True)
class Consulted:
    """An earlier release of the same people, by its entry in the ledger, and whether somebody may still have had it."""

    release: int
    entry: str
    """The hash of its entry."""
    state: str
    series: str | None
    epoch: int | None


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
    person: list[str] = field(default_factory=list)
    """The columns that say whose record it is, where k counts persons."""
    of_person: list[str] = field(default_factory=list)
    """Columns with one value for each person, as the user said; none: they were found."""
    household: list[str] = field(default_factory=list)
    """The columns that say of which household a person is."""
    rows_are_persons: bool = False
    """Whether somebody said that k counts rows, although a column may repeat like the key of persons."""
    numeric: list[str] = field(default_factory=list)
    """The columns whose loss is IL; that of others is the share of values changed."""
    decimals: bool = False
    """Whether means of whole numbers have decimals."""

    @property
    def told_person(self) -> list[str]:
        """The columns that say whose record it is, unless they became one value for all."""
        constant = {name for step in self.steps if step.method == "constant" for name in step.columns}
        return [] if constant & set(self.person) else self.person


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


@dataclass(kw_only=True)
class Route:
    """From where to where a release went, and by which job."""

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
    dry_run: bool = False
    draft: str | None = field(default=None, metadata=OMITTED)
    """The folder of a draft, which is out nowhere."""
    lost: str | None = field(default=None, metadata={**named("warning"), **OMITTED})
    """A warning: nothing was kept."""


@dataclass(kw_only=True)
class ReleasedRows:
    """What is in a release, and what became of the records on the way."""

    rows_in: int | None
    """None in what is told of a night of a series."""
    rows: int
    suppressed: int | None
    """Records that were left out; None as above."""
    groups: int
    """Those of the last step, as their sizes."""
    smallest_group: int | None
    largest_group: int | None
    losses: Losses = field(metadata=INLINE)
    safe_distance: float | None
    safe_parts: Released | None
    candidates: list[CandidateRow]
    chosen: int | None
    steps: list[StepReport]
    types_changed: list[Change] = field(default_factory=list)
    preview: Preview | None = field(default=None, metadata=OMITTED)
    """With `--diff`: some records, and which values were changed."""


@dataclass(kw_only=True)
class Protection:
    """What a release protects: what was promised, and what was measured of what was published."""

    promise: list[Promise]
    sensitive: list[Sensitive] | None = field(default=None, metadata=OMITTED)
    """What safe has left to learn of sensitive columns that it took with the others."""
    audits: Sequence[Check | AuditRow] = ()
    """What was measured of what was published; the first is the k over all columns that an attacker may know."""
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
    recounted: list[Recounted] | None = field(default=None, metadata=OMITTED)
    """What was counted anew without the database: what anybody can check who has the release."""


@dataclass(kw_only=True)
class History:
    """What tells a release from others, and what ties it to them."""

    key: KeyReport | None = field(metadata=OMITTED)
    hashes: Hashes | None = field(metadata=INLINE)
    versions: dict[str, str]
    series: SeriesReport | None = field(default=None, metadata=OMITTED)
    """The series that it is a night of."""
    alone_because: str | None = None
    """Why it was published although it does not keep its k together with others of the same people."""
    chain: Chain | None = None
    consulted: list[Consulted] = field(default_factory=list)
    """The earlier releases that it was measured with."""


@dataclass(kw_only=True)
class Course:
    """How it went: what took how long, what is to be known besides, and what came of the purge."""

    seconds: dict[str, float] = field(default_factory=dict)
    """By stage."""
    notes: list[str] = field(default_factory=list)
    sql: str | None = field(default=None, metadata=OMITTED)
    """With `--show-sql`: every statement, as one script."""
    purging: Purging | None = field(default=None, metadata=INLINE)


@dataclass(kw_only=True)
class ReleaseReport(Course, History, Protection, ReleasedRows, Route):
    """What is known of a release; the audits and what follows are filled in while it is published.

    Its parts are told one after the other, the last base first.
    """

    @property
    def warned(self) -> str | None:
        """What nobody should overlook."""
        return (self.purging and self.purging.warning) or self.lost

    @property
    def left_unpurged(self) -> bool:
        """Whether replaced values are still in the file because a purge failed."""
        return self.purging is not None and self.purging.purge_failed

    def in_series(self, tonight: SeriesReport) -> None:
        """Take in the night of a series: its empty seats are rows of nobody."""
        self.series = tonight
        self.suppressed = (self.suppressed or 0) + (tonight.empty or 0)

    def judged(self, run: Run, audits: Sequence[Check], sizes: ClassSizes | None) -> None:
        """Take in the audits of what was published, and the verdict on them."""
        found = judge(audits, run.promises.apart, run.unit, self.series.headline if self.series else "")
        self.audits, self.histogram = list(audits), sizes.histogram if sizes else {}
        if run.unit and isinstance(audits[0], AuditRow) and isinstance(audits[0].detail, ClassCounts):
            self.histogram = audits[0].detail.histogram
        self.k, self.k_released, self.passed, self.verdict = found.k, found.k_released, found.passed, told(found)
        self.quasi = list(found.quasi)

    def purged(self, purging: Purging, not_erased: Sequence[str]) -> None:
        """Take in what came of the purge that follows a release in place, and what it does not reach."""
        self.purging = purging
        self.notes += [f"not erased: {note}" for note in not_erased]
        if purging.purge is not None:
            self.seconds["purge"] = purging.purge.seconds

    @property
    def printed(self) -> ReleaseReport:
        """What is told of it: of a night of a series, nothing of its source.

        Every figure that is left is one of the released rows, or of the releases that were published before.
        """
        if self.series is None:
            return self
        audited = checks(self.audits)
        return replace(
            self,
            rows_in=None, suppressed=None, losses=information_loss.UNKNOWN, safe_distance=None, safe_parts=None,
            sensitive=None, candidates=[], chosen=None, steps=[step(one) for one in self.steps],
            series=series(self.series),
            hashes=self.hashes and replace(self.hashes, input_hash=None, sql_hash=None),
            audits=audited, seconds={}, verdict=verdict(self.verdict, audited, self.series.headline),
            notes=notes(self.notes, self.series),
        )  # fmt: skip

    def told_checks(self, made: Sequence[Check]) -> Sequence[Check]:
        """Return what may be told of checks of it."""
        return checks(made) if self.series else made

    def manifest(self) -> Json:
        """Return what the manifest keeps of it."""
        shown = self.printed
        audits = [replace(one, detail=one.detail.released()) if isinstance(one, AuditRow) and one.detail else one
                  for one in shown.audits]  # fmt: skip
        told = as_json(replace(shown, audits=audits))
        return {name: told[name] for name in _IN_MANIFEST}


def losses(run: Run) -> Losses:
    """Return IL of the numeric columns that were worked on, the share changed of the others, and what is missing.

    A column that is released as it is loses nothing. The rows of a night of a series are in no order.
    """
    with run.log.timed("loss"):
        columns = [column for column in run.quasi if column not in run.table.text]
        loaded = [column for column in run.source.columns if column in set(run.roles.released)]
        return information_loss.measure_all(
            run.warehouse, run.table.original, run.table.current, columns, run.table.numeric, loaded,
            aligned=run.around.seater is None and aligned(run.warehouse, run.table.original, run.table.current),
        )  # fmt: skip
