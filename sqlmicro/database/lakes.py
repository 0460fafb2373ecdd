"""Delta and Iceberg: tables that are read from their folder."""

from __future__ import annotations

from pathlib import Path

from sqlmicro.database import attach
from sqlmicro.database.duckdb_protocol import DuckDB
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError

LAKES = {"delta": "delta_scan", "iceberg": "iceberg_scan"}
"""Table formats that are read from their folder: what stands before its path, and the function that reads it."""


def open_lake(warehouse: DuckDB, kind: str, folder: str, *, name: str) -> Name:
    """Make a staging view over a Delta or Iceberg table in a folder and return its name; nothing is copied.

    Of an Iceberg table also its metadata file can be named, as catalogs write them without a hint of the newest.

    Raises
    ------
    InputError
        When there is no such folder or metadata file, it does not tell its newest version, or the extension that reads
        it is not installed.
    """
    where, path = f"{kind}:{folder}", Path(folder).absolute()
    is_metadata = kind == "iceberg" and path.name.endswith(".metadata.json") and path.is_file()
    if not is_metadata and not path.is_dir():
        raise InputError(where, f"there must be a folder {folder!r}", "none", "Check the path")
    if kind == "iceberg" and not is_metadata and not (path / "metadata" / "version-hint.text").is_file():
        raise InputError(
            where,
            "must say which version is the newest",
            "no metadata/version-hint.text",
            f"Name the newest metadata file: {where.rstrip('/')}/metadata/….metadata.json",
        )
    attach.load(warehouse, kind, where)
    warehouse.reading = where
    warehouse.folders.add(str(path.parents[1] if is_metadata else path))
    return warehouse.run("load/lake.sql", name, view=True, function=LAKES[kind], path=str(path))
