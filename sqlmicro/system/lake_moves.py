"""A release that becomes the content of a table of a lake: its file is put beside the others, then one commit names it.

The file is the one that was audited, byte by byte. Nobody who reads the table sees it before the commit, which the
protocols of Delta and Iceberg let one of several writers make. What is replaced is removed after it.

Delta tables, in a folder here or in a store: their files, and a commit that one of several writers makes.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from sqlmicro.errors import InputError
from sqlmicro.system import moves, scratch
from sqlmicro.system.object_moves import NotTakenBack, ObjectMove
from sqlmicro.system.stores import Store, is_url


class Lake(Protocol):
    """A table of a lake, whatever its format."""

    format: str
    """What it is called."""
    data: str
    """Where in its folder the files with records are."""
    folder: str
    where: str
    """What names it in messages."""

    def version(self) -> int | None:
        """Return the newest version of the table; None where there is no table."""

    def files(self) -> list[str]:
        """Return the files of the newest version."""

    def commit(self, file: Path, name: str, replaced: int | None) -> None:
        """Make a file the whole content of the table, which has this version or is not there yet."""

    def vacuum(self) -> None:
        """Remove what the newest version does not need."""


def within(folder: str, uris: Iterable[str], where: str) -> list[str]:
    """Return the files of a table as paths or URLs: a log may name what is elsewhere, which nobody has named.

    Raises
    ------
    InputError
        When one is not in the folder of the table.
    """
    files = [uri.removeprefix("file://") for uri in uris]
    if not all(file.startswith(f"{folder}/") and ".." not in file.split("/") for file in files):
        raise InputError(where, "a table has its files in its own folder", "others")
    return files


def kept_types(file: Path) -> list[str]:
    """Return the columns of a Parquet file whose types Delta has not."""
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    schema, types = parquet.read_schema(file), arrow.types
    kept = (types.is_boolean, types.is_signed_integer, types.is_floating, types.is_string, types.is_large_string,
            types.is_binary, types.is_date32, types.is_decimal128, types.is_timestamp)  # fmt: skip
    return [field.name for field in schema if not any(test(field.type) for test in kept)]


@dataclass
class LakeMove:
    """A file that becomes the content of a table, in place of its version `replaced`, or of nothing."""

    lake: Lake
    new: Path
    replaced: int | None
    _name: str = ""
    _tried: bool = False

    @property
    def _place(self) -> str:
        return f"{self.lake.folder}/{self.lake.data}{self._name}"

    def put(self) -> None:
        """Put the file into the folder of the table, and commit it.

        Raises
        ------
        InputError
            When a column has a type that the table lacks, or somebody else has written to the table.
        """
        lacking = kept_types(self.new)
        if lacking:
            do = "Cast them, or release to a Parquet file"
            raise InputError(self.lake.where, f"{self.lake.format} has a type for every column", ", ".join(lacking), do)
        self._name = f"part-00000-{uuid4()}-c000.zstd.parquet"
        self._copy()
        self._tried = True
        try:
            self.lake.commit(self.new, self._name, self.replaced)
        except InputError:
            if not self._is_there():  # an answer may get lost, and what was asked for be done
                raise
        if not self._is_there():
            raise InputError(self.lake.where, "the table must have the committed file, and no other", "others")

    def _copy(self) -> None:
        place = self._place
        if is_url(place):
            ObjectMove(Store(place, self.lake.where, written=True), self.new, place).put()
            return
        path = Path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.new, path)
        moves.open_to_others(path)
        scratch.fsync(path)
        scratch.fsync(path.parent)

    def _is_there(self) -> bool:
        if self.lake.version() is None:
            return False
        return [file.rpartition("/")[2] for file in self.lake.files()] == [self._name]

    def take_back(self) -> None:
        """Remove the file if it was not committed; a commit stays.

        Raises
        ------
        NotTakenBack
            When it was committed, or nobody knows.
        """
        place = self._place
        try:
            stays = self._tried and self._is_there()
            if self._name and not stays:
                self._remove(place)
        except InputError:
            stays = True
        if stays:
            do = "The ledger counts it as out. Look at the table; if it is not there, withdraw it"
            raise NotTakenBack(self.lake.where, "a release that fails is taken back", "a commit that may stay", do)

    def _remove(self, place: str) -> None:
        if not is_url(place):
            Path(place).unlink(missing_ok=True)
            return
        store = Store(place, self.lake.where, written=True)
        if store.stored(place):
            store.remove(place)

    def forget(self) -> None:
        """Remove the files of what was replaced."""
        if self.replaced is not None:
            self.lake.vacuum()


T = TypeVar("T")


class Delta:
    """A Delta table in a folder, or in one of a store; `where` names it in messages."""

    format = "Delta"
    data = ""

    def __init__(self, folder: str, where: str) -> None:
        if find_spec("deltalake") is None:
            do = "Install it: pip install 'sqlmicro[lakes]'"
            raise InputError(where, "Delta tables need deltalake, which is not installed", do=do)
        self._library: Any = import_module("deltalake")
        self.folder, self.where = folder, where
        # Only a store that the user says is reached without encryption is.
        plain = is_url(folder) and os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
        self._options = {"AWS_ALLOW_HTTP": "true"} if plain else {}

    def version(self) -> int | None:
        """Return the newest version of the table; None where there is no table."""
        if not self._ask(lambda: self._library.DeltaTable.is_deltatable(self.folder, self._options)):
            return None
        return int(self._ask(lambda: self._table().version()))

    def files(self) -> list[str]:
        """Return the files of the newest version.

        Raises
        ------
        InputError
            When they alone do not tell the records: these are deleted in part, renamed, or told by folders.
        """
        table = self._ask(self._table)
        features = {*(table.protocol().reader_features or ())} - {"timestampNtz"}
        if features or table.protocol().min_reader_version == 2 or table.metadata().partition_columns:
            raise InputError(
                self.where, "must have all records in its files to be read without DuckDB's extension 'delta'",
                "partitions, or " + (", ".join(sorted(features)) or "other names of columns"),
            )  # fmt: skip
        return within(self.folder, map(str, table.file_uris()), self.where)

    def commit(self, file: Path, name: str, replaced: int | None) -> None:
        """Make a file the whole content of the table, which has this version or is not there yet."""
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        fields = [arrow.field(field.name, field.type) for field in parquet.read_schema(file)]
        schema = self._library.Schema.from_arrow(arrow.schema(fields))
        actions = import_module("deltalake.transaction")
        stats = json.dumps({"numRecords": parquet.read_metadata(file).num_rows})
        add = actions.AddAction(name, file.stat().st_size, {}, time.time_ns() // 1_000_000, True, stats)
        if replaced is None:
            self._ask(
                lambda: actions.create_table_with_add_actions(
                    self.folder, schema, [add], mode="error", storage_options=self._options
                )
            )
        else:
            table = self._ask(lambda: self._table(replaced))
            self._ask(lambda: table.create_write_transaction([add], "overwrite", schema))

    def vacuum(self) -> None:
        """Remove the files that the newest version does not have."""
        self._ask(
            lambda: self._table().vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
        )  # fmt: skip

    def _table(self, version: int | None = None) -> Any:
        return self._library.DeltaTable(self.folder, version=version, storage_options=self._options)

    def _ask(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except Exception as error:
            kind = type(error).__name__
        # Out of the block: the library's own words, which may quote a key, are not its context.
        raise InputError(
            self.where, "the Delta table must do what is asked of it", kind, "Is anybody else writing to it?"
        )
