"""The report of `sqlmicro audit` as text: a line per audit, then the class sizes as bars of characters.

The report of `sqlmicro attack` as text: a line per attack, and what its figures mean.

The comparison of methods as text: a table, the map in characters, and a command for every candidate.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from sqlmicro.attacks.all_records import Together
from sqlmicro.attacks.control import AgainstControl
from sqlmicro.attacks.inference import Alike
from sqlmicro.attacks.key_replay import Guessed
from sqlmicro.attacks.known_columns import FromKnown
from sqlmicro.attacks.linkage import Attackers
from sqlmicro.attacks.membership import Told
from sqlmicro.attacks.recovery import Recovered
from sqlmicro.attacks.registry import AttackRow
from sqlmicro.attacks.row_order import SamePlaces
from sqlmicro.attacks.same_order import Agreement, Rebuilt
from sqlmicro.attacks.totals import Averaged, InCommon, Isolated
from sqlmicro.audits.deniable import Inventions
from sqlmicro.audits.k_anonymity import ClassCounts
from sqlmicro.audits.population_uniqueness import Uniqueness
from sqlmicro.audits.registry import AuditReport, AuditRow, RecordRiskTable
from sqlmicro.audits.suda import Suda
from sqlmicro.reports.attack_report import AttackReport
from sqlmicro.reports.compared import Best, ComparedRow, CompareReport, Refused, Tried
from sqlmicro.reports.disclosure import class_steps
from sqlmicro.reports.text import figure, line, some, table, width
from sqlmicro.system.sentences import say

_BAR = "#"
NULLS = {
    "own_value": say("a value of its own"),
    "wildcard": say("matches every value"),
    "exclude": say("its record is left out"),
}


def audit(report: AuditReport) -> str:
    """Return what was measured, what failed, and the class sizes."""
    unit = "persons" if report.person else "records"
    lines = [line("table", report.table)]
    named = (("quasi", report.quasi), ("sensitive", report.sensitive))
    lines += [line(role, ", ".join(columns)) for role, columns in named if columns]
    if report.weight:
        lines.append(line("weight", report.weight))
    if report.person:
        lines.append(line("person", f"{', '.join(report.person)}: classes count distinct persons, not records"))
    if report.household:
        lines.append(line("household", ", ".join(report.household)))
    lines.append(line("NULL", NULLS[report.nulls]))
    recorded = f"release {report.release} in sqlmicro.audits" if report.recorded else ""
    if recorded:
        lines.append(line("recorded", recorded))
    if report.record_risks:
        lines.append(line("per record", _written(report.record_risks)))
    lines += [line("note", note) for note in report.notes]
    lines += [
        "",
        table([_cells(row, report.quasi) for row in report.audits], ["audit", "value", "gate", "", "of"], right=[1]),
    ]
    lines += [line(row.check, f"unknown: {row.reason}") for row in report.audits if row.status == "unknown"]
    lines += [line(row.check, _suda(row.detail)) for row in report.audits if isinstance(row.detail, Suda)]
    lines += [line("uniqueness", _unique(row.detail)) for row in report.audits if isinstance(row.detail, Uniqueness)]
    lines += [
        line(row.check, said) for row in report.audits if isinstance(row.detail, Inventions) for said in row.detail.told
    ]
    for row in report.audits:
        if isinstance(row.detail, ClassCounts) and row.status != "unknown":
            lines += ["", *_k(row.detail, row.threshold, unit)]
    if report.classes_shown:
        rows = [[("NULL" if value is None else str(value)) for value in row] for row in report.classes_shown]
        lines += ["", table(rows, [*report.quasi, unit])]
    return "\n".join(lines)


def _written(found: RecordRiskTable) -> str:
    known = f"a row for each of {found.records:,} records, by {', '.join(found.key)}"
    if not found.lasts:
        known += ": the place of the record in the table as it was read, which another order changes"
    return f"{found.table} has {known}. It is as private as the originals."


def _cells(row: AuditRow, quasi: list[str]) -> list[str]:
    """Return the cells of a row; of the columns, those that are no quasi-identifiers anyway."""
    value = "unknown" if row.value is None else figure(row.value)
    needed = ""
    if row.threshold is not None:
        needed = f"{'>=' if row.at_least else '<='} {figure(row.threshold)}"
    verdict = {"failed": "FAILED", "unknown": "FAILED" if row.asked else ""}.get(row.status, row.status)
    return [
        row.check,
        value,
        needed,
        "" if verdict == "measured" else verdict,
        some([name for name in row.columns if name not in quasi]),
    ]


def _k(found: ClassCounts, wanted: float | None, unit: str) -> list[str]:
    lines = [line(unit, f"{found.records:,} in {_classes(found.classes)}")]
    if wanted is not None:
        lines.append(line("below k", f"{found.violating_records:,} {unit} in {_classes(found.violating_classes)}"))
    if unit == "persons":
        lines.append(line("", "below, a person with records in several classes counts in each of them"))
    return [*lines, "", histogram(found.histogram, None if wanted is None else int(wanted), unit)]


def _suda(found: Suda) -> str:
    dis = found.dis_suda
    text = f"{found.records:,} have a score, from combinations of up to {found.size} columns. DIS-SUDA "
    if dis.highest is None or dis.sampling_fraction is None:
        return text + f"{dis.reason}."
    return text + f"is at most {figure(dis.highest)}, at a sampling fraction of {figure(dis.sampling_fraction)}."


def _unique(found: Uniqueness) -> str:
    if found.model == "counted":
        return "counted: the release has the whole population."
    models = (("Zayatz", found.zayatz), ("Pitman", found.pitman), ("SNB", found.snb))
    told = ", ".join(f"{name} {'does not converge' if value is None else figure(value)}" for name, value in models)
    return f"{told}. At a sampling fraction of {figure(found.sampling_fraction)} Dankar's rule takes {found.model}."


def _classes(number: int) -> str:
    return f"{number:,} class{'' if number == 1 else 'es'}"


def histogram(sizes: dict[int, int], k: int | None, unit: str = "records") -> str:
    """Return the class sizes as bars of characters: how many records, or persons, are in classes of each size.

    >>> print(histogram({1: 2, 5: 3}, 3))
    class size  classes  records
    1                 2        2  ####  below k
    5                 3       15  ##############################
    """
    steps = [
        (step.label, step.classes, step.records, k is not None and step.first < k) for step in class_steps(sizes, k)
    ]
    if not steps:
        return f"no {unit}"
    most = max(records for _, _, records, _ in steps)
    room = max(10, min(30, width() - 44))
    lines = (
        [f"{'class size':<15}{'classes':>10}{unit:>12}"]
        if max(len(s[0]) for s in steps) > 10
        else [f"class size  classes  {unit:>7}"]
    )
    wide = len(lines[0]) > 30
    for name, classes, records, below in steps:
        bar = _BAR * max(1, round(room * records / most)) + ("  below k" if below else "")
        lead = f"{name:<15}{classes:>10,}{records:>12,}" if wide else f"{name:<10}{classes:>9,}{records:>9,}"
        lines.append(f"{lead}  {bar}")
    return "\n".join(lines)


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
    rows = [[*_attack_cells(row), *([row.unit] if report.person else [])] for row in report.attacks]
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


def _attack_cells(row: AttackRow) -> list[str]:
    low, high = row.ci
    return [
        row.name,
        _rate(row.rate),
        f"{_rate(low)} to {_rate(high)}",
        _rate(row.chance),
        f"{row.n:,}",
    ]


def _rate(value: float) -> str:
    """Return a share with four decimals, and one that would be 0 then by its size.

    >>> _rate(0.12345), _rate(0.0), _rate(0.00001234)
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
            tried = "; ".join(f"{name} {_rate(rate)}" for name, rate in found.rates.items())
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


