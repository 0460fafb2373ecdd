"""The manifest of a release: where its key comes from, and what tells whether input, output and SQL are still the same.

It is recorded in sqlmicro.releases, and written to a JSON file with `--manifest`. Nothing in it tells of a single
record: the hash of the input is keyed, the others are of what is released.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmicro.database.content import content_of
from sqlmicro.database.templates import Name
from sqlmicro.publish.report import Hashes, KeyReport, ReleaseReport
from sqlmicro.system import packages
from sqlmicro.system.reporting import Json

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
    return Hashes(run.key.of_input(run.loaded.content), None, None, sha256(run.warehouse.steps().encode()).hexdigest())


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
    with run.timed("hash"):
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
