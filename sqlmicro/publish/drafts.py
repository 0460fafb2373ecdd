"""Drafts: releases that are out nowhere. They are tried, looked at and published, or erased after a day.

A draft is a private folder beside the database: the records as they would be released, and what was asked for. It is in
no ledger and measured with no other release. `publish-draft` makes the release again from the source, as any release is
made, and publishes it only where it is the one that was drafted.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlmicro.database.content import content
from sqlmicro.errors import InputError
from sqlmicro.pipeline import Run

HOURS = 24
"""A draft is erased when it is older, by the next draft or publishing beside it."""
_FOLDER, _ROWS, _ASKED = "sqlmicro-drafts", "rows.parquet", "draft.json"
_FORMAT = 1


@dataclass(frozen=True)
class Draft:
    """What was asked for, and what came of it."""

    method: str
    given: dict[str, Any]
    fingerprint: str


@contextmanager
def begun(database: str | None, method: str) -> Iterator[Path]:
    """Make the folder of a draft, beside the database or where one stands; it goes if the block fails.

    Raises
    ------
    InputError
        When no folder can be made there.
    """
    parent = (Path(database).absolute().parent if database else Path.cwd()) / _FOLDER
    try:
        parent.mkdir(mode=0o700, exist_ok=True)
        _refuse_open(parent, "--draft")
        sweep(parent)
        folder = _made(parent, method)
    except OSError as error:
        must = "a draft is written beside the database, or into the current folder"
        raise InputError("--draft", must, error.strerror or type(error).__name__, "Make the folder writable") from None
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        _remove_empty(parent)
        raise


def rows(folder: Path) -> Path:
    """Return the file of the records of a draft."""
    return folder / _ROWS


def write(folder: Path, draft: Draft) -> None:
    """Note what was asked for beside the records; only the user reads them."""
    rows(folder).chmod(0o600)
    told = {"format": _FORMAT, "method": draft.method, "given": draft.given, "fingerprint": draft.fingerprint}
    noted = os.open(folder / _ASKED, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(noted, "w", encoding="utf-8") as file:
        json.dump(told, file)


def read(folder: Path) -> Draft:
    """Return what a draft asked for.

    Raises
    ------
    InputError
        When there is none, or it is older than a day.
    """
    try:
        told = json.loads((folder / _ASKED).read_text(encoding="utf-8"))
        found = Draft(str(told["method"]), dict(told["given"]), str(told["fingerprint"]))
        known = told["format"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise InputError(
            "publish-draft", "needs the folder of a draft, as --draft prints it", "another", "Make a draft"
        )
    _refuse_open(folder, "publish-draft")
    if _age(folder) > HOURS:
        erase(folder)
        raise InputError("publish-draft", f"a draft is published within {HOURS} hours", "an older one", "Make it again")
    return found


def erase(folder: Path) -> None:
    """Erase a draft."""
    shutil.rmtree(folder, ignore_errors=True)
    _remove_empty(folder.parent)


def sweep(parent: Path) -> None:
    """Erase the drafts that are older than a day, and what a run left that was killed while it wrote one."""
    for folder in parent.iterdir():
        if _age(folder) > HOURS:
            shutil.rmtree(folder, ignore_errors=True)


def fingerprint(run: Run) -> str:
    """Return what stands for the records of a run as they would be released, whatever their order. O(n)."""
    found = content(run.warehouse, run.table.current, [column.staged for column in run.roles.released])
    return sha256(json.dumps([found.columns, found.records, found.hashes]).encode()).hexdigest()


def _refuse_open(folder: Path, where: str) -> None:
    """Refuse a folder in which somebody else could put what this user then publishes."""
    found = folder.lstat()
    ours = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
    if not (stat.S_ISDIR(found.st_mode) and ours):
        must = f"the folder {folder.name} must be yours, and written by nobody else"
        raise InputError(where, must, "another", "Take the rights of others away, or work elsewhere")


def _made(parent: Path, method: str) -> Path:
    for number in range(1, 10_000):
        with contextlib.suppress(FileExistsError):
            folder = parent / f"{method}-{number}"
            folder.mkdir(mode=0o700)
            return folder
    raise InputError("--draft", "there must be a name left", f"9,999 drafts of {method}", "Erase some")


def _age(folder: Path) -> float:
    return (time.time() - folder.stat().st_mtime) / 3600


def _remove_empty(parent: Path) -> None:
    with contextlib.suppress(OSError):
        parent.rmdir()


def as_given(values: Mapping[str, object]) -> dict[str, Any]:
    """Return options as they are noted, which JSON can hold."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
