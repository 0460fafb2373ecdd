"""The command `publish-draft`: a draft becomes a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.jobs import run, steps
from sqlmicro.options.common import PublishSettings
from sqlmicro.options.params import Param
from sqlmicro.options.series import SeriesOptions
from sqlmicro.publish import drafts
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.registry import find
from sqlmicro.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class PublishDraftOptions(PublishSettings):
    """What `sqlmicro publish-draft` takes."""

    draft: Annotated[
        str, Param("Folder of the draft, as --draft prints it.", metavar="DRAFT", positional=True, whole=True)
    ]


def publish_draft_values(verbs: Mapping[str, Any], options: PublishDraftOptions, progress: Progress) -> ReleaseReport:
    """Publish a draft: exactly the records that were drafted, judged together with all that is out.

    The release is made again from the source, which must be as it was; so must the secret be.
    """
    folder = Path(options.draft)
    draft = drafts.read(folder)
    asked = {one.name: getattr(options, one.name) for one in fields(PublishSettings)}
    of_series = [one.name for one in fields(SeriesOptions) if asked[one.name] != one.default]
    if of_series:
        option = "--" + of_series[0].replace("_", "-")
        must = "is of a series, whose nights are made one by one"
        raise ParameterError(
            f"publish-draft, {option}", must, "a draft", "Leave it out, or run the command with --series"
        )
    if draft.method not in verbs:
        raise InputError("publish-draft", "needs a draft of a method that there is", "another", "Make another draft")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in draft.given.items()}
    taken = verbs[draft.method].take({**given, **asked})
    job = steps.one_step(find(draft.method), taken, progress, drafted=draft.fingerprint)
    (report,) = run.execute([job])
    if not report.dry_run:
        drafts.erase(folder)
    return report
