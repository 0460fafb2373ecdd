"""The command `schema`: the JSON Schema of job files, and of reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from sqlmicro.attacks.registry import attacks
from sqlmicro.audits.registry import audits
from sqlmicro.errors import ParameterError
from sqlmicro.jobs.schema import job_schema
from sqlmicro.mask.recoding_file import Recoding
from sqlmicro.options.params import Param
from sqlmicro.publish.certificate import Certificate
from sqlmicro.reports.results import SchemaReport
from sqlmicro.system.json_schema import reports_schema
from sqlmicro.system.progress import Progress
from sqlmicro.verbs.verb import Verb


@dataclass(frozen=True, kw_only=True)
class SchemaOptions:
    """What `sqlmicro schema` takes."""

    report: Annotated[bool, Param("That of reports, which --json prints, instead of that of job files.")] = False
    recoding: Annotated[bool, Param("That of recodings, which --recoding-to writes.")] = False
    certificate: Annotated[bool, Param("That of certificates, which certify writes.")] = False


def schema_values(verbs: Mapping[str, Verb[Any]], options: SchemaOptions, progress: Progress) -> SchemaReport:
    """Print the JSON Schema of job files, for editors and for checking a file without its data.

    Or that of reports, of recodings, or of certificates. Take `schema` for an editor, `init` or `scan` to have a job
    file drafted, and `explain` to read what one does.
    """
    if options.report + options.recoding + options.certificate > 1:
        raise ParameterError("schema", "is of reports, of recodings or of certificates", "more than one of them")
    if options.certificate:
        title = "Certificates of sqlmicro: what certify writes, version 1"
        return SchemaReport(reports_schema(title, {"certificate": Certificate}))
    if options.recoding:
        return SchemaReport(reports_schema("Recodings of sqlmicro: what --recoding-to writes", {"recoding": Recoding}))
    if not options.report:
        return SchemaReport(job_schema())
    for one in (*audits().values(), *attacks().values()):
        one.load()  # what one of them tells besides its value is a class of its module
    made = {name: verb.returns for name, verb in verbs.items() if name != "schema"}
    return SchemaReport(reports_schema("Reports of sqlmicro: what each command prints with --json", made))
