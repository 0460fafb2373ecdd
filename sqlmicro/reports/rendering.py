"""Which function writes the report of which verb as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlmicro.reports import attack_text, audit_text, compare_text, erasure_text, jobs_text, report_text, text

RENDER: dict[str, Callable[[dict[str, Any]], str]] = {
    "register": text.registered, "profile": text.profile, "audit": audit_text.audit, "methods": text.methods,
    "safe-distance": text.safe_distance, "macros": text.macros,
    "purge": erasure_text.purged, "residue": erasure_text.residue, "attack": attack_text.attack,
    "report": report_text.report, "init": jobs_text.draft, "explain": jobs_text.explanation, "schema": jobs_text.schema,
    "compare": compare_text.compare, "warm-up": text.warmed_up,
}  # fmt: skip
