"""The command `sqlmicro report`: writing what it finds to a file."""

from __future__ import annotations

from pathlib import Path

from sqlmicro.database import attach
from sqlmicro.database.files import file_format
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import OpenDatabase
from sqlmicro.publish import ledger_file
from sqlmicro.reports import collecting, markdown, page
from sqlmicro.reports.facts import Facts, ReportOptions
from sqlmicro.system import whole_files
from sqlmicro.system.progress import Progress
from sqlmicro.verbs import intruder

_PAGES = (".html", ".htm")
_TEXTS = (".md", ".markdown")


def report_values(options: ReportOptions, progress: Progress) -> Facts:
    """Report on a release for those who decide: what was promised and found, as one HTML page or as text.

    The database is read, never changed. The report holds aggregates of at least k records.
    """

    path = _target(options)
    of_file = options.original and file_format(options.release)
    if of_file and ledger_file.has_night(options.ledger, options.release, progress):
        raise collecting.night_alone(str(options.original))
    with open_warehouse(_recorded(options), read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        found, verdict, known = collecting.collect(warehouse, options)
    intruder.attack(found, verdict, options, progress)
    intruder.criteria(found, options, progress)
    intruder.place(found, known, options, progress)
    as_text = options.markdown or (path is not None and path.suffix.lower() in _TEXTS)
    text = markdown.markdown(found) if as_text else ""
    if path is not None:
        whole_files.write("--to", path, (text or page.html(found)).encode(), overwrite=options.overwrite)
    found.to, found.markdown = options.to, text if as_text and path is None else None
    return found


def _recorded(options: ReportOptions) -> str | OpenDatabase | None:
    """Return the database to open: the one that is named, else the ledger, which has the releases to files."""
    if options.database or options.attach:
        return options.database
    path = ledger_file.place(options.ledger)
    return str(path) if path is not None and path.is_file() else None


def _target(options: ReportOptions) -> Path | None:
    """Return the file to write, refused before any work is done where it cannot be."""
    if options.to is None:
        if options.overwrite:
            raise ParameterError("report, --overwrite", "goes with --to", "no --to")
        return None
    path = Path(options.to).absolute()
    if path.suffix.lower() not in (*_PAGES, *_TEXTS):
        raise ParameterError("report, --to", f"must end in {', '.join((*_PAGES, *_TEXTS))}", repr(options.to))
    if not path.parent.is_dir():
        raise InputError("--to", f"the folder of {options.to!r} must exist", "none", "Make it first")
    whole_files.refuse("--to", path, options.to, overwrite=options.overwrite)
    return path
