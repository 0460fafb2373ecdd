"""The command `sqlmicro report`: its options, and writing what it finds to a file."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.database import attach
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options import common
from sqlmicro.options.params import Param, parameters
from sqlmicro.reports import facts, markdown, page
from sqlmicro.system.progress import Progress
from sqlmicro.verbs import intruder

_PAGES = (".html", ".htm")
_TEXTS = (".md", ".markdown")


def _report(
    *,
    release: Annotated[
        str,
        Param(
            "Release: its number in sqlmicro.releases, or the table or file it was published as.", metavar="ID|TABLE"
        ),
    ],
    to: Annotated[str | None, Param("File to write: .html, or .md for text.", metavar="FILE")] = None,
    markdown: Annotated[bool, Param("Write Markdown, for a pull request; without --to print it.")] = False,
    overwrite: Annotated[bool, Param("Replace the file if it exists.")] = False,
    min_k: Annotated[
        int | None,
        Param(
            "k that must hold, and fewest records behind any figure. Default: the k that was promised, else 3.", min=2
        ),
    ] = None,
    sample: Annotated[int, Param("Records of the original that attacks try; 0 for no attacks.", min=0)] = 1000,
    order: Annotated[int, Param("SAFE deviations: tables of up to so many nominal columns.", min=1, max=10)] = 2,
) -> None: ...


OPTIONS = (
    *parameters(_report),
    common.SOURCE[0],
    common.SOURCE[2],
    *(option for option in common.AUDIT if option.name != "measure"),
    *common.MACHINE,
    *common.READER,
)


def report_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Report on a release for those who decide: what was promised and found, as one HTML page or as text.

    The database is read, never changed. The report holds aggregates of at least k records.
    """

    path = _target(values)
    with open_warehouse(
        values["db"], read_only=True, memory_limit=values["memory_limit"], threads=values["threads"], progress=progress
    ) as warehouse:
        attach.attach(warehouse, values["attach"])
        found, verdict, known = facts.collect(warehouse, values)
    intruder.attack(found, verdict, values, progress)
    intruder.place(found, known, values, progress)
    as_text = values["markdown"] or (path is not None and path.suffix.lower() in _TEXTS)
    text = markdown.markdown(found) if as_text else ""
    if path is not None:
        write_whole(path, text or page.html(found), overwrite=values["overwrite"])
    return {
        **found,
        "passed": found["verdict"]["passed"],
        "to": values["to"],
        "markdown": text if as_text and path is None else None,
    }


def _target(values: dict[str, Any]) -> Path | None:
    """Return the file to write, refused before any work is done where it cannot be."""
    if values["to"] is None:
        if values["overwrite"]:
            raise ParameterError("report, --overwrite", "goes with --to", "no --to")
        return None
    path = Path(values["to"]).absolute()
    if path.suffix.lower() not in (*_PAGES, *_TEXTS):
        raise ParameterError("report, --to", f"must end in {', '.join((*_PAGES, *_TEXTS))}", repr(values["to"]))
    if not path.parent.is_dir():
        raise InputError("--to", f"the folder of {values['to']!r} must exist", "none", "Make it first")
    if path.is_dir():
        raise InputError("--to", "must be a file", f"the folder {values['to']!r}")
    if path.exists() and not values["overwrite"]:
        raise InputError(
            "--to", f"{values['to']!r} must not exist yet", "a file", "Choose another name, or add --overwrite"
        )
    return path


def write_whole(path: Path, text: str, *, overwrite: bool) -> None:
    """Write beside the target, then rename, so that nobody ever reads half a report."""
    beside = path.with_name(f".sqlmicro-{secrets.token_hex(6)}{path.suffix}")
    try:
        beside.write_text(text, encoding="utf-8")
        if path.exists() and not overwrite:
            raise InputError("--to", f"{path.name!r} must not exist yet", "a file that was made meanwhile")
        beside.replace(path)
    except OSError as error:
        raise InputError("--to", f"{path.name!r} must be writable", type(error).__name__) from None
    finally:
        beside.unlink(missing_ok=True)