Measured = tuple[ComparedRow, Tried]
_HEIGHT = 12
_LABELS = 7


def compare(report: CompareReport) -> str:
    """Return what was measured of every candidate."""
    measured = [(row, row.found) for row in report.candidates if isinstance(row.found, Tried)]
    head = [
        line("table", report.table),
        line("columns", some(report.columns)),
        line(
            "risk",
            "share of records, with --person of persons, that the strongest linkage links correctly; every released "
            "column is known",
        ),
        line(
            "inference",
            "how much more often the nearest released group, by all other columns, tells a value of somebody in the "
            "table than of the tenth who are held out of it: the gain, mean over the columns",
        ),
        line("loss", "mean over the columns: IL of numeric ones, share of values changed of nominal ones"),
    ]
    if report.weights:
        head.append(line("left out", f"{some(report.weights)}: a weight by the name. --columns takes what is named"))
    parts = ["\n".join(head), _uses(report, measured), _candidates(measured), picture(measured)]
    if report.choice:
        parts.append(_best(report.choice))
    others = [f"{row.label} ({some(found.columns)})" for row, found in measured if not found.on_map]
    if others:
        parts.append(line("not on the map", f"measured over other columns: {', '.join(others)}"))
    failed = [f"{row.label}: {row.found.error}" for row in report.candidates if isinstance(row.found, Refused)]
    if failed:
        parts.append("\n".join(textwrap.fill(text, width(), subsequent_indent="  ") for text in failed))
    notes = list(dict.fromkeys(f"{row.label}: {note}" for row, found in measured for note in found.notes))
    if notes:
        parts.append("\n".join(line("note", note) for note in notes))
    # Not wrapped: they are to be copied.
    parts.append("\n".join(f"{row.candidate:>2}  {row.command}" for row, _ in measured))
    if report.map:
        parts.append(line("map", report.map))
    return "\n\n".join(parts)


