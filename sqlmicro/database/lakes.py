"""Delta and Iceberg: tables that are read from their folder."""

from __future__ import annotations

import glob
from importlib.util import find_spec
from pathlib import Path

from sqlmicro.database import attach
from sqlmicro.database.duckdb_protocol import DuckDB
from sqlmicro.database.objects import name_objects
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError
from sqlmicro.system.delta_moves import Delta
from sqlmicro.system.stores import check, is_url

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
    if kind == "delta" and is_url(folder):
        check(folder, where)
        return _delta_files(warehouse, folder.removesuffix("/"), where, name)
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
    try:
        attach.load(warehouse, kind, where)
    except InputError:
        if kind != "delta" or find_spec("deltalake") is None:
            raise
        return _delta_files(warehouse, str(path), where, name)
    warehouse.reading = where
    warehouse.folders.add(str(path.parents[1] if is_metadata else path))
    return warehouse.run("load/lake.sql", name, view=True, function=LAKES[kind], path=str(path))


def _delta_files(warehouse: DuckDB, folder: str, where: str, name: str) -> Name:
    """Make a staging view over the files of a Delta table, as deltalake lists them, and return its name."""
    delta = Delta(folder, where)
    if delta.version() is None:
        raise InputError(where, f"there must be a Delta table {folder!r}", "none", "Check the path")
    files = delta.files()
    if not files:
        raise InputError(where, "there must be something in the table", "no file")
    for file in filter(is_url, files):
        name_objects(warehouse, file)
    paths = [file if is_url(file) else glob.escape(file) for file in files]
    if warehouse.readable is not None:
        warehouse.readable |= {*files, *paths}
    warehouse.reading = where
    return warehouse.run("load/parquet.sql", name, view=True, paths=paths, options=[("union_by_name", True)])
