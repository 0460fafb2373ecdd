"""The command `schema`: the JSON Schema of job files, and of reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from sqlmicro.jobs.schema import job_schema
from sqlmicro.options.params import Param
from sqlmicro.reports.results import SchemaReport
from sqlmicro.system.json_schema import reports_schema
from sqlmicro.system.progress import Progress
from sqlmicro.verbs.verb import Verb


@dataclass(frozen=True, kw_only=True)
class SchemaOptions:
    """What `sqlmicro schema` takes."""

    report: Annotated[bool, Param("That of reports, which --json prints, instead of that of job files.")] = False


def schema_values(verbs: Mapping[str, Verb[Any]], options: SchemaOptions, progress: Progress) -> SchemaReport:
    """Print the JSON Schema of job files, for editors and for checking a file without its data; or that of reports."""
    if not options.report:
        return SchemaReport(job_schema())
    made = {name: verb.returns for name, verb in verbs.items() if name != "schema"}
    return SchemaReport(reports_schema("Reports of sqlmicro: what each command prints with --json", made))
