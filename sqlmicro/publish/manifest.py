"""The manifest of a release: where its key comes from, and what tells whether input, output and SQL are still the same.

It is recorded in sqlmicro.releases, and written to a JSON file with `--manifest`. Nothing in it tells of a single
record: the hash of the input is keyed, the others are of what is released.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmicro.database.content import content_of
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.publish.report import Hashes, KeyReport, ReleaseReport

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import Run


def key_of(run: Run) -> KeyReport:
    """Return where the key of a run comes from."""
    return KeyReport(run.key.source, run.key.fingerprint)


def before(run: Run) -> Hashes:
    """Return what is known of a release before it is published: the hashes of input and SQL.

    The hash of the input is an HMAC under the key of the run: without a key, whoever has all records but one could
    test guesses of that one. It is the same in another run with the same seed and the same input, of which the dropped
    columns are no part but for a row key.
    """
    return Hashes(run.key.of_input(run.content), None, None, sha256(run.warehouse.steps().encode()).hexdigest())


def versions() -> dict[str, str]:
    """Return the versions of what made a release."""
    return {**{name: _version(name) for name in ("sqlmicro", "duckdb", "numpy")}, "python": platform.python_version()}


@cache
def _version(package: str) -> str:
    """Return the version of a package, which is read from a file."""
    return version(package)


def after(
    run: Run, hashes: Hashes | None, relation: Name, columns: Sequence[Column], path: Path | None = None
) -> Hashes | None:
    """Return the hashes with those of what was published, read back: of the records in any order, and of a file."""
    if hashes is None:
        return None
    with run.timed("hash"):
        described = [(column.name, column.type) for column in columns]
        content = content_of(run.warehouse, relation, described, described)
        found = replace(hashes, output_hash=sha256(content).hexdigest())
        if path is not None and path.is_file():
            with path.open("rb") as file:
                found = replace(found, file_hash=file_digest(file, "sha256").hexdigest())
    return found


def check(path: str | None, overwrite: bool, source: Source) -> None:
    """Refuse a manifest that cannot be written, before any work is done.

    Raises
    ------
    ParameterError, InputError
        With the reason.
    """
    if path is None:
        return
    if not path.lower().endswith(".json"):
        raise ParameterError("--manifest", "must be a path that ends in .json", repr(path))
    file = Path(path).absolute()
    if source.is_file and file in source.files():
        raise InputError("--manifest", "must not replace the source", repr(path), "Choose another name")
    if not file.parent.is_dir():
        raise InputError("--manifest", f"the folder of {path!r} must exist", "none", "Make it first")
    if file.exists() and not (overwrite and file.is_file()):
        raise InputError(
            "--manifest", f"{path!r} must not exist yet", "a file", "Choose another name, or add --overwrite"
        )


def write(path: str, report: ReleaseReport, started: float) -> None:
    """Write the manifest of a release, whole or not at all.

    Raises
    ------
    InputError
        When that cannot be done. The release is published already.
    """
    told = report.manifest() | {"started": datetime.fromtimestamp(started, UTC).isoformat()}
    file = Path(path).absolute()
    beside = file.with_name(f".sqlmicro-{secrets.token_hex(6)}.json")
    try:
        with beside.open("w", encoding="utf-8") as out:
            json.dump(told, out, indent=2, default=str, ensure_ascii=False)
            out.write("\n")
            out.flush()
            os.fsync(out.fileno())
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(
            "--manifest", f"{path!r} must be writable", error.strerror or "an error", "The release is published"
        ) from None
