"""JSON files beside a release: its manifest, and what its steps decided. They are written once it is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.publish import manifest, targets
from sqlmicro.system import whole_files
from sqlmicro.system.reporting import as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlmicro.database.source import Source
    from sqlmicro.pipeline import PlannedStep, Run
    from sqlmicro.publish.release import Release


def files(steps: Sequence[PlannedStep], manifest_to: str | None) -> list[tuple[str, str]]:
    """Return the files that are written beside a release, each with its option.

    Raises
    ------
    ParameterError
        When a later step changes what a recoding would show.
    """
    found = [("--manifest", manifest_to)] if manifest_to else []
    for number, step in enumerate(steps):
        path: str | None = step.method.told("recoding", step.settings)
        if path is None:
            continue
        again = [c.name for c in step.columns if any(c in later.columns for later in steps[number + 1 :])]
        if again:
            raise ParameterError(
                f"{step.where}, recoding_to", "shows bounds of the release: no later step changes its columns",
                ", ".join(again), "Leave it out, or make the later step the first",
            )  # fmt: skip
        found.append(("--recoding-to", path))
    return found


def refuse_hidden(run: Run, where: str) -> None:
    """Refuse a recoding of records that a later step has left out: it would show their bounds.

    Raises
    ------
    InputError
        With the file.
    """
    left = run.warehouse.count(run.current) if run.beside.recodings else 0
    for path, (_, rows) in run.beside.recodings.items():
        if rows != left:
            raise InputError(
                f"{where}, recoding_to", "shows bounds of the release: no later step leaves out records", repr(path),
                "Make the step that writes it the last",
            )  # fmt: skip


def check(option: str, path: str, overwrite: bool, source: Source) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Raises
    ------
    ParameterError, InputError
        With the reason.
    """
    if not path.lower().endswith(".json"):
        raise ParameterError(option, "must be a path that ends in .json", repr(path))
    file = Path(path).absolute()
    targets.refuse_source(option, path, file, source)
    if not file.parent.is_dir():
        raise InputError(option, f"the folder of {path!r} must exist", "none", "Make it first")
    whole_files.refuse(option, file, path, overwrite=overwrite)


def write_all(release: Release, manifest_to: str | None, *, overwrite: bool) -> None:
    """Write what a published release has beside it: what its steps decided, and its manifest."""
    for path, (decided, _) in release.run.beside.recodings.items():
        write("--recoding-to", path, as_json(decided), overwrite=overwrite)
    if manifest_to:
        write("--manifest", manifest_to, manifest.told(release.report, release.started), overwrite=overwrite)


def write(option: str, path: str, told: object, *, overwrite: bool) -> None:
    """Write a file, whole or not at all.

    Raises
    ------
    InputError
        When that cannot be done. The release is published already.
    """
    data = json.dumps(told, indent=2, default=str, ensure_ascii=False).encode() + b"\n"
    whole_files.write(option, Path(path).absolute(), data, overwrite=overwrite, do="The release is published")
