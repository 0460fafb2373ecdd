"""The report of `sqlmicro attack` as text: a line per attack, and what its figures mean."""

from __future__ import annotations

from collections.abc import Mapping

from sqlmicro.attacks.all_records import Together
from sqlmicro.attacks.averaging import Averaged
from sqlmicro.attacks.control import AgainstControl
from sqlmicro.attacks.difference import InCommon
from sqlmicro.attacks.homogeneity import Alike
from sqlmicro.attacks.insider import Recovered
from sqlmicro.attacks.key_replay import Guessed
from sqlmicro.attacks.known_columns import FromKnown
from sqlmicro.attacks.linkage import Attackers
from sqlmicro.attacks.membership import Told
from sqlmicro.attacks.row import AttackRow
from sqlmicro.attacks.row_order import SamePlaces
from sqlmicro.attacks.same_order import Agreement, Rebuilt
from sqlmicro.attacks.totals import Isolated
from sqlmicro.reports.attack_report import AttackReport
from sqlmicro.reports.text import figure, line, some, table

_TRUTH = {
    "match": "records are matched by {match}: a rate is how often an attack was right",
    "assumed": "assumed: nothing tells which record became which, so the true one is assumed to be among those that an "
    "attack ends with. Rates of linkage are upper bounds. To measure them, name a key that both tables have in --match",
}

_PERSONS = (
    "a person is found by any of her records; a rate of persons takes the record of each that gives her away most"
)


def attack(report: AttackReport) -> str:
    """Return what was measured, beside chance, and what the release promises."""
    n, m = report.records
    tried = f"{report.tried:,} of {n:,} records, against {m:,} released"
    if report.persons is not None:
        tried = f"{report.persons:,} persons with {tried}"
    lines = [
        line("original", report.original),
        line("release", ", ".join(report.release)),
        line("columns", some(report.columns)),
        *([line("person", f"{', '.join(report.person)}: {_PERSONS}")] if report.person else []),
        line("tried", tried + ("" if report.tried == n else ": a sample, or those that were released")),
        line("truth", _TRUTH[report.truth].format(match=", ".join(report.match))),
    ]
    if report.promises:
        lines.append(line("promise", f"release {report.recorded}: {report.promises}"))
    lines += [line("verdict", report.verdict.headline), line("", report.verdict.sentence)]
    lines += [line("note", note) for note in report.notes]
    left = _left(report)
    if not report.attacks:
        return "\n".join([*lines, "", "no attack could be made", *left])
    rows = [[*_cells(row), *([row.unit] if report.person else [])] for row in report.attacks]
    header = ["attack", "rate", "95 %", "chance", "n", *(["of"] if report.person else [])]
    lines += ["", table(rows, header, right=[1, 2, 3, 4])]
    return "\n".join([*lines, *_said(report), *left])


