"""Objects that are put in place: a store shows an object whole or not at all, and never several at once.

Nothing is staged in the store. A file is uploaded to its place, which shows it when all of it is there; what has been
uploaded of it when a run is killed is an unfinished upload that nobody can read. What is replaced is kept under a
hidden name until the releases of a run are all in place. A folder has a mark for as long as not all of it is there.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path

from sqlmicro.errors import InputError
from sqlmicro.system.stores import INCOMPLETE, Store

_KEPT = ".sqlmicro-kept"


class NotTakenBack(InputError):  # noqa: N818
    """A release was to be taken back, and may still be there: it counts as out."""


@dataclass
class ObjectMove:
    """A file that becomes an object, in a place where nothing is, or (`replaces`) an older one."""

    store: Store
    new: Path
    url: str
    replaces: bool = False
    _kept: str | None = None
    _tried: bool = False
    """Whether it may be there."""
    _done: bool = False
    """Whether it was this run that put it there."""

    def put(self) -> None:
        """Upload the file and read it back.

        Raises
        ------
        InputError
            When the store does not take it, or what is read back is something else.
        """
        if self.replaces and self.store.stored(self.url):
            folder, _, _ = self.url.rpartition("/")
            self._kept = f"{folder}/.{secrets.token_hex(8)}{_KEPT}"
            self.store.copy(self.url, self._kept)
        self._tried = True
        try:
            self.store.put(self.new, self.url, new=not self.replaces)
            self._done = True
        except InputError:
            if not self._is_there():  # the answer of a store may get lost, and what was asked for be done
                raise
        if not self._is_there():
            self._tried = self._done = False
            raise InputError(
                self.store.where, f"{self.url!r} must be read back as it was written",
                "something else, which somebody has put there meanwhile",
                "Look at it, and publish again when nobody else writes there",
            )  # fmt: skip

    def _is_there(self) -> bool:
        return self.store.digest(self.url) == _sha256(self.new)

    def take_back(self) -> None:
        """Put the old object back, or remove the new one; what somebody else has put there stays.

        Raises
        ------
        NotTakenBack
            When nobody knows whether it is still there.
        """
        try:
            if self._tried and self._is_there():
                if not self._done:
                    raise self._stays()
                if self._kept is not None:
                    self.store.copy(self._kept, self.url)
                else:
                    self.store.remove(self.url)
            self.forget()
        except NotTakenBack:
            raise
        except InputError:
            raise self._stays() from None

    def _stays(self) -> NotTakenBack:
        do = "The ledger counts it as out. Look at it; if it is not there, withdraw it: sqlmicro ledger withdraw"
        return NotTakenBack(self.store.where, "a release that fails is taken back", f"{self.url!r}, which may stay", do)

    def forget(self) -> None:
        """Remove the old object."""
        if self._kept is not None:
            self.store.remove(self._kept)
            self._kept = None


@dataclass
class FolderMove:
    """A folder of files that become objects where nothing is; it is marked as incomplete until all are there."""

    store: Store
    new: Path
    url: str
    _parts: list[ObjectMove] = field(default_factory=list)
    _marked: bool = False

    def put(self) -> None:
        """Upload all files; the mark is put first, which lets no other run in, and removed last.

        Raises
        ------
        InputError
            When another run is writing there, or one of the files cannot be put.
        """
        files = sorted(file for file in self.new.rglob("*") if file.is_file())
        urls = [f"{self.url}/{file.relative_to(self.new).as_posix()}" for file in files]
        self.store.write({"objects": urls}, self._mark)
        self._marked = True
        for file, url in zip(files, urls, strict=True):
            self._parts.append(ObjectMove(self.store, file, url))
            self._parts[-1].put()
        self.store.remove(self._mark)
        self._marked = False

    @property
    def _mark(self) -> str:
        return f"{self.url}/{INCOMPLETE}"

    def take_back(self) -> None:
        """Remove the objects that this run has put there, and the mark last.

        Raises
        ------
        NotTakenBack
            When nobody knows whether one is still there.
        """
        for part in reversed(self._parts):
            part.take_back()
        if self._marked:
            self.store.remove(self._mark)

    def forget(self) -> None:
        """Do nothing: a folder replaces none."""


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
