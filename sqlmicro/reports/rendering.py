"""Which function writes the report of which verb as text; names in it are shown, whatever is in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlmicro.reports import (
    attack_text,
    audit_text,
    compare_text,
    erasure_text,
    jobs_text,
    preview_text,
    report_text,
    text,
)
from sqlmicro.system.printable import shown_in

RENDER: dict[str, Callable[[dict[str, Any]], str]] = {
    "register": text.registered, "profile": text.profile, "audit": audit_text.audit, "methods": text.methods,
    "safe-distance": text.safe_distance, "macros": text.macros,
    "purge": erasure_text.purged, "residue": erasure_text.residue, "attack": attack_text.attack,
    "report": report_text.report, "init": jobs_text.draft, "explain": jobs_text.explanation, "schema": jobs_text.schema,
    "compare": compare_text.compare, "warm-up": text.warmed_up,
    "release": text.release, "preview": preview_text.preview,
}  # fmt: skip
_WHOLE = ("script", "markdown", "toml", "description", "$defs", "properties")
"""Texts of several lines: our own, or made of names that were escaped already."""


def rendered(verb: str, report: Mapping[str, Any]) -> str:
    """Return the report of a verb as text."""
    return RENDER[verb]({key: value if key in _WHOLE else shown_in(value) for key, value in report.items()})