def _left(report: AttackReport) -> list[str]:
    """Return what was not tried, those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for row in report.not_tried:
        reasons.setdefault(row.why, []).append(row.name)
    told = [line("" if i else "not tried", f"{', '.join(of)}: {why}") for i, (why, of) in enumerate(reasons.items())]
    return ["", *told] if told else []


def _cells(row: AttackRow) -> list[str]:
    low, high = row.ci
    return [
        row.name,
        _share(row.rate),
        f"{_share(low)} to {_share(high)}",
        _share(row.chance),
        f"{row.n:,}",
    ]


def _share(value: float) -> str:
    """Return a share with four decimals, and one that would be 0 then by its size.

    >>> _share(0.12345), _share(0.0), _share(0.00001234)
    ('0.1235', '0', '1e-05')
    """
    return f"{value:.4f}" if value >= 0.00005 else f"{value:.0e}" if value else "0"


def _shown(value: float) -> str:
    """Return a figure to be read, in four digits where it is no whole number."""
    return f"{value:.4g}" if isinstance(value, float) else figure(value)


def _listed(by_column: Mapping[str, float | None]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in by_column.items() if value is not None) or "not known"


def _said(report: AttackReport) -> list[str]:
    """Return what the attacks found besides their rates."""
    assumed = " (assumed)" if report.truth == "assumed" else ""
    said = [(row.name, _told(row, assumed)) for row in report.attacks if row.detail is not None]
    lines = [line(name, text) for name, text in said if text]
    return ["", *lines] if lines else []


_HOW = {"given": "as it was given", "rehearsed": "held out of a rehearsal"}
_GROUPS = {"records": "all the columns", "columns": "the column alone"}


def _told(row: AttackRow, assumed: str) -> str:
    found, of = row.detail, row.unit
    match found:
        case Attackers():
            tried = "; ".join(f"{name} {_share(rate)}" for name, rate in found.rates.items())
            others = f"; where it was learned: {tried}" if tried else ""
            return f"strongest: {', '.join(found.strongest)}; assumed: {found.assumed}{others}"
        case SamePlaces():
            return f"places in both tables correlate by {_shown(found.order_correlation)}"
        case Guessed():
            return f"the best of {_shown(found.guesses)} keys and seeds made from what was published"
        case Recovered():
            return (
                f"values that the others of a group recover to within {_shown(found.within)} standard deviations; a "
                f"group is the records alike in {_GROUPS.get(found.groups, found.groups)}"
            )
        case Averaged():
            return (
                f"values recovered to within {_shown(found.within)} standard deviations from {_shown(found.releases)} "
                f"releases; from the first alone: {_shown(found.one_release)}"
            )
        case InCommon():
            return (
                f"{of} with fewer than {_shown(found.k)} in common between their two classes; linked to "
                f"{_shown(found.linked)} on average"
            )
        case Isolated():
            return (
                f"differences of totals about fewer than {_shown(found.k)} records: {_shown(found.differences)}; "
                f"records in them: {_shown(found.records)}, of which alone: {_shown(found.alone)}; values recovered to "
                f"within {_shown(found.within)} standard deviations: {_listed(found.by_column)}"
            )
        case Agreement():
            return (
                f"places of releases {found.releases} at which the two records are nearer than elsewhere; columns "
                f"correlate by: {_listed(found.correlations)}; what was added by: {_listed(found.residuals)}"
            )
        case FromKnown():
            sets = f"{found.sets:,} sets" + (
                f", of which {found.tried:,} were tried" if found.tried < found.sets else ""
            )
            return (
                f"columns guessed right of persons who are unique in {found.known} known ones and shown, from {sets}; "
                f"most from {', '.join(found.worst)}: {found.right:,} of {found.guesses:,}. Keep this to yourself: it "
                f"tells which combinations are true"
            )
        case Rebuilt():
            return f"places of releases {found.releases} that give what is in the original: {found.rebuilt}"
        case Alike() | AgainstControl() | Told():
            return _beside_control(found, of)
        case Together():
            return (
                f"persons left on average: {_shown(found.candidates)}{assumed}, by {_shown(found.records_of_a_person)} "
                f"records each: k persons who share each record need not share all of them"
            )
    return ""


def _beside_control(found: Alike | AgainstControl | Told, of: str) -> str:
    """Return what is told of attacks on what is known of anybody, not on a record."""
    match found:
        case Alike():
            if of == "persons":
                said = f"persons in a class where all persons have a value of {found.sensitive} in common"
            else:
                said = f"records whose class has one value of {found.sensitive}, as every class of one record has"
            if found.right is None or found.commonest is None:
                return f"{said}: what the release shows, not how often it is true"
            return (
                f"{said}. That is what the release shows, not how often it is true: the value of the nearest class is "
                f"right about {_shown(found.right)} of the records of the original, the commonest value about "
                f"{_shown(found.commonest)}"
            )
        case AgainstControl():
            about = f"{found.column}: " if found.column else ""
            usual = "" if found.commonest is None else f"; the commonest value is right about {_shown(found.commonest)}"
            low, high = found.risk_ci
            return (
                f"{about}chance is the control group, {_HOW[found.how]}{usual}; the risk from being in "
                f"the table is {_shown(found.risk)} ({_shown(low)} to {_shown(high)}); strongest: "
                f"{found.chosen}"
            )
        case Told():
            low, high = found.true_positives_ci
            return (
                f"area under the ROC curve; with {_shown(found.false_positives)} of the control group, "
                f"{_HOW[found.how]}, taken for people of the table, {_shown(found.true_positives)} ({_shown(low)} to "
                f"{_shown(high)}) of the table are told; strongest: {found.chosen}"
            )
