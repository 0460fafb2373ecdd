"""The three criteria of a release, for a report: against the control group that is given, or by a rehearsal."""

from __future__ import annotations

from sqlmicro.attacks.criteria import Criteria, criteria, unknown
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.errors import SqlmicroError
from sqlmicro.system.progress import Progress
from sqlmicro.verbs.attack import opened
from sqlmicro.verbs.attacking import AttackOptions


def criteria_values(options: AttackOptions, progress: Progress) -> Criteria:
    """Measure the three criteria of a release; where there is no control group, they say so."""
    try:
        with opened(options, progress) as found:
            control = found.control(rehearse=True)
            return criteria(Knowledge(found.releases, found.sensitive, control=control))
    except SqlmicroError as error:
        return unknown(str(error).rstrip("."))
