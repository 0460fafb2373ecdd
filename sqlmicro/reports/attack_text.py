"""The report of `sqlmicro attack` as text: a line per attack, and what its figures mean."""

from __future__ import annotations

from collections.abc import Mapping

from sqlmicro.attacks.averaging import Averaged
from sqlmicro.attacks.difference import InCommon
from sqlmicro.attacks.homogeneity import Alike
from sqlmicro.attacks.insider import Recovered
from sqlmicro.attacks.key_replay import Guessed
from sqlmicro.attacks.linkage import Candidates
from sqlmicro.attacks.report import AttackReport
from sqlmicro.attacks.row import AttackRow, Detail
from sqlmicro.attacks.row_order import SamePlaces
from sqlmicro.attacks.same_order import Agreement, Rebuilt
from sqlmicro.reports.text import figure, line, some, table

_TRUTH = {
    "match": "records are matched by {match}: a rate is how often an attack was right",
    "assumed": "assumed: nothing tells which record became which, so the true one is assumed to be among those that an "
    "attack ends with. Rates of linkage are upper bounds. To measure them, name a key that both tables have in --match",
}


def attack(report: AttackReport) -> str:
    """Return what was measured, beside chance, and what the release promises."""
    n, m = report.records
    tried = f"{report.tried:,} of {n:,} records, against {m:,} released"
    lines = [
        line("original", report.original),
        line("release", ", ".join(report.release)),
        line("columns", some(report.columns)),
        line("tried", tried + ("" if report.tried == n else ": a sample, or those that were released")),
        line("truth", _TRUTH[report.truth].format(match=", ".join(report.match))),
    ]
    if report.promises:
        lines.append(line("promise", f"release {report.recorded}: {report.promises}"))
    lines += [line("verdict", report.verdict.headline), line("", report.verdict.sentence)]
    lines += [line("note", note) for note in report.notes]
    left = [line("not tried" if i == 0 else "", f"{row.name}: {row.why}")
            for i, row in enumerate(report.not_tried)]  # fmt: skip
    left = ["", *left] if left else []
    if not report.attacks:
        return "\n".join([*lines, "", "no attack could be made", *left])
    rows = [_cells(row) for row in report.attacks]
    lines += ["", table(rows, ["attack", "rate", "95 %", "chance", "n"], right=[1, 2, 3, 4])]
    return "\n".join([*lines, *_said(report), *left])


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
    said = [(row.name, _told(row.detail, assumed)) for row in report.attacks if row.detail is not None]
    lines = [line(name, text) for name, text in said if text]
    return ["", *lines] if lines else []


_GROUPS = {"records": "all the columns", "columns": "the column alone"}


def _told(found: Detail, assumed: str) -> str:
    match found:
        case Candidates():
            return (
                f"released records left on average: {_shown(found.candidates)}; share of those tried for which the "
                f"true one is among them: {_shown(found.truth_among_them)}{assumed}"
            )
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
                f"records with fewer than {_shown(found.k)} in common between their two classes; linked to "
                f"{_shown(found.linked)} on average"
            )
        case Agreement():
            return (
                f"places of releases {found.releases} at which the two records are nearer than elsewhere; columns "
                f"correlate by: {_listed(found.correlations)}; what was added by: {_listed(found.residuals)}"
            )
        case Rebuilt():
            return f"places of releases {found.releases} that give what is in the original: {found.rebuilt}"
        case Alike():
            return f"records whose class has one value of {found.sensitive}"
    return ""
