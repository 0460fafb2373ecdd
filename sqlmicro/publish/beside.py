"""JSON files beside a release: its manifest, and what its steps decided. They are written once it is published.

The manifest of a release: where its key comes from, and what tells whether input, output and SQL are still the same.

It is recorded in sqlmicro.releases, and written to a JSON file with `--manifest`. Nothing in it tells of a single
record: the hash of the input is keyed, the others are of what is released.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmicro.database.content import content_of
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.publish import targets
from sqlmicro.publish.report import Hashes, KeyReport, ReleaseReport
from sqlmicro.system import moves, packages
from sqlmicro.system.reporting import Json, as_json

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.source import Source
    from sqlmicro.pipeline import PlannedStep, Run
    from sqlmicro.publish.release import Release


def key_of(run: Run) -> KeyReport:
    """Return where the key of a run comes from."""
    return KeyReport(run.repeat.key.source, run.repeat.key.fingerprint)


def before(run: Run) -> Hashes:
    """Return what is known of a release before it is published: the hashes of input and SQL.

    The hash of the input is an HMAC under the key of the run: without a key, whoever has all records but one could
    test guesses of that one. It is the same in another run with the same seed and the same input, of which the dropped
    columns are no part but for a row key.
    """
    return Hashes(
        run.repeat.key.of_input(run.table.loaded.content),
        None,
        None,
        sha256(run.warehouse.steps().encode()).hexdigest(),
    )


def versions() -> dict[str, str]:
    """Return the versions of what made a release."""
    return {
        **{name: packages.version(name) for name in ("sqlmicro", "duckdb", "numpy")},
        "python": platform.python_version(),
    }


def after(
    run: Run, hashes: Hashes | None, relation: Name, columns: Sequence[Column], path: Path | None = None
) -> Hashes | None:
    """Return the hashes with those of what was published, read back: of the records in any order, and of a file."""
    if hashes is None:
        return None
    with run.log.timed("hash"):
        described = [(column.name, column.type) for column in columns]
        content = content_of(run.warehouse, relation, described, described)
        found = replace(hashes, output_hash=sha256(content).hexdigest())
        if path is not None and path.is_file():
            with path.open("rb") as file:
                found = replace(found, file_hash=file_digest(file, "sha256").hexdigest())
    return found


def told(report: ReleaseReport, started: float) -> Json:
    """Return the manifest of a release."""
    return report.manifest() | {"started": datetime.fromtimestamp(started, UTC).isoformat()}


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
    left = run.warehouse.count(run.table.current) if run.log.recodings else 0
    for path, (_, rows) in run.log.recodings.items():
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
    moves.refuse(option, file, path, overwrite=overwrite)


def write_all(release: Release, manifest_to: str | None, *, overwrite: bool) -> None:
    """Write what a published release has beside it: what its steps decided, and its manifest."""
    for path, (decided, _) in release.run.log.recodings.items():
        write("--recoding-to", path, as_json(decided), overwrite=overwrite)
    if manifest_to:
        write("--manifest", manifest_to, told(release.report, release.started), overwrite=overwrite)


def write(option: str, path: str, told: object, *, overwrite: bool) -> None:
    """Write a file, whole or not at all.

    Raises
    ------
    InputError
        When that cannot be done. The release is published already.
    """
    data = json.dumps(told, indent=2, default=str, ensure_ascii=False).encode() + b"\n"
    moves.write(option, Path(path).absolute(), data, overwrite=overwrite, do="The release is published")
