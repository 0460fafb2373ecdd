"""Delta tables, in a folder here or in a store: their files, and a commit that one of several writers makes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from sqlmicro.errors import InputError
from sqlmicro.system.lake_moves import within
from sqlmicro.system.stores import is_url

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
