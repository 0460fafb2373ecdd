"""The command `sqlmicro report`: writing what it finds to a file.

What an intruder with the original in hand makes of a release, and of the others of the same source: its risk map.

The three criteria of a release, for a report: against the control group that is given, or by a rehearsal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmicro.attacks.criteria import Criteria, criteria, unknown
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.audits.verdict_words import told
from sqlmicro.database import attach
from sqlmicro.database.files import file_format
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError, ParameterError, SqlmicroError
from sqlmicro.jobs.steps import Job
from sqlmicro.options.params import carried
from sqlmicro.publish import ledger_file
from sqlmicro.publish.report import Parameters
from sqlmicro.reports import collecting, page
from sqlmicro.reports.attack_report import AttackReport
from sqlmicro.reports.charts import Point, pareto
from sqlmicro.reports.done import OfRelease, OverPolicy
from sqlmicro.reports.facts import AttackFacts, Facts, LeftOut, ReportOptions
from sqlmicro.reports.recorded import RecordedRelease
from sqlmicro.system import moves
from sqlmicro.system.progress import Progress
from sqlmicro.system.sentences import say, term
from sqlmicro.verbs.attack import attack_values, opened
from sqlmicro.verbs.attacking import AttackOptions, strongest
from sqlmicro.verbs.over_policy import asked_of, each, file_of, folder, is_policy, recorded

if TYPE_CHECKING:
    from sqlmicro.audits.verdict import Verdict

_PAGES = (".html", ".htm")
_TEXTS = (".md", ".markdown")


def report_values(options: ReportOptions, progress: Progress) -> Facts | OverPolicy:
    """Report on a release for those who decide: what was promised and found, as one HTML page or as text.

    Of a policy one page for every release. The database is read, never changed. A report holds aggregates of at least
    k records. Take `report` to have a release signed: it audits and attacks. Take `audit` or `attack` for figures
    alone, and `check` for all releases of a policy in one table.
    """
    if options.policy and not options.release and not is_policy(options.policy):
        options = replace(options, policy=None, release=options.policy)
    if bool(options.policy) == bool(options.release):
        got = "both" if options.release else "neither"
        raise ParameterError("report", "is of --release ID|TABLE, or of all releases of a POLICY", got)
    if options.policy is None:
        return _reported(options, progress)
    to = folder("report, --to", options.to)
    ending = ".md" if options.markdown else ".html"

    def reported(job: Job, name: str) -> OfRelease:
        path = str(to / file_of(name, ending))
        facts = _reported(asked_of(job, options, policy=None, release=name, to=path), progress)
        return OfRelease(job.options.table, name, facts.records, str(facts.verdict.headline), path,
                         int(facts.passed is False))  # fmt: skip

    return each(options.policy, progress, "hold what was promised", reported, [])


def _reported(options: ReportOptions, progress: Progress) -> Facts:
    """Report on one release."""
    path = _target(options)
    of_file = options.original and file_format(options.release)
    if of_file and ledger_file.has_night(options.ledger, options.release, progress):
        raise collecting.night_alone(str(options.original))
    with open_warehouse(recorded(options), read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        found, verdict, known = collecting.collect(warehouse, options)
    attack(found, verdict, options, progress)
    measure_criteria(found, options, progress)
    place(found, known, options, progress)
    as_text = options.markdown or (path is not None and path.suffix.lower() in _TEXTS)
    text = page.markdown(found) if as_text else ""
    if path is not None:
        moves.write("--to", path, (text or page.html(found)).encode(), overwrite=options.overwrite)
    found.to, found.markdown = options.to, text if as_text and path is None else None
    return found


def _target(options: ReportOptions) -> Path | None:
    """Return the file to write, refused before any work is done where it cannot be."""
    if options.to is None:
        if options.overwrite:
            raise ParameterError("report, --overwrite", "goes with --to", "no --to")
        return None
    path = Path(options.to).absolute()
    if path.suffix.lower() not in (*_PAGES, *_TEXTS):
        raise ParameterError("report, --to", f"must end in {', '.join((*_PAGES, *_TEXTS))}", repr(options.to))
    if not path.parent.is_dir():
        raise InputError("--to", f"the folder of {options.to!r} must exist", "none", "Make it first")
    moves.refuse("--to", path, options.to, overwrite=options.overwrite)
    return path


MOST_RELEASES = 20
"""So many releases of one source are on its map at most, the newest."""


@dataclass(frozen=True)
class _Alike:
    """What must be the same of all points of a map."""

    truth: str
    person: tuple[str, ...]
    scales: dict[str, bool]
    """Whether the loss of a column is IL."""

    def has(self, scales: dict[str, bool]) -> bool:
        return all(self.scales.get(name, il) == il for name, il in scales.items())


def attack(facts: Facts, verdict: Verdict, options: ReportOptions, progress: Progress) -> None:
    """Attack the release with its original in hand; what came of it goes into the facts and the verdict."""

    if facts.original is None or not options.sample:
        return
    try:
        report = _attacked(facts, facts.table, options, progress)
    except (InputError, ParameterError) as error:
        facts.no_attacks = term(str(error).rstrip("."))
        return
    facts.attacks = [AttackFacts(row.name, row.rate, row.ci, row.chance, row.n) for row in report.attacks]
    facts.attacked = report.columns
    facts.attacks_assume = report.truth == "assumed"
    facts.not_tried = report.not_tried
    facts.no_attacks = "" if facts.attacks else say("none can be made")
    facts.verdict = told(verdict.after(strongest(report)))
    facts.passed = facts.verdict.passed


def measure_criteria(facts: Facts, options: ReportOptions, progress: Progress) -> None:
    """Measure the three criteria against a control group, which takes as long as the release if it is rehearsed."""
    if facts.original is None or not options.sample:
        return
    asked = _asked(facts, facts.table, options, control=options.control, sample=None)
    facts.criteria = criteria_values(asked, progress)


def place(facts: Facts, known: RecordedRelease | None, options: ReportOptions, progress: Progress) -> None:
    """Put the releases of one source on a map, if they are measured alike: the columns, the attack and each loss.

    Risk is the share of the records that the strongest linkage links. Loss is the mean over the columns: IL of
    numeric ones, the share of values changed of nominal ones, 0 where a column was released as it is. Where it was not
    measured, as for numbers recoded to ranges, there is no place on the map. Every other release is named with why.
    """

    if known is None or facts.original is None or not options.sample:
        return
    own = _columns(known.parameters, facts)
    match = {name.lower() for name in options.match}
    asked: dict[str, object] = {
        "columns": tuple(name for name in own if name.lower() not in match), "attack": ("linkage",),
    }  # fmt: skip
    points: dict[int, Point] = {}
    alike: _Alike | None = None
    rows = sorted(known.siblings[-MOST_RELEASES:], key=lambda row: row.id != known.id)
    for row in rows:
        changed = {name for step in row.parameters.steps for name in step.columns} & set(own)
        why = say("is a night of a series, which is not measured against its source") if row.series else ""
        why = why or ("" if _columns(row.parameters, facts) == own else say("has other columns"))
        why = why or ("" if changed <= set(row.loss_by_column) else say("its loss was not measured for every column"))
        scales = {name: name in row.parameters.numeric for name in changed}
        if not why and alike and not alike.has(scales):
            why = say("its loss was measured in another way")
        if not why:
            try:
                report = _attacked(facts, row.target, options, progress, **asked)
            except (InputError, ParameterError):
                why = say("it is gone, or is another table by now")
            else:
                found = _Alike(report.truth, tuple(report.person), {**scales, **(alike.scales if alike else {})})
                if alike and (found.truth, found.person) != (alike.truth, alike.person):
                    why = say("its risk was measured in another way")
                else:
                    alike = found
                    loss = sum(row.loss_by_column.get(name, 0.0) for name in own) / len(own)
                    (linked,) = report.attacks
                    points[row.id] = Point(row.target, linked.rate, loss, row.method, chosen=row.id == known.id)
        if why:
            facts.other_candidates.append(LeftOut(row.target, why))
    facts.candidates = pareto([points[id_] for id_ in sorted(points)])
    facts.map_of, facts.map_numeric = own, sorted(name for name, il in (alike.scales if alike else {}).items() if il)


def _columns(given: Parameters, facts: Facts) -> list[str]:
    """Return the columns of a recorded release that an attacker may know."""
    worked_on = [name for step in given.steps for name in (*step.columns, *step.by)]
    apart = {*given.apart, *facts.sensitive}
    return sorted({*worked_on, *given.kept} - apart)


def _attacked(facts: Facts, release: str, options: ReportOptions, progress: Progress, **asked: object) -> AttackReport:
    """Attack a release with what a report was told of it, and return what came of it."""
    return attack_values(_asked(facts, release, options, **asked), progress)


def _asked(facts: Facts, release: str, options: ReportOptions, **asked: object) -> AttackOptions:
    """Return the options of an attack on a release with what a report was told of it."""
    known = {"original": facts.original, "release": (release,), "sensitive": tuple(facts.sensitive), "control": None}
    return carried(AttackOptions, options, **{**known, **asked})


def criteria_values(options: AttackOptions, progress: Progress) -> Criteria:
    """Measure the three criteria of a release; where there is no control group, they say so."""
    try:
        with opened(options, progress) as found:
            control = found.control(rehearse=True)
            return criteria(Knowledge(found.releases, found.sensitive, control=control))
    except SqlmicroError as error:
        return unknown(str(error).rstrip("."))