def _candidates(measured: Sequence[Measured]) -> str:
    wide = width() >= 76
    rows = [
        [
            f"{row.candidate}{'*' if found.front else ' '}",
            row.label,
            _percent(found.risk),
            *([f"{_percent(found.risk_ci[0])} to {_percent(found.risk_ci[1])}"] if wide else []),
            "-" if found.inference is None else f"{100 * found.inference.gain:.1f} %",
            f"{found.loss:.3g} %",
            str(found.k_released),
            *([f"{found.seconds:.1f}", found.verdict.status] if wide else []),
        ]
        for row, found in measured
    ]
    header = ["", "candidate", "risk", *(["95 %"] if wide else []), "inference", "loss", "k"]
    header += ["seconds", "verdict"] if wide else []
    return table(rows, header, right=range(2, len(header) - 1)) + "\n* no other candidate has less risk and less loss"


_RANKED = {
    "tables": "the mean deviation of tables of 1, 2 and 3 columns, each counting the same",
    "means": "the share of means of subgroups that are off, then the deviation of bands",
    "models": "the largest error of a correlation, then the deviation of bands",
}
_OF_A_TARGET = "the accuracy of a model of the target"


def _uses(report: CompareReport, measured: Sequence[Measured]) -> str:
    """Return what the candidates are good for, the best first, and what the columns mean."""
    target, wide, rows = report.target is not None, width() >= 76, []
    for row, found in sorted(measured, key=lambda pair: (pair[0].rank or 0, pair[0].candidate)):
        use, told = found.use, found.accuracy
        tables = "/".join(f"{one.mean:.2g}" for one in use.tables.values())
        largest = "/".join(f"{one.largest:,}" for one in use.tables.values())
        error = "-" if use.correlation is None else f"{use.correlation:.3f}"
        rows.append([
            f"{row.rank}", row.label, tables, *([largest, _share_or_dash(use.bands)] if wide else []),
            _share_or_dash(use.means_off, 100), *([error] if wide else []),
            *([_share_or_dash(told.of_release if told else None, 100)] if target else []),
        ])  # fmt: skip
    header = ["", f"for {report.ranked_by}", "tables %", *(["largest", "bands %"] if wide else []), "means off %"]
    header += [*(["corr."] if wide else []), *(["accuracy %"] if target else [])]
    by = _OF_A_TARGET if target and report.ranked_by == "models" else _RANKED[report.ranked_by]
    said = [
        f"ranked by {by}. tables: total variation of those of 1/2/3 columns, numbers in ten bins, and the largest "
        "deviation of a count; bands: a number in ten bins by a nominal column; means off: of subgroups of 30, by more "
        "than a standard error; corr.: the largest error of a correlation"
    ]
    if target and measured:
        told = measured[0][1].accuracy
        before = _share_or_dash(told.of_original if told else None, 100)
        said.append(
            f"accuracy: a third of the records, whose {report.target} a ridge regression tells that is fitted on what "
            f"is released of the others (R² of a number); fitted on their original: {before} %"
        )
    told_of = "\n".join(textwrap.fill(text, width()) for text in said)
    return table(rows, header, right=range(2, len(header))) + "\n" + told_of


