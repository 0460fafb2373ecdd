"""What there is to know of job files as text: the schema, a draft, and what a job will do."""

from __future__ import annotations

import json
import textwrap

from sqlmicro.reports.results import Draft, Explanation, Policy, SchemaReport
from sqlmicro.reports.text import width


def schema(report: SchemaReport) -> str:
    """Return the JSON Schema."""
    return json.dumps(report.schema, indent=2, ensure_ascii=False)


def draft(report: Draft) -> str:
    """Return the job file."""
    return report.toml.rstrip("\n")


def policy(report: Policy) -> str:
    """Return the job file of a warehouse."""
    return report.toml.rstrip("\n")


def explanation(report: Explanation) -> str:
    """Return the paragraphs, wrapped to the terminal."""
    return "\n\n".join(textwrap.fill(text, width(), break_on_hyphens=False) for text in report.paragraphs)
