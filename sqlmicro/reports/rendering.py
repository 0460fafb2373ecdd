"""Which function writes which report as text; names in it are shown, whatever is in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlmicro.registry import late
from sqlmicro.system.reporting import harmless

Write = Callable[[Any], str]
RENDER: dict[str, Callable[[], Write]] = {
    "RegisterReport": lambda: late("sqlmicro.reports.text", "registered"),
    "ProfileReport": lambda: late("sqlmicro.reports.text", "profile"),
    "AuditReport": lambda: late("sqlmicro.reports.audit_text", "audit"),
    "Methods": lambda: late("sqlmicro.reports.text", "methods"),
    "MethodReport": lambda: late("sqlmicro.reports.text", "method"),
    "Compared": lambda: late("sqlmicro.reports.release_text", "safe_distance"),
    "DecryptReport": lambda: late("sqlmicro.reports.text", "decrypted"),
    "MacrosReport": lambda: late("sqlmicro.reports.text", "macros"),
    "Ledger": lambda: late("sqlmicro.reports.text", "ledger"),
    "Certified": lambda: late("sqlmicro.reports.text", "certified"),
    "SeriesList": lambda: late("sqlmicro.reports.text", "series"),
    "PurgeReport": lambda: late("sqlmicro.reports.text", "purged"),
    "ResidueReport": lambda: late("sqlmicro.reports.text", "residue"),
    "AttackReport": lambda: late("sqlmicro.reports.audit_text", "attack"),
    "OverPolicy": lambda: late("sqlmicro.reports.text", "over_policy"),
    "Facts": lambda: late("sqlmicro.reports.content", "report"),
    "Draft": lambda: late("sqlmicro.reports.text", "draft"),
    "Policy": lambda: late("sqlmicro.reports.text", "policy"),
    "PlannedRelease": lambda: late("sqlmicro.reports.planned", "planned"),
    "Explanation": lambda: late("sqlmicro.reports.text", "explanation"),
    "SchemaReport": lambda: late("sqlmicro.reports.text", "schema"),
    "SubsetReport": lambda: late("sqlmicro.reports.text", "subset"),
    "DraftedHierarchy": lambda: late("sqlmicro.reports.text", "drafted_hierarchy"),
    "CompareReport": lambda: late("sqlmicro.reports.audit_text", "compare"),
    "Compiled": lambda: late("sqlmicro.reports.text", "warmed_up"),
    "ReleaseReport": lambda: late("sqlmicro.reports.release_text", "release"),
    "Preview": lambda: late("sqlmicro.reports.release_text", "preview"),
}
"""By the name of the class of a report, what loads what writes it: no report needs the others."""
_BRIEF: dict[str, Callable[[], Write]] = {
    "ReleaseReport": lambda: late("sqlmicro.reports.release_text", "brief"),
    "ReleasingJobs": lambda: late("sqlmicro.reports.release_text", "summary"),
}
_SEVERAL = 3
"""So many releases are told in a table where it is to be brief."""


def rendered(report: object, *, brief: bool = False) -> str:
    """Return a report as text, of releases what matters most where it is to be brief.

    That of a job file has a part for every step that is a command of its own.
    """

    def write(part: object) -> Write:
        name = type(part).__name__
        return (_BRIEF[name] if brief and name in _BRIEF else RENDER[name])()

    return "\n\n".join(write(part)(harmless(part)) for part in _parts(report, brief=brief))


def _parts(report: Any, *, brief: bool) -> list[object]:
    match type(report).__name__:
        case "ReleasingJob":
            return [*(step.report for step in report.before), *_parts(report.release, brief=brief)]
        case "ReleasingJobs":
            previews = [release.preview for release in report.tables if release.preview]
            if brief and len(report.tables) >= _SEVERAL and not previews:
                return [*(step.report for step in report.before), report]
            released = [part for release in report.tables for part in _parts(release, brief=brief)]
            return [*(step.report for step in report.before), *released]
        case "LookingJob":
            return [step.report for step in report.results]
        case "ReleaseReport":
            return [report, *([report.preview] if report.preview else [])]
    return [report]
