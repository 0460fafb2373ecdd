"""The command `methods`: what there is, or everything about one method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.options.params import Param
from sqlmicro.registry import PROMISES, find
from sqlmicro.registry import methods as registered
from sqlmicro.reports.results import MethodReport, Methods, MethodSummary, ParameterReport
from sqlmicro.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class MethodsOptions:
    """What `sqlmicro methods` takes."""

    name: Annotated[str | None, Param("Method to describe.", metavar="[NAME]", positional=True)] = None


def methods_values(options: MethodsOptions, progress: Progress) -> Methods | MethodReport:
    """List the methods there are, or describe one: parameters, source, templates and module."""
    if options.name is None:
        listed = registered().values()
        return Methods([MethodSummary(m.name, m.summary, PROMISES[m.promise], m.source) for m in listed])
    method = find(options.name)
    return MethodReport(
        name=method.name,
        summary=method.summary,
        promise=PROMISES[method.promise],
        source=method.source,
        module=method.module,
        engine=method.engine,
        templates=list(method.templates),
        parameters=[
            ParameterReport(p.name, p.option, p.default, list(p.choices), p.param.help) for p in method.settings
        ],
        description=method.description,
    )
