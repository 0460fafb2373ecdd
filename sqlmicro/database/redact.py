"""The database's errors in our words: its own quote records, so only their kind is told.

Kinds are told by name: nothing but the warehouse imports the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlmicro.database.encodings import USUAL
from sqlmicro.errors import InputError, QueryError

if TYPE_CHECKING:
    from sqlmicro.database.pinned import PinnedObjects

_BROKEN = "violates (check|not-null|unique|foreign key|exclusion) constraint|value too long for type"


def wrapped(
    title: str, error: BaseException, reading: str = "", objects: Iterable[PinnedObjects] = ()
) -> BaseException:
    """Turn the database's error into one that quotes no record; `reading` names the files that are being read.

    Where one of the `objects` that it reads could not be read, their own error says so.
    """
    failure = next((one.failure for one in objects if one.failure), None)
    if failure is not None:
        return failure
    kinds = {kind.__name__ for kind in type(error).__mro__ if kind.__module__.split(".")[0] in ("duckdb", "_duckdb")}
    kind = type(error).__name__
    if not kinds:
        return error
    if "OutOfMemoryException" in kinds:
        return QueryError(
            title,
            "the statement must fit into memory or the temporary folder",
            kind,
            "Raise --memory-limit, or free disk space for the temporary folder (TMPDIR)",
        )
    if re.search("No space left on device|File too large|Disk quota exceeded", str(error)):
        return QueryError(title, "there must be room on the disk", "a disk or quota that is full", "Free disk space")
    # An attached server says in words of its own, which quote the record, what it refuses.
    if "ConstraintException" in kinds or re.search(_BROKEN, str(error)):
        return InputError(
            title,
            "the released values must meet the constraints of the table",
            kind,
            "Publish with --into NAME instead of --in-place, or drop the constraint first",
        )
    if title == "publish" and "TransactionException" in kinds:
        return InputError(
            title,
            "nobody else may write to the same table while it is published",
            kind,
            "Run it again when nobody does",
        )
    if title == "publish" and "ConversionException" in kinds:
        return InputError(
            title, "the released values must fit the types of the table", kind, "Use --widen, or --into NAME"
        )
    line = re.search(r"\bLine: (\d+)", str(error))
    at = f" at line {line.group(1)}" if line else ""
    if reading and "not utf-8 encoded" in str(error):
        must = "must be text in UTF-8, or in the encoding that --encoding names"
        return InputError(reading, must, f"bytes that are not UTF-8{at}", f"Give --encoding, such as {USUAL}")
    if reading and "CatalogException" not in kinds:
        return InputError(
            reading,
            "must be readable in its format, every value in the type of its column",
            kind + at,
            "Check the file, and for CSV --delimiter, --quote, --encoding, --decimal, --date-format, --null-string, "
            "--header and --no-header",
        )
    if kinds & {"CatalogException", "BinderException", "ParserException"}:
        # These name tables and columns, never record values: they are raised before a record is read.
        return QueryError(title, "the database must accept the statement", f"{kind}: {str(error).splitlines()[0]}")
    return QueryError(
        title,
        "the database must run the statement",
        kind,
        "Its own words may quote records and are left out; run the output of --show-sql to see them",
    )
