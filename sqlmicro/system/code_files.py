"""Files of compiled code that several processes write at once: what one has kept is what all others read.

numba (0.60 to 0.68) writes them as if one process did so at a time, and what is compiled never changed but in its own
file. That goes wrong in three ways:

- It tells functions of one name and the same types apart by a number that begins at 1 in every process. Two functions
  that were compiled in different processes may have the same number, and where both are loaded, the second is taken
  for the first: after `np.argsort` of whole numbers `np.sort` did not sort, and groups had fewer than k records.
- It gives a file the first free number in an index that it has read before. Two processes that do so at once give the
  same number to code for different types, and the code of one runs with the arrays of the other.
- Code has the functions of other modules in it that it calls, and stays as it is when these have changed: what an
  upgrade had mended would go on as before.

So numbers begin at random here, a file is named by what it holds, and code is used with the kernels alone that it was
compiled beside: those of its own module and of the modules of kernels that this one names.

What is kept are pickles: reading them runs what they hold. So a file is read only where nobody else can have written it
(`closed`), and made so that nobody else may write to it, whatever the mask of the process is.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import secrets
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core.bytecode import FunctionIdentity
from numba.core.caching import IndexDataCacheFile

from sqlmicro.system.closed import is_closed

PACKAGE = Path(__file__).resolve().parent.parent
_NAMED = re.compile(rb"\w+_kernels\b")


class CodeFiles(IndexDataCacheFile):
    """The files of one function, each named by its source, its types and its processor; those of others are not there.

    A folder that is `private`, which this process made sure of, is not looked at again.
    """

    def __init__(
        self, folder: str, name: str, stamp: object, *, owner: int | None = None, private: bool = False
    ) -> None:
        super().__init__(folder, name, stamp)  # type: ignore[no-untyped-call]
        self._owner, self._private = owner, private

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled, and then say so: who reads the index finds what it names."""
        digest = sha256(repr((self._source_stamp, key)).encode()).digest()
        file = self._data_name(int.from_bytes(digest[:8], "big"))  # type: ignore[no-untyped-call]
        self._save_data(file, data)  # type: ignore[no-untyped-call]
        overloads = self._load_index()
        overloads[key] = file
        self._save_index(overloads)  # type: ignore[no-untyped-call]

    def _load_index(self) -> Any:
        return super()._load_index() if self._is_ours(self._index_path) else {}  # type: ignore[no-untyped-call]

    def _load_data(self, name: str) -> Any:
        if not self._is_ours(self._data_path(name)):  # type: ignore[no-untyped-call]
            raise PermissionError(name)  # which numba takes for a file that is gone
        return super()._load_data(name)  # type: ignore[no-untyped-call]

    def _is_ours(self, path: str) -> bool:
        return self._private or is_closed(Path(path), self._owner)

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        made = Path(f"{filepath}.tmp.{secrets.token_hex(8)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            with open(os.open(made, flags, 0o644), "wb") as file:  # noqa: PTH123
                yield file
            made.replace(filepath)
        except BaseException:
            made.unlink(missing_ok=True)
            raise


@functools.cache
def _modules() -> dict[bytes, list[Path]]:
    """Return the modules of kernels of the package by their name, which two folders may share."""
    found: dict[bytes, list[Path]] = {}
    for file in sorted(PACKAGE.rglob("*_kernels.py")):
        found.setdefault(file.stem.encode(), []).append(file)
    return found


@functools.cache
def kernels(module: Path) -> str:
    """Return what stands for the source of all kernels that a module may have in its code."""
    return sha256(b"".join(sha256(source).digest() for _, source in sorted(named_by(module).items()))).hexdigest()


def named_by(module: Path) -> dict[Path, bytes]:
    """Return the source of a module, and of all modules of kernels that it may have in its code.

    A module of the package names each module of kernels that it calls. Of a module elsewhere that is not known, so that
    all kernels count.
    """
    known = _modules()
    inside = any(module in files for files in known.values())
    waiting = [module] if inside else [module, *(file for files in known.values() for file in files)]
    sources: dict[Path, bytes] = {}
    while waiting:
        file = waiting.pop()
        if file in sources:
            continue
        sources[file] = file.read_bytes()
        for name in set(_NAMED.findall(sources[file])):
            waiting += known.get(name, ())
    return sources


FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))
