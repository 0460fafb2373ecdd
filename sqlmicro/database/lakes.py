"""Delta and Iceberg: tables that are read from their folder."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from sqlmicro.database import attach
from sqlmicro.database.objects import name_objects
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError
from sqlmicro.system.lake_moves import Delta, within
from sqlmicro.system.stores import check, is_url

LAKES = {"delta": "delta_scan", "iceberg": "iceberg_scan"}
"""Table formats that are read from their folder: what stands before its path, and the function that reads it."""


def open_lake(warehouse: Database, kind: str, folder: str, *, name: str) -> Name:
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
        if find_spec({"delta": "deltalake", "iceberg": "pyiceberg"}[kind]) is None:
            raise
        if kind == "iceberg":
            return _read(warehouse, _iceberg_files(path, is_metadata, where), where, name)
        return _delta_files(warehouse, str(path), where, name)
    warehouse.reading = where
    warehouse.folders.add(str(path.parents[1] if is_metadata else path))
    return warehouse.run("load/lake.sql", name, view=True, function=LAKES[kind], path=str(path))


def _delta_files(warehouse: Database, folder: str, where: str, name: str) -> Name:
    """Make a staging view over the files of a Delta table, as deltalake lists them, and return its name."""
    delta = Delta(folder, where)
    if delta.version() is None:
        raise InputError(where, f"there must be a Delta table {folder!r}", "none", "Check the path")
    return _read(warehouse, delta.files(), where, name)


def _iceberg_files(path: Path, is_metadata: bool, where: str) -> list[str]:
    """Return the files of the newest version of an Iceberg table, or of a metadata file, as pyiceberg lists them.

    Raises
    ------
    InputError
        When they alone do not tell the records: these are deleted in part, or columns have had other names or types.
    """
    folder, file = path.parents[1] if is_metadata else path, path
    if not is_metadata:
        newest = (path / "metadata" / "version-hint.text").read_text(encoding="utf-8").strip()
        found = [path / "metadata" / f"{start}{newest}.metadata.json" for start in ("v", "")]
        file = next((one for one in found if one.is_file()), found[0])
    table, failure = None, ""
    try:
        table = import_module("pyiceberg.table").StaticTable.from_metadata(str(file))
        tasks = list(table.scan().plan_files())
    except Exception as error:  # in words of its own, which may quote a value
        failure = type(error).__name__
    if table is None or failure:
        raise InputError(where, "must be an Iceberg table that can be read", failure)
    if len(table.metadata.schemas) > 1 or any(task.delete_files for task in tasks):
        must = "must have all records in its files to be read without DuckDB's extension 'iceberg'"
        raise InputError(where, must, "records that are deleted in part, or columns that have changed")
    return within(str(folder), [task.file.file_path for task in tasks], where)


def _read(warehouse: Database, files: Sequence[str], where: str, name: str) -> Name:
    """Make a staging view over the Parquet files of a table, and return its name."""
    if not files:
        raise InputError(where, "there must be something in the table", "no file")
    for file in filter(is_url, files):
        name_objects(warehouse, file)
    paths = [file if is_url(file) else glob.escape(file) for file in files]
    if warehouse.readable is not None:
        warehouse.readable |= {*files, *paths}
    warehouse.reading = where
    return warehouse.run("load/parquet.sql", name, view=True, paths=paths, options=[("union_by_name", True)])
