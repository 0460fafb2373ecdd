"""Iceberg tables in a folder of this machine: their files, and a commit that one of several writers makes.

The versions of such a table are numbered files, `metadata/v1.metadata.json` and so on; `version-hint.text` has the
newest number. Whoever makes the file of the next number has committed. Tables of a catalog are committed by it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from sqlmicro.errors import InputError
from sqlmicro.system import moves, scratch
from sqlmicro.system.lake_moves import within

T = TypeVar("T")
_ENDING = ".metadata.json"


class Iceberg:
    """An Iceberg table in a folder; `where` names it in messages."""

    format = "Iceberg"
    data = "data/"

    def __init__(self, folder: str, where: str) -> None:
        if find_spec("pyiceberg") is None:
            do = "Install it: pip install 'sqlmicro[lakes]'"
            raise InputError(where, "Iceberg tables need pyiceberg, which is not installed", do=do)
        self.folder, self.where = folder, where
        self._metadata = Path(folder) / "metadata"

    def version(self) -> int | None:
        """Return the newest version of the table; None where there is no table.

        Raises
        ------
        InputError
            When its versions are not numbered: a catalog has them.
        """
        hint = self._metadata / "version-hint.text"
        found = [path.name for path in self._metadata.glob(f"*{_ENDING}")]
        if not found and not hint.exists():
            return None
        text = hint.read_text(encoding="utf-8").strip() if hint.exists() else ""
        if not (text.isascii() and text.isdecimal() and f"v{text}{_ENDING}" in found):
            raise InputError(
                self.where, "an Iceberg table in a folder has versions v1, v2 and so on, and a version-hint.text",
                "a table that a catalog commits", "Choose another name, and register it in the catalog",
            )  # fmt: skip
        newest = int(text)
        while f"v{newest + 1}{_ENDING}" in found:  # a hint may be late
            newest += 1
        return newest

    def files(self) -> list[str]:
        """Return the files of the newest version.

        Raises
        ------
        InputError
            When they alone do not tell the records, some of which are deleted.
        """
        tasks = list(self._ask(lambda: self._table(self.version()).scan().plan_files()))
        if any(task.delete_files for task in tasks):
            raise InputError(self.where, "must have all records in its files", "records that are deleted in part")
        return within(self.folder, [task.file.file_path for task in tasks], self.where)

    def commit(self, file: Path, name: str, replaced: int | None) -> None:
        """Make a file the whole content of the table, which has this version or is not there yet.

        The new version has one snapshot. Earlier ones have expired with it: neither they nor the least and greatest
        values of their files are named any more.

        Raises
        ------
        InputError
            When the table has other columns, branches or partitions, or somebody else has committed.
        """
        number = (replaced or 0) + 1
        metadata = self._ask(lambda: self._next(file, name, replaced))
        if metadata is None:
            must = "a table keeps its columns, without partitions and branches"
            raise InputError(self.where, must, "others", "Choose another name, or remove the table first")
        self._metadata.mkdir(parents=True, exist_ok=True)
        new, place = self._metadata / f".{uuid4()}", self._metadata / f"v{number}{_ENDING}"
        new.write_text(metadata.model_dump_json(), encoding="utf-8")
        scratch.fsync(new)
        try:
            os.link(new, place)  # fails where it exists: one of several writers makes it
        except FileExistsError:
            place = None  # type: ignore[assignment]
        finally:
            new.unlink()
        if place is None:
            raise InputError(self.where, "nobody else may write to the table meanwhile", "another version")
        moves.open_to_others(place)
        self._say(number)

    def vacuum(self) -> None:
        """Remove the files that the newest version does not name, of records and of metadata."""
        number = self.version()
        self._say(number)
        table: Any = self._ask(lambda: self._table(number))
        snapshot = table.current_snapshot()
        manifests = self._ask(lambda: snapshot.manifests(table.io))
        named = [*self.files(), snapshot.manifest_list, *(one.manifest_path for one in manifests)]
        stays = {Path(path.removeprefix("file://")) for path in named}
        stays |= {self._metadata / f"v{number}{_ENDING}", self._metadata / "version-hint.text"}
        for folder in (self._metadata, Path(self.folder) / "data"):
            for path in folder.rglob("*"):
                if path not in stays and not path.is_dir():
                    path.unlink(missing_ok=True)

    def _say(self, number: int | None) -> None:
        """Write which version is the newest."""
        new = self._metadata / f".{uuid4()}"
        new.write_text(str(number), encoding="utf-8")
        moves.open_to_others(new)
        scratch.fsync(new)
        new.replace(self._metadata / "version-hint.text")
        scratch.fsync(self._metadata)

    def _table(self, number: int | None) -> Any:
        return import_module("pyiceberg.table").StaticTable.from_metadata(
            str(self._metadata / f"v{number}{_ENDING}")
        )  # fmt: skip

    def _next(self, file: Path, name: str, replaced: int | None) -> Any:
        """Return the metadata of the next version; None where the table cannot have the file."""
        table, update = import_module("pyiceberg.table"), import_module("pyiceberg.table.update")
        schema = self._schema(file)
        if replaced is None:
            base = import_module("pyiceberg.table.metadata").new_table_metadata(
                schema=schema,
                partition_spec=import_module("pyiceberg.partitioning").UNPARTITIONED_PARTITION_SPEC,
                sort_order=import_module("pyiceberg.table.sorting").UNSORTED_SORT_ORDER,
                location=self.folder,
            )
        else:
            base = self._table(replaced).metadata
            here = base.schema()
            same = [(one.name, one.field_type, one.required) for one in here.fields] == [
                (one.name, one.field_type, one.required) for one in schema.fields
            ]
            if not same or set(base.refs) - {"main"} or not base.spec().is_unpartitioned():
                return None
            gone = update.RemoveSnapshotsUpdate(snapshot_ids=[one.snapshot_id for one in base.snapshots])
            base = update.update_table_metadata(base, (gone,)) if base.snapshots else base
            base = base.model_copy(update={"metadata_log": [], "snapshot_log": []})
        noop = import_module("pyiceberg.catalog.noop").NoopCatalog("folder")
        io = import_module("pyiceberg.io").load_file_io(location=self.folder)
        made = table.Transaction(table.Table(("release",), base, self.folder, io, noop))
        made.add_files([f"{self.folder}/{self.data}{name}"], check_duplicate_files=False)
        return made.table_metadata

    def _schema(self, file: Path) -> Any:
        """Return the columns of a Parquet file as those of a table, numbered from 1."""
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        mapping, reader = import_module("pyiceberg.table.name_mapping"), import_module("pyiceberg.io.pyarrow")
        fields = [arrow.field(field.name, field.type) for field in parquet.read_schema(file)]
        names = [mapping.MappedField(field_id=i, names=[field.name]) for i, field in enumerate(fields, 1)]
        return reader.pyarrow_to_schema(arrow.schema(fields), name_mapping=mapping.NameMapping(root=names))

    def _ask(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except InputError:
            raise
        except Exception as error:
            kind = type(error).__name__
        # Out of the block: the library's own words, which may quote a value, are not its context.
        raise InputError(
            self.where, "the Iceberg table must do what is asked of it", kind, "Is anybody else writing to it?"
        )
