"""Which function writes which report as text; names in it are shown, whatever is in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlmicro.attacks.report import AttackReport
from sqlmicro.audits.row import AuditReport
from sqlmicro.erasure.purge import PurgeReport
from sqlmicro.erasure.residue import ResidueReport
from sqlmicro.identifiers.scan import ProfileReport
from sqlmicro.publish.report import Preview, ReleaseReport
from sqlmicro.reports import (
    attack_text,
    audit_text,
    compare_text,
    erasure_text,
    jobs_text,
    preview_text,
    release_text,
    report_text,
    results,
    safe_text,
    text,
)
from sqlmicro.reports.compared import CompareReport
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.planned import PlannedRelease, planned
from sqlmicro.safe_method.compare import Compared
from sqlmicro.system.reporting import harmless

RENDER: dict[type, Callable[[Any], str]] = {
    results.RegisterReport: text.registered, ProfileReport: text.profile, AuditReport: audit_text.audit,
    results.Methods: text.methods, results.MethodReport: text.method, Compared: safe_text.safe_distance,
    results.MacrosReport: text.macros, PurgeReport: erasure_text.purged, ResidueReport: erasure_text.residue,
    AttackReport: attack_text.attack, Facts: report_text.report, results.Draft: jobs_text.draft,
    results.Policy: jobs_text.draft, PlannedRelease: planned,
    results.Explanation: jobs_text.explanation, results.SchemaReport: jobs_text.schema,
    CompareReport: compare_text.compare, results.Compiled: text.warmed_up, ReleaseReport: release_text.release,
    Preview: preview_text.preview,
}  # fmt: skip


def rendered(report: object) -> str:
    """Return a report as text; that of a job file has a part for every step that is a command of its own."""
    return "\n\n".join(RENDER[type(part)](harmless(part)) for part in _parts(report))


def _parts(report: object) -> list[object]:
    match report:
        case results.ReleasingJob():
            return [*(step.report for step in report.before), *_parts(report.release)]
        case results.ReleasingJobs():
            released = [part for release in report.tables for part in _parts(release)]
            return [*(step.report for step in report.before), *released]
        case results.LookingJob():
            return [step.report for step in report.results]
        case ReleaseReport():
            return [report, *([report.preview] if report.preview else [])]
    return [report]
