"""The sections of a report, in their order."""

from __future__ import annotations

from collections.abc import Callable

from sqlmicro.reports import criteria_section
from sqlmicro.reports import loss_sections as loss
from sqlmicro.reports import risk_sections as risk
from sqlmicro.reports.content import Section
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.statement import statement

_ORDER: tuple[Callable[[Facts], Section], ...] = (
    statement, risk.steps, risk.classes, risk.attacks, criteria_section.criteria, risk.risk_map, risk.audits,
    loss.columns, loss.missing, loss.correlations, loss.tables, loss.candidates, risk.parameters, risk.not_promised,
)  # fmt: skip
"""A section more is one function more: its English sentences are said with `say`, and translated in `languages`."""


def sections(facts: Facts) -> list[Section]:
    """Return the sections of a report that have something to say."""
    return [section for section in (make(facts) for make in _ORDER) if section.blocks]
