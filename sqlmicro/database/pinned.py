"""The objects of a store that a run has named, as a file system of DuckDB: these, as they were found, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from fsspec.spec import AbstractFileSystem

from sqlmicro.errors import InputError
from sqlmicro.system.stores import Store, Stored


class PinnedObjects(AbstractFileSystem):  # type: ignore[misc]
    """Lists what was found when it was named, and opens an object only as long as it is the same.

    DuckDB asks it from several threads. Its errors reach us in DuckDB's words; the first is kept in `failure`.
    """

    cachable = False

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.protocol = (store.scheme,)
        self._store = store
        self._patterns: dict[str, list[str]] = {}
        self._objects: dict[str, Stored] = {}
        self.failure: InputError | None = None

    def add(self, pattern: str, found: Sequence[Stored]) -> None:
        """Let a pattern mean the objects that were found."""
        self._patterns[pattern] = [one.url for one in found]
        self._objects |= {one.url: one for one in found}

    def names(self) -> set[str]:
        """Return the names and patterns that DuckDB may use."""
        return {*self._patterns, *self._objects}

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path

    def unstrip_protocol(self, name: str) -> str:
        """Return the name, which is a URL here."""
        return name

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return the objects of a pattern that was added."""
        return list(self._patterns.get(path, [path] if path in self._objects else []))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return what was found of an object."""
        return {"name": path, "size": self._known(path).size, "type": "file"}

    def exists(self, path: str, **_: Any) -> bool:
        """Tell whether an object was added."""
        return path in self._objects

    isfile = exists

    def modified(self, path: str) -> datetime:
        """Return a time: an object does not change here."""
        return datetime.fromtimestamp(0, UTC).replace(tzinfo=None)

    def open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        """Return an object as a file to read from."""
        if mode != "rb":
            raise PermissionError("objects are only read")
        try:
            return self._store.open(self._known(path))
        except InputError as error:
            self.failure = self.failure or error
            raise

    def _known(self, path: str) -> Stored:
        if path not in self._objects:
            raise FileNotFoundError("no object that was named")
        return self._objects[path]