def _share_or_dash(value: float | None, times: float = 1) -> str:
    return "-" if value is None else f"{times * value:.3g}"


def _best(found: Best) -> str:
    limit = _percent(found.max_risk)
    if found.best is None:
        return line("best", f"none links at most {limit} of the records")
    return line("best", f"{found.best}: the least loss of those that link at most {limit} of the records")


def _percent(share: float) -> str:
    """Return a share in percent.

    >>> _percent(0.0004), _percent(0.25), _percent(1)
    ('0.04 %', '25.0 %', '100.0 %')
    """
    return f"{100 * share:.2f} %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def picture(measured: Sequence[Measured]) -> str:
    """Return the map in characters: loss to the right, risk upward, every candidate as its number."""
    return drawn([(row.candidate, found.risk, found.loss) for row, found in measured if found.on_map])


def drawn(points: Sequence[tuple[int, float, float]]) -> str:
    """Return points (number, risk, loss) as a map in characters.

    >>> lines = drawn([(1, 0.5, 10.0), (2, 0.0, 20.0)]).splitlines()
    >>> lines[1][:9], lines[1][-1], lines[12][:12], "2" in lines[12]
    (' 50.0 % |', '1', '  0.0 % +---', True)
    """
    room = min(64, width() - _LABELS - 4)
    highest = max([1e-9, *(risk for _, risk, _ in points)])
    furthest = max([1e-9, *(loss for *_, loss in points)])
    grid = [[" "] * (room + 2) for _ in range(_HEIGHT)]
    for number, risk, loss in points:
        text = str(number)
        at = min(round(room * loss / furthest), room + 2 - len(text))
        row = grid[_HEIGHT - 1 - round((_HEIGHT - 1) * risk / highest)]
        # Where two fall on one place, the later one stands beside it.
        while at < room + 2 - len(text) and any(row[at + i] != " " for i in range(len(text))):
            at += 1
        row[at : at + len(text)] = text
    lines = [" risk"]
    for number, row in enumerate(grid):
        share = highest * (_HEIGHT - 1 - number) / (_HEIGHT - 1)
        label = f"{100 * share:.1f} %" if number in (0, _HEIGHT - 1) else ""
        body = "".join(row) if number < _HEIGHT - 1 else "".join(c if c != " " else "-" for c in row)
        lines.append(f"{label:>{_LABELS}} {'+' if number == _HEIGHT - 1 else '|'}{body}".rstrip())
    end = f"{furthest:.3g} % loss"
    lines.append(" " * (_LABELS + 2) + "0" + end.rjust(room))
    return "\n".join(lines)
